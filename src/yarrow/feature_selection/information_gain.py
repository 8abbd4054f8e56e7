"""Selection by information gain, counted online."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from yarrow.data.arrays import read_weights
from yarrow.data.frames import dict_rows
from yarrow.data.labels import Codes, kept, label_list, number_of, numbered, read_labels
from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.feature_selection.base import Floats, Selector, enlarged, entropy_terms
from yarrow.features.base import Row, each_row, values_of
from yarrow.lazy import np


@estimator
class InformationGain(Selector):
    """Keep the k features that say most about the class: the largest mutual information I(x; y).

    Use it in front of a learner that suffers from features that say nothing. It looks at each
    feature alone, over all rows learned, and so neither sees what features say together nor follows
    a stream that drifts (Shen & Dietterich, section 4.3). Instead: `OFSClassifier`, which selects
    while it learns. A sample weight counts a row so many times.

    Real values count by bins, see `edges`. Gains are in nats; they are worked out anew for all
    features whenever a row is transformed.

    >>> selector = InformationGain(k=1)
    >>> for x, y in [({"rain": 1, "monday": 1}, "wet"), ({"sun": 1, "monday": 1}, "dry")]:
    ...     selector.learn_one(x, y)
    >>> selector.transform_one({"rain": 1, "monday": 1})
    {'rain': 1}
    """

    river_bases: ClassVar[tuple[str, ...]] = ("SupervisedTransformer",)
    sklearn_tags: ClassVar[dict[str, Any]] = {"target_tags.required": True}
    _supervised: ClassVar[bool] = True

    def _start(self) -> None:
        self._labels: Codes = {}
        self._counts = np.zeros((0, self._n_bins, 0))  # feature, bin, class; the bin of 0 is empty
        self._totals = np.zeros(0)  # rows of each class

    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:  # type: ignore[override]
        """Count one row."""
        if not (np.isfinite(w) and w >= 0):
            raise DataError("The weight of a row must be finite and >= 0.")
        label = _labels([y])[0]
        self._begin()
        slots, bins = self._counted(x)
        place = number_of(label, self._labels)
        self._make_room()
        self._counts[slots, bins, place] += w
        self._totals[place] += w

    def learn_many(self, X: Any, y: Any) -> None:  # type: ignore[override]
        """Count the rows of a data frame, all of them or none."""
        labels = _labels(y)
        if len(labels) != len(X):
            raise DataError(f"There are {len(X)} rows, but {len(labels)} labels.")
        each_row(X, values_of)
        for row, label in zip(dict_rows(X), labels, strict=True):
            self.learn_one(row, label)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then count all rows."""
        return self._learn_array(X, y, sample_weight, first=True)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count all rows."""
        return self._learn_array(X, y, sample_weight, first=None)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Call `fit`, then `transform`, on the same rows."""
        return self.fit(X, y).transform(X)

    def _learn_array(self, X: Any, y: Any, sample_weight: Any, first: bool | None) -> Self:
        self._check_parameters()
        array, names = self._read(X, first)
        labels = read_labels(y, array.shape[0])
        weights = read_weights(sample_weight, array.shape[0])
        if first and weights is not None and not weights.any():
            raise DataError("All sample weights are zero: there is no row to learn.")
        if first:
            self.__dict__.pop("_slots", None)
        self._begin()
        classes = numbered(label_list(labels), self._labels, add=True)
        rows, slots, bins = self._counted_in(array, names)
        self._make_room()
        by_row = np.ones(len(classes)) if weights is None else weights
        np.add.at(self._counts, (slots, bins, classes[rows]), by_row[rows])
        np.add.at(self._totals, classes, by_row)
        self._remember(array, names)
        return self

    def _make_room(self) -> None:
        self._counts = enlarged(self._counts, len(self._slots), self._n_bins, len(self._labels))
        self._totals = enlarged(self._totals, self._counts.shape[2])

    def _merits(self) -> Floats:
        """I(x; y) = sum p(x, y) ln(p(x, y) / (p(x) p(y))) over bins and classes."""
        totals = self._totals[: len(self._labels)]
        n = totals.sum()
        if n == 0:
            return np.zeros(len(self._slots))
        known = self._counts[: len(self._slots), :, : len(self._labels)]
        counts = known.transpose(1, 2, 0).copy()  # features last: sums over the others are fast
        counts[self._zero_bin] = np.maximum(totals[:, None] - counts.sum(axis=0), 0)
        joint = entropy_terms(counts).sum(axis=(0, 1))
        of_feature = entropy_terms(counts.sum(axis=1)).sum(axis=0)
        of_class = entropy_terms(totals).sum()
        gains: Floats = (joint - of_feature - of_class + entropy_terms(np.asarray(n))) / n
        return np.maximum(gains, 0.0)


def _labels(given: Iterable[Any]) -> list[Any]:
    """Labels as they are kept; any number may be one."""
    found = [kept(label) for label in given]
    for row, label in enumerate(found):
        if label is None or (isinstance(label, float) and not math.isfinite(label)):
            what = "infinity" if label in (math.inf, -math.inf) else "NaN"
            raise DataError(f"Input y contains {what} at row {row}.")
    return found
