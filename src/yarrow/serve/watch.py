"""Watching every model: a drift monitor each, alarms kept for the page, and sent to a webhook."""

from __future__ import annotations

import json
import logging
import math
import queue
import threading
import time
import urllib.error
import urllib.request
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

from yarrow.evaluate.monitor import Alarm, HoeffdingDrift, Monitor

_logger = logging.getLogger("yarrow.serve")
_KEPT = 200  # alarms
_MOST_MONITORS = 5000  # the oldest begins anew beyond
_MOST_SHOWN = 500  # models whose labels and mistakes the page can show
_ATTEMPTS = 4
_SAMPLE = 0.02  # seconds between rows whose probabilities are compared with their labels
_SAMPLES = 3000  # of a model
_BINS = 10


class Watch:
    """The monitors of a service's models; what they say changes no model."""

    def __init__(
        self, webhook: str | None = None, detector: Callable[[], Any] = HoeffdingDrift
    ) -> None:
        self.webhook, self.detector = webhook, detector
        self.alarms: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self._learning: dict[str, Monitor] = {}
        self._predicting: dict[str, Monitor] = {}
        self._predictions = threading.Lock()  # several threads predict
        self._mistakes: dict[str, deque[dict[str, Any]]] = {}
        self._labels: dict[str, deque[Any]] = {}
        self._samples: dict[str, deque[tuple[float, float, bool]]] = {}  # time, confidence, right
        self._queue: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def learned(
        self,
        model: str,
        event: int,
        label: Any,
        wrong: float | None,
        new: float | None,
        row: dict[Any, Any] | None = None,
        said: Any = None,
    ) -> None:
        """A row was learned, or a block of them with the share that was wrong."""
        monitor = _of(self._learning, model, self.detector)
        is_class = isinstance(label, (str, int))
        found = monitor.update(label=label if is_class else None, wrong=wrong, new_features=new)
        for alarm in found:
            self._raise(model, event, alarm)
        shows = model in self._labels or len(self._labels) < _MOST_SHOWN
        if row is not None and is_class and shows:
            self._labels.setdefault(model, deque(maxlen=1000)).append(label)
            if wrong:
                kept = self._mistakes.setdefault(model, deque(maxlen=8))
                kept.append({"event": event, "label": label, "said": said, "row": _shown(row)})

    def sample(self, model: str, learner: Any, row: dict[Any, Any], label: Any) -> Any:
        """Compare the probabilities of a row that is about to be learned with its label.

        What the model said, if it was asked: not of each row, as that would take longer than
        learning. Which ones, the clock says alone.
        """
        kept = self._samples.get(model)
        if kept is None:
            if len(self._samples) >= _MOST_SHOWN:
                return None
            kept = self._samples[model] = deque(maxlen=_SAMPLES)
        if not hasattr(learner, "predict_proba"):  # a champion may have none after one that had
            return None
        now = time.time()
        if kept and now < kept[-1][0]:
            kept.clear()  # the clock has stepped back
        if kept and now - kept[-1][0] < _SAMPLE:
            return None
        likely = learner.predict_proba_one(row)
        if not likely:
            return None
        best = max(likely, key=likely.__getitem__)
        kept.append((now, float(likely[best]), bool(best == label)))
        return best

    def seen(self, model: str) -> dict[str, Any]:
        """The last mistakes, newest first, the shares of the classes lately, and calibration."""
        labels = list(self._labels.get(model, ()))
        counts = Counter(labels)
        samples = list(self._samples.get(model, ()))
        mistakes = [dict(mistake) for mistake in self._mistakes.get(model, ())][::-1]
        for mistake in mistakes:
            if mistake["said"] is None and len(counts) == 2:  # then it was the other one
                (mistake["said"],) = set(counts) - {mistake["label"]} or {None}
        return {
            "mistakes": mistakes,
            "labels": [label for label, _ in counts.most_common(100)],
            "classes": {str(label): n / len(labels) for label, n in counts.most_common(8)},
            "calibration": _calibration(samples),
            "confidence": _confidence(samples),
        }

    def corrected(self, model: str, events: set[int]) -> None:
        """Labels were taken back: they are no mistakes of the model."""
        kept = self._mistakes.get(model)
        for mistake in [m for m in kept or () if m["event"] in events]:
            kept.remove(mistake)  # type: ignore[union-attr]

    def predicted(self, model: str, event: int, confidence: float) -> None:
        """A row was predicted with this probability."""
        with self._predictions:
            alarms = _of(self._predicting, model, self.detector).update(confidence=confidence)
        for alarm in alarms:
            self._raise(model, event, alarm)

    def forget(self, model: str) -> None:
        """A model is gone."""
        for kept in (self._learning, self._mistakes, self._labels, self._samples):
            kept.pop(model, None)
        self._predicting.pop(model, None)

    def close(self) -> None:
        """Send what waits, but not for long."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(5)

    def _raise(self, model: str, event: int, alarm: Alarm) -> None:
        told = {
            "model": model,
            "event": event,
            "time": time.time(),
            "what": alarm.what,
            "before": None if math.isnan(alarm.before) else alarm.before,
            "after": None if math.isnan(alarm.after) else alarm.after,
        }
        self.alarms.append(told)
        _logger.warning("alarm", extra={"fields": {k: v for k, v in told.items() if k != "time"}})
        if self.webhook is not None:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, daemon=True)
                self._thread.start()
            self._queue.put(told)

    def _send(self) -> None:
        """Send alarms one by one; what cannot be delivered stays on the page."""
        assert self.webhook is not None
        while (told := self._queue.get()) is not None:
            request = urllib.request.Request(
                self.webhook, json.dumps(told).encode(), {"Content-Type": "application/json"}
            )
            for attempt in range(_ATTEMPTS):
                try:
                    with urllib.request.urlopen(request, timeout=5):
                        break
                except (urllib.error.URLError, OSError):
                    time.sleep(0.2 * 2**attempt)


def _calibration(samples: Sequence[tuple[float, float, bool]]) -> list[tuple[int, float, float]]:
    """How many rows were about so sure, how sure, and the share of them that was right."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for _, confidence, right in samples:
        bins[min(_BINS - 1, int(confidence * _BINS))].append((confidence, right))
    return [
        (len(found), sum(c for c, _ in found) / len(found), sum(r for _, r in found) / len(found))
        for found in bins
        if found
    ]


def _confidence(samples: Sequence[tuple[float, float, bool]]) -> list[tuple[float, float, float]]:
    """Mean confidence and share right over time, in a hundred points at most."""
    size = max(20, len(samples) // 100)
    parts = [samples[begin : begin + size] for begin in range(0, len(samples), size)]
    return [
        (part[-1][0], sum(s[1] for s in part) / len(part), sum(s[2] for s in part) / len(part))
        for part in parts
        if len(part) == size
    ]


def _shown(row: dict[Any, Any]) -> str:
    """The begin of a row, for people."""
    there = [(name, value) for name, value in list(row.items())[:12] if value is not None]
    parts = [
        str(value) if isinstance(value, str) else f"{name}" if value == 1 else f"{name}:{value:g}"
        for name, value in there
    ]
    return " ".join(parts)[:200]


def _of(monitors: dict[str, Monitor], model: str, detector: Callable[[], Any]) -> Monitor:
    found = monitors.get(model)
    if found is None:
        if len(monitors) >= _MOST_MONITORS:
            del monitors[next(iter(monitors))]
        found = monitors[model] = Monitor(detector)
    found.alarms.clear()  # those that were raised are kept here
    return found
