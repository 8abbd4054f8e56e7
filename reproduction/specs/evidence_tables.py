"""The tables of the evidence: errors, ranks, wins and losses, times, the best settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reproduction.findings import Differences, RankDiagram, Table
from reproduction.spec import Learner
from reproduction.specs import evidence_spec as spec
from reproduction.specs.evidence_reading import (
    BASELINES,
    Field,
    Stream,
    Tried,
    compared,
    verdict,
    with_interval,
)
from yarrow.evaluate.curves import error_of
from yarrow.evaluate.ranks import Ranks, mean_ranks
from yarrow.lazy import np

Belongs = Callable[[str], bool]
Choice = Callable[[Stream, Belongs], Tried]
HINDSIGHT: Choice = Stream.in_hindsight
FORESEEN: Choice = Stream.foreseen

PEERS = spec.LIBRARIES
NO_SETTINGS = spec.NO_SETTINGS.label
_ALL = {learner.label for learner in spec.ALL_OURS}


def named(name: str) -> Belongs:
    """Tells whether a label is this one."""
    return lambda label: label == name


def _library(name: str) -> Belongs:
    return lambda label: label.startswith(f"{name}: ")


def all_of_yarrow(label: str) -> bool:
    """Tells whether a learner is one of Yarrow's with settings."""
    return label in _ALL


TUNED: dict[str, Belongs] = {
    "Yarrow": lambda label: label in spec.TEAM,
    "AROW alone": named("AROWClassifier"),
    **{name: _library(name) for name in PEERS},
}
CONTESTANTS: dict[str, Belongs] = {**TUNED, NO_SETTINGS: named(NO_SETTINGS)}


def counts(streams: Sequence[Stream], one: str, other: str, choice: Choice) -> tuple[int, int, int]:
    """Sets on which the first errs surely less, nobody can tell, surely more."""
    verdicts = [
        verdict(compared(choice(s, CONTESTANTS[one]), choice(s, CONTESTANTS[other])))
        for s in streams
    ]
    return verdicts.count(-1), verdicts.count(0), verdicts.count(1)


def confirming_of(streams: Sequence[Stream]) -> list[Stream]:
    """Those on which nothing was chosen."""
    return [stream for stream in streams if not spec.BY_NAME[stream.name].chooses]


def settings_of(learners: Sequence[Learner]) -> int:
    """How many settings some learners have together."""
    return sum(len(learner.settings()) for learner in learners)


def ranks_of(streams: Sequence[Stream]) -> Ranks:
    """Sets of one source share rows, so their mean error is one task."""
    tasks: dict[str, list[list[float]]] = {}
    for stream in streams:
        errors = [error_of(stream.foreseen(belongs).wrong) for belongs in CONTESTANTS.values()]
        tasks.setdefault(spec.source_of(stream.name), []).append(errors)
    means = np.array([np.mean(errors, axis=0) for errors in tasks.values()])
    return mean_ranks(means, list(CONTESTANTS))


def rank_diagram(ranks: Ranks) -> RankDiagram:
    """The mean ranks on a line."""
    note = (
        f"{ranks.tasks} sources; sets of one source share rows and count once, by their mean "
        f"error. Two mean ranks that are farther apart than {ranks.critical_difference:.2f} differ "
        f"at the level of 5 % (Nemenyi); Friedman's test that all are alike has "
        f"p = {ranks.p_iman_davenport:.2g} (Iman, Davenport). 'AROW alone' is also a part of "
        "'Yarrow'."
    )
    return RankDiagram(
        "ranks",
        "Mean ranks over sources of data, settings chosen on the first rows",
        tuple(ranks.learners),
        tuple(ranks.mean_ranks),
        ranks.critical_difference,
        note,
    )


def _percent(error: float) -> str:
    return f"{100 * error:.2f}"


def _marked(error: float, lowest: float) -> str:
    return f"**{_percent(error)}**" if error == lowest else _percent(error)


def _sure(one: Tried, other: Tried) -> str:
    found = compared(one, other)
    return f"**{with_interval(found)}**" if found.differ else with_interval(found)


