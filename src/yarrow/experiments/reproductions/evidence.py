"""Does it earn its place? Yarrow beside scikit-learn, river and Vowpal Wabbit on real streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from yarrow.evaluate.ranks import Ranks, mean_ranks
from yarrow.experiments.curve import error_of
from yarrow.experiments.findings import Claim, Differences, Finding, RankDiagram, Table
from yarrow.experiments.reproductions import evidence_spec as spec
from yarrow.experiments.reproductions.evidence_defaults import defaults
from yarrow.experiments.reproductions.evidence_reading import (
    BASELINES,
    Field,
    Tried,
    compared,
    verdict,
    with_interval,
)
from yarrow.experiments.results import Measured, Results
from yarrow.experiments.spec import Reproduction
from yarrow.lazy import np

Choice = Callable[[Field, Callable[[str], bool]], Tried]
HINDSIGHT: Choice = Field.in_hindsight
FORESEEN: Choice = Field.foreseen
_ALL = {learner.label for learner in spec.ALL_OURS}


def _library(name: str) -> Callable[[str], bool]:
    return lambda label: label.startswith(f"{name}: ")


CONTESTANTS: dict[str, Callable[[str], bool]] = {
    "Yarrow": lambda label: label in spec.TEAM,
    "AROW alone": lambda label: label == "AROWClassifier",
    **{name: _library(name) for name in spec.LIBRARIES},
}
PEERS = spec.LIBRARIES


def _fields(results: Results, wanted: Callable[[Measured], bool]) -> list[Field]:
    """One for each set, in the order of the specification."""
    by_set: dict[str, list[Measured]] = {}
    for one in results:
        if wanted(one):
            by_set.setdefault(one.data, []).append(one)
    return [Field.of(by_set[name]) for name in spec.BY_NAME if name in by_set]


def _is_rival(one: Measured) -> bool:
    plain = "whole" not in one.cell.options and "unit" not in one.cell.options
    return plain and (one.learner in _ALL or one.learner.startswith(PEERS))


def findings(results: Results) -> list[Finding]:
    """Claims, then the tables they rest on."""
    fields = _fields(results, _is_rival)
    wholes = _fields(results, lambda one: "whole" in one.cell.options)
    ranks = _ranks(fields)
    return [
        *_claims(fields, ranks),
        RankDiagram(
            "ranks",
            "Mean ranks over sources of data, settings chosen on the first half",
            tuple(ranks.learners),
            tuple(ranks.mean_ranks),
            ranks.critical_difference,
            _ranks_note(ranks),
        ),
        _errors(fields, FORESEEN, "Errors in the second half, settings chosen on the first"),
        _wins(fields),
        _differences(fields),
        _errors(fields, HINDSIGHT, "Errors over all rows, best setting in hindsight"),
        *([_whole(wholes)] if wholes else []),
        _times(fields),
        _winners(fields),
        *defaults(results),
    ]


def _claims(fields: Sequence[Field], ranks: Ranks) -> list[Finding]:
    rank = dict(zip(ranks.learners, ranks.mean_ranks, strict=True))
    claims: list[Finding] = []
    for peer in PEERS:
        better, even, worse = _count(fields, "Yarrow", peer, FORESEEN)
        claims.append(
            Claim(
                f"Yarrow errs less than {peer} on more sets than it errs more, settings chosen on "
                "the first half.",
                better > worse,
                f"surely less on {better} sets, surely more on {worse}, no difference to be told "
                f"on {even}; mean rank {rank['Yarrow']:.2f} against {rank[peer]:.2f}",
                stable=peer != "Vowpal Wabbit",
            )
        )
    gap = min(rank[peer] for peer in PEERS) - rank["Yarrow"]
    claims.append(
        Claim(
            "Yarrow's mean rank is better than each peer's by more than the critical difference.",
            gap > ranks.critical_difference,
            f"{gap:.2f} better than the next library; critical difference "
            f"{ranks.critical_difference:.2f}",
        )
    )
    better, even, worse = _count(fields, "AROW alone", "Vowpal Wabbit", FORESEEN)
    claims.append(
        Claim(
            "AROW alone, with 6 settings, does no worse than Vowpal Wabbit with "
            f"{_settings_of(spec.VOWPAL)}.",
            better >= worse,
            f"surely less on {better} sets, surely more on {worse}, undecided on {even}",
        )
    )
    beaten = sum(
        error_of(field.foreseen(CONTESTANTS["Yarrow"]).wrong)
        < min(error_of(field.foreseen(_named(name)).wrong) for name in BASELINES)
        for field in fields
    )
    claims.append(
        Claim(
            "Yarrow beats 'repeat the last label' and the majority on every set.",
            beaten == len(fields),
            f"on {beaten} of {len(fields)}",
        )
    )
    return claims


def _named(name: str) -> Callable[[str], bool]:
    return lambda label: label == name


def _settings_of(learners: Sequence[Any]) -> int:
    return sum(len(learner.settings()) for learner in learners)


def _count(fields: Sequence[Field], one: str, other: str, choice: Choice) -> tuple[int, int, int]:
    """Sets on which the first errs surely less, nobody can tell, surely more."""
    verdicts = [
        verdict(compared(choice(f, CONTESTANTS[one]), choice(f, CONTESTANTS[other])))
        for f in fields
    ]
    return verdicts.count(-1), verdicts.count(0), verdicts.count(1)


def _ranks(fields: Sequence[Field]) -> Ranks:
    """Sets of one source share rows, so their mean error is one task."""
    tasks: dict[str, list[list[float]]] = {}
    for field in fields:
        errors = [error_of(field.foreseen(belongs).wrong) for belongs in CONTESTANTS.values()]
        tasks.setdefault(spec.source_of(field.name), []).append(errors)
    means = np.array([np.mean(errors, axis=0) for errors in tasks.values()])
    return mean_ranks(means, list(CONTESTANTS))


def _ranks_note(ranks: Ranks) -> str:
    return (
        f"{ranks.tasks} sources; sets of one source share rows and count once, by their mean "
        f"error. Two mean ranks that are farther apart than {ranks.critical_difference:.2f} differ "
        f"at the level of 5 % (Nemenyi); Friedman's test that all are alike has "
        f"p = {ranks.p_iman_davenport:.2g} (Iman, Davenport). 'AROW alone' is also a part of "
        "'Yarrow'."
    )


def _percent(error: float) -> str:
    return f"{100 * error:.2f}"


def _errors(fields: Sequence[Field], choice: Choice, title: str) -> Table:
    rows = []
    for field in fields:
        best = {name: choice(field, belongs) for name, belongs in CONTESTANTS.items()}
        everything = choice(field, lambda label: label in _ALL)
        bases = [error_of(choice(field, _named(name)).wrong) for name in BASELINES]
        errors = [error_of(one.wrong) for one in best.values()]
        peer = min((best[name] for name in PEERS), key=lambda one: error_of(one.wrong))
        found = compared(best["Yarrow"], peer)
        lowest = min(error_of(best[name].wrong) for name in ("Yarrow", *PEERS))
        rows.append(
            (
                field.name,
                field.rows,
                *(_percent(base) for base in bases),
                *(f"**{_percent(e)}**" if e == lowest else _percent(e) for e in errors),
                _percent(error_of(everything.wrong)),
                f"**{with_interval(found)}**" if found.differ else with_interval(found),
            )
        )
    columns = (
        "set", "rows", "last label", "majority", *CONTESTANTS, "all of Yarrow",
        "Yarrow less the best peer (95 %)",
    )  # fmt: skip
    note = (
        "Percent of rows that were predicted wrongly. Bold: the lowest of Yarrow (five learners) "
        "and the peers; a difference whose interval leaves out 0. The best of three peers is a "
        "choice made in Yarrow's disfavour."
    )
    return Table(title, columns, tuple(rows), note)


def _wins(fields: Sequence[Field]) -> Table:
    rows = []
    for one in ("Yarrow", "AROW alone"):
        for peer in PEERS:
            for words, choice in (("first half", FORESEEN), ("hindsight", HINDSIGHT)):
                plain = [
                    error_of(choice(f, CONTESTANTS[one]).wrong)
                    - error_of(choice(f, CONTESTANTS[peer]).wrong)
                    for f in fields
                ]
                counts = (sum(d < 0 for d in plain), plain.count(0.0), sum(d > 0 for d in plain))
                rows.append((one, peer, words, *counts, *_count(fields, one, peer, choice)))
    columns = (
        "of Yarrow", "peer", "chosen", "less", "equal", "more", "surely less", "undecided",
        "surely more",
    )  # fmt: skip
    note = "On how many sets it errs less than the peer; surely: the 95 % interval leaves out 0."
    return Table("Wins, ties, losses", columns, tuple(rows), note)


def _differences(fields: Sequence[Field]) -> Differences:
    found = []
    for field in fields:
        one = field.foreseen(CONTESTANTS["Yarrow"])
        gap = compared(one, field.foreseen(CONTESTANTS["Vowpal Wabbit"]))
        found.append((field.name, gap.difference, gap.low, gap.high))
    return Differences(
        "differences",
        "Yarrow's error less Vowpal Wabbit's, second half, settings chosen on the first",
        "left of 0: Yarrow errs less",
        tuple(sorted(found, key=lambda item: item[1])),
    )


def _whole(fields: Sequence[Field]) -> Table:
    rows = []
    for field in fields:
        row: list[Any] = [field.name, field.rows]
        row += [_percent(error_of(field.in_hindsight(_named(name)).wrong)) for name in BASELINES]
        for choice in (HINDSIGHT, FORESEEN):
            ours, theirs = (
                choice(field, CONTESTANTS[name]) for name in ("Yarrow", "Vowpal Wabbit")
            )
            found = compared(ours, theirs)
            row += [
                _percent(error_of(ours.wrong)),
                _percent(error_of(theirs.wrong)),
                with_interval(found),
            ]
        rows.append(tuple(row))
    columns = (
        "set", "rows", "last label", "majority", "Yarrow", "Vowpal Wabbit", "difference (95 %)",
        "Yarrow, second half", "Vowpal Wabbit, second half", "difference",
    )  # fmt: skip
    note = (
        f"Sets that were cut above, at full length: Yarrow's five learners "
        f"({_settings_of(spec.TEAM_LEARNERS)} settings) and Vowpal Wabbit's gradient steps "
        f"({len(spec.WHOLE_VOWPAL.settings())}). Hindsight first; then the setting chosen on the "
        "first half, on the second."
    )
    return Table("Whole streams", columns, tuple(rows), note)


def _times(fields: Sequence[Field]) -> Table:
    rows = []
    for field in fields:
        times = [
            float(np.median([one.microseconds for one in field.of_learners(belongs)]))
            for belongs in CONTESTANTS.values()
        ]
        rows.append(
            (
                field.name, field.classes, field.columns, f"{field.values_per_row:.0f}",
                *(f"{time:.1f}" if time < 100 else f"{time:,.0f}" for time in times),
            )
        )  # fmt: skip
    note = (
        "Microseconds of processor time to predict and learn a row, the median of the settings. "
        "Each library has the rows in its own form: Yarrow a CSR array, Vowpal Wabbit lines of "
        "text that it parses, river dicts that were made before. scikit-learn's compiled loop is "
        "called row by row without the checks of `partial_fit`, which take far longer than this."
    )
    columns = ("set", "classes", "columns", "values a row", *CONTESTANTS)
    return Table("Time for a row", columns, tuple(rows), note)


def _winners(fields: Sequence[Field]) -> Table:
    rows = []
    for field in fields:
        cells = []
        for name in ("Yarrow", *PEERS):
            best = field.in_hindsight(CONTESTANTS[name])
            learner = best.learner.removeprefix(f"{name}: ").removesuffix("Classifier")
            cells.append(f"{learner}: {best.setting}")
        best = field.in_hindsight(lambda label: label in _ALL)
        cells.append(f"{best.learner.removesuffix('Classifier')}: {best.setting}")
        rows.append((field.name, *cells, field.failed))
    columns = ("set", "Yarrow", *PEERS, "all of Yarrow", "failed")
    note = "In hindsight. Settings whose weights overflowed are out and counted as failed."
    return Table("The best settings", columns, tuple(rows), note)


MEANING = """
**Errors: as good as the best peer, not better.** With settings chosen on the first half, Yarrow's
five learners and Vowpal Wabbit have the same mean rank, and on 31 of 36 sets nobody can tell them
apart. Yarrow errs surely less than scikit-learn's SGD on 19 sets and surely more on none; beside
river it is 5 to 3. No library's mean rank is beyond the critical difference from the next. Over
whole streams Yarrow is surely ahead of Vowpal Wabbit on Reuters and SMS spam, and surely behind on
electricity.

