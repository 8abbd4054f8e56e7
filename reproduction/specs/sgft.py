"""004, Tables 3 and 4 and Figure 1: precision and sparseness of frequency-aware truncation."""

from __future__ import annotations

import math

from reproduction.findings import Claim, Curve, Curves, Finding, Table
from reproduction.results import Measured, Results
from reproduction.spec import Reproduction, Study
from reproduction.specs.sparse_learners import PAPER, data, rda, sg_l1, sgft
from yarrow.lazy import np

LEARNERS = (sgft(1.0), sgft(2.0), sgft(3.0), sgft(math.inf), sg_l1(), rda())
LABELS = tuple(learner.label for learner in LEARNERS)
# Tables 3 and 4: precision [deviation] (sparseness), in the order of LABELS.
PAPERS = {
    "books": (
        (85.23, 1.52, 34.52),
        (85.52, 1.24, 48.26),
        (85.14, 1.33, 49.58),
        (85.05, 1.41, 69.39),
        (84.98, 1.61, 48.28),
        (86.57, 1.16, 34.65),
    ),
    "dvd": (
        (82.49, 1.68, 37.46),
        (84.75, 1.75, 59.72),
        (85.03, 2.28, 63.74),
        (84.02, 1.66, 67.19),
        (83.91, 1.55, 79.57),
        (86.36, 2.08, 37.08),
    ),
    "ob-2-1": (
        (97.00, 1.73, 42.78),
        (97.10, 1.14, 56.73),
        (96.90, 1.87, 59.03),
        (96.80, 1.94, 59.78),
        (96.40, 1.96, 49.23),
        (97.60, 1.80, 39.83),
    ),
    "sb-2-1": (
        (98.90, 0.83, 60.13),
        (98.40, 0.80, 70.32),
        (98.40, 1.11, 71.99),
        (98.10, 1.14, 72.69),
        (97.20, 1.78, 84.25),
        (98.20, 0.75, 56.67),
    ),
    "ob-8-1": (
        (92.25, 1.14, 62.83),
        (93.10, 1.41, 62.84),
        (93.00, 1.29, 64.64),
        (91.45, 1.33, 77.78),
        (90.63, 1.64, 87.90),
        (93.78, 1.21, 50.52),
    ),
    "sb-8-1": (
        (90.90, 1.72, 68.26),
        (92.55, 1.85, 68.49),
        (93.78, 2.44, 70.23),
        (91.25, 1.44, 83.53),
        (90.53, 1.61, 67.46),
        (95.45, 0.95, 60.46),
    ),
    "reut20": (
        (95.23, 0.65, 89.11),
        (96.04, 0.56, 90.38),
        (95.91, 0.55, 90.21),
        (94.80, 0.67, 91.05),
        (95.53, 0.63, 89.29),
        (96.27, 0.63, 86.67),
    ),
}


def findings(results: Results) -> list[Finding]:
    """Tables 3 and 4 in one, the same with lambda chosen in hindsight, and Figure 1."""
    sets = results.each("data")
    found = {(one.data, one.learner): one for one in results}
    accuracy = {key: 100 * one.outcome["accuracy"] for key, one in found.items()}
    zeros = {key: 100 * one.outcome["sparseness"] for key, one in found.items()}

    def wins(one: str, other: str) -> int:
        return sum(accuracy[name, one] > accuracy[name, other] for name in sets)

    def mean(values: dict[tuple[str, str], float], label: str) -> float:
        return float(np.mean([values[name, label] for name in sets]))

    best = {name: max(LABELS, key=lambda label: accuracy[name, label]) for name in sets}
    rda_best = sum(best[name] == "RDA" for name in sets)
    denser = sum(zeros[name, "RDA"] < zeros[name, "SGFT p=2"] for name in sets)
    by_p = [mean(zeros, label) for label in LABELS[:4]]
    return [
        Claim(
            "SGFT with p = 2 is more precise than SG-L1 on all sets.",
            wins("SGFT p=2", "SG-L1") == len(sets),
            f"on {wins('SGFT p=2', 'SG-L1')} of {len(sets)}; mean precision "
            f"{mean(accuracy, 'SGFT p=2'):.2f} and {mean(accuracy, 'SG-L1'):.2f}",
        ),
        Claim(
            "RDA is the most precise on all sets but one.",
            rda_best >= len(sets) - 1,
            ", ".join(f"{name}: {label}" for name, label in best.items()),
        ),
        Claim(
            "RDA is less sparse than SGFT with p = 2.",
            denser == len(sets),
            f"on {denser} of {len(sets)}; mean sparseness {mean(zeros, 'RDA'):.1f} and "
            f"{mean(zeros, 'SGFT p=2'):.1f}",
        ),
        Claim(
            "SGFT gets sparser as p grows.",
            by_p == sorted(by_p),
            ", ".join(f"{label} {value:.1f}" for label, value in zip(LABELS, by_p, strict=False)),
        ),
        Claim(
            "SGFT with p = 2 is the best or second of the four p on every set.",
            all(
                sum(accuracy[name, label] > accuracy[name, "SGFT p=2"] for label in LABELS[:4]) < 2
                for name in sets
            ),
            "; ".join(
                f"{name}: {max(LABELS[:4], key=lambda label: accuracy[name, label])}"
                for name in sets
            ),
        ),
        _table("Tables 3 and 4: precision [deviation] (sparseness), the paper's", sets, None),
        _table("The same, ours: lambda chosen within the training folds", sets, found),
        _hindsight(sets, found),
        Curves(
            "figure-1",
            "Figure 1: h of a feature whose gradients are 0 or 1",
            "rows that have the feature",
            "h",
            tuple(_h(label, power) for label, power in _POWERS),
        ),
        Table(
            "The sets, paper / ours",
            ("set", "rows", "features"),
            tuple(
                (
                    name,
                    f"{_SIZES[name][0]:,} / {found[name, 'RDA'].outcome['rows']:,}",
                    f"{_SIZES[name][1]:,} / {found[name, 'RDA'].outcome['features']:,}",
                )
                for name in sets
            ),
        ),
    ]


