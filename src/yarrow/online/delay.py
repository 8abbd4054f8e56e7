"""When labels arrive: which rows can be learned before which row is predicted."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

from yarrow.data.arrays import Array, Rows
from yarrow.errors import DataError, ParameterError, check_value
from yarrow.lazy import np
from yarrow.online.batch import Batch, only_present


def is_count(number: Any) -> bool:
    """Whether it is a whole number that counts something; numpy calls a timedelta an integer."""
    is_integer = isinstance(number, (int, np.integer)) and not isinstance(number, np.timedelta64)
    return is_integer and not isinstance(number, bool) and bool(number >= 0)


def check_delay(delay: Any) -> None:
    """Refuse what is no number of rows."""
    if not is_count(delay):
        raise ParameterError(f"The delay must be an integer >= 0. Got {delay!r} instead.")


def steps(
    n: int, *, delay: Any = 0, times: Any = None, arrives: Any = None, block: int = 1
) -> Iterator[tuple[int, int, Array]]:
    """What to do in order: predict the rows from begin up to end, then learn some rows.

    Labels that arrive after the last row are learned at the end, in the order of their arrival;
    one that never arrives (NaN, NaT) is not learned.

    >>> [(begin, end, rows.tolist()) for begin, end, rows in steps(4, delay=2)]
    [(0, 3, [0]), (3, 4, [1, 2, 3])]
    >>> days = [1, 1, 2, 5]
    >>> [(begin, end, rows.tolist()) for begin, end, rows in steps(4, delay=1, times=days)]
    [(0, 2, [0, 1]), (2, 3, [2]), (3, 4, [3])]
    """
    check_value(is_count(block) and block >= 1, "block", block, "at least 1")
    if times is None:
        after, arrival = _by_count(n, delay, arrives)
    else:
        after, arrival = _by_time(n, delay, times, arrives)
    rows = np.flatnonzero(after >= 0)
    after, arrival = after[rows], arrival[rows]
    after = np.minimum((after // block + 1) * block, n) - 1
    order = np.lexsort((rows, arrival, after))
    rows, after = rows[order], after[order]
    begin = 0
    starts = np.flatnonzero(np.diff(after, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=False):
        end = int(after[start]) + 1
        yield begin, end, rows[start:stop]
        begin = end
    if begin < n:
        yield begin, n, rows[:0]


def turns(plan: Iterator[tuple[int, int, Array]]) -> tuple[Array, Array]:
    """Rows in the order of their turns, and which of these turns are to learn, not to predict.

    >>> [part.tolist() for part in turns(steps(4, delay=2))]
    [[0, 1, 2, 0, 3, 1, 2, 3], [False, False, False, True, False, True, True, True]]
    """
    rows: list[Array] = []
    for begin, end, learned in plan:
        rows += [np.arange(begin, end), learned]
    sizes = [len(part) for part in rows]
    is_learned = np.repeat(np.arange(len(sizes)) % 2 == 1, sizes)
    return np.concatenate([np.zeros(0, np.int64), *rows]), is_learned


def _by_count(n: int, delay: Any, arrives: Any) -> tuple[Array, Array]:
    """The row after whose prediction each row is learned; and a number that orders arrivals."""
    if arrives is not None:
        raise ParameterError("arrives=... needs times=..., when each row itself came.")
    if not is_count(delay):
        raise ParameterError(
            f"The delay must be a number of rows, at least 0. Got {delay!r} instead; a delay in "
            "time needs times=..."
        )
    rows = np.arange(n)
    return np.minimum(rows + int(delay), n - 1), rows


def _by_time(n: int, delay: Any, times: Any, arrives: Any) -> tuple[Array, Array]:
    clock = _times(times, n, "times")
    back = clock[1:] < clock[:-1]
    if back.any():
        row = int(np.argmax(back)) + 1
        raise DataError("The time is earlier than that of the row before", row=row)
    if arrives is None:
        wait = np.asarray(np.timedelta64(delay) if isinstance(delay, datetime.timedelta) else delay)
        if wait.shape != () or wait.dtype.kind not in "miuf":
            raise ParameterError(
                f"The delay must be a number or a timedelta. Got {delay!r} instead."
            )
        if wait.dtype.kind == "m" and clock.dtype.kind != "M":
            raise ParameterError(f"A delay of {delay!r} cannot be added to times that are numbers.")
        arrival = clock + wait
    else:
        if not (isinstance(delay, (int, np.integer)) and delay == 0):
            raise ParameterError("Give either delay=... or arrives=..., not both.")
        arrival = _times(arrives, n, "arrives")
        if (arrival.dtype.kind == "M") != (clock.dtype.kind == "M"):
            raise DataError("times and arrives must both be numbers, or both dates.")
    never = np.isnat(arrival) if arrival.dtype.kind == "M" else np.isnan(arrival)
    early = ~never & (arrival < clock)
    if early.any():
        row = int(np.argmax(early))
        raise DataError("The label arrives before the row itself", row=row)
    # A label that arrives at the time of a row is known when that row is predicted.
    after = np.maximum(np.searchsorted(clock, arrival, side="left") - 1, np.arange(n))
    return np.where(never, -1, after), arrival


def _times(values: Any, n: int, what: str) -> Array:
    array = np.asarray(values)
    if array.dtype == object:
        with contextlib.suppress(TypeError, ValueError):
            array = array.astype("datetime64[us]")  # of Python's datetime
    if array.dtype.kind not in "Miuf" or array.shape != (n,):
        raise DataError(f"{what} must be {n} numbers or dates, one a row.")
    missing = np.isnat(array) if array.dtype.kind == "M" else np.isnan(array)
    if what == "times" and missing.any():
        raise DataError("There is no time", row=int(np.argmax(missing)))
    return array


# -- streams -------------------------------------------------------------------------------------


class DelayedBatches:
    """Hands out rows twice: to be predicted, and `delay` rows later to be learned.

    A learner that predicts each row before it learns it, and does not learn a row of weight 0, so
    does in one call what would be many: predict row t, learn row t - delay, predict row t + 1...
    Without a delay a row is handed out once, unless it is to be `twice`.
    """

    def __init__(self, delay: int, twice: bool = False) -> None:
        self.delay = delay
        self.twice = twice or delay > 0
        self._waiting: list[Batch] = []

    def next(self, batch: Batch) -> tuple[Batch, Array]:
        """Rows in the order of their turns, and whether each is learned or predicted only."""
        if not self.twice:
            return batch, np.ones(len(batch), bool)
        held = sum(map(len, self._waiting))
        due = max(0, held + len(batch) - self.delay)
        old = self._first(min(due, held))
        both = Batch.joined([*old, batch])
        first = len(both) - len(batch)
        alone = len(batch) - due  # predicted when no label has arrived yet
        pairs = np.column_stack([np.arange(first + alone, len(both)), np.arange(due)])
        places = np.concatenate([np.arange(first, first + alone), pairs.reshape(-1)])
        learned = np.concatenate([np.zeros(alone, bool), np.tile([False, True], due)])
        self._waiting.append(batch.take(np.arange(due - first, len(batch))))
        return both.take(places.astype(np.int64)), learned

    def _first(self, n: int) -> list[Batch]:
        """Take the first rows out of those that wait."""
        found: list[Batch] = []
        while n:
            oldest = self._waiting.pop(0)
            if len(oldest) > n:
                self._waiting.insert(0, oldest.take(np.arange(n, len(oldest))))
                oldest = oldest.take(np.arange(n))
            found.append(oldest)
            n -= len(oldest)
        return found

    def rest(self) -> tuple[Batch, Array] | None:
        """The rows whose labels arrive after the last row."""
        if not self._waiting:
            return None
        batch = Batch.joined(self._waiting)
        self._waiting = []
        return batch, np.ones(len(batch), bool)


class KnownColumns:
    """Which columns of a stream a model has learned, row by row."""

    def __init__(self, model: Any) -> None:
        self._before = model.__dict__.get("_model")  # it may have learned other streams
        self._seen: Array = np.zeros(0, bool)
        self._learned: Array = np.zeros(0, bool)

    def of(self, rows: Rows, learned: Array, names: list[Any]) -> tuple[Rows, Array]:
        """Rows that are only predicted without those of their values that no row before them had.

        That is what is known of them row by row, where a row brings its features when it is
        learned. Also the columns to `add` once all of them are learned.
        """
        present, narrow = only_present(rows)
        columns = np.array(present, np.int64)
        self._meet(columns, names)
        assert narrow.begins is not None
        lengths = np.diff(narrow.begins)
        turn = np.repeat(np.arange(len(lengths)), lengths)
        is_learned = np.repeat(learned, lengths)
        first = np.where(self._learned[columns], -1, len(lengths))  # turn that learns a column
        places: Any = narrow.indices
        now = np.full(len(columns), len(lengths))
        now[places[is_learned][::-1]] = turn[is_learned][::-1]  # of several the last one stays
        keep = is_learned | (np.minimum(first, now)[places] < turn)
        begins = np.concatenate([[0], np.cumsum(np.bincount(turn[keep], minlength=len(lengths)))])
        indices: Any = rows.indices
        cut = dataclasses.replace(
            rows, values=rows.values[keep], indices=indices[keep], begins=begins
        )
        return cut, columns[now < len(lengths)]

    def add(self, columns: Array) -> None:
        """These are known from now on."""
        self._learned[columns] = True

    def _meet(self, columns: Array, names: list[Any]) -> None:
        """Ask the model about columns that come for the first time."""
        more = int(columns.max(initial=-1)) + 1 - len(self._seen)
        if more > 0:
            more = max(more, len(self._seen))  # it grows seldom
            self._seen = np.append(self._seen, np.zeros(more, bool))
            self._learned = np.append(self._learned, np.zeros(more, bool))
        new = columns[~self._seen[columns]].tolist()
        self._seen[new] = True
        if self._before is not None and new:
            asked = [names[place] for place in new] if names else new
            self._learned[new] = np.array(self._before.place(asked)) >= 0
