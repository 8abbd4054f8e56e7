"""The online hierarchical Dirichlet process (Wang, Paisley and Blei, 2011)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from yarrow.decomposition.base import Floats, softmax
from yarrow.decomposition.saved_state import numbers
from yarrow.decomposition.topics import (
    TopicModel,
    expected_logs,
    first_weights,
    learning_decay,
    likelihoods,
    total_rows,
    words_of,
)
from yarrow.errors import ModelFileError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import integer, number
from yarrow.saving import schema
from yarrow.saving.schema import TINY

_WITHOUT_PRIOR = 3  # rounds in which the words alone speak: chance decides less that way


class Document(NamedTuple):
    """What is inferred about one document."""

    topics: Floats  # chance of each topic (column) to be each of the document's own (row)
    words: Floats  # chance of each of the document's own topics (column) for each word (row)
    sticks: Floats  # the two parameters of each of its sticks but the last


@estimator
class OnlineHDP(TopicModel):
    """Find topics in a stream of documents, and how many of them there are.

    Use it where nothing is known about the number of topics: it is at most `n_components`, and
    `topic_shares_` tells which of them are in use. `OnlineLDA` is several times faster where the
    number is a choice of yours.

    All documents share one list of topics, whose shares come from breaking a stick (`gamma`: how
    evenly); each document breaks a stick of its own (`alpha`) and has `n_document_topics` topics
    out of that list. For each block of documents their topics are inferred with the list held
    fixed, then weights and shares move towards what would be best if the whole stream were like
    this block (Wang et al. 2011, the updates of their section 3). `transform` gives each document's
    shares of topics.

    The result is the same by any chunking: see `block_size`. Memory grows with the vocabulary only.

    Examples
    --------
    >>> hdp = OnlineHDP(n_components=10, block_size=4, seed=1)
    >>> for _ in range(30):
    ...     hdp.learn_one({"goal": 3, "ball": 2})
    ...     hdp.learn_one({"vote": 2, "law": 3})
    >>> bool(hdp.transform_one({"goal": 5}) != hdp.transform_one({"law": 5}))
    True
    """

    n_components: int = integer(default=50, doc="Most topics (T).", at_least=1)
    n_document_topics: int = integer(
        default=10, doc="Maximum topics of a document (K).", at_least=1, at_most=10_000
    )
    alpha: float = number(default=1.0, doc="Concentration of a document's topics.", above=0)
    gamma: float = number(default=1.0, doc="Concentration of the list of topics.", above=0)
    eta: float = number(default=0.01, doc="Prior of a word in a topic.", above=0)
    learning_offset: float = number(
        default=10.0, doc="Delay of the rate: larger makes the first blocks count less.", at_least=0
    )
    learning_decay: float = learning_decay()
    block_size: int = integer(default=256, doc="Documents gathered for one update.", at_least=1)
    total_rows: int | None = total_rows()
    max_rounds: int = integer(
        default=50, doc="Maximum rounds for a document's topics.", at_least=4, at_most=10_000
    )
    tolerance: float = number(
        default=0.05,
        doc="A document is done when a smaller part of its words changes its topic.",
        at_least=0,
    )
    seed: int = integer(default=0, doc="Seed of the first weights.", at_least=0)

    @property
    def topic_shares_(self) -> Floats:
        """The expected share of each topic in the stream."""
        return _expected_shares(self._now()._sticks)

    # -- learning --------------------------------------------------------------------------------

    def _begin(self, n_features: int) -> None:
        # Wide apart: topics must differ much to begin with, since there are many.
        self._weights = first_weights(self.seed, 0, n_features, self.n_components) ** 10
        ones = np.ones(self.n_components - 1)
        self._sticks = np.array([ones, self.gamma * ones])
        self._uses = np.zeros(self.n_components)

    def _found(self, counts: Any, words: Any, rate: float, scale: float) -> Floats:
        uses = np.zeros(self.n_components)
        found = np.zeros((len(words), self.n_components))
        for row, document in self._documents(counts, words):
            uses += document.topics.sum(axis=0)
            places, amounts = _line(counts, row)
            found[places] += (document.words * amounts[:, None]) @ document.topics
        self._uses = (1 - rate) * self._uses + scale * uses
        later = np.cumsum(self._uses[::-1])[::-1]
        self._sticks = np.array([1 + self._uses[:-1], self.gamma + later[1:]])
        return scale * found

    def _documents(self, counts: Any, words: Any) -> Iterator[tuple[int, Document]]:
        """Infer each document that has a word: which row it is, and what is found."""
        logs, shares = self._word_logs(words), _expected_logs_of_sticks(self._sticks)
        for row in np.flatnonzero(np.diff(counts.indptr)).tolist():
            places, amounts = _line(counts, row)
            yield row, self._infer(logs[places], amounts, shares)

    def _infer(self, logs: Floats, amounts: Floats, shares: Floats) -> Document:
        """Infer one document: `logs` has a row for each of its words, a column for each topic."""
        length = float(amounts.sum())
        ones = np.ones(self.n_document_topics - 1)
        sticks = np.array([ones, self.alpha * ones])
        own_logs = _expected_logs_of_sticks(sticks)
        totals = np.zeros(self.n_document_topics)
        # The document's own topics are alike at first: begin with those that suit it best.
        best = np.argsort(-(amounts @ logs), kind="stable")[: self.n_document_topics]
        words = softmax(logs[:, np.resize(best, self.n_document_topics)])
        for turn in range(self.max_rounds):
            with_prior = turn >= _WITHOUT_PRIOR
            weighted = words * amounts[:, None]
            topics = softmax(weighted.T @ logs + (shares if with_prior else 0.0))
            words = softmax(logs @ topics.T + (own_logs if with_prior else 0.0))
            before, totals = totals, amounts @ words
            later = np.cumsum(totals[::-1])[::-1]
            sticks = np.array([1 + totals[:-1], self.alpha + later[1:]])
            own_logs = _expected_logs_of_sticks(sticks)
            if with_prior and np.abs(totals - before).sum() < self.tolerance * length:
                break
        return Document(topics, words, sticks)

    def _expected(self) -> dict[str, schema.Schema]:
        return super()._expected() | {
            "_sticks": numbers((2, self.n_components - 1), at_least=TINY),
            "_uses": numbers((self.n_components,), at_least=0),
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not (state["_sticks"][0] >= 1).all():
            raise ModelFileError("a part of its stick is smaller than its prior")

    # -- using it --------------------------------------------------------------------------------

    def _code(self, rows: Any) -> Floats:
        codes = np.tile(_expected_shares(self._sticks), (rows.shape[0], 1))
        for row, document in self._documents(*words_of(rows)):
            codes[row] = _expected_shares(document.sticks) @ document.topics
        return codes

    def perplexity(self, X: Any) -> float:
        """Return how many words these documents leave to choose from, on average: less is better.

        Of the words of each document by its expected topics, which are inferred from the words
        themselves; to judge by words that were not seen, give two halves to `completion`.
        """
        return self.completion(X, X)

    def completion(self, X: Any, Y: Any) -> float:
        """Return the perplexity of the words `Y` of documents that are known by their words `X`."""
        now = self._now()
        shares = now._code(now._checked_words(X))
        counts, words = words_of(now._checked_words(Y))
        weights = now._weights
        chances = weights[words] / weights.sum(axis=0)
        surprise = -float(counts.data @ np.log(likelihoods(counts, shares, chances)))
        return math.exp(surprise / float(counts.data.sum()))


def _line(counts: Any, row: int) -> tuple[Any, Any]:
    """Return the words of a document, as rows of the weights, and how often each is there."""
    inside = slice(counts.indptr[row], counts.indptr[row + 1])
    return counts.indices[inside], counts.data[inside]


def _expected_logs_of_sticks(sticks: Floats) -> Floats:
    """Return the expected logarithm of each part of a broken stick."""
    totals = sticks.sum(axis=0)
    broken, left = expected_logs(sticks[0], totals), expected_logs(sticks[1], totals)
    logs: Floats = np.append(broken, 0.0) + np.concatenate([[0.0], np.cumsum(left)])
    return logs


def _expected_shares(sticks: Floats) -> Floats:
    """Return the expected length of each part of a broken stick."""
    broken = sticks[0] / sticks.sum(axis=0)
    left = np.concatenate([[1.0], np.cumprod(1 - broken)])
    shares: Floats = np.append(broken, 1.0) * left
    return shares
