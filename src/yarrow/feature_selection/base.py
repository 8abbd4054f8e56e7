"""What the selectors share: bins, counts that follow a stream, and the k best features."""

from __future__ import annotations

import itertools
import math
import numbers
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

from numpy.typing import NDArray

from yarrow.data.frames import frame_of, is_pandas, labels_of_columns
from yarrow.errors import not_fitted
from yarrow.estimator import estimator
from yarrow.features.base import ColumnTransformer, Row, each_row, values_of
from yarrow.lazy import np
from yarrow.parameters import anything, integer

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def _are_edges(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) == 0:
        return False
    numeric = all(isinstance(v, numbers.Real) and math.isfinite(v) for v in value)
    return numeric and all(a < b for a, b in itertools.pairwise(value))


@estimator
class Selector(ColumnTransformer):
    """Base of the selectors.

    A real value counts by its bin: without `edges` there are three, negative, zero and positive;
    with edges e1 < e2 < ... they are x < e1, e1 <= x < e2, and so on. A feature that a row does not
    have is 0 in it. Only values outside of the bin of 0 are counted, so that a row costs what it
    holds; the rest follows from the totals.
    """

    _learned_as: ClassVar[str] = "_slots"

    k: int = integer(default=10, doc="How many features to select.", at_least=1)
    edges: Any = anything(
        default=None,
        allowed="None or a list of ascending numbers",
        accepts=_are_edges,
        doc="Where bins of values end; None: negative, zero and positive.",
    )

    river_bases: ClassVar[tuple[str, ...]] = ("Transformer",)

    # -- what a subclass says --------------------------------------------------------------------

    @abstractmethod
    def _start(self) -> None:
        """Forget everything."""

    @abstractmethod
    def _merits(self) -> Floats:
        """How much each feature known is worth."""

    # -- selecting -------------------------------------------------------------------------------

    @property
    def feature_names_(self) -> list[Hashable]:
        """Names of the features learned, in the order of `scores_`."""
        self._check_fitted()
        return list(self._slots)

    @property
    def scores_(self) -> Floats:
        """How much each feature of `feature_names_` is worth."""
        self._check_fitted()
        return self._merits()

    def selected_features(self) -> list[Hashable]:
        """The k best features, the best first; of equal ones that which came first."""
        names = self.feature_names_
        return [names[i] for i in np.argsort(-self._merits(), kind="stable")[: self.k].tolist()]

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which columns of the arrays learned are selected: a mask, or their numbers."""
        self._check_fitted()
        if not hasattr(self, "n_features_in_"):
            not_fitted(self)
        chosen = set(self.selected_features())
        names: Iterable[Hashable] = self._column_names() or range(self.n_features_in_)
        mask = np.array([name in chosen for name in names], dtype=bool)
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X: Any) -> Any:
        """Return the selected columns."""
        self._check_fitted()
        array, _ = self._read(X)
        return array[:, self.get_support()]

    def transform_one(self, x: Row) -> dict[Hashable, float]:
        """Return the selected features of one row."""
        if not self.__sklearn_is_fitted__():
            return {}
        chosen = set(self.selected_features())
        return {name: value for name, value in x.items() if name in chosen}

    def transform_many(self, X: Any) -> Any:
        """Return the selected columns of a data frame."""
        chosen = set(self.selected_features()) if self.__sklearn_is_fitted__() else set()
        frame = X if is_pandas(X) else frame_of(X)
        names = [name for name in labels_of_columns(frame) or () if name in chosen]
        return frame.select(names) if hasattr(frame, "select") else frame[names]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the selected columns."""
        names: NDArray[Any] = super().get_feature_names_out(input_features)[self.get_support()]
        return names

    # -- counting --------------------------------------------------------------------------------

    def learn_many(self, X: Any) -> None:
        """Count the rows of a data frame, all of them or none."""
        each_row(X, values_of)
        super().learn_many(X)

    @property
    def _n_bins(self) -> int:
        return 3 if self.edges is None else len(self.edges) + 1

    def _bins(self, values: Any) -> Places:
        if self.edges is None:
            bins: Places = (np.sign(values) + 1).astype(np.int64)
        else:
            bins = np.searchsorted(np.asarray(self.edges, float), values, side="right")
        return bins

    @property
    def _zero_bin(self) -> int:
        return int(self._bins(np.zeros(1))[0])

    def _begin(self) -> None:
        self._check_parameters()
        if not self.__sklearn_is_fitted__():
            self._slots: dict[Hashable, int] = {}
            self._start()

    def _find(self, names: Iterable[Hashable]) -> Places:
        slots = self._slots
        return np.array([slots.setdefault(name, len(slots)) for name in names], np.int64)

    def _counted(self, x: Row) -> tuple[Places, Places]:
        """Slots and bins of what counts in a dict row."""
        bins = self._bins(values_of(x))
        slots = self._find(x)
        counts = bins != self._zero_bin
        return slots[counts], bins[counts]

    def _counted_in(self, array: Any, names: list[str] | None) -> tuple[Places, Places, Places]:
        """Row, slot and bin of all that counts in an array, row after row."""
        width = array.shape[1]
        if isinstance(array, np.ndarray):
            rows, columns = np.nonzero(array)
            values = array[rows, columns]
        else:
            rows = np.repeat(np.arange(array.shape[0]), np.diff(array.indptr))
            columns, values = array.indices, array.data
        # An earlier array had these columns, so all are known: few values need not number them all.
        is_known = "n_features_in_" in self.__dict__ and len(self._slots) >= width
        if is_known and len(columns) < width:
            held = columns.tolist()
            slots = self._find(held if names is None else [names[column] for column in held])
        else:
            slots = self._find(range(width) if names is None else names)[columns]
        bins = self._bins(values)
        counts = bins != self._zero_bin
        return rows[counts], slots[counts], bins[counts]


def enlarged(counts: Floats, *shape: int) -> Floats:
    """The same counts in an array of at least this shape, with room to grow along what grew."""
    if all(have >= need for have, need in zip(counts.shape, shape, strict=True)):
        return counts
    room = [
        have if have >= need else max(need, 2 * have)
        for have, need in zip(counts.shape, shape, strict=True)
    ]
    larger = np.zeros(room)
    larger[tuple(slice(n) for n in counts.shape)] = counts
    return larger


def entropy_terms(counts: Floats) -> Floats:
    """n*ln(n), which is 0 for 0."""
    return counts * np.log(np.where(counts > 0, counts, 1.0))
