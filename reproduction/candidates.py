"""Learners that answer a question, of a paper or our own, and are not part of the package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from yarrow import CustomClassifier, RuleInput, YarrowClassifier, YarrowRegressor
from yarrow._core import classifier_constants
from yarrow.feature_selection import GameSelection
from yarrow.lazy import np

T = TypeVar("T")


def adaptive_margin_arow(r: float, phi: float, **parameters: Any) -> CustomClassifier:
    """AROW that asks for the margin phi*sqrt(v) instead of 1: less where it is sure, as CW does.

    The step is AROW's own (16) with this margin: alpha = loss/(v + r), precision += z*z'/r.
    """

    def rule(s: RuleInput) -> tuple[float, float]:
        loss = phi * math.sqrt(s.v) - s.margin
        return (loss / (s.v + r), 1 / r) if loss > 0 else (0.0, 0.0)

    return CustomClassifier(rule, "confidence", **parameters)


class BatchAROW:
    """AROW over all rows at once, which the outlook of Crammer, Kulesza & Dredze (2013) asks for.

    With all rows in (3) instead of one, KL(N(mu, Sigma) || N(0, I)) + sum of loss^2/(2r) and of
    x'Sigma x/(2r), mu and Sigma part: Sigma^-1 = I + sum of x x'/r, and mu minimises
    |mu|^2/2 + sum of loss^2/(2r). So its mean is the support vector machine of the squared hinge
    loss with C = 1/(2r), whatever Sigma is; LIBLINEAR finds it, exactly where there are fewer
    features than rows, and elsewhere by at most 1,000 rounds over the rows, which are too few where
    r is small. More passes change nothing.
    """

    def __init__(self, r: float = 1.0) -> None:
        from sklearn.svm import LinearSVC

        self._machine = LinearSVC(C=1 / (2 * r), fit_intercept=False, dual="auto", random_state=0)
        self._rows: Any = None

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> BatchAROW:
        """Fit these rows, unless they are those that were fitted last."""
        import warnings

        if self._rows is not X:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it has not converged after 1,000 rounds
                self._machine.fit(X, y)
            self._rows = X
        return self

    def predict(self, X: Any) -> Any:
        """Predict labels."""
        return self._machine.predict(X)


class GameWithoutDiagonal(GameSelection):
    """The game of (4.26) where a feature tells nothing of itself: I(x; x) counts as 0.

    The diagonal is the entropy of a feature, much larger than what it shares with any other. With
    it the game prefers features for being varied.
    """

    def rewards(self) -> Any:
        """I(xi; xj) of different features."""
        shared = super().rewards()
        np.fill_diagonal(shared, 0.0)
        return shared


def yarrow_without(part: str, **parameters: Any) -> YarrowClassifier:
    """`YarrowClassifier` without one of its parts, to see what the part is worth."""
    return yarrow_of(
        {
            "AROW": (0, 0, 0, 0, 1, 1, 0, 1, 0, 0),
            "AdaGrad": (1, 1, 1, 1, 0, 0, 1, 1, 1, 1),
            "naive Bayes": (0, 1, 1, 1, 1, 1, 1, 0, 1, 1),
            "bends": (1, 1, 1, 1, 1, 1, 0, 1, 1, 1),
            "full covariance": (1, 1, 1, 1, 1, 1, 1, 1, 0, 1),
            "pairs": (1, 1, 1, 1, 1, 1, 1, 1, 1, 0),
            "all but one expert": (0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        }.get(part, (1,) * 10),
        forgets=part != "forgetting",
        weighs=part != "mixture",
        **parameters,
    )


def yarrow_of(
    takes_part: Sequence[int], forgets: bool = True, weighs: bool = True, **parameters: Any
) -> YarrowClassifier:
    """`YarrowClassifier` with some of its experts, in the order of `expert_weights_`."""
    own = classifier_constants()
    first = own["first_weights"]
    weights = [one * weight for one, weight in zip(takes_part, first, strict=True)]
    variances = zip(takes_part, own["first_variances"], strict=True)
    changed = {
        "first_weights": [weight / sum(weights) * sum(first) for weight in weights],
        "first_variances": [one * variance for one, variance in variances],
    }
    if not forgets:
        changed["memories"] = [1.0] * len(own["memories"])
    if not weighs:
        changed |= {"mixture_r": [1e300], "drift": [0.0]}
    return _changed(YarrowClassifier, changed, **parameters)


def yarrow_with(**changed: float) -> YarrowClassifier:
    """`YarrowClassifier` with other numbers for its experts and for the drift of its mixture.

    `weight` and `variance` are those that the mixture gives to pairs at first; the third AROW
    forgets with `slow_r`, the fourth with `quick_r` and `quick_memory`.
    """
    own = classifier_constants()
    numbers = {name: [number] for name, number in changed.items()}
    for name, listed, place in (
        ("slow_r", "rates", 2),
        ("quick_r", "rates", 3),
        ("quick_memory", "memories", 3),
    ):
        if name in numbers:
            numbers.setdefault(listed, [*own[listed]])[place] = numbers.pop(name)[0]
    for name in {"weight", "variance"} & numbers.keys():
        listed = f"first_{name}s"
        numbers[listed] = [*own[listed][:-1], *numbers.pop(name)]
    return _changed(YarrowClassifier, numbers)


def _changed(cls: type[T], constants: dict[str, list[float]], **parameters: Any) -> T:
    """An estimator with other constants, by their names in core/mixture/constants.hpp."""
    changed: Any = type("Changed", (cls,), {"_constants": lambda _: constants})
    made: T = changed(**parameters)
    return made


def yarrow_regressor_without(part: str) -> YarrowRegressor:
    """`YarrowRegressor` without one of its parts, to see what the part is worth."""
    return yarrow_regressor_of(
        **{
            "splines": {"spline_r": 1e30},
            "least squares": {"covariance_r": 1e30},
            "drift": {"memory": 1.0, "drift": 0.0, "stack_drift": 0.0},
            "stack": {"first_variance": 0.0},
            "aggregation": {"rate": 0.0},
            "a limit of errors": {"most_errors": 1e15},
            "a limit of values": {"most_deviations": 1e6},
        }[part]
    )


def yarrow_regressor_of(**changed: float) -> YarrowRegressor:
    """`YarrowRegressor` with other numbers in places of its own, by their names in the core."""
    return _changed(YarrowRegressor, {name: [number] for name, number in changed.items()})
