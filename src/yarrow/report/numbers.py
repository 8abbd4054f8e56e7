"""Numbers as people read them."""

from __future__ import annotations

import math

_MINUS = "\N{MINUS SIGN}"
#: where there is no number
NOTHING = "\N{EN DASH}"


def count(value: float) -> str:
    """A whole number with thousands marks.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{round(value):,}".replace("-", _MINUS)


def percent(share: float, digits: int = 2) -> str:
    """A share of 1 in percent.

    >>> percent(0.02063)
    '2.06 %'
    """
    return significant(math.nan) if math.isnan(share) else f"{decimal(100 * share, digits)} %"


def significant(value: float, digits: int = 3) -> str:
    """So many digits that count, with thousands marks and without a tail of zeros.

    >>> significant(0.00012345), significant(12345.6), significant(0.5), significant(1e15)
    ('0.000123', '12,346', '0.5', '1e15')
    """
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else _MINUS + "∞"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size < -6 or size > 14:
        text = f"{value:.{digits}g}".replace("e-0", "e-").replace("e+", "e").replace("e0", "e")
        return text.replace("-", _MINUS)
    text = f"{value:,.{max(0, digits - 1 - size)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", _MINUS)


def decimal(value: float, digits: int) -> str:
    """So many digits after the point, with thousands marks; never a negative zero.

    >>> decimal(-0.0001, 2), decimal(1234.5, 1)
    ('0.00', '1,234.5')
    """
    text = f"{value:,.{digits}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", _MINUS)


def short(value: float) -> str:
    """A count in little room.

    >>> short(950), short(45312), short(1234567), short(3e9)
    ('950', '45.3k', '1.23M', '3G')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return significant(value / unit) + letter
    return count(value)


def duration(seconds: float) -> str:
    """A span of time in the unit that fits.

    >>> duration(0.00042), duration(0.25), duration(7.5), duration(754)
    ('420 µs', '250 ms', '7.5 s', '12 min 34 s')
    """
    if math.isnan(seconds):
        return NOTHING
    if seconds < 1e-3:
        return f"{significant(1e6 * seconds)} µs"
    if seconds < 1:
        return f"{significant(1000 * seconds)} ms"
    if seconds < 60:
        return f"{significant(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
