"""What a page shows of a reproduction, as plain data that the report turns into text and figures."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of words and numbers; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Line:
    """A curve, with the deviation of each of its points where that is known."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Panel:
    """One set of axes: curves, or points beside a diagonal, or both."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...] = ()
    points: tuple[Line, ...] = ()
    diagonal: bool = False
    log_x: bool = False


@dataclasses.dataclass(frozen=True)
class Figure:
    """Some panels, one file each: `<name>-<number>.svg` beside the page."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Bars:
    """A bar a learner, with its deviation."""

    name: str
    title: str
    unit: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    deviations: tuple[float, ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Images:
    """Small grey images of numbers: dark for zero, light for the largest."""

    name: str
    title: str
    labels: tuple[str, ...]
    images: tuple[tuple[tuple[float, ...], ...], ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Claim:
    """A sentence of the paper (or of its outlook) and whether it holds here."""

    sentence: str
    holds: bool
    measured: str
    """The numbers that decide it."""
    stable: bool = False
    """It also holds at the reduced size, so that tests may assert it."""


Finding = Table | Figure | Bars | Images | Claim
