"""Class numbers as labels, and labels in the order of scikit-learn."""

from __future__ import annotations

from typing import Any

from yarrow.lazy import np
from yarrow.stream.arrays import Array


def named(codes: Array, classes: list[Any]) -> Array:
    """Class numbers as labels; None for -1."""
    if not len(classes) or (codes < 0).any():
        found = np.full(len(codes), None, dtype=object)
        for i in np.flatnonzero(codes >= 0).tolist():
            found[i] = classes[codes[i]]
        return found
    return array_of(classes)[codes]


def sorted_names(classes: list[Any]) -> Array:
    """Classes in the order of scikit-learn: numbers, then texts."""
    return array_of(sorted(classes, key=sort_key))


def array_of(names: list[Any]) -> Array:
    """Classes as an array, of numbers or texts where all are alike."""
    alike = len({type(name) for name in names}) == 1
    return np.array(names) if alike else np.array(names, dtype=object)


def sort_key(name: Any) -> tuple[int, Any]:
    """Numbers before texts."""
    return (1, name) if isinstance(name, str) else (0, name)
