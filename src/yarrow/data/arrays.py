"""Arrays, sparse matrices and data frames as the core wants them, or one sentence why not."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from yarrow.data.frames import frame_of, labels_of_columns
from yarrow.data.sparse import to_csr
from yarrow.errors import DataError, DataTypeError, ParameterError
from yarrow.lazy import np

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclasses.dataclass
class Rows:
    """The rows of one call: dense (`begins` is None) or CSR."""

    values: Array
    indices: Array | None
    begins: Array | None
    n_rows: int
    n_columns: int
    names: list[str] | None
    #: the columns that the features were made of, where they are not those; none of dicts and texts
    made_of: list[str] | None = None
    #: how they were made, for a model that learns the rows to remember
    stream: dict[str, Any] | None = None
    #: NaN is a value that is missing; to most models a row has no feature there
    may_miss: bool = False

    @property
    def is_sparse(self) -> bool:
        return self.begins is not None

    @property
    def arrays(self) -> tuple[Array, Array | None, Array | None, int, bool]:
        """As the core takes them."""
        return self.values, self.indices, self.begins, self.n_columns, self.may_miss

    @property
    def matrix(self) -> Any:
        """As scikit-learn takes them: an array, or a CSR matrix."""
        if self.begins is None:
            return self.values
        from scipy.sparse import csr_matrix

        cells = self.values, self.indices, self.begins
        return csr_matrix(cells, shape=(self.n_rows, self.n_columns))

    def given_to(self, function: Callable[..., Any], *rest: Any) -> Any:
        """What a function of the core says of them, which counts columns and knows no names."""
        try:
            return function(*self.arrays, *rest)
        except DataError:
            if self.may_miss:
                self.without_missing()
            raise

    def without_missing(self) -> Rows:
        """The same with 0 where a value is missing."""
        values = self.values
        if values.dtype.kind != "f":
            return self
        with np.errstate(all="ignore"):
            if not np.isfinite(values.sum()):  # as fast as memory
                values = np.where(np.isnan(values), values.dtype.type(0), values)
                check_finite(values, "Input X", dataclasses.replace(self, values=values))
        return dataclasses.replace(self, values=values, may_miss=False)

    @functools.cached_property
    def _may_repeat(self) -> bool:
        """Whether a sparse row may have a column twice."""
        if self.begins is None or self.indices is None:
            return False
        falls = np.flatnonzero(np.diff(self.indices[: self.begins[-1]]) <= 0) + 1
        return not np.isin(falls, self.begins).all()

    def cells(self, i: int) -> tuple[Array, Array]:
        """The columns of a row and its values, none of them zero; a column twice is their sum."""
        if self.begins is None or self.indices is None:
            columns = np.flatnonzero(self.values[i])
            return columns, self.values[i, columns].astype(np.float64)
        part = slice(self.begins[i], self.begins[i + 1])
        columns = self.indices[part].astype(np.int64)
        values: Array = self.values[part].astype(np.float64)
        if self._may_repeat and len(np.unique(columns)) < len(columns):
            columns, place = np.unique(columns, return_inverse=True)
            values = np.bincount(place, weights=values)
        there = values != 0
        return (columns, values) if there.all() else (columns[there], values[there])

    def take(self, places: Array) -> Rows:
        """Some of the rows, as a copy."""
        if self.begins is None or self.indices is None:
            return dataclasses.replace(self, values=self.values[places], n_rows=len(places))
        starts, ends = self.begins[places], self.begins[places + 1]
        begins = np.concatenate([[0], np.cumsum(ends - starts)]).astype(self.begins.dtype)
        where = np.arange(begins[-1]) + np.repeat(starts - begins[:-1], ends - starts)
        return dataclasses.replace(
            self,
            values=self.values[where],
            indices=self.indices[where],
            begins=begins,
            n_rows=len(places),
        )

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Sparse rows one after the other; the widest part says how many columns there are."""
        values = np.concatenate([part.values for part in parts])
        indices = np.concatenate([np.asarray(part.indices) for part in parts])
        lengths = np.concatenate([np.diff(np.asarray(part.begins)) for part in parts])
        begins = np.concatenate([[0], np.cumsum(lengths)])
        width = max(part.n_columns for part in parts)
        may_miss = any(part.may_miss for part in parts)
        return cls(values, indices, begins, len(lengths), width, None, may_miss=may_miss)


