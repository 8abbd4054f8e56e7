"""A stream, batch by batch, each exactly once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from yarrow.distributed import checkpoint
from yarrow.distributed.source import columns_format, opened
from yarrow.distributed.trainer import run_epoch


def learn_stream(
    learner: Any,
    path: str | os.PathLike[str],
    *,
    label: str = "label",
    weight: str | None = None,
    **columns: Any,
) -> Callable[[Any, int], None]:
    """What `foreachBatch` of Structured Streaming calls: the model at `path` learns each batch.

    Spark may bring a batch again after a crash, with the same number and the same rows. The file
    holds the model and the number of the next batch, put in place by one rename: a batch that is in
    the model is not learned again, and one that is not has left no trace.
    """
    stream_format = columns_format(label, weight, columns)

    def learn(df: Any, number: int) -> None:
        model, following = checkpoint.load(path, learner)
        if number < following:
            return
        df, rows = opened(df, stream_format)
        if not df.isEmpty():
            checkpoint.save(path, run_epoch(df, rows, model), number + 1)

    return learn
