"""What it costs to be told only right or wrong: Banditron and the bandit PA beside full labels."""

from __future__ import annotations

from reproduction.decided import Numbers, above_zero, in_words
from reproduction.findings import Curve, Curves, Finding, Table
from reproduction.results import Results
from reproduction.spec import Data, Learner, Reproduction, Study
from yarrow.lazy import np

_GAMMA = (0.03, 0.1, 0.3)
_DECAY = (1 / 3, 1 / 2)
_PRICE = {"alpha": (0.0, 1e-4), "C": (0.01, 0.1)}
PERCEPTRON, PA = "Perceptron, told the label", "regularised PA, told the label"
TOLD = (
    Learner(PERCEPTRON, "Perceptron", {"multiclass": "top1"}),
    Learner(PA, "RegularizedPAClassifier", {}, {"alpha": (1e-5, 1e-4, 1e-3), "C": (0.01, 0.1)}),
)
CONSTANT, DECAYING = "Banditron, constant gamma", "Banditron, decaying gamma"
PA_CONSTANT, PA_DECAYING = "bandit PA, constant gamma", "bandit PA, decaying gamma"
BANDITS = (
    Learner(CONSTANT, "BanditronClassifier", {}, {"gamma": _GAMMA}),
    Learner(DECAYING, "BanditronClassifier", {"gamma": 1.0}, {"decay": _DECAY}),
    Learner(PA_CONSTANT, "BanditPAClassifier", {}, {"gamma": _GAMMA[:2], **_PRICE}),
    Learner(PA_DECAYING, "BanditPAClassifier", {"gamma": 1.0}, {"decay": _DECAY, **_PRICE}),
)


def _study(seeds: int, rows: int) -> Study:
    data = (
        Data("MNIST", "mnist", rows=rows),
        Data("20 Newsgroups", "20newsgroups", rows=min(rows, 11_314)),
    )
    return Study("online", data, TOLD + BANDITS, seeds=seeds)


def findings(results: Results) -> list[Finding]:
    """A figure for each set, and the errors in numbers."""
    sets, labels = results.each("data"), results.each("learner")
    figures: list[Finding] = []
    rows = []
    error: dict[tuple[str, str], float] = {}
    orders: dict[tuple[str, str], Numbers] = {}
    for name in sets:
        curves = []
        for label in labels:
            part = results.where(data=name, learner=label)
            points = np.array(next(iter(part)).outcome["rows"])
            mistakes = np.array(part.mean_curve("mistakes"))
            error[name, label] = 100 * float(mistakes[-1] / points[-1])
            made = np.array(part.values("mistakes"), float)[:, -1]
            orders[name, label] = 100 * made / points[-1]
            curves.append(Curve(label, tuple(points.tolist()), tuple((mistakes / points).tolist())))
            late = 100 * float(
                (mistakes[-1] - mistakes[len(points) * 3 // 4 - 1])
                / (points[-1] - points[len(points) * 3 // 4 - 1])
            )
            test = 100 * part.mean("test_error")
            setting = next(iter(part)).outcome["setting"]
            words = ", ".join(f"{key} = {value:.3g}" for key, value in setting.items())
            rows.append((name, label, error[name, label], late, test, words))
        figures.append(
            Curves(
                f"curve-{name.split()[-1].lower()}",
                f"{name}: error so far",
                "rows",
                "share of classes shown that were wrong",
                tuple(curves),
                percent=True,
                log_x=True,
            )
        )

    def more(name: str, one: str, other: str) -> Numbers:
        """By how much one errs more than the other, order by order."""
        return orders[name, one] - orders[name, other]

    def apart(pairs: dict[str, tuple[str, str]]) -> str:
        return "; ".join(
            f"{name}: {one} {error[name, one]:.1f} %, {other} {error[name, other]:.1f} %, apart by "
            f"{in_words(more(name, one, other))}"
            for name, (one, other) in pairs.items()
        )

    bandits = [learner.label for learner in BANDITS]
    best = {s: min(bandits, key=lambda label: error[s, label]) for s in sets}
    trials = f"{len(results.each('seed'))} orders of {len(sets)} sets"
    decaying = dict.fromkeys(sets, (PA_CONSTANT, PA_DECAYING))
    rival = {s: min((CONSTANT, DECAYING), key=lambda label: error[s, label]) for s in sets}
    return [
        above_zero(
            "The bandit form of the regularised PA shows fewer wrong classes than Banditron, on "
            "each set.",
            [more(s, other, PA_DECAYING) for s in sets for other in (CONSTANT, DECAYING)],
            apart({s: (rival[s], PA_DECAYING) for s in sets}),
            trials=trials,
            stable=True,
        ),
        above_zero(
            "For the bandit PA, exploration that decays is better than a constant share, on each "
            "set.",
            [more(s, *pair) for s, pair in decaying.items()],
            apart(decaying),
            trials=trials,
        ),
        above_zero(
            "Labels are worth much: told only right or wrong, the best makes more mistakes than "
            "the Perceptron that is told all labels, on each set.",
            [more(s, best[s], PERCEPTRON) for s in sets],
            apart({s: (best[s], PERCEPTRON) for s in sets}),
            trials=trials,
        ),
        *figures,
        Table(
            "In numbers: error %",
            ("set", "learner", "all rows", "last quarter", "test part", "setting"),
            tuple(rows),
            "All rows and last quarter count the classes shown, drawn to explore or not; the test "
            "part is predicted without exploring.",
        ),
    ]


REPRODUCTION = Reproduction(
    name="bandit",
    title="Told only right or wrong",
    paper="",
    protocol="""
All 60,000 rows of MNIST (ten classes) and all 11,314 of 20 Newsgroups (twenty classes), five random
orders. A class is shown for each row, and the bandits are told whether it was right; the others are
told the label. Classes shown to explore count as mistakes like any other. Settings are those with
the fewest mistakes on one more order. With decay the share of exploring is t**-decay at row t.
""",
    full=(_study(5, 60_000),),
    reduced=(_study(4, 3_000),),
    budget="5 orders x 2 sets x 6 learners, and 27 settings to tune: 5 minutes of processor time.",
    findings=findings,
    differences="""
The bandit PA learns from every answer, also from "wrong"; Banditron's steps are divided by the
probability of the draw, so those that teach a class something new are rare and large. On MNIST the
bandit PA even errs less than the Perceptron that is told all labels. The regularised PA that is
told them errs less over all rows, but no longer over the last quarter, and more on the test part.
On 20 Newsgroups, with twenty classes and few rows, labels are worth much. Exploration that decays
helps the bandit PA while classes are shown (on the test parts, where nothing is explored, a
constant share does better) and hurts Banditron, which learns hardly anything without exploring.
""",
)
