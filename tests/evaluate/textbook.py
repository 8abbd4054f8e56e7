"""The methods as their papers print them: dense, slow, one page. They know nothing of the core."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from yarrow.evaluate import Run


def separable(seed, rows=300, features=5, gamma=0.1, length=1.0):
    """Rows of one length, none nearer than gamma to the true hyperplane."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=features)
    direction /= np.linalg.norm(direction)
    kept = []
    while len(kept) < rows:
        x = random.normal(size=features)
        x *= length / np.linalg.norm(x)
        if abs(x @ direction) >= gamma:
            kept.append(x)
    X = np.array(kept)
    return X, np.where(X @ direction > 0, 1, -1)


def noisy(seed, rows=300, features=5, noise=0.1, gamma=0.1):
    """The same with some labels flipped."""
    X, y = separable(seed, rows, features, gamma)
    flipped = np.random.default_rng(seed + 1000).random(rows) < noise
    return X, np.where(flipped, -y, y)


def walk(X, y, step, **parameters):
    """Predict, then learn, row by row. `step(t, w, z, margin)` gives new weights, or None."""
    z = X * y[:, None]
    weights, margins, updated = [np.zeros(X.shape[1])], [], []
    for t, row in enumerate(z):
        w = weights[-1]
        margins.append(row @ w)
        after = step(t, w, row, margins[-1])
        updated.append(after is not None)
        weights.append(w if after is None else after)
    return Run(
        rows=X,
        labels=y,
        margins=np.array(margins),
        updated=np.array(updated),
        weights=np.array(weights),
        parameters=parameters,
    )


def perceptron(X, y, margin=0.0):
    return walk(X, y, lambda t, w, z, m: w + z if m <= margin else None, margin=margin)


def pruned(w, sigma):
    """Without the smallest weights, as long as their squares sum to less than sigma."""
    order = np.argsort(np.abs(w))
    gone = order[np.cumsum(w[order] ** 2) < sigma]
    w = w.copy()
    w[gone] = 0
    return w


def objective_pa(X, y, alpha, *, threshold=0.0, sigma=0.0):
    """(3.1); threshold 0 updates mistakes only, threshold 1 is the algorithm as stated."""

    def step(t, w, z, m):
        if m > threshold or m >= 1:
            return None
        after = (w + (1 - m + alpha) / (z @ z) * z) / (1 + alpha)
        return pruned(after, sigma) if sigma else after

    return walk(X, y, step, alpha=alpha, sigma=sigma)


def l2_pa(X, y, beta, *, threshold=1.0, sigma=0.0):
    """(3.8) by Lemma 3.2."""

    def step(t, w, z, m):
        if m > threshold or m >= 1:
            return None
        zz = z @ z
        Z = max(1.0, np.sqrt(max(0.0, (w @ w) * zz - m * m) / (beta**2 * zz - 1)))
        after = (w + (max(0.0, 1 - m) + Z - 1) / zz * z) / Z
        return pruned(after, sigma) if sigma else after

    return walk(X, y, step, beta=beta, sigma=sigma)


