"""Rows in Python for a model that files have taught: read as the files' rows were."""

from __future__ import annotations

import weakref
from typing import Any

#: what reads the rows for a model, and the stream that it was made for
_READERS: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def as_taught(model: Any, x: Any) -> Any:
    """The features of a row that a model is given, whose `_stream` says how its files were read.

    A row of a table has columns, which make features as they did in training. What has been made of
    columns already, such as `text=free`, stays as it is, and so do rows for other models.
    """
    stream = model._stream
    if stream is None:
        return x
    reader, of = _READERS.get(model, (None, None))
    if of is not stream:
        reader = _reader(stream)
        _READERS[model] = reader, stream
    return x if reader is None else reader(x)


def _reader(stream: dict[str, Any]) -> Any:
    from yarrow.stream.format import TABLE_FORMATS

    if stream["format"] not in TABLE_FORMATS:
        return None
    from yarrow.stream.tabular import RowReader

    return RowReader.of(stream["format"], stream.get("table", {}))
