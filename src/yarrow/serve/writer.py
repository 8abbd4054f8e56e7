"""The writer: one thread that owns the log and every change of every model.

It takes all operations that wait, writes them in one transaction with one sync, carries them out
in order, and answers all of them (group commit). So an answer is never ahead of the disk, a model
is always a function of the log, and a sync is shared by all who wait for it.
"""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

from yarrow.errors import YarrowError
from yarrow.serve.errors import ServiceError
from yarrow.serve.log import Log

_logger = logging.getLogger("yarrow.serve")
_MOST, _MOST_BYTES = 4096, 4 << 20  # operations and bytes in a transaction


class Operation(NamedTuple):
    """What is to be done: `write` inside the transaction, then `apply` with what that returned.

    `write` changes the log alone, and complains before it does; `apply` changes what is in memory.
    """

    write: Callable[[], Any]
    apply: Callable[[Any], Any]
    size: int = 0


class _Waiting(NamedTuple):
    operation: Operation
    answer: Callable[[Any, BaseException | None], None]


class Writer:
    """The thread; `idle` is called after each batch, and each second where there is none."""

    def __init__(self, log: Log, limit: int = 64 << 20) -> None:
        self.log, self.limit = log, limit
        #: called inside each transaction, after each commit, and when a batch has been answered
        self.before: Callable[[], None] = _nothing
        self.committed: Callable[[], None] = _nothing
        self.answered: Callable[[], None] = _nothing
        self.idle: Callable[[], None] = _nothing
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._came, self._gone = 0, 0  # bytes; the writer alone counts what has gone
        self._counting = threading.Lock()
        self.failure: str | None = None
        self._thread = threading.Thread(target=self._run, name="yarrow-writer", daemon=True)
        self._closed = False

    @property
    def waiting(self) -> int:
        """Bytes that wait to be written."""
        return self._came - self._gone

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def submit(
        self, operation: Operation, answer: Callable[[Any, BaseException | None], None]
    ) -> None:
        """Put an operation behind those that wait; `answer` is called in the writer's thread."""
        if self._closed:
            raise ServiceError("The service is stopping.", 503)
        if self.waiting and self.waiting + operation.size > self.limit:
            raise ServiceError("Too many writes are waiting for the disk: try again soon.", 503)
        with self._counting:
            self._came += operation.size
        self._queue.put(_Waiting(operation, answer))

    def call(self, operation: Operation) -> Any:
        """Carry out an operation and wait for its answer."""
        future: Future[Any] = Future()

        def answer(result: Any, error: BaseException | None) -> None:
            future.set_result(result) if error is None else future.set_exception(error)

        self.submit(operation, answer)
        return future.result()

    def close(self) -> None:
        """Carry out what waits, then end."""
        self._closed = True
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    # -- the thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        running = True
        while running:
            batch, running = self._drain()
            try:
                if batch:
                    self._carry_out(batch)
                else:
                    self._tend()
                self.idle()
            except Exception as error:  # nobody waits for it, but it must not end the writer
                if self.failure is None:
                    _logger.exception("the writer's work between batches failed")
                self.failure = f"{type(error).__name__}: {error}"

    def _works(self) -> None:
        if self.failure is not None:
            _logger.warning("the log can be written again")
            self.failure = None

    def _tend(self) -> None:
        """Sync what is due; after a failure look whether the log can be written again."""
        if self.failure is not None:
            self.log.synced = False
            self.log.sync()
            self._works()
        elif (left := self.log.seconds_to_sync()) is not None and left <= 0:
            self.log.sync()

    def _drain(self) -> tuple[list[_Waiting], bool]:
        """What waits; at once if there is something, else when something comes or a second ends."""
        wait = self.log.seconds_to_sync()
        try:
            first = self._queue.get(timeout=1.0 if wait is None else max(wait, 1e-3))
        except queue.Empty:
            return [], True
        batch, size = [], 0
        while first is not None:
            batch.append(first)
            size += first.operation.size
            if len(batch) >= _MOST or size >= _MOST_BYTES:
                break
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                break
        self._gone += size
        return batch, first is not None

    def _carry_out(self, batch: list[_Waiting]) -> None:
        written: list[tuple[Any, BaseException | None]] = []
        try:
            with self.log.transaction():
                self.before()
                for waiting in batch:
                    written.append(_attempt(waiting.operation.write))
        except sqlite3.Error as damage:
            if self.failure is None:
                _logger.error("the log cannot be written", extra={"fields": {"why": str(damage)}})
            self.failure = str(damage)
            says = f"The log cannot be written ({damage}): nothing was learned."
            refusal = ServiceError(says, 507)
            for waiting in batch:
                waiting.answer(None, refusal)
            self.answered()
            return
        self._works()
        self.committed()
        for waiting, (found, problem) in zip(batch, written, strict=True):
            result, error = None, problem
            if error is None:
                try:
                    result, error = _attempt(partial(waiting.operation.apply, found))
                except sqlite3.Error as damage:
                    error = ServiceError(f"The log cannot be read ({damage}).", 500)
            waiting.answer(result, error)
        self.answered()


def _nothing() -> None:
    pass


def _attempt(act: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return act(), None
    except sqlite3.Error:
        raise
    except YarrowError as error:
        return None, error
    except Exception as error:  # a defect: it must not end the writer
        return None, ServiceError(f"Internal error: {type(error).__name__}: {error}", 500)
