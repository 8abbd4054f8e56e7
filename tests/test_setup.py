"""Between a change and its test: the stamps of make, the progress of pip, the choice of tests."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
specification = importlib.util.spec_from_file_location("changed", ROOT / "tools" / "changed.py")
changed = importlib.util.module_from_spec(specification)
specification.loader.exec_module(changed)


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_what_is_edited_during_a_build_is_built_next_time(tmp_path):
    """A stamp made at the end would be newer than the edit, and the old build count as new."""
    header = tmp_path / "core" / "row.hpp"
    for path in (header, tmp_path / "CMakeLists.txt", tmp_path / "pyproject.toml"):
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (1e9, 1e9))
    shutil.copy(ROOT / "Makefile", tmp_path)
    script(tmp_path / "tools" / "setup.sh", "")
    script(tmp_path / ".venv" / "compiler", "")
    build = "echo built >> built; sleep 0.1; [ -e quiet ] || touch core/row.hpp; sleep 0.1"
    script(tmp_path / ".venv" / "bin" / "python", build)

    def builds() -> int:
        subprocess.run(["make", ".venv/run"], cwd=tmp_path, check=True, capture_output=True)
        return (tmp_path / "built").read_text().count("built")

    assert builds() == 1
    (tmp_path / "quiet").touch()
    assert builds() == 2
    assert builds() == 2  # nothing was edited


@pytest.mark.parametrize("code", [0, 3])
def test_the_progress_of_a_build_is_shown_and_its_failure_told(tmp_path, code):
    """A pipe gets a line for each file compiled; only a failure shows what else pip told."""
    (tmp_path / "pip.py").write_text(
        "import sys\n"
        "print('Collecting numpy')\n"
        "print('  [1/2] Building model.cpp.o')\n"
        "print('error: no such thing', sys.argv[1:], file=sys.stderr)\n"
        f"sys.exit({code})\n"
    )
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "progress.py", "install", "."],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    shown, *rest = done.stdout.splitlines()
    assert shown == "[1/2] Building model.cpp.o"
    problem = "error: no such thing ['install', '.', '--verbose']"
    assert (problem in rest) == bool(code)
    assert problem in (tmp_path / "build" / "pip.log").read_text()


@pytest.mark.parametrize(
    ("chosen", "reads_all"),
    [
        ("test_wanted", False),
        ("TEST_WANT or test_missing", False),
        ("test_file_one", False),
        ("wanted", True),  # may be part of a parameter
        ("not test_wanted", True),
        ("test_wanted and not test_missing", True),
        ("", True),
    ],
)
def test_a_name_after_k_reads_only_files_that_have_it(tmp_path, chosen, reads_all):
    """The other file cannot be imported, so that reading it shows."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_file_one.py").write_text("def test_wanted(): pass\n")
    (tmp_path / "test_file_two.py").write_text("raise OSError('was read')\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", chosen, tmp_path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ("was read" in done.stdout) == reads_all, done.stdout
    assert reads_all or "1 passed" in done.stdout


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        (
            "src/yarrow/io/text.py",
            "src/yarrow/io/text.py tests/cli/test_train.py tests/io",
        ),
        ("src/yarrow/io/new/deep.py", "tests/io"),
        ("src/yarrow/io/old/deep.py", "tests/io/old"),
        ("src/yarrow/errors.py", "tests/test_errors.py"),
        ("src/yarrow/io/page.css", "tests/io"),
        ("tests/io/test_text.py", "tests/io/test_text.py"),
        ("tests/io/helper.py", "tests/io"),
        ("tests/io/test_gone.py", ""),
        ("core/bindings/model.cpp", "tests/core tests/linear_model"),
        ("docs/learners.md", "tests/test_docs.py"),
        ("LICENSE", ""),
    ],
)
def test_what_changed_is_tested_by_what_mirrors_it_and_by_what_names_it(tmp_path, name, tests):
    for path, text in {
        "tests/io/test_text.py": "",
        "tests/io/helper.py": "",
        "tests/io/old/test_deep.py": "",
        "tests/io/test_other.py": "from yarrow.io.textual import read",
        "tests/cli/test_train.py": "from yarrow.io import line, text",
        "tests/cli/test_predict.py": "from yarrow.io import texts",
        "tests/core/test_core.py": "",
        "tests/linear_model/test_perceptron.py": "",
        "tests/test_docs.py": "",
        "tests/test_errors.py": "",
        "src/yarrow/io/text.py": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert changed.chosen([name], tmp_path) == tests.split()


def test_what_changed_is_what_differs_from_where_the_branch_began(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def git(*command: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *who, *command], check=True, capture_output=True)

    def write(name: str, text: str = "") -> None:
        (tmp_path / name).write_text(text)

    def commit() -> None:
        git("add", ".")
        git("commit", "-m", "x")

    git("init", "-b", "main")
    for name in ("same", "edited", "committed", "others"):
        write(name)
    commit()
    git("checkout", "-b", "work")
    write("committed", "here")
    commit()
    git("checkout", "main")
    write("others", "work")
    commit()
    git("checkout", "work")
    write("edited", "now")
    write("new")
    assert changed.changed("main") == ["committed", "edited", "new"]
