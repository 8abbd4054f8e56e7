"""Watching a model at work: has its error, its confidence, the classes or the features changed?

Any detector will do that has `update(value)` and `drift_detected`, so river's do. The one here
compares means by Hoeffding's inequality.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from yarrow.errors import check_value

_MOST_CLASSES = 50  # that are watched one by one


class HoeffdingDrift:
    """Tells when the mean of values between 0 and 1 has changed (Frías-Blanco et al. 2015, HDDM-A).

    The mean of all values is compared with the mean up to the point where that, with its bound,
    was lowest, and where it was highest. If there is no change, the chance of an alarm in one
    comparison is at most `alpha`. After an alarm it begins anew.

    >>> detector = HoeffdingDrift()
    >>> [i for i in range(400) if detector.update(float(i >= 200)) or detector.drift_detected]
    [207]
    >>> round(detector.before, 2), round(detector.after, 2)
    (0.0, 1.0)
    """

    def __init__(self, alpha: float = 1e-6, at_least: int = 30) -> None:
        check_value(0 < alpha < 1, "alpha", alpha, "between 0 and 1")
        self.alpha, self.at_least = alpha, at_least
        self.drift_detected = False
        self.before = self.after = math.nan
        self._restart()

    def _restart(self) -> None:
        self._n, self._sum = 0, 0.0
        self._low = self._high = (0, 0.0)  # values up to the cut, and their sum
        self._low_bound, self._high_bound = math.inf, -math.inf

    def update(self, value: float) -> None:
        """Take the next value, between 0 and 1."""
        self.drift_detected = False
        self._n += 1
        self._sum += value
        n, mean = self._n, self._sum / self._n
        bound = math.sqrt(math.log(1 / self.alpha) / (2 * n))
        if mean + bound <= self._low_bound:
            self._low, self._low_bound = (n, self._sum), mean + bound
        if mean - bound >= self._high_bound:
            self._high, self._high_bound = (n, self._sum), mean - bound
        if n < self.at_least:
            return
        for (cut, total), sign in ((self._low, 1.0), (self._high, -1.0)):
            if 0 < cut < n:
                # Hoeffding's bound of the difference of the mean up to the cut and that of all.
                allowed = math.sqrt((n - cut) / (2 * cut * n) * math.log(1 / self.alpha))
                if sign * (mean - total / cut) > allowed:
                    self.before = total / cut
                    self.after = (self._sum - total) / (n - cut)
                    self.drift_detected = True
                    self._restart()
                    return


@dataclasses.dataclass(frozen=True)
class Alarm:
    """Something has changed: `what`, at which row, and its mean before and after where known."""

    what: str
    row: int
    before: float
    after: float

    def __str__(self) -> str:
        return f"row {self.row:,}: {self.what} has changed, {self.before:.3f} -> {self.after:.3f}"


class Monitor:
    """Watches a stream of predictions and labels, and collects alarms.

    Parameters
    ----------
    detector : makes a detector, an object with `update` and `drift_detected`; for each of the
        error, the confidence, the share of each class, and the share of features that are new.

    Examples
    --------
    >>> monitor = Monitor()
    >>> for i in range(600):
    ...     alarms = monitor.update(label="spam" if i % 2 else "ham", wrong=i > 400)
    >>> monitor.alarms[0].what
    'error'
    """

    def __init__(self, detector: Callable[[], Any] = HoeffdingDrift) -> None:
        self._make = detector
        self._detectors: dict[str, Any] = {}
        self._classes: dict[Any, int] = {}
        self.rows = 0
        self.alarms: list[Alarm] = []

    def update(
        self,
        *,
        label: Any = None,
        wrong: float | None = None,
        confidence: float | None = None,
        new_features: float | None = None,
    ) -> list[Alarm]:
        """Take what is known of the next row; the alarms that it raises.

        `wrong` and `new_features` are shares between 0 and 1, of a row or of several at once.
        """
        self.rows += 1
        values = {"error": wrong, "confidence": confidence, "share of new features": new_features}
        found = {what: float(value) for what, value in values.items() if value is not None}
        if label is not None:
            if label not in self._classes and len(self._classes) < _MOST_CLASSES:
                self._classes[label] = self.rows
            found |= {f"share of {known!r}": float(known == label) for known in self._classes}
        raised = []
        for what, value in found.items():
            detector = self._detectors.get(what)
            if detector is None:
                detector = self._detectors[what] = self._make()
            detector.update(value)
            if detector.drift_detected:
                means = (float(getattr(detector, name, math.nan)) for name in ("before", "after"))
                raised.append(Alarm(what, self.rows, *means))
        self.alarms += raised
        return raised
