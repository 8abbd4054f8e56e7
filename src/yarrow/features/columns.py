"""The columns of a table as features: numbers, categories, text, dates, true and false."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from yarrow.data.arrays import check_names, column_names
from yarrow.data.frames import frame_of
from yarrow.data.named_rows import NamedRows
from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.features.base import Transformer
from yarrow.io.row_reader import RowReader
from yarrow.parameters import anything, choice, integer


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _names(doc: str) -> Any:
    return anything(
        default=None,
        allowed="None or a list of columns",
        accepts=lambda v: v is None or _are_texts(v),
        doc=doc,
    )


@estimator
class Columns(Transformer):
    """Make features of the columns of a frame, or of dicts, as the command line does of a file.

    A number is the feature `column`, a text the category `column=text`, a text column the counts of
    its words, `column=word`; a date its year, month, weekday and hour; true and false are 1 and 0
    (`yarrow.io.columns` has the whole table). Types are those of the first rows that are learned:
    later ones are read alike.

    Use it as the first step of a pipeline where columns must be told apart, or before learners of
    other libraries; Yarrow's own read a frame as this does with its defaults. `partial_fit` adds
    columns to the matrix as new categories and words appear; `transform` leaves out those that are
    not known.

    Examples
    --------
    >>> Columns(text=["title"]).transform_one({"title": "Buy now", "town": "Oslo", "age": 31})
    {'title=buy': 1.0, 'title=now': 1.0, 'town=Oslo': 1.0, 'age': 31.0}
    """

    sklearn_tags: ClassVar[dict[str, Any]] = {
        "input_tags.two_d_array": False, "input_tags.dict": True,
    }  # fmt: skip

    _learned_as: ClassVar[str] = "vocabulary_"

    text: Any = _names("Columns that are read as words.")
    categories: Any = _names("Columns whose values are names, even where they are numbers.")
    drop: Any = _names("Columns that make no features.")
    missing: Any = anything(
        default=("",),
        allowed="a list of texts",
        accepts=_are_texts,
        doc="Texts that stand for a missing value, as None and NaN do.",
    )
    when_missing: Literal["ignore", "indicate", "error"] = choice(
        default="ignore",
        options=("ignore", "indicate", "error"),
        doc="A missing value: no feature, the feature `column is missing`, or an error.",
    )
    ngrams: int = integer(
        default=1, doc="Of text columns, also count sequences of up to so many words.", at_least=1
    )

    def transform_one(self, x: Any) -> dict[Hashable, float]:
        """Return the features of one row, a dict of columns."""
        self._check_parameters()
        if isinstance(x, str):
            raise DataError(f"A row must be a dict of columns, not {x!r}.")
        return self._reader()(x)  # type: ignore[no-any-return]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget all columns, then collect the features of `X`."""
        self._check_parameters()
        for name in ("vocabulary_", "kinds_", "feature_names_in_", "n_features_in_"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add the new features of `X`, as further columns."""
        self._check_parameters()
        kinds = dict(getattr(self, "kinds_", {}))
        vocabulary = dict(getattr(self, "vocabulary_", {}))
        for name in self._read(X, kinds).names:
            vocabulary.setdefault(name, len(vocabulary))
        names = column_names(frame) if (frame := frame_of(X)) is not None else None
        if names is not None and not hasattr(self, "n_features_in_"):
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.kinds_: dict[str, Any] = kinds
        self.vocabulary_: dict[Hashable, int] = vocabulary
        return self

    def transform(self, X: Any) -> Any:
        """Return all rows as a CSR matrix; features that are not known are left out.

        The values of a row stand in the order of its columns, so that sums over them have one
        order by every route.
        """
        from scipy.sparse import csr_matrix

        self._check_fitted()
        rows = self._read(X, dict(self.kinds_))
        places = np.array([self.vocabulary_.get(name, -1) for name in rows.names] or [-1], np.int32)
        indices = places[rows.indices]
        known = indices >= 0
        ends = np.concatenate([[0], np.cumsum(known)])[rows.indptr]
        shape = len(rows), len(self.vocabulary_)
        return csr_matrix((rows.values[known], indices[known], ends), shape)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, in the order of the columns."""
        self._check_fitted()
        return np.array(list(self.vocabulary_), dtype=object)

    def _reader(self) -> RowReader:
        names = "text", "categories", "drop", "missing", "when_missing", "ngrams"
        options = {name: getattr(self, name) or () for name in names}
        return RowReader.of("csv", options | {"known": getattr(self, "kinds_", {})})

    def _read(self, X: Any, kinds: dict[str, Any]) -> NamedRows:
        frame = frame_of(X)
        reader = self._reader()
        if frame is None:
            return reader.of_dicts(_dicts(X), is_first="kinds_" not in self.__dict__)
        names = column_names(frame) or []
        if "feature_names_in_" in self.__dict__:
            check_names(type(self).__name__, list(self.feature_names_in_), names)
        reader.roles.check(names, None)
        return reader.of_frame(frame, kinds)


def _dicts(X: Iterable[Any]) -> Iterable[Any]:
    if isinstance(X, str) or hasattr(X, "shape"):
        raise DataError(f"X must be a frame or a list of dicts, not {type(X).__name__}.")
    return X
