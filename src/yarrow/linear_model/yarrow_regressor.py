"""The regressor without settings: seven experts on standardised columns, a stack above them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from yarrow.base.regressor import LinearRegressor
from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.io.row_reader import row_to_predict
from yarrow.lazy import np
from yarrow.linear_model.settled import settled_regressor, shares_of_experts
from yarrow.parameters import number
from yarrow.saving import export_experts, export_file

#: r of the AROW that stays; r of the one that forgets, and what a visit leaves of its confidence
_LINEAR = (0.1, 1.0, 0.95)
#: r of least squares, and what each row adds to the variances of the one that drifts
_COVARIANCE = (0.03, 1e-3)
#: r of AROW on splines
_SPLINE = (0.1,)
#: of the stack: r in squared typical errors, the first variances, what each row adds to them
_STACK = (10.0, 0.1, 1e-4)
#: how many typical errors one counts at most, and how fast the typical one follows
_ROBUST = (10.0, 0.05)
#: of the aggregation: what a row leaves of earlier losses, and the rate
_AGGREGATION = (0.99, 0.5)
#: how many deviations a value counts at most; the least rate of intervals
_LIMITS = (4.0, 0.03)

#: coverages between which intervals are known
LEAST_COVERAGE, MOST_COVERAGE = 0.5, 0.99
#: as the core keeps them
_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
_EXPERTS = ("mean", "last", "steady", "fading", "covariance", "drifting", "spline")


@estimator
class YarrowRegressor(LinearRegressor):
    """No settings to choose: least squares that find scales, outliers and drift by themselves.

    Seven experts predict each row: the mean and the last target, an AROW that stays and one that
    forgets, recursive least squares that stay and that drift (up to 64 features), and splines on
    what is left (up to 128). A stack learns what each is worth, and where one of them alone does
    better, it is believed. Columns are brought to one scale on the way, targets may have any, and
    errors beyond ten typical ones count as ten. docs/yarrow-regressor.md has the equations, the
    evidence, and where it fails.

    Use it first, where targets are numbers. Instead: `AROWRegressor` for a fraction of the memory
    and the time; `RDARegressor` for few weights.
    A sample weight divides the r of all experts, and is how often a row counts in the scale of
    columns. `coef_` holds weights of the standardised features, as far as the prediction is a
    straight line. `predict_interval` holds the target as often as asked, whatever the stream does.

    >>> model = YarrowRegressor()
    >>> for t in range(300):
    ...     model.learn_one({"km": 1 + t % 7, "price": 1000.0 + t % 5}, 43 + 3 * (t % 7))
    >>> round(model.predict_one({"km": 4, "price": 1002.0}))
    52
    """

    family = "mixture"
    row_costs = "O(nnz); of few features also their square"
    is_dear = True
    has_weight_table = False

    _: dataclasses.KW_ONLY
    intercept_scaling: float = number(
        default=0.5,
        doc="Value of the constant feature; rows are about as long as one.",
        above=0,
        at_most=1e6,
    )

    tells_missing = True
    core_loop = "yarrow_regression"
    core_rule = "arow_squared"

    def _rule_parameters(self) -> list[float]:
        return []

    def _loop_parameters(self) -> list[float]:
        return [*_LINEAR, *_COVARIANCE, *_SPLINE, *_STACK, *_ROBUST, *_AGGREGATION, *_LIMITS]

    def _exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        metadata = export_file.described(self)
        radii = [self._fitted.radius(level) for level in _LEVELS]
        found = settled_regressor(self, _EXPERTS, _AGGREGATION[1], _LIMITS[0])
        known = math.isfinite(radii[0])  # after two rows
        intervals = {"coverage": list(_LEVELS), "radius": radii} if known else None
        return export_experts.packed(*found, metadata | {"intervals": intervals})

    # -- intervals ---------------------------------------------------------------------------------

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """The ends of an interval for each row that holds the next target as often as asked.

        Two columns; with fewer than two rows learned they are infinite.
        """
        _check_coverage(coverage)
        predicted = self.predict(X)
        radius = self._fitted.radius(coverage)
        return np.stack([predicted - radius, predicted + radius], axis=1)

    def predict_interval_one(self, x: dict[Any, Any], coverage: float = 0.9) -> tuple[float, float]:
        """The ends of the interval of one row; infinite before two rows were learned."""
        _check_coverage(coverage)
        model = self.__dict__.get("_model")
        if model is None:
            return -math.inf, math.inf
        predicted = float(model.predict_one(row_to_predict(self, model, x)))
        radius = model.radius(coverage)
        return predicted - radius, predicted + radius

    @property
    def coverage_(self) -> dict[float, float]:
        """Of each coverage that is tracked, how often the interval held the target."""
        numbers = self._fitted.get_state()["regression"]
        tested, covered = float(numbers[6]), numbers[-len(_LEVELS) :]
        shares = (float(n) / tested if tested else math.nan for n in covered)
        return dict(zip(_LEVELS, shares, strict=True))

    @property
    def _share_of_last_target(self) -> float:
        """How much of a prediction is the last target: nearly all, where rows come in its order.

        Then the model knows what comes next, and little of rows that come much later.
        """
        state = self._fitted.get_state()
        return shares_of_experts(state, _EXPERTS, _AGGREGATION[1])["last"]

    @property
    def expert_weights_(self) -> dict[str, float]:
        """What each expert is worth to the stack."""
        worth = self._fitted.get_state()["regression"][7 : 7 + len(_EXPERTS)]
        return dict(zip(_EXPERTS, map(float, worth), strict=True))


def _check_coverage(coverage: float) -> None:
    if not LEAST_COVERAGE <= coverage <= MOST_COVERAGE:
        raise ParameterError(
            f"'coverage' must be between {LEAST_COVERAGE} and {MOST_COVERAGE}, not {coverage!r}."
        )
