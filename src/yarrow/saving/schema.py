"""What a file must hold, declared, and one function that checks it before anything is made of it.

A schema says types, ranges and sizes. A size is a number, None (any), or a name: all sizes of one
name must be equal, which is how parts of a file are held against each other.

>>> names = Fields({"names": ListOf(Text(), "columns"), "weights": ListOf(Number(), "columns")})
>>> check(names, {"names": ["a", "b"], "weights": [1.0]})
Traceback (most recent call last):
yarrow.errors.ModelFileError: its 'weights' must be a list of 2 (columns), not [1.0]
"""

from __future__ import annotations

import dataclasses
import math
import reprlib
from collections.abc import Mapping
from typing import Any, NoReturn

from yarrow.errors import ModelFileError
from yarrow.lazy import np

Size = int | str | None
Sizes = dict[str, int]

_MOST = 2**63 - 1
#: the least number above 0
TINY = 5e-324


def check(schema: Schema, value: Any, place: str = "it", **sizes: int) -> Sizes:
    """Refuse a value that is not as declared; otherwise all sizes that have names."""
    schema.check(value, place, sizes)
    return sizes


class Schema:
    """What a value must be: one that it `accepts`, and in words what is `wanted`."""

    def check(self, value: Any, place: str, sizes: Sizes) -> None:
        """Raise `ModelFileError` unless the value, which stands at a place, is as declared."""
        if not self._accepts(value):
            refuse(place, self._wanted(), value)

    def _accepts(self, value: Any) -> bool:
        return True

    def _wanted(self) -> str:
        raise NotImplementedError


def refuse(place: str, wanted: str, value: Any) -> NoReturn:
    """Raise `ModelFileError`: what stands at a place is not what it must be."""
    if isinstance(value, np.ndarray):
        shown = f"numbers of the type {value.dtype} and the shape {value.shape}"
    else:
        shown = reprlib.repr(value)
    raise ModelFileError(f"{place} must be {wanted}, not {shown}")


def _size_of(size: Size, found: int, sizes: Sizes) -> bool:
    """Whether a size is as declared; the first one of a name says what it is."""
    if isinstance(size, str):
        size = sizes.setdefault(size, found)
    return size is None or size == found


def _words(size: Size, sizes: Sizes) -> str:
    if isinstance(size, str):
        return f"{sizes[size]} ({size})"
    return "any" if size is None else str(size)


