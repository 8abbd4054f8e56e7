"""One model of many partitions: iterative parameter mixing on Spark."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from yarrow.distributed import checkpoint
from yarrow.distributed.rows import check_columns, features, functions, learn_batch, prepared
from yarrow.errors import DataError, ParameterError
from yarrow.merging.difference import Difference, add_all


class SparkTrainer:
    """Train a learner on a DataFrame of Spark.

    In each epoch every partition goes on from the same model over its own rows, in order; then the
    parts are merged (`yarrow.merge`), by a tree whose shape depends on their number alone. A
    partitioning with the same rows gives the same model, bit for bit, whichever executor learned
    which part and however often.

    Parameters
    ----------
    learner : the estimator to begin with; it is not changed
    epochs : passes over the rows, with a merge after each
    label, weight : columns of the labels and of the sample weights
    checkpoint : a file for the model after each epoch; a driver that died goes on from there
    """

    def __init__(
        self,
        learner: Any,
        epochs: int = 1,
        *,
        label: str = "label",
        weight: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        if type(epochs) is not int or epochs < 1:
            raise ParameterError(f"The 'epochs' parameter must be >= 1. Got {epochs!r} instead.")
        self.learner, self.epochs = learner, epochs
        self.label, self.weight, self.checkpoint = label, weight, checkpoint

    def fit(self, df: Any) -> Any:
        """The model after all epochs."""
        functions()
        check_columns(df, self.label, self.weight)
        df = prepared(df)
        model, done = copy.deepcopy(self.learner), -1
        if self.checkpoint is not None:
            model, done = checkpoint.load(self.checkpoint, model)
        for epoch in range(done + 1, self.epochs):
            model = self._epoch(df, model)
            if self.checkpoint is not None:
                checkpoint.save(self.checkpoint, model, epoch)
        return model

    def _epoch(self, df: Any, base: Any) -> Any:
        learn = learn_partition(pickle.dumps(base), self.label, self.weight)
        found = df.mapInArrow(learn, "part int, model binary").collect()
        parts = [pickle.loads(row.model) for row in sorted(found, key=lambda row: row.part)]
        if not parts:
            raise DataError("There are no rows to learn.")
        return add_all([Difference.of(part, base) for part in parts]).finish(base)

    def predict(self, model: Any, df: Any, column: str = "prediction") -> Any:
        """The frame with one column more: what the model predicts."""
        kind = "double" if model.regression else _kind_of(model.classes_.tolist())
        content, dropped = pickle.dumps(model), (self.label, self.weight)

        def predict(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            model = pickle.loads(content)
            for batch in batches:
                table = pa.Table.from_batches([batch])
                X = features(table, *dropped)
                if isinstance(X, list):
                    found = [model.predict_one(row) for row in X]
                else:
                    found = model.predict_many(X).to_pylist() if len(X) else []
                array = pa.array(found, type=_ARROW[kind]())
                yield from table.append_column(column, array).to_batches()

        df = prepared(df)
        names = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in df.schema.fields)
        return df.mapInArrow(predict, f"{names}, `{column}` {kind}")


def learn_partition(
    content: bytes, label: str, weight: str | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What an executor runs: learns a partition, and hands over the model, if it had rows."""

    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        model, rows = pickle.loads(content), 0
        for batch in batches:
            learn_batch(model, batch, label, weight)
            rows += batch.num_rows
        if rows:
            context = TaskContext.get()
            part = context.partitionId() if context else 0
            yield pa.RecordBatch.from_pydict(
                {"part": pa.array([part], pa.int32()), "model": [pickle.dumps(model)]}
            )

    return learn


def _string() -> Any:
    import pyarrow as pa

    return pa.string()


def _long() -> Any:
    import pyarrow as pa

    return pa.int64()


def _double() -> Any:
    import pyarrow as pa

    return pa.float64()


def _boolean() -> Any:
    import pyarrow as pa

    return pa.bool_()


_ARROW = {"string": _string, "bigint": _long, "double": _double, "boolean": _boolean}


def _kind_of(classes: list[Any]) -> str:
    types = {type(label) for label in classes}
    if types <= {bool}:
        return "boolean"
    if types <= {int}:
        return "bigint"
    return "double" if types <= {int, float} else "string"
