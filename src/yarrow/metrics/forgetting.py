"""Any metric over the last rows only, or with rows that fade."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import ParameterError, check_value
from yarrow.lazy import np
from yarrow.metrics.base import Metric, Rows

_LARGEST = 1e100


class _Around(Metric):
    """A metric around another one."""

    def __init__(self, metric: Metric) -> None:
        if not isinstance(metric, Metric):
            raise ParameterError(f"A metric is needed, for example Error(). Got {metric!r}.")
        self.metric = metric
        self.higher_is_better, self.uses = metric.higher_is_better, metric.uses
        self.of_values = metric.of_values
        super().__init__()

    def reset(self) -> None:
        self.metric = self.metric.fresh()  # its twins have one of their own
        super().reset()

    def _score(self, label: Any, score: float) -> float:
        return self.metric._score(label, score)

    def _score_in(self, label: Any, by_class: Mapping[Any, float]) -> float:
        return self.metric._score_in(label, by_class)

    def _scores(self, labels: Array, scores: Array, classes: Any) -> Array:
        return self.metric._scores(labels, scores, classes)


class Windowed(_Around):
    """A metric of the last `size` rows.

    The rows themselves are kept and counted when the value is asked for: exact, with no error
    that grows, for any metric; but a value costs the whole window.

    >>> from yarrow.metrics import Error
    >>> metric = Windowed(Error(), size=3)
    >>> metric.update_many([1, 1, 1, 1, 1], [0, 0, 0, 1, 1])
    >>> round(metric.value, 4)
    0.3333
    """

    def __init__(self, metric: Metric, size: int) -> None:
        check_value(isinstance(size, int) and size >= 1, "size", size, "at least 1")
        self.size = size
        super().__init__(metric)
        self.name = f"{metric.name} of the last {size:,} rows"

    def _reset(self) -> None:
        self._parts: deque[Rows] = deque()
        self._held = 0

    def _add(self, rows: Rows) -> None:
        n = len(rows.weights)
        rows = rows.take(np.arange(max(0, n - self.size), n))  # a copy: arrays may be used again
        self._parts.append(rows)
        self._held += len(rows.weights)
        while (surplus := self._held - self.size) > 0:
            oldest = self._parts.popleft()
            if surplus < len(oldest.weights):
                rest = np.arange(surplus, len(oldest.weights))
                self._parts.appendleft(oldest.take(rest))
            self._held -= min(surplus, len(oldest.weights))

    def _scale(self, factor: float) -> None:
        self._parts = deque(part._replace(weights=part.weights * factor) for part in self._parts)

    @property
    def current(self) -> Metric:
        """The metric itself, of the rows in the window."""
        self._count_pending()
        metric = self.metric.fresh()
        for part in self._parts:
            metric._add(part)
        metric._rows = self._held
        return metric

    def _value(self) -> float:
        return self.current.value


class Fading(_Around):
    """A metric where each row counts `memory` times as much as the row after it.

    About 1/(1 - memory) rows count.

    >>> from yarrow.metrics import Error
    >>> metric = Fading(Error(), memory=0.5)
    >>> metric.update_many([1, 1, 1], [0, 1, 1])
    >>> round(metric.value, 4)  # 0.25 of 0.25 + 0.5 + 1
    0.1429
    """

    def __init__(self, metric: Metric, memory: float) -> None:
        check_value(1e-9 <= memory < 1, "memory", memory, "at least 1e-9 and less than 1")
        self.memory = float(memory)
        super().__init__(metric)
        self.name = f"{metric.name}, fading by {memory:g}"

    def _reset(self) -> None:
        self._growth = 1.0

    def _add(self, rows: Rows) -> None:
        # Not the old rows lose weight but the new ones gain it, until the numbers grow too large.
        begin = 0
        while begin < len(rows.weights):
            room = math.log(_LARGEST / self._growth) / -math.log(self.memory)
            part = rows.take(slice(begin, begin + max(1, int(room))))
            n = len(part.weights)
            gained = part.weights * self._growth * self.memory ** -np.arange(1.0, 1 + n)
            self.metric._count(part._replace(weights=gained))
            begin += n
            self._growth *= self.memory ** -float(n)
            if self._growth >= _LARGEST * self.memory:
                self.metric._scale(1 / self._growth)
                self._growth = 1.0

    def _scale(self, factor: float) -> None:
        self.metric._scale(factor)

    @property
    def current(self) -> Metric:
        """The metric itself, of the faded rows."""
        self._count_pending()
        return self.metric

    def _value(self) -> float:
        return self.metric._value()
