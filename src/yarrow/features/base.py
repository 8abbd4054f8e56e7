"""What all feature components share: the manners of scikit-learn's and river's transformers."""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
from array import array
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from yarrow.data.arrays import check_columns, check_finite, first_text, read_rows
from yarrow.data.frames import dict_rows, frame_like, labels_of_columns, new_frame
from yarrow.errors import DataError, about_row, check_value, not_fitted
from yarrow.estimator import Estimator

Row = Mapping[Hashable, float]
"""One row as river has it: names and their values."""


class Transformer(Estimator):
    """Base of the feature components: `fit_transform` and `learn_one` by way of the others."""

    river_bases: ClassVar[tuple[str, ...]] = ("Transformer",)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "transform" in cls.__dict__:
            cls.transform = _as_wanted(cls.transform)  # type: ignore[method-assign]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Let `transform` answer with a frame: "pandas", "polars", or "default" for arrays."""
        known = transform in (None, "default", "pandas", "polars")
        check_value(known, "transform", transform, "'default', 'pandas' or 'polars'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # which its `clone` copies
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        self._check_parameters()
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of all rows."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Call `fit`, then `transform`, on the same rows."""
        return self.fit(X).transform(X)

    def learn_one(self, x: Any) -> None:
        """Learn from one row; most components have nothing to learn."""

    _supervised: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

    def __add__(self, other: Any) -> Any:
        from river import compose

        return compose.TransformerUnion(self, other)

    def __radd__(self, other: Any) -> Any:
        from river import compose

        return compose.TransformerUnion(other, self)

    def __mul__(self, other: Any) -> Any:
        from river import base, compose

        if isinstance(other, base.Transformer | compose.Pipeline):
            return compose.TransformerProduct(self, other)
        this: Any = self
        return compose.Grouper(transformer=this, by=other)

    __rmul__ = __mul__


def _as_wanted(transform: Callable[..., Any]) -> Callable[..., Any]:
    """A method `transform` that answers as `set_output`, or scikit-learn's configuration, says."""

    @functools.wraps(transform)
    def answer(self: Any, X: Any) -> Any:
        made = transform(self, X)
        kind = self.__dict__.get("_sklearn_output_config", {}).get("transform")
        if kind is None and "sklearn" in sys.modules:
            kind = sys.modules["sklearn"].get_config()["transform_output"]
        if kind not in ("pandas", "polars") or isinstance(made, list):
            return made
        if hasattr(made, "tocsr"):
            raise DataError(
                f"{type(self).__name__} answers with a sparse matrix, of which no frame is made: "
                "use set_output(transform='default')."
            )
        columns = dict(zip(self.get_feature_names_out(), made.T, strict=True))
        return new_frame(kind, columns, getattr(X, "index", None))

    return answer


class ColumnTransformer(Transformer):
    """Base of the components that give each column of an array back, changed."""

    river_bases: ClassVar[tuple[str, ...]] = ("MiniBatchTransformer",)

    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns of `X`."""
        self._check_parameters()
        self._remember(*self._read(X, first=True))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns of `X`, which must be those of earlier calls."""
        self._check_parameters()
        self._remember(*self._read(X))
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns, which are those of the input."""
        if not hasattr(self, "n_features_in_"):
            not_fitted(self)
        default = [f"x{column}" for column in range(self.n_features_in_)]
        names = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return np.asarray(default if names is None else names, dtype=object)
        given = np.asarray(input_features, dtype=object)
        if names is not None and not np.array_equal(given, names):
            raise DataError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise DataError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}"
            )
        return given

    def transform_many(self, X: Any) -> Any:
        """Transform the rows of a data frame, each as `transform_one` does."""
        rows = [self.transform_one(row) for row in dict_rows(X)]
        names = labels_of_columns(X) or []
        return frame_like(X, {name: [row[name] for row in rows] for name in names})

    def learn_many(self, X: Any) -> None:
        """Learn the rows of a data frame, each as `learn_one` does."""
        each_row(X, self.learn_one)

    def transform_one(self, x: Row) -> dict[Hashable, float]:
        """Return the features of one row."""
        raise NotImplementedError

    def _read(self, X: Any, first: bool | None = None) -> tuple[Any, list[str] | None]:
        """Return `X` as a float array of its own, CSR if it is sparse, and its columns' names.

        Those are the names that the columns had when they were first learned, if they had any.
        """
        rows = read_rows(X)
        if not first:
            number, names = getattr(self, "n_features_in_", None), self._column_names()
            check_columns(type(self).__name__, rows, number, names, self._text_name)
            first = number is None
        own: Any = X.tocsr(copy=True) if rows.is_sparse else rows.values
        own = own.astype(np.float32 if rows.values.dtype == np.float32 else np.float64)
        if rows.is_sparse:
            own.sum_duplicates()
        if rows.is_sparse:
            rows = dataclasses.replace(
                rows, values=own.data, indices=own.indices, begins=own.indptr
            )
        check_finite(rows.values, "Input X", rows)
        return own, rows.names if first else self._column_names()

    def _text_name(self) -> str | None:
        """A feature that is called by a text, if one was learned."""
        return first_text(self.__dict__.get("_slots", ()))

    def _column_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _remember(self, array: Any, names: list[str] | None) -> None:
        self.n_features_in_ = array.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)


def each_row(X: Any, use: Callable[[Row], Any]) -> None:
    """Use each row of a data frame; an error says which one it is about."""
    for place, row in enumerate(dict_rows(X)):
        with about_row(place):
            use(row)


def values_of(x: Row, finite: bool = True) -> NDArray[np.float64]:
    """Return the values of a dict row; one that is no (finite) number is an error that names it."""
    try:
        values = np.array(array("d", x.values()))  # takes numbers only, not their texts
        if not finite or np.isfinite(values).all():
            return values
    except (TypeError, OverflowError):
        pass
    what = "a finite number" if finite else "a number"
    for name, value in x.items():
        try:
            is_one = math.isfinite(value) or not finite
        except TypeError:
            is_one = False
        except OverflowError:
            is_one = not finite
        if not is_one:
            raise DataError(f"{value!r} is not {what}", field=str(name))
    raise DataError("a value is too large for a float")
