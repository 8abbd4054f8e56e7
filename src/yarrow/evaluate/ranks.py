"""Learners ranked over many tasks: mean ranks, whether they differ at all, and by how much."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import DataError, ParameterError
from yarrow.lazy import np


@dataclasses.dataclass(frozen=True)
class Ranks:
    """Mean ranks, 1 for the best; learners in the order given."""

    learners: list[str]
    mean_ranks: list[float]
    tasks: int
    #: two mean ranks that are farther apart differ at this level (Nemenyi)
    critical_difference: float
    level: float
    #: Friedman's test that all learners are alike: its chi-squared value and its p
    statistic: float
    p: float
    #: the same test as Iman & Davenport correct it, which errs less on the careful side
    p_iman_davenport: float

    @property
    def groups(self) -> list[list[str]]:
        """Learners whose ranks do not differ, as the bars of a rank diagram join them.

        Each group is as large as it can be; the best first. A learner that differs from all
        others is in no group.
        """
        order = sorted(range(len(self.learners)), key=lambda i: self.mean_ranks[i])
        ranks = [self.mean_ranks[i] for i in order]
        return [
            [self.learners[i] for i in order[first : last + 1]]
            for first, last in tied_groups(ranks, self.critical_difference)
        ]

    def __str__(self) -> str:
        width = max(map(len, self.learners))
        order = sorted(range(len(self.learners)), key=lambda i: self.mean_ranks[i])
        lines = [f"{self.learners[i]:<{width}}  {self.mean_ranks[i]:.2f}" for i in order]
        return "\n".join(
            [
                *lines,
                f"critical difference {self.critical_difference:.2f} at level {self.level:g}, "
                f"{self.tasks} tasks; Friedman p = {self.p:.2g}",
            ]
        )


def tied_groups(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """First and last of each largest run of sorted ranks that lie within the difference.

    >>> tied_groups([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(i for i, other in enumerate(ranks) if other - rank <= critical_difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def critical_difference(learners: int, tasks: int, level: float = 0.05) -> float:
    """How far apart two mean ranks must be to differ (Nemenyi; Demsar 2006, equation 8).

    >>> round(critical_difference(4, 14), 3)  # 2.569 * sqrt(4*5 / (6*14)) in Demsar's section 3.2.5
    1.254
    """
    if learners < 2 or tasks < 1 or not 0 < level < 1:
        raise ParameterError("A critical difference needs two learners, a task, and a level < 1.")
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - level, learners, np.inf)) / math.sqrt(2)
    return q * math.sqrt(learners * (learners + 1) / (6 * tasks))


def mean_ranks(
    errors: Any,
    learners: Sequence[str] | None = None,
    *,
    level: float = 0.05,
    higher_is_better: bool = False,
) -> Ranks:
    """Rank the learners on each task, equal ones by their mean rank, and average over the tasks.

    Parameters
    ----------
    errors : a line a task and a column a learner; or a dict of each learner's errors by task
    level : of the critical difference

    >>> found = mean_ranks({"A": [0.1, 0.2, 0.1], "B": [0.2, 0.2, 0.3], "C": [0.3, 0.4, 0.2]})
    >>> [round(rank, 2) for rank in found.mean_ranks]
    [1.17, 2.17, 2.67]
    """
    if isinstance(errors, Mapping):
        learners, columns = list(errors), [np.asarray(v, dtype=float) for v in errors.values()]
        if len({column.shape for column in columns}) > 1:
            raise DataError("All learners must have the same tasks.")
        errors = np.column_stack(columns)
    table = np.asarray(errors, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise DataError(f"Ranks need tasks by learners, two at least. Got the shape {table.shape}.")
    names = [str(i) for i in range(table.shape[1])] if learners is None else list(learners)
    if len(names) != table.shape[1]:
        raise DataError(f"There are {len(names)} learners, but {table.shape[1]} columns of errors.")
    bad = np.argwhere(np.isnan(table))
    if len(bad):
        raise DataError(f"{names[bad[0][1]]} has no error on task {bad[0][0]}.")
    from scipy.stats import chi2, f, rankdata

    ranks = rankdata(-table if higher_is_better else table, axis=1)
    n, k = ranks.shape
    statistic = _friedman(ranks)
    # Iman & Davenport (1980): an F value of the same ranks.
    rest = n * (k - 1) - statistic
    f_value = (n - 1) * statistic / rest if rest > 1e-9 else math.inf
    return Ranks(
        learners=names,
        mean_ranks=ranks.mean(axis=0).tolist(),
        tasks=n,
        critical_difference=critical_difference(k, n, level),
        level=level,
        statistic=statistic,
        p=float(chi2.sf(statistic, k - 1)),
        p_iman_davenport=float(f.sf(f_value, k - 1, (k - 1) * (n - 1))) if n > 1 else 1.0,
    )


def _friedman(ranks: Array) -> float:
    """Friedman's statistic with its correction for equal ranks; scipy's wants three learners."""
    n, k = ranks.shape
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    if spread == 0:
        return 0.0
    sums = ranks.sum(axis=0) - n * (k + 1) / 2
    return float((k - 1) * (sums**2).sum() / spread)
