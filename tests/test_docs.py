"""docs/learners.md lists every learner as its class declares it."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CLASSES

TOOL = Path(__file__).parent.parent / "tools" / "learners.py"


def test_the_table_of_learners_is_up_to_date():
    checked = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_learner_says_when_to_use_it_and_what_instead(cls):
    if cls.__name__ == "CustomClassifier":
        assert "rule of your own" in cls.__doc__
        return
    text = " ".join(cls.__doc__.split())
    assert "Use it " in text
    assert "Instead: " in text
