"""Labels or values: what classifiers and regressors made of learners add."""

from __future__ import annotations

from typing import Any, Self

from yarrow.base.state_estimator import StateClassifier
from yarrow.composite.base import Composite
from yarrow.estimator import RegressorMixin


class CompositeClassifier(StateClassifier, Composite):
    """Labels, for estimators made of classifiers."""


class CompositeRegressor(RegressorMixin, Composite):
    """Values, for estimators made of regressors."""

    nothing = 0.0

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once."""
        self._partial_fit(X, y, sample_weight)
        return self

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The predicted value; 0 before any row was learned."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            return 0.0 if state is None else float(self._said(state, batch)[0])
