"""Tune one learner: all its settings in one pass, and a model with the best of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from yarrow.compare.compare import Source, as_source, compare
from yarrow.compare.comparison import Comparison, Outcome
from yarrow.compare.holdout import ENOUGH, interval, second_half
from yarrow.compare.race import OnProgress
from yarrow.compare.recommend import error_words, span_words
from yarrow.compare.sources import Files
from yarrow.data.arrays import read_rows
from yarrow.datasets import Dataset
from yarrow.errors import ParameterError
from yarrow.online.batch import Batch
from yarrow.online.driver import learn_files


@dataclasses.dataclass
class Tuned:
    """The best setting by the error over all rows, each predicted before it was learned.

    Of equals the defaults are taken, else the first; `equals` says how many others there are.

    The best of many looks a little better than it is; `comparison` has the honest figure, of the
    setting chosen on the first half and judged on the second.
    """

    comparison: Comparison
    best: Outcome
    model: Any  # learned with the names of the features
    equals: int = 0
    #: what speaks for the best setting, in sentences
    evidence: tuple[str, ...] = ()


def tune(
    data: Dataset | Source | list[str],
    learner: str,
    grid: str | Mapping[str, Any] = "default",
    *,
    scale: bool = False,
    normalize: bool = False,
    passes: int = 1,
    seed: int = 0,
    threads: int | None = None,
    keep_model: bool = True,
    command: str = "",
    on_progress: OnProgress | None = None,
) -> Tuned:
    """Try the settings of one learner, and learn all rows with the best one.

    >>> from yarrow.datasets import load
    >>> found = tune(load("synthetic/gaussian", rows=300), "arow")
    >>> type(found.model).__name__, found.model.t_
    ('AROWClassifier', 300)
    """
    source = as_source(data)
    if keep_model and not source.can_be_read_again:
        raise ParameterError(
            f"{source.name} can be read only once, and the best model is learned in a second pass."
        )
    comparison = compare(
        source, learner, grid, scale=scale, normalize=normalize, passes=passes, seed=seed,
        threads=threads, command=command, on_progress=on_progress,
    )  # fmt: skip
    came_through = [o for o in comparison.outcomes if o.family != "baseline" and not o.failure]
    if not came_through:
        raise ParameterError(f"Every setting failed: {comparison.outcomes[0].failure}")
    best = min(came_through, key=lambda o: (o.pass_errors[0], bool(o.parameters)))
    equals = sum(o.pass_errors[0] == best.pass_errors[0] for o in came_through) - 1
    model = _learned_again(source, best.model.clone(), passes) if keep_model else None
    return Tuned(comparison, best, model, equals, tuple(_evidence(best, came_through, seed)))


def _evidence(best: Outcome, others: Sequence[Outcome], seed: int) -> Iterator[str]:
    """How well the best setting does, and the honest figure of one that was chosen and judged."""
    wrong: Any = best.wrong
    if len(wrong) < 2 * ENOUGH:
        yield f"{best.name} has {error_words(wrong)}; {len(wrong):,} rows are too few to trust it."
        return
    span = span_words(*interval(wrong, seed), regression=wrong.dtype != bool)
    yield (
        f"{best.name} has {error_words(wrong)} over all {len(wrong):,} rows, each predicted before "
        f"it was learned (95 % interval {span}, by a block bootstrap of the stream)."
    )
    if len(others) > 1:
        chosen = next(o for o in others if o.best)
        yield (
            "The best of many looks a little better than it is: the best of the first half of the "
            f"rows, {'the same' if chosen is best else chosen.name}, has "
            f"{error_words(second_half(chosen.wrong))} on the second."
        )


def _learned_again(source: Source, model: Any, passes: int) -> Any:
    """The model as `yarrow train` makes it: its features have names, not the numbers of a race."""
    if isinstance(source, Files):
        for _ in learn_files(model, source.paths, source.stream_format, passes=passes):
            pass
        return model
    for _ in range(passes):
        for block in source.blocks():
            rows, names = read_rows(block.X), block.names or []
            model._progressive_rows(Batch(rows, names, y=block.y, weights=block.weights))
    return model
