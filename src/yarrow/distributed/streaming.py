"""A stream, batch by batch, each exactly once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from yarrow.distributed import checkpoint
from yarrow.distributed.trainer import SparkTrainer


def learn_stream(
    learner: Any, path: str | os.PathLike[str], *, label: str = "label", weight: str | None = None
) -> Callable[[Any, int], None]:
    """What `foreachBatch` of Structured Streaming calls: the model at `path` learns each batch.

    Spark may bring a batch again after a crash, with the same number and the same rows. The file
    holds the model and the number of the last batch, put in place by one rename: a batch that is in
    the model is not learned again, and one that is not has left no trace.
    """

    def learn(df: Any, number: int) -> None:
        model, done = checkpoint.load(path, learner)
        if number <= done:
            return
        if not df.isEmpty():
            model = SparkTrainer(model, label=label, weight=weight).fit(df)
        if "_model" in model.__dict__:
            checkpoint.save(path, model, number)

    return learn
