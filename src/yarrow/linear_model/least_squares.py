"""AROW for real targets: recursive least squares."""

from __future__ import annotations

from yarrow.base.hyperparameters import Averaging, Covariance, caution, covariance
from yarrow.base.regressor import LinearRegressor
from yarrow.data.arrays import Array
from yarrow.estimator import estimator


@estimator
class AROWRegressor(Averaging, LinearRegressor):
    """AROW with the squared loss (AROWR, Vaits & Crammer 2011): recursive least squares.

    With a full covariance its weights would be those of ridge regression with penalty r on all
    rows so far; the diagonal forms treat features as independent, at a cost a row of its values.

    Use it for most regressions on streams. Instead: `PassiveAggressiveRegressor` under drift,
    since confidence only grows, or where large errors should not count by their square.
    A sample weight divides r.

    >>> model = AROWRegressor(r=0.1, fit_intercept=False)
    >>> for kg in (1.0, 2.0, 5.0):
    ...     model.learn_one({"kg": kg}, 3 * kg)
    >>> round(model.predict_one({"kg": 3.0}), 1)
    9.0
    """

    r: float = caution("targets")
    covariance: Covariance = covariance("diagonal", "projected")

    family = "confidence"

    core_learner = "{covariance}"
    core_rule = "arow_squared"

    @property
    def variance_(self) -> Array:
        """The variance of each weight, in units of the noise's variance r."""
        variances: Array = self._fitted.plane(1)[0][1:, 0]
        return variances
