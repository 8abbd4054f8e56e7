"""Learners by name, for commands and comparisons."""

from __future__ import annotations

import functools
import re
from typing import Any

from yarrow import linear_model
from yarrow.linear_model.base import LinearModel


@functools.cache
def learners() -> dict[str, type[LinearModel]]:
    """All learners that files can teach, by the names of their classes; this loads them all."""
    classes = {name: getattr(linear_model, name) for name in linear_model.__all__}
    return {name: cls for name, cls in classes.items() if _learns_from_files(cls)}


def _learns_from_files(cls: Any) -> bool:
    """A rule of the user's own needs Python."""
    return isinstance(cls, type) and issubclass(cls, LinearModel) and cls.family != "custom"


def short_name(class_name: str) -> str:
    """`arow` for AROWClassifier, `pa-regressor` for PassiveAggressiveRegressor."""
    name = class_name.replace("PassiveAggressive", "PA").removesuffix("Classifier")
    return re.sub("(Regressor|Ranker)$", r"-\1", name).replace("OneClass", "OneClass-").lower()


def learner_named(name: str) -> type[LinearModel] | None:
    """A learner by its short name or that of its class, in any case; no other is loaded."""
    for class_name in linear_model.__all__:
        if name.lower() in (short_name(class_name), class_name.lower()):
            cls = getattr(linear_model, class_name)
            return cls if _learns_from_files(cls) else None
    return None
