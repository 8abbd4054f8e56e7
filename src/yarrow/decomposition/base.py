"""What the decompositions share: rows of all kinds, both interfaces, and model files.

Rows wait until a block is full, so that how they are handed over does not change a result.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from yarrow.data.arrays import check_columns, first_text, place_of, read_rows
from yarrow.decomposition.saved_state import Places, Stored, numbers
from yarrow.errors import DataError, ModelFileError
from yarrow.features.base import Row, Transformer, values_of
from yarrow.lazy import np
from yarrow.saving import schema

Floats = NDArray[np.float64]

LARGEST = 1e100
"""Values beyond it are refused: the sum of their squares would not be a number."""


class Decomposition(Stored, Transformer):
    """Base of the decompositions of rows into few numbers.

    Column j of an array is the feature named j, or the one named like the column of a data frame.
    A feature that a dict row does not name is 0 in it.
    """

    _learned_as: ClassVar[str] = "_columns"
    _takes_new_columns: ClassVar[bool] = False  # may features appear after the first row?
    _takes_missing: ClassVar[bool] = False  # is NaN a value that is not known?
    _takes_negative: ClassVar[bool] = True

    #: attributes that are no properties, for the docstring
    plain_attributes: ClassVar[dict[str, str]] = {"n_features_in_": "Number of features."}
    n_features_in_: int
    _columns: dict[Hashable, int]  # where each feature is
    _names: list[str] | None  # of the columns of the data frames that were learned

    # -- what a subclass says --------------------------------------------------------------------

    @abstractmethod
    def _start(self, n_features: int) -> None:
        """Begin with nothing learned, in so many dimensions."""

    @abstractmethod
    def _learn(self, rows: Any) -> None:
        """Learn rows, a float64 array or a CSR matrix, that have been checked.

        What is there already is replaced, not changed: the one whose twin this is still has it.
        """

    @abstractmethod
    def _code(self, rows: Any) -> Floats:
        """Return the few numbers that stand for each row."""

    @property
    @abstractmethod
    def _n_codes(self) -> int:
        """How many numbers stand for a row."""

    def _widen(self, n_features: int) -> None:
        """Make place for features that appear now."""

    # -- rows as arrays --------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything, then learn all rows."""
        return self._fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn all rows, in order; all of them or, if one cannot be, none."""
        self._check_parameters()
        self._change(lambda twin: twin._learn_array(X))
        return self

    def _learn_array(self, X: Any) -> None:
        rows, names, _ = self._read(X)
        if not self.__sklearn_is_fitted__():
            self._start(rows.shape[1])
            self.n_features_in_ = rows.shape[1]
            self._columns = {name: j for j, name in enumerate(names or range(rows.shape[1]))}
            self._names = names
        self._learn(rows)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the few numbers that stand for each row."""
        now = self._now()
        rows, _, dtype = now._read(X)
        return now._code(rows).astype(dtype)

    def _decoded(self, X: Any, basis: Floats) -> NDArray[Any]:
        """The rows that codes stand for, as sums of a basis."""
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != len(basis):
            raise DataError(f"X must have {len(basis)} columns, got shape {codes.shape}.")
        return codes @ basis

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` gives."""
        self._check_fitted()
        word = type(self).__name__.lower()
        return np.asarray([f"{word}{i}" for i in range(self._n_codes)], dtype=object)

    def _read(self, X: Any) -> tuple[Any, list[str] | None, Any]:
        """Return the rows (float64, CSR if sparse), their columns' names, and the type to give."""
        read = read_rows(X)
        if self.__sklearn_is_fitted__():
            number: int | None = self.n_features_in_
            names: list[Any] | None = self._names
            text_name = first_text(self._columns)
            if names is None and text_name is not None:  # it has learned dicts
                number, names = (number, list(self._columns)) if read.names else (None, None)
            check_columns(type(self).__name__, read, number, names, lambda: text_name)
        rows: Any = read.values
        if read.is_sparse:
            from scipy.sparse import csr_array

            rows = csr_array(read.matrix, dtype=np.float64)
            if not rows.has_canonical_format:
                rows = rows.copy()
                rows.sum_duplicates()
            own = dataclasses.replace(read, indices=rows.indices, begins=rows.indptr)
            self._check_values(rows.data, lambda bad: place_of(bad, own))
        else:
            rows = rows.astype(np.float64, copy=False)
            self._check_values(rows, place_of)
        return rows, read.names, np.float32 if read.values.dtype == np.float32 else np.float64

    def _check_values(self, values: Floats, place_of: Callable[[Any], str]) -> None:
        """Refuse values that cannot be learned; `place_of` says where the first one stands."""
        if values.size == 0:
            return
        low, high = values.min(), values.max()  # NaN if one of them is
        if np.isnan(low):
            if not self._takes_missing:
                raise DataError(f"Input X contains NaN {place_of(np.isnan(values))}.")
            low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
        if np.isinf(low) or np.isinf(high):
            raise DataError(f"Input X contains infinity {place_of(np.isinf(values))}.")
        if max(-low, high) > LARGEST:
            where = place_of(np.abs(values) > LARGEST)
            raise DataError(
                f"Input X contains a value beyond {LARGEST:g}, whose square is too large, {where}."
            )
        if low < 0 and not self._takes_negative:
            name, where = type(self).__name__, place_of(values < 0)
            raise DataError(f"Negative values in data passed to {name}: {low} {where}.")

    # -- rows as dicts ---------------------------------------------------------------------------

    def learn_one(self, x: Row) -> None:
        """Learn one row."""
        self._check_parameters()
        values = self._numbers(x)
        self._change(lambda twin: twin._learn_dict(x, values))

    def _learn_dict(self, x: Row, values: Floats) -> None:
        if not self.__sklearn_is_fitted__():
            self._start(len(x))
            self._columns = {name: j for j, name in enumerate(x)}
            self.n_features_in_, self._names = len(x), None
        new = [name for name in x if name not in self._columns]
        if new and not self._takes_new_columns:
            raise DataError(
                f"{type(self).__name__} cannot take a feature that the first row did not name",
                field=str(new[0]),
            )
        if new:
            first = len(self._columns)
            self._columns = self._columns | {name: first + i for i, name in enumerate(new)}
            self._widen(len(self._columns))
            self.n_features_in_, self._names = len(self._columns), None
        self._learn(self._as_row(x, values))

    def transform_one(self, x: Row) -> dict[int, float]:
        """Return the numbers that stand for one row: none before anything has been learned.

        A feature never learned counts for nothing.
        """
        values = self._numbers(x)
        if not self.__sklearn_is_fitted__():
            return {}
        now = self._now()
        return dict(enumerate(now._code(now._as_row(x, values))[0].tolist()))

    def _numbers(self, x: Row) -> Floats:
        values = values_of(x, finite=False)
        self._check_values(values, lambda bad: f"in feature {list(x)[int(np.argmax(bad))]!r}")
        return values

    def _as_row(self, x: Row, values: Floats) -> Floats:
        row = np.zeros((1, len(self._columns)))
        places = [self._columns.get(name, -1) for name in x]
        known = [i for i, place in enumerate(places) if place >= 0]
        row[0, [places[i] for i in known]] = values[known]
        return row

    @classmethod
    def _unit_test_skips(cls) -> set[str]:
        # The order of features decides between what is equal, and how sums are rounded.
        skips = {"check_shuffle_features_no_impact"}
        return skips if cls._takes_new_columns else skips | {"check_emerging_features"}

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Column names of the data frames that were learned."""
        if self.__dict__.get("_names") is None:
            raise AttributeError("feature_names_in_ is set by the first data frame that is learned")
        return np.asarray(self._names, dtype=object)

    def _expected(self) -> dict[str, schema.Schema]:
        return {
            "_columns": Places("features"),
            "n_features_in_": schema.Whole(),
            "_names": schema.Maybe(schema.ListOf(schema.Text(), "features")),
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        if state["n_features_in_"] != sizes["features"]:
            raise ModelFileError("its columns are not as many as its features")
        if state["_names"] is not None and list(state["_columns"]) != state["_names"]:
            raise ModelFileError("its columns do not have the names of its features")


class Blockwise(Decomposition):
    """Base of the methods that learn from blocks of rows.

    Rows are gathered to blocks of `block_size`, whichever way they come, so that all chunkings give
    the same result. Who asks for a result gets one that has learned the rows that still wait, too;
    asking never changes what is learned.
    """

    block_size: int
    _not_saved: ClassVar[tuple[str, ...]] = ("_seen",)
    _n_blocks: int

    @abstractmethod
    def _begin(self, n_features: int) -> None:
        """Begin with nothing learned, in so many dimensions."""

    @abstractmethod
    def _learn_block(self, rows: Any) -> None:
        """Learn a block, CSR or dense, that has been counted already.

        Arrays of the state are replaced, never changed in place.
        """

    def _start(self, n_features: int) -> None:
        self._n_rows, self._n_blocks = 0, 0
        self._begin(n_features)
        self._wait(np.zeros((0, n_features)))

    def _learn(self, rows: Any) -> None:
        waiting = len(self._waiting_begins) - 1
        if waiting:
            from scipy.sparse import csr_array, vstack

            rows = vstack([self._waiting(), csr_array(rows)], format="csr")
        done = 0
        while rows.shape[0] - done >= self.block_size:
            self._learn_next(rows[done : done + self.block_size])
            done += self.block_size
        self._wait(rows[done:])

    def _learn_next(self, rows: Any) -> None:
        self._n_rows, self._n_blocks = self._n_rows + rows.shape[0], self._n_blocks + 1
        self._learn_block(rows)

    def _wait(self, rows: Any) -> None:
        """Keep rows for the next block, as a CSR matrix that a file can hold."""
        from scipy.sparse import csr_array

        sparse = csr_array(rows)
        self._waiting_values = sparse.data.copy()
        self._waiting_columns = sparse.indices.astype(np.int64)
        self._waiting_begins = sparse.indptr.astype(np.int64)
        self._seen: list[Self] = []

    def _waiting(self) -> Any:
        from scipy.sparse import csr_array

        parts = (self._waiting_values, self._waiting_columns, self._waiting_begins)
        return csr_array(parts, (len(self._waiting_begins) - 1, len(self._columns)))

    def _expected(self) -> dict[str, schema.Schema]:
        least = -math.inf if self._takes_negative else 0.0
        return super()._expected() | {
            "_waiting_values": numbers(("values",), max(least, -LARGEST), LARGEST),
            "_waiting_columns": schema.Array("i8", ("values",), at_least=0),
            "_waiting_begins": schema.Array("i8", (None,), at_least=0),
            **dict.fromkeys(("_n_rows", "_n_blocks"), schema.Whole(at_most=2**53)),
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        begins, places = state["_waiting_begins"], state["_waiting_columns"]
        if not len(begins) or begins[0] != 0 or begins[-1] != len(places):
            raise ModelFileError("the rows that wait do not end where they should")
        if (np.diff(begins) < 0).any() or (places >= sizes["features"]).any():
            raise ModelFileError("the rows that wait have features that are not there")

    def _now(self) -> Self:
        """The model that has learned the waiting rows, too, as of one moment."""
        now = super()._now()
        if len(now._waiting_begins) == 1:
            return now
        seen = now._seen
        if not seen:
            ahead = now._twin()
            ahead._learn_next(now._waiting())
            ahead._wait(np.zeros((0, len(now._columns))))
            seen.append(ahead)
        return seen[0]


def dense(rows: Any) -> Floats:
    """Return rows as a dense array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def is_orthonormal(basis: Floats) -> bool:
    """Whether the rows of a basis are orthogonal and of length 1, up to rounding."""
    products = basis @ basis.T
    return bool(np.abs(products - np.eye(len(basis))).max(initial=0.0) <= 1e-6)


def flipped(basis: Floats) -> tuple[Floats, Floats]:
    """Turn the rows of a basis so that the largest entry of each is positive; also say which."""
    largest = basis[np.arange(len(basis)), np.abs(basis).argmax(axis=1)]
    signs = np.where(largest < 0, -1.0, 1.0)
    return basis * signs[:, None], signs


def softmax(logs: Floats) -> Floats:
    """Return rows of chances from rows of logarithms of what they are proportional to."""
    chances: Floats = np.exp(logs - logs.max(axis=-1, keepdims=True))
    chances /= chances.sum(axis=-1, keepdims=True)
    return chances
