"""Which labels are taken for which."""

from __future__ import annotations

from collections.abc import Sequence

from yarrow.errors import ParameterError
from yarrow.report import numbers
from yarrow.report.figures.drawing import Box, Drawing, Figure, fitted, text_width

MOST_CLASSES = 30


def worst_confusions(
    labels: Sequence[object], counts: Sequence[Sequence[int]], most: int = 20
) -> list[tuple[str, str, int, float]]:
    """(true, predicted, rows, share of the true label's rows), most rows first.

    >>> worst_confusions(["ham", "spam"], [[9, 1], [3, 7]])
    [('spam', 'ham', 3, 0.3), ('ham', 'spam', 1, 0.1)]
    """
    _check(labels, counts)
    found = [
        (str(labels[i]), str(labels[j]), int(count), count / sum(row))
        for i, row in enumerate(counts)
        for j, count in enumerate(row)
        if i != j and count > 0
    ]
    return sorted(found, key=lambda item: -item[2])[:most]


def confusion(
    labels: Sequence[object],
    counts: Sequence[Sequence[int]],
    *,
    title: str = "Confusion matrix",
) -> Figure:
    """Rows are true labels, columns predicted ones; the darker, the larger the share of the row.

    With more than 30 labels, the worst confusions as a list.

    >>> figure = confusion(["ham", "spam"], [[9, 1], [3, 7]])
    >>> figure.description
    'Rows are true labels, columns predicted ones. Most often confused: spam for ham (3).'
    """
    _check(labels, counts)
    if len(labels) > MOST_CLASSES:
        return _worst_list(labels, counts, title)
    names = [str(label) for label in labels]
    texts = [[_count(value) for value in row] for row in counts]
    widest = max((text_width(text, 10.5) for row in texts for text in row), default=0)
    cell = min(72.0, max(26.0, widest + 8, 140 / max(1, len(names))))
    short = [fitted(name, 170, 11.5) for name in names]
    turned = any(text_width(name, 11.5) > cell - 4 for name in short)
    across = [fitted(name, 130 if turned else cell - 2, 11.5) for name in names]
    above = max(text_width(name, 11.5) for name in across) if turned else 14.0
    left = 34 + max((text_width(name, 11.5) for name in short), default=0)
    top = 34 + above
    drawing = Drawing(
        max(left + cell * len(names) + 12, 240), max(top + cell * len(names) + 12, top + 80)
    )
    drawing.text((left, 16), "predicted", size=12)
    drawing.text((14, top + 4), "true", size=12, anchor="end", turned=True)
    for i, row in enumerate(counts):
        y = top + cell * i
        drawing.text(
            (left - 8, y + 0.5 * cell + 4), short[i], size=11.5, anchor="end", tip=names[i]
        )
        x = left + cell * (i + 0.5)
        if turned:
            drawing.text((x + 4, top - 8), across[i], size=11.5, turned=True, tip=names[i])
        else:
            drawing.text((x, top - 8), across[i], size=11.5, anchor="middle", tip=names[i])
        total = sum(row)
        for j, count in enumerate(row):
            box = Box(left + cell * j, y, left + cell * (j + 1), y + cell)
            share = count / total if total else 0.0
            depth = share**0.5  # small shares are the ones to see; text stays readable on all
            tip = f"{names[i]} taken for {names[j]}" if i != j else f"{names[i]} recognised"
            tip += f": {numbers.count(count)} ({numbers.percent(share, 1)} of {names[i]})"
            if count:
                drawing.rect(box, "shade", opacity=0.55 * depth, tip=tip)
            drawing.rect(box, "cell", tip=tip)
            if count:
                at = (0.5 * (box.left + box.right), 0.5 * (box.top + box.bottom) + 4)
                drawing.text(at, texts[i][j], size=10.5, anchor="middle", tip=tip)
    words = "Rows are true labels, columns predicted ones."
    if worst := worst_confusions(labels, counts, 1):
        true, predicted, rows, _ = worst[0]
        words += f" Most often confused: {true} for {predicted} ({numbers.count(rows)})."
    return drawing.figure(title, words)


def _worst_list(labels: Sequence[object], counts: Sequence[Sequence[int]], title: str) -> Figure:
    worst = worst_confusions(labels, counts)
    drawing = Drawing(760, 24 * len(worst) + 40)
    drawing.text((8, 18), f"the most frequent confusions among {len(labels)} labels", size=12.5)
    most = max((rows for _, _, rows, _ in worst), default=1)
    for i, (true, predicted, rows, share) in enumerate(worst):
        y = 44 + 24 * i
        name = f"{fitted(true, 170)} → {fitted(predicted, 170)}"
        drawing.text((400, y), name, anchor="end", tip=f"{true} taken for {predicted}")
        drawing.rect(Box(412, y - 12, 412 + 170 * rows / most, y + 3), "bar s0")
        note = f"{numbers.count(rows)} ({numbers.percent(share, 1)})"
        drawing.text((420 + 170 * rows / most, y), note, size=11.5, look="soft")
    said = "; ".join(f"{true} taken for {predicted}: {rows}" for true, predicted, rows, _ in worst)
    return drawing.figure(title, f"The most frequent confusions: {said}.")


def _count(value: int) -> str:
    return numbers.count(value) if value < 100_000 else numbers.short(value)


def _check(labels: Sequence[object], counts: Sequence[Sequence[int]]) -> None:
    if len(counts) != len(labels) or any(len(row) != len(labels) for row in counts):
        raise ParameterError(
            f"a confusion matrix of {len(labels)} labels needs as many rows and columns"
        )
