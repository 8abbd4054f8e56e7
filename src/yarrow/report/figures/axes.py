"""Scales, ticks and the frame around a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from yarrow.errors import ParameterError
from yarrow.report import numbers
from yarrow.report.figures.drawing import Box, Drawing, Point, fitted, text_width

TICK_SIZE = 11.5
LABEL_SIZE = 12.5


@dataclass(frozen=True)
class Axis:
    """What an axis shows.

    Parameters
    ----------
    label : what is measured, with its unit
    log : a logarithmic axis; values must be above 0
    percent : values are shares of 1, shown in percent
    low, high : the ends; the data's own without them
    form : how a tick is written, if not as a number
    """

    label: str
    log: bool = False
    percent: bool = False
    low: float | None = None
    high: float | None = None
    form: Callable[[float], str] | None = None

    def text(self, value: float, digits: int | None = None) -> str:
        """`value` as it is read; `digits` after the point, else as many as say something."""
        if self.form is not None:
            return self.form(value)
        if self.percent:
            return numbers.percent(value, 2 if digits is None else digits)
        return numbers.significant(value) if digits is None else numbers.decimal(value, digits)


def drawable(across: float, up: float, x: Axis, y: Axis) -> bool:
    """Whether a point has a place on these axes."""
    there = ((across, x), (up, y))
    return all(math.isfinite(value) and (value > 0 or not axis.log) for value, axis in there)


class Scale:
    """Values of an axis to pixels."""

    def __init__(self, axis: Axis, values: Iterable[float], start: float, end: float) -> None:
        self.axis, self.start, self.end = axis, start, end
        finite = [value for value in values if math.isfinite(value)]
        if axis.log and any(value <= 0 for value in finite):
            raise ParameterError(f"the logarithmic axis {axis.label!r} has a value that is not > 0")
        low = axis.low if axis.low is not None else min(finite, default=1.0)
        high = axis.high if axis.high is not None else max(finite, default=low)
        if low == high:
            spare = 0.5 * abs(low) or 0.5
            low, high = (low / 2, high * 2) if axis.log else (low - spare, high + spare)
        self.low, self.high = low, high

    def __call__(self, value: float) -> float:
        """Where `value` is drawn."""
        return self.start + (self.end - self.start) * self._share(value)

    def _share(self, value: float) -> float:
        if self.axis.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def widened(self, share: float = 0.05) -> Scale:
        """Give the data some air at the ends that the axis does not fix."""
        low, high = self.low, self.high
        if self.axis.log:
            factor = (high / low) ** share
            ends = low / factor, high * factor
        else:
            ends = low - share * (high - low), high + share * (high - low)
        self.low = low if self.axis.low is not None else ends[0]
        self.high = high if self.axis.high is not None else ends[1]
        return self

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Round values inside the axis, with their texts."""
        if self.axis.log:
            values = _log_ticks(self.low, self.high, most)
            # Each has digits of its own.
            as_share = self.axis.percent and self.axis.form is None
            text = (lambda v: f"{numbers.significant(100 * v)} %") if as_share else self.axis.text
            return [(value, text(value)) for value in values]
        unit = 100.0 if self.axis.percent else 1.0
        step = _round_step((self.high - self.low) * unit / most)
        first, last = math.ceil(self.low * unit / step - 1e-9), self.high * unit / step + 1e-9
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        if step * 10**digits % 1 > 1e-9:  # 2.5
            digits += 1
        values = [k * step / unit for k in range(first, math.floor(last) + 1)]
        return [(value, self.axis.text(value, digits)) for value in values]


def _round_step(step: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= step * (1 - 1e-9))


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found: list[float] = []
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 4, 5, 6, 7, 8, 9)):
        values = [k * 10.0**e for e in range(first, last + 1) for k in digits]
        inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(inside) > most:
            found = found or inside[:: math.ceil(len(inside) / most)]
            break
        found = inside
        if len(found) >= 3:
            break
    if len(found) > 1:
        return found
    # less than a factor of two: round steps, as on a linear axis
    step = _round_step((high - low) / most)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


