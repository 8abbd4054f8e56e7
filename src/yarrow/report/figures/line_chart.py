"""Line charts: several series, each named at its end."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from yarrow.report.figures.axes import Axis, Plane, drawable
from yarrow.report.figures.drawing import Figure, fitted, text_width
from yarrow.report.figures.labels import spread
from yarrow.report.figures.style import COLOURS

_DASHES = ("", "7 3", "2 3")
_LABEL_GAP = 15.5


@dataclass(frozen=True)
class Series:
    """A line.

    Parameters
    ----------
    name : its label; also what the pointer shows
    points : (x, y), x growing
    quiet : thin, grey and without a label: context for the others
    strong : thicker, its label bold
    plain : thin and dashed, in the colour of the text: a baseline
    colour : which colour of the palette; the next one without it
    """

    name: str
    points: Sequence[tuple[float, float]]
    quiet: bool = False
    strong: bool = False
    plain: bool = False
    colour: int | None = None


def lines(
    series: Sequence[Series],
    *,
    title: str,
    x: Axis,
    y: Axis,
    width: float = 760,
    height: float = 400,
    marks: bool = False,
) -> Figure:
    """Several lines with their names at their ends; `marks` draws the points too.

    Values that are not finite, or not above 0 on a logarithmic axis, are left out.

    >>> figure = lines(
    ...     [Series("AROW", [(1, 0.5), (100, 0.1)]), Series("PA", [(1, 0.5), (100, 0.2)])],
    ...     title="Error", x=Axis("rows", log=True), y=Axis("error so far", percent=True))
    >>> figure.standalone().startswith("<svg")
    True
    """
    series = _coloured(
        [replace(s, points=[p for p in s.points if drawable(*p, x, y)]) for s in series]
    )
    named = [line for line in series if line.points and not line.quiet]
    most = max(1, int((height - 80) / _LABEL_GAP))
    named = named[:most]  # the first ones matter most; the others keep their lines
    room = max(
        60.0,
        min(
            0.3 * width,
            max((text_width(line.name, strong=line.strong) for line in named), default=0),
        ),
    )
    names = [fitted(line.name, room, strong=line.strong) for line in named]

    points = [point for line in series for point in line.points]
    right = room + 32 if named else 16
    plane = Plane(points, x, y, width=width, height=height, air=(0.0, 0.05), right=right)
    drawing, frame = plane.drawing, plane.frame
    with drawing.clipped(frame):
        for line in sorted(series, key=lambda line: (not line.quiet, line.strong)):
            _draw_line(plane, line, marks)
    ends = [plane(line.points[-1]) for line in named]
    ends = [(at, min(max(value, frame.top), frame.bottom)) for at, value in ends]
    heights = spread([at for _, at in ends], _LABEL_GAP, frame.top, frame.bottom)
    for line, name, end, at in zip(named, names, ends, heights, strict=True):
        start = frame.right + 22
        drawing.polyline(
            [end, (frame.right + 6, end[1]), (start - 6, at), (start - 2, at)],
            f"leader {_look(line)}",
        )
        look = "strong" if line.strong else ""
        tip = line.name if name != line.name else ""
        drawing.text((start + 1, at + 4), name, look=look, tip=tip)
    return drawing.figure(title, _described(named, x, y), _plot(plane))


def _coloured(series: Sequence[Series]) -> list[Series]:
    """Give the next colour to each that has none of its own."""
    free = itertools.count()
    return [
        line
        if line.quiet or line.plain or line.colour is not None
        else replace(line, colour=next(free))
        for line in series
    ]


def _look(line: Series) -> str:
    if line.quiet:
        return "sq"
    return "si" if line.plain or line.colour is None else f"s{line.colour % COLOURS}"


def _draw_line(plane: Plane, line: Series, marks: bool) -> None:
    look = _look(line)
    points = list(map(plane, line.points))
    weight = "thin" if line.quiet or line.plain else "thick" if line.strong else ""
    dashes = "5 4" if line.plain else ""
    if not dashes and line.colour is not None:
        dashes = _DASHES[line.colour // COLOURS % len(_DASHES)]
    plane.drawing.polyline(points, f"curve {weight} {look}", dashes=dashes, tip=line.name)
    if marks or len(points) == 1:
        for point in points:
            plane.drawing.circle(point, 3.5, f"dot {look}")


def _described(named: Sequence[Series], x: Axis, y: Axis) -> str:
    """Each line's last value, in words."""
    ends = [f"{line.name} {y.text(line.points[-1][1])}" for line in named]
    return f"{y.label} against {x.label}; at the end: {', '.join(ends)}." if ends else y.label


def _plot(plane: Plane) -> str:
    """Frame and scales for a script, rounded as the drawing is."""
    frame, x, y = plane.frame, plane.x, plane.y
    told = {
        "frame": [round(end, 1) for end in (frame.left, frame.top, frame.right, frame.bottom)],
        "x": [x.low, x.high, x.axis.log],
        "y": [y.low, y.high, y.axis.log],
        "word": x.axis.label,
        "percent": y.axis.percent,
    }
    return json.dumps(told)


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
    diagonal = Series("perfectly calibrated", [(low, low), (1, 1)], plain=True)
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
