"""OnlineHDP: its updates, made-up topics, and other models beside it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import psi

from yarrow.decomposition import OnlineHDP, OnlineLDA
from yarrow.decomposition.hdp import _expected_logs_of_sticks, _expected_shares
from yarrow.errors import DataError


def documents(rows: int, seed: int = 0) -> np.ndarray:
    """Return documents of 40 words of five topics that share no word."""
    rng = np.random.default_rng(seed)
    chances = np.kron(np.eye(5), np.full(6, 1 / 6))
    shares = rng.dirichlet(np.full(5, 0.2), rows)
    return np.array([rng.multinomial(40, p) for p in shares @ chances]).astype(float)


def settings(**more: float) -> dict:
    return {"n_components": 15, "n_document_topics": 6, "block_size": 50, "seed": 1} | more


def test_uses_about_as_many_topics_as_there_are():
    model = OnlineHDP(**settings()).fit(documents(800))
    shares = model.topic_shares_
    assert shares.sum() == pytest.approx(1)
    assert 4 <= (shares > 0.03).sum() <= 9
    # Each of the true topics is one of those found: its words have nearly all of the weight.
    weights = model.components_ / model.components_.sum(axis=1, keepdims=True)
    for topic in range(5):
        assert weights[:, 6 * topic : 6 * topic + 6].sum(axis=1).max() > 0.9


def test_unseen_words_are_told_nearly_as_well_as_by_lda_with_the_true_number():
    X, unseen = documents(800), documents(200, seed=1)
    rng = np.random.default_rng(2)
    known = rng.binomial(unseen.astype(int), 0.5).astype(float)
    asked = unseen - known
    kept = (known.sum(axis=1) > 0) & (asked.sum(axis=1) > 0)
    known, asked = known[kept], asked[kept]
    model = OnlineHDP(**settings()).fit(X)
    peer = OnlineLDA(5, block_size=50).fit(X)
    chances = peer.transform(known) @ (
        peer.components_ / peer.components_.sum(axis=1, keepdims=True)
    )
    of_peer = np.exp(-(asked * np.log(chances)).sum() / asked.sum())
    assert model.completion(known, asked) < 1.15 * of_peer
    assert model.completion(known, asked) < 20  # of 30 words


def test_sticks_are_those_of_beta_distributions():
    sticks = np.array([[2.0, 3.0], [1.0, 4.0]])
    shares = [2 / 3, 1 / 3 * 3 / 7, 1 / 3 * 4 / 7]
    np.testing.assert_allclose(_expected_shares(sticks), shares)
    first = [psi(2.0) - psi(3.0), psi(1.0) - psi(3.0)]
    second = [psi(3.0) - psi(7.0), psi(4.0) - psi(7.0)]
    expected = [first[0], first[1] + second[0], first[1] + second[1]]
    np.testing.assert_allclose(_expected_logs_of_sticks(sticks), expected)


def test_inference_ends_where_no_part_can_be_improved():
    """At the end each part is what the paper's equations make of the others."""
    model = OnlineHDP(**settings()).fit(documents(300))
    model.set_params(tolerance=0.0, max_rounds=500)
    X = documents(1, seed=5)
    places = np.flatnonzero(X[0])
    amounts, shares = X[0, places], _expected_logs_of_sticks(model._sticks)
    logs = model._word_logs(places)
    topics, words, sticks = model._infer(logs, amounts, shares)
    again = (words * amounts[:, None]).T @ logs + shares
    again = np.exp(again - again.max(axis=1, keepdims=True))
    np.testing.assert_allclose(topics, again / again.sum(axis=1, keepdims=True), atol=1e-6)
    own = logs @ topics.T + _expected_logs_of_sticks(sticks)
    own = np.exp(own - own.max(axis=1, keepdims=True))
    np.testing.assert_allclose(words, own / own.sum(axis=1, keepdims=True), atol=1e-6)
    totals = (words * amounts[:, None]).sum(axis=0)
    np.testing.assert_allclose(sticks[0], 1 + totals[:-1], atol=1e-6)
    rest = np.array([totals[k + 1 :].sum() for k in range(len(totals) - 1)])
    np.testing.assert_allclose(sticks[1], model.alpha + rest, atol=1e-6)


def test_all_chunkings_give_one_result():
    X = documents(130)
    models = [OnlineHDP(**settings()) for _ in range(4)]
    models[0].fit(X)
    for start in range(0, len(X), 33):
        models[1].partial_fit(X[start : start + 33])
        assert models[1].n_rows_ == min(start + 33, 130)  # looking changes nothing
    for row in X:
        models[2].learn_one(dict(enumerate(row)))
    models[3].fit(sp.csr_array(X))
    for model in models[1:]:
        np.testing.assert_array_equal(model.components_, models[0].components_)
        np.testing.assert_array_equal(model.topic_shares_, models[0].topic_shares_)


def test_shares_of_a_document_sum_to_one_and_an_empty_one_has_those_of_all():
    model = OnlineHDP(**settings()).fit(documents(200))
    np.testing.assert_allclose(model.transform(documents(10, seed=3)).sum(axis=1), 1)
    np.testing.assert_allclose(model.transform(np.zeros((1, 30)))[0], model.topic_shares_)
    with pytest.raises(DataError, match="no word"):
        model.perplexity(np.zeros((1, 30)))


def test_words_may_appear_at_any_time():
    model = OnlineHDP(**settings(block_size=1))
    model.learn_one({"a": 2})
    model.learn_one({"b": 1, "c": 4})
    assert model.components_.shape == (15, 3)
    assert model.top_words(1)[0][0] in {"a", "b", "c"}
