"""Modules under their old names: old imports and old pickles find what moved, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def warn(old: str, new: str) -> None:
    """Tell whoever imports the old name what the new one is."""
    warnings.warn(f"{old} has moved to {new}.", DeprecationWarning, stacklevel=3)


def alias(modules: Mapping[str, str], load: Callable[[str], ModuleType] = import_module) -> None:
    """Let `import old` give the module `new` itself, for each `old: new` and what is in them."""
    sys.meta_path.insert(0, _Moved(modules, load))


class _Moved(MetaPathFinder, Loader):
    def __init__(self, modules: Mapping[str, str], load: Callable[[str], ModuleType]) -> None:
        self._modules, self._load = modules, load

    def _new_name(self, name: str) -> str | None:
        for old, new in self._modules.items():
            if name == old or name.startswith(f"{old}."):
                return new + name.removeprefix(old)
        return None

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if self._new_name(name) else None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = self._new_name(old)
        assert new is not None
        sys.modules[old] = self._load(new)  # importlib takes it instead of the empty one
        warn(old, new)
