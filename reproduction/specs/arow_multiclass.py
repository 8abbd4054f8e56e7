"""001, Tables 3 to 8 and Figures 9 and 10: many classes, at six levels of label noise."""

from __future__ import annotations

from reproduction.findings import Claim, Curve, Curves, Finding, Points, Table
from reproduction.results import Results
from reproduction.spec import Data, Learner, Reproduction, Study
from reproduction.specs.arow_learners import PAPER, PLAIN, arow, cw, pa, perceptron
from yarrow.lazy import np

NOISE = (0.0, 0.1, 0.15, 0.2, 0.25, 0.5)
_TOP = {"multiclass": "top1"}
LEARNERS = (
    perceptron("Perceptron", **_TOP),
    pa("MIRA", **_TOP),
    cw("CW", **_TOP),
    Learner(
        "AdaGrad",
        "AdaGradClassifier",
        {**PLAIN, **_TOP, "variant": "dual"},
        {"eta": (0.01, 0.1, 1.0), "l1": (0.0, 1e-5, 1e-4)},
    ),
    arow("AROW-H", loss="hinge", **_TOP),
    arow("AROW 1", **_TOP),
    arow("AROW 5", multiclass="topk", k=5),
    arow("AROW all", multiclass="all"),
)
LABELS = tuple(learner.label for learner in LEARNERS)
FIRST = ("Perceptron", "MIRA", "CW")  # the paper's "three first baselines"
TWENTY_NEWS, AMAZON_4, AMAZON_3, REUTERS_4 = "20 News", "Amazon 4", "Amazon 3", "Reuters 4"
NEAREST = {
    TWENTY_NEWS: "20News",
    AMAZON_4: "Sentiment All",
    AMAZON_3: "Sentiment 3",
    REUTERS_4: "Reuters",
}
# Tables 3 to 8: accuracies in the order of LABELS.
PAPERS = {
    "20News": {
        0.0: (78.74, 88.41, 92.76, 87.52, 90.91, 91.85, 92.74, 93.39),
        0.1: (66.77, 85.27, 88.77, 86.68, 88.08, 86.31, 88.3, 89.33),
        0.15: (63.08, 73.65, 86.19, 85.78, 86.81, 86.76, 87.13, 88.27),
        0.2: (56.51, 78.02, 82.89, 84.34, 86.1, 84.76, 83.73, 86.45),
        0.25: (51.38, 80.16, 76.6, 82.17, 84.95, 82.37, 82.72, 82.36),
        0.5: (34.21, 50.46, 56.0, 55.95, 64.82, 62.01, 64.15, 65.6),
    },
    "Reuters": {
        0.0: (92.25, 93.4, 92.4, 88.45, 93.73, 93.35, 92.95, 92.95),
        0.1: (82.1, 88.38, 90.63, 87.97, 91.33, 91.63, 92.1, 92.1),
        0.15: (75.8, 88.33, 88.92, 88.85, 91.02, 91.33, 91.8, 91.8),
        0.2: (72.78, 87.92, 86.88, 88.77, 88.5, 89.9, 90.3, 90.3),
        0.25: (68.17, 87.38, 82.78, 88.67, 89.0, 89.2, 88.77, 88.77),
        0.5: (47.38, 75.58, 58.93, 73.32, 75.5, 75.2, 75.73, 75.73),
    },
    "Sentiment 3": {
        0.0: (92.16, 93.46, 94.49, 93.24, 93.93, 94.21, 94.07, 94.07),
        0.1: (86.41, 92.19, 93.43, 93.09, 93.87, 93.49, 93.53, 93.53),
        0.15: (82.86, 90.36, 92.29, 93.5, 92.03, 92.7, 92.49, 92.49),
        0.2: (80.39, 92.59, 91.76, 93.29, 93.27, 92.74, 92.8, 92.8),
        0.25: (75.97, 91.5, 89.19, 92.41, 92.79, 91.63, 91.24, 91.24),
        0.5: (53.89, 72.0, 68.86, 72.53, 69.3, 59.04, 79.39, 79.39),
    },
    "Sentiment All": {
        0.0: (74.06, 76.31, 78.41, 74.78, 77.64, 77.84, 78.4, 78.49),
        0.1: (69.34, 74.71, 77.54, 74.46, 75.42, 75.42, 75.86, 76.19),
        0.15: (66.07, 75.98, 77.05, 73.88, 76.17, 74.15, 75.9, 76.04),
        0.2: (62.45, 74.9, 75.72, 73.61, 75.09, 75.13, 75.65, 75.46),
        0.25: (60.27, 72.05, 75.15, 72.19, 75.08, 74.01, 75.1, 73.33),
        0.5: (42.63, 61.09, 62.88, 54.2, 62.84, 61.58, 62.69, 62.66),
    },
}


