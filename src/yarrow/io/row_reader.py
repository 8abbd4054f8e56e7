"""Rows in Python, of whatever kind, as features: read as the stream was that a model has learned.

A frame of named columns, a list of dicts or of texts is read as `read_table` reads a file of them
(`yarrow.io.columns` says what becomes what), and a model remembers how (`_stream`): so it makes the
same of raw rows from a frame, a dict or a file, whichever of them it has learned.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from yarrow.data.arrays import Rows, check_shape, column_names, read_rows
from yarrow.data.dict_rows import features_of
from yarrow.data.frames import (
    arrow_columns,
    frame_of,
    is_dicts,
    is_texts,
    listed,
    numbers_of,
    rows_in,
)
from yarrow.errors import DataError, about_row
from yarrow.estimator import columns_in
from yarrow.io.unknown_features import FEW_ROWS, NO_FEATURE, warn_of_unknown
from yarrow.lazy import np

if TYPE_CHECKING:
    from yarrow.data.named_rows import NamedRows
    from yarrow.io.columns import Roles

#: what reads the rows for a model, and the stream that it was made for
_READERS: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def row_for(model: Any, x: Any) -> Any:
    """The features of a row, read as the model's stream was.

    A row of a table has columns, which make features as they did in training. What has been made of
    columns already, such as `text=free`, stays as it is, and so do rows for other models.
    """
    reader = _reader_of(model)
    return x if reader is None else reader(x)


def row_to_predict(model: Any, core: Any, x: Any) -> Any:
    """The same of a row to be predicted; of the first such row unknown features are told.

    Not of a model that is asked before it has learned much: there each row is predicted and then
    learned, and one of new features alone is nothing strange.
    """
    if model._stream is not None:
        x = row_for(model, x)
    if "_was_asked" in model.__dict__:
        return x
    core.score_one(x)  # which refuses what is no row
    names = list(features_of(x))
    if names:
        model.__dict__["_was_asked"] = True
        if core.t >= FEW_ROWS:
            warn_of_unknown(core, names)
    return x


def rows_for(model: Any, X: Any, by_core: bool = False, fresh: bool = False) -> Rows:
    """The rows of an array, a frame, a list of dicts or of texts.

    With `fresh` the model is about to forget all that it has learned. `Rows.stream` is what it has
    to remember if it learns them.
    """
    if (isinstance(X, np.ndarray) and not is_texts(X)) or hasattr(X, "tocsr"):
        if not fresh and model._stream is not None:
            _check_nameless(model)
        return read_rows(X, by_core)
    frame = frame_of(X)
    texts, dicts = is_texts(X), is_dicts(X)
    names = None if frame is None else column_names(frame)
    if names is None and not texts and not dicts:
        return read_rows(X if frame is None else frame, by_core)
    stream = None if fresh else model._stream
    reader = None if fresh else _reader_of(model)
    tells = getattr(model, "tells_missing", False)
    if names is not None and stream is not None and not model.__dict__.get("_feature_names_in"):
        from yarrow.io.columns import warn_of_lacking

        warn_of_lacking(None, names, columns_in(stream))
    if names is not None and (reader is None or all(map(reader.is_number, names))):
        values = numbers_of(frame)
        if values is not None:
            rows = dataclasses.replace(read_rows(values, by_core), names=names, may_miss=True)
            return rows if by_core or tells else rows.without_missing()
    if reader is None:
        # Nobody has read such rows before, but for columns that have held numbers alone.
        numbers = () if fresh else model.__dict__.get("_feature_names_in") or ()
        reader = RowReader.of("csv", {"known": dict.fromkeys(numbers, "number")}, tells)
    if texts:
        return rows_of_named(reader.of_texts(list(listed(X))), [], None)
    if dicts:
        made = reader.of_dicts(X, is_first=stream is None)
        return rows_of_named(made, [], stream or {"format": "jsonl"}, tells)
    known: dict[str, Any] = {}
    found = reader.of_frame(frame, known, is_first=stream is None)
    stream = stream or {"format": "csv"}
    table = stream.get("table", {})
    known = {name: kind for name, kind in known.items() if kind != "nested"}
    table = {**table, "known": known | table.get("known", {})}
    return rows_of_named(found, names or [], {**stream, "table": table}, tells)


def _check_nameless(model: Any) -> None:
    """Refuse an array for a model that has made features of a frame's columns, by their names."""
    names = model.__dict__.get("_feature_names_in")
    reader = _reader_of(model)
    if names and reader is not None and not all(map(reader.is_number, names)):
        raise DataError(
            f"{type(model).__name__} was trained on a frame with named columns, such as "
            f"{names[0]!r}, and the columns of X have no names: give a frame, or a list of dicts."
        )


def rows_of_named(
    rows: NamedRows, columns: list[str], stream: dict[str, Any] | None, may_miss: bool = False
) -> Rows:
    """Features with names as the rows of an array, made of these columns."""
    # A row without any feature needs a column as well.
    names = rows.names or [NO_FEATURE]
    size = len(rows), len(names)
    return Rows(rows.values, rows.indices, rows.indptr, *size, names, columns, stream, may_miss)


def _reader_of(model: Any) -> Any:
    stream = getattr(model, "_stream", None)
    if stream is None:
        return None
    reader, of = _READERS.get(model, (None, None))
    if of is not stream:
        reader = _reader(stream, getattr(model, "tells_missing", False))
        _READERS[model] = reader, stream
    return reader


