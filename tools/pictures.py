"""Draws the pictures of README.md and ARCHITECTURE.md.

python tools/pictures.py            writes docs/why.svg and docs/flow.svg
python tools/pictures.py --check    fails if that would change them
"""

from __future__ import annotations

import sys
from pathlib import Path

from yarrow.report.figures import Figure
from yarrow.report.figures.axes import Axis, Scale
from yarrow.report.figures.drawing import Box, Drawing, text_width

DOCS = Path(__file__).parent.parent / "docs"
PEERS = {"Vowpal Wabbit": "s1", "scikit-learn": "s3", "river": "s2"}
OURS = "YarrowClassifier"
ROWS = 5_000
LOW, HIGH = 0.8, 4.0  # what lies beyond stands at the edge, with an arrow


def errors(page: str) -> dict[str, dict[str, float]]:
    """Errors in percent over every whole stream of at least `ROWS` rows."""
    table = page.partition("### Errors over whole streams")[2].partition("\n\n")[2]
    head, _, *lines = [
        [cell.strip(" *") for cell in line.strip("|").split("|")]
        for line in table.partition("\n\n")[0].splitlines()
    ]
    found = {}
    for line in lines:
        cells = dict(zip(head, line, strict=True))
        if int(cells["rows"].replace(",", "")) >= ROWS:
            found[cells["set"]] = {name: float(cells[name]) for name in (OURS, *PEERS)}
    return found


def why() -> Figure:
    """A line a stream, a dot a peer: right of 1 it makes more mistakes than YarrowClassifier."""
    found = errors((DOCS / "evidence.md").read_text("utf-8"))
    ratios = {
        name: {peer: all_of[peer] / all_of[OURS] for peer in PEERS}
        for name, all_of in found.items()
        if all_of[OURS]
    }
    order = sorted(ratios, key=lambda name: min(ratios[name].values()), reverse=True)
    left, right = 12 + max(text_width(name) for name in order), 700
    frame = Box(left, 34, right, 34 + 24 * len(order))
    axis = Axis("mistakes for each mistake of YarrowClassifier", log=True)
    x = Scale(axis, [LOW, HIGH], left, right)
    drawing = Drawing(right + 30, frame.bottom + 44)
    at = left
    for peer, look in PEERS.items():
        drawing.circle((at + 5, 12), 5, f"dot {look}")
        drawing.text((at + 15, 16), f"{peer}, tuned")
        at += 40 + text_width(f"{peer}, tuned")
    for number in (1, 1.5, 2, 3, HIGH):
        look = "axis" if number == 1 else "rule"
        drawing.line((x(number), frame.top), (x(number), frame.bottom), look)
        words = "as many" if number == 1 else f"{number:g} times"
        drawing.text((x(number), frame.bottom + 16), words, anchor="middle", look="soft")
    for place, name in enumerate(order):
        y = frame.top + 24 * place + 12
        drawing.text((left - 8, y + 4), name, anchor="end")
        for peer, look in PEERS.items():
            ratio = ratios[name][peer]
            tip = f"{name}: {peer} {found[name][peer]:g} %, {OURS} {found[name][OURS]:g} %"
            drawing.circle((x(min(max(ratio, LOW), HIGH)), y), 5, f"dot {look}", tip)
            if not LOW <= ratio <= HIGH:
                edge, arrow = (right + 8, "→") if ratio > HIGH else (left + 8, "←")
                drawing.text((edge, y + 4), arrow, look="soft")
    drawing.text(((left + right) / 2, frame.bottom + 36), axis.label, anchor="middle")
    ahead = sum(min(some.values()) > 1 for some in ratios.values())
    words = f"{OURS} makes fewer mistakes than all three on {ahead} of {len(order)} streams."
    return drawing.figure("Mistakes of tuned peers beside the learner with no settings", words)


