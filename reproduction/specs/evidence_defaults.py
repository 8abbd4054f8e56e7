"""Should a default change? Chosen on one half of the sets, confirmed on the other."""

from __future__ import annotations

from reproduction.findings import Finding, Table
from reproduction.results import Measured, Results
from reproduction.specs import evidence_spec as spec
from reproduction.specs.evidence_reading import BASELINES, Change, change


def changes(results: Results, chooses: bool) -> list[Change]:
    """What each value of each factor changes, on the half that chooses or the one that confirms."""
    names = {one.name for one in spec.SETS if one.chooses is chooses}
    found: list[Change] = []
    for learner in (*spec.FACTORS, *spec.STRATEGIES, *spec.UNIT):
        unit = learner in spec.UNIT
        cells = [
            one
            for one in results
            if one.data in names and _measures(one, learner.label, unit) and not one.failure
        ]
        plain = {
            one.data: one.outcome["settings"][0]["mistakes"]
            for one in results
            if one.data in names and _measures(one, _plain_of(learner.label), False)
        }
        if not cells:
            continue
        settings = [s["name"] for s in cells[0].outcome["settings"] if s["name"] not in BASELINES]
        for place, value in enumerate(settings):
            if place == 0 and not unit:
                continue
            mistakes = [
                (
                    spec.source_of(one.data),
                    _mistakes(one, place),
                    plain[one.data] if unit else _mistakes(one, 0),
                )
                for one in cells
            ]
            default = "rows as they are" if unit else settings[0]
            found.append(change(learner.label, value, default, mistakes))
    return found


def _plain_of(label: str) -> str:
    """Where the default itself was measured: the first setting of this factor."""
    return {"AROW: unit rows": "AROW: r", "PA: unit rows": "PA: C"}.get(label, label)


def _measures(one: Measured, label: str, unit: bool) -> bool:
    return one.learner == label and ("unit" in one.cell.options) is unit


def _mistakes(one: Measured, place: int) -> int:
    found = one.outcome["settings"][place]
    return int(one.outcome["rows"] if found["failure"] else found["mistakes"])


def defaults(results: Results) -> list[Finding]:
    """The table of all factors, with both halves."""
    confirming = {(c.factor, c.value): c for c in changes(results, chooses=False)}
    rows = []
    for first in changes(results, chooses=True):
        second = confirming.get((first.factor, first.value))
        if second is None:
            continue
        better = first.percent <= -2 and first.wins[0] > first.wins[1]
        confirmed = second.percent <= -2 and second.wins[0] > second.wins[1]
        words = ("confirmed" if confirmed else "not confirmed") if better else "no better"
        rows.append(
            (
                first.factor, first.value, first.default, f"{first.percent:+.1f} %",
                f"{first.wins[0]} : {first.wins[1]}", f"{second.percent:+.1f} %",
                f"{second.wins[0]} : {second.wins[1]}", words,
            )
        )  # fmt: skip
    note = (
        "Mistakes with the value against those with the default, everything else at its default: "
        "the mean over sources of the logarithm of their ratio, as a percentage; beside it on how "
        "many sources there are fewer and more mistakes. The sets were split once, before the "
        "first run: " + _halves() + " A value is better if it saves at least 2 % and wins on more "
        "sources than it loses; the other half must say the same."
    )
    columns = (
        "factor", "value", "default", "choosing half", "wins : losses", "confirming half",
        "wins : losses", "verdict",
    )  # fmt: skip
    return [Table("Defaults: one factor at a time", columns, tuple(rows), note)] if rows else []


def _halves() -> str:
    halves = [
        [one.name for one in spec.SETS if one.chooses is chooses] for chooses in (True, False)
    ]
    return f"{', '.join(halves[0])} choose; {', '.join(halves[1])} confirm."
