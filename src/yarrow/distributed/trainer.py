"""One model of many partitions: iterative parameter mixing on Spark."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from yarrow.distributed import checkpoint
from yarrow.distributed.source import (
    OUTCOME,
    Rows,
    columns_format,
    described,
    opened,
    outcomes,
    reading_files,
)
from yarrow.errors import DataError, check_value
from yarrow.io.formats import StreamFormat
from yarrow.merging import combined, finished

_FAN = 8  #: sums that one task adds


class SparkTrainer:
    """Train a learner on Spark, over a frame or files.

    In each epoch every partition goes on from the same model over its own rows, in order; then the
    parts are merged (`yarrow.merge`), by a tree whose shape depends on their number alone. A
    partitioning with the same rows gives the same model, bit for bit, whichever executor learned
    which part and however often. One partition alone learns what one machine would.

    Parameters
    ----------
    learner : the estimator to begin with; it is not changed
    epochs : passes over the rows, with a merge after each
    label, weight : columns of the labels and of the sample weights
    checkpoint : a file for the model after each epoch; a driver that died goes on from there
    after_epoch : is called with the number of epochs done, and the model
    stream_format : how files are read, instead of what follows
    **columns : how columns are read, as `yarrow.io.read_table` takes it: text, categories, drop...
    """

    def __init__(
        self,
        learner: Any,
        epochs: int = 1,
        *,
        label: str = "label",
        weight: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        after_epoch: Callable[[int, Any], None] | None = None,
        stream_format: StreamFormat | None = None,
        **columns: Any,
    ) -> None:
        check_value(type(epochs) is int and epochs >= 1, "epochs", epochs, ">= 1")
        self.learner, self.epochs = learner, epochs
        self.checkpoint, self.after_epoch = checkpoint, after_epoch
        self.stream_format = stream_format or columns_format(label, weight, columns)

    def fit(self, data: Any) -> Any:
        """The model after all epochs over a frame, a path or a list of paths."""
        combined([self.learner])  # says so where it cannot be merged
        df, rows = opened(data, self.stream_format)
        model, done = copy.deepcopy(self.learner), 0
        if self.checkpoint is not None:
            model, done = checkpoint.load(self.checkpoint, model)
        for epoch in range(done, self.epochs):
            model = run_epoch(df, rows, model)
            if self.checkpoint is not None:
                checkpoint.save(self.checkpoint, model, epoch + 1)
            if self.after_epoch is not None:
                self.after_epoch(epoch + 1, model)
        return model


def run_epoch(df: Any, rows: Rows, base: Any) -> Any:
    """The model after one pass over all partitions, each from the base on."""
    content = pickle.dumps(rows.keep_stream(copy.deepcopy(base)))

    def learn(batches: Iterator[Any]) -> tuple[int, bytes] | None:
        model = pickle.loads(content)
        n = rows.learn(model, batches)
        return (n, pickle.dumps(model)) if n else None

    found = df.mapInArrow(outcomes(learn), OUTCOME)
    parts = df.rdd.getNumPartitions()
    while parts > _FAN:
        groups = found.groupBy((found.part / _FAN).cast("int"))
        found = groups.applyInArrow(_adding(content), OUTCOME)
        parts = -(-parts // _FAN)
    with reading_files():
        collected = sorted(found.collect(), key=lambda row: row.part)
    for row in collected:
        if row.problem is not None:
            raise DataError(described(df, rows, row.part, row.problem))
    if not collected:
        raise DataError("There are no rows to learn.")
    return finished(combined([pickle.loads(row.content) for row in collected], base), base)


def _adding(content: bytes) -> Callable[[Any], Any]:
    """What an executor runs to add the parts of a few partitions."""

    def add(table: Any) -> Any:
        import pyarrow as pa

        rows = sorted(table.to_pylist(), key=lambda row: row["part"])
        wrong = [row for row in rows if row["problem"] is not None]
        if wrong:
            return pa.Table.from_pylist(wrong[:1], schema=table.schema)
        total = combined([pickle.loads(row["content"]) for row in rows], pickle.loads(content))
        one = {"part": rows[0]["part"] // _FAN, "rows": sum(row["rows"] for row in rows),
               "content": pickle.dumps(total), "problem": None}  # fmt: skip
        return pa.Table.from_pylist([one], schema=table.schema)

    return add
