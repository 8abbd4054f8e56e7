"""What pairs and a drift that shrinks are worth to YarrowClassifier, whole sources left out.

    python -m reproduction.left_out CACHE.json

Each source of data is judged by the numbers that are best on all others, in the mean over sources
of the logarithm of mistakes. What was measured is kept in the cache. Some streams come again with
labels that were changed at random, and are judged by the true ones.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reproduction.candidates import yarrow_with
from reproduction.specs import evidence_spec as evidence
from yarrow.datasets import load
from yarrow.datasets.plain import parse_svmlight
from yarrow.datasets.text import counted
from yarrow.lazy import np

ROWS = 5_000
#: of the evidence, but for those whose rows take longest, and for twins of others
SETS = (
    "20newsgroups/ob-2-1", "20newsgroups/phases", "amazon-sentiment/vectors",
    "movie-reviews/sentences", "enron-spam", "sms-spam", "rcv1-vw-small", "w1a",
    "spam-corpus-drift", "usenet1", "usenet2", "electricity", "kddcup99", "nsl-kdd", "usps/phases",
    "a9a", "mushrooms", "splice", "german.numer", "svmguide1", "diabetes", "fourclass", "heart",
    "ionosphere", "sonar", "breast-cancer",
)  # fmt: skip
#: copies with so many percent of the labels changed
NOISY = (
    ("phishing", 10), ("phishing", 30), ("ling-spam", 10), ("ling-spam", 30), ("sms-spam", 10),
    ("letter", 10), ("a9a", 10), ("a9a", 30), ("weather", 10), ("spamassassin", 30),
    ("electricity", 10), ("mushrooms", 30),
)  # fmt: skip


def _shuffled(X: Any, y: Any) -> tuple[Any, Any]:
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], np.asarray(y)[order]


def _file(path: str) -> gzip.GzipFile:
    return gzip.open(Path(os.environ["YARROW_DATA"]) / path)


def _table(path: str, is_stream: bool = False) -> tuple[Any, Any]:
    rows = list(csv.reader(io.TextIOWrapper(_file(path))))[1:]
    X, y = np.array([row[:-1] for row in rows], dtype=np.float32), np.array([r[-1] for r in rows])
    return (X, y) if is_stream else _shuffled(X, y)


def _sparse(columns: int, *parts: str) -> tuple[Any, Any]:
    from scipy.sparse import vstack

    read = [parse_svmlight(_file(f"{part}.svm.gz").read(), columns) for part in parts]
    X = vstack([one[0] for one in read], format="csr")
    return _shuffled(X, np.concatenate([one[1] for one in read]))


def _subject_and_body(message: str) -> str:
    head, _, body = message.partition("\n\n")
    subjects = [line for line in head.split("\n") if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body])


def _texts(path: str, read: Callable[[str], str] = str) -> tuple[Any, Any]:
    """Binary words."""
    lines = io.TextIOWrapper(_file(path), encoding="utf8", newline="\n").read().split("\n")[1:-1]
    rows = [line.split("\t") for line in lines]
    X, _ = counted([read(row[-1].replace("\\n", "\n")) for row in rows])
    X.data[:] = 1
    return _shuffled(X, [row[1] for row in rows])


#: sets that the package does not know, each a source of its own but for w8a
_CLASSICS = "libsvm-classics"
NEW: dict[str, Callable[[], tuple[Any, Any]]] = {
    "letter": lambda: _table("uci-multiclass/letter.csv.gz"),
    "satimage": lambda: _table("uci-multiclass/satimage.csv.gz"),
    "shuttle": lambda: _table("uci-multiclass/shuttle.csv.gz"),
    "outdoor": lambda: _table("outdoor/outdoor.csv.gz", is_stream=True),
    "weather": lambda: _table("weather/noaa-weather.csv.gz", is_stream=True),
    "dna": lambda: _sparse(180, f"{_CLASSICS}/dna.scale", f"{_CLASSICS}/dna.scale.t"),
    "phishing": lambda: _sparse(68, f"{_CLASSICS}/phishing"),
    "svmguide3": lambda: _sparse(22, f"{_CLASSICS}/svmguide3"),
    "w8a": lambda: _sparse(300, f"{_CLASSICS}/w8a"),
    "farm-ads": lambda: _sparse(54_877, "farm-ads/farm-ads"),
    "ling-spam": lambda: _texts("ling-spam/ling-spam-bare.tsv.gz"),
    "spamassassin": lambda: _texts("spamassassin/spamassassin.tsv.gz", _subject_and_body),
}


@dataclasses.dataclass(frozen=True)
class Stream:
    """A stream, perhaps with noise: percent of labels that are changed."""

    name: str
    noise: int = 0

    @property
    def source(self) -> str:
        """What it shares its rows with."""
        name = "w1a" if self.name == "w8a" else self.name
        return evidence.source_of(name) if name in evidence.BY_NAME else name

    def rows(self, most: int) -> tuple[Any, Any, Any]:
        """Rows, labels to learn, and true ones."""
        X, y = _rows_of(self.name, most)
        random, classes = np.random.default_rng(self.noise), int(y.max()) + 1
        changed = random.random(len(y)) < self.noise / 100
        return X, np.where(changed, (y + random.integers(1, classes, len(y))) % classes, y), y


@functools.lru_cache(2)
def _rows_of(name: str, most: int) -> tuple[Any, Any]:
    if name in NEW:
        X, y = NEW[name]()
    else:
        data = load(name)
        X, y = data.X, np.asarray(data.y)
    chosen: Any = slice(most)
    if name == "kddcup99":  # its first rows are all of one class
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    return X[chosen], np.unique(y[chosen], return_inverse=True)[1]


STREAMS = tuple(Stream(name) for name in (*NEW, *SETS)) + tuple(Stream(*one) for one in NOISY)

NEVER = 1e300
#: what is compared, the first beside the others; each with its choices
STUDIES: dict[str, tuple[dict[str, float], tuple[dict[str, float], ...]]] = {
    "pairs": (
        {"weight": 0.0, "variance": 0.0, "drift_rows": NEVER},
        tuple(
            {"interactions_r": r, "weight": weight, "drift_rows": NEVER}
            for r in (0.03, 0.1, 0.3, 1.0)
            for weight in (0.25, 0.5, 1.0)
        ),
    ),
    "a drift that shrinks": (
        {"interactions_r": 0.3, "weight": 0.5, "drift_rows": NEVER},
        tuple(
            {"interactions_r": 0.3, "weight": 0.5, "drift_rows": rows}
            for rows in (NEVER, 100.0, 300.0, 1000.0)
        ),
    ),
}


def measured(stream: Stream, changed: dict[str, float], most: int = ROWS) -> tuple[float, float]:
    """Mistakes and the sum of log losses, both plus one."""
    X, y, truth = stream.rows(most)
    told = yarrow_with(**changed).progressive(X, y, classes=np.unique(y), probabilities=True)
    of_truth = np.asarray(told.probabilities)[np.arange(len(truth)), truth]
    of_truth[np.isnan(of_truth)] = 1 / (1 + truth.max())  # while no class is known
    mistakes = np.count_nonzero(told.predictions != truth)
    return 1.0 + mistakes, 1.0 - float(np.sum(np.log(np.maximum(of_truth, 1e-9))))


class Measurements:
    """All that was measured, kept in a file."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._found = json.loads(cache.read_text()) if cache.exists() else {}

    def log_ratios(self, stream: Stream, changed: dict[str, float], base: dict[str, float]) -> Any:
        """Of mistakes and of log loss."""
        return np.log(self._of(stream, changed)) - np.log(self._of(stream, base))

    def _of(self, stream: Stream, changed: dict[str, float]) -> Any:
        key = json.dumps([stream.name, stream.noise, changed], sort_keys=True)
        if key not in self._found:
            self._found[key] = measured(stream, changed)
            self._cache.write_text(json.dumps(self._found))
        return np.array(self._found[key])


