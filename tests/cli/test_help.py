"""Help pages, versions and what else a newcomer meets first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli.support import Run, start

import yarrow
from yarrow.cli import COMMANDS
from yarrow.cli.learners import learners


def test_the_first_page_lists_all_commands(run: Run) -> None:
    page = run("--help").stdout
    assert run().stdout == page
    for command in COMMANDS:
        assert f"\n  {command} " in page


@pytest.mark.parametrize("command", COMMANDS)
def test_every_page_fits_eighty_columns_and_explains_all_options(run: Run, command: str) -> None:
    page = run(command, "--help").stdout
    assert max(map(len, page.splitlines())) <= 80
    assert f"  yarrow {command} " in page  # an example
    assert page.startswith(f"Usage: yarrow {command} [OPTIONS]")
    assert "\\b" not in page


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_the_learners_are_listed_with_a_sentence_each(run: Run, command: str) -> None:
    lines = run(command, "--help").stdout.split("\nLearners:\n")[1].split("\n\n")[0].splitlines()
    found = [line.split()[0] for line in lines if line[2] != " "]
    assert found == list(learners())
    assert "NAROW: AROW that chooses r for each row" in " ".join(" ".join(lines).split())


def test_a_misspelt_command_is_guessed(run: Run) -> None:
    assert run("compar", code=2).stderr == (
        "yarrow: There is no command 'compar' (did you mean compare?); see 'yarrow --help'.\n"
    )
    assert run("xyz", code=2).stderr == (
        "yarrow: There is no command 'xyz'; see 'yarrow --help'.\n"
    )


def test_a_learners_page_has_its_ranges(run: Run) -> None:
    page = " ".join(run("train", "--help", "--learner", "scw").stdout.split())
    assert "SCWClassifier (scw)" in page
    assert "Use it where CW is too eager" in page
    assert "[> 0.5 and < 1; default: 0.9]" in page
    assert "--variant [scw1|scw2]" in page
    assert "--average / --no-average" in page


def test_the_version(run: Run) -> None:
    assert run("--version").stdout == f"yarrow {yarrow.__version__}\n"


@pytest.mark.parametrize("args", [["tarin"], ["--nonsense"], ["train"], ["predict"]])
def test_a_wrong_command_points_to_the_help(run: Run, args: list[str]) -> None:
    assert "--help'" in run(*args, code=2).stderr


def test_the_module_is_the_command() -> None:
    with start("--version") as process:
        assert process.communicate()[0].decode() == f"yarrow {yarrow.__version__}\n"
        assert process.returncode == 0


def test_an_error_of_a_process_is_one_line_and_code_two() -> None:
    with start("train", "nowhere.svm", "--model", "m") as process:
        output, errors = process.communicate()
        assert process.returncode == 2
        assert output == b""
        assert errors == b"yarrow: nowhere.svm: No such file or directory.\n"


def loaded_by(*args: object) -> set[str]:
    """The modules that are loaded when a command has run."""
    code = "import sys; from yarrow.cli import main; main(sys.argv[1:], standalone_mode=False)\n"
    code += "print(*sys.modules)"
    command = [sys.executable, "-c", code, *map(str, args)]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(output.stdout.splitlines()[-1].split())


def test_help_loads_nothing_that_it_does_not_need() -> None:
    needless = {"numpy", "rich", "scipy", "pyarrow", "sklearn", "yarrow.linear_model"}
    assert not loaded_by("--help") & needless


def test_training_loads_its_own_learner_only(svm: Path, tmp_path: Path) -> None:
    loaded = loaded_by("train", svm, "--learner", "pa", "--model", tmp_path / "m")
    assert "yarrow.linear_model.affine" in loaded
    needless = {"numpy", "rich", "lzma", "statistics", "pathlib", "yarrow.io.tables"}
    needless |= {f"yarrow.linear_model.{name}" for name in ("confidence", "proximal", "mirror")}
    assert not loaded & needless


@pytest.mark.parametrize("more", [[], ["--scores"], ["--threshold", "0.3", "--scores"]])
def test_predicting_text_loads_no_numpy(
    run: Run, svm: Path, tmp_path: Path, more: list[str]
) -> None:
    run("train", svm, "--learner", "pa", "--model", tmp_path / "m")
    output = ["--output", tmp_path / "labels"]
    loaded = loaded_by("predict", tmp_path / "m", svm, *output, *more)
    needless = {
        "numpy",
        "rich",
        "scipy",
        "lzma",
        "yarrow.io.tables",
        "yarrow.linear_model.exported",
    }
    assert not loaded & needless
    assert len((tmp_path / "labels").read_text().splitlines()) == svm.read_text().count("\n")
