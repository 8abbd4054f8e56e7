"""Frames of every library: how their columns come in, and answers go out in the caller's kind.

pandas, polars and pyarrow are known by narwhals, all others by the Arrow stream that they offer
(`__arrow_c_stream__`: DuckDB, readers of record batches...). A frame whose columns are called by
numbers is an array: it may hold numbers alone, and nothing may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from yarrow.errors import DataError, DataTypeError, needing
from yarrow.lazy import np

TWO_OF_A_NAME = "two columns have this name; rename one of them"
_STREAM = "__arrow_c_stream__"
_OTHERS = "Reading a frame that is not of pandas or polars, or holds other than numbers,"


def frame_of(X: Any) -> Any:
    """A frame as one of pandas, polars or pyarrow, or None if it is none."""
    if isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "tocsr"):
        return None
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise DataTypeError(
            "X is a LazyFrame, of which nothing has been read yet: give X.collect()."
        )
    library = type(X).__module__.partition(".")[0]
    is_table = library == "pyarrow" and hasattr(X, "column_names") and hasattr(X, "combine_chunks")
    if library in ("pandas", "polars") or is_table:  # a record batch of pyarrow is no table
        return X if getattr(X, "ndim", 2) == 2 and hasattr(X, "columns") else None
    if not hasattr(X, _STREAM) or not (hasattr(X, "columns") or hasattr(X, "schema")):
        return None
    with needing("pyarrow", _OTHERS):
        import pyarrow as pa
    return pa.table(X)


def listed(X: Any) -> Any:
    """The items of an array of pyarrow as Python has them; anything else as it is."""
    is_array = hasattr(X, "to_pylist") and not hasattr(X, "schema")
    return X.to_pylist() if is_array else X


def is_texts(X: Any) -> bool:
    """Whether it is a list, a series or an array of texts, of which some may be missing."""
    if isinstance(X, np.ndarray):
        if X.ndim != 1 or X.dtype.kind not in "UO":
            return False
    elif not isinstance(X, (list, tuple)):
        X = listed(X)
        if not (isinstance(X, list) or hasattr(X, "to_list")) or getattr(X, "ndim", 1) != 1:
            return False
    return isinstance(_first_stated(X), str)


def is_dicts(X: Any) -> bool:
    """Whether it is a list of dicts."""
    return isinstance(X, (list, tuple)) and isinstance(_first_stated(X), Mapping)


def _first_stated(X: Any) -> Any:
    """The first item that is not missing."""
    return next((x for x in X if x is not None and not (isinstance(x, float) and x != x)), None)


def labels_of_columns(X: Any) -> list[Any] | None:
    """What the columns of a frame are called; None of what is no frame."""
    if isinstance(X, np.ndarray):
        return None
    names = getattr(X, "column_names", None)  # pyarrow, whose `columns` are the values
    if names is None:
        names = getattr(X, "columns", None)
    return None if names is None or callable(names) else list(names)


def is_pandas(X: Any) -> bool:
    """Whether it is of pandas, which is never imported for that."""
    return type(X).__module__.partition(".")[0] == "pandas"


def numbers_of(frame: Any) -> Any:
    """The values of a frame that holds numbers alone, or None; NaN where one is missing.

    A frame of one type is not copied where its library has it in one block.
    """
    if is_pandas(frame):
        types = set(frame.dtypes.tolist())
        if not all(kind.kind in "fiub" for kind in types):
            return None
        if len(types) == 1 and isinstance(next(iter(types)), np.dtype):
            return np.asarray(frame)
        return frame.to_numpy(np.float64, na_value=np.nan)
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    kinds = set(table.schema.values())
    if not all(kind.is_numeric() or kind == nw.Boolean for kind in kinds):
        return None
    values = table.to_numpy()
    return values if values.dtype.kind in "fiub" else values.astype(np.float64)


def arrow_columns(frame: Any) -> dict[str, Any]:
    """The columns of a frame as Arrow arrays, each in one piece."""
    with needing("pyarrow", _OTHERS):
        import pyarrow as pa
    import narwhals as nw

    names = labels_of_columns(frame) or []
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise DataError(TWO_OF_A_NAME, field=twice)
    try:
        if is_pandas(frame):  # whose index is no column
            table = pa.Table.from_pandas(frame, preserve_index=False)
        else:
            table = nw.from_native(frame, eager_only=True).to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        _name_mixed(frame, error)
    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        found[name] = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if isinstance(found[name], pa.ChunkedArray):  # what combines may be of many pieces still
            found[name] = pa.concat_arrays(found[name].chunks)
    return found


def _name_mixed(frame: Any, error: Exception) -> Any:
    """Say which column of a frame holds values that do not go together, and where."""
    import pyarrow as pa

    for name in labels_of_columns(frame) or ():
        column = frame[name]
        try:
            pa.array(column)
        except pa.ArrowNotImplementedError:
            problem = f"a column of type {column.dtype} makes no features; drop it"
            raise DataTypeError(problem, field=name) from None
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            first = next((type(value) for value in column if value is not None), None)
            for row, value in enumerate(column):
                if value is not None and type(value) is not first:
                    raise DataTypeError(
                        f"the column holds {value!r} among values of another type; make all of "
                        "them texts, or all of them numbers",
                        row=row,
                        field=name,
                    ) from None
    raise DataTypeError(f"X cannot be read: {error}") from None


# -- answers ---------------------------------------------------------------------------------------


def series_like(X: Any, values: Any) -> Any:
    """One value a row of `X`: a series of pandas or polars if `X` is theirs, or else of pyarrow."""
    if is_pandas(X):
        import pandas as pd

        return pd.Series(values, index=X.index)
    if type(X).__module__.startswith("polars"):
        import polars as pl

        return pl.Series("", np.asarray(values).tolist())
    return _arrow_array(values)


def frame_like(X: Any, columns: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> Any:
    """Columns of one value a row of `X`, by name: a frame of pandas, polars, or else pyarrow."""
    library = type(X).__module__.partition(".")[0]
    return new_frame(library, dict(columns), getattr(X, "index", None))


def new_frame(library: str, columns: Mapping[Any, Any], index: Any = None) -> Any:
    """A frame of pandas, polars, or else pyarrow."""
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(columns, index=index)
    named = {str(name): values for name, values in columns.items()}
    if library == "polars":
        import polars as pl

        return pl.DataFrame(named)
    import pyarrow as pa

    return pa.table({name: _arrow_array(values) for name, values in named.items()})


def dict_rows(X: Any) -> list[dict[Any, Any]]:
    """The rows of a frame as dicts."""
    if is_pandas(X):
        return X.to_dict("records")  # type: ignore[no-any-return]
    frame = frame_of(X)
    if frame is None:
        return list(X)
    import narwhals as nw

    rows: list[dict[Any, Any]] = nw.from_native(frame, eager_only=True).rows(named=True)
    return rows


def _arrow_array(values: Any) -> Any:
    with needing("pyarrow", "An answer that is not of pandas or polars"):
        import pyarrow as pa
    return pa.array(np.asarray(values).tolist())


def rows_in(X: Any) -> int:
    """How many rows a frame or a list has."""
    frame = frame_of(X)
    if frame is None:
        return len(X)
    return int(frame.num_rows if hasattr(frame, "num_rows") else len(frame))
