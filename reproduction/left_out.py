"""What parts of YarrowClassifier are worth, whole sources left out: pairs, drift, sizes of steps.

    python -m reproduction.left_out CACHE.json [STUDY ...]

Each source of data is judged by the numbers that are best on all others, in the mean over sources
of the logarithm of mistakes. What was measured is kept in the cache. Some streams come again with
labels that were changed at random, and are judged by the true ones.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
from pathlib import Path
from typing import Any

from reproduction import second_round
from reproduction.candidates import yarrow_with
from reproduction.specs import evidence_spec as evidence
from yarrow.datasets import load
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
    data = second_round.load(name) if name in second_round.NAMES else load(name)
    X, y = data.X, np.asarray(data.y)
    chosen: Any = slice(most)
    if name == "kddcup99":  # its first rows are all of one class
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    return X[chosen], np.unique(y[chosen], return_inverse=True)[1]


_CLEAN = tuple(Stream(name) for name in (*second_round.NAMES, *SETS))
_NOISY = tuple(Stream(*one) for one in NOISY)
STREAMS = _CLEAN + _NOISY

NEVER = 1e300
#: the steps with which pairs and drift were chosen
FIRST_STEPS = {
    "slow_r": 1.0, "quick_r": 1.0, "quick_memory": 0.7, "covariance_r": 0.1, "spline_r": 0.1,
    "mixture_r": 1.0,
}  # fmt: skip
#: what is compared, the first beside the others; each with its choices
STUDIES: dict[str, tuple[dict[str, float], tuple[dict[str, float], ...]]] = {
    "pairs": (
        {"weight": 0.0, "variance": 0.0, "drift_rows": NEVER, **FIRST_STEPS},
        tuple(
            {"interactions_r": r, "weight": weight, "drift_rows": NEVER, **FIRST_STEPS}
            for r in (0.03, 0.1, 0.3, 1.0)
            for weight in (0.25, 0.5, 1.0)
        ),
    ),
    "a drift that shrinks": (
        {"interactions_r": 0.3, "weight": 0.5, "drift_rows": NEVER, **FIRST_STEPS},
        tuple(
            {"interactions_r": 0.3, "weight": 0.5, "drift_rows": rows, **FIRST_STEPS}
            for rows in (NEVER, 100.0, 300.0, 1000.0)
        ),
    ),
    "steps of experts": (
        FIRST_STEPS,
        tuple(
            {
                "slow_r": slow,
                "quick_r": quick_r,
                "quick_memory": quick_memory,
                "covariance_r": r,
                "spline_r": spline_r,
                "mixture_r": mixture_r,
            }
            for slow in (1.0, 3.0)
            for quick_r, quick_memory in ((1.0, 0.7), (0.5, 0.5), (0.5, 0.3))
            for r in (0.1, 0.3)
            for spline_r in (0.05, 0.1)
            for mixture_r in (1.0, 1.5, 2.0)
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
    by_source: dict[str, dict[Stream, Any]] = {}
    for stream in STREAMS:
        of_choices = [found.log_ratios(stream, one, base) for one in choices]
        by_source.setdefault(stream.source, {})[stream] = of_choices
    means = {source: np.mean([*of.values()], axis=0) for source, of in by_source.items()}
    print(f"\n{name}: {len(STREAMS)} streams of {len(means)} sources")
    for one, mean in zip(choices, np.mean(list(means.values()), axis=0), strict=True):
        print(f"  {one}: mistakes {_percent(mean[0])}, log loss {_percent(mean[1])}")
    outcome: list[Any] = []
    chosen_of: dict[Stream, Any] = {}
    for source, ratios in means.items():
        others = np.mean([mean for other, mean in means.items() if other != source], axis=0)
        chosen = int(np.argmin(others[:, 0]))
        outcome.append(ratios[chosen])
        chosen_of |= {stream: of[chosen] for stream, of in by_source[source].items()}
        words = f"mistakes {_percent(ratios[chosen][0])}, log loss {_percent(ratios[chosen][1])}"
        print(f"  without {source}: {choices[chosen]}; on it {words}")
    mean = np.mean(outcome, axis=0)
    print(f"  each source left out: mistakes {_percent(mean[0])}, log loss {_percent(mean[1])}")
    for words, streams in (("true", _CLEAN), ("changed", _NOISY)):
        mean = np.mean([chosen_of[stream] for stream in streams], axis=0)
        print(f"  streams of {words} labels: {_percent(mean[0])}, log loss {_percent(mean[1])}")


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
    for study in sys.argv[2:] or STUDIES:
        report(study, measurements)
    if not sys.argv[2:]:
        report_whole()
