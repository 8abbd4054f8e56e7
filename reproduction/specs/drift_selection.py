"""000, Figures 3 and 4: predicting a stream that drifts with few features, and what is learned."""

from __future__ import annotations

from typing import Any

from reproduction.decided import Numbers, above_zero, how_many, in_words, within
from reproduction.findings import DATA, Curve, Curves, Finding, Pictures, Table
from reproduction.results import Measured, Results
from reproduction.spec import Data, Learner, Reproduction, Study
from reproduction.specs.drift_learners import (
    L1,
    L2,
    PAPER,
    l1_constrained,
    l2_constrained,
    news,
    pa,
    usps,
)
from yarrow.lazy import np

INFORMATION, GAME = "information gain", "game theory"
NO_DIAGONAL, EACH_ROW = "game without its diagonal", "game, at each row"
_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_USPS_COUNTS = (4, 8, 16, 32, 64, 128, 256)
_GAME_COUNTS = (8, 16, 32, 48, 64, 128)
_NEWS_COUNTS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
_USPS_EDGES = (-0.5, 0.0, 0.5)


def _by_selector(label: str) -> Learner:
    learner = l2_constrained()
    return Learner(label, learner.estimator, learner.parameters, learner.grid)


def _weights(data: Data, learners: tuple[Learner, ...], trials: int) -> Study:
    options = {"select": "weights", "shares": _SHARES}
    return Study("selection", (data,), learners, options, seeds=trials)


def _information(data: Data, counts: tuple[int, ...], edges: Any, trials: int) -> Study:
    options = {"select": "information", "counts": counts, "edges": edges, "refresh": 1}
    return Study("selection", (data,), (_by_selector(INFORMATION),), options, seeds=trials)


def _game(
    data: Data, label: str, trials: int, counts: tuple[int, ...] = _GAME_COUNTS, refresh: int = 50
) -> Study:
    select = "game without diagonal" if label == NO_DIAGONAL else "game"
    options = {"select": select, "counts": counts, "edges": _USPS_EDGES, "refresh": refresh}
    return Study("selection", (data,), (_by_selector(label),), options, seeds=trials)


def findings(results: Results) -> list[Finding]:
    """Error against features kept for each method, and the weights as pictures."""
    claims: list[Finding] = []
    figures: list[Finding] = []
    for data in results.each("data"):
        part = results.where(data=data)
        of = {label: part.where(learner=label) for label in part.each("learner")}
        curves = {label: _curve(found) for label, found in of.items()}
        most = max(kept for curve in curves.values() for kept, _ in curve)
        few, half = most / 16, most / 2
        whole = {
            label: 100 * np.array([_by_trial(one)[-1][1] for one in of[label]]) for label in of
        }

        def at(kept: float, of: dict[str, Results] = of) -> Errors:
            return {
                label: 100 * np.array([_at(_by_trial(one), kept) for one in found])
                for label, found in of.items()
            }

        at_few, at_half = at(few), at(half)
        claims += _claims(data, few, at_few, at_half, whole)
        claims += _claims_of_selectors(data, few, at_few, curves[INFORMATION], of, whole)
        if GAME in of:
            claims += _claims_of_games(data, at(48), at(16))
        figures.append(
            Curves(
                f"figure-3-{data.split()[0].lower()}",
                f"Figure 3, {data}: error on phases 3 and 4 by the features that predict",
                "features kept, mean of all rows",
                "error",
                tuple(
                    Curve(label, tuple(x for x, _ in curve), tuple(y for _, y in curve))
                    for label, curve in curves.items()
                ),
                percent=True,
                log_x=True,
                marks=True,
            )
        )
        figures.append(
            Table(
                f"{data} in numbers: error %",
                ("method", f"{few:.0f} features", f"{half:.0f} features", "the most it keeps"),
                tuple(
                    (
                        label,
                        _if_measured(curve, few, at_few[label]),
                        _if_measured(curve, half, at_half[label]),
                        float(whole[label].mean()),
                    )
                    for label, curve in curves.items()
                ),
                "Errors between two measured numbers of features are interpolated. "
                + (f"{EACH_ROW}: of {len(of[EACH_ROW])} trials." if EACH_ROW in of else ""),
            )
        )
    return [*claims, *figures, *_pictures(results)]


