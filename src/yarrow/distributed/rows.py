"""Rows of Spark as a learner takes them."""

from __future__ import annotations

from typing import Any

from yarrow.errors import DataError, MissingDependencyError


def functions() -> Any:
    """`pyspark.sql.functions`."""
    try:
        from pyspark.sql import functions
    except ImportError:
        raise MissingDependencyError(
            "Spark is not installed: pip install 'yarrow-learn[spark]'"
        ) from None
    return functions


def prepared(df: Any) -> Any:
    """The same frame with vectors of MLlib as arrays, which Arrow knows."""
    vectors = [f.name for f in df.schema.fields if type(f.dataType).__name__ == "VectorUDT"]
    if not vectors:
        return df
    from pyspark.ml.functions import vector_to_array

    return df.withColumns({name: vector_to_array(name) for name in vectors})


def check_columns(df: Any, *names: str | None) -> None:
    """Refuse columns that are not there, before a job is started."""
    for name in names:
        if name is not None and name not in df.columns:
            raise DataError(f"There is no column {name!r}; the columns are {df.columns}.")


def learn_batch(learner: Any, batch: Any, label: str, weight: str | None = None) -> None:
    """Teach a learner the rows of an Arrow batch or table, in order."""
    import pyarrow as pa

    table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
    if table.num_rows == 0:
        return
    y = table[label].to_numpy()
    weights = None if weight is None else table[weight].to_numpy()
    X = features(table, label, weight)
    if isinstance(X, list):
        for i, row in enumerate(X):
            learner.learn_one(row, y[i], *(() if weights is None else (float(weights[i]),)))
    else:
        learner.learn_many(X, y, weights)


def features(table: Any, *others: str | None) -> Any:
    """What a learner reads of a table: a list of dicts where a column holds maps or arrays."""
    import pyarrow as pa

    dropped = [name for name in others if name is not None and name in table.column_names]
    table = table.drop_columns(dropped)
    nested = [f.name for f in table.schema if pa.types.is_nested(f.type)]
    if not nested:
        return table
    rows: list[dict[Any, Any]] = [{} for _ in range(table.num_rows)]
    for name in table.column_names:
        kind = table.schema.field(name).type
        for row, value in zip(rows, table[name].to_pylist(), strict=True):
            if value is None:
                continue
            if pa.types.is_map(kind):
                row.update(value)
            elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
                alone = len(table.column_names) == 1
                row.update((i if alone else f"{name}.{i}", v) for i, v in enumerate(value) if v)
            elif isinstance(value, str):
                row[f"{name}={value}"] = 1.0
            else:
                row[name] = value
    return rows
