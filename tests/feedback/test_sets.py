"""Prediction sets: coverage under noise and drift."""

from __future__ import annotations

import numpy as np
import pytest
from contract.support import as_dicts, classification

from yarrow import AROWClassifier, Perceptron, YarrowClassifier
from yarrow.errors import DataError, ParameterError
from yarrow.feedback import PredictionSetClassifier

X, Y = classification(300, 6, 3, seed=2)
ROWS = as_dicts(X)
LABELS = Y.tolist()


def streams():
    random = np.random.default_rng(3)
    rows, rule = random.normal(size=(1500, 8)), random.normal(size=(8, 4))
    y = np.argmax(rows @ rule, axis=1)
    yield "calm", rows, y
    yield "noise", rows, np.where(random.random(1500) < 0.3, random.integers(4, size=1500), y)
    later = np.argmax(rows @ random.normal(size=(8, 4)), axis=1)
    yield "drift", rows, np.where(np.arange(1500) < 700, y, later)
    yield "chance", rows, random.integers(4, size=1500)
    yield "adversary", rows, np.arange(1500) % 4


@pytest.mark.parametrize("rate", [0.02, 0.2])
@pytest.mark.parametrize("stream", streams(), ids=lambda stream: stream[0])
def test_coverage_is_never_below_its_guarantee(stream, rate):
    _, rows, y = stream
    model = PredictionSetClassifier(AROWClassifier(), coverage=0.9, rate=rate)
    said, sets = model.progressive_sets(rows, y)
    held = np.array([label in one for label, one in zip(y.tolist(), sets, strict=True)])
    assert model.coverage_ == pytest.approx(held.mean(), abs=0.003)  # four rows were new classes
    misses = np.cumsum(~held[4:])
    rows_so_far = np.arange(1, len(misses) + 1)
    assert (misses <= 0.1 * rows_so_far + (1 + rate) / rate + 4).all(), "at every moment"
    assert model.coverage_ >= model.guaranteed_coverage_ > 0.8
    assert all(sets[1:]), "a set is never empty"
    singles = np.array([len(one) == 1 for one in sets])
    assert np.sum(said[singles] != y[singles]) <= np.sum(~held)


@pytest.mark.parametrize(("name", "least", "most"), [("noise", 0.88, 0.92), ("drift", 0.0, 0.89)])
def test_belief_covers_under_noise_but_not_under_drift(name, least, most):
    _, rows, y = next(stream for stream in streams() if stream[0] == name)
    believing = PredictionSetClassifier(AROWClassifier(), adapt=False).partial_fit(rows, y)
    adaptive = PredictionSetClassifier(AROWClassifier()).partial_fit(rows, y)
    assert least < believing.coverage_ < most
    assert adaptive.coverage_ >= 0.9
    assert believing.guaranteed_coverage_ == 0.0


def test_sets_are_those_of_the_definition():
    model = PredictionSetClassifier(AROWClassifier(), coverage=0.8).partial_fit(X, Y)
    likely = AROWClassifier().partial_fit(X, Y).predict_proba(X)
    threshold = 1 - model._fitted.notes["threshold"]
    for row, found, best in zip(likely, model.predict_set(X), model.predict(X), strict=True):
        expected = {j for j in range(3) if row[j] >= threshold} | {int(np.argmax(row))}
        assert set(found) == expected
        assert best == np.argmax(row)
    answers = model.predict_or_abstain(X)
    sets = model.predict_set(X)
    assert [a is not None for a in answers] == [len(one) == 1 for one in sets]
    assert model.predict_set_one(ROWS[0]) == sets[0]
    believing = PredictionSetClassifier(AROWClassifier(), coverage=0.8, adapt=False)
    for row, found in zip(likely, believing.partial_fit(X, Y).predict_set(X), strict=True):
        ranked = np.argsort(-row, kind="stable")
        needed = int(np.searchsorted(np.cumsum(row[ranked]), 0.8 - 1e-12)) + 1
        assert set(found) == set(ranked[:needed].tolist())


def test_a_learner_without_probabilities_is_refused():
    with pytest.raises(ParameterError, match="Perceptron does not predict probabilities"):
        PredictionSetClassifier(Perceptron()).fit(X, Y)
    assert PredictionSetClassifier().predict_set_one({"a": 1.0}) == []


def test_sets_of_a_learner_of_scikit_learn():
    sklearn = pytest.importorskip("sklearn.linear_model")
    learner = sklearn.SGDClassifier(loss="log_loss", random_state=0)
    model = PredictionSetClassifier(learner)
    with pytest.raises(DataError, match="told all classes"):
        model.progressive_sets(X, Y)
    said, sets = model.progressive_sets(X, Y, classes=[0, 1, 2])
    twin = PredictionSetClassifier(learner)
    assert said.tolist() == twin.progressive(X, Y, classes=[0, 1, 2]).predictions.tolist()
    assert model._fitted.notes == twin._fitted.notes
    assert all(label in one for label, one in zip(said[1:], sets[1:], strict=True))
    assert np.mean([label in one for label, one in zip(LABELS, sets, strict=True)]) > 0.8
    with pytest.raises(DataError, match="target y is None"):
        model.progressive_sets(X, None)


def test_yarrow_predicts_sets_and_abstains() -> None:
    """Its sets hold the class as often as asked, and it errs less where it answers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = np.argmax(X[:, :3] + 0.7 * rng.normal(size=(1500, 3)), axis=1)
    model = PredictionSetClassifier(YarrowClassifier(), coverage=0.9)
    model.partial_fit(X[:1000], y[:1000])
    sets = model.predict_set(X[1000:])
    held = np.mean([label in found for found, label in zip(sets, y[1000:].tolist(), strict=True)])
    assert 0.86 < held < 0.95
    told = model.predict_or_abstain(X[1000:]).tolist()
    answered = [(a, b) for a, b in zip(told, y[1000:].tolist(), strict=True) if a is not None]
    assert 100 < len(answered) < 500
    errors = np.mean([a != b for a, b in answered])
    assert errors < 0.7 * np.mean(model.predict(X[1000:]) != y[1000:])
