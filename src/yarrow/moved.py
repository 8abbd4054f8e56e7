"""Modules under their old names: old imports and old pickles find what moved, with a warning."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from yarrow.lazy import listed

#: what has another name in these modules now
RENAMED = {
    "yarrow.composite.members": {
        "Member": "Adapter",
        "CoreMember": "CoreAdapter",
        "DictMember": "DictAdapter",
        "ArrayMember": "ArrayAdapter",
        "Block": "Batch",
        "member_of": "adapter_of",
    },
}


def warn(old: str, new: str) -> None:
    """Tell whoever imports the old name what the new one is."""
    warnings.warn(f"{old} has moved to {new}.", DeprecationWarning, stacklevel=3)


def keep_old_names() -> None:
    """Let `import` find modules by their old names: they are the new modules themselves."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


@functools.cache
def moved() -> dict[str, str]:
    """Old names and new ones."""
    return dict(listed("yarrow", "moved.txt"))


def _new_name(name: str) -> str | None:
    if not name.startswith("yarrow."):
        return None
    names, known = moved(), name
    while known not in names and "." in known:
        known = known.rpartition(".")[0]
    return names[known] + name.removeprefix(known) if known in names else None


class _Moved:
    """Finds and loads; a class of importlib.abc above it would double the time to import yarrow."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        loader: Any = self
        return ModuleSpec(name, loader) if _new_name(name) else None

    def create_module(self, spec: ModuleSpec) -> None:
        """The module is an empty one, until it is known which it is."""

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = _new_name(old) or old
        found = import_module(new)
        for old_name, new_name in RENAMED.get(old, {}).items():
            setattr(found, old_name, getattr(found, new_name))
        sys.modules[old] = found  # importlib takes it instead of the empty one
        for name, value in vars(found).items():
            # Importing a module anew would hide a function of the package that is called so, too.
            if callable(value) and f"{new}.{name}" in sys.modules:
                sys.modules[f"{old}.{name}"] = sys.modules[f"{new}.{name}"]
        warn(old, new)


_FINDER = _Moved()
