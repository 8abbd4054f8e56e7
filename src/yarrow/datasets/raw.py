"""Sets that are not rows with labels: ratings, documents to find topics in, a log of windows."""

from __future__ import annotations

import csv
import dataclasses
import io
from typing import TYPE_CHECKING, Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import listed
from yarrow.datasets.source import Source
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

(_RATINGS,) = listed("movielens-100k/u.data.gz")
(_COUNTS,) = listed("associated-press/ap.ldac.gz")
(_VOCABULARY,) = listed("associated-press/vocab.txt.gz")
(_LOG,) = listed("desktop-activity/mypro-window.csv.gz")


@dataclasses.dataclass(frozen=True)
class Ratings:
    """Who rated what, how and when: arrays of one length, in the order of time."""

    users: NDArray[Any]
    items: NDArray[Any]
    ratings: NDArray[Any]
    """1 to 5."""
    times: NDArray[Any]
    """Seconds since 1970."""

    def __len__(self) -> int:
        return len(self.users)


def load_ratings() -> Ratings:
    """Return MovieLens 100K: 943 users, 1,682 movies, both numbered from 1 (Harper, Konstan 2015).

    Ratings of the same second stay in the order of the file.
    """
    table = np.loadtxt(io.BytesIO(_RATINGS.read()), dtype=np.int64, delimiter="\t")
    return Ratings(*table[np.argsort(table[:, 3], kind="stable")].T)


@dataclasses.dataclass(frozen=True)
class Documents:
    """How often each word occurs in each document."""

    counts: Any
    """A CSR array, one row a document, one column a word."""
    words: list[str]

    def __len__(self) -> int:
        return int(self.counts.shape[0])


def load_documents() -> Documents:
    """Return articles of the Associated Press (Harman 1992), as distributed with lda-c."""
    from scipy.sparse import csr_array

    words = _VOCABULARY.read().decode("utf-8").split()
    lines = _COUNTS.read().decode("ascii").replace(":", " ").splitlines()
    rows = [np.array(line.split()[1:], dtype=np.int32).reshape(-1, 2) for line in lines]
    begins = np.cumsum([0, *map(len, rows)])
    pairs = np.concatenate(rows)
    counts = csr_array((pairs[:, 1], pairs[:, 0], begins), (len(rows), len(words)))
    return Documents(counts, words)


def load_activity() -> list[dict[str, str]]:
    """Return a small log of windows in time: timestamp, session, process, window_title, task_label.

    One person's, too small and too personal for a claim about anything.
    """
    text = _LOG.read().decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


class MovieLens(Source, named="movielens-100k"):
    def _read(self) -> Dataset:
        from scipy.sparse import csr_array

        table = load_ratings()
        columns = np.stack([table.users - 1, table.items + 942], axis=1).ravel().astype(np.int32)
        begins = 2 * np.arange(len(table) + 1)
        X = csr_array(
            (np.ones(len(columns), np.float32), columns, begins), (len(table), 943 + 1682)
        )
        names = [f"user={user}" for user in range(1, 944)]
        names += [f"movie={movie}" for movie in range(1, 1683)]
        y = table.ratings.astype(np.float64)
        return self._dataset(X, y, task="regression", feature_names=names)
