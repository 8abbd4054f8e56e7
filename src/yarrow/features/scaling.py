"""Scaling features by what the stream has shown so far."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.features.base import ColumnTransformer, Row, values_of
from yarrow.parameters import flag

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class OnlineScaler(ColumnTransformer):
    """Base of the scalers: a few running numbers per feature, which give its shift and its scale.

    Rows are learned one after the other, whether they come as dicts, arrays or sparse matrices,
    so that all routes and all chunkings give the same numbers to the last bit. Transforming uses
    what has been learned and never learns. Column j of an array is the feature named j, or the
    one named like the column of a data frame. A feature that has shown no scale yet becomes 0.
    """

    _learned_as: ClassVar[str] = "_state"
    _blank: ClassVar[tuple[float, ...]]  # the running numbers of a feature never seen
    _state: Floats  # a blank row, a row a feature, and some more blank rows for those to come
    _slots: dict[Hashable, int]  # the row of each feature
    _n_rows: int

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
        values = values_of(x)
        if not self.__sklearn_is_fitted__():
            self._start()
        if not self._counts_zeros() and not values.all():
            x = {name: value for name, value in x.items() if value != 0}
            values = values[values != 0]
        self._learn_row(self._find(x), values)

    def transform_one(self, x: Row) -> dict[Hashable, float]:
        """Scale one row; what it does not name stays absent."""
        scaled = self._scaled(values_of(x), self._state_of(x))
        return dict(zip(x, scaled.tolist(), strict=True))

    # -- rows as arrays --------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything, then learn all rows."""
        self._learn_array(self.clone(), X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn all rows, in order; all of them or, if one cannot be, none."""
        self._learn_array(self._twin(), X)
        return self

    def transform(self, X: Any) -> Any:
        """Scale all rows by what has been learned so far."""
        self._check_fitted()
        array, names = self._read(X)
        state = self._state_of(names or range(array.shape[1]))
        if isinstance(array, np.ndarray):
            return self._scaled(array, state).astype(array.dtype)
        array.data = self._scaled(array.data, state[array.indices]).astype(array.dtype)
        return array

    def learn_transform(self, X: Any) -> Any:
        """Learn and scale row after row, so that no row is scaled by what came after it.

        This is what a pipeline does with a stream of dicts; `fit_transform` is not.
        """
        return self._learn_array(self._twin(), X, and_scale=True)

    def _learn_array(self, twin: Self, X: Any, and_scale: bool = False) -> Any:
        """Let `twin` learn the rows and, if it could learn them all, take over what it knows."""
        if not twin.__sklearn_is_fitted__():
            twin._start()
        array, names = twin._read(X)
        places = twin._find(names or range(array.shape[1]))
        for row, stated, indices in twin._rows(array):
            at = places[indices]
            twin._learn_row(at, row[stated].astype(np.float64))
            if and_scale:
                row[stated] = twin._scaled(row[stated], twin._state[at])
        self._slots, self._state, self._n_rows = twin._slots, twin._state, twin._n_rows
        self._remember(array, names)
        return array

    def _rows(self, array: Any) -> Iterator[tuple[NDArray[Any], Any, Any]]:
        """Yield a view of each row, and which places of it are stated, of which columns."""
        if isinstance(array, np.ndarray):
            for row in array:
                stated = slice(None) if self._counts_zeros() else np.flatnonzero(row)
                yield row, stated, stated
            return
        for start, end in zip(array.indptr, array.indptr[1:], strict=False):
            row = array.data[start:end]
            stated = np.flatnonzero(row)
            yield row, stated, array.indices[start:end][stated]

    def _read(self, X: Any, first: bool | None = None) -> tuple[Any, list[str] | None]:
        array, names = super()._read(X, first)
        if not isinstance(array, np.ndarray) and self._counts_zeros():
            raise DataError(
                f"{type(self).__name__} shifts values, and the zeros of a sparse matrix would not "
                "stay zeros: pass a dense array, or use OnlineMaxAbsScaler."
            )
        return array, names

    def scale_next(
        self, names: Sequence[Hashable], values: Floats
    ) -> tuple[Floats, Callable[[], Callable[[], None]]]:
        """A row scaled as if it were learned, and what learns it: that gives what takes it back.

        Values are finite, and none is 0.
        """
        after = copy.copy(self)
        after._n_rows += 1
        known = self._places_of(names)
        learned = self._next(self._state[known], values, names.__getitem__)

        def keep() -> Callable[[], None]:
            slots, n_features = self._slots, len(self._slots)
            places = known if known.all() else self._find(names)
            before = self._state[places]
            self._state[places], self._n_rows = learned, after._n_rows

            def take_back() -> None:
                self._state[places], self._n_rows = before, after._n_rows - 1
                for _ in range(n_features, len(slots)):
                    slots.popitem()  # the newest

            return take_back

        return after._scaled(values, learned), keep

    # -- state -----------------------------------------------------------------------------------

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
        self._check_fitted()
        return self._state[1 : len(self._slots) + 1]

    def _start(self) -> None:
        self._check_parameters()
        self._slots, self._state, self._n_rows = {}, self._blanks(8), 0

    def _take(self, names: list[Any], known: Floats, n_rows: int) -> None:
        """Go on from the numbers that were learned of some features."""
        self._start()
        self._slots = {name: place for place, name in enumerate(names, start=1)}
        self._state, self._n_rows = np.vstack([self._blanks(1), known, self._blanks(8)]), n_rows

    def _twin(self) -> Self:
        twin = copy.copy(self)
        if self.__sklearn_is_fitted__():
            twin._slots, twin._state = self._slots.copy(), self._state.copy()
        return twin

    def _blanks(self, count: int) -> Floats:
        return np.tile(np.array(self._blank, np.float64), (count, 1))

    def _find(self, names: Iterable[Hashable]) -> Places:
        """Return where the features' numbers are, with a place for those that are new."""
        slots = self._slots
        places = np.array([slots.setdefault(name, len(slots) + 1) for name in names], np.int64)
        if len(slots) >= len(self._state):
            self._state = np.concatenate([self._state, self._blanks(len(slots))])
        return places

    def _state_of(self, names: Iterable[Hashable]) -> Floats:
        """Return the features' numbers, blank ones for features never seen."""
        if not self.__sklearn_is_fitted__():
            return self._blanks(len(list(names)))
        return self._state[self._places_of(names)]

    def _places_of(self, names: Iterable[Hashable]) -> Places:
        """Return where the features' numbers are; those never seen are all in one blank place."""
        slots = self._slots
        return np.array([slots.get(name, 0) for name in names], np.int64)

    def _learn_row(self, places: Places, values: Floats) -> None:
        self._state[places] = self._next(
            self._state[places], values, lambda at: self.feature_names_[places[at] - 1]
        )
        self._n_rows += 1

    def _next(self, state: Floats, values: Floats, name_of: Callable[[int], Hashable]) -> Floats:
        with np.errstate(all="ignore"):
            learned = self._learned(state, values)
        finite = np.isfinite(learned)
        if not finite.all():
            name = name_of(int(np.argmin(finite.all(axis=1))))
            raise DataError("the values are too large to be scaled", field=str(name))
        return learned

    def _scaled(self, values: NDArray[Any], state: Floats) -> Floats:
        with np.errstate(all="ignore"):
            shift, scale = self._shift_and_scale(state)
            scaled: Floats = (values.astype(np.float64) - shift) / scale
        if not np.isfinite(scaled).all():
            raise DataError("a value is too large to be scaled")
        return scaled


@estimator
class OnlineStandardScaler(OnlineScaler):
    """Divide each feature by its standard deviation so far, optionally after taking off its mean.

    Use it where features have different units: the confidence and gradient learners care much,
    PA and Perceptron care too. For features that are already alike (words) scale rows instead,
    with `RowNormalizer`.

    Without `with_mean`, a feature that is absent from a row is 0 in it and counts as such, in
    dicts and sparse matrices as in arrays. With it, an absent feature is unknown: it does not
    count, and stays absent, which after centring means average. Welford's recurrence (1962).

    Examples
    --------
    >>> scaler = OnlineStandardScaler(with_mean=True)
    >>> for height in (150.0, 170.0):
    ...     scaler.learn_one({"height": height})
    >>> scaler.transform_one({"height": 175.0})
    {'height': 1.5}
    """

    with_mean: bool = flag(default=False, doc="Subtract the mean first; needs dense rows.")
    with_std: bool = flag(default=True, doc="Divide by the standard deviation.")

    _blank = (0.0, 0.0, 0.0)  # count, mean and sum of squared deviations of the stated values

    def _counts_zeros(self) -> bool:
        return self.with_mean

    def _learned(self, state: Floats, values: Floats) -> Floats:
        count, mean, squares = state.T
        count = count + 1
        deviation = values - mean
        mean = mean + deviation / count
        return np.column_stack([count, mean, squares + deviation * (values - mean)])

    def _shift_and_scale(self, state: Floats) -> tuple[Floats | float, Floats | float]:
        mean, variance = self._moments(state)
        scale = np.where(variance > 0, np.sqrt(variance), np.inf) if self.with_std else 1.0
        return mean if self.with_mean else 0.0, scale

    def _moments(self, state: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance over all rows, those where a feature is 0 among them."""
        count, mean, squares = state.T
        rows = np.maximum(count if self._counts_zeros() else self.n_rows_, 1)
        with np.errstate(over="ignore"):  # a variance of infinity makes the feature 0
            variance = (squares + mean * mean * (count * (rows - count) / rows)) / rows
        return mean * (count / rows), variance

    @property
    def mean_(self) -> Floats:
        """Mean of each feature in `feature_names_`."""
        return self._moments(self._known)[0]

    @property
    def var_(self) -> Floats:
        """Variance of each feature in `feature_names_`."""
        return self._moments(self._known)[1]


@estimator
class OnlineMaxAbsScaler(OnlineScaler):
    """Divide each feature by its largest absolute value so far, which keeps zeros zeros.

    Use it for sparse rows with features of different units, and where a bound on the values
    matters more than their spread. One outlier shrinks a feature for ever.

    Examples
    --------
    >>> scaler = OnlineMaxAbsScaler().fit([[1.0, -4.0], [2.0, 2.0]])
    >>> scaler.transform([[1.0, 1.0]])
    array([[0.5 , 0.25]])
    """

    _blank = (0.0,)

    def _learned(self, state: Floats, values: Floats) -> Floats:
        return np.maximum(state, np.abs(values)[:, None])

    def _shift_and_scale(self, state: Floats) -> tuple[Floats | float, Floats | float]:
        return 0.0, np.where(state[:, 0] > 0, state[:, 0], np.inf)


@estimator
class OnlineMinMaxScaler(OnlineScaler):
    """Map the range of each feature so far to 0 ... 1; absent features are unknown, not 0.

    Use it for dense rows whose features have natural bounds. A value outside of the range seen
    so far falls outside of 0 ... 1. For sparse rows use `OnlineMaxAbsScaler`.

    Examples
    --------
    >>> scaler = OnlineMinMaxScaler().fit([[10.0], [30.0]])
    >>> scaler.transform([[15.0], [40.0]])
    array([[0.25],
           [1.5 ]])
    """

    sklearn_tags: ClassVar[dict[str, Any]] = {"input_tags.sparse": False}
    _blank = (np.inf, -np.inf)

    def _counts_zeros(self) -> bool:
        return True

    def _learned(self, state: Floats, values: Floats) -> Floats:
        return np.column_stack([np.minimum(state[:, 0], values), np.maximum(state[:, 1], values)])

    def _shift_and_scale(self, state: Floats) -> tuple[Floats | float, Floats | float]:
        low, high = state.T
        return np.where(high > low, low, 0.0), np.where(high > low, high - low, np.inf)


@estimator
class OnlineIDF(OnlineScaler):
    """Multiply each feature by its inverse document frequency so far: rare words weigh more.

    The factor is 1 + ln((1 + rows) / (1 + rows that have the feature)), as in scikit-learn's
    `TfidfTransformer` without its norm; `RowNormalizer` gives that. Use it for text, before a
    learner that does not learn such weights by itself; AROW and CW do to a good part.

    Examples
    --------
    >>> idf = OnlineIDF()
    >>> idf.learn_one({"the": 3, "cat": 1})
    >>> idf.learn_one({"the": 1, "dog": 2})
    >>> idf.transform_one({"the": 2, "cat": 1})
    {'the': 2.0, 'cat': 1.405...}
    """

    _blank = (0.0,)

    def _learned(self, state: Floats, values: Floats) -> Floats:
        return state + 1

    def _shift_and_scale(self, state: Floats) -> tuple[Floats | float, Floats | float]:
        return 0.0, 1 / (1 + np.log((1 + self.n_rows_) / (1 + state[:, 0])))
