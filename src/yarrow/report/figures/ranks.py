"""Mean ranks with their critical difference (Demsar 2006), and differences with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from yarrow.errors import ParameterError
from yarrow.evaluate.ranks import tied_groups
from yarrow.report import numbers
from yarrow.report.figures.axes import Axis, NamedRows, Scale
from yarrow.report.figures.drawing import Drawing, Figure, fitted, text_width

_ROW = 18.0


def rank_diagram(
    names: Sequence[str],
    mean_ranks: Sequence[float],
    critical_difference: float,
    *,
    title: str = "Mean ranks",
    strong: str = "",
    width: float = 760,
) -> Figure:
    """Mean ranks on a line, 1 is best; a bar joins those that the data do not tell apart.

    >>> figure = rank_diagram(["AROW", "PA", "SGD"], [1.2, 2.1, 2.7], 1.0)
    >>> figure.description
    'Mean ranks, 1 is best, critical difference 1.00: AROW 1.20, PA 2.10, SGD 2.70.'
    """
    if len(names) != len(mean_ranks):
        raise ParameterError(f"there are {len(names)} names and {len(mean_ranks)} mean ranks")
    order = sorted(range(len(names)), key=lambda i: mean_ranks[i])
    ranks = [mean_ranks[i] for i in order]
    half = (len(order) + 1) // 2
    side = min(0.3 * width, 48 + max((text_width(name, 12, True) for name in names), default=0))
    # Of many learners only the first may be shown, with ranks among all of them.
    highest = math.ceil(max([2, len(names), 1 + critical_difference, *ranks]))
    axis = Axis("mean rank", low=1.0, high=float(highest))
    scale = Scale(axis, [], side + 14, width - side - 14)
    groups = tied_groups(ranks, critical_difference)
    levels = _levels([(scale(ranks[i]), scale(ranks[j])) for i, j in groups])
    bars = 12 + 7 * (1 + max((level for *_, level in levels), default=-1))
    top = 74.0
    drawing = Drawing(width, top + bars + _ROW * half + 12)

    drawing.line((scale.start, top), (scale.end, top), "axis")
    step = max(1, round(highest / 12))
    for rank in range(1, highest + 1):
        drawing.line((scale(rank), top), (scale(rank), top - 6), "axis")
        if (rank - 1) % step == 0:
            at = (scale(rank), top - 11)
            drawing.text(at, str(rank), size=11.5, anchor="middle", look="soft")
    _draw_critical_difference(drawing, scale, critical_difference)
    for first, last, level in levels:
        y = top + 10 + 7 * level
        drawing.polyline([(first - 4, y), (last + 4, y)], "curve thick si", tip="not told apart")
    for place, i in enumerate(order):
        left = place < half
        row = place if left else len(order) - 1 - place
        y = top + bars + _ROW * row + 6
        x, end = scale(ranks[place]), side if left else width - side
        drawing.polyline([(x, top), (x, y), (end, y)], "axis")
        bold = names[i] == strong
        name = fitted(names[i], side - 48, strong=bold)
        look = "strong" if bold else ""
        value = numbers.decimal(ranks[place], 2)
        if left:
            drawing.text((end - 6, y + 4), value, size=11, anchor="end", look="soft")
            drawing.text((end - 42, y + 4), name, anchor="end", look=look, tip=names[i])
        else:
            drawing.text((end + 6, y + 4), value, size=11, look="soft")
            drawing.text((end + 42, y + 4), name, look=look, tip=names[i])
    said = ", ".join(f"{names[i]} {mean_ranks[i]:.2f}" for i in order)
    words = f"Mean ranks, 1 is best, critical difference {critical_difference:.2f}: {said}."
    return drawing.figure(title, words)


def _levels(bars: Sequence[tuple[float, float]]) -> list[tuple[float, float, int]]:
    """Stack bars that would touch."""
    ends: list[float] = []
    answer = []
    for first, last in bars:
        level = next((k for k, end in enumerate(ends) if end + 16 < first), len(ends))
        ends[level : level + 1] = [last]
        answer.append((first, last, level))
    return answer


def _draw_critical_difference(drawing: Drawing, scale: Scale, difference: float) -> None:
    text = f"critical difference {numbers.decimal(difference, 2)}"
    end = scale(1 + difference)
    for x in (scale.start, end):
        drawing.line((x, 26), (x, 34), "mark")
    drawing.line((scale.start, 30), (end, 30), "mark")
    drawing.text((scale.start, 18), text, size=11.5)


@dataclass(frozen=True)
class Difference:
    """A difference with its interval."""

    name: str
    value: float
    low: float
    high: float
    note: str = ""


def differences(
    items: Sequence[Difference],
    *,
    title: str,
    axis: Axis,
    width: float = 760,
) -> Figure:
    """Differences with their intervals, one a line, around zero.

    >>> figure = differences([Difference("PA", 0.01, 0.002, 0.018)], title="Rivals",
    ...     axis=Axis("more errors than AROW", percent=True))
    >>> figure.description
    'more errors than AROW: PA 1.00 % (0.20 % to 1.80 %).'
    """
    ends = [0.0, *(value for item in items for value in (item.low, item.high))]
    right = 24 + max((text_width(item.note, 11) for item in items), default=0)
    names = [item.name for item in items]
    chart = NamedRows(names, axis, ends, width=width, height=24, share=0.34, right=right, air=0.06)
    drawing, frame, scale = chart.drawing, chart.frame, chart.scale
    drawing.line((scale(0), frame.top), (scale(0), frame.bottom), "mark")
    said = []
    for i, item in enumerate(items):
        y = frame.top + chart.height * (i + 0.5) + 3
        clear = item.low > 0 or item.high < 0
        look = "s0" if clear else "sq"
        words = f"{item.name} {axis.text(item.value)}"
        words += f" ({axis.text(item.low)} to {axis.text(item.high)})"
        said.append(words)
        drawing.polyline([(scale(item.low), y), (scale(item.high), y)], f"curve {look}", tip=words)
        drawing.circle((scale(item.value), y), 5, f"dot {look}", words)
        chart.name(item.name, y + 4)
        drawing.text((frame.right + 12, y + 4), item.note, size=11, look="soft")
    return drawing.figure(title, f"{axis.label}: {'; '.join(said)}.")
