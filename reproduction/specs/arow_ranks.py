"""001, Table 1 and Figure 8: four learners on many binary tasks, at six levels of label noise."""

from __future__ import annotations

import itertools

from reproduction.decided import above_zero, in_words
from reproduction.findings import DATA, Curve, Curves, Finding, Pairs, Table
from reproduction.results import Results, mean_ranks, ranks_by_row
from reproduction.spec import Data, Reproduction, Study
from reproduction.specs.arow_learners import PAPER, arow, cw, pa, plain_pa, sop
from yarrow.lazy import np

NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
LEARNERS = (arow(), cw(), pa(), sop(), plain_pa())
AVERAGED = (cw("CW, averaged", average=True), plain_pa("PA without C, averaged", average=True))
RANKED = ("AROW", "CW", "PA", "SOP")
RANKED_WITHOUT_C = ("AROW", "CW", "PA without C", "SOP")
PAPERS_RANKS = {
    "AROW": (1.51, 1.44, 1.38, 1.42, 1.25, 1.25),
    "CW": (1.63, 1.87, 1.95, 2.08, 2.42, 2.76),
    "PA": (2.95, 2.83, 2.78, 2.61, 2.33, 2.08),
    "SOP": (3.91, 3.87, 3.89, 3.89, 4.00, 3.91),
}

_PAIRS = tuple(itertools.combinations(range(10), 2))
USPS = tuple(Data(f"USPS {a}/{b}", "usps", classes=(a, b)) for a, b in _PAIRS)
_MNIST = tuple(Data(f"MNIST {a}/{b}", "mnist", classes=(a, b)) for a, b in _PAIRS)
_MNIST_REST = tuple(Data(f"MNIST {d}/rest", "mnist", against_rest=d) for d in range(10))
_DOMAINS = ("books", "dvd", "electronics", "kitchen", "video")