_POWERS = (("p = 1", 1.0), ("p = 2", 1 / 2), ("p = 3", 1 / 3), ("p = inf, or plain L1", 0.0))
_SIZES = {
    "books": (4_465, 332_441),
    "dvd": (3_586, 282_901),
    "ob-2-1": (1_000, 5_942),
    "sb-2-1": (1_000, 6_276),
    "ob-8-1": (4_000, 13_890),
    "sb-8-1": (4_000, 16_282),
    "reut20": (7_800, 34_488),
}


def _h(label: str, power: float) -> Curve:
    counts = tuple(range(1, 21))
    return Curve(label, counts, tuple(float(count**power) for count in counts))


def _table(title: str, sets: list[str], found: dict[tuple[str, str], Measured] | None) -> Table:
    rows = []
    for name in sets:
        cells = []
        for place, label in enumerate(LABELS):
            if found is None:
                precision, deviation, zeros = PAPERS[name][place]
            else:
                outcome = found[name, label].outcome
                precision, deviation, zeros = (
                    100 * outcome[field] for field in ("accuracy", "deviation", "sparseness")
                )
            cells.append(f"{precision:.2f} [{deviation:.2f}] ({zeros:.1f})")
        rows.append((name, *cells))
    return Table(title, ("set", *LABELS), tuple(rows))


def _hindsight(sets: list[str], found: dict[tuple[str, str], Measured]) -> Table:
    rows = []
    for name in sets:
        cells = []
        for label in LABELS:
            outcome = found[name, label].outcome
            precision, zeros = max(outcome["by_setting"])
            place = outcome["by_setting"].index([precision, zeros])
            l1 = outcome["settings"][place]["l1"]
            cells.append(f"{100 * precision:.2f} ({100 * zeros:.1f}) at {l1:g}")
        rows.append((name, *cells))
    return Table(
        "The same, lambda chosen by the test folds themselves: precision (sparseness) at lambda",
        ("set", *LABELS),
        tuple(rows),
        "The paper chose lambda by ten folds and reports ten folds; it may have done this.",
    )


REPRODUCTION = Reproduction(
    name="sgft",
    title="Frequency-aware truncation: precision and sparseness",
    paper=f"{PAPER}, section 5, Tables 2 to 4, Figure 1",
    protocol="""
20 passes over nine of ten folds, the tenth predicted; precision is the share of right predictions.
Hinge loss (15), one weight vector a class, rate 1/sqrt(t) with t counted over all passes, V = 500,
beta_t = sqrt(t) for RDA, no intercept. Lambda is chosen anew for each fold, by a model of eight of
the nine folds that predicts the ninth. Sparseness, which the paper does not define, is the share of
zeros among the weights of all features that occur in the training folds, times the classes.

The books and dvd sets have the paper's rows, but only the 5,000 most frequent words and pairs of
words; the four newsgroup sets have its sizes and kinds, but the groups are our choice (see
`yarrow.datasets`), words are not stemmed, and messages keep their head lines; reut20 has 7,800
articles of one of the 20 most frequent topics.
""",
    full=(Study("sparse_folds", data(), LEARNERS, {"folds": 10, "passes": 20}),),
    reduced=(Study("sparse_folds", data(800)[:4], LEARNERS, {"folds": 4, "passes": 4}),),
    differences="""
The main result comes out: taking frequency into account pays. SGFT with p = 2 is more precise than
SG-L1 on all seven sets, by 3 points on average where the paper has 1, and it gets sparser as p
grows. On reut20, the set that is most like the paper's, all six figures are within a point of it.

RDA does not lead. In the paper it is the most precise on six sets, here on two; SGFT leads on the
other five, with p = 1 on three of the four newsgroup sets. Nor is RDA the densest. Both have to do
with lambda: chosen by folds within the training rows, it is larger for RDA, and the table below
shows that RDA's best lambda in hindsight is nearly always the smallest tried, with few zeros and
about half a point more precision. Whoever chooses lambda otherwise gets another picture of
sparseness; it is not a property of the method alone.

Precision on the newsgroups is mostly 1 to 5 points below the paper's, on books and dvd up to 3. The
groups, the words and their number are not the same (last table): the paper had 332,441 features
for books, of which most occur once, and these are also most of what makes its models sparse. The
deviation of 9 points of two cells comes from one fold each, for which the choice of lambda by one
fold went wrong.
""",
    budget="7 sets x 6 learners x 6 lambdas x 10 folds x 2 (to choose, to measure) x 20 passes x "
    "4,000 rows x 90 values x up to 20 classes: 25 minutes of processor time.",
    findings=findings,
)
