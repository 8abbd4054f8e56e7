"""Errors made on the way by numbers: each row of a stream is predicted, then learned, in its order.

All settings of a learner are measured, on the first rows. Judged are all rows but the first ten.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

from reproduction.regression_peers import progressive
from reproduction.regression_streams import SOURCES, Stream
from reproduction.spec import Cell
from yarrow.lazy import np

REVISION = 1
_FIRST = 10


def run(cell: Cell) -> dict[str, Any]:
    """R² and the root mean squared error of each setting; ours also says what intervals held."""
    rows = _stream(cell.data.name, cell.options["first"])
    truth = rows.y if rows.clean is None else rows.clean
    settings = []
    coverage: dict[str, float] = {}
    for setting in cell.learner.settings():
        model = cell.learner.make(setting)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that one diverges shows in its errors
            if hasattr(model, "run"):
                predicted = progressive(model, rows.X, rows.y)
            else:
                predicted = np.asarray(model.progressive(rows.X, rows.y).predictions)
        if hasattr(model, "coverage_"):
            coverage = {f"{level:g}": share for level, share in model.coverage_.items()}
        squared = (truth - predicted)[_FIRST:] ** 2
        spread = (truth - truth.mean())[_FIRST:] ** 2
        settings.append(
            {
                "setting": setting,
                "determination": float(1 - squared.sum() / spread.sum()),
                "error": float(np.sqrt(squared.mean())),
            }
        )
    return {"settings": settings, "coverage": coverage, "rows": len(truth)}


@functools.lru_cache(maxsize=2)
def _stream(name: str, first: int) -> Stream:
    made = {make.__name__: make for makes in SOURCES.values() for make in makes}[name]()
    y = np.asarray(made.y, dtype=float)[:first]
    clean = None if made.clean is None else np.asarray(made.clean)[:first]
    return Stream(made.X[:first], y, clean)