def _data(rows: int | None) -> tuple[Data, ...]:
    about = {"task": "domain"}
    return (
        Data(TWENTY_NEWS, "20newsgroups", {"part": "all"}, rows=rows),
        Data(AMAZON_4, "amazon-sentiment", about, rows=rows),
        Data(
            AMAZON_3,
            "amazon-sentiment",
            about,
            classes=("books", "dvd", "electronics"),
            rows=rows,
        ),
        Data(REUTERS_4, "reuters21578", {"topics": 4}, rows=min(rows or 4_000, 4_000)),
    )


def findings(results: Results) -> list[Finding]:
    """Accuracies beside the paper's, their means by noise, and gains by difficulty."""
    levels, sets = results.each("noise"), results.each("data")
    accuracy = {
        (one.data, one.cell.noise, one.learner): 100 * (1 - one.outcome["error"]) for one in results
    }
    mean = {
        (noise, label): float(np.mean([accuracy[data, noise, label] for data in sets]))
        for noise in levels
        for label in LABELS
    }
    first, last = levels[0], levels[-1]
    kinds = ("AROW 1", "AROW 5", "AROW all", "AROW-H")
    apart = max(
        max(accuracy[data, noise, kind] for kind in kinds[:3])
        - min(accuracy[data, noise, kind] for kind in kinds[:3])
        for data in sets
        for noise in levels
    )

    def at(noise: float, *labels: str) -> str:
        return ", ".join(f"{label} {mean[noise, label]:.1f}" for label in labels)

    drops = {label: mean[first, label] - mean[last, label] for label in LABELS}
    return [
        Claim(
            "AROW with one constraint has the best mean accuracy of the one-constraint methods at "
            "every noise level.",
            all(
                mean[noise, "AROW 1"] >= max(mean[noise, label] for label in FIRST)
                for noise in levels
            ),
            "; ".join(f"noise {noise:g}: {at(noise, *FIRST, 'AROW 1')}" for noise in levels),
        ),
        Claim(
            "As noise grows, MIRA overtakes CW.",
            mean[last, "MIRA"] > mean[last, "CW"],
            f"{at(first, 'MIRA', 'CW')} without noise; {at(last, 'MIRA', 'CW')} at {last:g}",
        ),
        Claim(
            "Perceptron and CW fall faster than AROW and MIRA.",
            min(drops["Perceptron"], drops["CW"]) > max(drops["AROW 1"], drops["MIRA"]),
            ", ".join(f"{label} -{drops[label]:.1f}" for label in (*FIRST, "AROW 1")),
        ),
        Claim(
            "One, five and all constraints perform similarly.",
            apart < 5,
            f"at most {apart:.1f} points apart on one set",
        ),
        Claim(
            "AdaGrad is not comparable to AROW.",
            all(mean[noise, "AdaGrad"] < mean[noise, "AROW 1"] for noise in levels),
            "; ".join(f"noise {noise:g}: {at(noise, 'AdaGrad', 'AROW 1')}" for noise in levels),
        ),
        Curves(
            "figure-9-left",
            "Figure 9, left: mean accuracy by label noise",
            "label noise",
            "mean accuracy, %",
            tuple(
                Curve(label, tuple(levels), tuple(mean[noise, label] for noise in levels))
                for label in (*FIRST, "AROW 1")
            ),
            marks=True,
        ),
        Curves(
            "figure-9-right",
            "Figure 9, right: how much the error grows with label noise",
            "label noise",
            "mean increase of the error, % of it",
            tuple(_increase(label, accuracy, sets, levels) for label in (*FIRST, "AROW 1")),
            marks=True,
        ),
        _gains(accuracy, sets, levels),
        *(
            _table(number, noise, accuracy, sets)
            for number, noise in enumerate(NOISE, start=3)
            if noise in levels
        ),
    ]


