"""Kernel learners as the textbook has them: one function, the rows it keeps, a coefficient each.

Each is a function of the kernel of all rows, their labels and a budget, and returns a `Function`.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.optimize import brentq

from yarrow.kernel.duol import best_pair


class Function:
    """f = sum of coefficients times kernels of the rows kept, the oldest first."""

    def __init__(self, K, budget):
        self.K, self.budget = K, budget
        self.kept, self.a = [], np.zeros(len(K))
        self.errors = self.updates = 0

    def __call__(self, i):
        return float(self.a[self.kept] @ self.K[self.kept, i])

    def add(self, i, value, gone=None):
        """Add a row; if there is no room for it, one goes: the oldest, or the one at a place."""
        if self.budget is not None and len(self.kept) == self.budget:
            self.a[self.kept[gone or 0]] = 0
            if gone is None:
                self.kept = [*self.kept[1:], i]
            else:
                self.kept[gone] = i
        else:
            self.kept.append(i)
        self.a[i] = value
        self.updates += 1


def by_steps(step, K, y, budget):
    """Run `f <- a*f + b*y*K(x, .)` with a and b of `step(margin, K(x, x), t)`."""
    f = Function(K, budget)
    for i, label in enumerate(y):
        margin = label * f(i)
        f.errors += margin <= 0
        a, b = step(margin, K[i, i], i + 1)
        f.a *= a
        if b:
            f.add(i, b * label)
        elif a != 1:
            f.updates += 1
    return f


def perceptron(margin, square, t):
    return (1, 1) if margin <= 0 else (1, 0)


def pa(margin, square, t):
    return 1, max(0, 1 - margin) / square


def pa1(margin, square, t):
    return 1, min(0.3, max(0, 1 - margin) / square)


def pa2(margin, square, t):
    return 1, max(0, 1 - margin) / (square + 1 / (2 * 0.3))


def regularized(margin, square, t, below=1.0, alpha=0.01):
    if margin >= below:
        return 1, 0
    return 1 / (1 + alpha), (1 + alpha - margin) / square / (1 + alpha)


def on_mistakes(margin, square, t):
    return regularized(margin, square, t, below=np.nextafter(0, 1))


def soft(margin, square, t, alpha=0.01, C=2.0):
    if margin >= 1:
        return 1, 0
    return 1 / (1 + alpha), (1 + alpha - margin) / (square + (1 + alpha) / (2 * C)) / (1 + alpha)


def norma(margin, square, t):
    rate = 0.5 / math.sqrt(t)
    return 1 - rate * 1e-3, rate if margin < 1 else 0


def norm_constrained(K, y, budget, beta=1.5):
    """Find the nearest function of margin 1 in the ball; scale back when the oldest has gone."""
    f = Function(K, budget)

    def squared_norm():
        return f.a[f.kept] @ K[np.ix_(f.kept, f.kept)] @ f.a[f.kept]

    for i, label in enumerate(y):
        margin = label * f(i)
        f.errors += margin <= 0
        if margin >= 1:
            continue
        norm, tau, scale = squared_norm(), (1 - margin) / K[i, i], 1.0
        if norm + 2 * tau * margin + tau**2 * K[i, i] > beta**2:
            # scale*(f + tau*y*K(x, .)) has margin 1 and norm beta: the larger tau, the nearer to x.
            def excess(t, m=margin, n=norm, k=K[i, i]):
                return (n + 2 * t * m + t * t * k) / (m + t * k) ** 2 - beta**2

            high = tau
            while excess(high) > 0:
                high *= 2
            tau = brentq(excess, tau, high, xtol=1e-15, rtol=1e-15)
            scale = 1 / (margin + tau * K[i, i])
        f.a *= scale
        f.add(i, scale * tau * label)
        if budget is not None:
            f.a /= max(1, math.sqrt(squared_norm()) / beta)
    return f


def random_goes(K, y, budget):
    f = Function(K, budget)
    for i, label in enumerate(y):
        if label * f(i) <= 0:
            f.errors += 1
            draw = np.random.default_rng([0, f.updates])
            full = len(f.kept) == budget
            f.add(i, label, int(draw.integers(budget)) if full else None)
    return f


def duol(K, y, budget, C=1.0):
    """Zhao, Hoi & Jin 2011, algorithm 2, with rho = 0."""
    f = Function(K, budget)
    for i, label in enumerate(y):
        margin = label * f(i)
        f.errors += margin <= 0
        if margin >= 1:
            continue
        rivals = [
            (label * y[j] * K[i, j], j) for j in f.kept if y[j] * f(j) <= 1 + 1e-9 and y[j] != label
        ]
        own = min(C, (1 - margin) / K[i, i])
        if rivals:
            conflict, j = min(rivals)
            other = y[j] * f.a[j]
            own, change = best_pair(
                losses=(1 - margin, 1 - y[j] * f(j)),
                squares=(K[i, i], K[j, j]),
                product=conflict,
                limits=(C, -other, C - other),
            )
            f.a[j] += y[j] * change
        f.add(i, own * label)
    return f


def forgetron(K, y, budget):
    """Dekel, Shalev-Shwartz & Singer 2008, figure 3; it begins when both classes are known."""
    f = Function(K, budget)
    harm = 0.0
    first = int(np.flatnonzero(y != y[0])[0])
    for i, label in list(enumerate(y))[first:]:
        if label * f(i) > 0:
            continue
        f.errors += 1
        if len(f.kept) == budget:
            r = f.kept[0]
            size, mu = abs(f.a[r]), y[r] * (f(r) + label * K[i, r])

            def psi(phi, size=size, mu=mu):
                return (phi * size) ** 2 + 2 * phi * size * (1 - phi * mu)

            limit = 15 / 32 * f.errors - harm
            phi = 1.0
            if psi(1.0) > limit:
                phi = brentq(lambda p, limit=limit: psi(p) - limit, 0, 1, xtol=1e-15)
            harm += psi(phi)
            f.a *= phi
            f.add(i, phi * label)
        else:
            f.add(i, label)
    return f


def arow(K, y, budget, r=0.5):
    """Crammer, Kulesza & Dredze 2013: Sigma = I - Phi'(r + K)^-1 Phi over the rows kept."""
    f = Function(K, budget)
    for i, label in enumerate(y):
        margin = label * f(i)
        f.errors += margin <= 0
        if margin >= 1:
            continue
        S = f.kept
        seen = np.linalg.solve(K[np.ix_(S, S)] + r * np.eye(len(S)), K[S, i])
        step = label * (1 - margin) / (K[i, i] - seen @ K[S, i] + r)
        f.a[S] -= step * seen
        f.a[i] = step
        if len(S) == budget:  # the oldest is said by the others, by ridge regression
            old, rest = S[0], [*S[1:], i]
            image = np.linalg.solve(K[np.ix_(rest, rest)] + r * np.eye(len(rest)), K[rest, old])
            f.a[rest] += f.a[old] * image
        f.add(i, f.a[i])
    return f


