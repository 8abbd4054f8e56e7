"""Draws the picture of the README: mistakes of tuned peers for each mistake of YarrowClassifier.

python tools/why.py            writes docs/why.svg, from the table of docs/evidence.md
python tools/why.py --check    fails if that would change it
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


def picture(found: dict[str, dict[str, float]]) -> Figure:
    """A line a stream, a dot a peer: right of 1 it makes more mistakes than YarrowClassifier."""
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


if __name__ == "__main__":
    figure = picture(errors((DOCS / "evidence.md").read_text("utf-8")))
    if "--check" not in sys.argv:
        figure.save(DOCS / "why.svg")
    elif figure.standalone() + "\n" != (DOCS / "why.svg").read_text("utf-8"):
        sys.exit("docs/why.svg is old: make pictures")
