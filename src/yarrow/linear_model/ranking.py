"""Ranking: learn from preferences which of two rows is the better one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self

from yarrow.base.explanation import OneScore
from yarrow.base.hyperparameters import PAVariant, pa_variant, price
from yarrow.base.linear import LinearModel
from yarrow.data.arrays import Array, Rows, check_values, read_rows, read_values
from yarrow.data.dict_rows import numbers_of_dict
from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.io.row_reader import row_for, rows_for
from yarrow.lazy import np
from yarrow.linear_model.affine import AffineFamily
from yarrow.online.pairs import pairs_of, parts, wrong_order
from yarrow.online.progressive import CoreModel
from yarrow.parameters import flag

if TYPE_CHECKING:
    from yarrow.online.core_stream import Learning


@estimator
class PassiveAggressiveRanker(AffineFamily, OneScore, LinearModel):
    """Passive-Aggressive on pairs (after Crammer et al. 2006): the better row scores 1 higher.

    Each pair makes the smallest change for which `w.(better - worse) >= 1`. A sample weight of a
    pair multiplies C and has no effect on the variant without a price, 'pa'. An intercept would
    cancel, so there is none. In files a row's label says how relevant it is, and its qid (svmlight)
    or tag (VW) which query it belongs to; the rows of a query stand together.
    Use it where people choose or click, so that preferences are known and grades are not.
    Instead: `PassiveAggressiveRegressor` where grades are comparable across groups.

    >>> model = PassiveAggressiveRanker()
    >>> model.learn_pair({"fresh": 1.0, "price": 2.0}, {"price": 3.0})
    >>> model.predict_one({"fresh": 1.0}) > model.predict_one({"price": 1.0})
    True
    """

    row_costs = "its pairs"
    C: float = price("a pair that violates its margin")
    variant: PAVariant = pa_variant()
    _: dataclasses.KW_ONLY
    fit_intercept: bool = flag(default=False, doc="No effect: a constant in both scores cancels.")

    learns_labels = False
    wrong = "pairs in the wrong order"
    river_bases: ClassVar[tuple[str, ...]] = ("Estimator",)
    regression: ClassVar[bool] = True

    sklearn_tags: ClassVar[dict[str, Any]] = {"target_tags.required": True}

    core_strategy = "pairs"
    core_rule = "{variant}"

    def _new_model(self, *settings: Any, **more: Any) -> CoreModel:
        if not self.fit_intercept:
            return super()._new_model(*settings, **more)
        return self.clone({"fit_intercept": False})._new_model(*settings, **more)

    def _stream_learning(self) -> type[Learning]:
        from yarrow.online.query_stream import QueryLearning

        return QueryLearning

    # -- scikit-learn ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, group: Any = None) -> Self:
        """Forget everything, then learn `max_iter` shuffled passes over all pairs of rows.

        `y` says how relevant a row is, `group` which rows may be compared (all, if not given): a
        group of n rows has up to n*(n - 1)/2 pairs.
        """
        rows = rows_for(self, X, fresh=True)
        table, pairs = _table(rows, self.dtype), pairs_of(read_values(y, rows.n_rows), group)
        model = self._new_model([])
        random = np.random.default_rng(self.random_state)
        for _ in range(self.max_iter):
            order = random.permutation(len(pairs)) if self.shuffle else np.arange(len(pairs))
            for part in parts(pairs[order]):
                self._learn_pairs(model, table, part, rows.names or [], undo=False)
        self._keep_fitted(model, rows, self.max_iter)
        return self

    def partial_fit(self, X: Any, y: Any, group: Any = None) -> Self:
        """Learn all pairs of the rows of `X`, once: each row against those after it, in order."""
        rows, names = self._read(X, by_core=False)  # SciPy takes differences first
        table, pairs = _table(rows, self.dtype), pairs_of(read_values(y, rows.n_rows), group)
        with self._learning([]) as model:
            self._learn_pairs(model, table, pairs, names)
        self._keep_columns(rows)
        return self

    def _learn_pairs(
        self,
        model: CoreModel,
        table: Any,
        pairs: Array,
        names: list[Any],
        undo: bool = True,
    ) -> None:
        with np.errstate(over="ignore"):
            differences = read_rows(table[pairs[:, 0]] - table[pairs[:, 1]])
        try:
            self._learn(model, differences, names, (np.zeros(len(pairs)), []), None, undo=undo)
        except DataError:
            for place, (better, worse) in enumerate(pairs.tolist()):
                if not _is_finite(differences.take(np.array([place])), self.dtype):
                    rows = f"rows {better} and {worse}"
                    raise DataError(
                        f"Input X: the difference of {rows} is too large for dtype('{self.dtype}')."
                    ) from None
            raise

    def predict(self, X: Any) -> Array:
        """Scores: the higher, the better."""
        return self._scores(X, variances=False)[0][:, 0]

    def score(self, X: Any, y: Any, group: Any = None) -> float:
        """Share of the pairs whose better row scores higher; ties count half."""
        scores = self.predict(X)
        pairs = pairs_of(read_values(y, len(scores)), group)
        return 1 - wrong_order(scores, pairs) / len(pairs)

    # -- dicts -----------------------------------------------------------------------------------

    def learn_pair(self, better: dict[Any, Any], worse: dict[Any, Any], w: float = 1.0) -> None:
        """Learn that one row is better than another. A string makes the feature `name=value`."""
        difference = numbers_of_dict(row_for(self, better))
        for name, value in numbers_of_dict(row_for(self, worse)).items():
            difference[name] = difference.get(name, 0.0) - value
        with self._learning([]) as model:
            model.learn_one(difference, 0.0, w)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The score of one row; 0 before any pair was learned."""
        model = self.__dict__.get("_model")
        return 0.0 if model is None else float(model.predict_one(row_for(self, x)))


def _table(rows: Rows, dtype: str) -> Any:
    """The rows as a matrix whose differences are exact enough: of floats, finite."""
    check_values(rows, dtype)
    values = rows.values if rows.values.dtype.kind == "f" else rows.values.astype(np.float64)
    return dataclasses.replace(rows, values=values).matrix


def _is_finite(rows: Rows, dtype: str) -> bool:
    try:
        check_values(rows, dtype)
    except DataError:
        return False
    return True