def whole_streams(streams: Sequence[Stream]) -> Table:
    """The honest table: chosen on the first rows, judged on all others."""
    rows = []
    for stream in streams:
        best = {name: stream.foreseen(belongs) for name, belongs in CONTESTANTS.items()}
        errors = [error_of(one.wrong) for one in best.values()]
        peer = min((best[name] for name in PEERS), key=lambda one: error_of(one.wrong))
        rows.append(
            (
                stream.name,
                stream.whole.rows,
                stream.chosen_on,
                *(_percent(error_of(stream.foreseen(named(base)).wrong)) for base in BASELINES),
                *(_marked(error, min(errors)) for error in errors),
                _percent(error_of(stream.foreseen(all_of_yarrow).wrong)),
                _sure(best["Yarrow"], peer),
                _sure(best[NO_SETTINGS], peer),
            )
        )
    columns = (
        "set", "rows", "chosen on", "last label", "majority", *CONTESTANTS, "all of Yarrow",
        "Yarrow less the best peer (95 %)", f"{NO_SETTINGS} less the best peer (95 %)",
    )  # fmt: skip
    note = (
        "Percent of the rows after those the setting was chosen on that were predicted wrongly. "
        "Bold: the lowest; a difference whose interval leaves out 0. The best of three peers, "
        "judged on these very rows, is a choice made in Yarrow's disfavour."
    )
    title = "Errors over whole streams, settings chosen on the first rows"
    return Table(title, columns, tuple(rows), note)


def in_hindsight(streams: Sequence[Stream]) -> Table:
    """The best setting of each on the rows on which all were tried."""
    rows = []
    for stream in streams:
        best = {name: stream.in_hindsight(belongs) for name, belongs in TUNED.items()}
        peer = min((best[name] for name in PEERS), key=lambda one: error_of(one.wrong))
        errors = [error_of(one.wrong) for one in best.values()]
        bases = [stream.tried.in_hindsight(named(name)) for name in BASELINES]
        rows.append(
            (
                stream.name,
                stream.tried.rows,
                *(_percent(error_of(base.wrong)) for base in bases),
                *(_marked(error, min(errors)) for error in errors),
                _percent(error_of(stream.in_hindsight(all_of_yarrow).wrong)),
                _sure(best["Yarrow"], peer),
            )
        )
    columns = (
        "set", "rows", "last label", "majority", *TUNED, "all of Yarrow",
        "Yarrow less the best peer (95 %)",
    )  # fmt: skip
    note = "Percent of the first rows that were predicted wrongly; bold as above."
    title = "Errors on the first rows, best setting in hindsight"
    return Table(title, columns, tuple(rows), note)


def wins(streams: Sequence[Stream]) -> Table:
    """On how many sets each of Yarrow's errs less than each peer."""
    foreseen, hindsight = ("first rows", FORESEEN, streams), ("hindsight", HINDSIGHT, streams)
    confirming = ("first rows, sets that confirm", FORESEEN, confirming_of(streams))
    rows = []
    for one, ways in (
        (NO_SETTINGS, (foreseen, confirming)),
        ("Yarrow", (foreseen, hindsight)),
        ("AROW alone", (foreseen, hindsight)),
    ):
        for peer in PEERS:
            for words, choice, those in ways:
                plain = [
                    error_of(choice(s, CONTESTANTS[one]).wrong)
                    - error_of(choice(s, CONTESTANTS[peer]).wrong)
                    for s in those
                ]
                signs = (sum(d < 0 for d in plain), plain.count(0.0), sum(d > 0 for d in plain))
                rows.append((one, peer, words, *signs, *counts(those, one, peer, choice)))
    columns = (
        "of Yarrow", "peer", "chosen", "less", "equal", "more", "surely less", "undecided",
        "surely more",
    )  # fmt: skip
    note = (
        "On how many sets it errs less than the peer; surely: the 95 % interval leaves out 0. "
        "Chosen on the first rows it is judged on all others of the stream; in hindsight, on the "
        f"first rows. {NO_SETTINGS} was made by looking at the sets that choose, but for one "
        "change."
    )
    return Table("Wins, ties, losses", columns, tuple(rows), note)


