"""What tables and pages read out of a `yarrow.compare.Comparison`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from yarrow.report import numbers

if TYPE_CHECKING:
    from yarrow.compare import Comparison, Outcome


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


def judged_error(outcome: Outcome, regression: bool) -> float:
    """The error on the half of the rows that learners are compared by; else that on all rows."""
    found = outcome.judged or {}
    value = found.get("error")
    return error(outcome, regression) if value is None else value


def judged_text(outcome: Outcome, regression: bool) -> str:
    """`2.06 % (1.80 to 2.33)`; without an interval where rows are too few for one."""
    found = outcome.judged or {}
    if not found:
        return ""
    text = error_text(judged_error(outcome, regression), regression)
    low, high = found["low"], found["high"]
    if low is None or high is None:
        return text
    start, end = (error_text(value, regression).removesuffix(" %") for value in (low, high))
    return f"{text} ({start} to {end})"


def contenders(comparison: Comparison) -> list[Outcome]:
    """The chosen setting of each learner and the baselines, as they did on the second half."""
    regression = is_regression(comparison)
    done = [
        outcome
        for outcome in comparison.outcomes
        if not outcome.failure and (outcome.best or is_baseline(outcome))
    ]
    return sorted(
        done,
        key=lambda item: (
            _or_last(judged_error(item, regression)),
            _or_last(error(item, regression)),
        ),
    )


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
    best = [item for item in fitting if item.best and not chosen.get("too_few_rows")]
    return next(iter([*exact, *best]), None)


def calibrated(comparison: Comparison) -> list[Outcome]:
    """The learners whose probabilities were looked at, the recommended one first."""
    chosen = recommended(comparison)
    found = [item for item in contenders(comparison) if item.calibration]
    return sorted(found, key=lambda item: item is not chosen)


def display_name(learner: str) -> str:
    """A learner in a table or figure: its class without the word that all share.

    >>> display_name("AROWClassifier"), display_name("PassiveAggressiveRegressor")
    ('AROW', 'PA')
    """
    for ending in ("Classifier", "Regressor"):
        if learner != ending:
            learner = learner.removesuffix(ending)
    return learner.replace("PassiveAggressive", "PA")


def settings(outcome: Outcome) -> str:
    """What was tried of a learner, as one would type it: the grid's values, in its order.

    >>> from yarrow.compare import Outcome
    >>> settings(Outcome("AROWClassifier(r=1.0)", "AROWClassifier", "confidence"))
    'r=1.0'
    >>> settings(Outcome("mine", "AROWClassifier", "confidence", {"r": 0.1, "average": True}))
    'r=0.1, average=True'
    >>> settings(Outcome("mine", "AROWClassifier", "confidence"))
    'defaults'
    """
    inside = outcome.name.removeprefix(f"{outcome.learner}(")
    if inside != outcome.name and inside.endswith(")"):
        return inside[:-1] or "defaults"
    said = (f"{name}={_value(value)}" for name, value in outcome.parameters.items())
    return ", ".join(said) or "defaults"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _or_last(value: float) -> float:
    return math.inf if math.isnan(value) else value