class Anything(Schema):
    """No question asked: the value is looked at elsewhere, or never used."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class OneOf(Schema):
    """One of a few values, of the same type."""

    values: tuple[Any, ...]

    def _accepts(self, value: Any) -> bool:
        return any(type(value) is type(one) and value == one for one in self.values)

    def _wanted(self) -> str:
        return " or ".join(map(repr, self.values))


class Flag(Schema):
    """True or false."""

    def _accepts(self, value: Any) -> bool:
        return type(value) is bool

    def _wanted(self) -> str:
        return "true or false"


class Text(Schema):
    """A text that can be written as UTF-8; JSON may also hold halves of characters."""

    def _accepts(self, value: Any) -> bool:
        return type(value) is str and not any("\ud800" <= letter <= "\udfff" for letter in value)

    def _wanted(self) -> str:
        return "a text"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Number(Schema):
    """A finite number."""

    at_least: float = -math.inf
    at_most: float = math.inf

    def _accepts(self, value: Any) -> bool:
        fits = type(value) in (int, float) and abs(value) <= 1.7e308
        return fits and self.at_least <= value <= self.at_most

    def _wanted(self) -> str:
        return f"a number{_between(self.at_least, self.at_most)}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Whole(Schema):
    """A whole number."""

    at_least: int = 0
    at_most: int = _MOST

    def _accepts(self, value: Any) -> bool:
        return type(value) is int and self.at_least <= value <= self.at_most

    def _wanted(self) -> str:
        most = math.inf if self.at_most == _MOST else self.at_most
        return f"a whole number{_between(self.at_least, most)}"


def _between(at_least: float, at_most: float) -> str:
    limits = [f">= {at_least:g}"] * math.isfinite(at_least)
    limits += [f"<= {at_most:g}"] * math.isfinite(at_most)
    return "".join(f" {words}" for words in [" and ".join(limits)] if words)


class FeatureName(Schema):
    """A text, or an integer of 64 bits."""

    def _accepts(self, value: Any) -> bool:
        return Text()._accepts(value) or Whole(-_MOST - 1)._accepts(value)

    def _wanted(self) -> str:
        return "the name of a feature: a text or an integer"


class Label(FeatureName):
    """A class: a text, an integer, or true or false."""

    def _accepts(self, value: Any) -> bool:
        whole = type(value) is float and value.is_integer()
        return type(value) is bool or whole or super()._accepts(value)

    def _wanted(self) -> str:
        return "a class: a text, an integer, true or false"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Maybe(Schema):
    """Null, or what another schema says."""

    schema: Schema

    def check(self, value: Any, place: str, sizes: Sizes) -> None:
        """See `Schema`."""
        if value is not None:
            self.schema.check(value, place, sizes)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ListOf(Schema):
    """A list of so many values of one kind."""

    item: Schema
    size: Size = None
    unique: bool = False

    def check(self, value: Any, place: str, sizes: Sizes) -> None:
        """See `Schema`."""
        if type(value) is not list:
            refuse(place, "a list", value)
        if not _size_of(self.size, len(value), sizes):
            refuse(place, f"a list of {_words(self.size, sizes)}", value)
        for number, item in enumerate(value):
            self.item.check(item, f"{place}[{number}]", sizes)
        if self.unique and len(set(value)) < len(value):
            refuse(place, "a list in which nothing stands twice", value)


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class Record(Schema):
    """A list of values that each have a meaning of their own."""

    items: tuple[Schema, ...]

    def __init__(self, *items: Schema) -> None:
        object.__setattr__(self, "items", items)

    def check(self, value: Any, place: str, sizes: Sizes) -> None:
        """See `Schema`."""
        if type(value) is not list or len(value) != len(self.items):
            refuse(place, f"a list of {len(self.items)}", value)
        for number, (schema, item) in enumerate(zip(self.items, value, strict=True)):
            schema.check(item, f"{place}[{number}]", sizes)


Parts = dict[str, Schema]
"""The parts of a state by name."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fields(Schema):
    """An object with these fields, each as its own schema says; `optional` ones may be missing.

    Fields that are not declared pass, unless they are `closed`.
    """

    fields: Mapping[str, Schema]
    optional: Mapping[str, Schema] = dataclasses.field(default_factory=dict)
    closed: bool = False

    def check(self, value: Any, place: str, sizes: Sizes) -> None:
        """See `Schema`."""
        if not isinstance(value, dict):
            refuse(place, "an object", value)
        for name, schema in (self.fields | self.optional).items():  # type: ignore[operator]
            at = f"{'its' if place == 'it' else place} {name!r}"
            if name in value:
                schema.check(value[name], at, sizes)
            elif name in self.fields:
                raise ModelFileError(f"{at} is missing")
        unknown = value.keys() - self.fields.keys() - self.optional.keys()
        if self.closed and unknown:
            raise ModelFileError(f"{place} has {min(map(str, unknown))!r}, which is not known")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MapOf(Schema):
    """An object with any fields, all of one kind."""

    item: Schema

    def check(self, value: Any, place: str, sizes: Sizes) -> None:
        """See `Schema`."""
        if not isinstance(value, dict):
            refuse(place, "an object", value)
        for name, item in value.items():
            Text().check(name, f"a field of {place}", sizes)
            self.item.check(item, f"{place} {name!r}", sizes)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Array(Schema):
    """Numbers of one type (as numpy writes it: "f8", "i8"; "f" for any floats) and one shape."""

    dtype: str
    shape: tuple[Size, ...]
    at_least: float = -math.inf
    at_most: float = math.inf

    def check(self, value: Any, place: str, sizes: Sizes) -> None:
        """See `Schema`."""
        types = ("f4", "f8") if self.dtype == "f" else (self.dtype,)
        if not isinstance(value, np.ndarray) or value.dtype.newbyteorder("=") not in types:
            words = " or ".join(str(np.dtype(one)) for one in types)
            refuse(place, f"numbers of the type {words}", value)
        fits = len(value.shape) == len(self.shape)
        if not fits or not all(
            _size_of(size, n, sizes) for size, n in zip(self.shape, value.shape, strict=True)
        ):
            words = " x ".join(
                _words(size, sizes) if not isinstance(size, str) or size in sizes else size
                for size in self.shape
            )
            refuse(place, f"an array of {words}", value)
        if self.dtype.startswith("f") and not np.isfinite(value).all():
            raise ModelFileError(f"{place} has a number that is not finite")
        limited = math.isfinite(self.at_least) or math.isfinite(self.at_most)
        low, high = np.float64(self.at_least), np.float64(self.at_most)  # float32 may not hold them
        if limited and not ((value >= low) & (value <= high)).all():
            limits = _between(self.at_least, self.at_most).strip()
            raise ModelFileError(f"{place} has a number that is not {limits}")
