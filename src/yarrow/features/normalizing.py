"""Scaling each row by its own length."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from yarrow.estimator import estimator
from yarrow.features.base import ColumnTransformer, Row, values_of
from yarrow.parameters import choice

Floats = NDArray[np.float64]


@estimator
class RowNormalizer(ColumnTransformer):
    """Divide each row by its length, so that long texts count no more than short ones.

    Use it for words and other sparse features. It keeps nothing, so it needs no learning.

    Examples
    --------
    >>> RowNormalizer().transform_one({"a": 3, "b": 4})
    {'a': 0.6, 'b': 0.8}
    """

    sklearn_tags: ClassVar[dict[str, Any]] = {"requires_fit": False}

    norm: Literal["l2", "l1", "max"] = choice(
        default="l2",
        options=("l2", "l1", "max"),
        doc="Root of the sum of squares, sum, or largest absolute value.",
    )

    def transform_one(self, x: Row) -> dict[Hashable, float]:
        """Return the row divided by its length; a row of zeros stays as it is."""
        self._check_parameters()
        values = values_of(x)
        lengths = self.lengths(values, np.zeros(len(values), np.int64), 1)
        return dict(zip(x, (values / lengths[0]).tolist(), strict=True))

    def transform(self, X: Any) -> Any:
        """Return all rows divided by their lengths; rows of zeros stay as they are."""
        self._check_parameters()
        array, _ = self._read(X)
        if isinstance(array, np.ndarray):
            rows, columns = np.nonzero(array)
            values = array[rows, columns].astype(np.float64)
            array[rows, columns] = values / self.lengths(values, rows, len(array))[rows]
        else:
            rows = np.repeat(np.arange(array.shape[0]), np.diff(array.indptr))
            values = array.data.astype(np.float64)
            array.data[:] = values / self.lengths(values, rows, array.shape[0])[rows]
        return array

    def lengths(self, values: Floats, rows: NDArray[np.int64], n_rows: int) -> Floats:
        """Return the length of each row, or 1 for a row of zeros.

        Sums run over the values in their order, so that all kinds of rows give the same ones,
        and over values divided by the largest, so that no square overflows.
        """
        largest = np.zeros(n_rows)
        np.maximum.at(largest, rows, np.abs(values))
        largest[largest == 0] = 1
        if self.norm == "max":
            return largest
        relative = np.abs(values) / largest[rows]
        sums = np.zeros(n_rows)
        np.add.at(sums, rows, relative if self.norm == "l1" else relative * relative)
        sums[sums == 0] = 1
        return largest * (sums if self.norm == "l1" else np.sqrt(sums))
