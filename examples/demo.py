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
    "YarrowClassifier": yarrow.YarrowClassifier(),
    "Perceptron": yarrow.Perceptron(),
    "Perceptron, avg.": yarrow.Perceptron(average=True),
    "PA-I": yarrow.PassiveAggressiveClassifier(C=0.1),
    "OGD logistic": yarrow.OGDClassifier(loss="logistic", eta0=2.0),
    "CW": yarrow.CWClassifier(),
    "SCW-I": yarrow.SCWClassifier(C=0.1),
    "AROW": yarrow.AROWClassifier(r=1.0),
    "AROW, forgetting": yarrow.ForgettingAROWClassifier(r=1.0),
    "SG-L1": yarrow.FOBOSClassifier(l1=2e-4, eta0=2.0),
    "RDA": yarrow.RDAClassifier(l1=5e-4, gamma=0.3),
}
CHUNK = 1_000


def run(learner: yarrow.AROWClassifier, stream: Dataset, tick: Callable[[], None]) -> list[float]:
    """Predict and learn a stream row by row; the figures of one row of the table."""
    model = learner.clone({"classes": [-1, 1]})
    wrong = right = 0
    learning = 0.0
    half = len(stream) // 2
    for start in range(0, len(stream), CHUNK):
        rows = slice(start, start + CHUNK)
        clock = time.perf_counter()
        predictions = model.progressive(stream.X[rows], stream.y[rows]).predictions
        learning += time.perf_counter() - clock
        wrong += np.sum(predictions != stream.y[rows])
        if start >= half:  # by then every learner has had its chance
            right += np.sum(predictions == stream.clean[rows])
        tick()
    return [
        wrong / len(stream),
        right / (len(stream) - half),
        model.n_updates_,
        model.n_nonzero_,
        len(stream) / learning,
    ]


def fill(table: Table, figures: dict[str, list[float]]) -> str:
    """Write the figures into the table, the most accurate learner in bold; its name."""
    best = max(figures, key=lambda name: figures[name][1])
    for name, (error, accuracy, updates, nonzeros, rate) in figures.items():
        cells = [f"{error:.1%}", f"{accuracy:.1%}", f"{updates:,}", f"{nonzeros:,}", f"{rate:,.0f}"]
        table.add_row(name, *cells, style="bold" if name == best else "")
    return best


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
        TextColumn("{task.description:<16}"),
        BarColumn(),
        TextColumn("{task.completed:,} rows"),
        TimeRemainingColumn(),
    )
    winners = []
    for title, stream in streams.items():
        table = Table(title=title, title_justify="left", title_style="bold")
        table.add_column("learner")
        for name in ("online error", "accuracy", "updates", "nonzeros", "rows/s"):
            table.add_column(name, justify="right")
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("", total=len(stream) * len(LEARNERS))
            figures = {}
            for name, learner in LEARNERS.items():
                progress.update(task, description=name)
                tick = functools.partial(progress.advance, task, CHUNK)
                figures[name] = run(learner, stream, tick)
        winners.append(fill(table, figures))
        console.print(table)
    console.print(
        "Each row is predicted before it is learned.\n"
        "online error: predictions that differ from the label that came, noise included\n"
        "accuracy: of the second half, against the labels without noise",
        style="dim",
    )
    console.print(
        f"Most accurate here: {winners[0]} under noise, {winners[1]} under drift. "
        "On your own rows: yarrow compare FILE"
    )


if __name__ == "__main__":
    main()
