"""Texts as rows: words, or words and pairs of words, counted or only noted."""

from __future__ import annotations

import functools
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from yarrow.datasets.files import File, kept
from yarrow.errors import needing
from yarrow.io.columns import WORD
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Features = Literal["binary", "counts", "bigrams"]
FEATURES = ("binary", "counts", "bigrams")


def stems(words: Iterable[str]) -> list[str]:
    """Leave out scikit-learn's stop words and single letters, and cut the others to Porter's stems.

    >>> stems("the riders rode their bikes and a t".split())
    ['rider', 'rode', 'bike']
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    with needing("snowballstemmer", "Cutting words to stems", "data"):
        import snowballstemmer
    stemmer = _stemmer(snowballstemmer)
    kept = [word for word in words if len(word) > 1 and word not in ENGLISH_STOP_WORDS]
    found: list[str] = stemmer.stemWords(kept)
    return found


@functools.cache
def _stemmer(package: Any) -> Any:
    """One for all texts: it remembers the words that it has seen."""
    return package.stemmer("porter")


def counted(
    texts: Iterable[str], *, bigrams: bool = False, stem: bool = False
) -> tuple[Any, list[str]]:
    """Count the lowercased words of each text, and with `bigrams` pairs of neighbours too.

    With `stem`, stop words are left out and the others cut to their stems. Columns are numbered as
    they appear.

    >>> X, names = counted(["to be or not to be", "not to be"], bigrams=True)
    >>> names
    ['to', 'be', 'or', 'not', 'to be', 'be or', 'or not', 'not to']
    >>> X.toarray().astype(int).tolist()
    [[2, 2, 1, 1, 2, 1, 1, 1], [1, 1, 0, 1, 1, 0, 0, 1]]
    """
    from scipy.sparse import csr_array

    columns: dict[str, int] = {}
    indices, ends = array("i"), [0]
    for text in texts:
        words = WORD.findall(text.lower())
        words = stems(words) if stem else words
        indices.extend([columns.setdefault(word, len(columns)) for word in words])
        if bigrams:
            pairs = map(" ".join, itertools.pairwise(words))
            indices.extend([columns.setdefault(pair, len(columns)) for pair in pairs])
        ends.append(len(indices))
    places = np.frombuffer(indices, dtype=np.int32) if indices else np.zeros(0, np.int32)
    X = csr_array(
        (np.ones(len(places), np.float32), places.copy(), np.array(ends)),
        (len(ends) - 1, len(columns)),
    )
    X.sum_duplicates()
    return X, list(columns)


class CountedTexts:
    """Documents with their words counted, and what else is known of each of them."""

    def __init__(self, counts: Any, names: list[str], fields: dict[str, NDArray[Any]]) -> None:
        self.counts, self.names, self.fields = counts, names, fields

    def __getitem__(self, field: str) -> NDArray[Any]:
        return self.fields[field]


def read_texts(
    file: File,
    documents: Iterator[dict[str, str]],
    *,
    fields: Sequence[str],
    bigrams: bool,
    stem: bool = False,
    variant: str = "",
) -> CountedTexts:
    """Count the words of `documents`, which have a field 'text'; keep `fields` as they are.

    The result is kept for the next time. It must follow from the bytes of `file` and from
    `variant` alone.
    """
    from scipy.sparse import csr_array

    def make() -> dict[str, Any]:
        columns: dict[str, list[str]] = {field: [] for field in fields}

        def texts() -> Iterator[str]:
            for document in documents:
                for name, column in columns.items():
                    column.append(document[name])
                yield document["text"]

        X, names = counted(texts(), bigrams=bigrams, stem=stem)
        words = np.frombuffer("\n".join(names).encode(), dtype=np.uint8)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "words": words}
        return parts | {f"field {name}": np.array(column) for name, column in columns.items()}

    key = {"sha256": file.sha256, "bigrams": bigrams, "variant": variant, "fields": [*fields]}
    if stem:
        key["stem"] = True
    arrays = kept(key, make)
    names = arrays["words"].tobytes().decode().split("\n")
    X = csr_array(
        (arrays["data"], arrays["indices"], arrays["indptr"]),
        (len(arrays["indptr"]) - 1, len(names)),
    )
    return CountedTexts(X, names, {name: arrays[f"field {name}"] for name in fields})


def tsv_documents(read: Callable[[], bytes]) -> Iterator[dict[str, str]]:
    r"""Yield the rows of a table of texts, where \\, \t and \n stand for what they say.

    >>> list(tsv_documents(lambda: b"label\ttext\nham\tone\\ntwo\n"))
    [{'label': 'ham', 'text': 'one\ntwo'}]
    """
    head, *lines = read().decode("utf-8").split("\n")
    names = head.split("\t")
    for line in lines:
        if line:
            yield dict(zip(names, map(_unescaped, line.split("\t")), strict=True))


def _unescaped(cell: str) -> str:
    if "\\" not in cell:
        return cell
    parts = cell.split("\\\\")  # at backslashes that stand for themselves
    return "\\".join(part.replace("\\n", "\n").replace("\\t", "\t") for part in parts)


def finished(counts: Any, features: Features, unit: bool) -> Any:
    """Counts as they are, or 1 for each; each row scaled to length one if `unit`."""
    X = counts.copy()
    if features == "binary":
        X.data[:] = 1
    if unit:
        X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X.astype(np.float32, copy=False)


def used_columns(X: Any, names: list[str], at_least: int = 1) -> tuple[Any, list[str]]:
    """Leave out columns that occur in fewer than `at_least` rows."""
    places = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= at_least)
    if len(places) == X.shape[1]:
        return X, names
    return X[:, places], [names[place] for place in places]