def read_rows(X: Any, by_core: bool = False) -> Rows:
    """Look at `X`, whatever it is, without copying it if it is an array already.

    With `by_core` the core will see the rows next, and looks at the column indices itself.
    """
    if hasattr(X, "tocsr"):
        return _read_sparse(X, by_core)
    frame = None if isinstance(X, np.ndarray) else frame_of(X)
    names = None if frame is None else column_names(frame)
    values = X if isinstance(X, np.ndarray) else _to_numpy(X if frame is None else frame)
    if values.dtype.kind == "c":
        raise DataError(f"Complex data not supported\n{X}\n")
    if values.dtype.kind not in "fiub" or values.dtype.itemsize > 8 or values.dtype == np.float16:
        values = _to_float(values, names=names)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.ndim < 2:
        raise DataError(
            f"Expected 2D array, got {values.ndim}D array instead:\narray={values}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single "
            "feature or array.reshape(1, -1) if it contains a single sample."
        )
    if values.ndim > 2:
        raise DataError(f"Found array with dim {values.ndim}, while dim <= 2 is required.")
    check_shape(values.shape)
    return Rows(values, None, None, values.shape[0], values.shape[1], names)


def _read_sparse(X: Any, by_core: bool) -> Rows:
    csr = to_csr(X, by_core)
    if csr.dtype.kind == "c":
        raise DataError(f"Complex data not supported\n{X}\n")
    if csr.dtype.kind not in "fiub" or csr.dtype.itemsize > 8 or csr.dtype == np.float16:
        csr = csr.astype(np.float64)
    if not csr.dtype.isnative:
        csr = csr.astype(csr.dtype.newbyteorder("="))
    check_shape(csr.shape)
    values, indices = np.ascontiguousarray(csr.data), np.ascontiguousarray(csr.indices)
    return Rows(values, indices, csr.indptr, csr.shape[0], csr.shape[1], None)


def _to_numpy(X: Any) -> Array:
    if isinstance(X, dict):
        raise DataTypeError("X is a dict: give a list of dicts, one a row, or a data frame.")
    if isinstance(X, (str, bytes)):
        raise DataTypeError(f"X is one text, {X!r:.40}: give a list of texts, one a row.")
    if isinstance(X, Iterator):
        raise DataTypeError(
            f"X is a {type(X).__name__}, which can be read only once: give list(X)."
        )
    rows = list(enumerate(X)) if isinstance(X, list) else []
    lengths = [
        (place, len(row))
        for place, row in rows
        if hasattr(row, "__len__") and not isinstance(row, (str, bytes))
    ]
    for place, length in lengths:
        first, expected = lengths[0]
        if length != expected:
            raise DataError(f"row {place} has {length} values, but row {first} has {expected}")
    try:
        with _conversion():
            return np.asarray(X)
    except DataError:  # NumPy does not say where
        for place, row in rows:
            for column, value in enumerate(row) if isinstance(row, (list, tuple)) else ():
                if isinstance(value, (list, tuple)):
                    where = f"at row {place}, column {column}"
                    raise DataError(f"Input X: {value!r} {where} is not a number.") from None
        raise


def exact_array(values: Any) -> Array:
    """An array that keeps apart what Python does: of objects, where one type would merge entries.

    As texts 1 and '1' of a list would be the same, as floats 2**53 and 2**53 + 1, and NumPy's texts
    lose the NULs that they end in.
    """
    array = np.asarray(values)
    if not isinstance(values, (list, tuple)):
        return array
    kinds = set(map(type, values))
    has_text = any(issubclass(kind, str) for kind in kinds)
    has_integers = any(issubclass(kind, (int, np.integer)) for kind in kinds)
    if array.dtype.kind == "U" and has_text:
        merges = not all(issubclass(kind, str) for kind in kinds) or any(
            text[-1:] == "\0" for text in values
        )
    else:
        merges = array.dtype.kind == "f" and has_integers and bool((np.abs(array) >= 2**53).any())
    if merges and array.ndim == 1:
        array = np.empty(len(values), dtype=object)
        array[:] = values
    return array


def _to_float(values: Array, what: str = "Input X", names: list[str] | None = None) -> Array:
    if values.dtype.kind in "mM":
        raise DataTypeError(
            f"Dates and times are not numbers: {values.flat[0]!r} at row 0, column 0."
            if values.size
            else f"Dates and times are not numbers: {values.dtype}."
        )
    if values.dtype.kind in "USV":
        values = values.astype(object)
    try:
        with _conversion():
            return values.astype(np.float64)
    except DataError as error:
        for place, value in np.ndenumerate(values):
            if not _is_number(value):
                row, *column = place
                where = f"at row {row}" + (f", {_column(column[0], names)}" if column else "")
                if isinstance(value, (str, bytes)):
                    hint = _NO_NUMBERS.get(what, "")
                    raise DataError(f"{what}: {value!r} {where} is not a number{hint}.") from None
                raise type(error)(f"{what}: {error}: {value!r} {where}.") from None
        raise


