"""The driver: predict rows, then learn them when their labels arrive, whoever learns them.

Rows in memory go through `predict_then_learn`, rows of files through `learn_files`. Where the core
can do all of it in one call, or from the parser itself, it does, and nothing else is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from yarrow.data.frames import is_dicts
from yarrow.io.formats import StreamFormat
from yarrow.online.batch import Batch
from yarrow.online.core_stream import learn_stream
from yarrow.online.learners import is_core, is_regression, takes_lists_of_dicts
from yarrow.online.ledger import Ledger, Progress
from yarrow.online.results import ProgressiveResult, Wanted, joined

if TYPE_CHECKING:
    from yarrow.metrics import Metric


def predict_then_learn(
    model: Any,
    batch: Batch,
    *,
    delay: Any = 0,
    times: Any = None,
    arrives: Any = None,
    block: int = 1,
    wanted: Wanted = "predictions",
    stops: Sequence[int] = (),
    at_stop: Callable[[int], None] | None = None,
) -> ProgressiveResult:
    """Predict each row of a table, and learn it when its label arrives (`delay.steps`).

    `at_stop` is called when as many rows as each of `stops` have been predicted, and those learned
    whose labels have arrived by then; the last stop is the number of rows. Predictions are objects,
    None where nothing was known; 0 in a regression.
    """
    from yarrow.online.adapters import adapter_for
    from yarrow.online.delay import steps, turns

    n, regression = len(batch), is_regression(model)
    by_core = is_core(model)
    is_table = hasattr(batch.X, "shape") or (is_dicts(batch.X) and takes_lists_of_dicts(model))
    more: dict[str, Any] = {} if regression else {"classes": batch.classes}
    if wanted == "probabilities" and by_core:
        more["probabilities"] = True
    parts: list[ProgressiveResult] = []
    says_all = by_core or (hasattr(model, "progressive") and wanted == "predictions")
    in_order = times is None and arrives is None and block == 1
    # The core keeps late rows within one call only, so it cannot stop to count weights then.
    if is_table and says_all and in_order and not (at_stop and delay):
        ends = list(stops) if at_stop else [n] if n else []
        for first, last in zip([0, *ends], ends, strict=False):
            part = batch.take(slice(first, last))
            parts.append(model.progressive(part.X, part.y, part.weights, delay=delay, **more))
            if at_stop:
                at_stop(last)
    elif is_table and by_core and not at_stop:
        # A row of weight 0 is predicted and not learned: so all turns are one call.
        rows, learned = turns(steps(n, delay=delay, times=times, arrives=arrives, block=block))
        turn = batch.take(rows)
        shares = learned * (1.0 if turn.weights is None else turn.weights)
        parts.append(model.progressive(turn.X, turn.y, shares, **more).only(~learned))
    else:
        adapter = adapter_for(model, batch)
        adapter.check_weights(batch)
        batch = adapter.ready(batch)
        ahead, said = list(stops), list[Any]()
        only_labels = regression or wanted == "predictions"
        for first, last, rows in steps(n, delay=delay, times=times, arrives=arrives, block=block):
            if only_labels:
                said += adapter.predictions(batch, slice(first, last))
            else:
                parts.append(adapter.answers(batch, wanted, slice(first, last)))
            if len(rows):
                adapter.learn(batch, rows)
            while at_stop and ahead and ahead[0] <= last:
                ahead.pop(0)
                if len(rows):
                    at_stop(last)
        if only_labels:
            return adapter.result(said)
    return joined(parts, "predictions" if regression else wanted)


def tested(model: Any, batch: Batch, metrics: Sequence[Metric]) -> dict[str, float]:
    """Metrics of rows of a table that are predicted and not learned; those given do not change."""
    from yarrow.online.adapters import adapter_for

    ledger = Ledger([metric.fresh() for metric in metrics], in_hindsight=True)
    said = adapter_for(model, batch).answers(batch, ledger.wanted)
    wanted: Wanted = "predictions" if is_regression(model) else ledger.wanted
    ledger.add(batch.y, joined([said], wanted))
    return ledger.at(len(batch))


def learn_files(
    model: Any,
    sources: Sequence[str],
    stream_format: StreamFormat | None = None,
    *,
    passes: int = 1,
    delay: int = 0,
    wanted: Wanted = "predictions",
    keep_results: bool = False,
) -> Iterator[Progress]:
    """Learn files in order, and say every so often how far it is and what was predicted.

    From the parser itself where the core can, else a batch at a time.
    """
    if is_core(model) and not delay and wanted == "predictions":
        return learn_stream(model, sources, stream_format, passes=passes, keep_results=keep_results)
    from yarrow.online.batch_stream import BatchStream

    stream = BatchStream(model, stream_format or StreamFormat(), delay=delay, wanted=wanted)
    return stream.run(sources, passes)
