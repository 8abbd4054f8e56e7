"""A model for each key: exact, nothing is merged."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from yarrow.distributed.rows import check_columns, functions, learn_batch, prepared
from yarrow.saving.compact import pack, unpack


class PerKey:
    """Train one learner for each value of a column.

    Rows of a key are learned in the order of `order`, a column; without it, as Spark brings them.
    Models are a column of bytes (`yarrow.saving.compact`), which `model` reads.
    """

    def __init__(
        self, learner: Any, key: str, *, label: str = "label", order: str | None = None
    ) -> None:
        self.learner, self.key, self.label, self.order = learner, key, label, order

    def fit(self, df: Any) -> Any:
        """A frame of keys and their models."""
        functions()
        check_columns(df, self.key, self.label, self.order)
        df = prepared(df)
        kind = df.schema[self.key].dataType.simpleString()
        learn = learn_group(self.learner, self.key, self.label, self.order)
        return df.groupBy(self.key).applyInArrow(learn, f"`{self.key}` {kind}, model binary")

    def model(self, content: bytes) -> Any:
        """The model of a key."""
        return unpack(bytes(content), self.learner)


def learn_group(learner: Any, key: str, label: str, order: str | None) -> Callable[[Any, Any], Any]:
    """What an executor runs for each key."""

    def learn(keys: tuple[Any, ...], table: Any) -> Any:
        import pyarrow as pa

        if order is not None:
            table = table.sort_by(order).drop_columns([order])
        model = copy.deepcopy(learner)
        learn_batch(model, table.drop_columns([key]), label)
        return pa.table({key: pa.array([keys[0].as_py()], keys[0].type),
                         "model": pa.array([pack(model, learner)], pa.binary())})  # fmt: skip

    return learn
