"""OnlineLDA against scikit-learn's, step by step and on real documents."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, psi
from sklearn.decomposition import LatentDirichletAllocation

from yarrow.datasets import load_documents
from yarrow.decomposition import OnlineLDA
from yarrow.errors import DataError, YarrowError


def documents(rows: int, words: int = 30, topics: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    chances = np.random.default_rng(99).dirichlet(np.full(words, 0.1), topics)
    shares = rng.dirichlet(np.full(topics, 0.3), rows)
    return np.array([rng.multinomial(40, p) for p in shares @ chances]).astype(float)


def peer(model: OnlineLDA, X: np.ndarray, weights: np.ndarray) -> LatentDirichletAllocation:
    """Return scikit-learn's model with these weights, and as thorough as it can be."""
    other = LatentDirichletAllocation(
        model.n_components,
        learning_decay=model.learning_decay,
        learning_offset=model.learning_offset,
        total_samples=model.total_rows,
        max_doc_update_iter=2000,
        mean_change_tol=1e-9,
        random_state=0,
    )
    other.partial_fit(X)
    other.components_ = np.ascontiguousarray(weights)
    logs = psi(weights) - psi(weights.sum(axis=1, keepdims=True))
    other.exp_dirichlet_component_ = np.exp(logs)
    other.n_batch_iter_ = 1
    return other


def test_an_update_is_that_of_scikit_learn():
    X = documents(60)
    model = OnlineLDA(3, block_size=30, total_rows=500, max_rounds=2000, tolerance=1e-9)
    model.partial_fit(X[:30])
    start = model.components_.copy()
    model.partial_fit(X[30:])
    other = peer(model, X[:30], start)
    other.n_batch_iter_ = 2
    other.partial_fit(X[30:])
    np.testing.assert_allclose(model.components_, other.components_, rtol=1e-4)
    np.testing.assert_allclose(model.transform(X), other.transform(X), atol=1e-5)


def test_perplexity_is_the_bound_of_scikit_learn_without_that_of_the_topics():
    X = documents(50)
    model = OnlineLDA(3, block_size=10, max_rounds=2000, tolerance=1e-9).fit(X)
    weights = model.components_
    other = peer(model.set_params(total_rows=50), X, weights)
    logs = psi(weights) - psi(weights.sum(axis=1, keepdims=True))
    eta, n_words = 1 / 3, X.shape[1]
    of_topics = ((eta - weights) * logs + gammaln(weights) - gammaln(eta)).sum()
    of_topics += (gammaln(n_words * eta) - gammaln(weights.sum(axis=1))).sum()
    bound = -math.log(other.perplexity(X)) * X.sum() - of_topics
    assert model.perplexity(X) == pytest.approx(math.exp(-bound / X.sum()), rel=1e-6)


def test_perplexity_on_unseen_documents_falls_below_that_of_plain_word_counts():
    X, unseen = documents(1500), documents(200, seed=1)
    model = OnlineLDA(3, block_size=50)
    first = model.partial_fit(X[:100]).perplexity(unseen)
    last = model.partial_fit(X[100:]).perplexity(unseen)
    chances = (X.sum(axis=0) + 0.1) / (X.sum() + 3)
    plain = math.exp(-(unseen @ np.log(chances)).sum() / unseen.sum())
    assert last < first
    assert last < 0.8 * plain


def test_all_chunkings_give_one_result():
    X = documents(130)
    models = [OnlineLDA(4, block_size=32) for _ in range(4)]
    models[0].fit(X)
    for start in range(0, len(X), 23):
        models[1].partial_fit(X[start : start + 23])
        assert models[1].n_rows_ == min(start + 23, 130)  # looking changes nothing
    for row in X:
        models[2].learn_one(dict(enumerate(row)))
    models[3].fit(sp.csr_array(X))
    for model in models[1:]:
        np.testing.assert_array_equal(model.components_, models[0].components_)


def test_words_may_appear_at_any_time():
    model, whole = OnlineLDA(2, block_size=2), OnlineLDA(2, block_size=2)
    rows = [{"a": 2}, {"b": 3}, {"c": 1, "a": 1}]
    for row in rows:
        model.learn_one(row)
        whole.learn_one({"a": 0, "b": 0, "c": 0} | row)
    assert model.components_.shape == (2, 3)
    assert model.n_features_in_ == 3
    # The word c was not there when the first block was learned, so its weights had not faded.
    np.testing.assert_allclose(model.components_[:, :2], whole.components_[:, :2], rtol=0.2)
    assert sum(model.transform_one({"a": 1, "never seen": 7}).values()) == pytest.approx(1)


def test_a_document_without_words_has_all_topics_alike():
    model = OnlineLDA(4).fit(documents(20))
    np.testing.assert_allclose(model.transform(np.zeros((1, 30))), np.full((1, 4), 0.25))
    with pytest.raises(DataError, match="no word"):
        model.perplexity(np.zeros((2, 30)))
    with pytest.raises(DataError, match="Negative"):
        model.learn_one({0: -1.0})


def test_real_documents_within_two_percent_of_scikit_learn():
    try:
        counts = sp.csr_matrix(load_documents().counts[:700].astype(np.float64))
    except YarrowError as problem:
        pytest.skip(str(problem))
    X, unseen = counts[:600], counts[600:]
    other = LatentDirichletAllocation(10, learning_method="online", max_iter=1, random_state=0)
    other.fit(X)
    model = OnlineLDA(10, total_rows=600).partial_fit(X[:128])
    twin = copy.copy(model)
    twin._weights = np.ascontiguousarray(other.components_.T)
    model._n_blocks, model._n_rows = 0, 0
    start = np.random.RandomState(0).gamma(100.0, 0.01, other.components_.shape)
    model._weights = np.ascontiguousarray(start.T)  # that of the other: chance matters much
    model.partial_fit(X)
    assert model.perplexity(unseen) < 1.02 * twin.perplexity(unseen)


def test_priors_may_be_whole_numbers():
    rows = np.random.default_rng(0).integers(0, 4, (30, 6))
    whole, real = (OnlineLDA(3, alpha=a, block_size=7).fit(rows) for a in (1, 1.0))
    np.testing.assert_array_equal(whole.transform(rows), real.transform(rows))


def test_a_word_that_no_topic_has_any_more_stays_finite():
    """Of a small prior's expected logarithm, the exponential is 0."""
    model = OnlineLDA(2, eta=1e-3, block_size=1, learning_offset=1.0)
    model.learn_one({"rare": 1, "common": 1})
    for _ in range(60):
        model.learn_one({"common": 3})
    shares = model.transform_one({"rare": 2})
    assert sum(shares.values()) == pytest.approx(1)
    model.learn_one({"rare": 2})
    assert np.isfinite(model.components_).all()
