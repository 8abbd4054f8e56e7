"""The voted Perceptron: votes by hand, against all vectors written down, within bounded memory."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import (
    EXACT,
    assert_same,
    binary_stream,
    class_stream,
    weights,
    with_constant,
)

from yarrow.errors import DataError, ModelFileError
from yarrow.linear_model import Perceptron, VotedPerceptron, load

BINARY = {"classes": [-1, 1], **EXACT}


def test_votes_by_hand():
    """The rows of the lecture's worked Perceptron example."""
    X, y = [[4, 0], [1, 1], [0, 1], [-2, -2]], [1, -1, -1, 1]
    model = VotedPerceptron(fit_intercept=False, **BINARY).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, [[1, -3]])
    # Vectors and votes: (0,0) 1, (4,0) 1, (3,-1) 2, (1,-3) 1.
    for x, votes in {
        (1, 0): 0 + 1 + 2 + 1,
        (1, 1): 0 + 1 + 2 - 1,
        (1, 5): 0 + 1 - 2 - 1,
        (1, 3): 0 + 1 + 0 - 1,  # (3,-1) gives exactly 0 and abstains
        (0, 1): 0 + 0 - 2 - 1,
        (0, 0): 0,
    }.items():
        assert model.decision_function([x])[0] == pytest.approx(votes / 5)
    assert model.predict([[1, 3], [0, 0]]).tolist() == [1, 1]  # ties: the class seen first


def written_down(Z, max_vectors=None):
    """All vectors and their votes: (w_1, c_1) = (0, 1); a mistake begins a new one."""
    vectors, votes = [np.zeros(Z.shape[1])], [1]
    for z in Z:
        if z @ vectors[-1] <= 0:
            vectors.append(vectors[-1] + z)
            votes.append(1)
        else:
            votes[-1] += 1
    kept = slice(-max_vectors if max_vectors else None, None)
    return np.array(vectors[kept]), np.array(votes[kept])


def share(vectors, votes, X):
    return np.sign(X @ vectors.T) @ votes / votes.sum()


@pytest.mark.parametrize("max_vectors", [None, 1, 2, 7, 50])
def test_all_vectors_vote(max_vectors):
    X, y = binary_stream(91, rows=300, features=12, density=0.4)
    model = VotedPerceptron(max_vectors, **BINARY)
    for end in (1, 2, 3, 40, 300):
        begin = model.t_ if hasattr(model, "_model") else 0
        model.partial_fit(scipy.sparse.csr_array(X[begin:end]), y[begin:end])
        vectors, votes = written_down(y[:end, None] * with_constant(X[:end]), max_vectors)
        expected = share(vectors, votes, with_constant(X))
        found = model.decision_function(X) if end > 1 else -model._scores(X)[0][:, 0]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert len(written_down(y[:, None] * with_constant(X))[0]) > 60


@pytest.mark.parametrize("max_vectors", [None, 5])
def test_many_classes_and_late_features(max_vectors):
    X, y = class_stream(92, rows=200, features=10, classes=4, density=0.5)
    X[:100, 5:] = 0
    model = VotedPerceptron(max_vectors, **EXACT).partial_fit(X, y)
    for k, label in enumerate(model.classes_):
        Z = np.where(y == label, 1, -1)[:, None] * with_constant(X)
        expected = share(*written_down(Z, max_vectors), with_constant(X))
        np.testing.assert_allclose(model.decision_function(X)[:, k], expected, atol=1e-12)


def test_it_learns_as_the_perceptron_does():
    X, y = class_stream(93)
    voted, plain = VotedPerceptron().partial_fit(X, y), Perceptron().partial_fit(X, y)
    np.testing.assert_array_equal(weights(voted), weights(plain))
    assert (voted.n_updates_, voted.n_mistakes_) == (plain.n_updates_, plain.n_mistakes_)


def test_memory_is_bounded():
    X, y = binary_stream(94, rows=2000, features=20, noise=0.4)
    bounded, free = (VotedPerceptron(n, **BINARY).partial_fit(X, y) for n in (10, None))
    assert bounded._model.get_state()["votes_born"].size <= 10
    assert bounded._raw_memory_usage < free._raw_memory_usage / 10


