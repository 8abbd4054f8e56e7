"""Online latent Dirichlet allocation (Hoffman, Blei and Bach, 2010)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from yarrow.decomposition.base import Floats
from yarrow.decomposition.topics import (
    TopicModel,
    expected_logs,
    first_weights,
    learning_decay,
    likelihoods,
    prior,
    total_rows,
    words_of,
)
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import integer, number

_UNLIKELY = -300  # the logarithm of a chance that a count may be divided by
_IN_CACHE = 1 << 17  # numbers of a group of documents: few enough to stay near the processor


@estimator
class OnlineLDA(TopicModel):
    """Find topics in a stream of documents, given as counts of words.

    Use it where the number of topics is a choice of yours; `OnlineHDP` finds out how many the
    documents need, and is slower. For rows that are not counts use `OnlineSVD`, which for text
    (`OnlineIDF` before it) is latent semantic analysis: faster, but its directions are no topics.

    For each block of documents their topics are found with the words' weights held fixed, then the
    weights move towards what would be best if the whole stream were like this block, by
    (learning_offset + t) to the power of -learning_decay in block t (Hoffman et al. 2010,
    Algorithm 2). `transform` gives each document's shares of topics.

    The result is the same by any chunking: see `block_size`. Memory grows with the vocabulary only.

    Examples
    --------
    >>> lda = OnlineLDA(n_components=2, block_size=4, seed=1)
    >>> for _ in range(20):
    ...     lda.learn_one({"goal": 3, "ball": 2})
    ...     lda.learn_one({"vote": 2, "law": 3})
    >>> sorted(sorted(words) for words in lda.top_words(2))
    [['ball', 'goal'], ['law', 'vote']]
    """

    n_components: int = integer(default=10, doc="Topics.", at_least=1)
    alpha: float | None = number(
        default=None, doc="Prior of a topic in a document; None: 1 / n_components.", above=0
    )
    eta: float | None = number(
        default=None, doc="Prior of a word in a topic; None: 1 / n_components.", above=0
    )
    learning_offset: float = number(
        default=10.0, doc="Delay of the rate: larger makes the first blocks count less.", at_least=1
    )
    learning_decay: float = learning_decay()
    block_size: int = integer(default=128, doc="Documents gathered for one update.", at_least=1)
    total_rows: int | None = total_rows()
    max_rounds: int = integer(
        default=100, doc="Maximum rounds for a document's topics.", at_least=1, at_most=10_000
    )
    tolerance: float = number(
        default=1e-3, doc="A document is done when its topics change less on average.", at_least=0
    )
    seed: int = integer(default=0, doc="Seed of the first weights.", at_least=0)

    @property
    def _prior(self) -> float:
        return prior(1 / self.n_components if self.alpha is None else self.alpha)

    # -- learning --------------------------------------------------------------------------------

    def _begin(self, n_features: int) -> None:
        self._weights = first_weights(self.seed, 0, n_features, self.n_components)

    def _found(self, counts: Any, words: Any, rate: float, scale: float) -> Floats:
        likely = self._likely(words)
        # Topics are all alike at first: what tells them apart then is chance.
        rng = np.random.default_rng([self.seed, 1, self._n_blocks])
        start = rng.gamma(100.0, 0.01, (counts.shape[0], self.n_components))
        shares = np.exp(_logs_up_to_a_constant(self._shares(counts, likely, start)))
        counts.data = counts.data / likelihoods(counts, shares, likely)
        found: Floats = scale * likely * (counts.T @ shares)
        return found

    def _likely(self, words: Any) -> Floats:
        """The exponential of the expected logarithm of the words' chances in each topic."""
        likely: Floats = np.exp(np.maximum(self._word_logs(words), _UNLIKELY))
        return likely

    def _shares(self, counts: Any, likely: Floats, start: Floats | None = None) -> Floats:
        """Find the documents' shares of topics (gamma), a row each, not normalized."""
        lengths = np.diff(counts.indptr)
        if start is None:
            start = np.ones((counts.shape[0], self.n_components))
        shares = np.full((counts.shape[0], self.n_components), self._prior)
        for group in _groups(lengths, self.n_components):
            width = int(lengths[group].max())
            inside = np.arange(width) < lengths[group, None]
            places = np.where(inside, counts.indptr[group, None] + np.arange(width), 0)
            amounts = np.where(inside, counts.data[places], 0.0)
            shares[group] = self._shares_of_group(
                start[group], amounts, likely[counts.indices[places]]
            )
        return shares

    def _shares_of_group(self, shares: Floats, amounts: Floats, likely: Floats) -> Floats:
        """The same for documents side by side: (documents, words), (documents, words, topics)."""
        active = np.arange(len(amounts))
        for _ in range(self.max_rounds):
            before = shares[active]
            chances = np.exp(_logs_up_to_a_constant(before))
            likelihoods = np.matmul(likely, chances[:, :, None])[:, :, 0]
            parts = np.matmul((amounts / likelihoods)[:, None, :], likely)[:, 0]
            after = self._prior + chances * parts
            shares[active] = after
            going = np.abs(after - before).mean(axis=1) > self.tolerance
            if not going.any():
                break
            if not going.all():  # a document that is done stays as it is, whoever is beside it
                active, amounts, likely = active[going], amounts[going], likely[going]
        return shares

    # -- using it --------------------------------------------------------------------------------

    def _code(self, rows: Any) -> Floats:
        counts, words = words_of(rows)
        shares = self._shares(counts, self._likely(words))
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def perplexity(self, X: Any) -> float:
        """Return how many words these documents leave to choose from, on average: less is better.

        The variational bound on their likelihood, given the topics.
        """
        from scipy.special import gammaln

        counts, words = words_of(self._checked_words(X))
        model = self._now()
        likely = model._likely(words)
        shares = model._shares(counts, likely)
        totals = shares.sum(axis=1, keepdims=True)
        logs = expected_logs(shares, totals)
        bound = float(counts.data @ np.log(likelihoods(counts, np.exp(logs), likely)))
        bound += float(((self._prior - shares) * logs + gammaln(shares)).sum())
        bound -= float(gammaln(totals).sum())
        start = math.lgamma(self._prior * self.n_components)
        bound += len(shares) * (start - self.n_components * math.lgamma(self._prior))
        return math.exp(-bound / counts.data.sum())


def _groups(lengths: Any, n_topics: int) -> Iterator[Any]:
    """Yield documents of about the same length that fit in the cache together."""
    order = np.argsort(lengths, kind="stable")[::-1]
    order = order[lengths[order] > 0]
    done = 0
    while done < len(order):
        count = max(1, _IN_CACHE // (int(lengths[order[done]]) * n_topics))
        yield order[done : done + count]
        done += count


def _logs_up_to_a_constant(shares: Floats) -> Floats:
    """Expected logarithms of the documents' topics; what all topics share cancels out."""
    from scipy.special import psi

    logs: Floats = psi(shares)
    logs -= logs.max(axis=1, keepdims=True)
    return logs
