"""What a page shows of a reproduction: plain data, which the report turns into text and figures."""

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
class Curve:
    """One line of a figure."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Curves:
    """Lines in one set of axes; the file is called `<name>.svg`."""

    name: str
    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    percent: bool = False
    log_x: bool = False
    marks: bool = False
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Boxes:
    """How the values of each group are spread."""

    name: str
    title: str
    x: str
    groups: tuple[tuple[str, tuple[float, ...]], ...]
    percent: bool = False
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Two values of the same task against each other: (task, x, y)."""

    name: str
    title: str
    x: str
    y: str
    pairs: tuple[tuple[str, float, float], ...]
    percent: bool = True
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Points:
    """Points in groups: (label, x, y, group)."""

    name: str
    title: str
    x: str
    y: str
    points: tuple[tuple[str, float, float, str], ...]
    fits: bool = False
    """Draw a straight line through each group."""
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Pictures:
    """Grey pictures, dark for the smallest number and bright for the largest."""

    name: str
    title: str
    pictures: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class RankDiagram:
    """Mean ranks on a line, and how far apart two must be to differ."""

    name: str
    title: str
    learners: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    critical_difference: float
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Differences:
    """Differences of errors around zero: (task, difference, low, high)."""

    name: str
    title: str
    x: str
    items: tuple[tuple[str, float, float, float], ...]
    note: str = ""


FINDING = "a finding"  # the same question, asked of the same kind of data, has another answer
DATA = "a difference of data"  # ours are not the paper's, and that may decide it
POWER = "a lack of power"  # the trials do not tell: the interval holds both answers


@dataclasses.dataclass(frozen=True)
class Claim:
    """A sentence of the paper (or a question it leaves) and whether it holds here."""

    sentence: str
    holds: bool
    measured: str
    """The numbers that decide it."""
    trials: str = ""
    """What decides it: how many runs, folds or tasks."""
    why: str = ""
    """Of one that does not hold: `FINDING`, `DATA` or `POWER`."""
    stable: bool = False
    """It held with room to spare, so that tests may assert it at the reduced size."""


Drawn = Curves | Boxes | Pairs | Points | Pictures | RankDiagram | Differences
Finding = Table | Drawn | Claim
