"""What is loaded when it is first used: numpy takes longer than many a command needs."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["exports", "listed", "np", "resource"]


def _wait_for_imports() -> None:
    """Before a fork: wait until no other thread imports, for a second at most.

    A child has only the thread that forked, and whatever another one was importing stays locked in
    it for ever: `predict` would hang where it imports the same.
    """
    locks: Any = import_module("_frozen_importlib")._module_locks
    own = threading.get_ident()
    for _ in range(1000):
        found = [reference() for reference in list(locks.values())]
        if all(getattr(lock, "owner", None) in (None, own) for lock in found):
            return
        time.sleep(0.001)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports)


def exports(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that offers names out of files that are not loaded.

    `homes` has the file of each name, which may be its own; "yarrow.x.y" is one of another package.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name] if "." in homes[name] else f"{package}.{homes[name]}"
        module = import_module(home)
        value = module if homes[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *homes})


def resource(package: str, name: str) -> str:
    """The text of a file that stands beside the modules of a package."""
    # Not by importlib.resources, which takes longer to load than most commands need.
    folder = os.path.dirname(import_module(package).__file__ or "")
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def listed(package: str, name: str) -> list[list[str]]:
    """The words of each line of such a file, but for comments and empty lines."""
    lines = resource(package, name).splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


if TYPE_CHECKING:
    import numpy as np
else:

    class _Lazy:
        """A module whose attributes are looked up on first use, and then kept."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            value = getattr(import_module(self._name), attribute)
            setattr(self, attribute, value)
            return value

    np = _Lazy("numpy")
