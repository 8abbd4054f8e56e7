"""Where labels go so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence

from yarrow.report.figures.drawing import Box, Point, text_width

__all__ = ["placed", "spread"]


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


def placed(
    points: Sequence[Point],
    texts: Sequence[str],
    frame: Box,
    *,
    size: float = 12,
    radius: float = 5,
    strong: Sequence[bool] = (),
) -> list[tuple[Point, Box] | None]:
    """For each point the start of its label's base line and its box; None where there is no room.

    Points that come first choose first. A label covers no other label and no point, and stays
    inside `frame`. An empty text asks for no label; `strong` ones are bold.
    """
    dots = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    labels: list[Box] = []
    answer: list[tuple[Point, Box] | None] = []
    for (x, y), text, bold in zip(points, texts, strong or [False] * len(texts), strict=True):
        answer.append(None)
        if not text:
            continue
        width = text_width(text, size, bold)
        for left, middle in _candidates(x, y, width, radius, size):
            box = Box(left, middle - 0.5 * size, left + width, middle + 0.5 * size)
            if box.inside(frame) and not any(box.overlaps(other) for other in [*labels, *dots]):
                labels.append(box)
                answer[-1] = ((left, middle + 0.28 * size), box)
                break
    return answer


def _candidates(x: float, y: float, width: float, radius: float, size: float) -> list[Point]:
    """Left end and middle line of a label, best place first: beside the point, then around it."""
    places = []
    for distance in (0.0, 0.8 * size, 1.7 * size, 2.6 * size):
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
