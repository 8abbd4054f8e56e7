"""001, Figures 4 to 6: a rotated Gaussian in 20 dimensions with a tenth of the labels flipped."""

from __future__ import annotations

from reproduction.decided import Numbers, above_zero, in_words, interval
from reproduction.findings import DATA, FINDING, POWER, Boxes, Claim, Curve, Curves, Finding, Table
from reproduction.results import Results
from reproduction.spec import Data, Reproduction, Study
from reproduction.specs.arow_learners import (
    PAPER,
    SMALL_R,
    arow,
    cw,
    pa,
    perceptron,
    plain_pa,
    sop,
)
from yarrow.lazy import np

_FULL = {"covariance": "full"}
LEARNERS = (
    perceptron(),
    pa(),
    plain_pa(),
    sop("SOP full", **_FULL),
    sop("SOP diagonal"),
    cw("CW full", **_FULL),
    cw("CW diagonal"),
    arow("AROW full", SMALL_R, **_FULL),
    arow("AROW diagonal", SMALL_R),
)
ELLIPSES = (3.0, 10.0)


def _study(seeds: int, rows: int, test_rows: int) -> Study:
    data = tuple(
        Data(
            f"ellipse {length:g} : 1",
            "synthetic/gaussian",
            {"rows": rows, "test_rows": test_rows, "elongation": length},
            drawn=True,
        )
        for length in ELLIPSES
    )
    return Study("online", data, LEARNERS, noise=(0.1,), seeds=seeds)


RIGHT = "ellipse 3 : 1, plane across it"


def _right_half(seeds: int, rows: int, test_rows: int) -> Study:
    """Figure 4, right: most rows lie far from the plane."""
    options = {"rows": rows, "test_rows": test_rows, "elongation": 3.0, "separator": "across"}
    data = (Data(RIGHT, "synthetic/gaussian", options, drawn=True),)
    learners = tuple(one for one in LEARNERS if one.label in HALVES)
    return Study("online", data, learners, noise=(0.1,), seeds=seeds)


HALVES = ("PA", "CW full", "CW diagonal", "AROW full", "AROW diagonal")


def findings(results: Results) -> list[Finding]:
    """Curves of mistakes, the spread of test errors, and what the paper says of them."""
    claims: list[Finding] = []
    figures: list[Finding] = []
    for number, data in enumerate(results.each("data"), start=1):
        if data == RIGHT:
            continue
        part = results.where(data=data)
        by_learner = {label: part.where(learner=label) for label in part.each("learner")}
        claims += _claims(data, by_learner)
        figures += _figures(data, number, by_learner)
    return claims + figures + _halves(results)


def _made(part: Results) -> Numbers:
    """All mistakes of each run."""
    return np.array([curve[-1] for curve in part.values("mistakes")], float)


def _claims(data: str, by_learner: dict[str, Results]) -> list[Finding]:
    made = {label: _made(part) for label, part in by_learner.items()}
    test = {label: 100 * np.array(part.values("test_error")) for label, part in by_learner.items()}
    spread = {label: float(errors.std(ddof=1)) for label, errors in test.items()}
    others = [label for label in made if not label.startswith("AROW")]
    rest = [label for label in others if not label.startswith("CW")]
    ranked = sorted(made, key=lambda label: float(made[label].mean()))
    saved = 1 - made["AROW full"] / made["CW diagonal"].mean()
    low, high = interval(saved)
    trials = f"{len(saved)} runs"

    def words(numbers: dict[str, Numbers], *labels: str, unit: str = "") -> str:
        return ", ".join(
            f"{label} {numbers[label].mean():.{2 if unit else 0}f}{unit}" for label in labels
        )

    best_cw = min(("CW full", "CW diagonal"), key=lambda label: float(made[label].mean()))
    return [
        above_zero(
            f"{data}: AROW with a full covariance makes the fewest mistakes.",
            [made[label] - made["AROW full"] for label in made if label != "AROW full"],
            words(made, *ranked[:4]),
            trials=trials,
            stable=True,
        ),
        Claim(
            f"{data}: about 75 % fewer mistakes than CW (70 to 80 %).",
            low > 0.7 and high < 0.8,
            f"{100 * float(saved.mean()):.1f} [{100 * low:.1f}, {100 * high:.1f}] % fewer than CW "
            "diagonal",
            trials,
            "" if low > 0.7 and high < 0.8 else FINDING if high < 0.7 or low > 0.8 else POWER,
        ),
        above_zero(
            f"{data}: of the methods that are not AROW, CW makes the fewest mistakes.",
            [made[label] - made[best_cw] for label in rest],
            words(made, *sorted(others, key=lambda label: float(made[label].mean()))),
            trials=trials,
        ),
        above_zero(
            f"{data}: CW with a full covariance is worse than with a diagonal one.",
            [made["CW full"] - made["CW diagonal"]],
            words(made, "CW full", "CW diagonal"),
            trials=trials,
            stable=True,
        ),
        above_zero(
            f"{data}: AROW with a full covariance is better than with a diagonal one.",
            [made["AROW diagonal"] - made["AROW full"]],
            words(made, "AROW full", "AROW diagonal"),
            trials=trials,
            stable=True,
        ),
        above_zero(
            f"{data}: on the test set CW, both forms, is worse than Perceptron and PA.",
            [
                test[cw_form] - test[other]
                for cw_form in ("CW full", "CW diagonal")
                for other in ("Perceptron", "PA")
            ],
            words(test, "CW full", "CW diagonal", "Perceptron", "PA", "PA without C", unit=" %"),
            trials=trials,
        ),
        above_zero(
            f"{data}: test errors of AROW, both forms, vary less than those of all others.",
            [
                np.abs(test[other] - test[other].mean()) - np.abs(test[ours] - test[ours].mean())
                for ours in ("AROW full", "AROW diagonal")
                for other in others
            ],
            "deviation: "
            + ", ".join(
                f"{label} {spread[label]:.2f}"
                for label in sorted(spread, key=lambda label: spread[label])
            )
            + " points; compared by the distances from the mean",
            trials=trials,
            otherwise=DATA,
        ),
    ]


