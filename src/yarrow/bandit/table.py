"""A weight for each feature and class, of features and classes that may come at any time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yarrow.data.arrays import Array
from yarrow.lazy import np

#: the scale is multiplied into the weights before it becomes too small to divide by
LEAST_SCALE = 1e-9


class Table:
    """Weights behind one scale, a line a feature; line 0 is the intercept's."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}
        self.weights = np.zeros((16, 0))
        self.scale = 1.0
        #: the scale, and what steps have overwritten since `begin`: where, and what was there
        self._past: tuple[float, list[tuple[Any, Array]]] | None = None

    def begin(self) -> None:
        """From here on, steps can be taken back."""
        self._past = self.scale, []

    def roll_back(self) -> None:
        """Take back the steps since."""
        assert self._past is not None
        self.scale, overwritten = self._past
        for where, values in reversed(overwritten):
            self.weights[where] = values
        self._past = None

    def commit(self) -> None:
        """Keep the steps since."""
        self._past = None

    def _overwrite(self, where: Any) -> None:
        if self._past is not None:
            self._past[1].append((where, self.weights[where].copy()))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_past": None}

    def lines(self, names: Sequence[Any], adds: bool) -> Array:
        """Where features are; new ones get a line if one `adds` them, else -1."""
        places = self.places
        if not adds:
            return np.array([places.get(name, -1) for name in names], dtype=np.int64)
        found = [places.get(name, 0) for name in names]
        if 0 in found:
            found = [places.setdefault(name, len(places) + 1) for name in names]
            if len(places) + 1 > len(self.weights):
                more = np.zeros((2 * len(places) + 2, self.weights.shape[1]))
                more[: len(self.weights)] = self.weights
                self.weights = more
        return np.array(found, dtype=np.int64)

    def add_class(self) -> None:
        """One more column of zeros."""
        self.weights = np.column_stack([self.weights, np.zeros(len(self.weights))])

    def scores(self, lines: Array, values: Array) -> Array:
        """The score of each class; of values that are too large to be learned, any."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.scale * (values @ self.weights[lines])

    def add(self, lines: Array, column: int, steps: Array) -> None:
        """Add to the weights of one class."""
        self._overwrite((lines, column))
        self.weights[lines, column] += steps / self.scale

    def shrink(self, factor: float) -> None:
        """Multiply all weights."""
        self.scale *= factor
        if self.scale < LEAST_SCALE:
            self._overwrite(tuple(map(slice, self.weights.shape)))
            self.weights *= self.scale
            self.scale = 1.0

    @property
    def nbytes(self) -> int:
        """Memory of the weights and, roughly, of the names."""
        return int(self.weights.nbytes) + 100 * len(self.places)
