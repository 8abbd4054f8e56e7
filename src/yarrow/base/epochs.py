"""The passes of `fit`: a number told beforehand, or until rows held out say that it is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yarrow.data.arrays import Array, Rows, read_weights
from yarrow.data.labels import Labels
from yarrow.errors import DataError
from yarrow.lazy import np

if TYPE_CHECKING:
    from yarrow.base.linear import LinearModel
    from yarrow.online.progressive import CoreModel


def run(
    estimator: LinearModel,
    model: CoreModel,
    rows: Rows,
    labels: Labels,
    sample_weight: Any,
    jobs: int,
) -> tuple[CoreModel, list[float] | None]:
    """The passes of `fit` with so many threads: the model to keep, and scores of rows held out."""
    given = estimator, model, rows, labels, sample_weight, jobs
    if estimator.early_stopping:
        return run_until_plateau(*given)
    run_epochs(*given)
    return model, None


def run_epochs(
    estimator: LinearModel,
    model: CoreModel,
    rows: Rows,
    labels: Labels,
    sample_weight: Any,
    jobs: int,
) -> None:
    """`max_iter` passes, each in a new random order where `shuffle` is set."""
    random, names = np.random.default_rng(estimator.random_state), rows.names or []
    for _ in range(estimator.max_iter):
        order = random.permutation(rows.n_rows) if estimator.shuffle else None
        estimator._learn(model, rows, names, labels, sample_weight, order, undo=False, jobs=jobs)


def run_until_plateau(
    estimator: LinearModel,
    model: CoreModel,
    rows: Rows,
    labels: Labels,
    sample_weight: Any,
    jobs: int,
) -> tuple[CoreModel, list[float]]:
    """Passes until the score of held-out rows stops rising: the best pass's model, all scores.

    Rows are held out at random, as many of each class as its share asks for. A pass counts as
    better if its score exceeds the best so far by more than `tol`; the model that is kept is the
    one of the highest score, the earliest if several have it.
    """
    random, names = np.random.default_rng(estimator.random_state), rows.names or []
    groups = np.zeros(rows.n_rows) if estimator.regression else labels[0]
    learned, held = hold_out(groups, estimator.validation_fraction, random)
    kept_rows, kept_labels = rows.take(held), (labels[0][held], labels[1])
    weights = read_weights(sample_weight, rows.n_rows)
    kept_weights = np.ones(len(held)) if weights is None else weights[held]
    if weights is not None and not weights[learned].any():
        raise DataError("All rows that are not held out have the sample weight zero.")
    if not kept_weights.any():
        kept_weights = np.ones(len(held))
    scores: list[float] = []
    highest, to_beat, waiting = -np.inf, -np.inf, 0
    best: Any = None
    for _ in range(estimator.max_iter):
        order = random.permutation(learned) if estimator.shuffle else learned
        estimator._learn(model, rows, names, labels, sample_weight, order, undo=False, jobs=jobs)
        score = estimator._score_held_out(model, kept_rows, kept_labels, kept_weights)
        scores.append(score)
        if score > highest:
            highest, best = score, model.get_named_state()
        waiting = 0 if score > to_beat + estimator.tol else waiting + 1
        to_beat = max(to_beat, score)
        if waiting >= estimator.n_iter_no_change:
            break
    if best is None:
        raise DataError("The rows held out cannot be scored: their scores are not finite.")
    return _restored(estimator, model, best), scores


def hold_out(groups: Array, fraction: float, random: np.random.Generator) -> tuple[Array, Array]:
    """Split the places of rows in those to learn and those held out, both in order.

    Each group gives its share; a group of one row gives none, so that it can be learned.
    """
    shares, numbers = [], []
    for group in np.unique(groups):
        members = random.permutation(np.flatnonzero(groups == group))
        shares.append(members)
        numbers.append(fraction * len(members))
    wanted = max(1, round(fraction * len(groups)))
    # What rounding down leaves over goes to the groups with the largest remainders.
    counts = [int(number) for number in numbers]  # fewer than all, since the fraction is below 1
    remainders = np.argsort([int(number) - number for number in numbers], kind="stable")
    for place in remainders:
        if sum(counts) < wanted and counts[place] < len(shares[place]) - 1:
            counts[place] += 1
    held = np.sort(np.concatenate([m[:n] for m, n in zip(shares, counts, strict=True)]))
    if not len(held):
        raise DataError(
            f"early_stopping finds no row to hold out among {len(groups)}: every class would lose "
            "its only one."
        )
    return np.setdiff1d(np.arange(len(groups)), held), held


def _restored(estimator: LinearModel, model: CoreModel, state: Any) -> CoreModel:
    """A model as it was when its state was taken."""
    tensors, classes = state
    earlier = fresh(estimator, model)
    earlier.set_state(dict(tensors), list(classes))
    return earlier


def fresh(estimator: LinearModel, model: CoreModel) -> CoreModel:
    """One that has learned nothing, for the same classes with the same weights."""
    weights = [(label, weight) for label, weight in model.class_weights]
    return estimator._new_model(list(model.declared), weights)
