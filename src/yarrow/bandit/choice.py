"""A class that was shown, as data, and the checks of what comes back with it."""

from __future__ import annotations

import contextlib
import dataclasses
import numbers
from typing import Any

from yarrow.data.dict_rows import Row, row_of_dict
from yarrow.data.labels import class_labels, plain
from yarrow.errors import DataError, ParameterError

LABELS = "a list of strings, integers or booleans"


@dataclasses.dataclass(frozen=True)
class Choice:
    """A class that was shown for a row. Hand it back to `learn` with whether it was right.

    It holds all that learning needs, so that feedback may come late, in any order, or never, and
    the model keeps nothing for it. All of it is plain data that JSON can hold, as
    `dataclasses.asdict` gives it; `Choice(**data)` makes a choice of that again.
    """

    label: Any
    #: pairs of name and value, since JSON would make texts of names that are numbers; or a dict
    x: list[list[Any]] | dict[Any, float]
    best: Any  # the class that would have been shown without exploring
    probability: float  # with which the label was drawn


def row_of_choice(choice: Any) -> Row:
    """The row of a choice, which may have come through JSON."""
    if not isinstance(choice, Choice):
        raise ParameterError(f"A choice that `choose` has made is needed. Got {choice!r} instead.")
    probability, x = choice.probability, choice.x
    if not isinstance(probability, numbers.Real) or not 0 < probability <= 1:
        raise DataError(
            f"The probability of a choice must be > 0 and <= 1. Got {probability!r} instead."
        )
    with contextlib.suppress(TypeError, ValueError):  # what is no row is refused below
        x = dict(x)
    return row_of_dict(x)


def plain_labels(classes: Any) -> list[Any]:
    """Classes by the rule for labels of rows, as plain values; none where one cannot be a label."""
    try:
        names = [plain(name) for name in classes]
        is_flat = all(isinstance(name, (str, int, float)) for name in names)
        return class_labels(names, len(names)) if is_flat and not isinstance(classes, str) else []
    except (TypeError, DataError):  # not a list, or not of labels
        return []
