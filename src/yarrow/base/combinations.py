"""Which settings go together, declared once beside each learner and read here.

A learner's choices (`multiclass`, `loss`, `covariance`, ...) and whether it has an `average` stand
in its parameters; what does not go together stands in its `restrictions`. Errors, the table for
the docs and the tests are all made from these.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

from yarrow.errors import ParameterError
from yarrow.parameters import parameters

#: the parameters that say what a learner is, in the order of the table
AXES = ("loss", "variant", "covariance", "multiclass", "average")


@dataclasses.dataclass(frozen=True)
class Needs:
    """Where `parameter` is one of `values` (None: not its default), `other` must be `allowed`."""

    parameter: str
    values: tuple[Any, ...] | None
    other: str
    allowed: tuple[Any, ...]

    def applies(self, model: Any) -> bool:
        """Whether a model has one of the values that need the other parameter."""
        value = getattr(model, self.parameter)
        if self.values is None:
            return value is not type(model).__dataclass_fields__[self.parameter].default
        return value in self.values

    def __str__(self) -> str:
        values = "" if self.values is None else f"={_words(self.values)}"
        return f"{self.parameter}{values} needs {self.other}={_words(self.allowed)}"


def _words(values: tuple[Any, ...]) -> str:
    return " or ".join(repr(value) for value in values)


def check_combination(model: Any) -> None:
    """Raise ParameterError for the first restriction that a model's settings break."""
    for rule in model.restrictions:
        value = getattr(model, rule.other)
        if rule.applies(model) and value not in rule.allowed:
            raise ParameterError(
                f"The {rule.other!r} parameter must be {_words(rule.allowed)} with "
                f"{rule.parameter}={getattr(model, rule.parameter)!r}. Got {value!r} instead."
            )


def choices(cls: type) -> dict[str, tuple[Any, ...]]:
    """The values of each axis that a learner has."""
    return {
        name: (None,) * parameter.accepts(None) + (parameter.choices or (False, True))
        for name, parameter in parameters(cls).items()
        if name in AXES
    }


def is_allowed(cls: type, settings: dict[str, Any]) -> bool:
    """Whether these settings of a learner go together."""
    try:
        check_combination(cls(**settings))
    except ParameterError:
        return False
    return True


def combinations(cls: type) -> Iterator[dict[str, Any]]:
    """All settings of a learner's axes, allowed or not."""
    axes = choices(cls)
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))
