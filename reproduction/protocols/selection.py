"""How well a stream that drifts is predicted with few features: 000's Figures 3 and 4.

`select` says how features are chosen. "weights": at each row of the second half the smallest
weights are left out of the prediction as long as their absolute values sum to at most sigma, but go
on learning; sigma takes shares of that sum as it is after the first half. "information", "game" and
"game without diagonal": the k features of the largest information gain, or of the game's strategy,
counted on the rows so far, are all that the learner sees; they are chosen anew every `refresh`
rows. The setting is tuned on the first half with all features.
"""

from __future__ import annotations

from typing import Any

from reproduction.candidates import GameWithoutDiagonal
from reproduction.protocols.drift import halves, tuned
from reproduction.protocols.prepare import rows_of
from reproduction.spec import Cell
from yarrow.datasets import Dataset
from yarrow.feature_selection import GameSelection, InformationGain, solve_game
from yarrow.lazy import np

REVISION = 3


def run(cell: Cell) -> dict[str, Any]:
    """Measure one way to select features on one draw of the stream."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    first, _, classes = halves(rows)
    setting, model = tuned(cell.learner, first, classes)
    if cell.options["select"] == "weights":
        outcome = _without_small_weights(model, rows, classes, cell.options["shares"])
    else:
        outcome = _with_selector(cell, setting, rows, classes)
    return {"setting": setting, **outcome}


def _without_small_weights(
    model: Any, rows: Dataset, classes: list[Any], shares: list[float]
) -> dict[str, Any]:
    second = halves(rows)[1]
    sigmas = np.asarray(shares) * np.abs(model.coef_).sum()
    wrong, kept = np.zeros(len(shares)), np.zeros(len(shares))
    for place in range(len(second)):
        row = second.X[[place]]
        weights = model.coef_[0].astype(np.float64)
        sizes = np.sort(np.abs(weights))
        # The first `gone` of the sorted weights sum to at most sigma; equal ones go together.
        gone = np.searchsorted(np.cumsum(sizes), sigmas, side="right")
        limits = np.where(gone > 0, sizes[np.maximum(gone, 1) - 1], -1.0)
        values = weights[row.indices]
        scores = ((np.abs(values) > limits[:, None]) * values * row.data).sum(axis=1)
        says = np.where(scores > 0, classes[1], classes[0])
        wrong += says != second.y[place]
        zeros = len(sizes) - np.count_nonzero(sizes)
        kept += len(sizes) - np.maximum(np.searchsorted(sizes, limits, side="right"), zeros)
        model.partial_fit(row, second.y[[place]], classes=classes)
    return {
        "kept": (kept / len(second)).tolist(),
        "error": (wrong / len(second)).tolist(),
        "weights": np.abs(model.coef_[0]).tolist() if rows.X.shape[1] <= 1024 else [],
    }


def _with_selector(
    cell: Cell, setting: dict[str, Any], rows: Dataset, classes: list[Any]
) -> dict[str, Any]:
    counts, refresh = cell.options["counts"], cell.options["refresh"]
    selector = _SELECTORS[cell.options["select"]](edges=cell.options.get("edges"))
    models = [cell.learner.make(setting) for _ in counts]
    wrong, half = np.zeros(len(counts)), len(rows) // 2
    for start in range(0, len(rows), refresh):
        block = rows.take(slice(start, start + refresh))
        chosen = _chosen(selector, counts) if start else [None for _ in counts]
        for place, (features, model) in enumerate(zip(chosen, models, strict=True)):
            seen = block.X if features is None else _only(block.X, features)
            said = model.progressive(seen, block.y, classes=classes).predictions
            if start >= half:
                wrong[place] += np.count_nonzero(np.asarray(said) != block.y)
        selector.partial_fit(block.X, block.y)
    return {
        "kept": list(counts),
        "error": (wrong / (len(rows) - half)).tolist(),
        "weights": selector.scores_.tolist() if rows.X.shape[1] <= 1024 else [],
    }


def _chosen(selector: Any, counts: list[int]) -> list[Any]:
    """The best features, for each number of them; what is counted does not depend on it."""
    if isinstance(selector, GameSelection):
        rewards = selector.rewards()
        merits = [solve_game(rewards, k)[0] for k in counts]
        return [_best(one, k) for one, k in zip(merits, counts, strict=True)]
    order = _best(selector.scores_, max(counts))
    return [order[:k] for k in counts]


def _best(merits: Any, k: int) -> Any:
    return np.argsort(-merits, kind="stable")[:k]


_SELECTORS: dict[str, Any] = {
    "information": InformationGain,
    "game": GameSelection,
    "game without diagonal": GameWithoutDiagonal,
}


def _only(X: Any, chosen: Any) -> Any:
    kept = np.zeros(X.shape[1], dtype=bool)
    kept[chosen] = True
    part = X.copy()
    part.data = np.where(kept[part.indices], part.data, 0)
    part.eliminate_zeros()
    return part
