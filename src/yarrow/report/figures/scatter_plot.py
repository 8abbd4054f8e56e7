"""Scatter plots: one value against another, the best trade-offs marked; pairs against y = x."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from yarrow.report.figures.axes import Axis, Plane, drawable
from yarrow.report.figures.drawing import Box, Drawing, Figure, Point, fitted, text_width
from yarrow.report.figures.labels import Wish, placed
from yarrow.report.figures.style import COLOURS

_LABEL_SIZE = 11.5


@dataclass(frozen=True)
class Spot:
    """A point with a name.

    Parameters
    ----------
    name : its label, where there is room; the pointer shows it always
    x, y : where it stands
    group : its shape and colour, named in the legend
    strong : ringed, its label bold and placed first
    """

    name: str
    x: float
    y: float
    group: str = ""
    strong: bool = False


def pareto_front(points: Sequence[tuple[float, float]], higher_y: bool = True) -> list[int]:
    """Those that no other beats in both: no smaller x has a y as good; by growing x.

    >>> pareto_front([(1, 0.5), (2, 0.9), (3, 0.8), (2, 0.7)])
    [0, 1]
    """
    sign = -1 if higher_y else 1
    front: list[int] = []
    for i in sorted(range(len(points)), key=lambda i: (points[i][0], sign * points[i][1])):
        if not front or sign * points[i][1] < sign * points[front[-1]][1]:
            front.append(i)
    return front


def scatter(
    spots: Sequence[Spot],
    *,
    title: str,
    x: Axis,
    y: Axis,
    front: bool = True,
    fits: bool = False,
    higher_y: bool = True,
    width: float = 760,
    height: float = 420,
) -> Figure:
    """Points with names; `front` joins those that no other beats in both (small x, good y).

    `fits` draws the straight line of least squares through each group.

    >>> figure = scatter([Spot("AROW", 900, 0.98), Spot("RDA", 30, 0.95)], title="Size",
    ...     x=Axis("nonzeros", log=True), y=Axis("accuracy", percent=True))
    >>> [text for text, _ in figure.texts][-2:]
    ['AROW', 'RDA']
    """
    spots = [spot for spot in spots if drawable(spot.x, spot.y, x, y)]
    groups = sorted({spot.group for spot in spots})
    points = [(spot.x, spot.y) for spot in spots]
    top = 34 + (24 if len(groups) > 1 else 0)
    plane = Plane(points, x, y, width=width, height=height, air=(0.08, 0.08), top=top)
    drawing = plane.drawing
    if len(groups) > 1:
        _draw_legend(drawing, groups)

    best = pareto_front(points, higher_y) if front else []
    steps = _staircase([plane(points[i]) for i in best])
    if len(best) > 1:
        drawing.polyline(steps, "mark", dashes="3 3", tip="no other is better in both")
    for number, group in enumerate(groups if fits else ()):
        ends = _fit([(spot.x, spot.y) for spot in spots if spot.group == group])
        look = f"curve s{number % COLOURS}"
        drawing.polyline(map(plane, ends), look, tip=f"fit, {group}")
    # those that matter most are drawn last and choose the places of their labels first
    order = sorted(range(len(spots)), key=lambda i: (not spots[i].strong, i not in best))
    centres = [plane(points[i]) for i in order]
    for i, centre in reversed(list(zip(order, centres, strict=True))):
        spot = spots[i]
        tip = _said(spot, x, y)
        _draw_spot(drawing, centre, groups.index(spot.group), tip, 5.5)
        if spot.strong:
            drawing.circle(centre, 9, "ring")
    wishes = []
    for i, centre in zip(order, centres, strict=True):
        name, strong = spots[i].name, spots[i].strong
        text = fitted(name, 0.32 * width, _LABEL_SIZE, strong)
        wishes.append(Wish(centre, text, 11 if strong else 6.5, strong, strong or i in best))
    looks = ["strong" if spots[i].strong else "" if i in best else "soft" for i in order]
    _draw_labels(plane, wishes, looks, [_around(*ends) for ends in pairwise(steps)])
    front_names = ", ".join(spots[i].name for i in best)
    words = f"{y.label} against {x.label}." + (f" Best trade-offs: {front_names}." if best else "")
    return drawing.figure(title, words)


def paired(
    pairs: Sequence[tuple[str, float, float]],
    *,
    title: str,
    x: Axis,
    y: Axis,
    size: float = 440,
) -> Figure:
    """Two values of the same thing against each other, with the line where both are equal.

    `pairs` are (name, x, y): the error of two learners on one set each, say.

    >>> figure = paired([("usps", 0.05, 0.04)], title="CW and AROW", x=Axis("CW"), y=Axis("AROW"))
    >>> "1 below the line, 0 above" in figure.description
    True
    """
    spots = [Spot(name, across, up) for name, across, up in pairs]
    spots = [spot for spot in spots if drawable(spot.x, spot.y, x, y)]
    values = [value for spot in spots for value in (spot.x, spot.y)]
    equal = [(value, value) for value in values]  # both axes show the range of all
    plane = Plane(equal, x, y, width=size, height=size, air=(0.06, 0.06))
    drawing = plane.drawing
    ends = max(plane.x.low, plane.y.low), min(plane.x.high, plane.y.high)
    diagonal = [plane((value, value)) for value in ends]
    drawing.polyline(diagonal, "mark", dashes="4 4", tip="both equal")
    centres = [plane((spot.x, spot.y)) for spot in spots]
    for spot, centre in zip(spots, centres, strict=True):
        tip = _said(spot, x, y)
        drawing.circle(centre, 5, "dot s0", tip)
    wishes = [
        Wish(centre, fitted(spot.name, 0.4 * size, _LABEL_SIZE))
        for spot, centre in zip(spots, centres, strict=True)
    ]
    _draw_labels(plane, wishes, ["soft"] * len(wishes), [])
    below, above = (sum(sign * (s.y - s.x) > 0 for s in spots) for sign in (-1, 1))
    words = f"{y.label} against {x.label}: {below} below the line, {above} above."
    return drawing.figure(title, words)


def _draw_labels(
    plane: Plane, wishes: Sequence[Wish], looks: Sequence[str], taken: Sequence[Box]
) -> None:
    """Names beside their dots; where one had to move away, a thin line leads to it."""
    drawing = plane.drawing
    places = placed(wishes, plane.frame, size=_LABEL_SIZE, taken=taken)
    for wish, look, box in zip(wishes, looks, places, strict=True):
        if box is None:
            continue
        x, y = wish.at
        nearest = min(max(x, box.left), box.right), min(max(y, box.top), box.bottom)
        away = math.dist(wish.at, nearest)
        if away > wish.radius + 6:
            share = wish.radius / away
            start = x + share * (nearest[0] - x), y + share * (nearest[1] - y)
            drawing.line(start, nearest, "axis")
        at = (box.left, box.bottom - 0.22 * _LABEL_SIZE)
        drawing.text(at, wish.text, size=_LABEL_SIZE, look=look)


def _around(start: Point, end: Point) -> Box:
    """A line that runs along an axis, with some air."""
    (x0, y0), (x1, y1) = start, end
    return Box(min(x0, x1) - 2, min(y0, y1) - 2, max(x0, x1) + 2, max(y0, y1) + 2)


def _said(spot: Spot, x: Axis, y: Axis) -> str:
    return f"{spot.name}: {x.label} {x.text(spot.x)}, {y.label} {y.text(spot.y)}"


def _fit(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The ends of the line of least squares; nothing where all points are above each other.

    >>> _fit([(0, 0), (1, 3), (2, 2)])
    [(0, 0.666...), (2, 2.666...)]
    """
    middle_x, middle_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    width = sum((x - middle_x) ** 2 for x, _ in points)
    if not width:
        return []
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / width
    ends = (min(x for x, _ in points), max(x for x, _ in points))
    return [(x, middle_y + slope * (x - middle_x)) for x in ends]