@pytest.mark.parametrize("max_vectors", [None, 4])
def test_files_keep_every_vote(tmp_path, max_vectors):
    X, y = class_stream(95, rows=120, density=0.5)
    model = VotedPerceptron(max_vectors).partial_fit(X[:60], y[:60])
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert_same(other, model)
        other.partial_fit(X[60:], y[60:])
        straight = VotedPerceptron(max_vectors).partial_fit(X, y)
        assert_same(other, straight)
        np.testing.assert_array_equal(other.decision_function(X), straight.decision_function(X))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("votes_index", lambda v: v + 1000),
        ("votes_index", lambda v: v[:-1]),
        ("votes_end", lambda v: v[::-1].copy()),
        ("votes_end", lambda v: v + np.uint64(2**40)),
        ("votes_sizes", lambda v: v + np.uint64(1)),
        ("votes_sizes", lambda v: v + np.uint64(2**63)),
        ("votes_step", lambda v: v[:-1]),
    ],
)
def test_damaged_votes_are_refused(name, damage):
    X, y = binary_stream(96)
    model = VotedPerceptron().partial_fit(X, y)
    state = model.__getstate__()
    tensors = dict(state["_core_state"]["tensors"])
    tensors[name] = damage(tensors[name])
    state["_core_state"] = {**state["_core_state"], "tensors": tensors}
    with pytest.raises((DataError, ModelFileError), match="votes"):
        VotedPerceptron().__setstate__(state)


def test_a_call_that_fails_takes_its_votes_back():
    X, y = binary_stream(97, rows=300, features=500, density=0.02)
    model = VotedPerceptron(5, **EXACT).partial_fit(scipy.sparse.csr_array(X), y)
    before = copy.deepcopy(model)
    bad = X[:4].copy()
    bad[3] = 0
    bad[3, 0] = 1e200
    wrong = [
        -1 if label == 1 else 1 for label in Perceptron(**EXACT).partial_fit(X, y).predict(bad)
    ]
    with pytest.raises(DataError, match=r"Row 3: .*scale"):
        model.partial_fit(scipy.sparse.csr_array(bad), wrong)
    assert_same(model, before)
    good = scipy.sparse.csr_array(bad[:3])
    assert_same(model.partial_fit(good, wrong[:3]), before.partial_fit(good, wrong[:3]))


def test_forgotten_features_leave_the_votes():
    X, y = binary_stream(98, rows=200, features=40, density=0.2)
    model = VotedPerceptron(max_features=20, when_full="prune", fit_intercept=False, **EXACT)
    model.learn_many(scipy.sparse.csr_array(X), y)
    names = model.feature_names_
    assert len(names) <= 20
    state = model._model.get_state()
    assert state["votes_index"].max() < len(names)
    assert np.abs(model.decision_function(X)).max() > 0.2


@pytest.mark.parametrize("max_vectors", [None, 4])
def test_rows_vote_by_their_weights(max_vectors):
    """A row of weight w counts w times for the vector that it made or that got it right."""
    X, y = binary_stream(97, rows=120, features=6)
    by = np.random.default_rng(97).choice([0.25, 1.0, 3.0], len(y))
    vectors, votes = [np.zeros(7)], [1.0]
    for z, w in zip(y[:, None] * with_constant(X), by, strict=True):
        if z @ vectors[-1] <= 0:
            vectors.append(vectors[-1] + w * z)
            votes.append(w)
        else:
            votes[-1] += w
    kept = slice(-max_vectors if max_vectors else None, None)
    expected = share(np.array(vectors[kept]), np.array(votes[kept]), with_constant(X))
    model = VotedPerceptron(max_vectors, **BINARY)
    model.partial_fit(X[:50], y[:50], sample_weight=by[:50])
    model = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[50:], y[50:], sample_weight=by[50:])
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_class_weights_count_in_votes():
    X, y = binary_stream(98, rows=80)
    heavy = VotedPerceptron(class_weight={1: 3.0, -1: 0.5}, **BINARY).partial_fit(X, y)
    same = VotedPerceptron(**BINARY).partial_fit(X, y, sample_weight=np.where(y == 1, 3.0, 0.5))
    np.testing.assert_array_equal(heavy.decision_function(X), same.decision_function(X))
