"""What tables and pages read out of a `yarrow.experiments.Comparison`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from yarrow.report import numbers

if TYPE_CHECKING:
    from yarrow.experiments import Comparison, Outcome

__all__ = [
    "contenders",
    "error",
    "error_text",
    "error_word",
    "failures",
    "is_baseline",
    "is_regression",
    "recommended",
    "settings",
    "short_name",
]


def is_regression(comparison: Comparison) -> bool:
    """Whether numbers were predicted, not classes."""
    return not comparison.data.get("classes")


def error(outcome: Outcome, regression: bool) -> float:
    """The share of rows predicted wrongly, or the root of the mean squared error."""
    if outcome.failure or not outcome.rows:
        return math.nan
    if regression:
        return math.sqrt(outcome.squared_error / outcome.rows)
    return outcome.mistakes / outcome.rows


def error_word(regression: bool) -> str:
    """What `error` is called."""
    return "RMSE" if regression else "error"


def error_text(value: float, regression: bool) -> str:
    """An error as it is read: percent, or four digits of an RMSE."""
    return numbers.significant(value, 4) if regression else numbers.percent(value)


def is_baseline(outcome: Outcome) -> bool:
    """Whether it learns nothing: repeats the last label, or says the most frequent one."""
    return outcome.family == "baseline"


def contenders(comparison: Comparison) -> list[Outcome]:
    """The best setting of each learner and the baselines, fewest errors first."""
    regression = is_regression(comparison)
    done = [
        outcome
        for outcome in comparison.outcomes
        if not outcome.failure and (outcome.best or is_baseline(outcome))
    ]
    return sorted(done, key=lambda outcome: _or_last(error(outcome, regression)))


def ordered(comparison: Comparison) -> list[Outcome]:
    """All settings that finished, fewest errors first."""
    regression = is_regression(comparison)
    done = [outcome for outcome in comparison.outcomes if not outcome.failure]
    return sorted(done, key=lambda outcome: _or_last(error(outcome, regression)))


def failures(comparison: Comparison) -> list[Outcome]:
    """Those that did not finish."""
    return [outcome for outcome in comparison.outcomes if outcome.failure]


def recommended(comparison: Comparison) -> Outcome | None:
    """The outcome that the recommendation names."""
    chosen = comparison.recommendation
    fitting = [
        outcome for outcome in comparison.outcomes if outcome.learner == chosen.get("learner")
    ]
    exact = [item for item in fitting if item.parameters == chosen.get("parameters", {})]
    best = [item for item in fitting if item.best]
    return next(iter([*exact, *best]), None)


def short_name(learner: str) -> str:
    """A learner in a figure: its class without the word that all share.

    >>> short_name("AROWClassifier"), short_name("BayesianPerceptron")
    ('AROW', 'BayesianPerceptron')
    """
    for ending in ("Classifier", "Regressor"):
        if learner != ending:
            learner = learner.removesuffix(ending)
    return learner


def settings(parameters: dict[str, Any]) -> str:
    """Changed parameters as one would type them.

    >>> settings({"r": 0.1, "average": True}), settings({})
    ('r=0.1, average=True', 'defaults')
    """
    said = (f"{name}={_value(value)}" for name, value in parameters.items())
    return ", ".join(said) or "defaults"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _or_last(value: float) -> float:
    return math.inf if math.isnan(value) else value