def _staircase(points: Sequence[Point]) -> list[Point]:
    steps = list(points[:1])
    for (x0, y0), (x1, y1) in pairwise(points):
        steps += [(x1, y0), (x1, y1)] if x1 != x0 else [(x1, y1)]
    return steps


def _draw_legend(drawing: Drawing, groups: Sequence[str]) -> None:
    x = 12.0
    for i, group in enumerate(groups):
        name = fitted(group or "other", 160, 11.5)
        if x + 14 + text_width(name, 11.5) > drawing.width:
            break
        _draw_spot(drawing, (x, 18), i, group, 4.5)
        drawing.text((x + 9, 22), name, size=11.5, look="soft")
        x += 28 + text_width(name, 11.5)


def _draw_spot(drawing: Drawing, centre: Point, group: int, tip: str, radius: float) -> None:
    """A disc, a square, a triangle or a diamond: groups differ by more than colour."""
    x, y = centre
    look = f"dot s{group % COLOURS}"
    shape, r = group % 4, radius
    if shape == 0:
        drawing.circle(centre, r, look, tip)
    elif shape == 1:
        drawing.rect(Box(x - 0.9 * r, y - 0.9 * r, x + 0.9 * r, y + 0.9 * r), look, tip=tip)
    elif shape == 2:
        drawing.polygon(
            [(x, y - 1.2 * r), (x + 1.1 * r, y + 0.8 * r), (x - 1.1 * r, y + 0.8 * r)], look, tip
        )
    else:
        drawing.polygon(
            [(x, y - 1.3 * r), (x + 1.3 * r, y), (x, y + 1.3 * r), (x - 1.3 * r, y)], look, tip
        )
