"""Reliability diagrams: how often the more confident predictions are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from yarrow.report.figures.axes import Axis
from yarrow.report.figures.drawing import Figure
from yarrow.report.figures.line_chart import Series, lines


def reliability(
    curves: Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    title: str = "Reliability",
    width: float = 560,
    height: float = 400,
) -> Figure:
    """The share of rows that were right against the confidence, a line each, beside the diagonal.

    `curves` are those of `metrics.CalibrationError`, by name. Below the diagonal confidence is too
    high.

    >>> figure = reliability({"AROW": [(0.6, 0.55, 100), (0.9, 0.93, 300)]})
    >>> figure.standalone().startswith("<svg")
    True
    """
    named = [Series(name, [(c, r) for c, r, _ in curve]) for name, curve in curves.items()]
    low = min((min(point) for series in named for point in series.points), default=0.0)
    diagonal = Series("honest", [(low, low), (1, 1)], plain=True)
    ends = {"percent": True, "low": low, "high": 1.0}
    return lines(
        [*named, diagonal],
        title=title,
        x=Axis("confidence", **ends),  # type: ignore[arg-type]
        y=Axis("right", **ends),  # type: ignore[arg-type]
        width=width,
        height=height,
        marks=True,
    )
