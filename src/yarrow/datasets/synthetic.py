"""Generated streams: a rotated Gaussian, and words by Zipf's law, with noise and drift."""

from __future__ import annotations

import dataclasses

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.source import Source, options
from yarrow.errors import check_value
from yarrow.lazy import np
from yarrow.parameters import choice, integer, number


def noisy_text(
    rows: int = 10_000,
    *,
    features: int = 5_000,
    words: int = 40,
    noise: float = 0.1,
    seed: int = 0,
) -> Dataset:
    """Documents of about `words` Zipfian words, two classes, a share `noise` of labels flipped.

    >>> stream = noisy_text(1_000, noise=0.2)
    >>> stream.X.shape, round(float((stream.y != stream.clean).mean()), 1)
    ((1000, 5000), 0.2)
    """
    return drifting_text(rows, phases=1, features=features, words=words, noise=noise, seed=seed)


def drifting_text(
    rows: int = 10_000,
    *,
    phases: int = 4,
    features: int = 5_000,
    words: int = 40,
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """The same in phases: in each, other words tell the class.

    >>> stream = drifting_text(1_000, phases=2)
    >>> sorted(set(stream.y.tolist()))
    [-1, 1]
    """
    from scipy.sparse import csr_array

    for name, value, low in (("rows", rows, 1), ("phases", phases, 1), ("words", words, 1)):
        check_value(value >= low, name, value, f">= {low}")
    check_value(0 <= noise <= 1, "noise", noise, "in [0, 1]")
    random = np.random.default_rng(seed)
    phase = np.arange(rows) * phases // rows
    clean = random.choice((-1, 1), rows)
    lengths = random.poisson(words, rows) + 1
    row_of = np.repeat(np.arange(rows), lengths)
    drawn = np.empty(len(row_of), dtype=np.int64)
    frequency = 1.0 / np.arange(1, features + 1)
    for p in range(phases):
        # One word in five is likelier in one class than in the other.
        taste = 2 * random.normal(size=features) * (random.random(features) < 0.2)
        for label in (-1, 1):
            chosen = ((phase == p) & (clean == label))[row_of]
            likely = frequency * np.exp(0.5 * label * taste)
            drawn[chosen] = random.choice(features, chosen.sum(), p=likely / likely.sum())
    places = np.unique(row_of * features + drawn)  # each word once a document, in order
    row_of, column = places // features, places % features
    sizes = np.bincount(row_of, minlength=rows)
    values = np.repeat(1.0 / np.sqrt(sizes), sizes).astype(np.float32)
    begins = np.concatenate(([0], np.cumsum(sizes)))
    X = csr_array((values, column.astype(np.int32), begins.astype(np.int32)), (rows, features))
    flipped = random.random(rows) < noise
    return Dataset(
        Text.name,
        X,
        np.where(flipped, -clean, clean),
        "binary",
        order=Text.order if phases == 1 else f"{phases} phases, in each of which other words tell",
        source=Text.origin,
        clean=clean,
    )


@options
class Text(Source, named="synthetic/text"):
    rows: int = integer(default=10_000, doc="How many documents.", at_least=1)
    features: int = integer(default=5000, doc="Number of words.", at_least=1)
    words: int = integer(default=40, doc="Words in a document, on average.", at_least=1)
    phases: int = integer(
        default=1, doc="Phases, each with other words that tell the class.", at_least=1
    )

    def _read(self) -> Dataset:
        return drifting_text(
            self.rows,
            phases=self.phases,
            features=self.features,
            words=self.words,
            noise=self.noise,
            seed=self.seed,
        )


@options
class Gaussian(Source, named="synthetic/gaussian"):
    rows: int = integer(default=5000, doc="How many rows.", at_least=1)
    test_rows: int = integer(default=10_000, doc="Rows of the test part.", at_least=1)
    deviation: float = number(default=1.0, doc="Standard deviation along the short axis.", above=0)
    elongation: float = number(default=10.0, doc="Length of the ellipse by its width.", at_least=1)
    separator: str = choice(
        default="along",
        options=("along", "across"),
        doc="Whether the line that tells the classes runs along the long axis or across it.",
    )
    variance: float = number(
        default=2.0, doc="Standard deviation of each other coordinate.", at_least=0
    )

    def _read(self) -> Dataset:
        return dataclasses.replace(self._drawn(self.rows, 2), test=self._drawn(self.test_rows, 3))

    def _drawn(self, rows: int, stream: int) -> Dataset:
        from scipy.sparse import csr_array

        random = np.random.default_rng((self.seed, stream))
        along, across = random.normal(size=(2, rows)) * self.deviation
        along *= self.elongation
        X = random.normal(scale=np.sqrt(self.variance), size=(rows, 20))
        X[:, 0] = (along - across) / np.sqrt(2)
        X[:, 1] = (along + across) / np.sqrt(2)
        tells = across if self.separator == "along" else along
        return self._dataset(csr_array(X), np.where(tells > 0, 1, -1), task="binary")