**Time: that is the difference.** A row takes Yarrow 0.2 to 16 microseconds. Vowpal Wabbit takes 5
to 60 times as long through its Python package, where each row is a line of text; its own command
line would be faster. river takes 20 to 300 times as long.

**Where Yarrow loses.** *electricity*: none of the five learners follows it; CWClassifier does (7.5
% over all rows, less than any peer), but it was not among the five that were named beforehand.
*diabetes, splice, sonar, heart*: columns of different size, few rows. river wins there with its
running StandardScaler. Yarrow has nothing of the kind: this is the gap worth closing. *AROW alone*,
the learner that is recommended first, is surely behind the best of Vowpal Wabbit's 56 settings on
6 sets and ahead on one: trying several learners pays, which is what `yarrow compare` is for.

**Defaults: none is changed.** Of 25 values one passes the rule, `intercept_scaling=0.3` for
PassiveAggressiveClassifier, by 6 sources to 5 and 5 to 4. One in 25 may pass by chance, AROW is no
better with it, and the parameter has one default for all learners, so it stays 1. `C=0.1` for the
same learner wins 7 to 1 and 6 to 1 but saves 1.8 % on the confirming half, less than the 2 % asked
for; it stays 1, too. The diagonal of the precision, r = 1, one against the rest, and rows as they
are hold on both halves. (AROW's initial variance is no factor of its own: only its ratio to r
matters.)

