"""Slow, independent answers: the papers' own problems, handed to a numerical solver.

Nothing here knows a closed form of the package. Rows and weights are dense, in float64, with the
intercept as feature 0.
"""

from __future__ import annotations

import copy
from unittest import mock

import numpy as np
from scipy.optimize import minimize, root

EXACT = {"dtype": "float64"}


def binary_stream(seed, rows=60, features=4, density=1.0, noise=0.1):
    """Random rows with labels -1 and +1; both labels stand in the first two rows."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features)) * (random.random((rows, features)) < density)
    y = np.where(X @ random.normal(size=features) > 0, 1, -1)
    y[random.random(rows) < noise] *= -1
    y[:2] = -1, 1
    return X, y


def class_stream(seed, rows=80, features=5, classes=4, density=1.0):
    """Random rows of several classes, which appear one after the other."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features)) * (random.random((rows, features)) < density)
    scores = X @ random.normal(size=(features, classes))
    known = 1 + np.arange(rows) * classes // rows
    y = np.array([np.argmax(row[:k]) for row, k in zip(scores, known, strict=True)])
    flipped = random.random(rows) < 0.15
    y[flipped] = random.integers(known[flipped])
    return X, 10 * y


def with_constant(X, value=1.0):
    return np.hstack([np.full((len(X), 1), value), X])


def weights(model):
    """All weights, a row a score, the intercept's first."""
    constant = model.intercept_scaling if model.fit_intercept else 1.0
    return np.column_stack([model.intercept_ / constant, np.atleast_2d(model.coef_)])


def planes(model):
    """The stored numbers: [slot (0: intercept), plane, column]."""
    return model._model.get_state()["blocks"]


def placed(model, mean, variance):
    """A two-class model of the confidence family, put at a mean and a diagonal covariance."""
    model = copy.deepcopy(model).set_params(classes=[-1, 1])
    model.partial_fit(np.zeros((2, len(mean) - 1)), [-1, 1])
    state = copy.deepcopy(model.__getstate__())
    blocks = state["_core_state"]["tensors"]["blocks"].copy()
    blocks[:, 0, :], blocks[:, 1, :] = mean[:, None], variance[:, None]
    state["_core_state"]["tensors"]["blocks"] = blocks
    largest = max(1.0, float(variance.max()))  # no variance may be larger than the first ones
    with mock.patch.object(type(model), "_initial_variance", return_value=largest):
        model.__setstate__(state)
    return model


def assert_same(one, other):
    """Two models in the same state, to the bit."""
    first, second = (m.__getstate__()["_core_state"] for m in (one, other))
    for name, values in first["tensors"].items():
        np.testing.assert_array_equal(values, second["tensors"][name], err_msg=name)
    assert first["classes"] == second["classes"]


def slope(function, at, step=1e-6):
    """The gradient by central differences."""
    at = np.asarray(at, dtype=float)
    moves = np.eye(len(at)) * step
    return np.array([(function(at + m) - function(at - m)) / (2 * step) for m in moves])


def complex_slope(function, at):
    """The gradient of an analytic function, exact to rounding."""
    return np.array([function(at + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(at))])


def smallest_change(w, wishes, price=None, power=1):
    """argmin 1/2 |u - w|^2 + price * xi^power, with z.u >= target - xi for each wish (z, target).

    Without a price there is no slack.
    """
    d = len(w)
    weight = 0.0 if price is None else price
    loss = max(0.0, *(target - z @ w for z, target in wishes))

    def cost(p):
        return 0.5 * p[:d] @ p[:d] + weight * p[d] ** power

    def gradient(p):
        return np.append(p[:d], weight * power * p[d] ** (power - 1))

    def wish(z, target):
        return {
            "type": "ineq",
            "fun": lambda p: z @ (w + p[:d]) - target + p[d],
            "jac": lambda p: np.append(z, 1.0),
        }

    found = minimize(
        cost,
        np.append(np.zeros(d), 0.0 if price is None else loss),
        jac=gradient,
        method="SLSQP",
        bounds=[(None, None)] * d + [(0.0, 0.0 if price is None else None)],
        constraints=[wish(z, target) for z, target in wishes],
        options={"ftol": 1e-16, "maxiter": 500},
    )
    return w + found.x[:d]


def sparse_argmin(function, gradient, free, penalty):
    """argmin function(w) + penalty * |w|_1, where the weights marked `free` are not pulled.

    w = p - n with p, n >= 0 makes it a smooth problem with bounds.
    """
    d = len(free)
    pull = np.where(free, 0.0, penalty)
    found = minimize(
        lambda pn: function(pn[:d] - pn[d:]) + pull @ (pn[:d] + pn[d:]),
        np.zeros(2 * d),
        jac=lambda pn: np.concatenate([s * gradient(pn[:d] - pn[d:]) + pull for s in (1, -1)]),
        method="L-BFGS-B",
        bounds=[(0, None)] * (2 * d),
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000},
    )
    return found.x[:d] - found.x[d:]


