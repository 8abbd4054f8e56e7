"""Low rank plus diagonal: full while nothing is lost, then the textbook's algebra."""

import numpy as np
import pytest
import scipy.sparse
from contract.support import save_and_load
from linear_model.oracles import EXACT, assert_same, binary_stream, class_stream, with_constant
from linear_model.test_confidence import RULES

from yarrow.errors import DataError
from yarrow.linear_model import AROWClassifier, CWClassifier

FACTORED = {"covariance": "factored"}


def assert_alike(factored, full, X, rtol=1e-7):
    close = {"rtol": rtol, "atol": 1e-9}
    assert factored.n_updates_ == full.n_updates_
    np.testing.assert_allclose(factored.coef_, full.coef_, **close)
    np.testing.assert_allclose(factored.covariance_, full.covariance_, **close)
    np.testing.assert_allclose(factored.variance_, full.variance_, **close)
    for each in zip(factored._scores(X), full._scores(X), strict=True):
        np.testing.assert_allclose(*each, **close)


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.startswith("cw")])
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_equals_full_as_long_as_there_is_room_for_all_steps(rule, multiclass):
    X, y = class_stream(71, rows=50)
    estimator = RULES[rule][0].clone({"multiclass": multiclass, "rank": 50})
    factored = estimator.clone(FACTORED).partial_fit(X, y)
    full = estimator.clone({"covariance": "full"}).partial_fit(X, y)
    assert_alike(factored, full, X)


@pytest.mark.parametrize("variant", ["variance", "stdev"])
def test_equals_full_under_hard_constraints(variant):
    X, y = binary_stream(72, rows=40, features=30, noise=0.0)
    estimator = CWClassifier(0.7, variant, rank=40, **EXACT)
    factored = estimator.clone(FACTORED).partial_fit(X, y)
    full = estimator.clone({"covariance": "full"}).partial_fit(X, y)
    assert_alike(factored, full, X, rtol=1e-5)


def test_equals_full_at_full_rank_for_ever():
    """With as many factors as features, what is dropped has no length."""
    X, y = binary_stream(73, rows=400, features=5, density=0.7)
    estimator = AROWClassifier(2.0, rank=6, **EXACT)
    factored = estimator.clone(FACTORED).partial_fit(X, y)
    full = estimator.clone({"covariance": "full"}).partial_fit(X, y)
    assert full.n_updates_ > 100
    assert_alike(factored, full, X)


