"""`yarrow serve --demo`: a stream whose world changes each minute, to look at."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import Row
from yarrow.serve.service import Service

_SPAM = ["cheap", "pills", "offer", "winner", "free", "click", "prize", "cash", "loan", "bonus"]
_HAM = ["lunch", "report", "meeting", "project", "invoice", "thanks", "budget", "agenda", "travel"]
_WORDS = [*_SPAM, *_HAM, "minutes"]
_CHANGES = 60.0  # seconds until spammers change their words
_RATE = 100  # rows a second
_NOISE = 0.05  # labels that are wrong


def mail(source: random.Random, phase: int) -> Row:
    """A mail of a few words, and whether it is spam; a phase has its own words for it."""
    is_spam = source.random() < 0.4
    turned = _WORDS[5 * (phase % 4) :] + _WORDS[: 5 * (phase % 4)]
    words = turned[:10] if is_spam else turned[10:]
    chosen = source.choices(words, k=5) + source.choices(_WORDS, k=3)
    counts: dict[str | int, Any] = {
        word: float(chosen.count(word)) for word in dict.fromkeys(chosen)
    }
    is_wrong = source.random() < _NOISE
    return Row(counts, "spam" if is_spam != is_wrong else "ham")


def begin(service: Service) -> threading.Event:
    """Let two learners follow the stream until the event is set."""
    if "demo" not in service.models:
        service.run(service.creating("demo", {"learner": "arow"}))
        service.run(service.challenging("demo", {"learner": "yarrow"}))
    stop = threading.Event()
    threading.Thread(target=_stream, args=(service, stop), daemon=True).start()
    return stop


def _stream(service: Service, stop: threading.Event) -> None:
    began, source = time.monotonic(), random.Random(0)

    def rows(n: int) -> Iterator[Row]:
        for _ in range(n):
            yield mail(source, int((time.monotonic() - began) / _CHANGES))

    with contextlib.suppress(ServiceError):  # the service is stopping
        while not stop.wait(0.1):
            service.run(service.learning("demo", list(rows(_RATE // 10)), "demo"))
