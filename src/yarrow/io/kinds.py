"""What a column holds: numbers, true or false, dates or text; what its cells, or its type, say.

A cell that is one of the usual marks of a missing value (`MARKS`) is missing where the other cells
of its column are numbers, dates, or true or false; among texts it is a text like any other.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, Literal

from yarrow.errors import DataError, ReadingWarning, warn_user
from yarrow.io.arrow_columns import TEXT_TYPES, cast, is_number_type
from yarrow.io.columns import BatchProblems, Roles

Kind = Literal["number", "boolean", "date", "text", "nested"]

MARKS = frozenset(
    ("", "?", "-", "--", ".", "na", "n/a", "#n/a", "#na", "<na>", "nan", "-nan", "null", "none",
     "nil", "missing")
)  # fmt: skip
"""The usual marks of a missing value, in lower case."""
_IN_WORDS = {
    "number": "numbers",
    "boolean": "true or false",
    "date": "dates",
    "text": "categories",
    "nested": "lists and objects",
}
_EXPECTED = {"number": "a number", "boolean": "true or false", "date": "a date such as 2024-05-31"}
_WHY = {
    "said": "as was said of the column",
    "learned": "as the model has learned the column",
    "seen": "as the column's first cells are",
}
_MARK = "write it so, or put this mark among the 'missing' ones"
_CATEGORY_OR_MARK = "put the column among the 'categories', or this mark among the 'missing' ones"
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
#: how people and other programs write numbers and dates that are read as categories here
_WITH_COMMAS = r"^\s*[+-]?(\d{1,3}(,\d{3})+(\.\d*)?|\d+,\d+)\s*$"
_WITH_ZEROS = r"^\s*[+-]?0\d"
_OTHER_DATE = r"^\s*(\d{4}[/.-]\d\d?[/.-]\d\d?|\d\d?[/.-]\d\d?[/.-](\d{4}|\d\d))([ T,].*)?$"
_AS_DATES = "write dates as 2024-05-31"
#: of dates that a CSV file may have so, and a frame or JSON has as texts
_ARE_TEXTS = "make the column one of dates, as pandas.to_datetime does, or read a CSV file"
#: columns with fewer values say too little about themselves
_ENOUGH = 20
#: from this share on, cells are nearly all numbers, and values nearly all different
_NEARLY = 0.9
#: how many records say what columns of JSON, or of dicts, hold
_FIRST_RECORDS = 4096


def declared_kind(roles: Roles, name: str, numeric: Iterable[str]) -> Kind | None:
    """What the user said that a column holds."""
    if name == roles.label or name in roles.text or name in roles.categories:
        return "text"
    return "number" if name == roles.weight or name in numeric else None


def kind_of_cells(text: Any) -> Kind:
    """What all cells of a column can be read as."""
    import pyarrow as pa

    trimmed = _unmarked(text)
    kinds: tuple[Kind, ...] = ("number", "boolean", "date")
    for kind in kinds:
        try:
            trimmed.cast(_arrow_type(kind))
        except pa.ArrowInvalid:
            continue
        return kind
    return "text"


def kind_of_type(kind: Any) -> Kind:
    """What a column of an Arrow type holds."""
    import pyarrow.types as types

    if types.is_boolean(kind):
        return "boolean"
    if str(kind) in TEXT_TYPES or types.is_dictionary(kind):
        return "text"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    return "number" if is_number_type(kind) else "nested"


def kind_of_value(value: Any) -> Kind:
    """What a value of Python is."""
    if isinstance(value, bool):
        return "boolean"
    kinds: dict[type, Kind] = {str: "text", int: "number", float: "number", date: "date"}
    return next((kind for cls, kind in kinds.items() if isinstance(value, cls)), "nested")


def how_read(roles: Roles, name: str, kind: Kind) -> str:
    """What was made of a column, in words."""
    for role in ("label", "weight"):
        if name == getattr(roles, role):
            return f"the {role}"
    if name in roles.drop or not (kind == "nested" or roles.keeps(name, False)):
        return "left out"
    if name in roles.text:
        return "words"
    return "categories" if name in roles.categories else _IN_WORDS[kind]


def typed(
    batch: BatchProblems,
    name: str,
    text: Any,
    kind: Kind,
    why: Literal["said", "learned", "seen"] = "seen",
) -> Any:
    """The cells of a column as what it holds, as was said or learned of it; others fail."""
    if kind == "text":
        return text

    def fail(row: int) -> None:
        problem = f"{text[row].as_py()!r} is not {_EXPECTED[kind]}, {_WHY[why]}"
        batch.fail(row, name, f"{problem}; {_MARK if why == 'learned' else _CATEGORY_OR_MARK}")

    return cast(_unmarked(text), _arrow_type(kind), fail)


def as_learned(
    batch: BatchProblems, columns: dict[str, Any], kinds: Mapping[str, Kind]
) -> dict[str, Any]:
    """Columns of Arrow types, those of texts as what a model has learned that they hold."""
    return {
        name: typed(batch, name, column, kinds[name], "learned")
        if name in kinds and str(column.type) in TEXT_TYPES
        else column
        for name, column in columns.items()
    }


def value_as_learned(roles: Roles, name: str, value: Any, kinds: Mapping[str, Kind]) -> Any:
    """A value of a record, a text as what a model has learned that its column holds."""
    if not isinstance(value, str) or name not in kinds:
        return value
    return None if value in roles.missing else read_cell(name, value, kinds[name])


def _unmarked(text: Any) -> Any:
    """Cells without the blanks around them, and none that is a mark of a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(text)
    marked = pc.is_in(pc.utf8_lower(trimmed), pa.array(sorted(MARKS), trimmed.type))
    return pc.if_else(marked, pa.scalar(None, trimmed.type), trimmed)


