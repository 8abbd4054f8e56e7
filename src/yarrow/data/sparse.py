"""Sparse matrices from outside: looked at before anyone follows their indices into memory.

SciPy looks at a matrix when it is made and never again, and its own loops trust what they find: a
damaged index is read from, or written to, wherever it points. So every sparse matrix that a user
hands over is checked here first. Rows that go straight to the core are an exception: the core looks
at each index just before the row is learned, so that a large matrix comes from memory only once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from yarrow.errors import DataError
from yarrow.lazy import np

if TYPE_CHECKING:
    Array: TypeAlias = "np.ndarray[Any, Any]"


def to_csr(X: Any, by_core: bool = False) -> Any:
    """`X` as a CSR matrix that is sound, or one sentence what is wrong with it.

    With `by_core` the column indices of a CSR matrix are left to the core.
    """
    if getattr(X, "ndim", 2) != 2:
        raise DataError(f"Expected a 2D sparse array, got {X.ndim}D instead.")
    form = getattr(X, "format", None)
    if form == "coo":
        _check_places(X.row, X.shape[0], "row")
        _check_places(X.col, X.shape[1], "column")
        if not len(X.row) == len(X.col) == len(X.data):
            raise DataError("Input X is damaged: not every value has one row and one column.")
        return X.tocsr()
    csr = X if form in ("csr", "csc", "bsr") else X.tocsr()  # others keep lists that Python checks
    rows, columns = csr.shape if form != "csc" else csr.shape[::-1]
    high, wide = csr.blocksize if form == "bsr" else (1, 1)
    line, across = ("row", "column") if form != "csc" else ("column", "row")
    _check_begins(csr, rows // high, line)
    if not (by_core and form == "csr"):
        _check_places(csr.indices[: csr.indptr[-1]], columns // wide, across, line, csr.indptr)
    return csr.tocsr()


def _check_begins(X: Any, lines: int, line: str) -> None:
    """Each row (or column, or row of blocks) must begin where the one before it ends."""
    begins, indices = X.indptr, X.indices
    if begins.shape != (lines + 1,) or begins.dtype.kind not in "iu":
        raise DataError(f"Input X is damaged: it does not say where each {line} begins and ends.")
    if indices.dtype.kind not in "iu":
        raise DataError("The indices of a sparse matrix must be int32 or int64.")
    if begins[0] != 0:
        # What stands before the first row would be in no row: SciPy refuses that, too.
        raise DataError(
            f"Input X is damaged: its first {line} begins at value {begins[0]} instead of 0."
        )
    falls = begins[1:] < begins[:-1]
    if falls.any():
        raise DataError(f"Input X is damaged: {line} {falls.argmax()} ends before it begins.")
    if begins[-1] > len(indices) or begins[-1] > len(X.data):
        raise DataError(f"Input X is damaged: its {line}s need more values than there are.")


def _check_places(
    places: Array, count: int, what: str, line: str = "", begins: Array | None = None
) -> None:
    if not places.size or (places.min() >= 0 and places.max() < count):
        return
    where = ""
    if begins is not None:
        first = np.flatnonzero((places < 0) | (places >= count))[0]
        where = f" in {line} {np.searchsorted(begins, first, side='right') - 1}"
    raise DataError(f"Input X has a {what} index outside 0..{count - 1}{where}.")