def _curve(part: Results) -> list[tuple[float, float]]:
    """Mean features kept and mean error, by growing features."""
    kept, error = part.mean_curve("kept"), part.mean_curve("error")
    return sorted((x, y) for x, y in zip(kept, error, strict=True) if x > 0)


def _by_trial(one: Measured) -> list[tuple[float, float]]:
    pairs = zip(one.outcome["kept"], one.outcome["error"], strict=True)
    return sorted((x, y) for x, y in pairs if x > 0)


def _at(curve: list[tuple[float, float]], kept: float) -> float:
    x, y = zip(*curve, strict=True)
    return float(np.interp(np.log(kept), np.log(x), y))


def _if_measured(curve: list[tuple[float, float]], kept: float, errors: Numbers) -> float | None:
    """The mean, unless so few features, or so many, were not measured."""
    return float(errors.mean()) if curve[0][0] <= kept <= curve[-1][0] else None


Errors = dict[str, Numbers]
"""Of each method, a number a trial, in percent."""


def _less(errors: Errors, one: str, other: str) -> str:
    shared = min(len(errors[one]), len(errors[other]))
    difference = errors[other][:shared] - errors[one][:shared]
    return f"{one} {errors[one].mean():.1f} %, {other} {errors[other].mean():.1f} %: less by " + (
        in_words(difference)
    )


def _claims(data: str, few: float, at_few: Errors, at_half: Errors, whole: Errors) -> list[Finding]:
    trials = how_many(len(whole[L2]), "trial")
    lost = at_half[L2] - whole[L2]
    return [
        within(
            f"{data}: the L2-constrained method does not lose by leaving out half of its features "
            "(less than 1 point).",
            [np.maximum(lost, 0)],
            1.0,
            f"{at_half[L2].mean():.1f} % with half, {whole[L2].mean():.1f} % with all: "
            f"{in_words(lost)} lost",
            trials=trials,
            otherwise=DATA,
        ),
        above_zero(
            f"{data}: with {few:.0f} features the L1-constrained method errs more than the "
            "L2-constrained one.",
            [at_few[L1] - at_few[L2]],
            _less(at_few, L2, L1),
            trials=trials,
            otherwise=DATA,
        ),
    ]


def _claims_of_selectors(
    data: str,
    few: float,
    at_few: Errors,
    information: list[tuple[float, float]],
    of: dict[str, Results],
    whole: Errors,
) -> list[Finding]:
    trials = how_many(len(whole[L2]), "trial")
    best = min(information, key=lambda pair: pair[1])[0]  # the number of features, over all trials
    at_best = 100 * np.array([_at(_by_trial(one), best) for one in of[INFORMATION]])
    only = " (the paper: on 20 Newsgroups only)" if data == "USPS" else ""
    improvement = above_zero(
        f"{data}: information gain improves on all features{only}.",
        [whole[L2] - at_best],
        f"{at_best.mean():.1f} % with {best:.0f} features, {whole[L2].mean():.1f} % with all: less "
        f"by {in_words(whole[L2] - at_best)}",
        trials=trials,
        otherwise=DATA,
    )
    rivals = [label for label in (INFORMATION, GAME) if label in at_few]
    return [
        improvement,
        above_zero(
            f"{data}: with {few:.0f} features the L2-constrained method errs less than "
            f"{' and '.join(rivals)}.",
            [at_few[rival] - at_few[L2] for rival in rivals],
            "; ".join(_less(at_few, L2, rival) for rival in rivals),
            trials=trials,
            otherwise=DATA,
        ),
    ]


def _claims_of_games(data: str, at_48: Errors, at_16: Errors) -> list[Finding]:
    trials = how_many(len(at_48[GAME]), "trial")
    claims: list[Finding] = [
        above_zero(
            f"{data}: the game selects better features than information gain, 16 or 48 of them.",
            [at[INFORMATION] - at[GAME] for at in (at_16, at_48)],
            "; ".join(
                f"{count}: {_less(at, GAME, INFORMATION)}"
                for count, at in ((16, at_16), (48, at_48))
            ),
            trials=trials,
        ),
        above_zero(
            f"{data}, beyond the paper: without the diagonal of its rewards the game selects "
            "better, 48 features.",
            [at_48[GAME] - at_48[NO_DIAGONAL]],
            _less(at_48, NO_DIAGONAL, GAME),
            trials=trials,
        ),
    ]
    if EACH_ROW in at_48:
        few = len(at_48[EACH_ROW])
        claims.append(
            within(
                f"{data}: to choose anew every 50 rows instead of at each changes little (less "
                "than 3 points at 48 features).",
                [at_48[EACH_ROW] - at_48[GAME][:few]],
                3.0,
                _less(at_48, EACH_ROW, GAME),
                trials=how_many(few, "trial"),
            )
        )
    return claims


