"""One class only: a ball around what is normal."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

from yarrow.base.explanation import Explanation, OneScore
from yarrow.base.hyperparameters import PAVariant, pa_variant, price
from yarrow.base.linear import LinearModel
from yarrow.data.arrays import Array, feature_names
from yarrow.estimator import estimator
from yarrow.io.row_reader import row_for, rows_for
from yarrow.lazy import np
from yarrow.online.progressive import CoreModel
from yarrow.parameters import flag, number


@estimator
class OneClassPassiveAggressive(OneScore, LinearModel):
    """Passive-Aggressive for one class (Crammer et al. 2006): a ball that should hold every row.

    Each row makes the smallest change to the centre that brings the row into the ball. A sample
    weight multiplies C and has no effect on the variant without a price, 'pa'. With
    `learn_radius=True` the radius starts at 0 and grows with the rows, up to `radius`.
    Use it to notice rows unlike the ones before, on scaled features.
    Instead: any classifier, once there are labels.

    >>> model = OneClassPassiveAggressive(radius=1.0)
    >>> for x in (3.0, 3.5, 2.5, 3.0):
    ...     model.learn_one({"x": x})
    >>> model.predict_one({"x": 3.0}), model.predict_one({"x": 9.0})
    (1, -1)
    """

    radius: float = number(default=1.0, doc="Radius of the ball, or the largest.", above=0)
    C: float = price("a row outside the ball")
    variant: PAVariant = pa_variant()
    _: dataclasses.KW_ONLY
    learn_radius: bool = flag(
        default=False, doc="Let the radius grow from 0 as rows ask for it, up to `radius`."
    )
    fit_intercept: bool = flag(
        default=False, doc="Give every row a constant coordinate; of little use here."
    )

    is_exportable = False
    learns_labels = False
    wrong = "outside"
    river_bases: ClassVar[tuple[str, ...]] = ("Estimator",)
    regression: ClassVar[bool] = True

    sklearn_tags: ClassVar[dict[str, Any]] = {"estimator_type": "outlier_detector"}
    _supervised: ClassVar[bool] = False

    family = "affine"
    core_strategy = "examples"
    core_learner = "affine"
    core_rule = "one_class_{variant}"

    # -- scikit-learn ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then learn `max_iter` shuffled passes over the rows, without `y`."""
        rows = rows_for(self, X, by_core=True, fresh=True)
        self._fit_passes(self._new_model([]), rows, (np.zeros(rows.n_rows), []), sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once. `y` is ignored."""
        rows, names = self._read(X)
        with self._learning([]) as model:
            self._learn(model, rows, names, (np.zeros(rows.n_rows), []), sample_weight)
        self._keep_columns(rows)
        return self

    def score_samples(self, X: Any) -> Array:
        """Minus the distance of each row from the centre: the lower, the less normal."""
        distances: Array = -np.sqrt(self._scores(X)[1][:, 0])
        return distances

    def decision_function(self, X: Any) -> Array:
        """By how much a row is inside the ball; negative outside."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 for rows inside the ball, -1 for those outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _chosen(self, scores: Array, variances: Array) -> Array:
        """What the core says of rows as predictions, where these are not the scores themselves."""
        return np.where(-np.sqrt(variances[:, 0]) - self.offset_ >= 0, 1, -1)

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """`fit`, then `predict` for the same rows."""
        return self.fit(X).predict(X)

    @property
    def coef_(self) -> Array:
        """The centre of the ball."""
        centre: Array = super().coef_
        return centre

    @property
    def radius_(self) -> float:
        """Radius of the ball: the one given, or the one learned so far."""
        return self._radius_of(self._fitted)

    @property
    def offset_(self) -> float:
        """What `decision_function` takes from `score_samples`."""
        return -self.radius_

    def _radius_of(self, model: CoreModel) -> float:
        made_with = self.__dict__["_made_with"]
        if not made_with["learn_radius"]:
            return float(made_with["radius"])
        return float(np.sqrt(model.column_memory[0]))

    # -- river -----------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], w: float = 1.0) -> None:
        """Learn one row: features by name. A string as value makes the feature `name=value`."""
        with self._learning([]) as model:
            model.learn_one(row_for(self, x), 0.0, w)

    def score_one(self, x: dict[Any, Any]) -> float:
        """Distance from the centre: the higher, the less normal; 0 before any row was learned."""
        model = self.__dict__.get("_model")
        return 0.0 if model is None else float(np.sqrt(model.score_one(row_for(self, x))[1][0]))

    def predict_one(self, x: dict[Any, Any]) -> int:
        """1 inside the ball, -1 outside; 1 before any row was learned."""
        model = self.__dict__.get("_model")
        if model is None:
            return 1
        return 1 if self._radius_of(model) - self.score_one(x) >= 0 else -1

    def explain_one(self, x: dict[Any, Any]) -> Explanation:
        """What the distance of a row from the centre would lose without each of its features."""
        return super().explain_one(x)

    def _score_of(self, x: dict[Any, Any], label: Any) -> float:
        return self.score_one(x)

    def learn_many(self, X: Any, w: Any = None) -> None:
        """Learn the rows of a data frame in order; its columns may differ from call to call."""
        rows = rows_for(self, X, by_core=True)
        with self._learning([]) as model:
            self._learn(model, rows, feature_names(X, rows), (np.zeros(rows.n_rows), []), w)
        self._keep_stream(rows)
