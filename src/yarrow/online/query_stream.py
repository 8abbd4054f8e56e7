"""Ranking from files: the rows of a query are ranked, then learned in pairs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from yarrow.errors import DataError, ParameterError
from yarrow.io.formats import TEXT_FORMATS, OpenedSource
from yarrow.lazy import np
from yarrow.online.core_stream import Learning
from yarrow.online.ledger import Checkpoint
from yarrow.online.pairs import pairs_among, parts, wrong_order


@dataclasses.dataclass
class _Query:
    """Rows that are compared with each other, as they are read."""

    name: str = ""
    line: int = 0  # of its first row
    relevance: list[float] = dataclasses.field(default_factory=list)
    features: list[Any] = dataclasses.field(default_factory=list)  # of each row: names or numbers
    values: list[Any] = dataclasses.field(default_factory=list)


class QueryLearning(Learning):
    """Learns text one query at a time: a query ends where the next one begins."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.unranked: list[str] = []  # rows that the reader took, but nobody can rank
        self.doubled: list[Checkpoint] = []

    def _check_format(self, source: str, format: str) -> None:
        if format not in TEXT_FORMATS:
            raise ParameterError(
                f"{source}: a ranker learns svmlight text with a qid, or VW text with a tag, in "
                "each row; a table has neither."
            )

    def _reader_settings(self) -> dict[str, Any]:
        return {"dtype": "float64"}  # differences are rounded to the weights' type and hashed

    def _learn_text(self, opened: OpenedSource) -> Iterator[None]:
        query, self.unranked = _Query(), []
        while (block := opened.reader.next_arrays()) is not None:
            query = self._learn_block(block, query, opened.stream_format.on_error == "skip")
            yield
        self._learn_query(query)
        yield

    def _learn_block(self, block: dict[str, Any], query: _Query, skips: bool) -> _Query:
        """Learn the queries that end here; the last one may go on in the next block."""
        features = block["names"] if "names" in block else block["indices"]
        values = block["values"]
        begins = block["begins"].tolist()
        for i, (name, label, weight, line) in enumerate(
            zip(block["tags"], block["labels"], block["weights"], block["lines"], strict=True)
        ):
            problem = _problem(name, label, weight)
            if problem and not skips:
                raise DataError(f"line {line}: {problem}")
            if problem:
                self.unranked.append(f"line {line}: {problem}")
                continue
            if name != query.name:
                self._learn_query(query)
                query = _Query(name, line)
            query.relevance.append(float(label))
            query.features.append(features[begins[i] : begins[i + 1]])
            query.values.append(values[begins[i] : begins[i + 1]])
        return query

    def _learn_query(self, query: _Query) -> None:
        """Rank the rows by what is known, count the pairs in the wrong order, learn them."""
        n = len(query.relevance)
        if n == 0:
            return
        from scipy import sparse

        names, columns = _numbered(query.features)
        begins = np.concatenate([[0], np.cumsum([len(row) for row in query.values])])
        shape = (n, len(names) or int(columns.max(initial=-1)) + 1)
        table = sparse.csr_matrix((np.concatenate(query.values), columns, begins), shape)
        pairs = pairs_among(np.array(query.relevance), np.arange(n))
        progress = self.progress
        if len(pairs):
            cells = table.data, table.indices, begins, shape[1], False
            scores, _ = self.core.predict_rows(*cells, names)
            wrong = wrong_order(scores[:, 0], pairs)
            try:
                for part in parts(pairs):
                    self.model._learn_pairs(self.core, table, part, names)
            except DataError as error:
                raise DataError(f"line {query.line}: query {query.name}: {error}") from None
            progress.judged += len(pairs)
            progress.mistakes += wrong
        before, progress.rows = progress.rows, progress.rows + n
        progress.features += table.nnz
        if progress.judged and math.frexp(before)[1] != math.frexp(progress.rows)[1]:
            # The account as this query leaves it, where the number of rows has doubled.
            self.doubled.append(
                Checkpoint(progress.rows, progress.judged, progress.mistakes, 0.0, None, None,
                           len(query.values[-1]))
            )  # fmt: skip

    def _advance(self, opened: OpenedSource) -> None:
        self.progress.read(opened, self.before, len(self.unranked), self.unranked)
        self.progress.checkpoints, self.doubled = self.doubled, []


def _problem(name: str, label: Any, weight: float) -> str:
    """Why a row cannot be ranked; nothing if it can."""
    if not name:
        return "the row has no qid (in VW text: no tag), which says what it is compared with"
    if label is None:
        return "the row has no label, which says how relevant it is"
    if isinstance(label, str):
        return f"the label {label!r} is not a number"
    if weight != 1:
        return "the row has a weight, but pairs are learned"
    return ""


def _numbered(features: list[Any]) -> tuple[list[str], Any]:
    """The names of a query's features and their columns; numbers are columns themselves."""
    if not any(isinstance(row, list) for row in features):
        return [], np.concatenate([np.asarray(row, np.int64) for row in features])
    numbers: dict[str, int] = {}
    columns = [numbers.setdefault(name, len(numbers)) for row in features for name in row]
    return list(numbers), np.array(columns, np.int64)