def steps(rule):
    return functools.partial(by_steps, rule)


PA = "KernelPassiveAggressiveClassifier"
REGULARIZED = "KernelRegularizedPAClassifier"
#: learner, settings, textbook form
FORMS = {
    "perceptron": ("KernelPerceptron", {}, steps(perceptron)),
    "random": ("KernelPerceptron", {"removal": "random"}, random_goes),
    "pa": (PA, {"variant": "pa"}, steps(pa)),
    "pa1": (PA, {"variant": "pa1", "C": 0.3}, steps(pa1)),
    "pa2": (PA, {"variant": "pa2", "C": 0.3}, steps(pa2)),
    "regularized": (REGULARIZED, {"alpha": 0.01}, steps(regularized)),
    "mistakes": (REGULARIZED, {"alpha": 0.01, "update": "mistakes"}, steps(on_mistakes)),
    "soft": (REGULARIZED, {"alpha": 0.01, "C": 2.0}, steps(soft)),
    "norm": ("KernelNormConstrainedPAClassifier", {"beta": 1.5}, norm_constrained),
    "norma": ("KernelNORMAClassifier", {}, steps(norma)),
    "duol": ("DUOLClassifier", {}, duol),
    "forgetron": ("ForgetronClassifier", {}, forgetron),
    "arow": ("KernelAROWClassifier", {"r": 0.5}, arow),
}
