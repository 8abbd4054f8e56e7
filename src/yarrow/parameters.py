"""Hyper-parameters, declared once: default, allowed values, one sentence.

Validation, `--help`, the docs and the signature all come from the declaration:

>>> import dataclasses
>>> @dataclasses.dataclass
... class Learner:
...     C: float = number(default=1.0, doc="How large a step may be.", above=0)
>>> parameters(Learner)["C"].allowed
'> 0'
>>> check_parameters(Learner(C=-1))
Traceback (most recent call last):
yarrow.errors.ParameterError: The 'C' parameter must be > 0. Got -1 instead.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from yarrow._core import MOST_CLASSES
from yarrow.errors import ParameterError


@dataclasses.dataclass(frozen=True)
class Parameter:
    """What a parameter may be, in words and as a test."""

    doc: str
    allowed: str
    accepts: Callable[[Any], bool]
    kind: type | None = None  # what the command line reads; None: not reachable from it
    choices: tuple[str, ...] = ()


def _field(default: Any, parameter: Parameter) -> Any:
    return dataclasses.field(default=default, metadata={"parameter": parameter})


def number(
    default: float | None,
    doc: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    or_infinite: bool = False,
) -> Any:
    """A real number in a range; None is allowed where it is the default."""
    allowed, accepts = _range(numbers.Real, above, at_least, below, at_most)
    if or_infinite:
        return _field(default, _or_infinite(Parameter(doc, allowed, accepts, float)))
    return _field(default, _or_none(default, Parameter(doc, allowed, accepts, float)))


def integer(
    default: int | None, doc: str, *, at_least: int | None = None, at_most: int | None = None
) -> Any:
    """A whole number in a range; None is allowed where it is the default."""
    allowed, accepts = _range(numbers.Integral, None, at_least, None, at_most)
    allowed = f"an integer {allowed}" if allowed != "a finite number" else "an integer"
    return _field(default, _or_none(default, Parameter(doc, allowed, accepts, int)))


#: what a whole number in the core can hold
MOST_WHOLE = 2**31 - 1


def most_classes() -> Any:
    """The parameter `max_classes` of a classifier."""
    doc = (
        "The most classes that may appear, unless `classes` lists them: a row costs time for each."
    )
    return integer(default=MOST_CLASSES, doc=doc, at_least=1, at_most=MOST_WHOLE)


#: of `compare` and its command: what decides between learners that the rows cannot tell apart
PREFERENCES = ("accurate", "fast", "small")


def flag(default: bool, doc: str) -> Any:
    """True or False."""
    return _field(default, Parameter(doc, "True or False", lambda v: v is True or v is False, bool))


def choice(default: str | None, options: Sequence[str], doc: str) -> Any:
    """One of a few words; None is allowed where it is the default."""
    words = tuple(options)
    allowed = "one of " + ", ".join(repr(word) for word in words)
    parameter = Parameter(doc, allowed, lambda v: isinstance(v, str) and v in words, str, words)
    return _field(default, _or_none(default, parameter))


def text(default: str, doc: str) -> Any:
    """Any text."""
    return _field(default, Parameter(doc, "a text", lambda v: isinstance(v, str), str))


def anything(default: Any, allowed: str, accepts: Callable[[Any], bool], doc: str) -> Any:
    """A parameter of its own kind, with its own test."""
    return _field(default, Parameter(doc, allowed, accepts))


def _or_none(default: object, parameter: Parameter) -> Parameter:
    if default is not None:
        return parameter
    return dataclasses.replace(
        parameter,
        allowed=f"None or {parameter.allowed}",
        accepts=lambda value: value is None or parameter.accepts(value),
    )


def _or_infinite(parameter: Parameter) -> Parameter:
    return dataclasses.replace(
        parameter,
        allowed=f"{parameter.allowed}, or inf",
        accepts=lambda value: (
            (isinstance(value, float) and value == math.inf) or parameter.accepts(value)
        ),
    )


def _range(
    kind: type,
    above: float | None,
    at_least: float | None,
    below: float | None,
    at_most: float | None,
) -> tuple[str, Callable[[Any], bool]]:
    limits = [
        (sign, limit)
        for sign, limit in ((">", above), (">=", at_least), ("<", below), ("<=", at_most))
        if limit is not None
    ]

    def accepts(given: Any) -> bool:
        value: Any = given
        if not isinstance(given, kind) or isinstance(value, bool) or not math.isfinite(value):
            return False
        return (
            (above is None or value > above)
            and (at_least is None or value >= at_least)
            and (below is None or value < below)
            and (at_most is None or value <= at_most)
        )

    words = " and ".join(f"{sign} {limit:g}" for sign, limit in limits)
    return words or "a finite number", accepts


def parameters(estimator: Any) -> Mapping[str, Parameter]:
    """The declared parameters of a class or an instance, in the order of its signature."""
    cls = estimator if isinstance(estimator, type) else type(estimator)
    return _declared(next(c for c in cls.__mro__ if "__dataclass_fields__" in c.__dict__))


@functools.cache  # asked for each model anew, of which there may be one a key
def _declared(cls: Any) -> Mapping[str, Parameter]:
    found = [field for field in dataclasses.fields(cls) if "parameter" in field.metadata]
    in_order = sorted(found, key=lambda field: bool(field.kw_only))
    return MappingProxyType({field.name: field.metadata["parameter"] for field in in_order})


def check_parameters(estimator: Any) -> None:
    """Raise ParameterError for the first value that is not allowed."""
    for name, parameter in parameters(estimator).items():
        value = getattr(estimator, name)
        if not parameter.accepts(value):
            raise ParameterError.of(name, value, parameter.allowed)
