"""Learners by name, for commands and comparisons."""

from __future__ import annotations

import functools

from yarrow.linear_model.base import LinearModel


@functools.cache
def learners() -> dict[str, type[LinearModel]]:
    """All learners of rows with labels, by the names of their classes.

    One with a rule of the user's own needs Python, and files hold rows with labels, not pairs.
    """
    from yarrow import linear_model

    classes = [getattr(linear_model, name) for name in linear_model.__all__]
    return {
        cls.__name__: cls
        for cls in classes
        if isinstance(cls, type)
        and issubclass(cls, LinearModel)
        and cls.family != "custom"
        and cls.learns_labels
    }


def short_name(cls: type) -> str:
    """`arow` for AROWClassifier, `pa-regressor` for PassiveAggressiveRegressor."""
    name = cls.__name__.replace("PassiveAggressive", "PA").removesuffix("Classifier")
    return name.replace("Regressor", "-Regressor").lower()
