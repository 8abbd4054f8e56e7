"""Updates of the bandit learners against the papers' definitions, and what they may look at."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from scipy.optimize import minimize

import yarrow
from yarrow.bandit import BanditPAClassifier, BanditronClassifier, Choice
from yarrow.bandit.base import uniform
from yarrow.errors import DataError, ParameterError

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(400, 6))
Y = np.argmax(X @ RANDOM.normal(size=(6, 4)), axis=1)
CLASSES = [0, 1, 2, 3]


def weights(model):
    """Return classes x (features, intercept), by feature names 0, 1, 2..."""
    table = model._fitted.table
    lines = [table.places[j] for j in range(6)] + [0]
    return table.scale * table.weights[lines].T


def as_dict(row):
    return dict(enumerate(row.tolist()))


def learned(model_class, rows=60, **settings):
    model = model_class(classes=CLASSES, gamma=0.5, **settings)
    return model.partial_fit(X[:rows], Y[:rows])


@pytest.mark.parametrize("truth", CLASSES)
def test_the_mean_of_banditrons_update_is_the_perceptrons(truth):
    """Kakade et al., Lemma 4: E[U~] = U, the multiclass Perceptron's step, right or wrong."""
    model = learned(BanditronClassifier)
    x = X[70]
    before = weights(model)
    scores = before @ np.append(x, 1.0)
    best = int(np.argmax(scores))
    gamma, mean = 0.5, np.zeros_like(before)
    for drawn in CLASSES:
        probability = gamma / 4 + (1 - gamma) * (drawn == best)
        twin = model.clone(include_attributes=True)
        twin.learn(Choice(drawn, as_dict(x), best, probability), right=drawn == truth)
        mean += probability * (weights(twin) - before)
    step = np.zeros_like(before)
    step[truth] += np.append(x, 1.0)
    step[best] -= np.append(x, 1.0)
    np.testing.assert_allclose(mean, step, atol=1e-12)


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("C", [np.inf, 0.3])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_the_pa_update_solves_its_problem(right, C, alpha):
    """Shen & Dietterich (3.1) and (5.27) for the class that was shown."""
    model = learned(BanditPAClassifier, alpha=alpha, C=C)
    before = weights(model)
    x = np.append(X[71], 1.0)
    drawn = int(np.argmin(np.abs(before @ x)))
    sign = 1.0 if right else -1.0
    assert sign * before[drawn] @ x < 1
    model.learn(Choice(drawn, as_dict(X[71]), 0, 0.5), right=right)

    def objective(flat):
        w = flat.reshape(before.shape)
        slack = 0.0 if np.inf == C else C * max(0.0, 1 - sign * w[drawn] @ x) ** 2
        return 0.5 * np.sum((w - before) ** 2) + alpha / 2 * np.sum(w**2) + slack

    hard = {"type": "ineq", "fun": lambda f: sign * f.reshape(before.shape)[drawn] @ x - 1}
    solved = minimize(
        objective,
        before.ravel(),
        method="SLSQP",
        constraints=[hard] if np.inf == C else [],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(weights(model).ravel(), solved.x, atol=1e-5)


def test_a_margin_that_is_reached_changes_nothing():
    model = learned(BanditPAClassifier, C=np.inf, alpha=0.1)
    model.learn(Choice(1, as_dict(X[72]), 1, 0.9), right=True)
    before = weights(model)
    assert before[1] @ np.append(2 * X[72], 1.0) > 1
    model.learn(Choice(1, as_dict(2 * X[72]), 1, 0.9), right=True)
    np.testing.assert_array_equal(weights(model), before)


@pytest.mark.parametrize("cls", [BanditronClassifier, BanditPAClassifier])
def test_of_a_label_only_right_or_wrong_is_used(cls):
    """Labels that differ only where the class drawn was wrong anyway teach the same."""
    model = cls(classes=CLASSES, gamma=0.3)
    drawn = model.progressive(X, Y).predictions
    wrong = drawn != Y
    other = np.where(wrong, (Y + 1) % 4, Y)
    other = np.where(wrong & (other == drawn), (other + 1) % 4, other)
    assert (other != Y)[wrong].any()
    twin = cls(classes=CLASSES, gamma=0.3)
    assert (twin.progressive(X, other).predictions == drawn).all()
    np.testing.assert_array_equal(weights(twin), weights(model))


@pytest.mark.parametrize("cls", [BanditronClassifier, BanditPAClassifier])
def test_choosing_and_answering_is_learning_with_labels(cls):
    by_labels = cls(classes=CLASSES, gamma=0.3).partial_fit(X, Y)
    by_answers = cls(classes=CLASSES, gamma=0.3)
    for row, truth in zip(X, Y, strict=True):
        choice = by_answers.choose_one(as_dict(row))
        by_answers.learn(choice, choice.label == truth)
    np.testing.assert_array_equal(weights(by_answers), weights(by_labels))
    assert by_answers.n_mistakes_ == by_labels.n_mistakes_


@pytest.mark.parametrize("cls", [BanditronClassifier, BanditPAClassifier])
def test_answers_may_come_late_in_any_order_and_through_json(cls):
    model = cls(classes=["a", "b"]).partial_fit(X, np.array(["a", "b"])[Y % 2])
    choices = model.choose(X[:20])
    for choice in reversed(choices):
        document = json.loads(json.dumps(dataclasses.asdict(choice)))
        document["x"] = {int(name): value for name, value in document["x"].items()}
        model.learn(Choice(**document), right=choice.label == "a")
    assert model.t_ == 420


def test_exploring_is_as_frequent_as_told_and_fades():
    model = BanditronClassifier(classes=CLASSES, gamma=0.4)
    choices = [model.choose_one(as_dict(X[0])) for _ in range(2000)]
    explored = np.mean([choice.label != choice.best for choice in choices])
    assert explored == pytest.approx(0.4 * 3 / 4, abs=0.04)
    shares = {choice.probability for choice in choices}
    assert shares == {0.1, 0.1 + 0.6}
    fading = BanditronClassifier(classes=CLASSES, gamma=1.0, decay=0.5)
    fading.choose(X[:399])
    assert fading.gamma_ == pytest.approx(1 / 20)


def test_draws_are_even_and_differ_by_seed():
    draws = np.array([[uniform(seed, i) for i in range(5000)] for seed in (0, 1)])
    assert draws.min() >= 0
    assert draws.max() < 1
    counts = np.histogram(draws[0], 10, (0, 1))[0]
    assert abs(counts - 500).max() < 100
    assert abs(np.corrcoef(draws[0], draws[1])[0, 1]) < 0.05
    assert abs(np.corrcoef(draws[0][1:], draws[0][:-1])[0, 1]) < 0.05


@pytest.mark.parametrize("cls", [BanditronClassifier, BanditPAClassifier])
def test_it_learns(cls):
    said = cls(gamma=0.1).progressive(np.tile(X, (8, 1)), np.tile(Y, 8)).predictions
    wrong = said != np.tile(Y, 8)
    assert wrong[-800:].mean() < 0.45
    assert wrong[-800:].mean() < wrong[:400].mean()


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(ParameterError, match="no class to choose from"):
        BanditronClassifier().choose_one({"a": 1.0})
    model = BanditronClassifier(classes=["a", "b"])
    choice = model.choose_one({"x": 1.0})
    with pytest.raises(ParameterError, match="True or False"):
        model.learn(choice, "yes")
    with pytest.raises(DataError, match="'c' is not one that can be shown"):
        model.learn(dataclasses.replace(choice, label="c"), True)
    with pytest.raises(DataError, match="'c' is not one of the declared"):
        model.learn_one({"x": 1.0}, "c")
    with pytest.raises(DataError, match="too large"):
        model.learn(Choice("a", {"x": 1e308}, "b", 1e-9), True)


def test_a_model_of_choices_is_saved(tmp_path):
    model = BanditPAClassifier(classes=["a", "b"], alpha=0.5)
    for i in range(200):  # the scale is folded in more than once
        choice = model.choose_one({"x": 1.0, i: 0.5})
        model.learn(choice, choice.label == "ab"[i % 2])
    model.save(tmp_path / "model")
    loaded = yarrow.load(tmp_path / "model")
    for i in range(50):
        one, other = (m.choose_one({"x": 1.0, i: 0.5}) for m in (model, loaded))
        assert one == other
        model.learn(one, i % 3 == 0)
        loaded.learn(other, i % 3 == 0)
    assert loaded.n_mistakes_ == model.n_mistakes_
