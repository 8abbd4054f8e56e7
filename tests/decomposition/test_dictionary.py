"""OnlineDictionaryLearning: its objective, its optimum, and scikit-learn's beside it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import MiniBatchDictionaryLearning, SparseCoder

from yarrow.decomposition import OnlineDictionaryLearning


def signals(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows made of two or so of 12 atoms each, in 8 dimensions, and the atoms."""
    atoms = np.random.default_rng(99).standard_normal((12, 8))
    atoms /= np.linalg.norm(atoms, axis=1)[:, None]
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((rows, 12)) < 0.15, rng.standard_normal((rows, 12)), 0)
    return codes @ atoms, atoms


def objective(X: np.ndarray, atoms: np.ndarray, alpha: float) -> float:
    coder = SparseCoder(atoms, transform_algorithm="lasso_lars", transform_alpha=alpha)
    codes = coder.transform(X)
    return float((((X - codes @ atoms) ** 2).sum() / 2 + alpha * np.abs(codes).sum()) / len(X))


@pytest.mark.filterwarnings("ignore")
def test_objective_on_unseen_rows_falls_to_that_of_scikit_learn():
    X, _ = signals(4000)
    held_out, true_atoms = signals(300, seed=1)
    model = OnlineDictionaryLearning(n_components=12, alpha=0.05, block_size=50)
    first = model.partial_fit(X[:50]).objective(held_out)
    found = []
    for start in range(50, len(X), 1000):
        model.partial_fit(X[start : start + 1000])
        found.append(model.objective(held_out))
    assert found[-1] < found[-2] < found[0] < first
    peer = MiniBatchDictionaryLearning(
        12, alpha=0.05, batch_size=50, max_iter=1, fit_algorithm="cd", random_state=0
    ).fit(X)
    assert found[-1] <= 1.02 * objective(held_out, peer.components_, 0.05)
    assert found[-1] <= 1.25 * objective(held_out, true_atoms, 0.05)
    assert found[-1] == pytest.approx(objective(held_out, model.components_, 0.05), rel=1e-3)


def test_atoms_are_the_best_for_the_sums_learned():
    X, _ = signals(500)
    model = OnlineDictionaryLearning(n_components=5, alpha=0.1, block_size=500, max_sweeps=500)
    model.fit(X)
    A, B, D = model._with_codes, model._with_rows, model.components_

    def surrogate(atoms: np.ndarray) -> float:
        return float(np.trace(atoms.T @ A @ atoms) / 2 - (atoms * B).sum())

    assert np.linalg.norm(D, axis=1).max() <= 1 + 1e-12
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = D + 0.05 * rng.standard_normal(D.shape)
        other /= np.maximum(1, np.linalg.norm(other, axis=1))[:, None]
        assert surrogate(D) <= surrogate(other) + 1e-6


def test_all_chunkings_give_one_result():
    X, _ = signals(230)
    models = [OnlineDictionaryLearning(n_components=6, alpha=0.1, block_size=50) for _ in range(4)]
    models[0].fit(X)
    for start in range(0, len(X), 37):
        models[1].partial_fit(X[start : start + 37])
        assert models[1].n_rows_ == min(start + 37, 230)  # looking changes nothing
    for row in X:
        models[2].learn_one(dict(enumerate(row)))
    models[3].fit(sp.csr_array(X))
    for model in models[1:]:
        np.testing.assert_array_equal(model.components_, models[0].components_)


def test_forgetting_follows_a_change():
    old, _ = signals(2000)
    rng = np.random.default_rng(7)
    new = np.where(rng.random((1000, 8)) < 0.2, rng.standard_normal((1000, 8)), 0)
    settings = {"n_components": 8, "alpha": 0.1, "block_size": 50}
    fading = OnlineDictionaryLearning(**settings, forgetting=8.0).fit(np.vstack([old, new]))
    steady = OnlineDictionaryLearning(**settings, forgetting=0.0).fit(np.vstack([old, new]))
    assert fading.objective(new) < steady.objective(new)


def test_unused_atoms_are_replaced_by_rows():
    X = np.eye(6)[np.arange(1500) % 2]  # two directions at first
    X[300:] = np.eye(6)[np.arange(1200) % 6]
    model = OnlineDictionaryLearning(n_components=6, alpha=0.01, block_size=50).fit(X)
    assert model.objective(np.eye(6)) < 0.02


def test_zero_rows_have_zero_codes():
    model = OnlineDictionaryLearning(n_components=3).fit(np.zeros((5, 4)))
    np.testing.assert_array_equal(model.transform(np.zeros((2, 4))), np.zeros((2, 3)))
    assert model.inverse_transform(np.zeros((2, 3))).shape == (2, 4)


def test_large_rows_can_be_saved(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 4)) * 1e90
    model = OnlineDictionaryLearning(3, block_size=5).fit(rows)
    model.save(tmp_path / "model")
    loaded = OnlineDictionaryLearning.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.components_, model.components_)
