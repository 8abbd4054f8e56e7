"""Every error Yarrow raises on purpose.

All of them are `YarrowError`, hence `ValueError`, and their text is one sentence that names the
place: catch `YarrowError` to catch whatever a user's input can cause.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import NoReturn


class YarrowError(ValueError):
    """The base of all errors of this package."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_readable(message))


def _readable(message: str) -> str:
    """A message without its middle, if it repeats so much of a file that nobody would read it."""
    return message if len(message) <= 3000 else f"{message[:2000]} ... {message[-500:]}"


class ParameterError(YarrowError, TypeError):
    """A parameter has a value or a type that is not allowed."""

    @classmethod
    def of(cls, name: str, value: object, allowed: str) -> ParameterError:
        """The error of a parameter that has this value, and not what is allowed."""
        return cls(f"The {name!r} parameter must be {allowed}. Got {value!r} instead.")


class DataError(YarrowError):
    """Input that cannot be learned from: broken, missing, not finite, or of the wrong shape.

    Parameters
    ----------
    problem : what is wrong, as a sentence without its place
    source : the file or stream, as the user named it
    line : of a text file, counted from 1 as editors do
    row : of an array, a frame or a Parquet file, counted from 0 as numpy and pandas do
    field : the column, feature or field

    Examples
    --------
    >>> raise DataError("'ten' is not a number", source="a.csv", line=7, field="age")
    Traceback (most recent call last):
    yarrow.errors.DataError: a.csv, line 7, field 'age': 'ten' is not a number
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str | None = None,
        line: int | None = None,
        row: int | None = None,
        field: str | int | None = None,
    ) -> None:
        place = (
            source,
            None if line is None else f"line {line}",
            None if row is None else f"row {row}",
            None if field is None else f"field {field!r}",
        )
        where = ", ".join(part for part in place if part is not None)
        super().__init__(f"{where}: {problem}" if where else problem)
        self.problem, self.source, self.line = problem, source, line
        self.row, self.field = row, field


class DataTypeError(DataError, TypeError):
    """Input of a type that no number can be made of."""


class ModelFileError(YarrowError):
    """A model file that is not one, is damaged, or is newer than this version of Yarrow."""


class OtherModelError(ModelFileError, ParameterError):
    """A file holds a model of another class than the one that was asked to load it."""


class NotFittedError(YarrowError, AttributeError):
    """A model that has learned nothing yet was asked for a result."""


class MissingDependencyError(YarrowError, ImportError):
    """An optional package is needed and is not installed."""


class ReadingWarning(UserWarning):
    """A column was read in a way that may not be meant; what to say instead, by option."""

    def __init__(
        self, source: str | None, column: str, problem: str, ways: Mapping[str, str] | None = None
    ) -> None:
        """`ways`: options of `read_table` with a value for each, and what they are for."""
        super().__init__(source, column, problem, ways)
        self.place = ", ".join(part for part in (source, f"column {column!r}") if part)
        self.problem, self.ways = problem, ways or {}
        self._of_frame = source is None

    def __str__(self) -> str:
        ways = [f"{option}=[{value!r}]" for option, value in self.ways.items()]
        if self._of_frame and ways:
            ways[-1] += " to yarrow.features.Columns"
        return self._said(ways)

    def on_command_line(self) -> str:
        """The same with the options of the commands."""
        import shlex

        def word(option: str, value: str) -> str:
            if option != "missing" and {",", '"'} & set(value):  # in a list of columns
                value = '"' + value.replace('"', '""') + '"'
            return shlex.quote(value)

        return self._said(
            f"--{'category' if option == 'categories' else option} {word(option, value)}"
            for option, value in self.ways.items()
        )

    def _said(self, ways: Iterable[str]) -> str:
        say = " or ".join(ways)
        return f"{self.place}: {self.problem}{say and f'; say {say}'}."


class UnknownFeaturesWarning(UserWarning):
    """No feature of the rows is known to the model, which has learned others."""

    def __init__(
        self,
        of_rows: Iterable[object],
        of_model: Iterable[object],
        place: str = "",
        so_that: str = "so that it says the same of all",
    ) -> None:
        rows, model = (first_of(map(repr, names), 3) for names in (of_rows, of_model))
        super().__init__(
            f"{place}{': ' if place else ''}no feature of the rows is known to the model, {so_that}"
            f": they have {rows}, and it knows {model or 'none'}."
        )


def warn_user(warning: Warning) -> None:
    """Warn at the line that called the package, however deep in it this is known."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def _is_inside(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "yarrow"


class about_row:
    """Say which row an error is about, if it is one of several. (A generator would be slow.)"""

    __slots__ = ("place",)

    def __init__(self, place: int | None) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, DataError) and self.place is not None:
            raise type(error)(error.problem, row=self.place, field=error.field) from None


def check_value(holds: bool, name: str, value: object, allowed: str) -> None:
    """Refuse the value of a parameter, unless it holds what is asked."""
    if not holds:
        raise ParameterError.of(name, value, allowed)


def check_choice(name: str, value: object, options: Iterable[str]) -> None:
    """Refuse the value of a parameter that is none of a few words."""
    words = list(options)
    check_value(value in words, name, value, f"one of {', '.join(words)}")


def first_of(items: Iterable[object], most: int = 20) -> str:
    """The first of some names, and how many more there are.

    >>> first_of("abc", 2)
    'a, b and 1 more'
    """
    words = [str(item) for item in items]
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def counted(number: int, thing: str, things: str = "") -> str:
    """How many things there are.

    >>> counted(1, "row"), counted(1000, "row"), counted(2, "class", "classes")
    ('1 row', '1,000 rows', '2 classes')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def not_fitted(estimator: object) -> NoReturn:
    """Raise `NotFittedError` for `estimator`.

    Where scikit-learn is in use the error is also an instance of its own `NotFittedError`, which
    its tools catch; scikit-learn is never imported for that.
    """
    name = type(estimator).__name__
    raise _not_fitted_class("sklearn.exceptions" in sys.modules)(
        f"This {name} instance is not fitted yet: call 'fit', 'partial_fit' or 'learn_one' first."
    )


@functools.cache
def _not_fitted_class(with_sklearn: bool) -> type[NotFittedError]:
    if not with_sklearn:
        return NotFittedError
    from sklearn.exceptions import NotFittedError as SklearnNotFittedError

    return type("NotFittedError", (NotFittedError, SklearnNotFittedError), {})


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What a misspelt word may have meant, in brackets; nothing if no known one is close.

    >>> did_you_mean("arrow", ["arow", "pa"]), did_you_mean("svm", ["arow", "pa"])
    (' (did you mean arow?)', '')
    """
    import difflib

    alike = difflib.get_close_matches(word, known, n=1, cutoff=0.7)
    return f" (did you mean {alike[0]}?)" if alike else ""


@contextlib.contextmanager
def needing(package: str | None, purpose: str, extra: str = "formats") -> Iterator[None]:
    """Say how to install what the imports inside do not find: `package`, or what it was."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"{purpose} needs the package {package or error.name}: "
            f"pip install 'yarrow-learn[{extra}]'"
        ) from error