def _text(rows: int) -> tuple[Data, ...]:
    news = {"part": "all"}
    about, five = {"task": "domain"}, "amazon-sentiment/five"
    groups = (
        ("20 News comp", ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware")),
        ("20 News sci", ("sci.electronics", "sci.med")),
        ("20 News talk", ("talk.politics.guns", "talk.politics.mideast")),
    )
    topics = (("earn", "acq"), ("money-fx", "interest"), ("crude", "ship"))
    return (
        *(Data(label, "20newsgroups", news, classes=two, rows=rows) for label, two in groups),
        *(
            Data(f"Amazon {'/'.join(two)}", five, about, classes=two, rows=rows)
            for two in itertools.combinations(_DOMAINS, 2)
        ),
        *(
            Data(f"Reuters {'/'.join(two)}", "reuters21578", classes=two, rows=rows)
            for two in topics
        ),
        *(Data(f"Sentiment {domain}", five, {"domain": domain}, rows=rows) for domain in _DOMAINS),
        *(Data(f"Spam {box}", "enron-spam", {"mailbox": box}, rows=rows) for box in MAILBOXES),
    )


MAILBOXES = ("enron1", "enron2", "enron3")
_USPS_OPTIONS = {"tuning_rows": 10_000}  # all of them
_MNIST_OPTIONS = {"tuning_rows": 2_000}  # as many as the paper took of each set


def _errors(results: Results, noise: float, learners: tuple[str, ...]) -> list[list[float]]:
    """A row a task, a column a learner."""
    found = {(one.data, one.learner): one.outcome["error"] for one in results.where(noise=noise)}
    return [[found[data, learner] for learner in learners] for data in results.each("data")]


def findings(results: Results) -> list[Finding]:
    """Mean ranks beside the paper's, for all tasks and by kind, and accuracies in pairs."""
    levels = results.each("noise")
    text = Results(tuple(one for one in results if one.cell.options.get("folds")))
    images = Results(tuple(one for one in results if not one.cell.options.get("folds")))
    ranks = _ranks(results, levels, RANKED)
    by_task = {noise: np.array(ranks_by_row(_errors(results, noise, RANKED))).T for noise in levels}
    trials = f"{len(results.each('data'))} tasks"
    highest = max(levels)
    noisy = [noise for noise in levels if noise]

    def behind(noise: float, one: str, other: str) -> list[float]:
        """How far one ranks behind another, task by task."""
        found = by_task[noise][RANKED.index(one)] - by_task[noise][RANKED.index(other)]
        differences: list[float] = found.tolist()
        return differences

    def at(noise: float) -> str:
        return ", ".join(f"{name} {ranks[name][levels.index(noise)]:.2f}" for name in RANKED)

    def nearest(noise: float) -> str:
        rest = RANKED[1:]
        best = min(rest, key=lambda name: ranks[name][levels.index(noise)])
        return f"{100 * noise:.0f} %: {best} is {in_words(behind(noise, best, 'AROW'))} behind"

    lead = behind(0.0, "CW", "AROW")
    fallen = by_task[highest][1] - by_task[0.0][1]
    return [
        above_zero(
            "With no noise AROW leads CW, and narrowly: by less than half a rank.",
            [lead, [0.5 - value for value in lead]],
            f"{at(0.0)}; CW is {in_words(lead)} behind",
            trials=trials,
            otherwise=DATA,
        ),
        above_zero(
            "Under noise AROW has the best mean rank at every level.",
            [behind(noise, other, "AROW") for noise in noisy for other in RANKED[1:]],
            "; ".join(nearest(noise) for noise in noisy),
            trials=trials,
            otherwise=DATA,
        ),
        above_zero(
            "CW's mean rank gets worse with noise, and PA overtakes it.",
            [fallen.tolist(), behind(highest, "CW", "PA")],
            f"CW {ranks['CW'][0]:.2f} without noise; at {100 * highest:.0f} %: {at(highest)}; "
            f"it is {in_words(behind(highest, 'CW', 'PA'))} behind PA there",
            trials=trials,
            stable=True,
        ),
        above_zero(
            "At the highest noise AROW and PA are both ahead of CW and SOP.",
            [behind(highest, one, two) for one in ("CW", "SOP") for two in ("AROW", "PA")],
            at(highest),
            trials=trials,
            stable=True,
        ),
        above_zero(
            "SOP is last at every level.",
            [behind(noise, "SOP", other) for noise in levels for other in RANKED[:3]],
            ", ".join(f"{rank:.2f}" for rank in ranks["SOP"]),
            trials=trials,
            otherwise=DATA,
        ),
        _table("Table 1: mean ranks, paper / ours", results, levels, RANKED),
        *(
            _table(f"The same, {kind} only", part, levels, RANKED, beside=False)
            for kind, part in (("text", text), ("digits", images))
            if len(part)
        ),
        _table(
            "The same with the plain PA, which has no C, in the place of PA-I",
            results,
            levels,
            RANKED_WITHOUT_C,
        ),
        Curves(
            "table-1",
            "Table 1 drawn: mean rank by label noise, ours",
            "label noise",
            "mean rank of four, 1 is best",
            tuple(Curve(name, tuple(levels), tuple(ranks[name])) for name in RANKED),
            marks=True,
        ),
        *_averaging(results),
        *_paired(results, levels),
    ]


def _averaging(results: Results) -> list[Table]:
    """What averaged weights would change, where it was tried."""
    tried = results.where(learner=AVERAGED[0].label)
    if not len(tried):
        return []
    sets = set(tried.each("data"))
    part = Results(tuple(one for one in results.where(noise=0.1) if one.data in sets))
    labels = ("AROW", "PA", "CW", "PA without C", *(learner.label for learner in AVERAGED))
    rows = tuple((label, 100 * part.where(learner=label).mean("error")) for label in labels)
    title = f"Averaged weights: mean error on {len(sets)} pairs of USPS, 10 % noise"
    return [Table(title, ("learner", "error %"), rows)]


def _ranks(
    results: Results, levels: list[float], learners: tuple[str, ...]
) -> dict[str, list[float]]:
    by_level = [mean_ranks(_errors(results, noise, learners)) for noise in levels]
    return {name: [ranks[place] for ranks in by_level] for place, name in enumerate(learners)}


def _table(
    title: str,
    results: Results,
    levels: list[float],
    learners: tuple[str, ...],
    beside: bool = True,
) -> Table:
    ranks = _ranks(results, levels, learners)
    rows = []
    for name, label in zip(learners, RANKED, strict=True):
        cells = [f"{rank:.2f}" for rank in ranks[name]]
        if beside:
            papers = (PAPERS_RANKS[label][NOISE.index(noise)] for noise in levels)
            cells = [f"{paper:.2f} / {ours}" for paper, ours in zip(papers, cells, strict=True)]
        rows.append((name, *cells))
    columns = ("mean rank", *(f"noise {noise:g}" for noise in levels))
    note = f"Over {len(results.each('data'))} tasks; the paper has 130." if beside else ""
    return Table(title, columns, tuple(rows), note)


def _paired(results: Results, levels: list[float]) -> list[Pairs]:
    panels = []
    for noise, rival in itertools.product((0.0, 0.1, 0.3), ("PA", "SOP", "CW")):
        if noise not in levels:
            continue
        errors = _errors(results, noise, (rival, "AROW"))
        pairs = tuple(
            (data, 1 - theirs, 1 - arows)
            for data, (theirs, arows) in zip(results.each("data"), errors, strict=True)
        )
        name = f"figure-8-{rival.lower()}-noise-{100 * noise:.0f}"
        title = f"Figure 8: AROW and {rival}, {100 * noise:.0f} % noise"
        panels.append(Pairs(name, title, f"accuracy of {rival}", "accuracy of AROW", pairs))
    return panels


REPRODUCTION = Reproduction(
    name="arow-ranks",
    title="Mean ranks of AROW, CW, PA and SOP under label noise",
    paper=f"{PAPER}, section 5.3, Table 1 and Figure 8",
    protocol="""
100 tasks of digits, as in the paper: all pairs of USPS and of MNIST, and each digit of MNIST
against the others, with the sets' own test parts. 24 tasks of text by ten folds, at most 2,000 rows
each: three pairs of newsgroups as in the paper; ten pairs of Amazon's domains and five sentiment
tasks (the paper has 15 and 6: a sixth domain is not to be had); three pairs of neighbouring
topics of Reuters-21578 (the paper: RCV1); three Enron mailboxes (the paper: the ECML
spam challenge). Each label of the training rows is flipped with the given probability.

Setting and passes (up to 10) are those with the lowest error on a held-out fifth of one random
order, whose labels are as noisy as the others (for MNIST, of 2,000 rows drawn at random). Where
several have it, all of them are tested, and their mean counts: on the digits most do. Tests are
counted against labels without noise: the paper does not say so, but its multiclass accuracies at
50 % noise are above 50 %. Equal errors share a rank.
""",
    full=(
        Study("tuned", USPS, LEARNERS, _USPS_OPTIONS, NOISE),
        Study("tuned", _MNIST + _MNIST_REST, LEARNERS, _MNIST_OPTIONS, NOISE),
        Study("tuned", _text(2_000), LEARNERS, {"folds": 10}, NOISE),
        Study("tuned", USPS[::6], AVERAGED, _USPS_OPTIONS, (0.1,)),
    ),
    reduced=(
        Study("tuned", USPS[::6], LEARNERS, {"passes": 3}, (0.0, 0.3)),
        Study("tuned", _text(600)[1:3], LEARNERS, {"folds": 3, "passes": 3}, (0.0, 0.3)),
    ),
    budget="124 tasks x 6 noise levels x 33 settings x 10 passes x 2,000 rows x 150 values "
    "to tune, twice as much to measure: 10 minutes of processor time.",
    findings=findings,
    differences="""
On the 24 texts the paper's picture comes out, nearly with its numbers: without noise CW and AROW
lead, from 10 % noise on AROW does, CW falls back steadily, PA comes up and has overtaken it at
30 %, and SOP is last throughout.

On the digits, 100 of the 124 tasks, it does not. Without noise AROW leads there, too. But under
noise PA-I with a tuned C ranks a little better than AROW, and CW falls to the level of SOP at once,
with 5 % noise, where in the paper it is still second. So over all tasks AROW and PA-I cannot be
told apart under noise: the intervals are a fifth of a rank on either side of zero. That settings
with the same error in the tuning count alike does not change this. (An earlier form of this page
took the first of them, which is AROW's most eager r and PA's most cautious C.)

With the plain PA instead, AROW wins nearly every task at every noise level, more clearly than in
the paper, and the other three, which all fit every label, are about even. The paper's ranks of PA
lie between these two readings.

One thing that the paper does not mention would explain CW's place in it: averaged weights. On a
sample of the USPS pairs averaging takes CW and the plain PA from some 14 % to 3 % error (table
below). SOP is last here as well, but not by as much as in the paper, and on the digits not surely.
""",
)