def _pictures(results: Results) -> list[Finding]:
    digits = results.where(data="USPS", seed=0)
    if not len(digits):
        return []
    pictures = [
        (one.learner, tuple(map(tuple, np.reshape(one.outcome["weights"], (16, 16)).tolist())))
        for label in (INFORMATION, "PA", L2, L1)
        for one in digits.where(learner=label)
    ]
    return [
        Pictures(
            "figure-4",
            "Figure 4: absolute weights after phase 4, when only 7 and 9 are told apart",
            tuple(pictures),
            "Information gain: that of each pixel over the whole stream. Bright is large.",
        )
    ]


def _studies(trials: int, few: int, usps_rows: int, news_rows: int) -> tuple[Study, ...]:
    digits, words = usps(usps_rows), news(news_rows)
    regularised = (l2_constrained(), l1_constrained())
    return (
        _weights(digits, (*regularised, pa()), trials),
        _information(digits, _USPS_COUNTS, _USPS_EDGES, trials),
        _game(digits, GAME, trials),
        _game(digits, NO_DIAGONAL, trials),
        _game(digits, EACH_ROW, few, (48,), 1),
        _weights(words, regularised, trials),
        _information(words, _NEWS_COUNTS, None, trials),
    )


REPRODUCTION = Reproduction(
    name="drift-selection",
    title="Predicting a stream that drifts with few features",
    paper=f"{PAPER}, sections 4.3 and 4.4, Figures 3 and 4",
    protocol="""
The streams and the tuning are those of `drift`, for 40 draws. For the constrained methods, at each
row of the second half the smallest weights are left out of the prediction as long as their absolute
values sum to at most sigma; all weights go on learning. Sigma takes twelve shares of the sum of all
absolute weights as it is after the first half. For information gain and the game (4.26), the k
features chosen on all rows so far are the only ones that the learner, the L2-constrained method,
sees; they are chosen anew at each row, for the game every 50 rows, and on five draws at each row
for 48 pixels. Pixels are counted in four bins with edges -0.5, 0 and 0.5. The paper does not name
the learner behind its selectors, its bins or its sigmas. The game is run for USPS only, as in the
paper, since each choice solves a linear program over all features. Intervals are over the draws,
paired.
""",
    full=_studies(40, 5, 500, 800),
    reduced=_studies(2, 1, 24, 60),
    budget="40 trials x 7 methods x up to 12 thresholds, row by row over 2,000 or 3,200 rows, and "
    "30,000 linear programs: 40 minutes of processor time.",
    findings=findings,
    differences="""
*USPS.* With up to about 30 pixels the paper's order comes out: leaving out small weights of the
constrained methods is better than information gain, and PA without a constraint is worse than both
constrained methods. With 40 to 100 pixels it does not: information gain is better. Leaving out half
of the pixels costs the L2-constrained method five points, where the paper loses nothing; many small
weights of neighbouring pixels add up to something. The L1-constrained method, the paper's weaker
one, is nearly as good with few pixels and better with many. The game does badly below 100 pixels,
where the paper has it ahead of information gain. Its rewards are the information that pixels share
with each other, labels play no part in it, and how the paper broke ties between pixels of the same
strategy is not known.

*20 Newsgroups.* As in the paper, the L2-constrained method loses nothing without half of its words,
and about one and a half points without fifteen of sixteen; and information gain improves on using
all words. It is the best method there from about thirty words on.

*The pictures* are like the paper's. The constrained methods look at what tells 7 from 9, the
L1-constrained one at fewer pixels; information gain over the whole stream looks elsewhere. PA,
which in the paper still shows the 3 and the 8, hardly differs from the L2-constrained method here.
""",
)