def _arrow_type(kind: Kind) -> Any:
    import pyarrow as pa

    kinds = {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}
    return kinds[kind]


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_cell(name: str, text: str, kind: Kind) -> Any:
    """One cell as what its column holds; None if it is missing."""
    cell = text.strip()
    if kind == "text":
        return text
    if cell.lower() in MARKS:
        return None
    try:
        if kind == "date":
            return datetime.fromisoformat(cell)
        if "_" in cell:  # which Python alone reads
            raise ValueError(cell)
        return _BOOLEANS[cell.lower()] if kind == "boolean" else float(cell)
    except (KeyError, ValueError):
        raise DataError(f"{text!r} is not {_EXPECTED[kind]}", field=name) from None


# -- what may not be meant -------------------------------------------------------------------------


class FirstRecords:
    """Looks at the first records of JSON, or dicts, and warns of texts in them as of a column's."""

    def __init__(self, roles: Roles) -> None:
        self._roles, self._rows = roles, 0
        self._texts: dict[str, list[str]] = {}
        self._numbers: Counter[str] = Counter()

    def look_at(self, record: Mapping[str, Any]) -> None:
        """One more record, if they are not enough."""
        self._rows += 1
        for name, value in record.items() if self._rows <= _FIRST_RECORDS else ():
            if isinstance(value, str):
                if self._roles.is_plain(name) and value not in self._roles.missing:
                    self._texts.setdefault(name, []).append(value)
            elif isinstance(value, int | float) and value == value:
                self._numbers[name] += 1

    def warn(self, source: str | None) -> None:
        """To be called when there are no more."""
        with contextlib.suppress(ImportError):  # without pyarrow rows are read all the same
            import pyarrow as pa

            for name, texts in self._texts.items():
                warn_of_texts(source, name, pa.array(texts), self._numbers[name])


def warn_of_zeros(source: str | None, name: str, text: Any) -> None:
    """Warn of cells read as numbers that have zeros before them, as codes do."""
    import pyarrow.compute as pc

    stated = text.drop_null()
    codes = stated.filter(pc.match_substring_regex(stated, _WITH_ZEROS))
    if len(stated) >= _ENOUGH and len(codes):
        problem = (
            f"{len(codes):,} of {len(stated):,} values begin with 0, such as "
            f"{codes[0].as_py()[:40]!r}, as codes do: all were read as numbers"
        )
        ways = {"categories": name, "numeric": name}
        warn_user(ReadingWarning(source, name, problem, ways))


def warn_of_texts(source: str | None, name: str, text: Any, beside: int = 0) -> None:
    """Warn of texts read as categories that are nearly all numbers or dates, or all different.

    `beside` them the column has so many values that are numbers.
    """
    import pyarrow.compute as pc

    stated = text.drop_null()
    if len(stated) + beside < _ENOUGH or not len(stated):
        return
    if beside:
        if beside >= len(stated):
            first = stated[0].as_py()
            problem = (
                f"{beside:,} of {len(stated) + beside:,} values are numbers, but {first[:40]!r} is "
                "a text: texts were read as categories"
            )
            warn_user(ReadingWarning(source, name, problem, {"missing": first, "categories": name}))
        return
    is_number = pc.match_substring_regex(stated, _NUMBER)
    numbers = pc.sum(is_number).as_py()
    with_commas = stated.filter(pc.match_substring_regex(stated, _WITH_COMMAS))
    dates = stated.filter(pc.match_substring_regex(stated, _OTHER_DATE))
    different = pc.count_distinct(stated).as_py()
    others = stated.filter(pc.invert(is_number))
    # Different numbers, and one text for those that are not known.
    has_mark = different > _ENOUGH and pc.count_distinct(others).as_py() == 1
    ways: dict[str, str] = {}
    if len(with_commas) and numbers + len(with_commas) >= _NEARLY * len(stated):
        problem = (
            f"{len(with_commas):,} of {len(stated):,} values are numbers with commas, such as "
            f"{with_commas[0].as_py()[:40]!r}: all were read as categories; write numbers without "
            "separators of thousands and with a decimal point"
        )
    elif len(dates) >= _NEARLY * len(stated):
        other = next((d for d in dates.to_pylist() if not _is_date(d)), None)
        shown = (other or dates[0].as_py())[:40]
        problem = (
            f"{len(dates):,} of {len(stated):,} values look like dates, such as {shown!r}: all "
            f"were read as categories; {_AS_DATES if other else _ARE_TEXTS}"
        )
    elif (0.5 if has_mark else _NEARLY) * len(stated) <= numbers < len(stated):
        other = others[0].as_py()
        problem = (
            f"{numbers:,} of {len(stated):,} values are numbers, but {other[:40]!r} is none: all "
            "were read as categories"
        )
        ways = {"missing": other, "categories": name}
    elif numbers == len(stated) and different >= len(stated) / 2:  # else they may be codes
        problem = (
            f"all {numbers:,} values are numbers written as texts, such as {stated[0].as_py()!r}: "
            "read as categories; make the column one of numbers"
        )
        ways = {"categories": name}
    elif different >= _NEARLY * len(stated) and numbers < len(stated):
        problem = (
            f"{different:,} of {len(stated):,} values are different: read as categories, they say "
            "nothing about rows to come"
        )
        ways = {"text": name, "drop": name}
    else:
        return
    warn_user(ReadingWarning(source, name, problem, ways))


def _is_date(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.strip()).tzinfo is None
    except ValueError:
        return False
