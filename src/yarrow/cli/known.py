"""Which learners a command can train: those of the core, with kernels, and made of learners."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from yarrow.errors import ParameterError, did_you_mean

#: packages whose estimators learn files a block at a time
_BY_BLOCKS = ("kernel", "experts", "feedback")
#: what is no learner of files, and why
_NOT_HERE = {
    "bandit": "learns from right or wrong alone, which the rows of a file do not tell one by one: "
    "compare it with yarrow compare, where labels play that part, or use it in Python",
}


@functools.cache
def learners() -> dict[str, Any]:
    """All learners by their short names; this loads every one of them."""
    from yarrow.saving import registry

    found: dict[str, Any] = dict(registry.learners())
    for package in _BY_BLOCKS:
        found |= _offered(package)
    return dict(sorted((registry.short_name(name), cls) for name, cls in found.items()))


def _offered(package: str) -> dict[str, Any]:
    """The estimators of a package that learn rows with labels."""
    module = import_module(f"yarrow.{package}")
    classes = {name: getattr(module, name) for name in module.__all__}
    return {name: cls for name, cls in classes.items() if hasattr(cls, "_predict_then_learn")}


def learner_named(name: str) -> Any:
    """A learner by its short name or that of its class, in any case; no other is loaded."""
    from yarrow.saving import registry

    found: Any = registry.learner_named(name)
    if found is not None:
        return found
    word = name.lower()
    for package in (*_BY_BLOCKS, *_NOT_HERE):
        for class_name in import_module(f"yarrow.{package}").__all__:
            if word not in (registry.short_name(class_name), class_name.lower()):
                continue
            if package in _NOT_HERE:
                raise ParameterError(f"{class_name} {_NOT_HERE[package]}.")
            cls = _offered(package).get(class_name)
            if cls is not None:
                return cls
    names = list(learners())
    raise ParameterError(
        f"There is no learner {name!r}{did_you_mean(word, names)}; there are {', '.join(names)}."
    )
