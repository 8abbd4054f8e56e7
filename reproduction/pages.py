"""Pages of reproductions: the paper's numbers and ours side by side, with the figures redrawn."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from reproduction.findings import (
    FINDING,
    Boxes,
    Claim,
    Curves,
    Differences,
    Drawn,
    Finding,
    Pairs,
    Pictures,
    Points,
    RankDiagram,
    Table,
)
from reproduction.results import Results
from reproduction.spec import Learner, Reproduction, Study
from yarrow.report import figures, numbers


@dataclasses.dataclass(frozen=True)
class Written:
    """What a reproduction came to."""

    page: Path
    claims: tuple[Claim, ...]


def write(
    reproduction: Reproduction, results: Results, folder: Path, *, reduced: bool = False
) -> Written:
    """Write `<name>.md` and its figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    findings = reproduction.findings(results)
    claims = tuple(one for one in findings if isinstance(one, Claim))
    text = "\n\n".join(_parts(reproduction, results, findings, claims, reduced))
    for one in findings:
        if not isinstance(one, Table | Claim):
            _drawn(one).save(folder / _file(reproduction, one))
    page = folder / f"{reproduction.name}.md"
    page.write_text(text + "\n", encoding="utf-8")
    return Written(page, claims)


def _parts(
    reproduction: Reproduction,
    results: Results,
    findings: list[Finding],
    claims: tuple[Claim, ...],
    reduced: bool,
) -> list[str]:
    command = f"yarrow reproduce {reproduction.name}{' --reduced' if reduced else ''}"
    parts = [
        f"# {reproduction.title}",
        f"Made by `{command}`; do not edit."
        + (f" The paper: {reproduction.paper}." if reproduction.paper else ""),
    ]
    if reduced:
        parts.append("**A reduced run, made to test the machinery: not a result.**")
    parts += ["## What came out", _claims_table(claims)]
    if reproduction.differences and not reduced:
        title = "Where paper and measurement differ" if reproduction.paper else "What it means"
        parts += [f"## {title}", reproduction.differences.strip()]
    parts.append("## Figures and tables")
    for one in findings:
        if isinstance(one, Table):
            parts += [f"### {one.title}", table(one)]
        elif not isinstance(one, Claim):
            parts += [f"### {one.title}", f"![{one.title}]({_file(reproduction, one)})"]
        if not isinstance(one, Claim) and one.note:
            parts.append(one.note)
    studies = reproduction.reduced if reduced else reproduction.full
    parts += ["## How it was done", reproduction.protocol.strip(), learners_of(studies)]
    time = numbers.duration(results.seconds)
    parts.append(f"{len(results):,} cells, {time} of processor time. Budget: {reproduction.budget}")
    return parts


def _claims_table(claims: tuple[Claim, ...]) -> str:
    rows = tuple((verdict(one), one.sentence, one.measured, one.trials) for one in claims)
    return table(Table("", ("holds", "claim", "measured", "decided by"), rows))


def verdict(claim: Claim) -> str:
    """Whether a claim holds; if not, what that is."""
    return "yes" if claim.holds else f"**no**: {claim.why or FINDING}"


def table(shown: Table) -> str:
    """Return a Markdown table; numbers stand right."""
    is_number = [
        bool(shown.rows) and all(_is_number(row[place]) for row in shown.rows)
        for place in range(len(shown.columns))
    ]
    lines = [
        "| " + " | ".join(shown.columns) + " |",
        "| " + " | ".join("---:" if right else "---" for right in is_number) + " |",
    ]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in shown.rows]
    return "\n".join(lines)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if _is_number(value) else str(value).replace("|", "\\|")


def learners_of(studies: tuple[Study, ...]) -> str:
    """The table of all learners, with what is fixed and what is tuned."""
    seen: dict[str, Learner] = {}
    for study in studies:
        seen |= {learner.label: learner for learner in study.learners}
    rows = tuple(
        (learner.label, f"`{learner.estimator}`", _words(learner.parameters), _words(learner.grid))
        for learner in seen.values()
    )
    return table(Table("", ("learner", "class", "fixed", "tuned over"), rows))


def _words(parameters: Any) -> str:
    def value(one: Any) -> str:
        return ", ".join(map(value, one)) if isinstance(one, tuple | list) else f"{one}"

    return "; ".join(f"{name} = {value(one)}" for name, one in parameters.items())


def _file(reproduction: Reproduction, drawn: Drawn) -> str:
    return f"{reproduction.name}-{drawn.name}.svg"


def _drawn(one: Drawn) -> figures.Figure:
    match one:
        case Curves():
            series = [
                figures.Series(curve.label, list(zip(curve.x, curve.y, strict=True)))
                for curve in one.curves
            ]
            x, y = figures.Axis(one.x, log=one.log_x), figures.Axis(one.y, percent=one.percent)
            return figures.lines(series, title=one.title, x=x, y=y, marks=one.marks)
        case Boxes():
            axis = figures.Axis(one.x, percent=one.percent)
            return figures.boxes(dict(one.groups), title=one.title, x=axis)
        case Pairs():
            x, y = (figures.Axis(label, percent=one.percent) for label in (one.x, one.y))
            return figures.paired(one.pairs, title=one.title, x=x, y=y)
        case Points():
            spots = [figures.Spot(label, x, y, group) for label, x, y, group in one.points]
            x, y = figures.Axis(one.x), figures.Axis(one.y)
            return figures.scatter(spots, title=one.title, x=x, y=y, front=False, fits=one.fits)
        case RankDiagram():
            return figures.rank_diagram(
                one.learners, one.mean_ranks, one.critical_difference, title=one.title
            )
        case Differences():
            items = [figures.Difference(*item) for item in one.items]
            axis = figures.Axis(one.x, percent=True)
            return figures.differences(items, title=one.title, axis=axis)
        case Pictures():
            return figures.images(one.pictures, title=one.title, columns=5, size=128)
