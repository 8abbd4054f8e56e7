"""Where features and classes stand in a saved state, and how two such orders become one.

Both orders are by first appearance, so that uniting them is associative. The columns of classes are
those of core/learner/outputs.hpp.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from yarrow.lazy import np

_TEXT, _INTEGER = 0, 1


@dataclasses.dataclass(frozen=True)
class Names:
    """Names of features as a saved state holds them; the integers 0..columns-1 come first."""

    columns: int
    kinds: Any
    offsets: Any
    bytes: Any

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Names | None:
        """The names in a state; a hashed one has none."""
        if "name_columns" not in state:
            return None
        arrays = (np.asarray(state[f"name_{part}"]) for part in ("kinds", "offsets", "bytes"))
        return cls(int(np.asarray(state["name_columns"])[0]), *arrays)

    def arrays(self) -> dict[str, Any]:
        """The way back."""
        return {
            "name_columns": np.array([self.columns], dtype=np.int64),
            "name_kinds": self.kinds,
            "name_offsets": self.offsets,
            "name_bytes": self.bytes,
        }

    def __len__(self) -> int:
        return self.columns + len(self.kinds)

    def begins(self, other: Names) -> bool:
        """Whether the other one begins with all of these names."""
        if len(self.kinds) == 0:  # columns alone
            return self.columns <= other.columns
        n, size = len(self.kinds), len(self.bytes)
        return (
            self.columns == other.columns
            and np.array_equal(self.kinds, other.kinds[:n])
            and np.array_equal(self.offsets, other.offsets[: n + 1])
            and np.array_equal(self.bytes, other.bytes[:size])
        )

    def keys(self) -> list[Any]:
        """Names that can be compared: numbers, and texts as bytes."""
        data, ends = self.bytes.tobytes(), self.offsets.tolist()
        found: list[Any] = list(range(self.columns))
        for kind, begin, end in zip(self.kinds.tolist(), ends, ends[1:], strict=False):
            piece = data[begin:end]
            is_text = kind == _TEXT
            found.append(piece if is_text else int.from_bytes(piece, "little", signed=True))
        return found

    @classmethod
    def of_keys(cls, keys: list[Any]) -> Names:
        """The way back."""
        columns = next((n for n, key in enumerate(keys) if key != n), len(keys))
        pieces = [
            key if isinstance(key, bytes) else key.to_bytes(8, "little", signed=True)
            for key in keys[columns:]
        ]
        kinds = [_TEXT if isinstance(key, bytes) else _INTEGER for key in keys[columns:]]
        ends = np.cumsum([0, *map(len, pieces)])
        return cls(
            columns,
            np.array(kinds, dtype=np.uint8),
            ends.astype(np.uint64),
            np.frombuffer(b"".join(pieces), dtype=np.uint8),
        )


def unite_names(a: Names | None, b: Names | None) -> tuple[Names | None, Any, Any]:
    """All names of both, and where those of each stand among them; None: they come first."""
    if a is None or b is None:  # hashed: all have the same places
        return None, None, None
    if a.begins(b):
        return b, None, None
    if b.begins(a):
        return a, None, None
    of_a, of_b = a.keys(), b.keys()
    most = max(a.columns, b.columns)  # columns come first, whoever has them
    place = {name: n for n, name in enumerate(dict.fromkeys([*range(most), *of_a, *of_b]))}
    return (
        Names.of_keys(list(place)),
        np.array([place[name] for name in of_a], dtype=np.int64),
        np.array([place[name] for name in of_b], dtype=np.int64),
    )


def unite_classes(a: list[Any], b: list[Any]) -> list[Any]:
    """All classes of both; True is not 1."""
    found = {(type(label), label): label for label in [*a, *b]}
    return list(found.values())


@dataclasses.dataclass(frozen=True)
class Outputs:
    """Which column speaks for which class."""

    strategy: str
    classes: list[Any]

    @property
    def is_one_a_class(self) -> bool:
        """Whether a class has a column of its own, and no other."""
        return self.strategy in ("top1", "max_loss", "many")

    @property
    def count(self) -> int:
        """How many columns there are."""
        n = len(self.classes)
        if self.is_one_a_class:
            return n
        if self.strategy != "one_versus_rest":
            return 1
        return max(n, 1) if n <= 2 else n + 1

    def _place(self, label: Any) -> int | None:
        keys = [(type(each), each) for each in self.classes]
        key = (type(label), label)
        return keys.index(key) if key in keys else None

    def column_of(self, label: Any) -> tuple[int, int]:
        """The column of a class and the sign with which it speaks for it; -1: there is none.

        In one-versus-rest a class that was not seen is as the column "none of the seen".
        """
        place, n = self._place(label), len(self.classes)
        if self.is_one_a_class:
            return (-1 if place is None else place), 1
        if self.strategy == "one_versus_rest":
            if place is None:
                return 0, 1
            if n <= 2:
                return n - 1, -1 if place + 1 < n or n == 1 else 1
            return (2 - place if place <= 1 else place + 1), 1
        return 0, -1 if place == 0 else 1

    def columns_from(self, other: Outputs) -> list[tuple[int, int]]:
        """For each of these columns: the column of another model, and its sign."""
        if self.is_one_a_class:
            return [other.column_of(label) for label in self.classes]
        n = len(self.classes)
        if self.strategy == "one_versus_rest":
            if n == 2:
                return [(0, 1), other.column_of(self.classes[1])]
            if n > 2:
                order = [self.classes[1], self.classes[0], *self.classes[2:]]
                return [(0, 1), *map(other.column_of, order)]
            return [(0, 1)]
        if self.strategy != "binary":
            return [(0, 1)]
        # The column speaks for the second class against the first.
        is_turned = (n > 0 and other._place(self.classes[0]) == 1) or (
            n > 1 and other._place(self.classes[1]) == 0
        )
        return [(0, -1 if is_turned else 1)]
