"""What comes from outside: text that can be stored, times that can be, JSON that can be read.

Half a character (a lone surrogate, as a program writes that cut an emoji in two) fits into no file,
and a NUL into no argument of a program. In what happens, which programs tell, they become U+FFFD:
no event is lost for them (`Event` sees to that). In what a person types, they are refused.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from yarrow.errors import DataError, ParameterError

AHEAD = 600.0
"""Seconds that a source may be ahead of this machine's clock: clocks differ, but not by more."""
END = 253_402_128_000.0
"""The year 9999 ends here, wherever one is: no date has a later time."""
LONGEST = 366 * 86400.0
"""Seconds that anything lasts."""
_DEEPEST = 100  # levels of JSON
_BROKEN = re.compile("[\0\ud800-\udfff]")


def whole(text: str) -> str:
    r"""Text that can be stored: half a character, or a NUL, becomes U+FFFD.

    >>> whole("Party \ud83d").encode()
    b'Party \xef\xbf\xbd'
    """
    if "\0" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            pass
    return _BROKEN.sub("\ufffd", text)


def typed(text: str, what: str) -> str:
    """What a person typed, if it can be stored."""
    if whole(text) != text:
        raise ParameterError(f"{what} has half a character or a NUL in it: {text[:80]!r}.")
    return text


def check_time(time: Any, field: str) -> None:
    """Raise an error unless this is a number of seconds."""
    if not _is_finite(time):
        raise DataError(f"must be a number of seconds since 1970, not {_short(time)}", field=field)


def check_moment(time: Any, now: float, field: str | None = "time") -> float:
    """The time of something that has happened; an error if it cannot have."""
    check_time(time, str(field))
    if not 0 <= time <= now + AHEAD:
        when = "before 1970" if time < 0 else f"more than {AHEAD / 60:.0f} minutes ahead of now"
        raise DataError(
            f"a time is in seconds since 1970 (not milliseconds), and {_short(time)} is {when}",
            field=field,
        )
    return float(time)


def check_duration(duration: Any, field: str | None = "duration") -> float:
    """How long something lasted; an error if it cannot have."""
    if not (_is_finite(duration) and 0 <= duration <= LONGEST):
        raise DataError(
            f"must be a number of seconds, from 0 to a year, not {_short(duration)}", field=field
        )
    return float(duration)


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is larger than all others
        return False


def _short(value: Any) -> str:
    try:
        told = repr(value)
    except ValueError:  # a whole number of more digits than Python prints
        told = "a number of thousands of digits"
    return told if len(told) <= 60 else f"{told[:57]}..."


def read_json(text: str | bytes) -> Any:
    """What a text in JSON says; a ValueError if it is none, or has more levels than anybody needs.

    >>> read_json("[" * 5000 + "]" * 5000)
    Traceback (most recent call last):
    ValueError: more than 100 levels of brackets
    """
    try:
        told = json.loads(text)
    except RecursionError:
        raise ValueError(f"more than {_DEEPEST} levels of brackets") from None
    level = [told]
    for _ in range(_DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return told
    raise ValueError(f"more than {_DEEPEST} levels of brackets")


def as_pattern(text: Any) -> re.Pattern[str]:
    """A regular expression, for any case; a sentence if it is none."""
    if not isinstance(text, str):
        raise ParameterError(f"{text!r} is not a regular expression.")
    try:
        return re.compile(typed(text, "the pattern"), re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise ParameterError(f"{text!r} is not a regular expression: {error}.") from None