def textbook(rows, y, r, rank):
    """AROW whose precision is diag(e) + U U', cut back to `rank` axes when there are 2*rank."""
    d = rows.shape[1]
    mu, e, U = np.zeros(d), np.ones(d), np.zeros((d, 0))
    cuts = 0
    for z in rows * y[:, None]:
        sigma = np.linalg.inv(np.diag(e) + U @ U.T)
        if z @ mu >= 1:
            continue
        mu = mu + (1 - z @ mu) / (z @ sigma @ z + r) * sigma @ z
        U = np.column_stack([U, z / np.sqrt(r)])
        if U.shape[1] == 2 * rank:
            axes = np.linalg.svd(U / np.sqrt(e)[:, None])[2]
            U = U @ axes.T
            e = e + (U[:, rank:] ** 2).sum(axis=1)
            U = U[:, :rank]
            cuts += 1
    assert cuts > 3
    return mu, np.linalg.inv(np.diag(e) + U @ U.T)


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_keeps_the_longest_axes_and_the_diagonal_of_the_rest(rank):
    X, y = binary_stream(74, rows=250, features=12, density=0.6, noise=0.2)
    model = AROWClassifier(1.5, rank=rank, classes=[-1, 1], **FACTORED, **EXACT).partial_fit(X, y)
    mu, sigma = textbook(with_constant(X), y, 1.5, rank)
    np.testing.assert_allclose(model.coef_[0], mu[1:], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.covariance_[0], sigma[1:, 1:], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.variance_[0], np.diag(sigma)[1:], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_diagonal_of_the_precision_is_never_approximated(dtype):
    """It is that of the diagonal form on the same updates: 1 + sum(x^2)/r."""
    X, y = binary_stream(75, rows=300, features=10, noise=0.2)
    model = AROWClassifier(0.5, rank=2, fit_intercept=False, dtype=dtype, **FACTORED)
    total, updates = np.ones(10), 0
    for x, label in zip(X, y.tolist(), strict=True):
        model.partial_fit([x], [label])
        if model.n_updates_ > updates:
            total += x**2 / 0.5
        updates = model.n_updates_
        sigma = model.covariance_[0]
        assert np.linalg.eigvalsh(sigma).min() > 0
        np.testing.assert_allclose(
            np.diag(np.linalg.inv(sigma)), total, rtol=1e-3 if dtype == "float32" else 1e-9
        )
    assert updates > 50


def test_a_hundred_thousand_features():
    n, rank = 100_000, 4
    random = np.random.default_rng(76)
    X = scipy.sparse.random(60, n, 300 / n, random_state=76, format="csr")
    y = random.integers(2, size=60)
    model = AROWClassifier(rank=rank, classes=[0, 1], **FACTORED).partial_fit(X, y)
    assert model.n_updates_ > 8 * rank
    assert model._raw_memory_usage < 1.2 * 4 * n * (2 + 2 * rank) + 1e6
    with pytest.raises(DataError, match=r"covariance_ of 100000 features would take 160\.0 GB"):
        model.covariance_  # noqa: B018


def test_forgetting_features_forgets_their_part_in_the_factors():
    """What is left is the precision of the features that stay."""
    X, y = binary_stream(77, rows=60, features=8)
    frame_names = [f"f{j}" for j in range(8)]
    model = AROWClassifier(
        rank=100, max_features=8, when_full="prune", fit_intercept=False, **FACTORED, **EXACT
    )
    for x, label in zip(X, y.tolist(), strict=True):
        model.learn_one(dict(zip(frame_names, x.tolist(), strict=True)), label)
    before, names = np.linalg.inv(model.covariance_[0]), model.feature_names_
    model.learn_one({"new": 1e-9}, int(y[0]))
    kept = [names.index(name) for name in model.feature_names_ if name in names]
    assert 4 <= len(kept) < 8
    after = np.linalg.inv(model.covariance_[0])[: len(kept), : len(kept)]
    np.testing.assert_allclose(after, before[np.ix_(kept, kept)], rtol=1e-6, atol=1e-9)


def test_a_saved_model_goes_on_between_two_cuts():
    X, y = class_stream(78, rows=100)
    for multiclass in ("ovr", "top1"):
        model = AROWClassifier(rank=3, multiclass=multiclass, **FACTORED)
        model.partial_fit(X[:50], y[:50])
        assert model._model.get_state()["factors"].max() > 0
        loaded = save_and_load(model)
        for each in (model, loaded):
            each.partial_fit(X[50:], y[50:])
        assert_same(model, loaded)


def test_a_few_factors_see_through_a_few_common_causes():
    """Three strong causes that say nothing of the class: a diagonal cannot subtract them."""
    random = np.random.default_rng(79)
    causes, signal = 10 * random.normal(size=(1500, 3)), random.normal(size=1500)
    X = causes @ random.normal(size=(3, 60)) + np.outer(signal, random.normal(size=60))
    X += 0.3 * random.normal(size=X.shape)
    y = np.where(signal > 0, 1, -1)
    diagonal = AROWClassifier().partial_fit(X, y)
    factored = AROWClassifier(rank=3, **FACTORED).partial_fit(X, y)
    assert factored.n_mistakes_ < 0.5 * diagonal.n_mistakes_


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_features_may_go_before_a_class_has_learned(multiclass):
    """A class without any factor yet has none to renew."""
    model = AROWClassifier(
        covariance="factored", multiclass=multiclass, max_features=2, when_full="prune"
    )
    for i in range(12):
        model.learn_one({f"f{i}": 1.0, f"g{i}": 1.0}, "always the same" if i < 6 else "another")
    assert len(model.feature_names_) <= 4
    assert model.predict_one({"f11": 1.0, "g11": 1.0}) == "another"
