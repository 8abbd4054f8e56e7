"""One row as names and values, zeros left out: what a dict of features means in Python.

The core reads dicts by itself and means the same (core/bindings/dict_row.hpp).
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from yarrow.data.arrays import Array, is_unicode, read_weights
from yarrow.errors import DataError, ParameterError, YarrowError
from yarrow.lazy import np


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One row: its values, none of them zero, and what features they belong to.

    The features are `names` themselves (a dict), or those of them at `columns` (an array, whose
    rows share their names).
    """

    names: Sequence[Any]
    columns: Array | None
    values: Array
    square: float  # |x|^2

    def as_dict(self) -> dict[Any, float]:
        names = self.names if self.columns is None else [self.names[j] for j in self.columns]
        return dict(zip(names, self.values.tolist(), strict=True))


def squared_norm(values: Array) -> float:
    """|x|^2, infinite where it is too large for a number: whoever needs it refuses the row."""
    with np.errstate(over="ignore"):
        return float(values @ values)


def row_of_dict(x: Any) -> Row:
    """One row of features by name. A string as value makes the feature `name=value`."""
    there = features_of(x)
    values = np.array(list(there.values()), dtype=np.float64)
    return Row(list(there), None, values, squared_norm(values))


def features_of(x: Any) -> dict[Any, float]:
    """The names and values of such a row, zeros left out; what is no row is refused.

    None, a value that is missing, is left out like a zero.
    """
    return {name: value for name, value in numbers_of_dict(x).items() if value}


def features_and_missing(x: Any) -> dict[Any, float | None]:
    """The same with None where a value is missing, for learners that tell that from 0."""
    return {**features_of(x), **{name: None for name, value in x.items() if value is None}}


def without_missing(x: dict[Any, Any]) -> dict[Any, Any]:
    """A row as it is, but for what is missing: as rows of frames come to most learners."""
    if None not in x.values():
        return x
    return {name: value for name, value in x.items() if value is not None}


def numbers_of_dict(x: Any) -> dict[Any, float]:
    """The same with zeros, for those who do not want another order without them."""
    if not isinstance(x, Mapping):
        of_text = "; yarrow.features.TextFeatures().transform_one(text) makes one of a text"
        raise DataError(
            f"A row must be a dict of features, not {x!r}{of_text if isinstance(x, str) else ''}."
        )
    found: dict[Any, float] = {}
    for name, value in x.items():
        # Nearly all are of these types, and need no closer look.
        plain = type(name) is str and type(value) is float
        if not (plain and name.isascii() and math.isfinite(value)):
            name, value = _feature(name, value)
        found[name] = found.get(name, 0.0) + value
    return found


def _feature(name: Any, value: Any) -> tuple[str | int, float]:
    """A name that model files can hold, and a finite value."""
    if isinstance(name, np.str_):
        name = name.item()
    elif not isinstance(name, str):
        try:
            name = operator.index(name)  # True is 1, as everywhere in Python
        except TypeError:
            raise DataError(
                f"The feature name {name!r} is neither a text nor an integer."
            ) from None
    if isinstance(value, str):
        name, value = f"{name}={value}", 1.0
    if isinstance(name, str):
        if not is_unicode(name):
            raise DataError(f"The text {name!r} in a row is not valid Unicode.")
    elif not -(2**63) <= name < 2**63:
        raise DataError(f"The feature name {name} does not fit into 64 bits.")
    if value is None:
        return name, 0.0
    try:
        number = math.fabs(value) and float(value)  # a number, not bytes that look like one
    except OverflowError:
        number = math.inf
    except TypeError:
        raise DataError(
            f"The value of feature {name!r} is neither a number nor a text: {value!r:.80}; "
            "yarrow.features.Columns().transform_one(row) makes features of dates, lists and dicts."
        ) from None
    if not math.isfinite(number):
        what = "NaN; say None where a value is missing" if math.isnan(number) else "infinite"
        raise DataError(f"The value of feature {name!r} is {what}.")
    return name, number


def read_weight(weight: Any) -> float:
    """The weight of a row, by the rule for sample weights."""
    if type(weight) is float and 0 <= weight < math.inf:  # as nearly all are: arrays take longer
        return weight
    try:
        weights = read_weights([weight], 1)
    except (YarrowError, OverflowError):
        raise ParameterError.of("weight", weight, "finite and >= 0") from None
    assert weights is not None
    return float(weights[0])
