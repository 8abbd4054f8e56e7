"""Labels, predictions, scores and weights that the tests of metrics count."""

from __future__ import annotations

from typing import Any

import numpy as np

Arrays = tuple[Any, Any, Any, Any]  # labels, predictions, scores, weights


def two_classes(n: int = 300, seed: int = 0) -> Arrays:
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, n)
    scores = np.round(np.clip(chance.normal(0.4 + 0.2 * labels, 0.2), 0.01, 0.99), 2)  # with ties
    return labels, (scores > 0.5).astype(int), scores, chance.integers(1, 4, n) * 0.5


def many_classes(n: int = 300, seed: int = 0) -> Arrays:
    chance = np.random.default_rng(seed)
    names = np.array(["dog", "cat", "eel", "fox"])
    labels = names[chance.integers(0, 4, n)]
    guesses = np.where(chance.random(n) < 0.6, labels, names[chance.integers(0, 4, n)])
    return labels, guesses, None, chance.integers(1, 4, n) * 0.5


def values(n: int = 300, seed: int = 0) -> Arrays:
    chance = np.random.default_rng(seed)
    labels = chance.normal(1e3, 1, n)
    return labels, labels + chance.normal(0.1, 0.5, n), None, chance.integers(1, 4, n) * 0.5