def _percent(log_ratio: float) -> str:
    return f"{100 * float(np.expm1(log_ratio)):+.1f} %"


def report(name: str, found: Measurements) -> None:
    """Print what a study chose for each source without it, and what came of that."""
    base, choices = STUDIES[name]
    by_source: dict[str, list[Any]] = {}
    for stream in STREAMS:
        of_choices = [found.log_ratios(stream, one, base) for one in choices]
        by_source.setdefault(stream.source, []).append(of_choices)
    means = {source: np.mean(ratios, axis=0) for source, ratios in by_source.items()}
    print(f"\n{name}: {len(STREAMS)} streams of {len(means)} sources")
    for one, mean in zip(choices, np.mean(list(means.values()), axis=0), strict=True):
        print(f"  {one}: mistakes {_percent(mean[0])}, log loss {_percent(mean[1])}")
    outcome = []
    for source, ratios in means.items():
        others = np.mean([mean for other, mean in means.items() if other != source], axis=0)
        chosen = int(np.argmin(others[:, 0]))
        outcome.append(ratios[chosen])
        words = f"mistakes {_percent(ratios[chosen][0])}, log loss {_percent(ratios[chosen][1])}"
        print(f"  without {source}: {choices[chosen]}; on it {words}")
    mean = np.mean(outcome, axis=0)
    print(f"  each source left out: mistakes {_percent(mean[0])}, log loss {_percent(mean[1])}")


#: whole streams on which pairs are kept
WHOLE = ("letter", "phishing", "nsl-kdd", "w8a", "mushrooms", "sms-spam")


def report_whole() -> None:
    """Print errors in percent over whole streams, of nine experts and of the learner as it is."""
    nine, _ = STUDIES["pairs"]
    for name in WHOLE:
        stream = Stream(name)
        rows = len(stream.rows(20_000)[1])
        errors = [100 * (measured(stream, one, 20_000)[0] - 1) / rows for one in (nine, {})]
        print(f"{name}, {rows} rows: {errors[0]:.2f} to {errors[1]:.2f}")


if __name__ == "__main__":
    measurements = Measurements(Path(sys.argv[1]))
    for study in STUDIES:
        report(study, measurements)
    report_whole()
