"""Writes docs/scaling.md: accuracy and bytes of up to 1,024 workers, simulated in one process.

make scaling    writes docs/scaling.md and docs/scaling-*.svg; what was computed is kept in
                build/scaling.json: delete it when merging changes

No Spark is needed: tests hold its executors against the same parts in one process, bit for bit.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import yarrow
from benchmarks.data import RCV1Like
from benchmarks.measure import table
from yarrow.merging import combined, finished
from yarrow.report.figures import Axis, Series, lines

DOCS = Path(__file__).parent.parent / "docs"
CACHE = Path(__file__).parent.parent / "build" / "scaling.json"
SET = RCV1Like(features=10_000)
ROWS, HELD_OUT, EPOCHS = 80_000, 10_000, 5
WORKERS = (1, 2, 8, 32, 128, 1024)
SLOW = (1, 2, 8, 32)  # of a learner with forty numbers a feature
BETWEEN = 32  # workers of which the interval between merges changes
INTERVALS = {"a sixteenth of an epoch": 16, "a quarter": 4, "an epoch": 1, "five epochs": 1 / 5}
LEARNERS: dict[str, tuple[str, Any]] = {
    "PA": ("affine", yarrow.PassiveAggressiveClassifier),
    "AROW": ("gaussian", yarrow.AROWClassifier),
    "second-order Perceptron": ("whitened", yarrow.SOPClassifier),
    "RDA": ("dual", lambda: yarrow.RDAClassifier(gamma=0.01)),
    "FTRL": ("adaptive", yarrow.FTRLClassifier),
    "YarrowClassifier": ("mixture", yarrow.YarrowClassifier),
}

# Of one terabyte. What a row costs comes from `make bench ARGS=spark_passes`.
TERABYTE, ROW = 1e12, 913  # bytes; of a row of that set as svmlight
READ, LEARNED = 2.0e-6, 1.3e-6  # processor seconds of Spark and of AROW
CORES, NETWORK = 16, 10e9 / 8  # of a machine; bytes a second of its network
FEATURES, CELL, FAN = 10_000_000, 8, 8  # AROW: a mean and a variance; sums that one task adds


def simulated(learner: str, workers: int, per_epoch: float) -> list[tuple[float, float, float]]:
    """After each merge: epochs, accuracy in percent, megabytes moved so far by all workers."""
    X, y = SET.matrix(ROWS + HELD_OUT)
    order = np.random.default_rng(0).permutation(ROWS)
    shards = np.array_split(order, workers)
    base, moved, found = LEARNERS[learner][1](), 0, list[tuple[float, float, float]]()
    for turn in range(1, round(EPOCHS * per_epoch) + 1):
        parts = []
        moved += workers * len(pickle.dumps(base))
        for shard in shards:
            part = copy.deepcopy(base)
            for rows in _rows_of(shard, turn - 1, per_epoch):
                part.partial_fit(X[rows], y[rows])
            moved += len(pickle.dumps(part))
            parts.append(part)
            if len(parts) == FAN:
                parts = [combined(parts, base)]
        base = finished(combined(parts, base), base)
        right = 100 * base.score(X[ROWS:], y[ROWS:])
        found.append((turn / per_epoch, right, moved / 1e6))
    return found


def _rows_of(shard: Any, turn: int, per_epoch: float) -> list[Any]:
    """What a worker learns between two merges: a piece of its rows, or all of them, repeatedly."""
    if per_epoch >= 1:
        return [np.array_split(shard, round(per_epoch))[turn % round(per_epoch)]]
    return [shard] * round(1 / per_epoch)


def measured() -> dict[str, list[tuple[float, float, float]]]:
    """All runs by `learner, workers, merges an epoch`."""
    known = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    for learner in LEARNERS:
        most = SLOW if learner == "YarrowClassifier" else WORKERS
        runs = [(n, 1.0) for n in most] + [(BETWEEN, k) for k in INTERVALS.values() if k != 1]
        for workers, per_epoch in runs:
            key = f"{learner}, {workers}, {per_epoch:g}"
            if key not in known:
                print(key, flush=True)
                known[key] = simulated(learner, workers, float(per_epoch))
                CACHE.parent.mkdir(exist_ok=True)
                CACHE.write_text(json.dumps(known))
    return known


def pictures(found: dict[str, Any]) -> None:
    """Accuracy against epochs, a line for each number of workers; one figure a merge."""
    for learner, (merge, _) in LEARNERS.items():
        series = [
            Series(f"{n:,}", [(0.0 + e, a) for e, a, _ in found[f"{learner}, {n}, 1"]])
            for n in WORKERS
            if f"{learner}, {n}, 1" in found
        ]
        figure = lines(
            series,
            title=f"{learner} ({merge}): workers, merged after each epoch",
            x=Axis("epochs"),
            y=Axis("accuracy in percent"),
        )
        figure.save(DOCS / f"scaling-{merge}.svg")


def accuracies(found: dict[str, Any]) -> str:
    """Accuracy after one epoch and after the last, for each number of workers."""
    rows = []
    for learner, (merge, _) in LEARNERS.items():
        cells = [found.get(f"{learner}, {n}, 1") for n in WORKERS]
        text = [f"{c[0][1]:.1f}, {c[-1][1]:.1f}; {c[-1][2]:,.0f}" if c else "" for c in cells]
        rows.append([f"{learner} ({merge})", *text])
    return table(["", *(f"{n:,}" for n in WORKERS)], rows)


def intervals(found: dict[str, Any]) -> str:
    """What the interval between merges changes, for one number of workers."""
    rows = []
    for learner, (merge, _) in LEARNERS.items():
        runs = [found[f"{learner}, {BETWEEN}, {k:g}"] for k in INTERVALS.values()]
        rows.append([f"{learner} ({merge})", *(f"{r[-1][1]:.1f}, {r[-1][2]:,.0f}" for r in runs)])
    return table(["", *INTERVALS], rows)


def terabyte(epochs: int = EPOCHS) -> str:
    """Time and traffic of as many epochs over a terabyte of text."""
    cores, model = TERABYTE / ROW * (READ + LEARNED) * epochs, FEATURES * CELL
    rows = []
    for machines in (1, 4, 16, 64):
        workers = machines * CORES
        # A machine gets the base and hands over a part for each core; levels of the tree follow
        # one another.
        levels = math.ceil(math.log(workers, FAN))
        merging = epochs * model * (2 * CORES + levels * FAN) / NETWORK
        seconds = cores / workers + merging
        rows.append([str(machines), f"{workers:,}", f"{cores / workers:,.0f}", f"{merging:.0f}",
                     f"{seconds * machines / 3600:.2f}",
                     f"{2 * workers * model * epochs / 1e9:,.0f}"])  # fmt: skip
    return table(
        ["machines", "workers", "seconds of learning", "seconds of merging", "machine hours",
         "GB moved"], rows,
    )  # fmt: skip


def page(found: dict[str, Any]) -> str:
    """The whole of docs/scaling.md."""
    shown = "\n".join(
        f"![{learner}: accuracy against epochs](scaling-{merge}.svg)"
        for learner, (merge, _) in LEARNERS.items()
    )
    return f"""# Scaling: what merging costs and loses

