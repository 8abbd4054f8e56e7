"""Kernel learners against their linear twins, batch matrices and optimisation problems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from contract.support import classification
from scipy.optimize import minimize

import yarrow
from yarrow.kernel import (
    DUOLClassifier,
    ForgetronClassifier,
    KernelAROWClassifier,
    KernelNORMAClassifier,
    KernelNormConstrainedPAClassifier,
    KernelPassiveAggressiveClassifier,
    KernelPerceptron,
    KernelRegularizedPAClassifier,
)
from yarrow.kernel.duol import best_pair
from yarrow.kernel.forgetron import harm_of_forgetting, shrinkage

X, Y = classification(400, 10, 3, seed=8)
NOISY = np.where(np.random.default_rng(0).random(len(Y)) < 0.1, (Y + 1) % 3, Y)
TWINS = [
    (KernelPerceptron, "Perceptron", {}),
    (KernelPerceptron, "Perceptron", {"margin": 0.5}),
    *[
        (KernelPassiveAggressiveClassifier, "PassiveAggressiveClassifier", {"variant": v, "C": 0.3})
        for v in ("pa", "pa1", "pa2")
    ],
    (KernelNORMAClassifier, "NORMAClassifier", {}),
    (KernelNORMAClassifier, "NORMAClassifier", {"nu": 0.3}),
    (KernelRegularizedPAClassifier, "RegularizedPAClassifier", {"alpha": 0.01}),
    (KernelRegularizedPAClassifier, "RegularizedPAClassifier", {"alpha": 0.01, "C": 2.0}),
    (
        KernelRegularizedPAClassifier,
        "RegularizedPAClassifier",
        {"alpha": 0.01, "update": "mistakes"},
    ),
    (KernelNormConstrainedPAClassifier, "NormConstrainedPAClassifier", {"beta": 2.0}),
    (KernelAROWClassifier, "AROWClassifier", {"r": 0.5}),
    (KernelAROWClassifier, "AROWClassifier", {"r": 0.5, "loss": "hinge"}),
]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("cls", "twin", "settings"), TWINS, ids=str)
def test_the_linear_kernel_without_a_budget_is_the_linear_learner(cls, twin, settings, intercept):
    full = {"covariance": "full"} if twin == "AROWClassifier" else {}
    linear = getattr(yarrow, twin)(dtype="float64", fit_intercept=intercept, **settings, **full)
    model = cls(kernel="linear", fit_intercept=intercept, **settings)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    linear.partial_fit(X, NOISY, sample_weight=weights)
    model.partial_fit(X, NOISY, sample_weight=weights)
    scale = np.abs(linear.decision_function(X)).max()
    np.testing.assert_allclose(
        model.decision_function(X) / scale, linear.decision_function(X) / scale, atol=1e-9
    )
    assert model.n_mistakes_ == linear.n_mistakes_


# -- budgets -------------------------------------------------------------------------------------


def gram(model):
    """Return the kernel of all kept rows with each other, by the textbook."""
    supports = model._fitted.supports
    rows = np.zeros((len(supports), X.shape[1]))
    for place in range(len(supports)):
        row = supports.dict_at(place)
        rows[place, list(row)] = list(row.values())
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    return np.exp(-model.gamma * distances) + 1


def test_norms_are_kept_right_when_rows_go():
    model = KernelNormConstrainedPAClassifier(gamma=0.3, beta=1e3, budget=20).partial_fit(X, NOISY)
    state = model._fitted
    true = np.einsum("ic,ij,jc->c", state.coefficients, gram(model), state.coefficients)
    np.testing.assert_allclose(state.squared_norms, true, rtol=1e-8)


def test_the_norm_constraint_is_restored_when_a_row_goes():
    model = KernelNormConstrainedPAClassifier(gamma=0.3, beta=2.0, budget=10)
    for at in range(len(X)):
        model.partial_fit(X[at : at + 1], NOISY[at : at + 1])
        state = model._fitted
        K = gram(model)
        norms = np.sqrt(np.einsum("ic,ij,jc->c", state.coefficients, K, state.coefficients))
        assert norms.max() <= 2.0 * (1 + 1e-9)
    np.testing.assert_allclose(np.sqrt(state.squared_norms), norms, rtol=1e-8)


def test_the_oldest_row_goes_first():
    model = KernelPerceptron(margin=10.0, budget=5).partial_fit(X[:50], Y[:50])
    kept = {tuple(sorted(row.items())) for row in model.support_vectors_}
    last = [{j: v for j, v in enumerate(row) if v} for row in X[45:50]]
    assert kept == {tuple(sorted(row.items())) for row in last}


def test_a_random_row_goes_the_same_by_every_route(tmp_path):
    def fresh():
        return KernelPerceptron(margin=10.0, budget=5, removal="random", gamma=0.5)

    model = fresh().partial_fit(X[:60], Y[:60])
    ages = model._fitted.supports.ages
    assert len(ages) == 5
    assert ages.min() < 50, "some old row has survived"
    first = fresh().partial_fit(X[:30], Y[:30])
    first.save(tmp_path / "model")
    again = KernelPerceptron.load(tmp_path / "model").partial_fit(X[30:60], Y[30:60])
    assert again.support_vectors_ == model.support_vectors_
    counts = np.zeros(60)
    for seed in range(300):
        one = fresh().set_params(random_state=seed).partial_fit(X[:8], Y[:8])
        counts[one._fitted.supports.ages] += 1
    # Of the first five, each survives three drawings with the chance (4/5)**3.
    np.testing.assert_allclose(counts[:5] / 300, 0.8**3, atol=0.1)


# -- Forgetron -----------------------------------------------------------------------------------


def test_the_shrinkage_is_the_largest_allowed():
    random = np.random.default_rng(3)
    grid = np.linspace(1e-6, 1, 20001)
    for _ in range(300):
        size, mistakes = random.uniform(0.01, 1), float(random.integers(1, 50))
        margin = random.normal()
        harm = random.uniform(0, 15 / 32 * mistakes)
        phi = shrinkage(size, margin, 1.0, harm, mistakes)
        total = harm + harm_of_forgetting(grid * size, grid * margin)
        allowed = grid[total <= 15 / 32 * mistakes]
        best = allowed.max() if len(allowed) else 0.0
        assert abs(phi - best) < 1e-4
        assert 0 < phi <= 1


def test_the_forgetron_stays_within_its_harm():
    model = ForgetronClassifier(gamma=0.5, budget=20, fit_intercept=False)
    for at in range(len(X)):
        model.partial_fit(X[at : at + 1], NOISY[at : at + 1])
        state = model._fitted
        assert state.harm[0] <= 15 / 32 * state.column_updates[0] + 1e-9
    assert state.harm[0] > 0, "the budget was never a limit"


def test_the_forgetron_stays_within_its_mistake_bound():
    """With |u| <= sqrt((B+1)/log(B+1))/4 and B >= 83: mistakes <= 2|u|^2 + 4*losses of u."""
    random = np.random.default_rng(5)
    labels = random.choice([-1, 1], 4000)
    rows = np.column_stack([0.8 * labels, random.normal(size=(4000, 300)) * 0.6 / np.sqrt(300)])
    longest = math.sqrt(84 / math.log(84)) / 4
    u = np.eye(301)[0] * longest
    noisy = np.where(random.random(4000) < 0.05, -labels, labels)
    model = ForgetronClassifier(kernel="linear", budget=83, fit_intercept=False)
    model.partial_fit(rows / np.linalg.norm(rows, axis=1).max(), noisy)
    losses = np.maximum(0, 1 - noisy * (rows @ u)).sum()
    bound = 2 * longest**2 + 4 * losses
    assert 100 < model.n_updates_ <= bound < len(rows), "a bound that says something"


@pytest.mark.parametrize("labels", [NOISY, NOISY % 2])
def test_within_its_budget_the_forgetron_is_the_linear_perceptron(labels):
    """Towards the true class and away from the best other one, each by a step of sqrt(1/2)."""
    model = ForgetronClassifier(kernel="linear", budget=10_000).partial_fit(X, labels)
    rows = np.column_stack([X, np.ones(len(X))])
    weights, mistakes = {}, 0
    for row, label in zip(rows, labels.tolist(), strict=True):
        weights.setdefault(label, np.zeros(rows.shape[1]))
        others = [name for name in weights if name != label]
        if not others:
            continue
        rival = max(others, key=lambda name: weights[name] @ row)
        if weights[label] @ row <= weights[rival] @ row:
            mistakes += 1
            weights[label] = weights[label] + row
            weights[rival] = weights[rival] - row
    assert model.n_updates_ == mistakes
    scores = math.sqrt(0.5) * np.column_stack([rows @ weights[name] for name in sorted(weights)])
    expected = scores[:, 1] if scores.shape[1] == 2 else scores
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


# -- DUOL ----------------------------------------------------------------------------------------


def test_the_pair_solves_its_dual_problem():
    random = np.random.default_rng(2)
    for _ in range(60):
        k1, k2 = random.uniform(0.5, 2, 2)
        w = -random.uniform(0, 1) * math.sqrt(k1 * k2)
        l1, l2 = random.uniform(0, 2), random.uniform(-1, 2)
        other = random.uniform(0, 1)
        limits = (1.0, -other, 1.0 - other)
        g, d = best_pair(losses=(l1, l2), squares=(k1, k2), product=w, limits=limits)

        def minus_dual(p, l1=l1, l2=l2, k1=k1, k2=k2, w=w):
            return -(
                p[0] * l1 + p[1] * l2 - (k1 * p[0] ** 2 + k2 * p[1] ** 2) / 2 - w * p[0] * p[1]
            )

        best = minimize(minus_dual, [0.5, 0.0], bounds=[(0, limits[0]), limits[1:]], tol=1e-12)
        assert minus_dual((g, d)) <= best.fun + 1e-8
        assert -1e-12 <= g <= 1 + 1e-12
        assert limits[1] - 1e-12 <= d <= limits[2] + 1e-12


def test_conflicts_by_hand():
    """Rows on a line with the linear kernel: x = 1 is +, then x = 0.5 is -, a conflict of 0.5."""
    model = DUOLClassifier(kernel="linear", fit_intercept=False, C=10.0, rho=0.1)
    model.learn_one({"x": 1.0}, 1)  # margin 0: coefficient 1/1 for class 1
    column = 0
    assert model._fitted.coefficients[0, column] == 1.0
    model.learn_one({"x": 0.5}, 0)
    # margin of the new row for column 1: -0.5, loss 1.5; of the old one 1, loss 0; product -0.5.
    # The rows are parallel, so the dual's highest point is on a side of the rectangle.
    g, d = best_pair(losses=(1.5, 0.0), squares=(0.25, 1.0), product=-0.5, limits=(10.0, -1.0, 9.0))
    assert model._fitted.coefficients[0, column] == pytest.approx(1.0 + d)
    assert model._fitted.coefficients[1, column] == pytest.approx(-g)
    far = DUOLClassifier(kernel="linear", fit_intercept=False, C=10.0, rho=0.6)
    far.learn_one({"x": 1.0}, 1)
    far.learn_one({"x": 0.5}, 0)
    assert far._fitted.coefficients[0, column] == 1.0, "a conflict of 0.5 is below rho"
    assert far._fitted.coefficients[1, column] == pytest.approx(-min(10.0, 1.5 / 0.25))


def test_without_conflicts_it_is_the_linear_passive_aggressive():
    linear = yarrow.PassiveAggressiveClassifier(C=0.3, variant="pa1", dtype="float64")
    linear.partial_fit(X, NOISY)
    model = DUOLClassifier(kernel="linear", C=0.3, rho=1e9).partial_fit(X, NOISY)
    np.testing.assert_allclose(
        model.decision_function(X), linear.decision_function(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("budget", [None, 25])
def test_margins_of_kept_rows_are_kept_right(budget):
    model = DUOLClassifier(gamma=0.3, C=2.0, budget=budget).partial_fit(X, NOISY)
    state = model._fitted
    scores = gram(model) @ state.coefficients
    np.testing.assert_allclose(state.margins, state.signs * scores, atol=1e-9)
    duals = state.coefficients * state.signs
    assert duals.min() >= -1e-12
    assert duals.max() <= 2.0 + 1e-12


# -- AROW ----------------------------------------------------------------------------------------


def test_the_confidence_is_the_inverse_of_a_matrix_over_the_rows_learned():
    model = KernelAROWClassifier(gamma=0.3, r=0.7, budget=30).partial_fit(X, NOISY)
    K = gram(model)
    for matrix in model._fitted.matrices:
        members = np.flatnonzero(np.diag(matrix))
        expected = np.linalg.inv(K[np.ix_(members, members)] + 0.7 * np.eye(len(members)))
        np.testing.assert_allclose(matrix[np.ix_(members, members)], expected, atol=1e-8)
        others = np.setdiff1d(np.arange(len(K)), members)
        assert not matrix[others].any()


def test_kernels_learn_what_no_plane_separates():
    random = np.random.default_rng(0)
    rows = random.uniform(-2, 2, (2000, 2))
    rings = (np.linalg.norm(rows, axis=1) > 1.3).astype(int)
    noisy = np.where(random.random(2000) < 0.1, 1 - rings, rings)
    for cls, labels, settings, most in (
        (KernelPerceptron, rings, {}, 0.1),
        (ForgetronClassifier, rings, {}, 0.1),
        (KernelRegularizedPAClassifier, rings, {}, 0.1),
        (KernelNormConstrainedPAClassifier, rings, {}, 0.1),
        (KernelPassiveAggressiveClassifier, noisy, {"C": 0.1}, 0.15),
        (KernelNORMAClassifier, noisy, {"power": 0.0, "l2": 0.01}, 0.15),
        (DUOLClassifier, noisy, {"C": 0.3}, 0.2),
        (KernelAROWClassifier, noisy, {}, 0.06),
    ):
        model = cls(gamma=1.0, budget=150, **settings).partial_fit(rows[:1500], labels[:1500])
        error = 1 - model.score(rows[1500:], rings[1500:])
        assert error < most, (cls.__name__, error)
