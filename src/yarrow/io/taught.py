"""Rows in Python for a model that files have taught: read as the files' rows were."""

from __future__ import annotations

import weakref
from typing import Any

from yarrow.data.arrays import Rows, column_names, read_rows
from yarrow.errors import DataError

#: what reads the rows for a model, and the stream that it was made for
_READERS: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def as_taught(model: Any, x: Any) -> Any:
    """The features of a row that a model is given, whose `_stream` says how its files were read.

    A row of a table has columns, which make features as they did in training. What has been made of
    columns already, such as `text=free`, stays as it is, and so do rows for other models.
    """
    reader = _reader_of(model)
    return x if reader is None else reader(x)


def rows_as_taught(model: Any, X: Any, by_core: bool = False) -> Rows:
    """The rows of an array or a frame, like `read_rows`; its columns are features.

    So a frame may not have columns of which the files' rows made other features: they would be
    strangers to the model, and count for nothing.
    """
    reader = _reader_of(model)
    for name in [] if reader is None else column_names(X) or []:
        if reader.is_raw(name):
            raise DataError(
                f"The column {name!r} of X holds words or categories in the files that "
                f"{type(model).__name__} was taught by, and frames hold numbers: give dicts one by "
                "one, or a file to the command line."
            )
    return read_rows(X, by_core)


def _reader_of(model: Any) -> Any:
    stream = model._stream
    if stream is None:
        return None
    reader, of = _READERS.get(model, (None, None))
    if of is not stream:
        reader = _reader(stream)
        _READERS[model] = reader, stream
    return reader


def _reader(stream: dict[str, Any]) -> Any:
    from yarrow.io.formats import TABLE_FORMATS

    if stream["format"] not in TABLE_FORMATS:
        return None
    from yarrow.io.tables import RowReader

    return RowReader.of(stream["format"], stream.get("table", {}))
