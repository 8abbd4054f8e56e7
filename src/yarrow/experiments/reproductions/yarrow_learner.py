"""Does one learner without settings do as well as the best peer, tuned in hindsight?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from yarrow.experiments.curve import error_of
from yarrow.experiments.findings import Claim, Differences, Finding, Table
from yarrow.experiments.reproductions import evidence_spec as evidence
from yarrow.experiments.reproductions import yarrow_learner_spec as spec
from yarrow.experiments.reproductions.evidence_reading import (
    Field,
    Tried,
    compared,
    with_interval,
)
from yarrow.experiments.results import Measured, Results
from yarrow.experiments.spec import Reproduction
from yarrow.lazy import np

HALVES = {
    "confirming": {one.name for one in spec.CONFIRMING},
    "choosing": {one.name for one in spec.CHOOSING},
}


def findings(results: Results) -> list[Finding]:
    """The bars on the confirming half, then both halves set by set, what parts are worth."""
    fields = _fields(results, lambda one: "whole" not in one.cell.options)
    wholes = _fields(results, lambda one: "whole" in one.cell.options)
    halves = {
        half: [field for field in fields if field.name in names] for half, names in HALVES.items()
    }
    found: list[Finding] = [*_claims(halves["confirming"])]
    found += [_set_by_set(half, those) for half, those in halves.items() if those]
    found.append(_differences(fields))
    found.append(_parts(halves))
    return [*found, _whole(wholes)] if wholes else found


def _fields(results: Results, wanted: Callable[[Measured], bool]) -> list[Field]:
    """One for each set, in the order of the specification."""
    by_set: dict[str, list[Measured]] = {}
    for one in results:
        if wanted(one):
            by_set.setdefault(one.data, []).append(one)
    return [Field.of(by_set[name]) for name in evidence.BY_NAME if name in by_set]


def _ours(field: Field, label: str = spec.OURS) -> Tried:
    return field.in_hindsight(lambda one: one == label)


def _peer(field: Field) -> Tried:
    return field.in_hindsight(lambda one: one.startswith(evidence.LIBRARIES))


def _mistakes(one: Tried) -> int:
    return int(np.sum(one.wrong))


def _excess(field: Field, label: str = spec.OURS) -> float:
    """More mistakes than the best peer, relatively."""
    return _mistakes(_ours(field, label)) / max(1, _mistakes(_peer(field))) - 1


def _claims(fields: Sequence[Field]) -> list[Finding]:
    if not fields:
        return []
    excess = {field.name: _excess(field) for field in fields}
    no_worse = [name for name, more in excess.items() if more <= 0]
    beyond = {name: more for name, more in excess.items() if more > spec.WORSE_AT_MOST}
    surely = sum(
        (found := compared(_ours(field), _peer(field))).differ and found.difference > 0
        for field in fields
    )
    listed = ", ".join(f"{name} {100 * more:+.1f} %" for name, more in beyond.items())
    return [
        Claim(
            "On at least 80 % of the confirming sets it makes no more mistakes than the best of "
            "all peers' settings in hindsight.",
            len(no_worse) >= spec.NO_WORSE_ON * len(fields),
            f"on {len(no_worse)} of {len(fields)}",
        ),
        Claim(
            "On none of them it makes more than 2 % more.",
            not beyond,
            f"beyond that on {len(beyond)} of {len(fields)}{': ' if listed else ''}{listed}",
        ),
        Claim(
            "On none of them it errs surely more (the 95 % interval leaves out 0).",
            surely == 0,
            f"on {surely}; over the sources, {100 * _mean_excess(fields, spec.OURS):+.1f} % "
            "mistakes on average",
        ),
    ]


def _mean_excess(fields: Sequence[Field], label: str) -> float:
    """The mean over sources of the logarithm of the ratio of mistakes, as a share."""
    logs: dict[str, list[float]] = {}
    for field in fields:
        ratio = (_mistakes(_ours(field, label)) + 1) / (_mistakes(_peer(field)) + 1)
        logs.setdefault(evidence.source_of(field.name), []).append(float(np.log(ratio)))
    return float(np.expm1(np.mean([np.mean(found) for found in logs.values()])))


def _set_by_set(half: str, fields: Sequence[Field]) -> Table:
    rows = []
    for field in fields:
        ours, peer = _ours(field), _peer(field)
        found = compared(ours, peer)
        words = with_interval(found)
        rows.append(
            (
                f"{field.name}{' *' if field.name in spec.SEEN else ''}",
                field.rows,
                f"{100 * error_of(ours.wrong):.2f}",
                f"{100 * error_of(peer.wrong):.2f}",
                f"{100 * _excess(field):+.1f} %",
                f"**{words}**" if found.differ else words,
                f"{peer.learner}: {peer.setting}",
            )
        )
    columns = (
        "set", "rows", spec.OURS, "best peer", "mistakes", "difference (95 %)", "that peer",
    )  # fmt: skip
    note = (
        "Percent of rows predicted wrongly before they were learned; the peer is the best of "
        f"{sum(len(peer.settings()) for peer in spec.PEERS)} settings of three libraries, chosen "
        "for each set when all its mistakes are known. *: a first prototype had been tried on it."
    )
    return Table(f"The half that {half[:-3]}{'s' if half == 'confirming' else 'es'}", columns,
                 tuple(rows), note)  # fmt: skip


def _differences(fields: Sequence[Field]) -> Differences:
    items = []
    for field in fields:
        found = compared(_ours(field), _peer(field))
        items.append((field.name, found.difference, found.low, found.high))
    return Differences(
        "yarrow-learner-differences",
        "Its error less that of the best peer in hindsight",
        "difference of errors",
        tuple(sorted(items, key=lambda item: item[1])),
    )


def _parts(halves: dict[str, list[Field]]) -> Table:
    rows = []
    for label in (learner.label for learner in spec.LEARNERS):
        cells = []
        for fields in halves.values():
            if not fields:
                cells += ["", "", ""]
                continue
            excess = [_excess(field, label) for field in fields]
            cells += [
                f"{100 * _mean_excess(fields, label):+.1f} %",
                f"{sum(more <= 0 for more in excess)} of {len(excess)}",
                f"{sum(more <= spec.WORSE_AT_MOST for more in excess)}",
            ]
        rows.append((label, *cells))
    columns = ("learner", *(f"{half}: {what}" for half in halves
               for what in ("mistakes", "no worse", "within 2 %")))  # fmt: skip
    note = (
        "Beside the best peer in hindsight: more or fewer mistakes, averaged over sources, and on "
        "how many sets no more of them, or at most 2 % more. Without the mixture, the experts' "
        "mean score decides. Three experts: the first AROW, the last, the second AdaGrad."
    )
    return Table("What its parts are worth", columns, tuple(rows), note)


def _whole(fields: Sequence[Field]) -> Table:
    rows = []
    for field in fields:
        ours, peer = _ours(field), _peer(field)
        rows.append(
            (
                field.name, field.rows, f"{100 * error_of(ours.wrong):.2f}",
                f"{100 * error_of(peer.wrong):.2f}", f"{100 * _excess(field):+.1f} %",
                with_interval(compared(ours, peer)),
            )
        )  # fmt: skip
    columns = ("set", "rows", spec.OURS, "Vowpal Wabbit", "mistakes", "difference (95 %)")
    note = "Sets that are cut above, at full length, beside 36 settings of Vowpal Wabbit."
    return Table("Whole streams", columns, tuple(rows), note)


MEANING = """
TODO
"""

_REDUCED = tuple(
    evidence.BY_NAME[name] for name in ("sms-spam", "usenet1", "sonar", "splice", "usps")
)

REPRODUCTION = Reproduction(
    name="yarrow-learner",
    title="A learner without settings",
    paper="",
    protocol=f"""
The sets, rows, peers and settings are those of [the evidence](evidence.md), and so is the split of
the sets by source of data: {len(spec.CHOOSING)} sets chose the experts, their numbers and the
scaling, {len(spec.CONFIRMING)} confirm. The split was written down before the first run, and the
confirming half was run once, with everything fixed. Nothing is tuned for
YarrowClassifier; the peers have the best of their settings in hindsight.
""",
    full=spec.FULL,
    reduced=(
        *spec.studies(_REDUCED, (200, 40)),
        *spec.whole(tuple(one for one in _REDUCED if one.name == "sonar")),
    ),
    budget="The peers' cells are those of the evidence, 25 minutes of processor time; "
    "YarrowClassifier and its six variants add less than one.",
    findings=findings,
    differences=MEANING,
)
