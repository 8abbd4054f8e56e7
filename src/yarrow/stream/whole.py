"""All rows of some files at once, in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.stream.compressed import Source, source_name
from yarrow.stream.format import TEXT_FORMATS, StreamFormat, TableReader, opened, text_reader


@dataclasses.dataclass(frozen=True)
class Whole:
    """Rows as a sparse matrix, a label and a weight each."""

    rows: Any
    labels: list[Any]
    weights: Any


def read_whole(sources: Sequence[Source], how: StreamFormat, *, most_values: int) -> Whole:
    """Read files in order. Columns are the features in the order of their first value.

    More than `most_values` values are refused before they are held.
    """
    from scipy import sparse

    numbers: dict[Any, int] = {}
    columns: list[Any] = []
    values: list[Any] = []
    lengths: list[Any] = []
    labels: list[Any] = []
    weights: list[Any] = []
    held = 0
    for source in sources:
        for block in _blocks(source, how):
            held += len(block["values"])
            if held > most_values:
                raise DataError(f"has more than {most_values:,} values", source=source_name(source))
            names = block["features"]
            columns.append(
                np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
            )
            values.append(np.asarray(block["values"], np.float64))
            lengths.append(np.diff(block["begins"]))
            labels += block["labels"]
            weights.append(np.asarray(block["weights"], np.float64))
    begins = np.concatenate([[0], np.cumsum(_joined(lengths))]).astype(np.int64)
    cells = (_joined(values), _joined(columns).astype(np.int64), begins)
    return Whole(sparse.csr_matrix(cells, (len(labels), len(numbers))), labels, _joined(weights))


def _joined(parts: list[Any]) -> Any:
    return np.concatenate([np.empty(0), *parts])


def _blocks(source: Source, how: StreamFormat) -> Iterator[dict[str, Any]]:
    format = how.of(source)
    with opened(source) as file:
        if format in TEXT_FORMATS:
            reader = text_reader(file, format, how)
            while (block := reader.next_arrays()) is not None:
                features = block["names"] if "names" in block else block["indices"].tolist()
                yield block | {"features": features}
        else:
            for rows in TableReader(source, file, format, how):
                weights = np.ones(len(rows)) if rows.weights is None else rows.weights
                yield {
                    "features": [rows.names[index] for index in rows.indices.tolist()],
                    "values": rows.values,
                    "begins": rows.indptr,
                    "labels": rows.labels,
                    "weights": weights,
                }
