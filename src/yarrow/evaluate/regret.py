"""Regret: how much more a learner lost than the best fixed weights, or the best of a set."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

from scipy import sparse

from yarrow.data.arrays import Array, exact_array
from yarrow.data.labels import distinct
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import comparators, losses
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np
from yarrow.online.batch import table_of


@dataclasses.dataclass(frozen=True)
class Regret:
    """The losses of a learner and of what it is compared with, row by row."""

    learner: Array
    best: Array
    #: the best fixed weights, the intercept last; None where a learner was the best
    weights: Array | None = None
    #: the best learner's name
    name: str | None = None

    @functools.cached_property
    def curve(self) -> Array:
        """Regret after each row, against what was the best at the end."""
        return np.cumsum(self.learner - self.best)

    @property
    def total(self) -> float:
        """The learner's loss less the best one's, summed over all rows."""
        return float(np.sum(self.learner) - np.sum(self.best))

    @property
    def average(self) -> float:
        """The total, divided by the rows."""
        return self.total / len(self.learner)

    def __str__(self) -> str:
        against = self.name or "the best fixed weights"
        return (
            f"regret {self.total:.6g} over {len(self.learner):,} rows ({self.average:.4g} a row): "
            f"{np.sum(self.learner):.6g} against {np.sum(self.best):.6g} of {against}"
        )


def regret(
    X: Any,
    y: Any,
    scores: Any,
    *,
    loss: str = "logistic",
    positive: Any = None,
    fit_intercept: bool = True,
    ridge: float = 0.0,
) -> Regret:
    """Regret of a learner's progressive scores against the best fixed weights in hindsight.

    Parameters
    ----------
    y : labels of two classes, or with loss="squared" also values
    scores : what the learner said before it learned each row, for the positive class; NaN, where
        nothing was known yet, counts as 0
    loss : hinge, squared_hinge, logistic, squared or exponential, of the margin
    positive : by default the last of the two classes in their order
    ridge : the best weights u are those of the least sum of losses + ridge/2*|u|^2; without it
        rows that can be separated have no best weights for some losses, and the solver stops at
        some that lose next to nothing

    The solver is exact up to its tolerance: what it finds may lose a little more than the best, so
    that the regret told is a little too small, never too large.

    >>> from yarrow import OGDClassifier
    >>> from yarrow.evaluate import progressive
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 20, [0, 1, 1] * 20
    >>> told = progressive(OGDClassifier(loss="logistic"), X, y, metrics=["roc_auc"])
    >>> found = regret(X, y, told.scores[:, 1])
    >>> 0 < found.average < 0.7
    True
    """
    rows = sparse.csr_matrix(table_of(X), dtype=np.float64)
    n = rows.shape[0]
    if not n:
        raise DataError("There is no row, so there is no regret.")
    said = np.nan_to_num(np.asarray(scores, dtype=np.float64).reshape(-1))
    labels = exact_array(y)
    if said.shape != (n,) or labels.shape != (n,):
        raise DataError(f"X has {n} rows, but y has {labels.shape} and scores has {said.shape}.")
    values = _signed(labels, loss, positive)
    if fit_intercept:
        rows = sparse.csr_matrix(sparse.hstack([rows, np.ones((n, 1))], format="csr"))
    is_values = loss == "squared" and not set(np.unique(values)) <= {-1.0, 1.0}
    run = Run(
        rows=rows,
        labels=values,
        margins=said if is_values else values * said,
        updated=np.zeros(n, dtype=bool),
        task="regression" if is_values else "binary",
        has_intercept=fit_intercept,
    )
    weights = comparators.least_loss(run, loss, ridge=ridge)
    return Regret(
        learner=losses.value(loss, run.margins, run.targets),
        best=losses.value(loss, run.signed_rows @ weights, run.targets),
        weights=weights,
    )


def _signed(labels: Array, loss: str, positive: Any) -> Array:
    names = distinct(labels)[0]
    if loss == "squared" and labels.dtype.kind == "f" and positive is None:
        return labels.astype(np.float64)
    if positive is None:
        positive = names[-1]
    if len(names) > 2:
        raise DataError(
            f"Regret against fixed weights is of two classes or values, but y has {len(names)} "
            "classes: take one class at a time, y == label."
        )
    return np.where(labels == positive, 1.0, -1.0)


def regret_to_best(learner: Any, others: Mapping[str, Any]) -> Regret:
    """Regret against that of some learners which lost least over all rows.

    Losses a row: mistakes (`Progressive.wrong`), or any other.

    >>> print(regret_to_best([1, 0, 1], {"A": [1, 0, 0], "B": [1, 1, 1]}))
    regret 1 over 3 rows (0.3333 a row): 2 against 1 of A
    """
    own = np.asarray(learner, dtype=np.float64)
    if not others:
        raise ParameterError("There is no learner to compare with.")
    rivals = {name: np.asarray(values, dtype=np.float64) for name, values in others.items()}
    for name, values in rivals.items():
        if values.shape != own.shape:
            raise DataError(f"{name} has losses of the shape {values.shape}, not {own.shape}.")
    best = min(rivals, key=lambda name: float(rivals[name].sum()))
    return Regret(own, rivals[best], name=best)