_NO_NUMBERS = {
    "Input X": ": give a frame whose columns have names, or a list of dicts, to a learner; "
    "yarrow.features.Columns makes numbers of them",
    "Input y": ": for classes use a classifier",
}


def _column(number: int, names: list[str] | None) -> str:
    return f"column {number}" if names is None else f"column {names[number]!r}"


def _is_number(value: object) -> bool:
    if isinstance(value, (complex, np.complexfloating)):
        return False
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


@contextlib.contextmanager
def _conversion() -> Iterator[None]:
    """What NumPy says of values that are no numbers, as errors of this package."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            yield
    except np.exceptions.ComplexWarning:
        raise DataError("Complex data not supported") from None
    except TypeError as error:
        raise DataTypeError(str(error)) from None
    except ValueError as error:
        raise DataError(str(error)) from None


def place_of(bad: Array, rows: Rows | None = None) -> str:
    """Where the first of the values stands that are marked: its row, and its column if it has one.

    >>> place_of(np.array([False, True])), place_of(np.array([[False, False], [True, False]]))
    ('at row 1', 'at row 1, column 0')
    """
    place = int(np.flatnonzero(bad)[0])
    if rows is not None and rows.begins is not None and rows.indices is not None:
        row = int(np.searchsorted(rows.begins, place, side="right")) - 1
        return f"at row {row}, {_column(int(rows.indices[place]), rows.names)}"
    if bad.ndim == 1:
        return f"at row {place}"
    row, column = divmod(place, bad.shape[1])
    return f"at row {row}, {_column(column, None if rows is None else rows.names)}"


def check_finite(
    values: Array,
    what: str,
    rows: Rows | None = None,
    infinity: str = "infinity",
    when_nan: str = "",
) -> None:
    """Refuse what is not finite, naming the place; sparse values are those of `rows`."""
    finite = np.isfinite(values)
    if finite.all():
        return
    is_nan = bool(np.isnan(values.ravel()[np.flatnonzero(~finite)[0]]))
    problem = "NaN" if is_nan else infinity
    hint = when_nan if is_nan else ""
    raise DataError(f"{what} contains {problem} {place_of(~finite, rows)}{hint}.")


def check_finite_target(values: Array) -> None:
    """Refuse targets that are not finite, naming the row."""
    # In the words that scikit-learn's checks look for.
    check_finite(values, "Input y", infinity="infinity or a value too large for dtype('float64')")


def check_size(values: Array, most: float, what: str, rows: Rows | None = None) -> None:
    """Refuse what is beyond a number, naming the place; sparse values are those of `rows`."""
    if values.size and max(-float(values.min()), float(values.max())) > most:
        bad = np.abs(values) > most
        raise DataError(f"{what} contains a value beyond {most:g} {place_of(bad, rows)}.")


def check_values(rows: Rows, dtype: str = "float64") -> None:
    """Refuse rows with a value that is no finite number of this type, naming the place."""
    if rows.values.dtype.kind != "f":
        return
    if rows.may_miss:
        rows = rows.without_missing()
    # In the words of the core.
    way_out = ": give a frame, in which it means a missing value, or put a number there"
    check_finite(rows.values, "Input X", rows, when_nan=way_out)
    if dtype == "float32" and rows.values.dtype != np.float32 and rows.values.size:
        # As the core rounds: what is nearer to infinity than to the largest number.
        with np.errstate(over="ignore"):
            bad = np.isinf(rows.values.astype(np.float32))
        if bad.any():
            where = place_of(bad, rows)
            raise DataError(f"Input X contains a value too large for dtype('float32') {where}.")


def check_shape(shape: tuple[int, ...]) -> None:
    """Refuse an array without rows, or without columns."""
    for count, axis in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise DataError(
                f"Found array with 0 {axis} (shape={tuple(map(int, shape))}) while a minimum of 1 "
                "is required."
            )


def column_names(X: Any) -> list[str] | None:
    """The column names of a data frame, if all of them are strings."""
    names = labels_of_columns(X)
    if names is None:
        return None
    text = [isinstance(name, str) for name in names]
    if names and all(text):
        for name in names:
            if not is_unicode(name):
                raise DataError(f"The feature name {name!r} is not valid Unicode.")
        return names
    if any(text):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            "input has mixed types of names: convert them to strings with "
            "X.columns = X.columns.astype(str)."
        )
    return None


def is_unicode(text: str) -> bool:
    """Whether a file can hold the text: half a surrogate pair is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def feature_names(X: Any, rows: Rows) -> list[Any]:
    """What the columns are called: as in the frame, or else 0, 1, 2..."""
    if rows.names is None:
        names = labels_of_columns(X)
        if names and all(isinstance(name, (int, np.integer)) for name in names):
            return [int(name) for name in names]
    return rows.names or list(range(rows.n_columns))


