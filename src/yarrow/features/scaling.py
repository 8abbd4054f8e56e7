"""Scaling features by what the stream has shown so far, and rows by their length."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from yarrow.errors import DataError, not_fitted
from yarrow.estimator import estimator
from yarrow.features.base import ColumnTransformer, Row, finite
from yarrow.parameters import choice, flag

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class OnlineScaler(ColumnTransformer):
    """Base of the scalers: a few running numbers per feature, which give its shift and its scale.

    Rows are learned one after the other, whether they come as dicts, arrays or sparse matrices,
    so that all routes and all chunkings give the same numbers to the last bit. Transforming uses
    what has been learned and never learns. Column j of an array is the feature named j, or the
    one named like the column of a data frame. A feature that has shown no scale yet becomes 0.
    """

    _blank: ClassVar[tuple[float, ...]]  # the running numbers of a feature never seen

    # -- what a subclass says --------------------------------------------------------------------

    @abstractmethod
    def _learned(self, state: Floats, values: Floats) -> Floats:
        """Return the running numbers, a row a feature, after one more value of each."""

    @abstractmethod
    def _shift_and_scale(self, state: Floats) -> tuple[Floats | float, Floats | float]:
        """Return what is subtracted from each feature, and what it is then divided by."""

    def _counts_zeros(self) -> bool:
        """Whether a stated 0 is a value like any other; otherwise it is as good as absent."""
        return False

    # -- rows as dicts ---------------------------------------------------------------------------

    def learn_one(self, x: Row) -> None:
        """Learn one row."""
        row = {name: finite(name, value) for name, value in x.items()}
        if not self._counts_zeros():
            row = {name: value for name, value in row.items() if value != 0}
        if not self.__sklearn_is_fitted__():
            self._forget()
        self._learn_row(self._find(row), np.array(list(row.values()), np.float64))

    def transform_one(self, x: Row) -> dict[Hashable, float]:
        """Scale one row; what it does not name stays absent."""
        values = np.array([finite(name, value) for name, value in x.items()], np.float64)
        return dict(zip(x, self._scaled(values, self._state_of(x)).tolist(), strict=True))

    # -- rows as arrays --------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything, then learn all rows."""
        self._check_parameters()
        array, names = self._read(X, first=True)
        fresh = self.clone()
        fresh._learn_array(array, names)
        self.__dict__.update(fresh.__dict__)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn all rows, in order; all of them or, if one cannot be, none."""
        array, names = self._read(X, first=not hasattr(self, "n_features_in_"))
        self._learn_array(array, names)
        return self

    def transform(self, X: Any) -> Any:
        """Scale all rows by what has been learned so far."""
        if not self.__sklearn_is_fitted__():
            not_fitted(self)
        array, names = self._read(X, first=not hasattr(self, "n_features_in_"))
        state = self._state_of(self._columns(array, names))
        if isinstance(array, np.ndarray):
            return self._scaled(array, state).astype(array.dtype)
        array.data = self._scaled(array.data, state[array.indices]).astype(array.dtype)
        return array

    def learn_transform(self, X: Any) -> Any:
        """Learn and scale row after row, so that no row is scaled by what came after it.

        This is what a pipeline does with a stream of dicts; `fit_transform` is not.
        """
        array, names = self._read(X, first=not hasattr(self, "n_features_in_"))
        return self._learn_array(array, names, and_scale=True)

    # -- state -----------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    @property
    def feature_names_(self) -> list[Hashable]:
        """Names of the features learned, in the order of the numbers learned about them."""
        return list(self.__dict__.get("_slots", ()))

    @property
    def n_rows_(self) -> int:
        """How many rows were learned."""
        return int(self.__dict__.get("_n_rows", 0))

    @property
    def _known(self) -> Floats:
        if not self.__sklearn_is_fitted__():
            not_fitted(self)
        return self._state[: len(self._slots)]

    def _forget(self) -> None:
        self._check_parameters()
        self._slots: dict[Hashable, int] = {}
        self._state = np.tile(np.array(self._blank, np.float64), (8, 1))
        self._n_rows = 0

    def _find(self, names: Iterable[Hashable]) -> Places:
        """Return where the features' numbers are, with a place for those that are new."""
        slots = self._slots
        places = np.array([slots.setdefault(name, len(slots)) for name in names], np.int64)
        if len(slots) > len(self._state):
            blank = np.tile(np.array(self._blank, np.float64), (2 * len(slots), 1))
            blank[: len(self._state)] = self._state
            self._state = blank
        return places

    def _state_of(self, names: Iterable[Hashable]) -> Floats:
        slots = self.__dict__.get("_slots", {})
        places = np.array([slots.get(name, -1) for name in names], np.int64)
        state = np.tile(np.array(self._blank, np.float64), (len(places), 1))
        if slots:
            state[places >= 0] = self._state[places[places >= 0]]
        return state

    def _learn_row(self, places: Places, values: Floats) -> None:
        with np.errstate(all="ignore"):
            state = self._learned(self._state[places], values)
        if not np.isfinite(state).all():
            place = places[~np.isfinite(state).all(axis=1)][0]
            raise DataError("the values are too large to scale", field=str(self._name(place)))
        self._state[places] = state
        self._n_rows += 1

    def _scaled(self, values: NDArray[Any], state: Floats) -> Floats:
        with np.errstate(all="ignore"):
            shift, scale = self._shift_and_scale(state)
            scaled: Floats = (values.astype(np.float64) - shift) / scale
        if not np.isfinite(scaled).all():
            raise DataError("a value is too large to be scaled")
        return scaled

    def _name(self, place: int) -> Hashable:
        return self.feature_names_[place]

    def _columns(self, array: Any, names: list[str] | None) -> Iterable[Hashable]:
        if not isinstance(array, np.ndarray) and self._counts_zeros():
            raise DataError(
                "A sparse matrix cannot be shifted, because its zeros would not stay zeros: pass "
                "a dense array, or use OnlineMaxAbsScaler or OnlineStandardScaler without mean."
            )
        return range(array.shape[1]) if names is None else names

    def _learn_array(self, array: Any, names: list[str] | None, and_scale: bool = False) -> Any:
        columns = self._columns(array, names)
        before = dict(self.__dict__)
        if "_state" in before:
            before["_state"] = self._state.copy()
            before["_slots"] = self._slots.copy()
        try:
            if not self.__sklearn_is_fitted__():
                self._forget()
            if not hasattr(self, "n_features_in_"):
                self._remember(array, names)
            places = self._find(columns)
            for stated, values in self._rows(array):
                self._learn_row(places[stated], values.astype(np.float64))
                if and_scale:
                    values[:] = self._scaled(values, self._state[places[stated]])
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return array

    def _rows(self, array: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield the stated columns of each row, and a view of their values."""
        ...
