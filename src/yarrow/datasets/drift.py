"""Streams that change: four phases of four classes; abrupt, gradual and recurring drift."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.digits import USPS
from yarrow.datasets.news import Newsgroups
from yarrow.datasets.source import Source, options
from yarrow.errors import ParameterError, check_value
from yarrow.lazy import np
from yarrow.parameters import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

PHASES = (  # of P1, P2, N1, N2: how likely each is at the beginning and at the end of a phase
    ((0.7, 0.0, 0.3, 0.0), (0.5, 0.0, 0.5, 0.0)),
    ((0.5, 0.0, 0.5, 0.0), (0.3, 0.2, 0.5, 0.0)),
    ((0.0, 0.5, 0.2, 0.3), (0.0, 0.5, 0.0, 0.5)),
    ((0.0, 0.5, 0.0, 0.5), (0.0, 0.3, 0.0, 0.7)),
)
"""Shen and Dietterich (2009), section 4.1."""

KINDS = ("abrupt", "gradual", "recurring")


def four_phases(
    dataset: Dataset, classes: Sequence[Any], rows: int = 500, seed: int = 0
) -> Dataset:
    """Return a stream of four phases over four classes of `dataset` (Shen and Dietterich, 4.1).

    `classes` are P1, P2, N1 and N2. Rows of P1 and P2 are labelled 1, those of N1 and N2 -1. How
    likely each class is moves evenly through each phase of `rows` rows, as `PHASES` says, and
    jumps where the third begins. No row is taken twice.
    """
    check_value(len(set(classes)) == 4, "classes", classes, "four labels")
    check_value(rows >= 1, "rows", rows, ">= 1")
    random = np.random.default_rng(seed)
    progress = np.linspace(0, 1, rows)[:, None]
    chances = [(1 - progress) * np.array(begin) + progress * np.array(end) for begin, end in PHASES]
    borders = np.cumsum(np.concatenate(chances), axis=1)
    drawn = (random.random(4 * rows)[:, None] >= borders[:, :3]).sum(axis=1)
    taken = np.empty(4 * rows, dtype=np.int64)
    for place, label in enumerate(classes):
        pool = random.permutation(np.flatnonzero(dataset.y == label))
        needed = int((drawn == place).sum())
        if needed > len(pool):
            raise ParameterError(
                f"The phases need {needed} rows of class {label!r}, but {dataset.name} has only "
                f"{len(pool)}: take fewer rows a phase."
            )
        taken[drawn == place] = pool[:needed]
    named = ", ".join(map(str, classes))
    order = (
        f"four phases of {rows} rows drawn with seed {seed} over {named} (P1, P2, N1, N2); they "
        f"begin at rows 0, {rows}, {2 * rows} and {3 * rows}"
    )
    y = np.where(drawn < 2, 1, -1)
    return dataset.take(taken, y=y, task="binary", order=order, test=None)


def drift_chances(rows: int, kind: str, width: float = 0.2, periods: int = 4) -> NDArray[Any]:
    """Return how likely each row is of the second of two concepts.

    abrupt: the second takes over in the middle. gradual: over a share `width` of the rows round
    the middle, evenly. recurring: they take turns, `periods` stretches of equal length.

    >>> drift_chances(6, "abrupt").tolist(), drift_chances(8, "recurring").tolist()
    ([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0])
    """
    check_value(kind in KINDS, "kind", kind, f"one of {KINDS}")
    check_value(0 < width <= 1, "width", width, "in (0, 1]")
    check_value(periods >= 2, "periods", periods, ">= 2")
    time = (np.arange(rows) + 0.5) / max(rows, 1)
    if kind == "gradual":
        return np.clip((time - 0.5) / width + 0.5, 0, 1)
    stretches = 2 if kind == "abrupt" else periods
    return np.floor(time * stretches) % 2


def drifting(
    first: Dataset,
    second: Dataset | None = None,
    *,
    kind: str = "abrupt",
    width: float = 0.2,
    periods: int = 4,
    seed: int = 0,
) -> Dataset:
    """Return a stream that changes from the concept of `first` to that of `second`.

    Row t is row t of one of the two, drawn with the chances of `drift_chances`; both have the same
    columns, and the stream ends with the shorter one. Without `second`, it is `first` with each
    label replaced by the next one, in the order of `first.classes`.

    >>> from yarrow.datasets import load
    >>> data = load("synthetic/gaussian", rows=100)
    >>> stream = drifting(data)
    >>> (stream.y == data.y)[:50].all(), (stream.y == -data.y)[50:].all()
    (np.True_, np.True_)
    """
    from scipy.sparse import vstack

    if second is None:
        second = _renamed(first)
    if first.X.shape[1] != second.X.shape[1]:
        raise ParameterError(
            f"{first.name} has {first.X.shape[1]} columns, {second.name} {second.X.shape[1]}: a "
            "stream needs the same columns throughout."
        )
    rows = min(len(first), len(second))
    random = np.random.default_rng((seed, 4))
    is_second = random.random(rows) < drift_chances(rows, kind, width, periods)
    chosen = np.arange(rows) + np.where(is_second, rows, 0)
    clean = None
    if first.clean is not None and second.clean is not None:
        clean = np.where(is_second, second.clean[:rows], first.clean[:rows])
    return dataclasses.replace(
        first,
        name=f"{first.name} with {kind} drift",
        X=vstack([first.X[:rows], second.X[:rows]], format="csr")[chosen],
        y=np.where(is_second, second.y[:rows], first.y[:rows]),
        clean=clean,
        order=f"{first.order}; {kind} drift, drawn with seed {seed}",
        test=None,
    )


def _renamed(data: Dataset) -> Dataset:
    """`data` with each label replaced by the next one."""
    labels = np.array(data.classes)
    if len(labels) < 2:
        raise ParameterError(f"{data.name} has no classes to exchange.")

    def following(y: Any) -> Any:
        return labels[(np.searchsorted(labels, y) + 1) % len(labels)]

    clean = None if data.clean is None else following(data.clean)
    return dataclasses.replace(data, y=following(data.y), clean=clean)


@options
class USPSPhases(Source, named="usps/phases"):
    rows: int = integer(default=500, doc="Rows of a phase.", at_least=1)

    def _read(self) -> Dataset:
        return four_phases(USPS(part="all").load(), (3, 7, 8, 9), self.rows, self.seed)


@options
class NewsPhases(Source, named="20newsgroups/phases"):
    has_fetcher = True

    rows: int = integer(default=800, doc="Rows of a phase.", at_least=1)
    min_documents: int = integer(
        default=1, doc="Leave out words of fewer messages of the four groups.", at_least=1
    )

    def _read(self) -> Dataset:
        groups = ("rec.sport.baseball", "rec.sport.hockey", "rec.autos", "rec.motorcycles")
        news = Newsgroups(
            part="all", classes=groups, headers=False, min_documents=self.min_documents
        )
        return four_phases(news.load(), groups, self.rows, self.seed)
