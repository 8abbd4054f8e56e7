"""Replay: a model is what its events make of a fresh one, begun at the nearest snapshot.

Starting after a crash, a model that rested on disk, the model as of an event, and a model without
labels that were taken back are one thing. In the background it catches up with the log, and then
the writer, in whose thread nothing is added meanwhile, lets it learn the last few and swaps it in.
"""

from __future__ import annotations

import contextlib
import logging
import math
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from yarrow.errors import YarrowError
from yarrow.online.learners import is_regression
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import Learned, learn, learn_run
from yarrow.serve.log import LEARN, Event, Reader
from yarrow.serve.snapshots import Snapshots
from yarrow.serve.spec import build
from yarrow.serve.writer import Operation

if TYPE_CHECKING:
    from yarrow.serve.service import Service

_logger = logging.getLogger("yarrow.serve")

Refused = Callable[[int, YarrowError], None]
_BET = 0.02  # on a row of a block
_RUN = 500  # events that are learned at once
_MANY = 5000  # events from which on a second thread reads them
_FEW = 200  # events that the writer may wait for at a swap


class Version:
    """One learner of a model, and how far it is; several may learn the same events."""

    def __init__(
        self, number: int, model: int, spec: dict[str, Any], since: int, snapshots: Snapshots
    ) -> None:
        self.number, self.model, self.spec, self.since = number, model, spec, since
        self.snapshots = snapshots
        self.lock = threading.RLock()  # whoever changes what follows; predictions need it not
        self.learner: Any = None  # None: it rests on disk, or is being made
        self.learned = since  # the last event that it has seen
        self.rows, self.loss = 0, 0.0
        self.evidence = 0.0  # that it is better than the champion, as a logarithm
        self.samples: deque[tuple[float, int, float]] = deque(maxlen=3600)  # time, rows, loss
        self.memory = 0
        self.gone = False  # its model was deleted
        self.rebuilding = 0  # which rebuild is under way; 0: none
        self.progress = 1.0

    def sample(self) -> None:
        """Note how it does, once a second at most; where the clock steps back, it begins anew."""
        now = time.time()
        if self.samples and now < self.samples[-1][0]:
            self.samples.clear()
        if not self.samples or now - self.samples[-1][0] >= 1.0:
            self.samples.append((now, self.rows, self.loss))

    @property
    def curve_bytes(self) -> int:
        """What the samples take in memory, about."""
        return 160 * len(self.samples)

    def count(self, found: Learned) -> None:
        """Count the rows that it has learned; a loss beyond all numbers is the largest."""
        self.rows += found.rows
        self.loss = min(self.loss + found.loss, sys.float_info.max)

    def bet(self, champion: Learned, own: Learned) -> None:
        """Bet that it is better than the champion, on what both have just learned.

        On each row that only one of both gets right: whoever is no better multiplies its stake by
        a thousand with a chance below 1/1000, however long it is watched (Ville 1939). Of a block
        only the mistakes are known, so the bet is on their difference, and costs for each row what
        keeps it fair (Hoeffding 1963).
        """
        won = champion.loss - own.loss
        if champion.rows != own.rows:
            return
        if own.rows == 1:
            self.evidence += math.log(1.2 if won > 0 else 0.8) if won else 0.0
        elif not is_regression(self.learner):
            self.evidence += _BET * won - own.rows * _BET**2 / 2

    def begun(self, reader: Reader, upto: int) -> Version:
        """One of its own at the nearest snapshot before an event, or a fresh one."""
        twin = Version(self.number, self.model, self.spec, self.since, self.snapshots)
        found = self.snapshots.nearest(reader, upto)
        if found is not None:
            twin.learner, twin.learned, twin.rows, twin.loss = found
        elif self.spec.get("uploaded"):
            raise ServiceError(f"The file that version {self.number} began with is damaged.", 500)
        else:
            twin.learner = build(self.spec)
        return twin

    def restored(self, reader: Reader, upto: int, refused: Refused | None = None) -> Version:
        """As it is after an event, in one that nobody else knows."""
        twin = self.begun(reader, upto)
        twin.fold(reader, upto, refused)
        return twin

    def fold(
        self,
        reader: Reader,
        upto: int,
        refused: Refused | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> None:
        """Learn what the log has up to an event; runs of plain rows in the core."""
        found = reader.chunks(self.model, self.learned, upto)
        for events in _ahead(found) if upto - self.learned > _MANY else found:
            contents, begin = [event.content for event in events], 0
            odd = [i for i, e in enumerate(events) if e.kind != LEARN or e.has_changes]
            for end in [*odd, len(events)]:
                self._fold_run(reader, events[begin:end], contents[begin:end], refused)
                if end < len(events):
                    self._fold_event(reader, events[end], refused)
                begin = end + 1
            if watch is not None:
                watch(events[-1].number)
        self.learned = max(self.learned, upto)

    def _fold_run(
        self, reader: Reader, run: list[Event], contents: list[bytes], refused: Refused | None
    ) -> None:
        at = 0
        while at < len(run):
            found = learn_run(self.learner, contents[at : at + _RUN])
            self.count(found)
            at += found.rows
            if found.rows < _RUN and at < len(run):
                self._fold_event(reader, run[at], refused)
                at += 1

    def _fold_event(self, reader: Reader, event: Event, refused: Refused | None) -> None:
        changed = reader.changes(event.number) if event.has_changes else None
        try:
            self.count(learn(self.learner, event, changed))
        except YarrowError as error:  # as it was the first time
            if refused is not None:
                refused(event.number, error)

    def take(self, twin: Version) -> None:
        """Become what another is."""
        self.progress = 1.0
        self.learner, self.learned = twin.learner, twin.learned
        self.rows, self.loss = twin.rows, twin.loss


def _ahead(chunks: Iterator[list[Event]]) -> Iterator[list[Event]]:
    """The same, read in another thread while the last ones are learned."""
    with ThreadPoolExecutor(1) as reading:
        coming = reading.submit(next, chunks, None)
        while (events := coming.result()) is not None:
            coming = reading.submit(next, chunks, None)
            yield events


class Rebuilder:
    """The thread that replays in the background, one version after the other."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._queue: queue.SimpleQueue[tuple[Version, int] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="yarrow-replay", daemon=True)
        self._count = 0
        self._closed = False
        self.busy = threading.Condition()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def request(self, version: Version) -> None:
        """Replay a version, and begin anew if that is under way; from the writer's thread."""
        with self.busy:
            self._count += 1
            version.rebuilding, version.progress = self._count, 0.0
            self._queue.put((version, self._count))

    def cancel(self, version: Version) -> None:
        """Replay a version no more."""
        with self.busy:
            self._count += 1
            version.rebuilding = 0
            self.busy.notify_all()

    def wait(self, version: Version, seconds: float | None = None) -> None:
        """Wait until a version is rebuilt."""
        with self.busy:
            self.busy.wait_for(lambda: not version.rebuilding or self._closed, seconds)

    def close(self) -> None:
        """End; what is not done is done at the next start."""
        self._closed = True
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
        with self.busy:
            self.busy.notify_all()

    def _run(self) -> None:
        while (task := self._queue.get()) is not None and not self._closed:
            version, turn = task
            try:
                self._rebuild(version, turn)
            except _Superseded:
                pass
            except Exception:  # one version's: the thread goes on with the others
                _logger.exception("a replay failed")
                with version.lock:  # what is in memory has labels that were taken back
                    self._end(version, turn, self.service.forget)

    def _rebuild(self, version: Version, turn: int) -> None:
        service = self.service
        with contextlib.closing(service.log.reader()) as reader:
            twin = version.begun(reader, service.log.committed)
            first = twin.learned

            def watch(number: int) -> None:
                version.progress = (number - first) / max(1, service.log.committed - first)
                if version.rebuilding != turn or self._closed:
                    raise _Superseded

            while True:
                upto = service.log.committed
                ahead = upto - twin.learned
                twin.fold(reader, upto, watch=watch)
                if ahead <= _FEW:
                    break
        service.writer.call(Operation(lambda: None, lambda _: self._swap(version, twin, turn)))

    def _swap(self, version: Version, twin: Version, turn: int) -> None:
        def swap(version: Version) -> None:
            twin.fold(self.service.log, version.learned)
            version.take(twin)
            version.snapshots.since = math.inf  # those that there were are void
            self.service.weigh(version)
            self.service.touched.add(version)

        with version.lock:  # of the events in the same transaction some are still to be learned
            self._end(version, turn, swap)

    def _end(self, version: Version, turn: int, act: Callable[[Version], None]) -> None:
        """End a rebuild, unless another one was asked for."""
        if version.rebuilding == turn:
            act(version)
            with self.busy:
                version.rebuilding = 0
                self.busy.notify_all()


class _Superseded(Exception):
    """Labels changed once more, or the service ends."""
