"""Rows that are predicted and learned together, whatever they come from."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from yarrow.data.arrays import Array, Rows
from yarrow.data.frames import is_dicts
from yarrow.data.labels import Labels, label_list
from yarrow.data.sparse import to_csr
from yarrow.errors import ParameterError
from yarrow.lazy import np


@dataclasses.dataclass(eq=False, repr=False)  # what is not made costs no time at the start
class Batch:
    """Some rows with all that belongs to them, read once for all who learn them; never changed.

    Rows are those of an array as the core takes them (`rows`), one dict (`row`), or whatever a
    learner of another library is to see as it was given (`X`).
    """

    rows: Rows | None = None
    names: list[Any] = dataclasses.field(default_factory=list)  # of columns; empty: their numbers
    row: dict[Any, Any] | None = None  # instead of rows
    labels: Labels | None = None  # as the core takes them
    weights: Any = None  # None: all are 1
    classes: Any = None  # all that may come, if that was told
    X: Any = None  # an array, a sparse matrix, a data frame, or a list of dicts, instead of rows
    y: Any = None  # labels as they were given
    lines: Array | None = None  # where the rows stand in their files
    sources: Array | None = None  # the files
    passed: list[tuple[Any, ...]] | None = None  # cells that go along with rows of a whole batch

    def __len__(self) -> int:
        if self.rows is not None:
            return self.rows.n_rows
        return 1 if self.X is None else length(self.X)

    def take(self, places: Any) -> Batch:
        """Some of the rows of an array or a table."""
        if self.row is not None:
            return self
        if self.rows is not None and isinstance(places, slice):
            places = np.arange(len(self))[places]
        return Batch(
            None if self.rows is None else self.rows.take(places),
            self.names,
            None,
            self.labels and (self.labels[0][places], self.labels[1]),
            None if self.weights is None else self.weights[places],
            self.classes,
            None if self.X is None else taken(self.X, places),
            None if self.y is None else self.y[places],
            None if self.lines is None else self.lines[places],
            None if self.sources is None else self.sources[places],
        )

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """Sparse rows of files one after the other; names are those of the last."""
        if len(parts) == 1:
            return parts[0]
        y = [np.asarray(part.y) for part in parts]
        if len({labels.dtype.kind for labels in y}) > 1:  # words and numbers stay what they are
            y = [labels.astype(object) for labels in y]
        rest: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("weights", "lines", "sources")
            if getattr(parts[0], name) is not None
        }
        rows = Rows.joined([part.rows for part in parts if part.rows is not None])
        return dataclasses.replace(parts[-1], rows=rows, y=np.concatenate(y), **rest)

    def one_by_one(self) -> list[Batch]:
        """A batch a row."""
        if self.row is not None:
            return [self]
        return [self.take(np.array([i])) for i in range(len(self))]

    def as_dicts(self) -> list[Batch]:
        """A batch a row, each a dict."""
        return [
            Batch(
                row=row,
                labels=self.labels and (self.labels[0][i : i + 1], self.labels[1]),
                weights=None if self.weights is None else self.weights[i : i + 1],
            )
            for i, row in enumerate(self.dicts)
        ]

    def only_present(self) -> Batch:
        """The same sparse rows with those columns alone that they have, which then have names."""
        assert self.rows is not None
        present, rows = only_present(self.rows)
        names = [self.names[place] for place in present] if self.names else present
        return dataclasses.replace(self, rows=rows, names=names)

    @property
    def n_columns(self) -> int:
        """Columns of rows that were read."""
        return 0 if self.rows is None else self.rows.n_columns

    @property
    def n_values(self) -> int:
        """Values that rows which were read have, zeros of dense ones included."""
        assert self.rows is not None
        begins = self.rows.begins
        return int(self.rows.values.size if begins is None else begins[-1])

    # -- labels ----------------------------------------------------------------------------------

    @functools.cached_property
    def truth(self) -> list[Any]:
        """The labels as they were given; values of a regression."""
        if self.labels is None:
            return list(np.asarray(self.y).tolist())
        return label_list(self.labels)

    @functools.cached_property
    def values(self) -> Array:
        """The targets of a regression."""
        return np.asarray(self.y) if self.labels is None else self.labels[0]

    @functools.cached_property
    def targets(self) -> list[float]:
        """The same as numbers of Python."""
        return list(self.values.tolist())

    @property
    def counts(self) -> Array:
        """Which rows are there to be learned: a row of no weight is absent."""
        return np.ones(len(self), bool) if self.weights is None else self.weights > 0

    def weight(self, i: int) -> float:
        """The weight of one row."""
        return 1.0 if self.weights is None else float(self.weights[i])

    # -- rows in other forms -----------------------------------------------------------------------

    @functools.cached_property
    def dicts(self) -> list[dict[Any, Any]]:
        """The rows as river takes them: those that were read without zeros, others as given."""
        if self.X is not None:
            return list(self.X) if is_dicts(self.X) else dicts_of(self.X)
        if self.rows is None:
            return [dict(self.row or {})]
        names: Any = self.names or range(self.rows.n_columns)
        found = (self.rows.cells(i) for i in range(self.rows.n_rows))
        return [
            {names[j]: value for j, value in zip(columns.tolist(), values.tolist(), strict=True)}
            for columns, values in found
        ]

    @functools.cached_property
    def matrix(self) -> Any:
        """The rows as scikit-learn takes them."""
        if self.X is not None:
            return self.X
        if self.rows is None:
            raise ParameterError("A learner of scikit-learn takes rows of arrays, not dicts.")
        return self.rows.matrix


def only_present(rows: Rows) -> tuple[list[int], Rows]:
    """The columns that sparse rows have, and the rows with no other columns."""
    indices: Any = rows.indices
    if rows.n_columns > 4 * len(indices) + 65536:
        present, narrow = np.unique(indices, return_inverse=True)
    else:  # the same without sorting
        there = np.zeros(rows.n_columns, bool)
        there[indices] = True
        present, narrow = np.flatnonzero(there), (np.cumsum(there) - 1)[indices]
    narrow = narrow.reshape(-1).astype(np.int32)
    return present.tolist(), dataclasses.replace(rows, indices=narrow, n_columns=len(present))


# -- rows as users give them -----------------------------------------------------------------------


def length(X: Any) -> int:
    """How many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def table_of(X: Any) -> Any:
    """Rows as they are, but lists of numbers as an array, and sparse ones as sound CSR."""
    if hasattr(X, "tocsr"):
        return to_csr(X)
    return X if hasattr(X, "shape") or is_dicts(X) else np.asarray(X)


def taken(X: Any, places: Any) -> Any:
    """Some of the rows, whatever they are kept in."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if hasattr(X, "tocsr") or hasattr(X, "columns"):  # polars
        return X[places]
    if is_dicts(X):
        return X[places] if isinstance(places, slice) else [X[i] for i in places.tolist()]
    return np.asarray(X)[places]


def dicts_of(X: Any) -> list[dict[Any, Any]]:
    """Rows by name or number of their column, without a matrix's zeros."""
    if hasattr(X, "tocsr"):
        csr = to_csr(X)
        bounds = zip(csr.indptr, csr.indptr[1:], strict=False)
        return [
            dict(zip(csr.indices[a:b].tolist(), csr.data[a:b].tolist(), strict=True))
            for a, b in bounds
        ]
    names = list(X.columns) if hasattr(X, "columns") else None
    table = np.asarray(X)
    return [dict(zip(names or range(len(row)), row, strict=True)) for row in table.tolist()]
