"""Text as features: words, characters and their n-grams."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from yarrow.data.frames import dict_rows, frame_of, labels_of_columns, listed
from yarrow.errors import DataError, about_row, first_of
from yarrow.estimator import estimator
from yarrow.features.base import Transformer
from yarrow.io.columns import WORD
from yarrow.parameters import anything, choice, flag, integer


def _is_range(value: Any) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(isinstance(n, int) and not isinstance(n, bool) for n in value)
        and 1 <= value[0] <= value[1]
    )


_RANGE = "None or (n, m) with 1 <= n <= m"


@estimator
class TextFeatures(Transformer):
    """Count the words of a text, sequences of words, and sequences of characters.

    Words are runs of letters, digits and underscores of any script. Word n-grams are named by
    their words ("buy now"), character n-grams by "chars=..." ("chars=uy n").

    Use it with names for dict rows, where features may appear at any time: `transform_one`. For
    arrays either let `partial_fit` collect a vocabulary, which adds columns as it grows, or set
    `n_features`: then names are hashed to a fixed number of columns and nothing is kept.

    Examples
    --------
    >>> TextFeatures(words=(1, 2)).transform_one("Buy now, buy NOW!")
    {'buy': 2.0, 'now': 2.0, 'buy now': 2.0, 'now buy': 1.0}
    """

    sklearn_tags: ClassVar[dict[str, Any]] = {
        "input_tags.two_d_array": False, "input_tags.string": True,
    }  # fmt: skip
    _tags: ClassVar[set[str]] = {"text input"}  # river's name for it

    words: Any = anything(
        default=(1, 1), allowed=_RANGE, accepts=_is_range, doc="Lengths of the sequences of words."
    )
    chars: Any = anything(
        default=None,
        allowed=_RANGE,
        accepts=_is_range,
        doc="Lengths of the sequences of characters.",
    )
    weighting: Literal["count", "binary", "log"] = choice(
        default="count",
        options=("count", "binary", "log"),
        doc="A feature's value: its count, 1, or 1 + ln(count).",
    )
    lowercase: bool = flag(default=True, doc="Ignore case.")
    n_features: int | None = integer(
        default=None, doc="Hash names to that many columns; by default keep names.", at_least=1
    )
    on: str | None = anything(
        default=None,
        allowed="None or the name of a field",
        accepts=lambda value: value is None or isinstance(value, str),
        doc="The field with the text, where rows are dicts.",
    )

    def transform_one(self, x: str | Mapping[str, Any]) -> dict[Hashable, float]:
        """Return the features of one text; by hashed column where `n_features` is set."""
        self._check_parameters()
        counts: Counter[Hashable] = Counter(self._grams(self._text(x)))
        row: dict[Hashable, float]
        if self.weighting == "binary":
            row = dict.fromkeys(counts, 1.0)
        elif self.weighting == "log":
            row = {name: 1.0 + math.log(count) for name, count in counts.items()}
        else:
            row = {name: float(count) for name, count in counts.items()}
        return row if self.n_features is None else self._hashed(row)

    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Forget the vocabulary, then collect that of all texts."""
        self._check_parameters()
        self.__dict__.pop("vocabulary_", None)
        return self.partial_fit(X)

    def partial_fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Add the new names of all texts to the vocabulary, as further columns."""
        self._check_parameters()
        if self.n_features is None:
            vocabulary = dict(getattr(self, "vocabulary_", {}))
            for counts in self._counted(X):
                for name in counts:
                    vocabulary.setdefault(name, len(vocabulary))
            self.vocabulary_: dict[Hashable, int] = vocabulary
        return self

    def transform(self, X: Iterable[Any]) -> Any:
        """Return all texts as a CSR matrix; names that are not in the vocabulary are left out."""
        from scipy.sparse import csr_matrix

        self._check_fitted()
        indices: list[int] = []
        values: list[float] = []
        ends = [0]
        for counts in self._counted(X):
            for name, value in counts.items():
                column = name if self.n_features else self.vocabulary_.get(name)
                if column is not None:
                    indices.append(column)
                    values.append(value)
            ends.append(len(values))
        width = self.n_features or len(self.vocabulary_)
        matrix = csr_matrix((values, indices, ends), (len(ends) - 1, width), dtype=np.float64)
        matrix.sort_indices()
        return matrix

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names in the vocabulary, in the order of the columns."""
        if self.n_features is not None:
            return np.array([f"hash{column}" for column in range(self.n_features)], dtype=object)
        self._check_fitted()
        return np.array(list(self.vocabulary_), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return self.n_features is not None or "vocabulary_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.n_features is None
        return tags

    def _counted(self, X: Iterable[Any]) -> Iterator[Any]:
        """The features of all texts; an error says which text it is about."""
        for place, text in enumerate(_texts(X, self.on)):
            with about_row(place):
                yield self.transform_one(text)

    def _text(self, x: Any) -> str:
        text = x.get(self.on) if self.on is not None and isinstance(x, Mapping) else x
        if not isinstance(text, str):
            raise DataError(f"{text!r} is not text; say '' where there is none", field=self.on)
        return text.lower() if self.lowercase else text

    def _grams(self, text: str) -> Iterator[str]:
        if self.words is not None:
            words = WORD.findall(text)
            for length in range(self.words[0], self.words[1] + 1):
                for start in range(len(words) - length + 1):
                    yield " ".join(words[start : start + length])
        if self.chars is not None:
            text = " ".join(text.split())
            for length in range(self.chars[0], self.chars[1] + 1):
                for start in range(len(text) - length + 1):
                    yield f"chars={text[start : start + length]}"

    def _hashed(self, row: dict[Hashable, float]) -> dict[Hashable, float]:
        hashed: dict[Hashable, float] = {}
        for name, value in row.items():
            column = zlib.crc32(str(name).encode("utf-8", "surrogatepass")) % (self.n_features or 1)
            hashed[column] = hashed.get(column, 0.0) + value
        return hashed


def _texts(X: Any, on: str | None) -> Iterable[Any]:
    if isinstance(X, str):
        raise DataError("Expected many texts, got one: pass a list of texts.")
    if hasattr(X, "tocsr"):
        raise DataError("X must be a list of texts: a sparse matrix has none.")
    frame = frame_of(X)
    if frame is None:
        return listed(X)  # type: ignore[no-any-return]
    names = labels_of_columns(frame) or []
    if on is None:
        raise DataError(f"X is a frame: say by on={names[0]!r} which column has the texts.")
    if on not in names:
        raise DataError(f"no such column; it has {first_of(names)}", field=on)
    return dict_rows(frame)
