"""Boxes: the quartiles of groups of values, side by side."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from yarrow.lazy import np
from yarrow.report.figures.axes import Axis, NamedRows
from yarrow.report.figures.drawing import Box, Figure
from yarrow.report.figures.style import COLOURS


def boxes(
    groups: Mapping[str, Sequence[float]],
    *,
    title: str,
    x: Axis,
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
    return drawing.figure(title, words)


def _finite(groups: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return {
        name: [float(value) for value in values if math.isfinite(value)]
        for name, values in groups.items()
    }
