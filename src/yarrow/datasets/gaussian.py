"""The rotated Gaussian of Crammer, Kulesza and Dredze (2013), section 5.2."""

from __future__ import annotations

import dataclasses

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.source import Size, Source, options
from yarrow.lazy import np
from yarrow.parameters import choice, integer, number


@options
class Gaussian(Source):
    """Points in 20 dimensions, two of which tell the class, as a line along their cloud.

    The first two coordinates are a Gaussian turned by 45 degrees, with a long and a short axis;
    the others are independent noise. The separator runs along the long axis, so most points lie
    near it (the left half of Figure 4); with `separator=across` it runs across, and most points lie
    far from it (the right half). The paper gives one standard deviation, 1, and draws an ellipse:
    here the short axis has that one, and the long axis is `elongation` times as long. "N(0, 2)" is
    read as a variance of 2. `test` has rows without label noise.
    """

    name = "synthetic/gaussian"
    origin = "generated after Crammer, Kulesza, Dredze (Machine Learning 91, 2013), section 5.2"
    order = "random: rows are drawn one by one"
    size = Size(5000, 20, 2)

    rows: int = integer(default=5000, doc="How many rows.", at_least=1)
    test_rows: int = integer(default=10_000, doc="How many rows of the test part.", at_least=1)
    deviation: float = number(default=1.0, doc="Standard deviation along the short axis.", above=0)
    elongation: float = number(default=10.0, doc="Length of the ellipse by its width.", at_least=1)
    separator: str = choice(
        default="along",
        options=("along", "across"),
        doc="Whether the line that tells the classes runs along the long axis or across it.",
    )
    variance: float = number(default=2.0, doc="Of each of the other coordinates.", at_least=0)

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
