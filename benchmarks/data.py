"""The rows the benchmarks run on: a generated RCV1-like set, and real sets from ``YARROW_DATA``.

Generated files are kept in ``YARROW_BENCH_DATA`` (``build/bench-data`` if unset).
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

CHUNK = 50_000  # rows; chunk k depends on (seed, k) alone, so a long set begins with a shorter one
DECIMALS = 5  # of a value, "0.06271", so that text and memory hold the same numbers
LEVELS = 10**DECIMALS


class Chunk(NamedTuple):
    """Rows before they become a matrix or text. A value is ``level / LEVELS``."""

    start: np.ndarray
    feature: np.ndarray
    level: np.ndarray
    label: np.ndarray


@dataclass(frozen=True)
class RCV1Like:
    """Two-class text-like rows: Zipfian words, tf-idf values, unit rows, about half positive.

    Each class draws its words from its own law: the common one, tilted for a tenth of the words.
    So the log odds of the classes are linear and sparse in the word counts; some labels are then
    turned. Word frequencies (rank + 50)^-1.2, the spread of row lengths and the difficulty were
    fitted to the 1,000 rows of RCV1 that Vowpal Wabbit carries in its tests.
    """

    features: int = 47_236
    tokens: float = 70.3  # words drawn per row, of which about 67 differ
    tilt: float = 1.0
    noise: float = 0.02
    seed: int = 7

    @cached_property
    def _words(self) -> tuple[np.ndarray, np.ndarray]:
        """A table per class that turns a uniform number into a word, and each word's idf."""
        rng = np.random.default_rng([self.seed])
        common = rng.permutation((np.arange(self.features) + 51.0) ** -1.2)
        tilt = self.tilt * rng.normal(size=self.features) * (rng.random(self.features) < 0.1)
        law = common * np.exp([-tilt, tilt])
        law /= law.sum(axis=1, keepdims=True)
        slots = np.arange(1 << 22) / (1 << 22)
        tables = np.array([np.searchsorted(p.cumsum(), slots, side="right") for p in law], np.int32)
        idf = -np.log(1 - np.exp(-self.tokens * law.mean(axis=0)))
        return np.minimum(tables, self.features - 1), idf

    def _chunk(self, k: int) -> Chunk:
        tables, idf = self._words
        rng = np.random.default_rng([self.seed, k])
        length = 1 + rng.poisson(rng.gamma(2.0, (self.tokens - 1) / 2, CHUNK))
        positive = rng.integers(0, 2, CHUNK)
        row = np.repeat(np.arange(CHUNK), length)
        word = tables[positive[row], rng.integers(0, tables.shape[1], len(row), dtype=np.uint32)]
        cell, count = np.unique(row * self.features + word, return_counts=True)
        row, index = np.divmod(cell, self.features)
        start = np.searchsorted(row, np.arange(CHUNK + 1))
        value = (1 + np.log(count)) * idf[index]
        value /= np.sqrt(np.add.reduceat(value * value, start[:-1]))[row]
        level = np.maximum(np.rint(value * LEVELS), 1).astype(np.int32)
        label = np.where(positive ^ (rng.random(CHUNK) < self.noise), 1, -1)
        return Chunk(start, index.astype(np.int32), level, label)

    def chunks(self, rows: int) -> Iterator[Chunk]:
        for first in range(0, rows, CHUNK):
            chunk = self._chunk(first // CHUNK)
            keep = min(CHUNK, rows - first)
            end = chunk.start[keep]
            start, index, level, label = chunk
            yield Chunk(start[: keep + 1], index[:end], level[:end], label[:keep])

    def matrix(self, rows: int) -> tuple[Any, np.ndarray]:
        """CSR with int32 indices and float32 values, and int64 labels -1 and +1."""
        chunks = list(self.chunks(rows))
        size = np.concatenate([np.diff(c.start) for c in chunks])
        start = np.concatenate([[0], size.cumsum()]).astype(np.int32)
        value = (np.concatenate([c.level for c in chunks]) / LEVELS).astype(np.float32)
        index = np.concatenate([c.feature for c in chunks])
        label = np.concatenate([c.label for c in chunks])
        return sparse.csr_array((value, index, start), shape=(rows, self.features)), label

    def text(self, rows: int, kind: str = "svm") -> Path:
        """The same rows as a file: ``svm`` (svmlight, indices from 1) or ``vw``. Made once."""
        path = folder() / f"rcv1-like-{'-'.join(map(str, astuple(self)))}-{rows}.{kind}"
        if not path.exists():
            unfinished = path.with_suffix(".part")
            with unfinished.open("wb") as file:
                for chunk in self.chunks(rows):
                    file.write(self._as_text(chunk, bar=b"| " if kind == "vw" else b""))
            unfinished.rename(path)
        return path

    def _as_text(self, chunk: Chunk, bar: bytes) -> bytes:
        """Fixed-width cells padded with NUL, which are then deleted: no loop over values."""
        names, values = self._texts
        fields = [("label", "S5"), ("name", names.dtype), ("value", values.dtype), ("end", "S1")]
        cell = np.zeros(len(chunk.feature), dtype=fields)
        cell["label"][chunk.start[:-1]] = np.where(chunk.label > 0, b"1 " + bar, b"-1 " + bar)
        cell["name"] = names[chunk.feature]
        cell["value"] = values[chunk.level]
        cell["end"] = b" "
        cell["end"][chunk.start[1:] - 1] = b"\n"
        return cell.tobytes().translate(None, b"\0")

    @cached_property
    def _texts(self) -> tuple[np.ndarray, np.ndarray]:
        names = [f"{j}:" for j in range(1, self.features + 1)]
        values = [f"{level / LEVELS:.{DECIMALS}f}".rstrip("0") for level in range(LEVELS)]
        return np.array(names, "S"), np.array([*values, "1"], "S")


def dicts(X: Any) -> list[dict[str, float]]:
    """The rows as dicts with string names, each with strings of its own, as from a tokeniser."""
    values = X.data.astype(np.float64).round(DECIMALS).tolist()
    names = [f"w{j}" for j in X.indices.tolist()]
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [dict(zip(names[a:b], values[a:b], strict=True)) for a, b in bounds]


def folder() -> Path:
    path = Path(os.environ.get("YARROW_BENCH_DATA", "build/bench-data"))
    path.mkdir(parents=True, exist_ok=True)
    return path


def real(name: str) -> Path:
    """A file of the real data, such as ``libsvm-classics/a9a.svm.gz``."""
    root = os.environ.get("YARROW_DATA")
    if not root:
        raise SystemExit("Set YARROW_DATA to the folder of real data sets.")
    return Path(root) / name


def two_class(name: str) -> tuple[Any, np.ndarray]:
    """A real svmlight set, labels -1 and +1: ``libsvm-classics/a9a``, ..."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(real(name + ".svm.gz")), dtype=np.float32)
    return _canonical(X), np.where(y > 0, 1, -1)


def newsgroups() -> tuple[Any, np.ndarray]:
    """20 Newsgroups, all 18,846 messages: which words occur, unit rows, shuffled (seed 0)."""
    from sklearn.preprocessing import normalize

    cache = folder() / "20newsgroups.npz"
    labels = folder() / "20newsgroups.npy"
    if not labels.exists():
        number: dict[str, int] = {}
        index, start, label = [], [0], []
        with gzip.open(real("20newsgroups/20news-bydate.tsv.gz"), "rt", encoding="utf-8") as file:
            next(file)
            for line in file:
                _, group, _, text = line.rstrip("\n").split("\t")
                text = re.sub(r"\\[nt]", " ", text).lower()
                words = dict.fromkeys(re.findall(r"\b\w\w+\b", text))
                index += sorted(number.setdefault(word, len(number)) for word in words)
                start.append(len(index))
                label.append(group)
        X = sparse.csr_array((np.ones(len(index), np.float32), index, start))
        order = np.random.default_rng(0).permutation(len(label))
        sparse.save_npz(cache, normalize(X)[order], compressed=False)
        np.save(labels, np.unique(label, return_inverse=True)[1][order])
    return _canonical(sparse.load_npz(cache)), np.load(labels)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The small digits that come with scikit-learn, 1,797 of them, five times over."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return np.tile(X.astype(np.float32), (5, 1)), np.tile(y, 5)


def of_yarrow(name: str) -> tuple[Any, np.ndarray]:
    """A set by its name in `yarrow datasets`, in its stated order."""
    from yarrow.datasets import load

    found = load(name)
    return found.X, np.asarray(found.y)


def _canonical(X: Any) -> Any:
    """The form every contender takes without a copy: CSR, int32 indices."""
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X
