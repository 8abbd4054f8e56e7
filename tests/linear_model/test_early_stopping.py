"""`fit` with early_stopping: what is held out, when it stops, which pass is kept."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from linear_model.oracles import EXACT, assert_same, binary_stream, class_stream
from scipy import sparse

import yarrow
from yarrow.base.epochs import hold_out

MANY = {"max_iter": 40, "early_stopping": True, "validation_fraction": 0.25}
CLASSIFIERS = [yarrow.Perceptron, yarrow.AROWClassifier, yarrow.RDAClassifier]


def by_hand(model, X, y):
    """The same in Python, on copies of the model: passes by partial_fit, scores by score."""
    random = np.random.default_rng(model.random_state)
    is_regression = not hasattr(type(model), "classes_")
    groups = np.zeros(len(y)) if is_regression else np.asarray(y, dtype=float)
    learned, held = hold_out(groups, model.validation_fraction, random)
    declared = {} if is_regression or len(set(y)) > 2 else {"classes": np.unique(y).tolist()}
    online = type(model)(**model.get_params())
    scores, kept = [], []
    best_before, waiting = -np.inf, 0
    for _ in range(model.max_iter):
        order = random.permutation(learned)
        online.partial_fit(X[order], y[order], **declared)
        kept.append(copy.deepcopy(online))
        scores.append(online.score(X[held], y[held]))
        waiting = 0 if scores[-1] > best_before + model.tol else waiting + 1
        best_before = max(best_before, scores[-1])
        if waiting >= model.n_iter_no_change:
            break
    return kept[int(np.argmax(scores))], scores


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("stream", [binary_stream, class_stream])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_best_pass_is_kept_to_the_bit(cls, stream, seed):
    X, y = stream(seed, rows=120)
    model = cls(random_state=seed, **MANY, **EXACT).fit(X, y)
    expected, scores = by_hand(model, X, y)
    assert model.validation_scores_ == pytest.approx(scores)
    assert model.n_iter_ == len(scores) < 40
    assert_same(model, expected)


def test_a_regression_is_stopped_by_its_determination():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + random.normal(size=200)
    model = yarrow.OGDRegressor(random_state=1, **MANY, **EXACT).fit(X, y)
    expected, scores = by_hand(model, X, y)
    assert model.validation_scores_ == pytest.approx(scores)
    assert_same(model, expected)
    assert model.score(X, y) > 0.7


def test_sparse_and_named_rows_give_the_same():
    import pandas as pd

    X, y = binary_stream(4, rows=150, density=0.4)
    model = yarrow.AROWClassifier(**MANY, **EXACT).fit(X, y)
    assert_same(model, yarrow.AROWClassifier(**MANY, **EXACT).fit(sparse.csr_matrix(X), y))
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = yarrow.AROWClassifier(**MANY, **EXACT).fit(frame, y)
    np.testing.assert_array_equal(named.decision_function(frame), model.decision_function(X))
    words = yarrow.AROWClassifier(**MANY, **EXACT).fit(X, np.where(y > 0, "yes", "no"))
    np.testing.assert_array_equal(words.decision_function(X), model.decision_function(X))


def test_patience_and_tolerance_decide():
    X, y = binary_stream(5, rows=200)
    patient = yarrow.Perceptron(n_iter_no_change=12, **MANY).fit(X, y)
    hasty = yarrow.Perceptron(n_iter_no_change=1, **MANY).fit(X, y)
    assert hasty.n_iter_ < patient.n_iter_
    never_better = yarrow.Perceptron(n_iter_no_change=3, tol=1.0, **MANY).fit(X, y)
    assert never_better.n_iter_ == 4  # the first is better than nothing
    short = yarrow.Perceptron(**(MANY | {"max_iter": 2})).fit(X, y)
    assert short.n_iter_ == 2


def test_held_out_rows_are_not_learned():
    """Where the rows held out are the only ones with a feature, it keeps the weight zero."""
    y = np.resize([-1, 1], 80)
    held = hold_out(y.astype(float), 0.25, np.random.default_rng(0))[1]
    X = np.column_stack([y, np.isin(np.arange(80), held)]).astype(float)
    model = yarrow.AROWClassifier(**MANY).fit(X, y)
    assert model.coef_[0, 1] == 0
    assert model.coef_[0, 0] > 0


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("counts", [(50, 30, 20), (97, 2, 1), (3, 3, 3), (1, 1, 8)])
def test_held_out_rows_are_stratified_and_seeded(counts, fraction):
    groups = np.repeat(np.arange(3.0), counts)
    learned, held = hold_out(groups, fraction, np.random.default_rng(7))
    np.testing.assert_array_equal(np.sort(np.concatenate([learned, held])), np.arange(len(groups)))
    for group, count in enumerate(counts):
        share = np.sum(groups[held] == group)
        assert abs(share - fraction * count) <= 1
        assert share < count  # each class is learned
    again = hold_out(groups, fraction, np.random.default_rng(7))[1]
    np.testing.assert_array_equal(held, again)
    if min(counts) > 10:
        assert not np.array_equal(held, hold_out(groups, fraction, np.random.default_rng(8))[1])


def test_rows_that_cannot_be_spared():
    with pytest.raises(yarrow.YarrowError, match="no row to hold out among 2"):
        yarrow.Perceptron(early_stopping=True).fit(np.eye(2), [0, 1])
    X, y = binary_stream(1, rows=20)
    held = hold_out(y.astype(float), 0.1, np.random.default_rng(0))[1]
    weights = np.isin(np.arange(20), held).astype(float)
    with pytest.raises(yarrow.YarrowError, match="not held out have the sample weight zero"):
        yarrow.Perceptron(early_stopping=True).fit(X, y, sample_weight=weights)


def test_sample_weights_weigh_the_score():
    X, y = binary_stream(6, rows=100)
    held = hold_out(y.astype(float), 0.25, np.random.default_rng(0))[1]
    weights = np.ones(100)
    weights[held] = np.linspace(0, 3, len(held))
    model = yarrow.Perceptron(**(MANY | {"max_iter": 1})).fit(X, y, sample_weight=weights)
    expected = model.score(X[held], y[held], sample_weight=weights[held])
    assert model.validation_scores_ == pytest.approx([expected])


def test_off_by_default_and_forgotten_when_off_again():
    X, y = binary_stream(7)
    model = yarrow.AROWClassifier(**MANY).fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    assert copied.validation_scores_ == model.validation_scores_
    model.set_params(early_stopping=False, max_iter=3).fit(X, y)
    assert model.n_iter_ == 3
    with pytest.raises(AttributeError, match="early_stopping=True"):
        model.validation_scores_  # noqa: B018
    assert_same(model, yarrow.AROWClassifier(max_iter=3).fit(X, y))


def test_it_goes_on_learning_and_survives_files(tmp_path):
    X, y = binary_stream(8, rows=100)
    model = yarrow.AROWClassifier(**MANY).fit(X, y)
    model.save(tmp_path / "m")
    loaded = yarrow.load(tmp_path / "m")
    assert loaded.n_iter_ == model.n_iter_
    assert_same(loaded.partial_fit(X, y), model.partial_fit(X, y))


def test_a_score_that_is_only_as_good_as_the_best_counts_as_no_better():
    X = np.repeat(np.eye(2), 20, axis=0)
    settings = {"early_stopping": True, "tol": 0.0, "n_iter_no_change": 2, "max_iter": 50}
    model = yarrow.Perceptron(**settings).fit(X, X[:, 1].astype(int))
    assert model.validation_scores_ == [1.0, 1.0, 1.0]
