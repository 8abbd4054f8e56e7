"""Rows in the order in which they are predicted and, when their labels have arrived, learned."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.lazy import np
from yarrow.stream.arrays import Array, Rows


@dataclasses.dataclass(frozen=True)
class Part:
    """Some rows of a file, with all that belongs to them."""

    rows: Rows
    y: Array
    weights: Array
    lines: Array
    sources: Array

    def __len__(self) -> int:
        return len(self.y)

    def take(self, places: Array) -> Part:
        """Some of the rows."""
        columns = (self.y, self.weights, self.lines, self.sources)
        return Part(self.rows.take(places), *(column[places] for column in columns))

    @classmethod
    def joined(cls, parts: list[Part]) -> Part:
        """Rows one after the other."""
        if len(parts) == 1:
            return parts[0]
        labels = [part.y for part in parts]
        if len({y.dtype.kind for y in labels}) > 1:  # words and numbers stay what they are
            labels = [y.astype(object) for y in labels]
        rest = ("weights", "lines", "sources")
        return cls(
            Rows.joined([part.rows for part in parts]),
            np.concatenate(labels),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in rest),
        )


class Late:
    """Hands out rows twice: to be predicted, and `delay` rows later to be learned.

    A learner that predicts each row before it learns it, and does not learn a row of weight 0, so
    does in one call what would be many: predict row t, learn row t - delay, predict row t + 1...
    Without a delay a row is handed out once, unless it is to be `twice`.
    """

    def __init__(self, delay: int, twice: bool = False) -> None:
        self.delay = delay
        self.twice = twice or delay > 0
        self._waiting: list[Part] = []

    def next(self, part: Part) -> tuple[Part, Array]:
        """Rows in the order of their turns, and whether each is learned or predicted only."""
        if not self.twice:
            return part, np.ones(len(part), bool)
        held = sum(map(len, self._waiting))
        due = max(0, held + len(part) - self.delay)
        old = self._first(min(due, held))
        both = Part.joined([*old, part])
        first = len(both) - len(part)
        alone = len(part) - due  # predicted when no label has arrived yet
        pairs = np.column_stack([np.arange(first + alone, len(both)), np.arange(due)])
        places = np.concatenate([np.arange(first, first + alone), pairs.reshape(-1)])
        learned = np.concatenate([np.zeros(alone, bool), np.tile([False, True], due)])
        self._waiting.append(part.take(np.arange(due - first, len(part))))
        return both.take(places.astype(np.int64)), learned

    def _first(self, n: int) -> list[Part]:
        """Take the first rows out of those that wait."""
        found: list[Part] = []
        while n:
            oldest = self._waiting.pop(0)
            if len(oldest) > n:
                self._waiting.insert(0, oldest.take(np.arange(n, len(oldest))))
                oldest = oldest.take(np.arange(n))
            found.append(oldest)
            n -= len(oldest)
        return found

    def rest(self) -> tuple[Part, Array] | None:
        """The rows whose labels arrive after the last row."""
        if not self._waiting:
            return None
        part = Part.joined(self._waiting)
        self._waiting = []
        return part, np.ones(len(part), bool)


def only_present(rows: Rows) -> tuple[list[int], Rows]:
    """The columns that sparse rows have, and the rows with no other columns."""
    indices: Any = rows.indices
    if rows.n_columns > 4 * len(indices) + 65536:
        present, narrow = np.unique(indices, return_inverse=True)
    else:  # the same without sorting
        there = np.zeros(rows.n_columns, bool)
        there[indices] = True
        present, narrow = np.flatnonzero(there), (np.cumsum(there) - 1)[indices]
    narrow = narrow.reshape(-1).astype(np.int32)
    return present.tolist(), dataclasses.replace(rows, indices=narrow, n_columns=len(present))


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
