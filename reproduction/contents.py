"""The page that lists all pages, made of what they say: what holds, what not, and what it cost.

So a page that is measured anew changes its own lines alone, and one that the present specification
has not measured yet keeps them, marked.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from reproduction import pages, specs
from reproduction.findings import DATA, FINDING, POWER, Table
from reproduction.spec import Reproduction
from yarrow.report import numbers

_HEAD = "# The papers' experiments, measured again"
_LAST = re.compile(r"^([\d,]+) cells, (.+) of processor time\. Budget: ", re.MULTILINE)
_EARLIER = "made earlier"


@dataclasses.dataclass(frozen=True)
class Page:
    """What a written page says."""

    of: Reproduction
    claims: tuple[tuple[str, str, str], ...]
    """Verdict, sentence, and what decides it."""
    cells: str
    time: str
    is_current: bool
    """Made by the specification as it stands, with what decides each claim."""


def read(of: Reproduction, folder: Path) -> Page | None:
    """The page of a reproduction, if it is there."""
    file = folder / f"{of.name}.md"
    if not file.exists():
        return None
    text = file.read_text(encoding="utf-8")
    last = _LAST.search(text)
    if last is None or "reduced run" in text:
        return None
    came_out = text.split("## What came out")[-1].split("\n## ")[0]
    rows = [_cells(line) for line in came_out.splitlines() if line.startswith("| ")][2:]
    claims = tuple((row[0], row[1], row[3] if len(row) > 3 else "") for row in rows)
    is_current = (
        of.protocol.strip() in text
        and pages.learners_of(of.full) in text
        and all(len(row) > 3 for row in rows)
    )
    return Page(of, claims, last[1], last[2], is_current)


def _cells(line: str) -> list[str]:
    """A row of a Markdown table; what is no border between cells is written with a backslash."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def write(folder: Path) -> None:
    """Write the list of the pages in a folder, unless something else is there."""
    file = folder / "README.md"
    if not file.exists() or file.read_text(encoding="utf-8").startswith(_HEAD):
        file.write_text(_listed(folder) + "\n", encoding="utf-8")


def _listed(folder: Path) -> str:
    papers = [_entry(specs.named(name), folder) for name in specs.NAMES]
    others = [_entry(specs.named(name), folder) for name in specs.OTHERS]
    found = [page for _, page in papers + others if page is not None]
    columns = ("name", "what", "claims that hold", "cells", "processor time", "budget")
    parts = [
        _HEAD,
        "Made by `yarrow reproduce` (`make reproduce` runs all of the papers); do not edit. Each "
        "page puts the paper's numbers and ours side by side, redraws the figure, and says where "
        "they differ. `yarrow reproduce NAME` makes one of them anew; cells that were measured "
        "before come from a cache, so an interrupted run goes on where it stopped.",
        pages.table(Table("", columns, tuple(row for row, _ in papers))),
        f"Together {_together(papers)} of processor time, which two cores share.",
    ]
    if any(page for _, page in others):
        shown = tuple(row for row, page in others if page is not None)
        parts += ["Beyond the papers:", pages.table(Table("", columns, shown))]
    parts += [
        "## All claims",
        "A claim holds if the trials say so with 95 % confidence. One that does not hold is "
        f"{FINDING} (asked of such data as the paper's, the answer is another), {DATA} (ours "
        f"are not the paper's, and that may decide it) or {POWER} (the interval has both "
        f"answers in it). A page that was {_EARLIER} is older than its experiment as it stands, or "
        "than intervals and reasons, and is to be measured again: its verdicts compare bare means.",
    ]
    for page in found:
        parts += [f"### [{page.of.title}]({page.of.name}.md)"]
        parts += [] if page.is_current else [f"*This page was {_EARLIER}.*"]
        parts += [pages.table(Table("", ("holds", "claim", "decided by"), page.claims))]
    return "\n\n".join(parts)


def _entry(of: Reproduction, folder: Path) -> tuple[tuple[str, ...], Page | None]:
    page = read(of, folder)
    if page is None:
        return (of.name, of.title, "not run at full size yet", "", "", of.budget), None
    held = f"{sum(claim[0] == 'yes' for claim in page.claims)} of {len(page.claims)}"
    if not page.is_current:
        held += f", {_EARLIER}"
    link = f"[{of.name}]({of.name}.md)"
    return (link, of.title, held, page.cells, page.time, of.budget), page


def _together(papers: list[tuple[tuple[str, ...], Page | None]]) -> str:
    units = {"h": 3600, "min": 60, "s": 1}
    seconds = 0.0
    for _, page in papers:
        if page is not None:
            words = re.findall(r"([\d.,]+) (h|min|s)\b", page.time)
            seconds += sum(float(n.replace(",", "")) * units[unit] for n, unit in words)
    return numbers.duration(seconds)
