"""The service without HTTP: models in a directory that learn, lose nothing and can undo.

What changes anything is an `Operation` for the writer: `service.run(service.learning(...))`, or
through HTTP with many that share a sync. Reading, predicting and looking back go past the writer.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from yarrow.errors import YarrowError
from yarrow.evaluate.monitor import HoeffdingDrift
from yarrow.io.replacing import locked
from yarrow.online.learners import is_regression
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import (
    Block,
    Learned,
    Row,
    learn_block,
    learn_one,
    n_lines,
    pack,
    unpack,
)
from yarrow.serve.log import BLOCK, LEARN, Level, Log, Reader, hashed
from yarrow.serve.models import Model, Models
from yarrow.serve.replay import Rebuilder, Version
from yarrow.serve.tickets import Tickets
from yarrow.serve.watch import Watch
from yarrow.serve.writer import Operation, Writer

_SECONDS_TO_READ = 1e-5  # an event from the log, beside what learning it takes


class Service(Models):
    """All models of one directory; closed by `close` or at the end of a `with`."""

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        level: Level = "always",
        ticket_seconds: float = 86400.0,
        ticket_bytes: int = 1 << 30,
        memory: int = 2 << 30,
        most_models: int = 100_000,
        webhook: str | None = None,
        detector: Callable[[], Any] = HoeffdingDrift,  # of what has changed: see `Monitor`
    ) -> None:
        self.folder = Path(directory)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # it has people's rows
        lock = locked(self.folder / "lock", os.O_RDWR | os.O_CREAT)
        if lock is None:
            raise ServiceError(f"{self.folder}: another service works in this directory.", 409)
        self._lock_file = lock
        try:
            self.log = Log(str(self.folder / "log.db"), level)
            self.log.purge()  # a process that was killed may have erased something
            self.tickets = Tickets(self.folder / "tickets", ticket_seconds, ticket_bytes)
            self.memory, self.most_models = memory, most_models
            self.watch = Watch(webhook, detector)
            self.touched: set[Version] = set()  # what the last batch changed
            self._refusals: dict[int, bytes] = {}  # to write with the next transaction
            self._flushing: list[int] = []
            self._own, self._readers = threading.local(), list[Reader]()
            self._last_flush = time.monotonic()
            self.must_purge = False  # bytes that were erased may still be in the WAL
            super().__init__()
            self.writer = Writer(self.log)
            self.writer.before, self.writer.committed = self._write_refusals, self._forget_refusals
            self.writer.idle = self._after_batch
            self.rebuilder = Rebuilder(self)
            self.writer.start()
            self.rebuilder.start()
        except BaseException:
            os.close(self._lock_file)
            raise

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Carry out what waits, keep what was learned, and let the directory go."""
        self.rebuilder.close()
        self.writer.close()
        self.watch.close()
        for version in list(self._live.values()):
            if version.snapshots.saves_time():
                self._snapshot(version)
        self._keep_refusals()
        for reader in self._readers:
            reader.close()
        if self.must_purge:
            self.log.purge()
        self.tickets.close()
        self.log.close()
        os.close(self._lock_file)

    def run(self, operation: Operation) -> Any:
        """Carry out an operation, and wait for it."""
        return self.writer.call(operation)

    @property
    def reader(self) -> Reader:
        """What this thread reads the log by."""
        if not hasattr(self._own, "reader"):
            self._own.reader = self.log.reader()
            self._readers.append(self._own.reader)
        return self._own.reader  # type: ignore[no-any-return]

    # -- learning --------------------------------------------------------------------------------

    def learning(
        self, name: str, rows: Sequence[Row], source: str | Sequence[str | None] | None = None
    ) -> Operation:
        """Learn rows, each its own event; an id that is known gets its stored answer."""
        is_one = source is None or isinstance(source, str)
        sources: Sequence[str | None] = [source] * len(rows) if is_one else source  # type: ignore
        packed = [(pack(row), None if row.id is None else hashed(row.id)) for row in rows]

        def write() -> list[tuple[int, Row | None]]:
            model = self.model(name)
            found: list[tuple[int, Row | None]] = []
            for row, (content, id), source in zip(rows, packed, sources, strict=True):
                known = None if id is None else self.log.known(model.number, id)
                if known is not None:
                    found.append((known, None))
                    continue
                self.check_memory(model)
                number = self.log.append(model.number, LEARN, content, id=id, source=source)
                found.append((number, row))
            return found

        def apply(found: list[tuple[int, Row | None]]) -> list[dict[str, Any]]:
            model = self.model(name)
            with self._as_the_log(model, max((number for number, _ in found), default=0)):
                return [
                    self.repeated(number) if row is None else self._learn_row(model, number, row)
                    for number, row in found
                ]

        return Operation(write, apply, sum(len(content) for content, _ in packed))

    def learning_block(self, name: str, block: Block, source: str | None = None) -> Operation:
        """Learn lines of a stream as one event; lines that are known already are left out."""
        stream, lines = hashed(block.stream), n_lines(block.text)

        def write() -> tuple[int, Block | None, int]:
            model = self.model(name)
            known = self.log.stream_end(model.number, stream)
            end = block.first_line + lines - 1
            if end <= known:
                return 0, None, known
            self.check_memory(model)
            if block.first_line > known + 1:
                raise ServiceError(
                    f"Line {known + 1} of the stream comes next, not line {block.first_line}.",
                    409,
                )
            new = block
            if block.first_line <= known:
                rest = block.text.split(b"\n", known + 1 - block.first_line)[-1]
                new = msgspec.structs.replace(block, first_line=known + 1, text=rest)
            number = self.log.append(
                model.number, BLOCK, pack(new), source=source, lines=end - new.first_line + 1
            )
            self.log.add_to_stream(model.number, stream, end, number)
            return number, new, end

        def apply(found: tuple[int, Block | None, int]) -> dict[str, Any]:
            number, new, end = found
            if new is None:
                return {"line": end, "repeated": True}
            model = self.model(name)
            with self._as_the_log(model, number):
                learned = self._learn(model, number, lambda learner: learn_block(learner, new))
            answer: dict[str, Any] = {"event": number, "line": end, "learned": learned.rows}
            if learned.skipped:
                answer |= {"skipped": learned.skipped, "complaints": learned.complaints}
            return answer

        return Operation(write, apply, len(block.text))

    def stream_position(self, name: str, stream: str) -> int:
        """How many lines of a stream are known: where its sender goes on."""
        return self.reader.stream_end(self.model(name).number, hashed(stream))

    def answer(self, number: int) -> dict[str, Any]:
        """What was answered to an event; from any thread."""
        stored = self._refusals.get(number) or self.reader.answer(number)
        return {"event": number} | (unpack(stored) if stored else {})

    def repeated(self, number: int) -> dict[str, Any]:
        """What is answered to one who sends an event again."""
        return self.answer(number) | {"repeated": True}

    def answer_to(self, name: str, id: str) -> dict[str, Any] | None:
        """What was answered to an event's id; None if it is new. From any thread."""
        known = self.reader.known(self.model(name).number, hashed(id))
        return None if known is None else self.repeated(known)

    @contextlib.contextmanager
    def _as_the_log(self, model: Model, upto: int) -> Iterator[None]:
        """Where learning breaks off, by lack of memory say, the log is learned anew."""
        try:
            yield
        except YarrowError:
            raise
        except BaseException:
            for version in model.versions.values():
                with version.lock:
                    version.learned = max(version.learned, upto)
                    self.forget(version)
            raise

    def _learn_row(self, model: Model, number: int, row: Row) -> dict[str, Any]:
        def act(learner: Any) -> Learned:
            return Learned(1, learn_one(learner, row.row, row.label, row.weight))

        try:
            self._learn(model, number, act, row)
        except YarrowError as error:
            self._refuse(number, error)
            return self.answer(number)
        return {"event": number}

    def _refuse(self, number: int, error: YarrowError) -> None:
        self._refusals[number] = pack({"error": str(error), "status": 422})

    def _learn(self, model: Model, number: int, act: Any, shown: Row | None = None) -> Learned:
        """Let all versions learn an event, the champion first: what it refuses, none learns."""
        champion = model.champion
        before, said = _n_features(champion), None
        if shown is not None and champion.learner is not None:
            with contextlib.suppress(YarrowError):  # the row is refused below, in its words
                said = self.watch.sample(model.name, champion.learner, shown.row, shown.label)
        answer = self._learn_version(champion, number, act)
        for version in list(model.versions.values()):
            if version is champion:
                continue
            found = None if isinstance(answer, YarrowError) else act
            other = self._learn_version(version, number, found)
            if isinstance(other, Learned) and isinstance(answer, Learned):
                self._judge(model, version, answer, other)
        if isinstance(answer, YarrowError):
            raise answer
        if answer.rows:
            wrong = None if is_regression(champion.learner) else answer.loss / answer.rows
            after = _n_features(champion)
            new = None if None in (before, after) else float(after != before)
            label, row = (None, None) if shown is None else (shown.label, shown.row)
            self.watch.learned(model.name, number, label, wrong, new, row, said)
        return answer

    def _learn_version(self, version: Version, number: int, act: Any) -> Learned | YarrowError:
        """Let a version learn an event, if it can: one that is being made catches up later."""
        answer: Learned | YarrowError = Learned()
        with version.lock:
            began = time.perf_counter()
            try:
                if act is not None and (version.learner is not None or not version.rebuilding):
                    learner, began = self.live(version), time.perf_counter()
                    answer = found = act(learner)
                    version.count(found)
            except YarrowError as error:
                answer = error
            version.learned = number
            version.snapshots.since += time.perf_counter() - began + _SECONDS_TO_READ
            self.touched.add(version)
        return answer

    def _judge(self, model: Model, version: Version, champion: Learned, other: Learned) -> None:
        """Promote a challenger that asked for it, once the evidence is a thousand to one."""
        version.bet(champion, other)
        if version.spec.get("promote") and version.evidence > math.log(1000):
            version.evidence = 0.0
            promotion = self.promoting(model.name, version.number)
            self.writer.submit(promotion, lambda *_: None)

    # -- predicting ------------------------------------------------------------------------------

    def live(self, version: Version) -> Any:
        """The learner of a version, from its file and the log if it rested."""
        learner = version.learner
        if learner is None:
            with version.lock:
                if version.learner is None:
                    if version.gone:
                        raise ServiceError("The model has just been deleted.", 404)
                    if version.rebuilding:
                        raise ServiceError(f"Version {version.number} is still being built.", 503)
                    champions = {model.champion_number for model in list(self.models.values())}
                    refuse = self._refuse if version.number in champions else None
                    version.take(version.restored(self.reader, version.learned, refuse))
                    self.weigh(version)
                learner = version.learner
        return learner

    def feedback_row(self, name: str, ticket: str) -> dict[Any, Any]:
        """The row of a ticket."""
        return unpack(self.tickets.row(self.model(name).number, ticket))  # type: ignore[no-any-return]

    # -- what the writer does between batches ----------------------------------------------------

    def _keep_refusals(self) -> None:
        if self._refusals:
            with self.log.transaction():
                self._write_refusals()
            self._forget_refusals()

    def _write_refusals(self) -> None:
        self._flushing = list(self._refusals)
        for number in self._flushing:
            self.log.keep_answer(number, self._refusals[number], refused=True)

    def _forget_refusals(self) -> None:
        for number in self._flushing:
            self._refusals.pop(number, None)
        self._flushing = []

    def _after_batch(self) -> None:
        """What waits for a quiet moment; what fails keeps nothing else from the disk."""
        steps: list[Callable[[], None]] = [partial(self._tend, version) for version in self.touched]
        self.touched, problem = set(), None
        for step in (*steps, self._let_rest, self._flush):
            try:
                step()
            except (OSError, sqlite3.Error, YarrowError) as error:
                problem = error
        if problem is not None:
            raise problem

    def _tend(self, version: Version) -> None:
        self.weigh(version)
        version.sample()
        if version.snapshots.is_due():
            self._snapshot(version)

    def _flush(self) -> None:
        if self.must_purge:
            self.purge()
        if time.monotonic() - self._last_flush >= 1.0:
            self._last_flush = time.monotonic()
            self.tickets.flush()
            self._keep_refusals()

    def purge(self) -> None:
        """Leave no byte of what was erased in the log's files; later, while somebody reads them."""
        self.must_purge = True
        with contextlib.suppress(sqlite3.Error):  # the disk is full
            self.must_purge = not self.log.purge()

    def _snapshot(self, version: Version) -> None:
        if version.learner is None or version.rebuilding or version.gone:
            return
        version.snapshots.take(
            version.learner, version.learned, version.rows, version.loss, version.since
        )

    def _let_rest(self) -> None:
        """Put the longest unused models to rest on disk until the others fit into memory."""
        if self.used_memory <= self.memory:
            return
        for version in list(self._live.values())[:-1]:
            if self.used_memory <= self.memory:
                return
            with version.lock:
                if version.rebuilding or version.learner is None:
                    continue
                if version.snapshots.saves_time():
                    self._snapshot(version)
                self.forget(version)


def _n_features(version: Version) -> int | None:
    """How many features a learner of the core knows: a row that brings new ones is news."""
    core = getattr(version.learner, "_model", None)
    return None if core is None else int(core.n_features)
