"""Every setting of a learner over a set in its own order: one pass, predicted before learned.

Nothing is chosen here: the mistakes of each setting are kept row by row, so that whoever reads them
may choose in hindsight or on the first half. Options: `first`, only so many rows; `unit`, each row
scaled to length one. Where labels are changed, mistakes are counted against the true ones.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

from reproduction.protocols.prepare import rows_of
from reproduction.spec import Cell, Data
from yarrow.compare.comparison import packed
from yarrow.compare.entrant import Entrant
from yarrow.compare.race import race
from yarrow.datasets import Dataset, with_noise
from yarrow.lazy import np

REVISION = 1
_BLOCK = 2048


def run(cell: Cell) -> dict[str, Any]:
    """Race all settings of one learner."""
    recipe = json.dumps(dataclasses.asdict(cell.data), sort_keys=True)
    first, unit = cell.options.get("first"), bool(cell.options.get("unit"))
    rows = _rows(recipe, cell.noise, cell.seed, first, unit)
    entrants = [
        Entrant(in_words(setting), cell.learner.make(setting))
        for setting in cell.learner.settings()
    ]
    outcomes = race(rows.blocks(_BLOCK), entrants, classes=rows.classes, threads=1)
    return {
        "rows": len(rows),
        "columns": int(rows.X.shape[1]),
        "classes": len(rows.classes),
        "values_per_row": rows.X.nnz / len(rows),
        "settings": [
            {
                "name": outcome.name,
                "mistakes": outcome.mistakes,
                "seconds": outcome.seconds,
                "failure": outcome.failure,
                "wrong": None if outcome.failure else packed(np.asarray(outcome.wrong)),
            }
            for outcome in outcomes
        ],
    }


def in_words(setting: dict[str, Any]) -> str:
    """A setting as the results name it."""
    return ", ".join(f"{name}={value}" for name, value in setting.items()) or "default"


@functools.lru_cache(maxsize=2)
def _rows(recipe: str, noise: float, seed: int, first: int | None, unit: bool) -> Dataset:
    """The first rows, their columns numbered as they appear, which changes nothing but speed."""
    from scipy.sparse import csr_array

    data = rows_of(Data(**json.loads(recipe)), noise=0.0, seed=seed)
    X = data.X[: first or len(data)]
    columns, places = np.unique(X.indices, return_index=True)
    numbers = np.zeros(X.shape[1], np.int32)
    numbers[columns[np.argsort(places)]] = np.arange(len(columns), dtype=np.int32)
    values = X.data
    if unit:
        lengths = np.sqrt(np.asarray((X * X).sum(axis=1)).reshape(-1))
        values = values / np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(X.indptr))
    renumbered = csr_array(
        (values.astype(X.dtype), numbers[X.indices], X.indptr), shape=(X.shape[0], len(columns))
    )
    renumbered.sort_indices()
    first_rows = data.take(slice(X.shape[0]), X=renumbered, feature_names=None, test=None)
    if not noise:
        return first_rows
    # Among classes that these rows have: learners are told no others.
    return with_noise(dataclasses.replace(first_rows, clean=None), noise, seed)
