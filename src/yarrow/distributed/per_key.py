"""A model for each key: exact, nothing is merged."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

from yarrow.distributed.source import Rows, check_columns, columns_format, spark_module
from yarrow.errors import ParameterError, needing
from yarrow.lazy import np
from yarrow.saving import compact

_AT_ONCE = 1000  #: models that leave an executor together
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class PerKey:
    """Train one learner for each value of a column.

    Models are a column of bytes (`yarrow.saving.compact`), which `model` reads. Each is exactly
    what its rows give.

    Parameters
    ----------
    learner : the estimator that each key begins with
    key : the column that says whose row it is
    label, weight : columns of the labels and of the sample weights
    order : the column by which the rows of a key are learned; None: as Spark brings them
    **columns : how columns are read, as `yarrow.io.read_table` takes it: text, categories, drop...
    """

    def __init__(
        self,
        learner: Any,
        key: str,
        *,
        label: str = "label",
        weight: str | None = None,
        order: str | None = None,
        **columns: Any,
    ) -> None:
        self.learner, self.key, self.order = learner, key, order
        self.rows = Rows(columns_format(label, weight, columns))

    def fit(self, df: Any) -> Any:
        """A frame of keys, their rows and their models."""
        self._check(df)
        by = [f"`{name}`" for name in (self.key, self.order) if name is not None]
        ordered = df.repartition(by[0]).sortWithinPartitions(*by)
        return ordered.mapInArrow(self._partition(), self._schema(df))

    def fit_stream(self, df: Any) -> Any:
        """The same of a stream: for each key of a batch its rows so far, and its model.

        What is kept between batches is the model's bytes, in Spark's state store of RocksDB.
        """
        self._check(df)
        with needing("protobuf", "A model for each key of a stream", "spark"):
            import google.protobuf  # noqa: F401  # which Spark does not install
        session = df.sparkSession
        if session.conf.get(_PROVIDER, "") != _ROCKSDB:
            raise ParameterError(
                f"A model for each key of a stream needs the state store of RocksDB: "
                f"spark.conf.set({_PROVIDER!r}, {_ROCKSDB!r})."
            )
        return df.groupBy(self.key).transformWithState(
            self._processor(df.schema), self._schema(df), "Update", "None"
        )

    def model(self, content: bytes) -> Any:
        """The model of a key."""
        return compact.unpack(bytes(content))

    def _check(self, df: Any) -> None:
        spark_module("sql")
        table = self.rows.table
        check_columns(df, self.key, self.order, table["label"], table.get("weight"))

    def _schema(self, df: Any) -> Any:
        types = spark_module("sql.types")
        key = types.StructField(self.key, df.schema[self.key].dataType)
        rest = [("rows", types.LongType()), ("model", types.BinaryType())]
        return types.StructType([key, *(types.StructField(*field) for field in rest)])

    def _features(self, table: Any) -> Any:
        """The columns that are learned."""
        unused = [name for name in (self.key, self.order) if name in table.column_names]
        return table.drop_columns(unused)

    def _partition(self) -> Any:
        """What an executor runs: keys stand together, and one model at a time is in memory."""
        blank = pickle.dumps(self.rows.keep_stream(copy.deepcopy(self.learner)))

        def learn(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            done: list[tuple[Any, ...]] = []
            key: Any = None
            model: Any = None
            kind: Any = None

            def finished() -> Any:
                columns = zip(*done, strict=True)
                types = (kind, pa.int64(), pa.binary())
                made = [pa.array(column, of) for column, of in zip(columns, types, strict=True)]
                done.clear()
                return pa.RecordBatch.from_arrays(made, [self.key, "rows", "model"])

            def runs(keys: Any) -> Iterator[tuple[Any, int, int]]:
                nonlocal key, model
                begin = 0
                for end in _ends(keys):
                    value = keys[begin].as_py()
                    if model is None or not _same(value, key):
                        if model is not None:
                            done.append((key, model.t_, compact.pack(model)))
                        key, model = value, pickle.loads(blank)
                    yield model, begin, end
                    begin = end

            for batch in batches:
                keys = batch[self.key]
                kind = keys.type
                self.rows.learn_pieces(self._features(pa.table(batch)), runs(keys))
                if len(done) >= _AT_ONCE:
                    yield finished()
            if model is not None:
                done.append((key, model.t_, compact.pack(model)))
                yield finished()

        return learn

    def _processor(self, schema: Any) -> Any:
        """What an executor runs for the rows of each key in a batch of a stream."""
        streaming, types = spark_module("sql.streaming"), spark_module("sql.types")
        sql, of_key = spark_module("sql"), self
        arrow_schema = spark_module("sql.pandas.types").to_arrow_schema(schema)

        class Learning(streaming.StatefulProcessor):  # type: ignore[misc,name-defined]
            def init(self, handle: Any) -> None:
                field = types.StructField("model", types.BinaryType())
                self.state = handle.getValueState("model", types.StructType([field]))

            def handleInputRows(self, key: Any, rows: Any, timer: Any) -> Any:
                import pyarrow as pa

                found = [{k: _arrow_value(v) for k, v in row.asDict().items()} for row in rows]
                table = pa.Table.from_pylist(found, schema=arrow_schema)
                known = self.state.get()
                model = copy.deepcopy(of_key.learner) if known is None else of_key.model(known[0])
                if of_key.order is not None:
                    table = table.sort_by(of_key.order)
                of_key.rows.learn(of_key.rows.keep_stream(model), [of_key._features(table)])
                packed = compact.pack(model)
                self.state.update((packed,))
                yield sql.Row(**{of_key.key: key[0], "rows": model.t_, "model": packed})

            def close(self) -> None:
                pass

        return Learning()


def _ends(keys: Any) -> list[int]:
    """Where runs of equal keys end."""
    number = np.asarray(keys.dictionary_encode("encode").indices)
    ends = (np.flatnonzero(number[1:] != number[:-1]) + 1).tolist()
    return [*ends, len(keys)] if len(keys) else []


def _same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))  # as Spark groups: one key of all that are NaN


def _arrow_value(value: Any) -> Any:
    """A value of a row as Arrow takes it: a map as a list of pairs."""
    return list(value.items()) if isinstance(value, dict) else value