def l1_pa(X, y, beta, *, threshold=1.0, sigma=0.0):
    """(3.9), handed to a solver of quadratic programmes, with weights as differences."""

    def step(t, w, z, m):
        if m > threshold or m >= 1:
            return None
        d = len(w)
        split = np.concatenate([z, -z])
        found = minimize(
            lambda h: np.sum((h[:d] - h[d:] - w) ** 2) / 2,
            np.concatenate([np.maximum(w, 0), np.maximum(-w, 0)]),
            jac=lambda h: np.concatenate([h[:d] - h[d:] - w, w - h[:d] + h[d:]]),
            bounds=[(0, None)] * (2 * d),
            constraints=[
                {"type": "ineq", "fun": lambda h: h @ split - 1, "jac": lambda h: split},
                {"type": "ineq", "fun": lambda h: beta - h.sum(), "jac": lambda h: -np.ones(2 * d)},
            ],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        after = found.x[:d] - found.x[d:]
        return pruned(after, sigma) if sigma else after

    return walk(X, y, step, beta=beta, sigma=sigma)


def soft_pa(X, y, alpha, C, *, threshold=0.0):
    """(5.27) by Lemma 5.1."""

    def step(t, w, z, m):
        if m > threshold or m >= 1:
            return None
        return (w + (1 - m + alpha) / (z @ z + (1 + alpha) / (2 * C)) * z) / (1 + alpha)

    return walk(X, y, step, alpha=alpha, C=C)


class FullAROW:
    """Figure 1 of the paper, for any signed row."""

    def __init__(self, size, r, threshold=1.0):
        self.covariance, self.r, self.threshold = np.eye(size), r, threshold

    def step(self, t, w, z, m):
        if m > self.threshold or m >= 1:
            return None
        spread = self.covariance @ z
        shrink = 1 / (z @ spread + self.r)
        self.covariance = self.covariance - shrink * np.outer(spread, spread)
        return w + (1 - m) * shrink * spread


def arow(X, y, r, threshold=1.0):
    return walk(X, y, FullAROW(X.shape[1], r, threshold).step, r=r)


def arow_top1(X, y, classes, r, threshold=1.0):
    """Figure 3: the true class against the best of the others."""
    d = X.shape[1]
    learner = FullAROW(classes * d, r, threshold)
    weights, margins, updated, rivals = [np.zeros(classes * d)], [], [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        w = weights[-1]
        scores = w.reshape(classes, d) @ x
        rival = max((c for c in range(classes) if c != label), key=lambda c: scores[c])
        z = np.zeros((classes, d))
        z[label], z[rival] = x, -x
        margins.append(w @ z.ravel())
        rivals.append(rival)
        after = learner.step(t, w, z.ravel(), margins[-1])
        updated.append(after is not None)
        weights.append(w if after is None else after)
    return Run(
        rows=X,
        labels=y,
        margins=np.array(margins),
        updated=np.array(updated),
        task="top1",
        rivals=np.array(rivals),
        n_classes=classes,
        weights=np.array(weights),
        parameters={"r": r},
    )


def slope(loss, m):
    """Minus the derivative of the loss at the margin m."""
    if loss == "hinge":
        return float(m < 1)
    if loss == "logistic":
        return 1 / (1 + np.exp(m))
    if loss == "squared":
        return 1 - m
    raise ValueError(loss)


def soft(v, cut):
    return np.sign(v) * np.maximum(0, np.abs(v) - cut)


def ogd(X, y, loss, eta0, power=0.5, radius=None, l1=0.0):
    def step(t, w, z, m):
        rate = eta0 / (t + 1) ** power
        w = soft(w + rate * slope(loss, m) * z, rate * l1)
        length = np.linalg.norm(w)
        return w * radius / length if radius is not None and length > radius else w

    return walk(X, y, step, loss=loss, eta0=eta0, power=power, l1=l1)


def truncated(X, y, loss, eta, gravity, theta=np.inf, every=1):
    def step(t, w, z, m):
        v = w + eta * slope(loss, m) * z
        if (t + 1) % every:
            return v
        return np.where(np.abs(v) <= theta, soft(v, eta * every * gravity), v)

    return walk(X, y, step, loss=loss, eta0=eta, gravity=gravity)


def rda(X, y, loss, l1, gamma, rho=0.0, l2=0.0):
    total = np.zeros(X.shape[1])

    def step(t, w, z, m):
        nonlocal total
        n = t + 1
        total = total + slope(loss, m) * z
        beta = gamma * np.sqrt(n)
        return soft(total / n, l1 + rho * beta / n) / (l2 + beta / n)

    return walk(X, y, step, loss=loss, l1=l1, gamma=gamma, rho=rho, l2=l2)


def sgft(X, y, loss, c, l1, p, cap=None):
    updates = []

    def step(t, w, z, m):
        rate = c / np.sqrt(t + 1)
        updates.append(np.abs(rate * slope(loss, m) * z))
        past = np.array(updates)
        h = past.max(axis=0) if np.isinf(p) else np.sum(past**p, axis=0) ** (1 / p)
        if cap is not None and p <= 2:
            h = np.minimum(h, cap)
        return soft(w + rate * slope(loss, m) * z, rate * l1 * h)

    return walk(X, y, step, loss=loss, eta0=c, l1=l1, p=p, cap=cap)


def frequency_rda(X, y, loss, l1, gamma, p, cap=None):
    total, steps = np.zeros(X.shape[1]), []

    def step(t, w, z, m):
        nonlocal total
        n = t + 1
        total = total + slope(loss, m) * z
        steps.append(np.abs(slope(loss, m) * z) / (gamma * np.sqrt(n)))
        past = np.array(steps)
        h = past.max(axis=0) if np.isinf(p) else np.sum(past**p, axis=0) ** (1 / p)
        if cap is not None and p <= 2:
            h = np.minimum(h, cap)
        return soft(total, l1 * n * h) / (gamma * np.sqrt(n))

    return walk(X, y, step, loss=loss, l1=l1, gamma=gamma, p=p, cap=cap)
