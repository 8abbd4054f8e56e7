"""Finds `reproduction`, what measures papers: it is in a checkout, and in no wheel."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from yarrow.errors import YarrowError

_SOURCE = Path(__file__).parents[2]
"""In a checkout, its root."""


class NoCheckout(YarrowError, ImportError):
    """There is no `reproduction` to be found."""


def load(name: str) -> ModuleType:
    """Import a module of `reproduction`: from this source tree, or from the current checkout."""
    here = Path.cwd()
    for root in (_SOURCE, here, *here.parents, *map(Path, sys.path)):
        if (root / "reproduction" / "engine.py").is_file() and (root / "src" / "yarrow").is_dir():
            if str(root) not in sys.path:
                sys.path.insert(0, str(root))  # worker processes inherit it
            return import_module(name)
    raise NoCheckout(
        "the papers' experiments are not part of the installed package: run 'yarrow reproduce' in "
        "a checkout of Yarrow's repository, or in its source archive "
        "('pip download --no-deps --no-binary :all: yarrow-learn'), unpacked."
    )