def differences(streams: Sequence[Stream], one: str) -> Differences:
    """The gap to Vowpal Wabbit, set by set."""
    found = []
    for stream in streams:
        ours, theirs = (stream.foreseen(CONTESTANTS[name]) for name in (one, "Vowpal Wabbit"))
        gap = compared(ours, theirs)
        found.append((stream.name, gap.difference, gap.low, gap.high))
    return Differences(
        f"differences-{one.lower()}",
        f"{one}'s error less Vowpal Wabbit's over whole streams, settings chosen on the first rows",
        f"left of 0: {one} errs less",
        tuple(sorted(found, key=lambda item: item[1])),
    )


def whole_in_hindsight(fields: Sequence[Field]) -> Table:
    """All settings over whole streams, of the two that are fast enough."""
    rows = []
    for field in fields:
        ours, theirs = (field.in_hindsight(TUNED[name]) for name in ("Yarrow", "Vowpal Wabbit"))
        bases = [error_of(field.in_hindsight(named(name)).wrong) for name in BASELINES]
        errors = [*bases, error_of(ours.wrong), error_of(theirs.wrong)]
        rows.append((field.name, field.rows, *map(_percent, errors), _sure(ours, theirs)))
    columns = (
        "set", "rows", "last label", "majority", "Yarrow", "Vowpal Wabbit", "difference (95 %)",
    )  # fmt: skip
    note = (
        f"Yarrow's five learners ({settings_of(spec.TEAM_LEARNERS)} settings) and Vowpal Wabbit's "
        f"gradient steps ({len(spec.WHOLE_VOWPAL.settings())}), all over all rows."
    )
    title = "Errors over whole streams, best setting in hindsight"
    return Table(title, columns, tuple(rows), note)


def times(streams: Sequence[Stream]) -> Table:
    """How long a row takes."""
    rows = []
    for stream in streams:
        field = stream.tried
        medians = [
            float(np.median([one.microseconds for one in found]))
            for belongs in CONTESTANTS.values()
            if (found := field.of_learners(belongs) or stream.whole.of_learners(belongs))
        ]
        rows.append(
            (
                field.name, field.classes, field.columns, f"{field.values_per_row:.0f}",
                *(f"{time:.1f}" if time < 100 else f"{time:,.0f}" for time in medians),
            )
        )  # fmt: skip
    note = (
        "Microseconds of processor time to predict and learn one of the first rows, the median of "
        f"the settings; of {NO_SETTINGS}, one of all rows. Each library has the rows in its own "
        "form: Yarrow a CSR array, Vowpal Wabbit lines of text that it parses, river dicts that "
        "were made before. scikit-learn's compiled loop is called row by row without the checks "
        "of `partial_fit`, which take far longer than this."
    )
    columns = ("set", "classes", "columns", "values a row", *CONTESTANTS)
    return Table("Time for a row", columns, tuple(rows), note)


def chosen_settings(streams: Sequence[Stream]) -> Table:
    """Which setting of which learner each library was judged with."""
    rows = []
    for stream in streams:
        cells = []
        for name in ("Yarrow", *PEERS):
            best = stream.choice(TUNED[name])
            learner = best.learner.removeprefix(f"{name}: ").removesuffix("Classifier")
            cells.append(f"{learner}: {best.setting}")
        best = stream.choice(all_of_yarrow)
        cells.append(f"{best.learner.removesuffix('Classifier')}: {best.setting}")
        rows.append((stream.name, *cells, len(stream.tried.failed), len(stream.whole.failed)))
    columns = ("set", "Yarrow", *PEERS, "all of Yarrow", "failed at first", "failed later")
    note = (
        "Those with the fewest mistakes on the first rows. Settings whose weights overflowed "
        "there are out; so are chosen ones whose weights overflowed later, and the next best took "
        "their place."
    )
    return Table("The settings that were chosen", columns, tuple(rows), note)
