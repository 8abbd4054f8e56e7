"""Where labels go so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from yarrow.report.figures.drawing import Box, Point, text_width


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions as near to `wanted` as can be, `gap` apart, between `low` and `high`.

    The least squares solution: labels that would touch form a block, which sits at the mean of
    what its members want. The order of `wanted` is kept. If all do not fit, they are closer.

    >>> spread([10, 11, 50], 10, 0, 100)
    [5.5, 15.5, 50.0]
    """
    if not wanted:
        return []
    if len(wanted) > 1:
        gap = min(gap, (high - low) / (len(wanted) - 1))
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []  # (sum of the wanted starts, members)
    for place, i in enumerate(order):
        total, members = wanted[i] - place * gap, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / members:
            earlier = blocks.pop()
            total, members = total + earlier[0], members + earlier[1]
        blocks.append((total, members))
    starts = [total / members for total, members in blocks for _ in range(members)]
    last = high - (len(wanted) - 1) * gap
    answer = [0.0] * len(wanted)
    for place, i in enumerate(order):
        answer[i] = min(max(starts[place], low), max(last, low)) + place * gap
    return answer


@dataclass(frozen=True)
class Wish:
    """A label that wants to stand beside a dot; only one that matters may move far away."""

    at: Point
    text: str
    radius: float = 5
    strong: bool = False
    matters: bool = False


def placed(
    wishes: Sequence[Wish], frame: Box, *, size: float = 12, taken: Sequence[Box] = ()
) -> list[Box | None]:
    """The room of each label; None where there is none.

    Those that come first choose first. A label covers no other label, no dot and nothing of
    `taken`, and stays inside `frame`. An empty text asks for no label.
    """
    dots = [
        Box(x - wish.radius, y - wish.radius, x + wish.radius, y + wish.radius)
        for wish in wishes
        for x, y in [wish.at]
    ]
    labels: list[Box] = list(taken)
    answer: list[Box | None] = []
    for wish in wishes:
        (x, y), text, bold, radius = wish.at, wish.text, wish.strong, wish.radius
        answer.append(None)
        if not text:
            continue
        width = text_width(text, size, bold)
        for left, middle in _candidates(x, y, width, radius, size, wish.matters):
            box = Box(left, middle - 0.5 * size, left + width, middle + 0.5 * size)
            if box.inside(frame) and not any(box.overlaps(other) for other in [*labels, *dots]):
                labels.append(box)
                answer[-1] = box
                break
    return answer


def _candidates(
    x: float, y: float, width: float, radius: float, size: float, far: bool
) -> list[Point]:
    """Left end and middle line of a label, best place first: beside the point, then around it."""
    places = []
    for distance in (0.0, 0.8 * size, *((1.7 * size, 2.6 * size) if far else ())):
        near = radius + 3 + 0.4 * distance
        rise = radius + 2 + 0.5 * size + distance
        if distance == 0:
            places += [(x + near, y), (x - near - width, y)]
        else:
            places += [
                (x + near, y - distance),
                (x + near, y + distance),
                (x - near - width, y - distance),
                (x - near - width, y + distance),
            ]
        places += [(x - 0.5 * width, y - rise), (x - 0.5 * width, y + rise)]
    return places