def _halves(results: Results) -> list[Finding]:
    """Figure 4: the plane along the ellipse, and across it."""
    left = results.where(data=f"ellipse {ELLIPSES[0]:g} : 1")
    right = results.where(data=RIGHT)
    if not len(right):
        return []
    made = {label: [_made(half.where(learner=label)) for half in (left, right)] for label in HALVES}
    runs = min(map(len, made["AROW full"]))
    rows = tuple(
        (label, *(float(half.mean()) for half in halves)) for label, halves in made.items()
    )
    more = made["AROW full"][1][:runs] - made["AROW full"][0][:runs]
    return [
        above_zero(
            "Figure 4 and Remark 4, ellipse 3 : 1: where most rows lie far from the plane, AROW "
            "with a full covariance makes more mistakes than where they lie near it.",
            [more],
            f"{in_words(more, 1, 1)} more",
            trials=f"{runs} runs",
        ),
        Table(
            "Figure 4: mistakes with the plane along the ellipse (left half) and across it (right)",
            ("learner", "left half", "right half"),
            rows,
            "The paper draws both halves to explain its bound, and measures the left one only.",
        ),
    ]


def _figures(data: str, number: int, by_learner: dict[str, Results]) -> list[Finding]:
    points = next(iter(by_learner["AROW full"])).outcome["rows"]
    curves = {label: part.mean_curve("mistakes") for label, part in by_learner.items()}
    ranked = sorted(curves, key=lambda label: curves[label][-1])
    early = points.index(min(points, key=lambda rows: abs(rows - points[-1] // 10)))
    columns = (
        "learner",
        f"mistakes in {points[early]:,} rows",
        f"mistakes in {points[-1]:,} rows",
        "test error %",
        "its deviation",
        "tuned",
    )
    rows = tuple(
        (
            label,
            curves[label][early],
            curves[label][-1],
            100 * by_learner[label].mean("test_error"),
            100 * by_learner[label].deviation("test_error"),
            _setting(by_learner[label]),
        )
        for label in ranked
    )
    return [
        Curves(
            f"figure-5-{number}",
            f"Figure 5, {data}: mistakes so far against the labels without noise",
            "rows",
            "mistakes so far, mean of all runs",
            tuple(Curve(label, tuple(points), tuple(curves[label])) for label in reversed(ranked)),
        ),
        Boxes(
            f"figure-6-{number}",
            f"Figure 6, {data}: errors on test rows without noise",
            "test error",
            tuple((label, tuple(part.values("test_error"))) for label, part in by_learner.items()),
            percent=True,
        ),
        Table(f"Both in numbers, {data}", columns, rows),
    ]


def _setting(part: Results) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in part.values("setting")[0].items())


REPRODUCTION = Reproduction(
    name="arow-synthetic",
    title="AROW on synthetic data with label noise",
    paper=f"{PAPER}, section 5.2, Figures 4 to 6",
    protocol="""
100 draws of 5,000 rows in 20 dimensions, a tenth of their labels flipped, and 10,000 test rows
without noise. Each row is predicted, then learned; mistakes are counted against the labels without
noise. Settings are those with the fewest mistakes against the noisy labels in one more draw, the
middle one where several have them. The paper does not say how long the ellipse of the first two
coordinates is; two lengths are shown, 3 and 10 times its width. N(0, 2) is read as a variance of 2.
The paper's PA may be PA-I with a tuned C or the plain PA; both are shown. It prints no numbers
beside its figures.
""",
    full=(_study(100, 5_000, 10_000), _right_half(100, 5_000, 10_000)),
    reduced=(_study(5, 2_000, 2_000), _right_half(5, 2_000, 2_000)),
    budget="2 ellipses x 100 runs x 9 learners x 5,000 rows x 20 values, three with full "
    "covariances, and 5 learners once more: 1 minute of processor time.",
    findings=findings,
    differences="""
What the paper says of AROW and CW comes out with either ellipse, the "about 75 % fewer mistakes"
included, and 100 runs are enough to be sure of it. Four things differ.

*PA.* The paper has CW as the best method that is not AROW. Here that is PA-I, which with a tuned C
makes about half of CW's mistakes. The plain PA makes more than CW, so the paper's PA was probably
the plain one, or its C was not tuned as far down (0.001 is best here). But then its other
statement, that PA is better than CW on the test set, does not come out: the plain PA errs more than
CW there.

*AROW with a diagonal covariance* depends on the ellipse. A diagonal lowers the rates of the two
coordinates that are large, and these are the two that tell the class. With a short ellipse it comes
second, far ahead of CW; with one ten times as long as wide it comes last. The paper has AROW ahead
of CW, so its ellipse was probably a short one. On the short ellipse the smallest r are tied in the
tuning, and it matters little which is taken: 404.8 mistakes with r = 0.01, 405.0 with a millionth.

*Variation.* AROW with a full covariance varies least in both cases. With a diagonal one it varies
about as much as PA-I on the short ellipse and more than most others on the long one.

*Figure 4* explains the bound: it is larger where most rows lie far from the plane. The mistakes are
not. With the plane across the ellipse AROW and PA-I make a fraction of them, since a row that lies
far from the plane is told easily, also from noise in 18 other directions. CW gains nothing: it fits
the wrong labels here as there.
""",
)
