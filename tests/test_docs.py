"""What pages show runs, what is generated is up to date, and links lead somewhere."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CLASSES

ROOT = Path(__file__).parents[1]
TOOLS, DOCS = ROOT / "tools", ROOT / "docs"
#: pages with examples, and how many at least: none is lost because a fence was mistyped
EXAMPLES = {
    "README.md": 12,
    "docs/coming-from.md": 25,
    "docs/guide.md": 40,
    "docs/experts.md": 11,
    "docs/feedback.md": 11,
    "docs/kernels.md": 11,
    "docs/serving.md": 15,
}


@pytest.mark.parametrize("tool", ["learners.py", "datasets.py", "pictures.py"])
def test_what_is_generated_is_up_to_date(tool):
    checked = subprocess.run(
        [sys.executable, TOOLS / tool, "--check"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_learner_says_when_to_use_it_and_what_instead(cls):
    if cls.__name__ == "CustomClassifier":
        assert "rule of your own" in cls.__doc__
        return
    text = " ".join(cls.__doc__.split())
    assert "Use it " in text
    assert "Instead: " in text


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text()
    monkeypatch.chdir(tmp_path)
    python = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert doctest.DocTestRunner().run(python).failed == 0
    assert len(python.examples) + run_shell(text, tmp_path) >= EXAMPLES[page]


def run_shell(text, folder):
    """Run the page's sessions in one folder, compare what they print, and count the commands.

    `$ cat FILE` makes the file if it is not there.
    """
    commands = {"yarrow": "yarrow", "vw": "vowpalwabbit"}
    (folder / "bin").mkdir()
    for name, module in commands.items():
        command = folder / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        command.chmod(0o755)
    shutil.copytree(ROOT / "examples", folder / "examples")
    environment = os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    steps = [
        step
        for session in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        for step in re.findall(r"\$ (.*?)\n((?:[^$].*\n)*)", session)
    ]
    for line, expected in steps:
        if (shown := re.fullmatch(r"cat (\S+)", line)) and not (folder / shown[1]).exists():
            (folder / shown[1]).write_text(expected)
        run = subprocess.run(
            line,
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout == expected, run.stderr
    return len(steps)


PAGES = [*ROOT.glob("*.md"), *DOCS.glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_to_is_there(page):
    for file in re.findall(r"\]\((?!\w+:)([^)#]+)", page.read_text()):
        assert (page.parent / file).exists(), file
