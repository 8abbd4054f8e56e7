"""Estimators by name: every class that a file may name, and the learners that commands know.

What is not here is never made from a file.
"""

from __future__ import annotations

import functools
import re
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


@functools.cache
def learners() -> dict[str, Any]:
    """All learners that files can teach, by the names of their classes; this loads them all."""
    package = import_module("yarrow.linear_model")
    classes = {name: getattr(package, name) for name in package.__all__}
    return {name: cls for name, cls in classes.items() if _learns_from_files(cls)}


def _learns_from_files(cls: Any) -> bool:
    """A rule of the user's own needs Python."""
    return hasattr(cls, "_stream_learning") and cls.family != "custom"


def short_name(class_name: str) -> str:
    """`arow` for AROWClassifier, `pa-regressor` for PassiveAggressiveRegressor."""
    name = class_name.replace("PassiveAggressive", "PA").removesuffix("Classifier")
    return re.sub("(Regressor|Ranker)$", r"-\1", name).replace("OneClass", "OneClass-").lower()


def learner_named(name: str) -> Any:
    """A learner by its short name or that of its class, in any case; no other is loaded."""
    package = import_module("yarrow.linear_model")
    for class_name in package.__all__:
        if name.lower() in (short_name(class_name), class_name.lower()):
            cls = getattr(package, class_name)
            return cls if _learns_from_files(cls) else None
    return None
