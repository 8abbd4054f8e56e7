"""YarrowClassifier beside the best of all peers' settings, chosen when all mistakes are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reproduction.findings import Claim, Differences, Finding, Table
from reproduction.results import Measured, Results
from reproduction.spec import Learner
from reproduction.specs import evidence_spec as evidence
from reproduction.specs import yarrow_learner_spec as spec
from reproduction.specs.evidence_reading import (
    Field,
    Tried,
    compared,
    verdict,
    with_interval,
)
from yarrow.evaluate.curves import error_of
from yarrow.lazy import np


def settings_of(peers: Iterable[Learner]) -> int:
    """How many settings some learners have together."""
    return sum(len(peer.settings()) for peer in peers)


def fields_of(
    results: Results, names: Iterable[str], wanted: Callable[[Measured], bool] = lambda _: True
) -> list[Field]:
    """One for each set, in the order of their names."""
    by_set: dict[str, list[Measured]] = {}
    for one in results:
        if wanted(one):
            by_set.setdefault(one.data, []).append(one)
    return [Field.of(by_set[name]) for name in names if name in by_set]


def ours(field: Field, label: str = spec.OURS) -> Tried:
    """YarrowClassifier, or it without one of its parts."""
    return field.in_hindsight(lambda one: one == label)


def best_peer(field: Field) -> Tried:
    """The setting that made the fewest mistakes."""
    return field.in_hindsight(lambda one: one.startswith(evidence.LIBRARIES))


def _mistakes(one: Tried) -> int:
    return int(np.sum(one.wrong))


def excess(field: Field, label: str = spec.OURS) -> float:
    """More mistakes than the best peer, relatively."""
    return _mistakes(ours(field, label)) / max(1, _mistakes(best_peer(field))) - 1


def no_worse(fields: Sequence[Field], label: str = spec.OURS) -> int:
    """On how many sets it makes no more mistakes."""
    return sum(excess(field, label) <= 0 for field in fields)


def mean_excess(
    fields: Sequence[Field], source_of: Callable[[str], str], label: str = spec.OURS
) -> float:
    """The mean over sources of the logarithm of the ratio of mistakes, as a share."""
    logs: dict[str, list[float]] = {}
    for field in fields:
        ratio = (_mistakes(ours(field, label)) + 1) / (_mistakes(best_peer(field)) + 1)
        logs.setdefault(source_of(field.name), []).append(float(np.log(ratio)))
    return float(np.expm1(np.mean([np.mean(found) for found in logs.values()])))


def surely_more(fields: Sequence[Field]) -> int:
    """On how many sets it errs more, and the 95 % interval leaves out 0."""
    return sum(verdict(compared(ours(field), best_peer(field))) > 0 for field in fields)


def beside_foreseen(fields: Sequence[Field]) -> list[Finding]:
    """Beside peers that had to choose a setting before the rows that count, as users have to."""
    claims: list[Finding] = []
    for library in evidence.LIBRARIES:
        counts = [0, 0, 0]
        fewer = 0
        those = [field for field in fields if field.of_learners(_of(library))]
        for field in those:
            mine = field.foreseen(lambda label: label == spec.OURS)
            peer = field.foreseen(_of(library))
            counts[1 + verdict(compared(mine, peer))] += 1
            fewer += error_of(mine.wrong) < error_of(peer.wrong)
        claims.append(
            Claim(
                f"Settings chosen on the first half of the rows, {library} errs more than "
                "YarrowClassifier on the second on more of them than less.",
                counts[0] > counts[2] and 2 * fewer > len(those),
                f"more on {fewer} of {len(those)}, surely on {counts[0]}; surely less on "
                f"{counts[2]}",
                f"{len(those)} sets",
            )
        )
    return claims


def _of(library: str) -> Callable[[str], bool]:
    return lambda label: label.startswith(library)


def set_by_set(title: str, fields: Sequence[Field], peers: Sequence[Learner]) -> Table:
    """Both errors, and how sure their difference is."""
    rows = []
    for field in fields:
        mine, peer = ours(field), best_peer(field)
        found = compared(mine, peer)
        words = with_interval(found)
        rows.append(
            (
                field.name,
                field.rows,
                f"{100 * error_of(mine.wrong):.2f}",
                f"{100 * error_of(peer.wrong):.2f}",
                f"{100 * excess(field):+.1f} %",
                f"**{words}**" if found.differ else words,
                f"{peer.learner}: {peer.setting}",
            )
        )
    columns = (
        "set", "rows", spec.OURS, "best peer", "mistakes", "difference (95 %)", "that peer",
    )  # fmt: skip
    note = (
        "Percent of rows predicted wrongly before they were learned; the peer is the best of up to "
        f"{settings_of(peers)} settings, chosen for each set when all its mistakes are known."
    )
    return Table(title, columns, tuple(rows), note)


def differences(fields: Sequence[Field]) -> Differences:
    """As a picture."""
    items = []
    for field in fields:
        found = compared(ours(field), best_peer(field))
        items.append((field.name, found.difference, found.low, found.high))
    return Differences(
        "differences",
        "Its error less that of the best peer in hindsight",
        "difference of errors",
        tuple(sorted(items, key=lambda item: item[1])),
    )
