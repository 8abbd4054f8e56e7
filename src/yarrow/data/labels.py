"""Labels: how they are read and kept, in which order they stand, and how classes are numbered.

A label is kept as a text, an integer, true or false. A float that is a whole number is that
integer, as NumPy's numbers are those of Python: 3, 3.0 and np.int8(3) are one class, "3" is
another. Numbers stand before texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from yarrow._core import number_cells, number_texts
from yarrow.data.arrays import (
    Array,
    check_finite_target,
    exact_array,
    is_unicode,
    place_of,
    read_target,
)
from yarrow.errors import DataError, DataTypeError, ParameterError
from yarrow.lazy import np

Labels: TypeAlias = "tuple[Array, list[Any]]"
"""A label a row, as the core takes them: numbers, or places in a list of names."""
Codes: TypeAlias = dict[Any, int]
"""Classes and their numbers, in the order of their appearance."""

#: the number of a class that nobody can have predicted
UNKNOWN = -2
_EXACT = 2**53  # beyond, a float is no integer's name


# -- as they come, and as they are kept ------------------------------------------------------------


def plain(label: Any) -> Any:
    """A number or a text of NumPy as Python's.

    >>> plain(np.int8(3)), plain(np.str_("a"))
    (3, 'a')
    """
    if type(label) in (str, int, bool, float) or label is None:
        return label
    return label.item() if isinstance(label, np.generic) else label


def kept(label: Any) -> Any:
    """A label as models keep it.

    >>> kept(3.0), kept(np.float32(3)), kept("3"), kept(True), kept(2.0**60)
    (3, 3, '3', True, 1.152921504606847e+18)
    """
    label = plain(label)
    whole = isinstance(label, float) and label.is_integer() and abs(label) <= _EXACT
    return int(label) if whole else label


def read_labels(y: Any, n_rows: int) -> Labels:
    """Class labels as float64 numbers, or as places in a list of names."""
    values = read_target(y, n_rows)
    kind = values.dtype.kind
    if kind == "f":
        check_finite_target(values)
        _check_whole(values)
        return np.ascontiguousarray(values, dtype=np.float64), []
    if kind in "iu" and (values.size == 0 or max(-int(values.min()), int(values.max())) <= _EXACT):
        return np.ascontiguousarray(values, dtype=np.float64), []
    if kind == "b":
        return values.astype(np.float64), [False, True]
    if kind == "O":
        return _read_objects(values)
    if kind in "Uiu":
        cells = np.ascontiguousarray(values).view(np.int8).reshape(n_rows, values.itemsize)
        places, first = number_cells(cells)
        return places, _checked(values[first].tolist())
    raise DataError(f"Unknown label type: {values.dtype}. Classes must be strings or integers.")


def check_declared(classes: Any, declared: Sequence[Any]) -> None:
    """Refuse classes of a call that are not all among those declared before."""
    if not {plain(name) for name in classes} <= set(declared):
        raise ParameterError(f"classes={classes!r} are not all among the declared {declared!r}.")


def check_known(classes: Any, allowed: Iterable[Any], known: Iterable[Any]) -> None:
    """Refuse classes of a call that leave out one that was seen or declared before."""
    if not set(known) <= set(allowed):
        raise ParameterError(
            f"classes={classes!r} contradict the classes known: {in_order(known)}."
        )


def label_list(labels: Labels) -> list[Any]:
    """The label of each row, as it is kept."""
    numbers, names = labels
    if names:
        return [names[int(n)] for n in numbers]
    return [kept(n) for n in numbers.tolist()]


def class_labels(y: Any, n_rows: int) -> list[Any]:
    """The class of each row."""
    return label_list(read_labels(y, n_rows))


def _read_objects(values: Array) -> Labels:
    texts: Any = number_texts(values.tolist())
    if texts is not None:
        return texts[0], _checked(texts[1])
    names: Codes = {}
    for position, value in enumerate(values):
        if value is None:
            raise DataError(f"Input y contains NaN at row {position}.")
        if isinstance(value, (float, np.floating)) and not float(value).is_integer():
            numbers = np.zeros(position + 1)
            numbers[position] = value
            check_finite_target(numbers)
            _check_whole(numbers)
        if not isinstance(value, (str, int, float, bool, np.generic)):
            raise DataTypeError(
                f"A class must be a string, an integer or a boolean, not {value!r}.", row=position
            )
        names.setdefault(kept(value), len(names))
    places = np.fromiter((names[value] for value in values), np.float64, len(values))
    return places, _checked(list(names))


def _check_whole(values: Array) -> None:
    bad = values != np.floor(values)
    if bad.any():
        raise DataError(
            f"Unknown label type: continuous, {float(values[bad][0])!r} {place_of(bad)}. Classes "
            "must be strings, integers or booleans; for real targets use a regressor."
        )


def _checked(names: list[Any]) -> list[Any]:
    """Classes that every learner can keep and save."""
    for name in names:
        if isinstance(name, str) and not is_unicode(name):
            raise DataError(f"The class {name!r} is not valid Unicode.")
        if isinstance(name, int) and not -(2**63) <= name < 2**63:
            raise DataError("A class that is an integer must fit into 64 bits.")
    return names


def is_class_list(value: Any) -> bool:
    """Whether a parameter lists classes."""
    return (
        isinstance(value, (list, tuple, np.ndarray))
        and len(value) > 0
        and all(isinstance(name, (str, int, np.generic)) for name in value)
    )


def check_alike(labels: Iterable[Any], who: Any) -> None:
    """Refuse texts beside numbers for somebody who cannot put them in order."""
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and not all(texts):
        raise DataError(
            f"{type(who).__name__} cannot learn texts and numbers as classes of one problem: make "
            "all of them texts."
        )


# -- their order -----------------------------------------------------------------------------------


def _key(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Labels in the order of scikit-learn: numbers, then texts.

    >>> in_order(["b", 10, "a", 9])
    [9, 10, 'a', 'b']
    """
    return sorted(labels, key=_key)


