"""docs/learners.md and docs/datasets.md say what the classes declare, and examples work."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CLASSES

TOOLS = Path(__file__).parent.parent / "tools"
DOCS = TOOLS.parent / "docs"


@pytest.mark.parametrize("tool", ["learners.py", "datasets.py"])
def test_the_tables_are_up_to_date(tool):
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


def test_the_examples_of_the_kernel_page_work():
    failed, tried = doctest.testfile(str(DOCS / "kernels.md"), module_relative=False)
    assert (failed, tried > 10) == (0, True)
