"""What concerns all tests: which files are read, and what the garbage collector looks at."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file that cannot have a test which `-k` asks for; importing all takes long.

    Names of tests stand in a file's text or path. Any other word may be part of a parameter that
    is made elsewhere, as a learner's name is, and after `not` a word says nothing about files.
    """
    words = set(config.option.keyword.lower().replace("(", " ").replace(")", " ").split())
    names = words - {"and", "or"}
    if not names or any("test_" not in name for name in names) or not collection_path.is_file():
        return None
    if collection_path.suffix != ".py":
        return None
    text = f"{collection_path}\n{collection_path.read_text(encoding='utf-8')}".lower()
    return None if any(name in text for name in names) else True


def pytest_collection_finish() -> None:
    """Tens of thousands of tests are no garbage: collecting it is not to walk over them again."""
    gc.collect()
    gc.freeze()
