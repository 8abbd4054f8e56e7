"""Every class that a file may name: what is not here is never made from a file."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from yarrow.errors import ModelFileError

#: the package of the classes of each kind of file
PACKAGES = {
    "model": "linear_model",
    "kernel": "kernel",
    "experts": "experts",
    "bandit": "bandit",
    "feedback": "feedback",
    "decomposition": "decomposition",
}

#: classes that files know by an older name: kind and name in files, and the name of today. Files
#: keep the old name, so that older versions read them; tests/golden has all names there are.
RENAMED: dict[tuple[str, str], str] = {}


def class_named(kind: Any, name: Any) -> Any:
    """The class that files of this kind mean by a name: one that can be made of a file's content.

    Packages offer functions, too, and learners that cannot be saved; a file reaches neither.
    """
    if kind == "export":  # of whichever linear model: it only predicts
        kind, name = "model", "ExportedModel"
    package = PACKAGES.get(kind) if isinstance(kind, str) else None
    if package is not None and isinstance(name, str):
        module = import_module(f"yarrow.{package}")
        name = RENAMED.get((kind, name), name)
        found = getattr(module, name, None) if name in module.__all__ else None
        if isinstance(found, type) and hasattr(found, "_unpacked"):
            return found
    raise ModelFileError(f"holds no model that this version knows ({kind!r}, {name!r})")


def kind_of(cls: type) -> str:
    """The kind of files that hold models of a class."""
    package = cls.__module__.removeprefix("yarrow.").partition(".")[0]
    return next((kind for kind, known in PACKAGES.items() if known == package), package)


def name_of(cls: type) -> str:
    """What files call a class."""
    kind = kind_of(cls)
    old = (name for (of, name), new in RENAMED.items() if of == kind and new == cls.__name__)
    return next(old, cls.__name__)
