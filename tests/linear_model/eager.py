"""Sparse learners in the slow textbook form: all weights after each row, and how to compare."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import binary_stream, weights, with_constant

#: loss and its derivative in the margin
LOSSES = {
    "hinge": (lambda u: max(0.0, 1 - u), lambda u: -1.0 if u < 1 else 0.0),
    "squared_hinge": (lambda u: 0.5 * max(0.0, 1 - u) ** 2, lambda u: min(0.0, u - 1)),
    "logistic": (lambda u: np.log1p(np.exp(-u)), lambda u: -1 / (1 + np.exp(u))),
    "squared": (lambda u: 0.5 * (1 - u) ** 2, lambda u: u - 1),
}
each_loss = pytest.mark.parametrize("loss", LOSSES)


def soft(w, by):
    """Pull the weights towards zero, all but the intercept's."""
    pulled = np.sign(w) * np.maximum(np.abs(w) - by, 0)
    pulled[0] = w[0]
    return pulled


def path(Z, sample_weight, loss, step):
    """All weights after each row; `step(w, gradient, t)` makes the next from the last."""
    w, found = np.zeros(Z.shape[1]), []
    for t, (z, weight) in enumerate(zip(Z, sample_weight, strict=True), start=1):
        w = step(w, weight * LOSSES[loss][1](z @ w) * z, t)
        found.append(w)
    return np.array(found)


def sparse_case(seed, rows=400):
    X, y = binary_stream(seed, rows=rows, features=30, density=0.1)
    sample_weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(y))
    return X, y, sample_weight, y[:, None] * with_constant(X)


def check_lazy(model, case, eager):
    """Learned in chunks, read at their ends: the same weights and the same zeros."""
    X, y, sample_weight, _ = case
    ends = [2, 3, 50, 51, 200, len(X)]
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        part = slice(begin, end)
        model.partial_fit(scipy.sparse.csr_array(X[part]), y[part], None, sample_weight[part])
        found = weights(model)[0]
        np.testing.assert_allclose(found, eager[end - 1], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found == 0, eager[end - 1] == 0)
    np.testing.assert_allclose(model.decision_function(X), with_constant(X) @ eager[-1], atol=1e-11)
    assert model.n_nonzero_ == np.count_nonzero(eager[-1][1:])
    assert model.n_nonzero_ > 0
    assert ((eager[:-1, 1:] != 0) & (eager[1:, 1:] == 0)).sum() > 5  # the pull was felt