def places_in_order(classes: Sequence[Any]) -> list[int]:
    """The places of classes, in the order of their names.

    >>> places_in_order(["b", 10, "a"])
    [1, 2, 0]
    """
    return sorted(range(len(classes)), key=lambda place: _key(classes[place]))


def order_of(classes: Sequence[Any]) -> Array:
    """The same as an array."""
    return np.array(places_in_order(classes), dtype=np.int64)


def array_of(labels: Sequence[Any]) -> Array:
    """Labels that are kept as an array: of numbers or texts where all are alike."""
    alike = len({type(label) for label in labels}) == 1
    return exact_array(list(labels)) if alike else np.array(labels, dtype=object)


def distinct(y: Any) -> tuple[list[Any], Array, Array]:
    """Labels in their order, the row where each first stands, and the place of each row's.

    >>> distinct(["b", 1, "1", "b"])
    ([1, '1', 'b'], array([1, 2, 0]), array([2, 0, 1, 2]))
    """
    y = exact_array(y)
    if y.dtype != object:
        names, first, places = np.unique(y, return_index=True, return_inverse=True)
        return names.tolist(), first, places.reshape(-1)
    seen: dict[Any, int] = {}
    for row, label in enumerate(y.tolist()):
        seen.setdefault(label, row)
    listed = in_order(seen)
    places = numbered(y.tolist(), {label: place for place, label in enumerate(listed)})
    return listed, np.array([seen[label] for label in listed], np.int64), places


# -- their numbers ---------------------------------------------------------------------------------


def number_of(label: Any, codes: Codes) -> int:
    """The number of a class; a new one gets the next."""
    return codes.setdefault(label, len(codes))


def numbered(labels: Iterable[Any], codes: Codes, *, add: bool = False, unknown: int = -1) -> Array:
    """The numbers of labels; new ones get the next numbers, or are `unknown`, as None always is.

    >>> codes = {}
    >>> numbered(["b", "a", None, "b"], codes, add=True), numbered(["a", "c"], codes)
    (array([ 0,  1, -1,  0]), array([ 1, -1]))
    """
    if add:
        code = codes.setdefault
        found = [unknown if label is None else code(label, len(codes)) for label in labels]
        return np.array(found, dtype=np.int64)
    return np.array([codes.get(label, unknown) for label in labels], dtype=np.int64)


def named(numbers: Array, classes: list[Any]) -> Array:
    """Class numbers as labels; None for -1."""
    if not len(classes) or (numbers < 0).any():
        found = np.full(len(numbers), None, dtype=object)
        for i in np.flatnonzero(numbers >= 0).tolist():
            found[i] = classes[numbers[i]]
        return found
    return array_of(classes)[numbers]