def _reader(stream: dict[str, Any], tells_missing: bool) -> Any:
    from yarrow.io.formats import TABLE_FORMATS

    if stream["format"] not in TABLE_FORMATS:
        return None
    return RowReader.of(stream["format"], stream.get("table", {}), tells_missing)


@dataclass(frozen=True)
class RowReader:
    """Makes features of rows in Python as `read_table` does of those of a file.

    Cells of a CSV file are texts, so texts are read as its columns turned out to be.
    """

    roles: Roles
    kinds: Mapping[str, Any]

    @classmethod
    def of(cls, format: str, options: Mapping[str, Any], tells_missing: bool = False) -> RowReader:
        """The reader for what was read in this format and with these options of `read_table`."""
        from yarrow.io.tables import roles_of, with_learned

        said = (
            "label", "weight", "features", "drop", "text", "categories", "missing", "when_missing",
            "ngrams",
        )  # fmt: skip
        roles = roles_of(**{name: options[name] for name in said if name in options})
        roles = dataclasses.replace(roles, tells_missing=tells_missing)
        if format not in ("csv", "tsv"):
            return cls(roles, {})
        kinds = options.get("known", {})
        return cls(with_learned(roles, kinds), kinds)

    # -- dicts -----------------------------------------------------------------------------------

    def __call__(self, record: Any) -> Any:
        """The features of a dict; what is none is given back, for the learner to refuse."""
        from yarrow.io.columns import row_features
        from yarrow.io.kinds import value_as_learned

        if not isinstance(record, Mapping):
            return record
        row: dict[Any, Any] = {}
        made: dict[Any, Any] = {}
        for name, value in record.items():
            if hasattr(value, "item"):
                value = value.item()  # a number of NumPy
            if self.kinds and isinstance(value, str):
                value = value_as_learned(self.roles, name, value, self.kinds)
            (made if self._is_made(name) else row)[name] = value
        found = row_features(self.roles, row) | made
        if self.roles.tells_missing:  # which a dict says by None
            return {name: None if value != value else value for name, value in found.items()}
        return found

    def of_dicts(self, records: Any, is_first: bool = False) -> NamedRows:
        """The features of a list of dicts; an error names the row.

        What may not be meant is told of the first rows that a model is given, as of a frame.
        """
        from yarrow.data.named_rows import block_of
        from yarrow.io.kinds import FirstRecords

        rows = []
        seen = FirstRecords(self.roles) if is_first else None
        for place, record in enumerate(records):
            with about_row(place):
                if not isinstance(record, Mapping):
                    raise DataError(f"{record!r} is not a dict, though other rows are dicts")
                rows.append(self(record))
            if seen is not None:
                seen.look_at(record)
        if seen is not None:
            seen.warn(None)
        return self._named([block_of(rows)], len(rows))

    def of_texts(self, texts: list[Any]) -> NamedRows:
        """The words of a list of texts: those of the one text column, if there is one."""
        from yarrow.data.named_rows import block_of
        from yarrow.io.columns import word_counts

        for place, text in enumerate(texts):
            if not isinstance(text, str):
                problem = f"{text!r} is not a text, as other rows are; say '' where there is none"
                raise DataError(problem, row=place)
        columns = list(self.roles.text)
        if len(columns) == 1:
            return self.of_dicts([{columns[0]: text} for text in texts])
        if columns or self.kinds:
            raise DataError("X is a list of texts, but the model has several columns: give dicts.")
        return self._named([block_of([word_counts(text) for text in texts])], len(texts))

    def _named(self, blocks: Any, n_rows: int) -> NamedRows:
        from yarrow.io.columns import BatchProblems

        batch = BatchProblems(None, "row", range(n_rows))
        rows = batch.rows(blocks, None, None, may_miss=self.roles.tells_missing)
        for error in batch.errors_in_order():
            raise error
        return rows

    # -- frames ----------------------------------------------------------------------------------

    def is_number(self, name: str) -> bool:
        """Whether a column of numbers is a feature as it is."""
        plain = self.roles.is_plain(name) and self.roles.when_missing == "ignore"
        return plain and self.kinds.get(name) in (None, "number", "boolean")

    def of_frame(self, frame: Any, kinds: dict[str, Any], is_first: bool = True) -> NamedRows:
        """The features of a frame; `kinds` gets what its columns hold.

        What may not be meant is told of the first rows that a model is given, not of all others.
        """
        from yarrow.io.arrow_columns import rows_of
        from yarrow.io.columns import BatchProblems
        from yarrow.io.kinds import as_learned
        from yarrow.io.tables import note_kinds

        columns = arrow_columns(frame)
        n_rows = rows_in(frame)
        check_shape((n_rows, len(columns)))
        batch = BatchProblems(None, "row", range(n_rows))
        roles = dataclasses.replace(self.roles, label=None, weight=None)
        if roles.features is not None:
            made = frozenset(name for name in columns if self._is_made(name))
            roles = dataclasses.replace(roles, features=roles.features | made)
        kinds |= self.kinds
        columns = {name: column for name, column in columns.items() if roles.reads(name)}
        note_kinds(kinds, roles, columns, None, is_first)
        columns = as_learned(batch, columns, self.kinds)
        rows = rows_of(batch, roles, columns, lambda labels: labels.to_pylist())
        for error in batch.errors_in_order():
            raise error
        return rows

    def _is_made(self, name: Any) -> bool:
        """Whether it is a feature that was made of one of the chosen columns."""
        chosen = self.roles.features
        if chosen is None or name in chosen:
            return False
        return not isinstance(name, str) or any(
            name.startswith((f"{column}=", f"{column}.")) for column in chosen
        )
