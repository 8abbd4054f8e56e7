"""Sets of classes that the package does not know: the second round of the public data."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from yarrow.datasets.dataset import Dataset, shuffled, task_of
from yarrow.datasets.plain import parse_svmlight
from yarrow.datasets.text import counted
from yarrow.lazy import np


def _file(path: str) -> gzip.GzipFile:
    return gzip.open(Path(os.environ["YARROW_DATA"]) / path)


def _lines(path: str) -> list[str]:
    """All but the header."""
    return io.TextIOWrapper(_file(path), encoding="utf8", newline="\n").read().split("\n")[1:-1]


def _table(path: str) -> tuple[Any, Any]:
    from scipy.sparse import csr_array

    rows = list(csv.reader(io.TextIOWrapper(_file(path))))[1:]
    X = csr_array(np.array([row[:-1] for row in rows], dtype=np.float32))
    return X, np.array([row[-1] for row in rows])


def _sparse(columns: int, *parts: str) -> tuple[Any, Any]:
    from scipy.sparse import vstack

    read = [parse_svmlight(_file(f"{part}.svm.gz").read(), columns) for part in parts]
    return vstack([X for X, _ in read], format="csr"), np.concatenate([y for _, y in read])


def _subject_and_body(message: str) -> str:
    head, _, body = message.partition("\n\n")
    subjects = [line for line in head.split("\n") if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body])


def _texts(path: str, read: Callable[[str], str] = str) -> tuple[Any, Any]:
    """Binary words."""
    rows = [line.split("\t") for line in _lines(path)]
    X, _ = counted([read(row[-1].replace("\\n", "\n")) for row in rows])
    X.data[:] = 1
    return X, np.array([row[1] for row in rows])


def _mail() -> tuple[Any, Any]:
    """Binary words; the kind of a message that most annotators named, the first of several."""
    texts, kinds = [], []
    for line in _lines("enron-categories/enron-categories.tsv.gz"):
        _, _, categories, text = line.split("\t")
        votes = dict(one.split(":") for one in categories.split(";") if one.startswith("1."))
        if votes:
            texts.append(_subject_and_body(text.replace("\\n", "\n")))
            kinds.append(max(sorted(votes), key=lambda kind: int(votes[kind])))
    X, _ = counted(texts)
    X.data[:] = 1
    return X, np.array(kinds)


_CLASSICS = "libsvm-classics"
_READERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "letter": lambda: _table("uci-multiclass/letter.csv.gz"),
    "satimage": lambda: _table("uci-multiclass/satimage.csv.gz"),
    "shuttle": lambda: _table("uci-multiclass/shuttle.csv.gz"),
    "outdoor": lambda: _table("outdoor/outdoor.csv.gz"),
    "weather": lambda: _table("weather/noaa-weather.csv.gz"),
    "dna": lambda: _sparse(180, f"{_CLASSICS}/dna.scale", f"{_CLASSICS}/dna.scale.t"),
    "phishing": lambda: _sparse(68, f"{_CLASSICS}/phishing"),
    "svmguide3": lambda: _sparse(22, f"{_CLASSICS}/svmguide3"),
    "w8a": lambda: _sparse(300, f"{_CLASSICS}/w8a"),
    "farm-ads": lambda: _sparse(54_877, "farm-ads/farm-ads"),
    "ling-spam": lambda: _texts("ling-spam/ling-spam-bare.tsv.gz"),
    "spamassassin": lambda: _texts("spamassassin/spamassassin.tsv.gz", _subject_and_body),
    "enron-categories": _mail,
}
NAMES = tuple(_READERS)
_STREAMS = ("outdoor", "weather")  # rows in time order; all others are shuffled


def load(name: str) -> Dataset:
    """Return the rows of a set."""
    X, y = _READERS[name]()
    order = "as in the file, by time"
    made = Dataset(name, X, y, task_of(y), order, f"the second round of public data, {name}")
    return made if name in _STREAMS else shuffled(made, 0, "the file is sorted")
