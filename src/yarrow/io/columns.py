"""From typed columns to named features: what becomes what.

Rows in Python are made here, those of Arrow in `arrow_columns`; tests hold both equal.

| value                     | features                                                          |
| ------------------------- | ----------------------------------------------------------------- |
| number                    | `column`, with that value                                         |
| true, false               | `column`, with 1 or 0                                             |
| text                      | `column=text`, with 1: a category                                 |
| text of a text column     | `column=word` for each lowercased word, with its count            |
| object                    | each member as the column `column.member`                         |
| list of texts             | `column=text` for each, with its count                            |
| list of numbers           | `column.0`, `column.1`, ...                                       |
| date, with or without     | `column.year=2024`, `column.month=5`, `column.weekday=1` (Monday) |
| a time                    | and, but at midnight, `column.hour=13`, with 1                    |
| missing                   | none, which a linear model cannot tell from 0, unless             |
|                           | `when_missing` says otherwise; `column` with NaN for one that can |

Missing are None, null, NaN, NaT, and the empty text or other marks that were declared.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from yarrow.data.labels import kept
from yarrow.data.named_rows import ColumnValues, Label, NamedRows, assemble
from yarrow.errors import DataError, ReadingWarning, first_of, warn_user
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD = re.compile(r"\w+")
"""What a word is: letters, digits and underscores of any script."""

NO_WEIGHT = "the weight is missing"
NEGATIVE = "a weight must not be negative"
NO_VALUE = "the value is missing"

_NOT_TO_DROP = "there is no such column to drop"
_NOT_LEARNED = "the model has learned this column, and here it is missing in every row"

WhenMissing = Literal["ignore", "indicate", "error"]
TextFunction = Callable[[str], Mapping[str, float]]


def word_counts(text: str) -> Mapping[str, float]:
    """Count the lowercased words of `text`."""
    return Counter(WORD.findall(text.lower()))


def word_ngrams(longest: int) -> TextFunction:
    """What counts the sequences of up to so many words: "buy", "buy now"."""
    if longest == 1:
        return word_counts

    def counts(text: str) -> Mapping[str, float]:
        words = WORD.findall(text.lower())
        return Counter(
            " ".join(words[start : start + length])
            for length in range(1, longest + 1)
            for start in range(len(words) - length + 1)
        )

    return counts


@dataclass(frozen=True)
class Roles:
    """What the user said about the columns. A member of an object is named `object.member`."""

    label: str | None = None
    weight: str | None = None
    features: frozenset[str] | None = None
    drop: frozenset[str] = frozenset()  # the label and the weight among them
    expected: tuple[str, ...] = ()  # those of them that ought to be there
    learned: tuple[str, ...] = ()  # what a model that is asked, or goes on, makes features of
    text: Mapping[str, TextFunction] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset({""})  # texts that mean that there is no value
    when_missing: WhenMissing = "ignore"
    tells_missing: bool = False  # a number that is missing is NaN
    passed: tuple[str, ...] = ()  # whose cells go along with the rows as they are

    def check(self, names: Iterable[str], source: str | None) -> None:
        """Refuse a column that was asked for and is not there; warn of one that is expected."""
        names = list(names)
        there = set(names)
        asked = [self.label, self.weight, *self.text, *self.categories, *(self.features or ())]
        for path in [*asked, *self.passed]:
            if path is not None and not {path, path.split(".")[0]} & there:
                problem = f"no such column; it has {first_of(names)}"
                raise DataError(problem, source=source, field=path)
        _warn_of_absent(source, names, self.expected, _NOT_TO_DROP)
        warn_of_lacking(source, names, self.learned)

    def reads(self, column: str) -> bool:
        """Whether anything of a whole column is needed."""
        if column in (self.label, self.weight):
            return True
        return column not in self.drop and (self.features is None or column in self._with_features)

    def is_plain(self, column: str) -> bool:
        """Whether a column makes features and nothing special was said about it."""
        return column not in self._special and (self.features is None or column in self.features)

    def is_plain_below(self, column: str) -> bool:
        """The same of a column and all of its members."""
        below = f"{column}."
        return self.is_plain(column) and not any(name.startswith(below) for name in self._special)

    @functools.cached_property
    def _with_features(self) -> frozenset[str]:
        """The columns that make features, and the objects that they are members of."""
        paths = [path.split(".") for path in self.features or ()]
        return frozenset(".".join(path[: n + 1]) for path in paths for n in range(len(path)))

    @functools.cached_property
    def _special(self) -> frozenset[str]:
        return self.drop | self.categories | self.text.keys()

    def keeps(self, path: str, inside_kept: bool) -> bool:
        """Whether a column makes features if it is not dropped: alone or as a member of one."""
        return inside_kept or self.features is None or path in self.features


def warn_of_lacking(source: str | None, names: list[str], learned: Sequence[str]) -> None:
    """Warn of columns that a model has learned, and these rows have not.

    Where none is there, the model tells that it knows no feature.
    """
    if not set(names).isdisjoint(path.split(".")[0] for path in learned):
        _warn_of_absent(source, names, learned, _NOT_LEARNED)


def _warn_of_absent(
    source: str | None, names: list[str], paths: Sequence[str], problem: str
) -> None:
    there = set(names)
    absent = [path for path in paths if not {path, path.split(".")[0]} & there]
    if absent:
        first, *others = absent
        also = f" (the same of {first_of(map(repr, others), 5)})" if others else ""
        problem = f"{problem}{also}; it has {first_of(names)}"
        warn_user(ReadingWarning(source, first, problem))


class BatchProblems:
    """The rows of a batch while they are read: where each came from and what is wrong with it."""

    def __init__(self, source: str | None, unit: str, places: Iterable[int]) -> None:
        self.source, self.unit = source, unit
        self.places = np.fromiter(places, np.int64)
        self.keep = np.ones(len(self.places), np.bool_)
        self.errors: list[DataError] = []
        #: of each row the cells that are passed through
        self.passed: list[tuple[Any, ...]] | None = None

    def pass_on(self, roles: Roles, columns: Mapping[str, list[Any]]) -> None:
        """Note the cells of the columns that go along with the rows as they are."""
        if roles.passed:
            self.passed = list(zip(*(columns[name] for name in roles.passed), strict=True))

    def fail(self, row: int, column: str | int | None, problem: str) -> None:
        """Leave out `row`, for the first problem that it has."""
        if self.keep[row]:
            self.keep[row] = False
            place: dict[str, Any] = {self.unit: int(self.places[row]), "field": column}
            self.errors.append(DataError(problem, source=self.source, **place))

    def errors_in_order(self) -> list[DataError]:
        """Return the errors as they come in the file."""
        return sorted(self.errors, key=lambda error: error.line or error.row or 0)

    def rows(
        self,
        blocks: list[ColumnValues],
        labels: list[Label] | None,
        weights: NDArray[np.float64] | None,
        may_miss: bool = False,
    ) -> NamedRows:
        """Join the features of the rows that did not fail; NaN may be a value that is missing."""
        for block in blocks:
            bad = ~np.isfinite(block.values)  # a sum, or of a text's function
            for place in np.flatnonzero(bad & ~np.isnan(block.values) if may_miss else bad):
                row = int(np.searchsorted(np.cumsum(block.counts), place, side="right"))
                name = block.names[block.indices[place]]
                self.fail(row, name, f"{block.values[place]} is not a finite number")
        return assemble(blocks, self.keep, labels, weights, self.places, self.passed)


def row_features(roles: Roles, record: Mapping[str, Any]) -> dict[str, float]:
    """Return the features of one record; a value that has none is a `DataError` with its field."""
    row: dict[str, float] = {}
    for name, value in record.items():
        kind = type(value)
        if kind is str and value not in roles.missing and roles.is_plain(name):
            name, value = f"{name}={value}", 1.0  # most values, in a hurry
        elif kind is not float or not math.isfinite(value) or not roles.is_plain(name):
            add_value(row, roles, name, value, False)
            continue
        row[name] = row[name] + value if name in row else value
    return row


def add_value(row: dict[str, float], roles: Roles, path: str, value: Any, kept: bool) -> None:
    """Add the features of one value to a row; `kept` if those of the whole object are."""
    kept = roles.keeps(path, kept)
    if path in roles.drop:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            add_value(row, roles, f"{path}.{name}", member, kept)
    elif not kept:
        return
    elif _is_missing(roles, value):
        if roles.when_missing == "error":
            raise DataError(NO_VALUE, field=path)
        if roles.when_missing == "indicate":
            _increase(row, indicator(path), 1.0)
        if roles.tells_missing:
            row[path] = math.nan
    elif path in roles.text:
        if not isinstance(value, str):
            raise DataError(f"{value!r:.80} is not text", field=path)
        for name, count in roles.text[path](value).items():
            _increase(row, f"{path}={name}", count)
    elif isinstance(value, list):
        _add_list(row, path, value)
    elif isinstance(value, str) or path in roles.categories:
        _increase(row, category(path, value), 1.0)
    elif isinstance(value, date):
        for part, number in _parts(value).items():
            _increase(row, category(f"{path}.{part}", number), 1.0)
    else:
        _increase(row, path, as_number(path, value))


def _is_missing(roles: Roles, value: Any) -> bool:
    """Whether there is no value: None, NaN, NaT, NA of pandas, or a text that means it."""
    if value is None or isinstance(value, str):
        return value is None or value in roles.missing
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def indicator(path: str) -> str:
    """The feature that says that a column has no value."""
    return f"{path} is missing"


def _parts(value: date) -> dict[str, int]:
    """What a linear model can learn of a date; a time of exactly midnight is none."""
    parts = {"year": value.year, "month": value.month, "weekday": value.isoweekday()}
    if isinstance(value, datetime) and (value.hour, value.minute, value.second) != (0, 0, 0):
        parts["hour"] = value.hour
    return parts


def _add_list(row: dict[str, float], path: str, items: list[Any]) -> None:
    stated = [(position, item) for position, item in enumerate(items) if item is not None]
    if all(isinstance(item, str) for _, item in stated):
        for _, item in stated:
            _increase(row, category(path, item), 1.0)
    elif all(isinstance(item, int | float) for _, item in stated):
        for position, item in stated:
            _increase(row, f"{path}.{position}", as_number(path, item))
    else:
        raise DataError("a list must hold only texts or only numbers", field=path)


def _increase(row: dict[str, float], name: str, value: float) -> None:
    row[name] = row.get(name, 0.0) + value


def category(path: str, value: Any) -> str:
    """Name the feature of one category; 3 and 3.0 are the same one, as are true and "true"."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{path}={value}"


def as_number(path: str | None, value: Any) -> float:
    """Return `value` as a finite number, or raise a `DataError`."""
    try:  # a Decimal, too, as the core takes it; a text is no number
        number = float(value) if hasattr(value, "__float__") else math.nan
    except (TypeError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{value!r:.80} is not a finite number", field=path)
    return number


def as_label(path: str, value: Any) -> Label:
    """Return a label: text, or a number, as an integer where it is one."""
    if value is None:
        raise DataError("the label is missing", field=path)
    if isinstance(value, str):
        return value
    number = as_number(path, value)
    return int(value) if isinstance(value, int) else kept(number)


def as_weight(path: str, value: Any) -> float:
    """Return the weight of a row: a finite number that is not negative."""
    if value is None:
        raise DataError(NO_WEIGHT, field=path)
    weight = as_number(path, value)
    if weight < 0:
        raise DataError(NEGATIVE, field=path)
    return weight
