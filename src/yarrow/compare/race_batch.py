"""A block of rows made ready for all who learn it, and the numbers of its classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from yarrow.data.arrays import Array, exact_array, read_rows, read_values, read_weights
from yarrow.data.labels import UNKNOWN, Codes, distinct, kept, numbered, read_labels
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.online.batch import Batch


class OneMoreClass(DataError):
    """A class that nobody expected."""


class Classes:
    """Classes numbered in the order of their appearance, as every learner numbers them."""

    def __init__(self, expected: Sequence[Any] | None = None) -> None:
        self._expected = None if expected is None else {kept(name) for name in expected}
        self.codes: Codes = {}

    @property
    def names(self) -> list[Any]:
        """The classes by their numbers."""
        return list(self.codes)

    def number(self, y: Any, add: bool) -> Array:
        """The numbers of labels; those that are new get one, or are UNKNOWN."""
        listed, first, places = distinct(y)
        names = [kept(label) for label in listed]
        if add:
            by_row = [names[place] for place in np.argsort(first, kind="stable").tolist()]
            for name in by_row:
                if self._expected is not None and name not in self._expected:
                    raise OneMoreClass(f"the class {name!r} was not told beforehand")
            numbered(by_row, self.codes, add=True)
        return numbered(names, self.codes, unknown=UNKNOWN)[places]

    def number_said(self, labels: Sequence[Any]) -> Array:
        """The numbers of predictions; -1 where there is none."""
        return numbered([kept(label) for label in labels], self.codes)


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
            y = exact_array(block.y)
            classes.number(y if weights is None else y[weights != 0], add=True)
            learned = truth = classes.number(y, add=False)
            if compared is not block.y:
                truth = classes.number(compared, add=False)
        return cls(
            rows,
            block.names or [],
            labels=labels,
            weights=weights,
            y=block.y,
            learned=learned,
            truth_numbers=truth,
        )
