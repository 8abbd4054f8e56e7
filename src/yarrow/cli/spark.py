"""`yarrow train --engine spark`: the same command, on the machines of a cluster."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from yarrow.cli.progress import _Display, _new_bar, error_words, passes_said, rate
from yarrow.errors import YarrowError, counted


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
    from yarrow.errors import ParameterError

    if "-" in data:
        raise ParameterError("Spark reads files, not standard input: name them.")
    session = _session(master)
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


def _session(master: str) -> Any:
    """Spark, without the words of its start; if it does not start, one sentence why."""
    from yarrow.distributed.source import spark_module
    from yarrow.errors import MissingDependencyError, ParameterError

    if not _MASTER.fullmatch(master):
        raise ParameterError(
            f"--master must be local[2], spark://HOST:PORT, yarn or k8s://HOST:PORT. Got {master} "
            "instead."
        )
    with warnings.catch_warnings():  # it warns of a pandas that nothing here needs
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        builder = spark_module("sql").SparkSession.builder.master(master).appName("yarrow train")
    java = os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java")
    if not shutil.which(java if "JAVA_HOME" in os.environ else "java"):
        raise MissingDependencyError(
            "Spark needs Java 17, which is not here: install it, or say in JAVA_HOME where it is."
        )
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)  # main restores them
    with tempfile.TemporaryFile() as said, _errors_into(said):
        try:
            session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        except Exception as error:  # Java's, or PySpark's, of many kinds
            said.seek(0)
            why = _REASON.findall(said.read().decode(errors="replace")) or [type(error).__name__]
            raise YarrowError(f"Spark did not start with --master {master}: {why[-1]}") from error
    session.sparkContext.setLogLevel("OFF")
    return session


_MASTER = re.compile(r"local(\[[^]]+\])?|local-cluster\[.*\]|spark://.+|k8s://.+|yarn")
#: what Java's log and its last words say of an error
_REASON = re.compile(r"(?:ERROR \w+: |Exception in thread \S+ [\w.]+: |^Error: )(.+)", re.MULTILINE)


@contextlib.contextmanager
def _errors_into(file: Any) -> Iterator[None]:
    """What this process and those that it starts meanwhile write on standard error."""
    kept = os.dup(2)
    try:
        os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def summary(display: SparkDisplay, learned: str) -> str:
    """What was learned, as `yarrow train` says it."""
    errors = passes_said(display.errors, display.wrong)
    words = [counted(display.rows, "row"), *([errors] if errors else []), learned]
    speed = rate(display.rows, display.seconds)
    return f"{', '.join(words)}, {display.seconds:.2f} s ({speed} rows/s)"


def _counts(model: Any) -> tuple[int, int]:
    return model.t_, getattr(model, "n_mistakes_", 0)
