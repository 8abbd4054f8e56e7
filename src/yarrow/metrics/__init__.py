"""Running metrics: counted row by row or in arrays, over all rows, the last ones, or fading.

>>> from yarrow.metrics import Error, Fading, Windowed
>>> metric = Windowed(Error(), 1000)
>>> metric.update("spam", "ham")
>>> metric
error of the last 1,000 rows: 1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from yarrow.errors import ParameterError
from yarrow.metrics.base import Metric
from yarrow.metrics.classes import F1, Accuracy, BalancedAccuracy, ConfusionMatrix, Error
from yarrow.metrics.forgetting import Fading, Windowed
from yarrow.metrics.probabilities import BrierScore, CalibrationError, LogLoss
from yarrow.metrics.scores import RocAuc
from yarrow.metrics.values import MAE, MSE, R2, RMSE

__all__ = [
    "F1",
    "MAE",
    "MSE",
    "NAMES",
    "R2",
    "RMSE",
    "Accuracy",
    "BalancedAccuracy",
    "BrierScore",
    "CalibrationError",
    "ConfusionMatrix",
    "Error",
    "Fading",
    "LogLoss",
    "Metric",
    "RocAuc",
    "Windowed",
    "chosen",
    "named",
]

_MAKERS: dict[str, Callable[[Any], Metric]] = {
    "error": lambda positive: Error(),
    "accuracy": lambda positive: Accuracy(),
    "balanced_accuracy": lambda positive: BalancedAccuracy(),
    "f1": lambda positive: F1(positive=positive),
    "f1_macro": lambda positive: F1("macro"),
    "f1_micro": lambda positive: F1("micro"),
    "roc_auc": lambda positive: RocAuc(positive=positive),
    "log_loss": lambda positive: LogLoss(positive=positive),
    "brier_score": lambda positive: BrierScore(positive=positive),
    "calibration_error": lambda positive: CalibrationError(positive=positive),
    "mse": lambda positive: MSE(),
    "rmse": lambda positive: RMSE(),
    "mae": lambda positive: MAE(),
    "r2": lambda positive: R2(),
}
#: the metrics that `named` knows
NAMES = tuple(_MAKERS)


def named(name: str, positive: Any = None) -> Metric:
    """A metric by its name: one of `NAMES`.

    >>> named("f1_macro")
    macro F1: nan
    """
    if name not in _MAKERS:
        raise ParameterError(f"The metrics are {', '.join(NAMES)}. Got {name!r} instead.")
    return _MAKERS[name](positive)


def chosen(
    asked: Sequence[Metric | str] | Metric | str | None, regression: bool, positive: Any = None
) -> list[Metric]:
    """Fresh metrics, by name or like those given; by default the error, or a regression's RMSE.

    >>> chosen(["accuracy", Windowed(Error(), 100)], regression=False)
    [accuracy: nan, error of the last 100 rows: nan]
    """
    if asked is None:
        asked = ["rmse" if regression else "error"]
    if isinstance(asked, str | Metric):
        asked = [asked]
    found = [named(m, positive) if isinstance(m, str) else m.fresh() for m in asked]
    for metric in found:
        if metric.of_values != regression:
            kinds = ("classes", "the values of a regression")
            raise ParameterError(
                f"{metric.name} is a metric of {kinds[metric.of_values]}, not of "
                f"{kinds[regression]}."
            )
    return found