def _increase(
    label: str,
    accuracy: dict[tuple[str, float, str], float],
    sets: list[str],
    levels: list[float],
) -> Curve:
    growth = [
        np.mean(
            [
                100
                * (accuracy[data, levels[0], label] - accuracy[data, noise, label])
                / (100 - accuracy[data, levels[0], label])
                for data in sets
            ]
        )
        for noise in levels
    ]
    return Curve(label, tuple(levels), tuple(float(value) for value in growth))


def _gains(
    accuracy: dict[tuple[str, float, str], float], sets: list[str], levels: list[float]
) -> Points:
    points = []
    for noise in (0.0, 0.1, 0.25):
        for data in sets if noise in levels else ():
            baseline = float(np.mean([accuracy[data, noise, label] for label in FIRST]))
            error = 100 - baseline
            gain = 100 * (accuracy[data, noise, "AROW 1"] - baseline) / error
            points.append((data, baseline, gain, f"noise {noise:g}"))
    return Points(
        "figure-10",
        "Figure 10: what AROW gains, by how easy the task is",
        "mean accuracy of Perceptron, MIRA and CW, %",
        "share of their error that AROW 1 saves, %",
        tuple(points),
    )


def _table(
    number: int, noise: float, accuracy: dict[tuple[str, float, str], float], sets: list[str]
) -> Table:
    rows = tuple(
        (
            f"{data} ({NEAREST[data]})",
            *(
                f"{paper:.1f} / {accuracy[data, noise, label]:.1f}"
                for label, paper in zip(LABELS, PAPERS[NEAREST[data]][noise], strict=True)
            ),
        )
        for data in sets
    )
    title = f"Table {number}: accuracy with label noise {noise:g}, paper / ours"
    note = "In brackets the paper's set; only 20 News is the same one." if number == 3 else ""
    return Table(title, ("set", *LABELS), rows, note)


_OPTIONS = {"folds": 10, "passes": 5, "tuning_rows": 2_000}

REPRODUCTION = Reproduction(
    name="arow-multiclass",
    title="Many classes under label noise",
    paper=f"{PAPER}, section 5.4, Tables 3 to 8, Figures 9 and 10",
    protocol="""
Of the paper's nine tasks only 20 Newsgroups is to be had as it was: all 18,846 messages, binary
words. Beside it stand the nearest public tasks: the four domains of Amazon's labelled reviews
(8,000; the paper's "Sentiment All" has seven domains), three of them (6,000; the paper's third was
music), and the four most frequent topics of Reuters-21578 (4,000 articles; the paper: RCV1's four
top categories). Enron folders and the New York Times are not to be had.

A label is replaced by another one, drawn at random, with the given probability. Ten folds; tests
are counted against labels without noise. Setting and passes (up to 5; the paper: 10) are those with
the lowest error on a held-out fifth of 2,000 rows, drawn at random. MIRA is the paper's
name for PA with one constraint: PA-I against the best rival. CW: variance form, one constraint.
AdaGrad: dual averaging with L1.
""",
    differences="""
On 20 Newsgroups, the one set that both have, our accuracies are near the paper's: without noise
AROW with one, five and all constraints reaches 92.4, 93.4 and 93.7 % (paper 91.8, 92.7 and 93.4),
and in both CW is ahead of AROW with one constraint there. What falls with noise is the same too:
the Perceptron most, then CW, which MIRA overtakes.

AdaGrad is the main difference. On 20 Newsgroups the paper has it behind AROW with one constraint at
every level but 0.1; here it is behind without noise only, and on the mean of the four sets it is
ahead at every level, by 9 points at 0.5. Its L1 and its rate are tuned here, over nine settings;
the paper does not list its grid.

With much noise the best setting is chosen by 400 rows with noisy labels, so single cells move by
several points: AROW with one and with five constraints differ by 5 points on 20 Newsgroups at 0.5,
where the paper has 2. The other three sets are not the paper's, and their levels say nothing.
""",
    full=(Study("tuned", _data(None), LEARNERS, _OPTIONS, NOISE),),
    reduced=(Study("tuned", _data(1_000)[1:], LEARNERS, {"folds": 2, "passes": 2}, (0.0, 0.5)),),
    budget="4 sets x 6 noise levels x 8 learners x 10 folds x up to 5 passes x up to 17,000 rows x "
    "150 values x up to 20 classes, and 47 settings to tune: 25 minutes of processor time.",
    findings=findings,
)
