"""Generated pages and pictures are those that would be made now; examples and links work."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CLASSES

TOOLS = Path(__file__).parent.parent / "tools"
DOCS = TOOLS.parent / "docs"


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


@pytest.mark.parametrize("page", ["experts.md", "feedback.md", "kernels.md"])
def test_examples_print_what_the_page_says(page):
    found = doctest.testfile(str(DOCS / page), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0


PAGES = [*DOCS.parent.glob("*.md"), *DOCS.glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_to_is_there(page):
    for file in re.findall(r"\]\((?!\w+:)([^)#]+)", page.read_text()):
        assert (page.parent / file).exists(), file
