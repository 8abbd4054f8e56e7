"""What needs no learning: the last label, and the most frequent one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yarrow.data.arrays import Array
from yarrow.lazy import np

if TYPE_CHECKING:
    from yarrow.compare.race_batch import RaceBatch


class Baseline:
    """What needs no learning, and what every learner has to beat."""

    name = ""

    def learned(self) -> Any:
        """Nothing that could be saved."""
        return None

    def updates(self) -> int:
        """None."""
        return 0

    def nonzeros(self) -> int:
        """None."""
        return 0


class LastLabel(Baseline):
    """Repeats the last label; before there is one, nothing (a regression: 0)."""

    name = "repeat the last label"

    def __init__(self, regression: bool) -> None:
        self._last = 0.0 if regression else -1

    def step(self, batch: RaceBatch) -> Array:
        """The label of the row before."""
        counts = batch.counts
        y = batch.learned
        places = np.where(counts, np.arange(len(y)), -1)
        before = np.concatenate(([-1], np.maximum.accumulate(places)[:-1]))
        said = np.where(before < 0, self._last, y[before])
        if counts.any():
            self._last = y[places.max()]
        return said


class Majority(Baseline):
    """The class seen most often so far (the first seen of several); in a regression the mean."""

    def __init__(self, regression: bool) -> None:
        self.name = "mean so far" if regression else "majority class so far"
        self._regression = regression
        self._counts = np.zeros(0)

    def step(self, batch: RaceBatch) -> Array:
        """The majority before each row."""
        y = batch.learned
        weigh = batch.counts.astype(np.float64)
        if self._regression:
            sums = self._counts if len(self._counts) else np.zeros(2)
            n = sums[0] + np.cumsum(weigh) - weigh
            total = sums[1] + np.cumsum(weigh * y) - weigh * y
            self._counts = np.array([n[-1] + weigh[-1], total[-1] + weigh[-1] * y[-1]])
            means: Array = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
            return means
        k = int(max(y.max(initial=-1) + 1, len(self._counts)))
        counts = np.zeros(k)
        counts[: len(self._counts)] = self._counts
        said = np.full(len(y), -1)
        step = max(1, 2**20 // max(k, 1))  # so many rows at a time, to bound memory
        for at in range(0, len(y), step):
            part = slice(at, at + step)
            ones = np.zeros((len(y[part]), k))
            known = y[part] >= 0
            ones[np.flatnonzero(known), y[part][known]] = weigh[part][known]
            sums = counts + np.cumsum(ones, axis=0)
            before = sums - ones
            if k:
                said[part] = np.where(before.any(axis=1), before.argmax(axis=1), -1)
                counts = sums[-1]
        self._counts = counts
        return said
