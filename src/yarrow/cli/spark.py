"""`yarrow train --engine spark`: the same command, on the machines of a cluster."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from yarrow.cli.progress import _Display, _new_bar, error_words, passes_said, rate
from yarrow.errors import counted


class _State(NamedTuple):
    """Where training stands: epochs done, and partitions of the present one."""

    epoch: int
    done: int
    partitions: int


class SparkDisplay(_Display):
    """Shows how many partitions are learned, and the errors of each epoch."""

    def __init__(self, estimator: Any, wrong: str, passes: int, quiet: bool) -> None:
        super().__init__(passes, quiet)
        self.wrong, self.errors = wrong, list[str]()
        self.rows = 0
        self._before = _counts(estimator) if hasattr(estimator, "_model") else (0, 0)

    def count(self, model: Any) -> None:
        """Take the account of an epoch, in which each row was predicted before it was learned."""
        now = _counts(model)
        rows, mistakes = (count - before for count, before in zip(now, self._before, strict=True))
        self._before, self.rows = now, self.rows + rows
        if hasattr(model, "n_mistakes_"):
            self.errors.append(error_words(rows, mistakes, 0.0, self.wrong))

    def _words(self, state: _State) -> list[str]:
        words = [f"pass {state.epoch + 1} of {self.passes}"] if self.passes > 1 else []
        words.append(f"{state.done} of {counted(state.partitions, 'partition')}")
        return [*words, *self.errors[-1:]]

    def _line(self, state: _State) -> str:
        return ", ".join(self._words(state))

    def _show_live(self, state: _State) -> None:
        if self._live is None:
            self._live = _new_bar(self.passes)
        share = state.epoch + state.done / max(state.partitions, 1)
        task = self._live.task_ids[0]
        self._live.update(task, completed=share, description="Spark", words=self._line(state))


def train(
    estimator: Any, data: Sequence[str], stream_format: Any, passes: int, master: str,
    display: SparkDisplay,
) -> Any:  # fmt: skip
    """The model that a cluster makes of files."""
    from yarrow.distributed import SparkTrainer
    from yarrow.distributed.source import spark_module
    from yarrow.errors import ParameterError

    if "-" in data:
        raise ParameterError("Spark reads files, not standard input: name them.")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = spark_module("sql").SparkSession.builder.master(master).appName("yarrow train")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    done, ended = [0], threading.Event()

    def after_epoch(epoch: int, model: Any) -> None:
        done[0] = epoch
        display.count(model)

    def watch() -> None:
        tracker = session.sparkContext.statusTracker()
        while not ended.wait(0.2):
            for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
                if stage is not None:
                    display.show(_State(done[0], stage.numCompletedTasks, stage.numTasks))

    watching = threading.Thread(target=watch, daemon=True)
    trainer = SparkTrainer(
        estimator, epochs=passes, stream_format=stream_format, after_epoch=after_epoch
    )
    try:
        with display:
            watching.start()
            return trainer.fit(list(data))
    finally:
        ended.set()
        watching.join()


def summary(display: SparkDisplay, learned: str) -> str:
    """What was learned, as `yarrow train` says it."""
    errors = passes_said(display.errors, display.wrong)
    words = [counted(display.rows, "row"), *([errors] if errors else []), learned]
    speed = rate(display.rows, display.seconds)
    return f"{', '.join(words)}, {display.seconds:.2f} s ({speed} rows/s)"


def _counts(model: Any) -> tuple[int, int]:
    return model.t_, getattr(model, "n_mistakes_", 0)
