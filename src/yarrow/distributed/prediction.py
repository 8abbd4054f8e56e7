"""What a model predicts, as a column of Spark."""

from __future__ import annotations

import pickle
from typing import Any

from yarrow.distributed.source import Rows, spark_module
from yarrow.io.formats import StreamFormat


def predict(model: Any, df: Any, column: str = "prediction") -> Any:
    """The frame with one column more: the model's predictions.

    Columns that were labels or weights when the model was trained are not looked at.
    """
    functions = spark_module("sql.functions")
    table = (model._stream or {}).get("table", {})
    known = [name for name in (table.get("label"), table.get("weight")) if name]
    columns = [name for name in df.columns if name not in known]
    rows, content, kind = Rows(StreamFormat(table=table)), pickle.dumps(model), _type_of(model)
    loaded: list[Any] = []

    def predicted(structs: Any) -> Any:
        import pyarrow as pa

        if not loaded:  # once a worker
            loaded.append(pickle.loads(content))
        names = structs.type.names
        batch = pa.Table.from_arrays(structs.flatten(), names)
        said = loaded[0].predict_many(rows.features(batch))
        return pa.array(said.to_pylist(), _arrow_type(kind))

    predicted.__annotations__ = {"structs": _array_type(), "return": _array_type()}
    udf = functions.arrow_udf(predicted, kind)
    return df.withColumn(column, udf(functions.struct(*[f"`{name}`" for name in columns])))


def _array_type() -> Any:
    import pyarrow as pa

    return pa.Array


def _arrow_type(kind: str) -> Any:
    import pyarrow as pa

    names = {"boolean": pa.bool_(), "bigint": pa.int64(), "double": pa.float64()}
    return names.get(kind, pa.string())


def _type_of(model: Any) -> str:
    """The type of Spark that holds what a model predicts."""
    if model.regression:
        return "double"
    types = {type(label) for label in model.classes_.tolist()}
    if types <= {bool}:
        return "boolean"
    if types <= {int}:
        return "bigint"
    return "double" if types <= {int, float} else "string"