def check_names(estimator: str, fitted: list[str] | None, given: list[str] | None) -> None:
    """Columns must be called as they were when the model first saw them."""
    if fitted is None or given is None:
        if fitted is not None:
            warnings.warn(
                f"X does not have valid feature names, but {estimator} was fitted with "
                "feature names",
                UserWarning,
                stacklevel=5,
            )
        elif given is not None:
            warnings.warn(
                f"X has feature names, but {estimator} was fitted without feature names",
                UserWarning,
                stacklevel=5,
            )
        return
    if fitted == given:
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen = sorted(set(given) - set(fitted))
    missing = sorted(set(fitted) - set(given), key=str)
    for title, names in (
        ("Feature names unseen at fit time:\n", unseen),
        ("Feature names seen at fit time, yet now missing:\n", missing),
    ):
        if names:
            message += title + "".join(f"- {name}\n" for name in names[:5])
            message += "- ...\n" if len(names) > 5 else ""
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise DataError(message)


def check_columns(
    estimator: str,
    rows: Rows,
    number: int | None,
    names: list[str] | None,
    text_name: Callable[[], str | None] = lambda: None,
) -> None:
    """Columns must be those that the model first saw, by name where they have names.

    One that never saw columns (`number` is None), but features called by texts such as `text_name`,
    can make nothing of columns without names.
    """
    if rows.made_of is not None:
        if number is not None and rows.made_of:
            check_names(estimator, names, rows.made_of)
        return
    if number is None:
        if rows.names is None and (name := text_name()) is not None:
            such = f", such as {name!r}" if name else ""
            raise DataError(
                f"The columns of X have no names, and {estimator} was trained on features that "
                f"have names{such}: give a data frame with such columns, or dicts one by one."
            )
        return
    check_names(estimator, names, rows.names)
    if rows.n_columns != number:
        raise DataError(
            f"X has {rows.n_columns} features, but {estimator} is expecting {number} "
            "features as input."
        )


def first_text(names: Iterable[Any]) -> str | None:
    """A name that is a text, if there is one."""
    return next((name for name in names if isinstance(name, str)), None)


def labels_of(y: Any) -> Any:
    """The labels, which must be there."""
    if y is None:
        raise DataError("This estimator requires y to be passed, but the target y is None.")
    return y


def read_target(y: Any, n_rows: int) -> Array:
    """A one-dimensional array with one entry a row."""
    if hasattr(labels_of(y), "tocsr"):
        raise DataError("Sparse labels are not supported: pass a one-dimensional array.")
    values = _to_numpy(y)
    if isinstance(y, (list, tuple)) and values.ndim == 1:
        values = exact_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            _conversion_warning(),
            stacklevel=4,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise DataError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
    if values.dtype.kind == "c":
        raise DataError(f"Complex data not supported\n{y}\n")
    if len(values) != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(values)}]"
        )
    return values


def read_values(y: Any, n_rows: int) -> Array:
    """Targets of a regression."""
    values = read_target(y, n_rows)
    values = np.ascontiguousarray(_to_float(values, "Input y"))
    check_finite_target(values)
    return values


def read_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """One weight a row, all finite and not negative; None where there are none."""
    if sample_weight is None:
        return None
    weights = _to_numpy(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.ndim != 1:
        raise DataError("Sample weights must be 1D array or scalar.")
    if len(weights) != n_rows:
        raise DataError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
    weights = np.ascontiguousarray(_to_float(weights, "Input sample_weight"))
    check_finite(weights, "Input sample_weight")
    if (weights < 0).any():
        raise ParameterError(
            f"Sample weights must not be negative: {weights.min()} {place_of(weights < 0)}."
        )
    return weights


def _conversion_warning() -> type[Warning]:
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        return DataConversionWarning  # type: ignore[no-any-return]
    return UserWarning
