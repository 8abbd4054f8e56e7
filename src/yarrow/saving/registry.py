"""Every class by its name: those that files may name, and the learners that users name.

What is not here is never made from a file.
"""

from __future__ import annotations

import functools
import re
from importlib import import_module
from typing import Any

from yarrow.errors import ModelFileError, ParameterError, did_you_mean

#: the package of the classes of each kind of file
PACKAGES = {
    "model": "linear_model",
    "kernel": "kernel",
    "experts": "experts",
    "bandit": "bandit",
    "feedback": "feedback",
    "decomposition": "decomposition",
    "composite": "composite",
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


#: kinds of learners that learn rows with labels, and those that do not, with the reason
LEARN_LABELS = ("model", "kernel", "experts", "feedback")
_LEARN_OTHERWISE = {
    "bandit": "learns from right or wrong alone, which the rows of a file do not tell one by one: "
    "compare it with yarrow compare, where labels play that part, or use it in Python",
}


def offered(kind: str) -> dict[str, Any]:
    """The learners of a kind by the names of their classes; this loads them all."""
    module = import_module(f"yarrow.{PACKAGES[kind]}")
    classes = {name: getattr(module, name) for name in module.__all__}
    return {name: cls for name, cls in classes.items() if _is_offered(cls)}


def _is_offered(cls: Any) -> bool:
    """A rule of the user's own needs Python."""
    return getattr(cls, "learns_rows", False) and cls.family != "custom"


def short_name(class_name: str) -> str:
    """`arow` for AROWClassifier, `pa-regressor` for PassiveAggressiveRegressor."""
    name = class_name.replace("PassiveAggressive", "PA").removesuffix("Classifier")
    return re.sub("(Regressor|Ranker)$", r"-\1", name).replace("OneClass", "OneClass-").lower()


def means(word: str, class_name: str) -> bool:
    """Whether a word names a class: by its short name or its own, in any case."""
    return word.lower() in (short_name(class_name), class_name.lower())


@functools.cache
def learners() -> dict[str, Any]:
    """All learners of rows with labels, by their short names; this loads every one of them."""
    classes = [item for kind in LEARN_LABELS for item in offered(kind).items()]
    return dict(sorted((short_name(name), cls) for name, cls in classes))


def learner_named(name: str) -> Any:
    """A learner by its short name or that of its class; no other is loaded."""
    for kind in (*LEARN_LABELS, *_LEARN_OTHERWISE):
        module = import_module(f"yarrow.{PACKAGES[kind]}")
        for class_name in filter(functools.partial(means, name), module.__all__):
            if kind in _LEARN_OTHERWISE:
                raise ParameterError(f"{class_name} {_LEARN_OTHERWISE[kind]}.")
            cls = getattr(module, class_name)
            if _is_offered(cls):
                return cls
    names = list(learners())
    alike = did_you_mean(name.lower(), names)
    raise ParameterError(f"There is no learner {name!r}{alike}; there are {', '.join(names)}.")


def kind_of(cls: type) -> str:
    """The kind of files that hold models of a class."""
    package = cls.__module__.removeprefix("yarrow.").partition(".")[0]
    return next((kind for kind, known in PACKAGES.items() if known == package), package)


def name_of(cls: type) -> str:
    """What files call a class."""
    kind = kind_of(cls)
    old = (name for (of, name), new in RENAMED.items() if of == kind and new == cls.__name__)
    return next(old, cls.__name__)
