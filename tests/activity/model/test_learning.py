"""Lemma 5.1 and the search over pairs, against independent ways to the same result."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from yarrow import _core
from yarrow.activity.model.features import ACTIVITY_FEATURES, Features, no_features
from yarrow.activity.model.learning import (
    EACH_WORD,
    FIRST_WEIGHTS,
    Example,
    SoftMargin,
    Weights,
    best_rival,
)

SEEDS = range(5)


def weights_and_example(seed: int, words: int = 0) -> tuple[Weights, Example]:
    random = np.random.default_rng(seed)
    weights = Weights(each_word=bool(words))
    weights.features = random.normal(size=len(FIRST_WEIGHTS))
    z = random.normal(size=len(FIRST_WEIGHTS))
    if weights.features @ z > 0:
        z = -z
    return weights, Example(z, {f"w{i}": float(random.normal()) for i in range(words)})


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("words", [0, 3])
@pytest.mark.parametrize(("C", "alpha"), [(10.0, 0.001), (0.1, 0.3)])
def test_the_step_solves_the_optimisation_problem(
    seed: int, words: int, C: float, alpha: float
) -> None:
    weights, example = weights_and_example(seed, words)
    old = np.append(weights.features, np.zeros(words))
    z = np.append(example.features, list(example.words.values()))

    def objective(both: np.ndarray) -> float:
        new, xi = both[:-1], both[-1]
        moved = new - old
        return moved @ moved / 2 + C * xi**2 + alpha / 2 * new @ new

    solved = minimize(
        objective,
        np.append(old, 1.0),
        constraints={"type": "ineq", "fun": lambda both: both[:-1] @ z - 1 + both[-1]},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert solved.success
    SoftMargin(C, alpha).learn(weights, example)
    stepped = np.append(
        weights.features, [weights.word(word) / EACH_WORD for word in example.words]
    )
    np.testing.assert_allclose(stepped, solved.x[:-1], atol=1e-5)


def test_the_step_is_that_of_the_core() -> None:
    from yarrow import RegularizedPAClassifier

    core = RegularizedPAClassifier(C=10.0, alpha=0.001, fit_intercept=False, dtype="float64")
    weights, learner = Weights(), SoftMargin(10.0, 0.001)
    weights.features = np.zeros(len(FIRST_WEIGHTS))
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, len(FIRST_WEIGHTS)))
    core.partial_fit(rows, np.ones(200), classes=[-1, 1])
    for row in rows:
        learner.learn(weights, Example(row, {}))
    np.testing.assert_allclose(weights.features, core.coef_[0], rtol=1e-12)


def test_an_example_with_its_margin_changes_nothing() -> None:
    weights = Weights()
    before = weights.features.copy()
    reached = Example(1.001 * before / (before @ before), {})
    SoftMargin().learn(weights, reached)
    assert (weights.features == before).all()
    SoftMargin().learn(weights, Example(np.zeros(len(before)), {}))
    assert (weights.features == before).all()


def test_words_shrink_together_however_often() -> None:
    weights, learner = Weights(each_word=True), SoftMargin(C=10.0, alpha=0.9)
    weights.features = np.zeros(len(FIRST_WEIGHTS))
    learner.learn(weights, Example(np.zeros(len(FIRST_WEIGHTS)), {"old": 1.0}))
    learned = weights.word("old")
    for i in range(400):
        learner.learn(weights, Example(np.zeros(len(FIRST_WEIGHTS)), {f"new {i}": 1.0}))
    assert weights.word("old") == pytest.approx(learned / 1.9**400, rel=1e-9)


def test_scores_follow_the_weights_whenever_they_change() -> None:
    random = np.random.default_rng(0)
    weights, size = Weights(), len(ACTIVITY_FEATURES)
    before = no_features()
    for lesson in (False, True, False, True):
        now = Features(
            random.normal(size=(size, 4)), random.normal(size=4).tolist(), {}, np.zeros((1, 4))
        )
        for seen in (before, now):
            scores = np.zeros(5)
            scores[: seen.of_activities.shape[1]] = weights.features[:size] @ seen.of_activities
            np.testing.assert_allclose(weights.scores(seen, 5), scores)
        switch = np.concatenate((before.of_switch, now.of_switch))
        assert weights.penalty(before, now) == pytest.approx(weights.features[size:] @ switch)
        if lesson:
            weights.step(0.9, 0.1, Example(random.normal(size=len(FIRST_WEIGHTS)), {}))
            assert weights.unit() != 1
        before = now
    with pytest.raises(ValueError, match="read-only"):  # they would not
        weights.features[0] = 1.0


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.7])
@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_are_found_as_by_looking_at_all(count: int, penalty: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = random.normal(size=(2, count))
    score = {
        (a, b): first[a] + second[b] - penalty * (a != b)
        for a, b in itertools.product(range(count), repeat=2)
    }
    ending = np.empty(count)
    end, lead = _core.best_pair(first, second, penalty, 2.0, ending)
    for b in range(count):
        assert ending[b] == pytest.approx(max(score[a, b] for a in range(count)) / 2)
    assert end == max(score, key=lambda pair: score[pair])[1]
    others = [value / 2 for pair, value in score.items() if pair[1] != end]
    assert lead == pytest.approx(ending[end] - max(others, default=-np.inf))
    for right in score:
        rivals = {pair: value for pair, value in score.items() if pair != right}
        best = max(rivals, key=lambda pair: rivals[pair]) if rivals else None
        assert best_rival(first, second, penalty, right) == best
