"""Grouped bars, and boxes by group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from yarrow.errors import ParameterError
from yarrow.lazy import np
from yarrow.report.figures.axes import Axis, NamedRows, Scale, draw_left_axis, left_room
from yarrow.report.figures.drawing import Box, Drawing, Figure, fitted, text_width
from yarrow.report.figures.style import COLOURS


def bars(
    groups: Sequence[str],
    values: Mapping[str, Sequence[float]],
    *,
    title: str,
    y: Axis,
    intervals: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    description: str = "",
    width: float = 760,
    height: float = 360,
) -> Figure:
    """A bar for each group and series: `values` has for each series a value a group.

    `intervals` are (low, high) of some or all series, drawn as whiskers. Bars start at 0.

    >>> figure = bars(["0 %", "10 %"], {"paper": [0.9, 0.8], "ours": [0.91, 0.82]},
    ...     title="Accuracy under noise", y=Axis("accuracy", percent=True))
    >>> figure.description
    'accuracy. paper: 0 % 90.00 %, 10 % 80.00 %. ours: 0 % 91.00 %, 10 % 82.00 %.'
    """
    for name, row in values.items():
        if len(row) != len(groups):
            raise ParameterError(f"{name!r} has {len(row)} values for {len(groups)} groups")
    intervals = intervals or {}
    drawing = Drawing(width, height)
    bottom = _legend(drawing, list(values))
    heights = [0.0, *(value for row in values.values() for value in row)]
    heights += [end for row in intervals.values() for pair in row for end in pair]
    heights = [value for value in heights if math.isfinite(value)]
    from_zero = replace(y, low=0.0) if min(heights) >= 0 and y.low is None else y
    vertical = Scale(from_zero, heights, height - 40, bottom + 30).widened()
    frame = Box(left_room(vertical), bottom + 30, width - 12, height - 40)
    draw_left_axis(drawing, frame, vertical)
    room = (frame.right - frame.left) / max(1, len(groups))
    thick = 0.78 * room / max(1, len(values))
    form = y.text
    for g, group in enumerate(groups):
        middle = frame.left + room * (g + 0.5)
        drawing.text(
            (middle, frame.bottom + 18),
            fitted(group, room - 6, 11.5),
            size=11.5,
            anchor="middle",
            tip=group,
        )
        for s, (name, row) in enumerate(values.items()):
            value = row[g]
            if not math.isfinite(value):
                continue
            x = middle - 0.39 * room + thick * s
            upper, lower = sorted((vertical(value), vertical(0.0)))
            tip = f"{group}, {name}: {form(value)}"
            drawing.rect(Box(x + 1, upper, x + thick - 1, lower), f"bar s{s % COLOURS}", tip=tip)
            top = upper
            if name in intervals:
                low, high = (vertical(end) for end in intervals[name][g])
                drawing.line((x + 0.5 * thick, low), (x + 0.5 * thick, high), "mark")
                top = min(top, high)
            text = form(value)
            if value >= 0 and text_width(text, 10) < thick - 2:
                at = (x + 0.5 * thick, top - 4)
                drawing.text(at, text, size=10, anchor="middle", look="soft")
    said = ". ".join(
        f"{name}: " + ", ".join(f"{g} {form(v)}" for g, v in zip(groups, row, strict=True))
        for name, row in values.items()
    )
    return drawing.figure(title, description or f"{y.label}. {said}.")


def boxes(
    groups: Mapping[str, Sequence[float]],
    *,
    title: str,
    x: Axis,
    description: str = "",
    width: float = 760,
) -> Figure:
    """Quartiles of each group, whiskers to the last value within 1.5 boxes, others as dots.

    >>> figure = boxes({"AROW": [1, 2, 3, 4, 5]}, title="Mistakes", x=Axis("mistakes"))
    >>> figure.description
    'mistakes; median and quartiles: AROW 3 (2 to 4).'
    """
    kept = _finite(groups)
    chart = NamedRows(list(kept), x, itertools.chain(*kept.values()), width=width, height=34)
    drawing, scale, form, said = chart.drawing, chart.scale, x.text, []
    for i, (name, values) in enumerate(kept.items()):
        y = chart.frame.top + chart.height * (i + 0.5)
        chart.name(name, y + 4)
        if not values:
            continue
        first, middle, third = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
        reach = 1.5 * (third - first)
        inside = [value for value in values if first - reach <= value <= third + reach]
        look, tip = f"s{i % COLOURS}", f"{name} {form(middle)} ({form(first)} to {form(third)})"
        said.append(tip)
        for start, end in ((min(inside), first), (third, max(inside))):
            drawing.line((scale(start), y), (scale(end), y), "mark")
        drawing.rect(Box(scale(first), y - 9, scale(third), y + 9), f"box {look}", tip=tip)
        drawing.polyline([(scale(middle), y - 9), (scale(middle), y + 9)], f"curve {look}")
        for value in values:
            if value < min(inside) or value > max(inside):
                drawing.circle((scale(value), y), 3, f"dot {look}", f"{name}: {form(value)}")
    words = f"{x.label}; median and quartiles: {', '.join(said)}."
    return drawing.figure(title, description or words)


def _finite(groups: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return {
        name: [float(value) for value in values if math.isfinite(value)]
        for name, values in groups.items()
    }


def _legend(drawing: Drawing, names: Sequence[str]) -> float:
    """Names with their colours, in lines above the chart; returns where they end."""
    x, y = 12.0, 16.0
    for i, name in enumerate(names):
        shown = fitted(name, 220, 11.5)
        if x > 12 and x + 20 + text_width(shown, 11.5) > drawing.width:
            x, y = 12.0, y + 18
        drawing.rect(Box(x, y - 9, x + 10, y + 1), f"bar s{i % COLOURS}")
        drawing.text((x + 15, y), shown, size=11.5, tip=name)
        x += 33 + text_width(shown, 11.5)
    return y
