"""Asking for labels: when, and what is learned of the answers."""

from __future__ import annotations

import numpy as np
import pytest
from contract.support import as_dicts, classification, learned

import yarrow
from yarrow import AROWClassifier, Perceptron
from yarrow.base.classifier import LinearClassifier
from yarrow.errors import DataError, ParameterError
from yarrow.feedback import SelectiveClassifier
from yarrow.linear_model import CustomClassifier

X, Y = classification(300, 6, 3, seed=2)
ROWS = as_dicts(X)
LABELS = Y.tolist()


def test_the_chance_to_be_asked_is_that_of_the_paper():
    learner = AROWClassifier().partial_fit(X, Y == 1)
    row = ROWS[5]
    scores, variances = learner._model.score_one(row)
    margin, deviation = max(scores), np.sqrt(variances[int(np.argmax(scores))])
    for ask, expected in (
        ("margin", 0.2 / (0.2 + margin)),
        ("variance", 0.2 / (0.2 + margin / deviation)),
        ("random", 0.2),
    ):
        model = SelectiveClassifier(ask=ask, b=1e9).partial_fit(X, Y == 1)
        assert model.n_asked_ == len(X)
        model.b = 0.2
        asked = np.mean([model.wants_label(row) for _ in range(4000)])
        assert asked == pytest.approx(expected, abs=0.03), ask


def test_labels_that_are_not_asked_for_are_not_looked_at():
    model = SelectiveClassifier(b=0.05).partial_fit(X[:200], Y[:200])
    watched, twin = (model.clone(include_attributes=True) for _ in range(2))
    before = watched.n_asked_
    kept = np.zeros(100, dtype=bool)
    for i in range(100):
        watched.partial_fit(X[200 + i : 201 + i], Y[200 + i : 201 + i])
        kept[i] = watched.n_asked_ > before
        before = watched.n_asked_
    assert 0 < kept.sum() < 100
    lied = np.where(kept, Y[200:300], (Y[200:300] + 1) % 3)
    twin.partial_fit(X[200:300], lied)
    assert learned(twin.learners_[0]) == learned(watched.learners_[0])


def test_a_service_asks_and_learns_the_answers():
    by_labels = SelectiveClassifier(b=0.1).partial_fit(X, Y)
    service = SelectiveClassifier(b=0.1)
    for row, label in zip(ROWS, LABELS, strict=True):
        if service.wants_label(row):
            service.learn_asked(row, label)
    assert abs(service.n_asked_ - by_labels.n_asked_) < 30
    assert service.n_asked_ < 250
    assert np.mean([service.predict_one(r) == y for r, y in zip(ROWS, LABELS, strict=True)]) > 0.7


@pytest.mark.parametrize("ask", ["margin", "variance"])
def test_asking_where_it_is_unsure_beats_asking_at_random(ask):
    random = np.random.default_rng(1)
    rows = random.normal(size=(4000, 20))
    y = rows @ random.normal(size=20) > 0

    def run(**settings):
        model = SelectiveClassifier(AROWClassifier(), **settings)
        said = model.progressive(rows, y).predictions
        return model.n_asked_, np.mean(said != y)

    asked, error = run(ask=ask, b=0.1)
    same, at_random = run(ask="random", b=asked / 4000)
    assert same > 0.9 * asked
    assert error < 0.8 * at_random


def test_only_linear_classifiers_know_their_margin():
    with pytest.raises(ParameterError, match="a linear classifier of Yarrow"):
        SelectiveClassifier(yarrow.kernel.KernelPerceptron()).fit(X, Y)


@pytest.mark.parametrize("learner", [Perceptron(), yarrow.OGDClassifier(), CustomClassifier()])
def test_a_learner_that_knows_no_variance_is_not_asked_for_it(learner):
    model = SelectiveClassifier(learner, ask="variance")
    expected = f"'margin' or 'random' with {type(learner).__name__}, which knows no variance"
    with pytest.raises(ParameterError, match=expected):
        model.fit(X, Y)
    with pytest.raises(ParameterError, match=expected):
        model.learn_one(ROWS[0], LABELS[0])
    with pytest.raises(ParameterError, match=expected):
        model.learn_asked(ROWS[0], LABELS[0])


def linear_classifiers():
    found = [getattr(yarrow.linear_model, name) for name in yarrow.linear_model.__all__]
    classes = [cls for cls in found if isinstance(cls, type) and issubclass(cls, LinearClassifier)]
    return [cls() for cls in classes] + [CustomClassifier(loop="confidence")]


@pytest.mark.parametrize("learner", linear_classifiers(), ids=repr)
def test_who_knows_a_variance_is_known_beforehand(learner):
    variances = learner.clone().partial_fit(X, Y)._model.score_one(ROWS[0])[1]
    model = SelectiveClassifier(learner, ask="variance", b=1e-3)
    if min(variances) > 0:
        model.partial_fit(X, Y)
    else:
        with pytest.raises(ParameterError, match="knows no variance"):
            model.partial_fit(X, Y)


def test_an_answer_that_is_none_is_refused():
    model = SelectiveClassifier()
    for _ in range(2):
        with pytest.raises(DataError, match="no label"):
            model.learn_asked(ROWS[0], None)
        model.learn_asked(ROWS[0], LABELS[0])
    assert model.n_asked_ == 2