class Plane:
    """A chart of values against values, with its axes; points are placed by calling it.

    `air` is what the scales are widened by; `top` and `right` are left free around the frame.
    """

    def __init__(
        self,
        points: Sequence[Point],
        x: Axis,
        y: Axis,
        *,
        width: float,
        height: float,
        air: tuple[float, float],
        top: float = 34,
        right: float = 16,
    ) -> None:
        self.drawing = Drawing(width, height)
        self.y = Scale(y, [value for _, value in points], height - 50, top).widened(air[1])
        ticks = self.y.ticks(_most_ticks(self.y, 48))
        left = 12 + max((text_width(text, TICK_SIZE) for _, text in ticks), default=0)
        self.frame = Box(left, top, width - right, height - 50)
        across = [at for at, _ in points]
        self.x = Scale(x, across, self.frame.left, self.frame.right)
        if air[0]:
            self.x.widened(air[0])
        draw_bottom_axis(self.drawing, self.frame, self.x)
        draw_left_axis(self.drawing, self.frame, self.y, ticks)

    def __call__(self, point: Point) -> Point:
        """Where a point is drawn."""
        return self.x(point[0]), self.y(point[1])


def draw_bottom_axis(drawing: Drawing, frame: Box, x: Scale, *, rules: bool = False) -> None:
    """Ticks (or rules across the frame) and the label; texts that would touch are left out."""
    end = -math.inf
    most = _most_ticks(x, 64)
    # Round steps may leave one tick, from which nobody can read a scale: more, while they fit.
    ways = [x.ticks(n) for n in range(most, most + 4)]
    for value, text in max([ways[0], *(ticks for ticks in ways[1:] if _fit(x, ticks))], key=len):
        at, half = x(value), 0.5 * text_width(text, TICK_SIZE)
        if rules:
            drawing.line((at, frame.top), (at, frame.bottom), "rule")
        else:
            drawing.line((at, frame.bottom), (at, frame.bottom + 4), "axis")
        middle = min(max(at, half + 2), drawing.width - half - 2)
        if middle - half > end + 6:
            place = (middle, frame.bottom + 18)
            drawing.text(place, text, size=TICK_SIZE, anchor="middle", look="soft")
            end = middle + half
    drawing.line((frame.left, frame.bottom), (frame.right, frame.bottom), "axis")
    middle = 0.5 * (frame.left + frame.right)
    label = fitted(x.axis.label, 2 * min(middle, drawing.width - middle) - 8, LABEL_SIZE)
    place = (middle, frame.bottom + 38)
    drawing.text(place, label, size=LABEL_SIZE, anchor="middle", tip=x.axis.label)


class NamedRows:
    """A chart of horizontal lines, each with its name at the left, over one axis below.

    The sheet is `height` a row high; names take at most `share` of its width, and `right` is left
    free behind the frame.
    """

    def __init__(
        self,
        names: Sequence[str],
        axis: Axis,
        values: Iterable[float],
        *,
        width: float,
        height: float,
        share: float = 0.3,
        right: float = 24,
        air: float = 0.05,
    ) -> None:
        longest = max((text_width(name) for name in names), default=0)
        self.side, self.height = min(share * width, 14 + longest), height
        self.drawing = Drawing(width, 60 + height * len(names))
        self.frame = Box(self.side, 8, width - right, 12 + height * len(names))
        self.scale = Scale(axis, values, self.frame.left, self.frame.right).widened(air)
        draw_bottom_axis(self.drawing, self.frame, self.scale, rules=True)

    def name(self, text: str, y: float) -> None:
        """Write the name of a line, whose base line is at `y`."""
        shown = fitted(text, self.side - 12)
        self.drawing.text((self.side - 8, y), shown, anchor="end", tip=text)


def _fit(x: Scale, ticks: Sequence[tuple[float, str]]) -> bool:
    """Whether the texts of ticks leave air between them."""
    halves = [0.5 * text_width(text, TICK_SIZE) for _, text in ticks]
    places = [x(value) for value, _ in ticks]
    return all(
        b - a > left + right + 6
        for (a, b), (left, right) in zip(pairwise(places), pairwise(halves), strict=True)
    )


def draw_left_axis(
    drawing: Drawing, frame: Box, y: Scale, ticks: Sequence[tuple[float, str]]
) -> None:
    """Ticks with rules across the frame, and the label above them."""
    for value, text in ticks:
        at = y(value)
        drawing.line((frame.left, at), (frame.right, at), "rule")
        drawing.text((frame.left - 8, at + 4), text, size=TICK_SIZE, anchor="end", look="soft")
    drawing.line((frame.left, frame.bottom), (frame.right, frame.bottom), "axis")
    label = fitted(y.axis.label, drawing.width - frame.left, LABEL_SIZE)
    drawing.text((frame.left - 8, frame.top - 12), label, size=LABEL_SIZE, tip=y.axis.label)


def _most_ticks(scale: Scale, apart: float) -> int:
    return max(2, round(abs(scale.end - scale.start) / apart))
