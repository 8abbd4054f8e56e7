"""Estimators that learn in Python: kernels, and those that are made of other learners.

What they have learned is one state. Whoever learns changes a copy of it, which then takes its
place; a subclass says how rows change a state, and what a state says of rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

from yarrow.data.arrays import Array, Rows, check_columns, feature_names
from yarrow.data.frames import rows_in, series_like
from yarrow.errors import DataError, not_fitted
from yarrow.estimator import Estimator, LearnsArrays, Shared, columns_of
from yarrow.io.taught import rows_as_taught
from yarrow.lazy import np
from yarrow.online.progressive import ProgressiveMixin
from yarrow.saving.codec import Saved


class StateEstimator(ProgressiveMixin, LearnsArrays, Saved, Shared, Estimator):
    """Base of all that learns in Python."""

    _state: Any
    learns_rows: ClassVar[bool] = True
    is_dear: ClassVar[bool] = True

    # -- what a subclass says --------------------------------------------------------------------

    def _text_name(self) -> str | None:
        """A feature that is called by a text, if there is one."""
        raise NotImplementedError

    def _learn_named(self, rows: Rows, names: list[Any], y: Any, weight: Any) -> Any:
        """Learn rows whose columns may differ from call to call: all of them, or none."""
        raise NotImplementedError

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        """Classes or values of rows whose columns may differ from call to call."""
        raise NotImplementedError

    # -- rows ------------------------------------------------------------------------------------

    def _read(self, X: Any) -> Rows:
        rows = rows_as_taught(self, X)
        known = self.__dict__.get("_n_features_in")
        names = self.__dict__.get("_feature_names_in")
        check_columns(type(self).__name__, rows, known, names, self._text_name)
        return rows

    def _names_of(self, rows: Rows) -> list[Any]:
        return rows.names or self.__dict__.get("_feature_names_in") or []

    def _read_named(self, X: Any) -> tuple[Rows, list[Any]]:
        rows = self._read(X)
        return rows, self._names_of(rows)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a data frame in order; its columns may differ from call to call."""
        rows = rows_as_taught(self, X)
        with self._lock:
            self._learn_named(rows, feature_names(X, rows), y, w)
            self._keep_stream(rows)

    def predict_many(self, X: Any) -> Any:
        """What is predicted for the rows of a data frame, as a series of its library."""
        if "_state" not in self.__dict__:
            return series_like(X, np.full(rows_in(X), 0.0 if self.regression else None))
        rows = rows_as_taught(self, X)
        return series_like(X, self._predict_rows(rows, feature_names(X, rows)))

    # -- what was learned ------------------------------------------------------------------------

    def _keep_fitted(self, state: Any, rows: Rows, n_iter: int) -> None:
        """Take a state that `fit` made, and forget how others were taught: all in one step."""
        if not state.t:
            raise DataError("All sample weights are zero: there is no row to learn.")
        found = {"_state": state, "_n_iter": n_iter, "_stream": None}
        with self._lock:
            self.__dict__.update(found | columns_of(rows))

    @property
    def _fitted(self) -> Any:
        if "_state" not in self.__dict__:
            not_fitted(self)
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    @property
    def t_(self) -> int:
        """Rows learned."""
        return int(self._fitted.t)