Written by `make scaling`, which needs no Spark: every worker is learned in turn in one process,
and parts are merged as [Spark merges them](spark.md). Generated text of two classes ({ROWS:,}
rows, {SET.features:,} words, 2 % of the labels turned), {HELD_OUT:,} rows held out; default
settings but RDA's gamma = 0.01. With 1,024 workers a part has {ROWS // 1024} rows.

## Workers
Accuracy in percent after 1 epoch and after {EPOCHS}, merged after each, and megabytes moved in
all (models down, parts up, as they are pickled). A column is a number of workers; 1 is one
machine. `YarrowClassifier` keeps forty numbers a feature, and stops at {max(SLOW)}.

{accuracies(found)}

{shown}

## Interval between merges
{BETWEEN} workers, {EPOCHS} epochs in all: accuracy at the end, and megabytes moved.

{intervals(found)}

## What it says
- No merge diverges, however many workers there are. Where labels are noisy, a mean of many parts
  beats one machine: each part fits noise of its own, and that cancels.
- The fewer rows a part has, the less it has learned before the first merge (RDA and PA with 78
  rows each); the second epoch makes it good.
- Merging more often moves more and gains nothing here: once an epoch, or at the very end, is
  enough for all of them. Rows of many classes and rare words want more epochs, not more merges:
  see 20 Newsgroups in [Spark](spark.md).

## A terabyte
Five epochs of AROW over 1 TB of svmlight text, {TERABYTE / ROW:.2g} rows. **A calculation, not a
measurement.** It assumes: {READ * 1e6:.1f} µs of a core to read a row by Spark and
{LEARNED * 1e6:.1f} µs to learn it (`make bench ARGS=spark_passes`); machines of {CORES} cores with
a network of 10 Gb/s, the text on their own disks, none of which is slower than its cores;
{FEATURES:,} features of two classes at {CELL} bytes, so a dense model of
{FEATURES * CELL / 1e6:.0f} MB; a merge after each epoch, in which every worker gets the base and
hands over its part, and the levels of a tree of {FAN} follow one another; no worker is slower
than others, and Spark's own planning (half a second a job) is left out.

{terabyte()}

Learning divides by the machines, merging does not: with many machines take fewer and larger
parts, hash the words (`hash_bits`), or merge less often.
"""


def main() -> None:
    """Compute what is missing, draw and write."""
    found = measured()
    pictures(found)
    (DOCS / "scaling.md").write_text(page(found))


if __name__ == "__main__":
    main()
