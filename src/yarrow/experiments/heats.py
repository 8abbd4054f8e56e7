"""A block of rows made ready for all who learn it, and the numbers of its classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.stream.arrays import Array, read_labels, read_rows, read_values, read_weights

UNKNOWN = -2  # the number of a class that no learner can have seen


class OneMoreClass(DataError):
    """A class that nobody expected."""


def distinct(y: Array) -> tuple[list[Any], Array, Array]:
    """Labels (numbers before texts), the row where each first stands, and the place of each row's.

    In an array of objects there may be numbers beside texts, which cannot be compared.
    """
    if y.dtype != object:
        names, first, places = np.unique(y, return_index=True, return_inverse=True)
        return names.tolist(), first, places.reshape(-1)
    seen: dict[Any, int] = {}
    for row, label in enumerate(y.tolist()):
        seen.setdefault(label, row)
    listed = sorted(seen, key=lambda label: (isinstance(label, str), label))
    place = {label: i for i, label in enumerate(listed)}
    places = np.array([place[label] for label in y.tolist()], np.int64)
    return listed, np.array([seen[label] for label in listed], np.int64), places


class Classes:
    """Classes numbered in the order of their appearance, as every learner numbers them."""

    def __init__(self, expected: Sequence[Any] | None = None) -> None:
        self.names: list[Any] = []
        self._expected = None if expected is None else {_class_name(name) for name in expected}
        self._numbers: dict[Any, int] = {}

    def number(self, y: Array, add: bool) -> Array:
        """The numbers of labels; those that are new get one, or are UNKNOWN."""
        listed, first, places = distinct(y)
        numbers = np.full(len(listed), UNKNOWN)
        for place in np.argsort(first, kind="stable").tolist():
            name = _class_name(listed[place])
            if add and name not in self._numbers:
                if self._expected is not None and name not in self._expected:
                    raise OneMoreClass(f"the class {name!r} was not told beforehand")
                self._numbers[name] = len(self.names)
                self.names.append(name)
            numbers[place] = self._numbers.get(name, UNKNOWN)
        return numbers[places]


def _class_name(label: Any) -> Any:
    return int(label) if isinstance(label, float) and label.is_integer() else label


@dataclasses.dataclass(eq=False, repr=False)
class RaceBatch(Batch):
    """A batch made ready for all entrants: read once, whoever learns it."""

    learned: Any = None  # the labels as class numbers, or values
    truth_numbers: Any = None  # what predictions are compared with: these, or those before noise

    @classmethod
    def of(cls, block: Any, classes: Classes | None, clean: bool) -> RaceBatch:
        """Make a block ready; without `classes` its labels are values."""
        rows = read_rows(block.X)
        weights = read_weights(block.weights, rows.n_rows)
        compared = block.clean if clean and block.clean is not None else block.y
        labels: tuple[Array, list[Any]]
        if classes is None:
            learned = read_values(block.y, rows.n_rows)
            labels = learned, []
            truth = learned if compared is block.y else read_values(compared, rows.n_rows)
        else:
            labels = read_labels(block.y, rows.n_rows)
            y = np.asarray(block.y)
            classes.number(y if weights is None else y[weights != 0], add=True)
            learned = truth = classes.number(y, add=False)
            if compared is not block.y:
                truth = classes.number(np.asarray(compared), add=False)
        return cls(
            rows,
            block.names or [],
            labels=labels,
            weights=weights,
            y=block.y,
            learned=learned,
            truth_numbers=truth,
        )
