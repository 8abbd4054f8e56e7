"""The regressor without settings: seven experts on standardised columns, a stack above them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from yarrow._core import LEAST_COVERAGE, MOST_COVERAGE
from yarrow.base.regressor import LinearRegressor
from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.io.row_reader import row_to_predict
from yarrow.lazy import np
from yarrow.parameters import number
from yarrow.saving import export_experts, export_file


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
    core_learner = "yarrow_regression"
    core_rule = "arow_squared"

    def _rule_parameters(self) -> list[float]:
        return []

    def _exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        coverages, radii, _ = zip(*self._fitted.intervals, strict=True)
        known = math.isfinite(radii[0])  # after two rows
        told = {"coverage": list(coverages), "radius": list(radii)} if known else None
        metadata = export_file.described(self) | {"intervals": told}
        return export_experts.packed(self, "float64", metadata)

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
        return {coverage: covered for coverage, _, covered in self._fitted.intervals}

    @property
    def _share_of_last_target(self) -> float:
        """How much of a prediction is the last target: nearly all, where rows come in its order.

        Then the model knows what comes next, and little of rows that come much later.
        """
        return {name: share for name, _, share in self._fitted.experts}["last"]

    @property
    def expert_weights_(self) -> dict[str, float]:
        """What each expert is worth to the stack."""
        return {name: worth for name, worth, _ in self._fitted.experts}


def _check_coverage(coverage: float) -> None:
    if not LEAST_COVERAGE <= coverage <= MOST_COVERAGE:
        raise ParameterError(
            f"'coverage' must be between {LEAST_COVERAGE} and {MOST_COVERAGE}, not {coverage!r}."
        )