**What to keep in mind.** Most intervals are wide, since sets were cut to 5,000 rows (two classes)
and 1,000 (many). These cuts were made smaller twice, for want of time, when errors of the peers had
been seen on a few hundred rows of five sets only; the defaults had been looked at once, with 1,500
rows of the sets of many classes, and the verdicts were the same. Whoever has more time can raise
both numbers in `evidence_spec.py`.
"""

_REDUCED = tuple(spec.BY_NAME[name] for name in ("sms-spam", "usenet1", "sonar", "splice", "usps"))

REPRODUCTION = Reproduction(
    name="evidence",
    title="Does it earn its place?",
    paper="",
    protocol=f"""
Every real set of classes in `yarrow.datasets`, in its stated order ([datasets](datasets.md)); of
two classes the first {spec.TWO_CLASSES:,} rows, of many the first {spec.MANY_CLASSES:,}, and of
kddcup99, whose first rows are nearly all of one class, as many drawn at random, in their order.
One pass; each row is predicted, then learned. All have the same rows with the same values, nothing
is scaled beforehand, and no mean or variance comes from the future. All know two classes
beforehand; of many, the peers are told which there will be, Yarrow is not.

**How each was tuned.** By trying settings and counting the mistakes made on the way, for all alike.
"Yarrow" is five learners named before the first run, with the grids of `yarrow compare`:
{_settings_of(spec.TEAM_LEARNERS)} settings. Vowpal Wabbit has {_settings_of(spec.VOWPAL)},
scikit-learn's SGDClassifier {_settings_of(spec.SCIKIT)}, river's linear models
{_settings_of(spec.RIVER)} (some behind its running StandardScaler). "AROW alone" has 6. "All of
Yarrow" is every learner of labels but the two slow ones, {_settings_of(spec.ALL_OURS)} settings:
more than any peer has, so it is shown and not counted. In hindsight the best setting over all rows
is taken, which flatters whoever tries more; the honest table takes the setting with the fewest
mistakes in the first half and reports the second.

Vowpal Wabbit has `--oaa` for many classes and a table so large that no two weights share a place.
river tells many classes apart by its OneVsRestClassifier, or by softmax. Optimizers of river that
move every weight at every row (Adam) are left out: they take milliseconds a row on short texts.
Intervals are 95 %, by a paired block bootstrap over the stream (2,000 resamples).
""",
    full=spec.FULL,
    reduced=(
        *spec.rivals(_REDUCED, (200, 40), spec.TEAM_LEARNERS),
        *spec.defaults(_REDUCED, (200, 40)),
        *spec.whole(tuple(one for one in _REDUCED if one.name == "sonar")),
    ),
    budget="About 75,000 rows: Yarrow with 205 settings 3 minutes of processor time, Vowpal Wabbit "
    "with 56 and scikit-learn with 39 5 each, river with 34 15, whole streams 4: under 25 minutes "
    "on two cores.",
    findings=findings,
    differences=MEANING,
)
