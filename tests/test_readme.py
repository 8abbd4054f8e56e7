"""Everything the README shows runs, and prints what it says."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_python_examples_print_what_the_readme_says():
    examples = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", "README.md", 0)
    assert len(test.examples) == 9
    assert doctest.DocTestRunner().run(test).failed == 0


def test_shell_examples_print_what_the_readme_says(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "yarrow"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m yarrow "$@"\n')
    command.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    [session] = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    steps = re.findall(r"\$ (.*?)\n((?:[^$].*\n)*)", session)
    assert len(steps) == 3
    for line, expected in steps:
        run = subprocess.run(
            line, shell=True, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert run.stdout == expected, run.stderr
