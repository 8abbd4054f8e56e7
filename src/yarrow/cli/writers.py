"""Rows written as svmlight, VW text, JSON lines, CSV or Parquet.

What a format cannot hold is refused (a weight in svmlight) or replaced and counted (a blank in a
name of VW text); nothing is lost in silence.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from yarrow.data.labels import kept
from yarrow.errors import DataError, ParameterError, needing

MOST_COLUMNS = 10_000


class Row(NamedTuple):
    """A row on its way; a name is a text, or an integer as svmlight files number features."""

    label: Any  # None where there is none
    weight: float
    names: list[Any]
    values: list[float]


def rows_of(
    names: list[Any], values: Any, begins: Any, labels: Iterable[Any], weights: Iterable[float]
) -> Iterator[Row]:
    """The rows of a CSR matrix, whose values have these names."""
    values, begins = values.tolist(), begins.tolist()
    for (begin, end), label, weight in zip(
        itertools.pairwise(begins), labels, weights, strict=False
    ):
        yield Row(kept(label), weight, names[begin:end], values[begin:end])


class Layout:
    """What a format with a column a feature must know before its first row."""

    def __init__(self, label: str, weight: str) -> None:
        self.label, self.weight = label, weight  # the names of these columns
        self.columns: dict[str, int] = {}
        self.has_labels = self.has_weights = self.has_texts = self.has_fractions = False

    def see(self, row: Row) -> None:
        """Look at a row in the first of two passes."""
        for name in row.names:
            self.columns.setdefault(self.column(name), len(self.columns))
        if len(self.columns) > MOST_COLUMNS:
            raise ParameterError(
                f"A table can have at most {MOST_COLUMNS:,} columns: convert to jsonl."
            )
        self.has_labels |= row.label is not None
        self.has_weights |= row.weight != 1
        self.has_texts |= isinstance(row.label, str)
        self.has_fractions |= isinstance(row.label, float)

    def column(self, name: Any) -> str:
        """The column of a feature."""
        if str(name) in (self.label, self.weight):
            raise DataError("a feature has the name of the label's or the weight's column",
                            field=str(name))  # fmt: skip
        return str(name)


class SvmlightWriter:
    """`label index:value ...`; names are numbered from 1 in the order of their appearance."""

    def __init__(self, file: Any, names: list[str]) -> None:
        self.file, self.replaced = file, 0
        self.numbers = {name: number for number, name in enumerate(names, 1)}

    def write(self, row: Row) -> None:
        """Write a line; numbers that were names go up, as other programs ask for."""
        if row.weight != 1:
            raise DataError(f"svmlight has no place for a weight ({row.weight:g}): use vw or jsonl")
        pairs = list(zip(row.names, row.values, strict=True))
        if any(isinstance(name, str) for name in row.names):
            numbers = self.numbers
            pairs = sorted((numbers.setdefault(n, len(numbers) + 1), v) for n, v in pairs)
        label = [] if row.label is None else [_word(self, row.label)]
        cells = label + [f"{index}:{_number(value)}" for index, value in pairs]
        self.file.write((" ".join(cells) + "\n").encode())


class VwWriter:
    """`label weight |namespace feature:value ...`."""

    def __init__(self, file: Any) -> None:
        self.file, self.replaced = file, 0

    def write(self, row: Row) -> None:
        """Write a line, with a new namespace wherever it changes."""
        cells = [] if row.label is None else [_word(self, row.label)]
        if row.weight != 1:
            if row.label is None:
                raise DataError("VW text has no place for a weight without a label")
            cells.append(_number(row.weight))
        space = None
        for name, value in zip(row.names, row.values, strict=True):
            word = _word(self, name)
            before, _, text = word.partition("^")
            if not before or not text:
                before, text = "", word
            if before != space:
                space = before
                cells.append(f"|{space}")
            cells.append(text if value == 1 else f"{text}:{_number(value)}")
        self.file.write((" ".join(cells if row.names else [*cells, "|"]) + "\n").encode())


class JsonWriter:
    """An object a line."""

    replaced = 0

    def __init__(self, file: Any, layout: Layout) -> None:
        self.file, self.layout = file, layout

    def write(self, row: Row) -> None:
        """Write a line."""
        record = {} if row.label is None else {self.layout.label: row.label}
        if row.weight != 1:
            record[self.layout.weight] = _plain(row.weight)
        for name, value in zip(row.names, row.values, strict=True):
            record[self.layout.column(name)] = _plain(value)
        self.file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


class CsvWriter:
    """A column a feature; a feature that a row does not have is an empty cell."""

    replaced = 0

    def __init__(self, file: Any, layout: Layout, delimiter: str) -> None:
        self.layout = layout
        self.text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        self.rows = csv.writer(self.text, delimiter=delimiter, lineterminator="\n")
        self.head = [layout.label] * layout.has_labels + [layout.weight] * layout.has_weights
        self.rows.writerow([*self.head, *layout.columns])

    def write(self, row: Row) -> None:
        """Write a line."""
        cells = [""] * len(self.layout.columns)
        for name, value in zip(row.names, row.values, strict=True):
            cells[self.layout.columns[str(name)]] = _number(value)
        label = ["" if row.label is None else row.label] * self.layout.has_labels
        weight = [_number(row.weight)] * self.layout.has_weights
        self.rows.writerow([*label, *weight, *cells])

    def close(self) -> None:
        """Hand over what is left, and leave the file open."""
        self.text.detach()


class ParquetWriter:
    """A column a feature; a feature that a row does not have is null."""

    replaced = 0
    _ROWS = 4096

    def __init__(self, file: Any, layout: Layout) -> None:
        with needing("pyarrow", "Writing Parquet"):
            import pyarrow as pa
            import pyarrow.parquet as parquet
        self.layout, self.rows = layout, list[Row]()
        number = pa.float64() if layout.has_fractions else pa.int64()
        kinds = (
            {layout.label: pa.string() if layout.has_texts else number} if layout.has_labels else {}
        )
        kinds |= {layout.weight: pa.float64()} if layout.has_weights else {}
        kinds |= dict.fromkeys(layout.columns, pa.float64())
        self.schema = pa.schema(kinds)
        self.file = parquet.ParquetWriter(file, self.schema)

    def write(self, row: Row) -> None:
        """Keep a row until there are enough."""
        self.rows.append(row)
        if len(self.rows) == self._ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        cells: dict[str, list[Any]] = {name: [None] * len(self.rows) for name in self.schema.names}
        for i, row in enumerate(self.rows):
            if row.label is not None:
                cells[self.layout.label][i] = str(row.label) if self.layout.has_texts else row.label
            if self.layout.has_weights:
                cells[self.layout.weight][i] = row.weight
            for name, value in zip(row.names, row.values, strict=True):
                cells[str(name)][i] = value
        self.file.write_table(pa.table(cells, self.schema))
        self.rows.clear()

    def close(self) -> None:
        """Write what is left and the end of the file."""
        if self.rows:
            self._flush()
        self.file.close()


def _word(writer: SvmlightWriter | VwWriter, text: Any) -> str:
    """A name or a label as one word without the signs that mean something."""
    word, count = re.subn(r"[\s:|]", "_", str(text))
    writer.replaced += count > 0
    return word or "_"


def _plain(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _number(value: float) -> str:
    return str(_plain(value))
