"""What the topic models share: documents as counts of words, and topics over them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from yarrow.decomposition.base import Blockwise, Floats
from yarrow.decomposition.saved_state import numbers
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.parameters import integer, number
from yarrow.saving import schema

_COLUMNS_A_DRAW = 1024
_LEAST = 1e-150  # of a weight: one over it is a number still, and so is its square


def learning_decay() -> Any:
    """How a topic model's steps shrink."""
    return number(default=0.7, doc="How fast later blocks count less.", above=0.5, at_most=1)


def total_rows() -> Any:
    """How many documents a block stands for."""
    doc = "Documents of the whole stream; None: those so far."
    return integer(default=None, doc=doc, at_least=1)


class TopicModel(Blockwise):
    """Base of the topic models: a weight for each word (a row) in each topic (a column).

    Words may appear at any time: until then they have the weights that chance gave them.
    """

    n_components: int
    eta: float | None
    learning_offset: float
    learning_decay: float
    total_rows: int | None
    seed: int

    _takes_new_columns: ClassVar[bool] = True
    _takes_negative: ClassVar[bool] = False
    sklearn_tags: ClassVar[dict[str, Any]] = {"input_tags.positive_only": True}

    _weights: Floats  # lambda of the papers, transposed: the words of a block are rows of it

    @property
    def components_(self) -> Floats:
        """The weight of each word (column) in each topic (row)."""
        return self._now()._weights.T

    def top_words(self, n_words: int = 10) -> list[list[Any]]:
        """The names of the heaviest words of each topic, the heaviest first."""
        now = self._now()
        names = list(now._columns)
        order = np.argsort(-now._weights.T, axis=1, kind="stable")[:, :n_words]
        return [[names[j] for j in topic] for topic in order.tolist()]

    def _widen(self, n_features: int) -> None:
        first, n_topics = self._weights.shape
        more = first_weights(self.seed, first, n_features, n_topics)
        self._weights = np.vstack([self._weights, more])
        self._seen: list[Self] = []

    def _expected(self) -> dict[str, schema.Schema]:
        shape = ("features", self.n_components)
        return super()._expected() | {"_weights": numbers(shape, at_least=_LEAST)}

    def _learn_block(self, rows: Any) -> None:
        counts, words = words_of(rows)
        blocks = self._n_blocks - 1  # before this one
        rate = (self.learning_offset + blocks + 1) ** -self.learning_decay
        total = self.total_rows or self._n_rows
        found = self._found(counts, words, rate, rate * (total / rows.shape[0]))
        of_words = prior(1 / self.n_components if self.eta is None else self.eta)
        weights = (1 - rate) * self._weights + rate * of_words
        weights[words] += found
        self._weights = weights

    @abstractmethod
    def _found(self, counts: Any, words: Any, rate: float, scale: float) -> Floats:
        """The weight that a block gives to each of its words (a row) in each topic.

        What is known so far counts 1 - `rate`, and `scale` times what a document says is added.
        """

    def _word_logs(self, words: Any) -> Floats:
        """The expected logarithms of the words' chances in each topic."""
        return expected_logs(self._weights[words], self._weights.sum(axis=0))

    @property
    def _n_codes(self) -> int:
        return self.n_components

    def _checked_words(self, X: Any) -> Any:
        rows = self._now()._read(X)[0]
        if not rows.sum() > 0:
            raise DataError("These documents have no word, so they have no perplexity.")
        return rows


def first_weights(seed: int, start: int, stop: int, n_topics: int) -> Floats:
    """Weights near 1 for words start ... stop, the same whenever the words appear."""
    parts = []
    for draw in range(start // _COLUMNS_A_DRAW, -(-stop // _COLUMNS_A_DRAW)):
        rng = np.random.default_rng([seed, 0, draw])
        first = draw * _COLUMNS_A_DRAW
        drawn = rng.gamma(100.0, 0.01, (_COLUMNS_A_DRAW, n_topics))
        parts.append(drawn[max(start - first, 0) : stop - first])
    return np.concatenate(parts) if parts else np.zeros((0, n_topics))


def prior(weight: float) -> float:
    """A prior as it is used: priors smaller than any weight are all the same."""
    return max(float(weight), _LEAST)


def words_of(rows: Any) -> tuple[Any, Any]:
    """Return documents as CSR over the words that they hold, and which words these are."""
    from scipy.sparse import csr_array

    counts = csr_array(rows)
    if not counts.data.all():
        counts = counts.copy()  # the rows are the user's
        counts.eliminate_zeros()
    words, places = np.unique(counts.indices, return_inverse=True)
    shape = (counts.shape[0], len(words))
    return csr_array((counts.data, places.astype(np.int32), counts.indptr), shape), words


def expected_logs(weights: Floats, totals: Floats) -> Floats:
    """Return the expected logarithms of what is Dirichlet distributed, given also all totals."""
    from scipy.special import psi

    logs: Floats = psi(weights) - psi(totals)
    return logs


def likelihoods(counts: Any, chances: Floats, likely: Floats) -> Floats:
    """Return the likelihood of each word of each document."""
    documents = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    found: Floats = np.einsum("nk,nk->n", chances[documents], likely[counts.indices])
    return found