def divergence(m, v, m0, v0):
    """KL(N(m, v) || N(m0, v0)) of two Gaussians on the line."""
    return 0.5 * (np.log(v0 / v) + v / v0 + (m - m0) ** 2 / v0 - 1)


def gaussian_step(m0, v0, shortfall, price=None, power=1, variance_price=0.0):
    """(alpha, kappa) of  min KL + price * xi^power + variance_price * v,  shortfall(m, v) <= xi.

    The problem speaks of weights w ~ N(mu, Sigma), but all that it asks of them concerns the one
    number z.w ~ N(m, v), m = z.mu, v = z'Sigma z. By the chain rule, KL is that of the number plus
    that of the rest given the number, and the rest can stay as it is, at no cost. So the minimum
    over m and v is that over mu and Sigma; it is reached by mu + alpha*Sigma*z with
    alpha = (m - m0)/v0 and by Sigma^-1 + kappa*z*z' with kappa = 1/v - 1/v0.
    Solved in units of sqrt(v0): m = m0 + a*sqrt(v0), v = v0*exp(2b).
    """
    unit = np.sqrt(v0)
    weight = 0.0 if price is None else price * unit**power

    def there(p):
        return m0 + p[0] * unit, v0 * np.exp(2 * p[1])

    def cost(p):
        return divergence(*there(p), m0, v0) + weight * p[2] ** power + variance_price * there(p)[1]

    def gradient(p):
        v = np.exp(2 * p[1])
        slack = weight * power * p[2] ** (power - 1)
        return np.array([p[0], v - 1 + 2 * variance_price * v0 * v, slack])

    def room(p):
        return p[2] - shortfall(*there(p)) / unit

    short = max(0.0, shortfall(m0, v0) / unit)
    found = minimize(
        cost,
        [short, 0.0, 0.0] if price is None else [0.0, 0.0, short],
        jac=gradient,
        method="SLSQP",
        bounds=[(-1e3, 1e3), (-50, 50), (0.0, 0.0 if price is None else 1e6)],
        constraints={"type": "ineq", "fun": room, "jac": lambda p: complex_slope(room, p)},
        options={"ftol": 1e-16, "maxiter": 500},
    ).x

    # The solver compares costs and so finds half of the digits; its Lagrangian gives the others.
    # A squared slack is never 0 where there is a shortfall, however small it may be.
    has_slack = found[2] > 1e-5 or (price is not None and power == 2)
    free = np.array([True, True, has_slack])

    def stationary(x):
        p = np.where(free, x[:3], 0.0)
        pushes = np.where(free, gradient(p) - x[3] * complex_slope(room, p), x[:3])
        return np.append(pushes, room(p))

    with np.errstate(over="ignore", invalid="ignore"):
        found = root(stationary, np.append(found, gradient(found)[0]), tol=1e-13).x
    assert np.abs(stationary(found)).max() < 1e-8 * max(1.0, short), "the solver failed"
    m, v = there(found)
    return (m - m0) / v0, 1 / v - 1 / v0


def full_gaussian_step(mu, sigma, z, shortfall, price=None, power=1, variance_price=0.0):
    """The same problem over all of mu and Sigma = L L': slow, and without a word of theory."""
    d = len(mu)
    precision = np.linalg.inv(sigma)
    lower = np.tril_indices(d)
    on_diagonal = lower[0] == lower[1]

    def there(p):
        L = np.zeros((d, d))
        L[lower] = np.where(on_diagonal, np.exp(p[d:-1]), p[d:-1])
        return p[:d], L @ L.T

    def cost(p):
        mean, cov = there(p)
        kl = 0.5 * (
            np.linalg.slogdet(sigma)[1]
            - np.linalg.slogdet(cov)[1]
            + np.trace(precision @ cov)
            + (mean - mu) @ precision @ (mean - mu)
            - d
        )
        slack = 0.0 if price is None else price * p[-1] ** power
        return kl + slack + variance_price * z @ cov @ z

    def room(p):
        mean, cov = there(p)
        return p[-1] - shortfall(z @ mean, z @ cov @ z)

    L = np.linalg.cholesky(sigma)[lower]
    start = max(0.0, shortfall(z @ mu, z @ sigma @ z))
    found = minimize(
        cost,
        np.concatenate(
            [mu, np.where(on_diagonal, np.log(np.abs(L)), L), [0.0 if price is None else start]]
        ),
        jac="3-point",
        method="SLSQP",
        bounds=[(None, None)] * (d + len(L)) + [(0.0, 0.0 if price is None else None)],
        constraints={"type": "ineq", "fun": room},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return there(found.x)
