"""A race: one pass over a stream, all entrants on all cores.

Each block of rows is read once, its names numbered once for all, and handed to every entrant;
blocks of 2 MB of text stay in the cache meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from yarrow.compare.comparison import Outcome
from yarrow.compare.entrant import Entrant, EntrantRun, Ready, as_it_is
from yarrow.compare.race_batch import Classes, RaceBatch
from yarrow.compare.race_learners import LastLabel, Majority
from yarrow.errors import DataError, ParameterError, check_value
from yarrow.io.formats import cores

if TYPE_CHECKING:
    from yarrow.datasets import Block


class NoRows(DataError):
    """There was nothing to learn from."""


OnProgress = Callable[["Race"], None]


def race(
    blocks: Iterable[Block],
    entrants: Sequence[Entrant],
    *,
    regression: bool = False,
    classes: Sequence[Any] | None = None,
    threads: int | None = None,
    clean: bool = True,
) -> list[Outcome]:
    """Let every entrant predict and then learn each row of some blocks, in one pass.

    Entrants are Yarrow's learners, or those of scikit-learn and river, which are slow. `classes`
    are all that may come; scikit-learn must be told them, and two are learned faster if told.
    Outcomes come in the order of the entrants, and two baselines behind them. Where a block has
    labels from before noise, `clean` counts mistakes against these. One that fails is out, with a
    sentence, and the others go on. Outcomes are the same with any number of threads; a row takes a
    byte of memory for each entrant (eight in a regression).

    >>> import numpy as np
    >>> from yarrow import AROWClassifier
    >>> from yarrow.datasets import Block
    >>> rows = Block(np.eye(2)[[0, 1, 0, 1]], np.array(["a", "b", "a", "b"]))
    >>> for outcome in race([rows], [Entrant("AROW", AROWClassifier())]):
    ...     print(outcome.name, outcome.mistakes)
    AROW 2
    repeat the last label 4
    majority class so far 3
    """
    running = Race(entrants, regression=regression, classes=classes, threads=threads, clean=clean)
    running.run(blocks)
    return running.outcomes()


class Race:
    """A race of one or more passes. `rows` and the outcomes of `runs` say how it stands."""

    def __init__(
        self,
        entrants: Sequence[Entrant],
        *,
        regression: bool = False,
        classes: Sequence[Any] | None = None,
        threads: int | None = None,
        clean: bool = True,
        ready: Ready = as_it_is,
    ) -> None:
        names = [entrant.name for entrant in entrants]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"Two entrants have the name {twice!r}.")
        check_value(threads is None or threads >= 1, "threads", threads, ">= 1")
        self.classes = None if regression else Classes(classes)
        self.threads = threads or cores()
        self.clean = clean
        self.rows = self.values = self.columns = 0
        self.pass_number = 0
        known = None if classes is None else list(classes)
        baselines = [LastLabel(regression), Majority(regression)]
        self.runs = [EntrantRun(entrant, self.classes, known, ready) for entrant in entrants]
        self.runs += [EntrantRun(Entrant(b.name, b), self.classes, known) for b in baselines]

    def run(self, blocks: Iterable[Block], on_progress: OnProgress | None = None) -> None:
        """One pass. While the entrants learn a block, the next one is read."""
        self.pass_number += 1
        self.rows = 0
        batches = self._batches(blocks)
        with ThreadPoolExecutor(self.threads) as pool:
            batch = next(batches, None)
            while batch is not None:
                # The slow ones first, so that no core waits long for the last.
                queue = iter(sorted(self.runs, key=lambda run: -run.outcome.seconds))
                work = [pool.submit(_step, queue, batch) for _ in range(self.threads)]
                try:
                    following = next(batches, None)
                finally:
                    wait(work)
                for done in work:
                    done.result()
                self._count(batch)
                if on_progress is not None:
                    on_progress(self)
                batch = following
        if not self.rows:
            raise NoRows("there is no row to learn from")
        for run in self.runs:
            run.end_pass()

    def _batches(self, blocks: Iterable[Block]) -> Iterator[RaceBatch]:
        for block in blocks:
            if len(block.y):
                yield RaceBatch.of(block, self.classes, self.clean)

    def _count(self, batch: RaceBatch) -> None:
        self.rows += len(batch)
        self.columns = max(self.columns, batch.n_columns)
        if self.pass_number == 1:
            self.values += batch.n_values

    def outcomes(self) -> list[Outcome]:
        """How each entrant did, in their order, the baselines last."""
        return [run.finish() for run in self.runs]


def _step(queue: Iterator[EntrantRun], batch: RaceBatch) -> None:
    for run in queue:
        run.step(batch)