#: what stands in each box of the flow: its place (column, row, rows), its name, what it does
BOXES = {
    "files": (0, 0, 1, "core/input/", "svmlight and VW text"),
    "tables": (0, 1, 1, "io/", "CSV, JSON lines, Parquet"),
    "arrays": (0, 2, 1, "data/", "arrays, frames, labels"),
    "dicts": (0, 3, 1, "core/bindings/", "dicts, one at a time"),
    "driver": (1, 0, 1, "online/", "predict, then learn"),
    "model": (1, 1, 2, "core/model.hpp", "names of features, classes;|whole calls; one lock"),
    "learner": (2, 1, 2, "core/learner/", "who learns of a row:|one-vs-rest, top-1 ..."),
    "mixture": (2, 0, 1, "core/mixture/", "YarrowClassifier"),
    "loop": (3, 1, 2, "core/loops/", "walk the row,|one for each family"),
    "rule": (3, 0, 1, "core/rules/", "numbers in, numbers out"),
    "state": (3, 3, 1, "core/state/", "weights, variances, undo"),
    "file": (2, 3, 1, "saving/", "the model file"),
}
ARROWS = [
    ("files", "model"), ("tables", "model"), ("arrays", "model"), ("dicts", "model"),
    ("model", "learner"), ("learner", "loop"), ("driver", "model"), ("learner", "mixture"),
    ("loop", "rule"), ("loop", "state"), ("state", "file"),
]  # fmt: skip


def flow() -> Figure:
    """From rows to weights: a box a folder, an arrow where rows or numbers go."""
    wide, high, across, down = 184, 62, 40, 26
    drawing = Drawing(4 * wide + 3 * across + 20, 4 * high + 3 * down + 20)
    places = {}
    for name, (column, row, rows, title, words) in BOXES.items():
        left, top = 10 + column * (wide + across), 10 + row * (high + down)
        box = Box(left, top, left + wide, top + rows * high + (rows - 1) * down)
        places[name] = box
        drawing.rect(box, "axis")
        lines = words.split("|")
        y = (box.top + box.bottom) / 2 - 8 * len(lines) + 4
        drawing.text(((box.left + box.right) / 2, y), title, anchor="middle", look="strong")
        for line in lines:
            y += 17
            drawing.text(((box.left + box.right) / 2, y), line, anchor="middle", look="soft")
    for start, end in ARROWS:
        _arrow(drawing, places[start], places[end])
    return drawing.figure(
        "How a row becomes weights",
        "Files, tables, arrays and dicts become rows; a model hands each row to its learner, which "
        "lets a loop walk it; the loop asks the rule and changes the state.",
    )


def _arrow(drawing: Drawing, a: Box, b: Box) -> None:
    """From one box to another beside it, above or below."""
    if a.right < b.left or b.right < a.left:
        x0, x1 = (a.right, b.left) if a.right < b.left else (a.left, b.right)
        low, high = max(a.top, b.top), min(a.bottom, b.bottom)
        y0 = (low + high) / 2 if low < high else (a.top + a.bottom) / 2
        y1 = y0 if low < high else (b.top + 14 if y0 < b.top else b.bottom - 14)
        way = 1 if x1 > x0 else -1
        drawing.polyline([(x0, y0), (x1, y1)], "axis")
        drawing.polygon([(x1, y1), (x1 - 7 * way, y1 - 4), (x1 - 7 * way, y1 + 4)], "soft")
    else:
        x = (a.left + a.right) / 2
        y0, y1 = (a.bottom, b.top) if a.bottom < b.top else (a.top, b.bottom)
        way = 1 if y1 > y0 else -1
        drawing.polyline([(x, y0), (x, y1)], "axis")
        drawing.polygon([(x, y1), (x - 4, y1 - 7 * way), (x + 4, y1 - 7 * way)], "soft")


if __name__ == "__main__":
    for name, figure in (("why.svg", why()), ("flow.svg", flow())):
        if "--check" not in sys.argv:
            figure.save(DOCS / name)
        elif figure.standalone() + "\n" != (DOCS / name).read_text("utf-8"):
            sys.exit(f"docs/{name} is old: make pictures")
