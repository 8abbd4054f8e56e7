"""Several learners over a noisy stream and a drifting one: `make demo`.

Every row is predicted before it is learned, so the error is that of a model in service. Run with
`--rows N` for another size.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import yarrow
from yarrow.datasets import Dataset, drifting_text, noisy_text

LEARNERS = {
    "Perceptron": yarrow.Perceptron(),
    "  averaged": yarrow.Perceptron(average=True),
    "PA-I": yarrow.PassiveAggressiveClassifier(C=0.1),
    "OGD logistic": yarrow.OGDClassifier(loss="logistic", eta0=2.0),
    "CW": yarrow.CWClassifier(),
    "SCW-I": yarrow.SCWClassifier(C=0.1),
    "AROW": yarrow.AROWClassifier(r=1.0),
    "  forgetting": yarrow.ForgettingAROWClassifier(r=1.0),
    "SG-L1": yarrow.FOBOSClassifier(l1=2e-4, eta0=2.0),
    "RDA": yarrow.RDAClassifier(l1=5e-4, gamma=0.3),
}
CHUNK = 1_000


def run(learner: yarrow.AROWClassifier, stream: Dataset, tick: Callable[[], None]) -> list[str]:
    """Learn a stream in chunks, each predicted first; the cells of one row of the table."""
    model = learner.clone({"classes": [-1, 1]})
    right = learning = 0.0
    half = len(stream) // 2
    for start in range(0, len(stream), CHUNK):
        rows = slice(start, start + CHUNK)
        if start >= half:  # by then every learner has had its chance
            right += np.sum(model.predict(stream.X[rows]) == stream.clean[rows])
        clock = time.perf_counter()
        model.partial_fit(stream.X[rows], stream.y[rows])
        learning += time.perf_counter() - clock
        tick()
    return [
        f"{model.n_mistakes_ / len(stream):.1%}",
        f"{right / (len(stream) - half):.1%}",
        f"{model.n_updates_:,}",
        f"{model.n_nonzero_:,}",
        f"{len(stream) / learning:,.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000, help="rows in each stream")
    n = parser.parse_args().rows
    console = Console()
    console.print(f"Making two streams of {n:,} documents ...", style="dim")
    streams = {
        "A noisy stream: one label in ten is wrong": noisy_text(n, noise=0.1, seed=1),
        "A drifting stream: the concept changes three times": drifting_text(n, phases=4, seed=2),
    }
    columns = (
        TextColumn("{task.description:<14}"),
        BarColumn(),
        TextColumn("{task.completed:,} rows"),
        TimeRemainingColumn(),
    )
    for title, stream in streams.items():
        table = Table(title=title, title_justify="left", title_style="bold")
        table.add_column("learner")
        for name in ("online error", "accuracy", "updates", "nonzeros", "rows/s"):
            table.add_column(name, justify="right")
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("", total=len(stream) * len(LEARNERS))
            for name, learner in LEARNERS.items():
                progress.update(task, description=name)
                tick = functools.partial(progress.advance, task, CHUNK)
                table.add_row(name, *run(learner, stream, tick))
        console.print(table)
    console.print(
        "online error: rows predicted wrongly before they were learned\n"
        "accuracy: second half, 1,000 rows predicted ahead, against labels without noise",
        style="dim",
    )


if __name__ == "__main__":
    main()
