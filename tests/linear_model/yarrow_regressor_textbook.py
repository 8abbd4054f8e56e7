"""YarrowRegressor as docs/yarrow-regressor.md has it: dense, in double, without a thought of speed.

Rows have few features (5 to 64), all of them from the first row on.
"""

from __future__ import annotations

import numpy as np

LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99])
GAUSSIAN = np.array([-0.1685, 0.0534, 0.2616, 0.4738, 0.5901, 0.7236, 0.8988, 1.0701, 1.1719])
MEAN, LAST, STEADY, FADING, COVARIANCE, DRIFTING, SPLINE = range(7)
KNOTS = 7


class Textbook:
    """Predicts a row, then learns it."""

    def __init__(self, columns: int) -> None:
        d = columns
        self.t, self.n, self.a, self.s2 = 0, np.zeros(d), np.zeros(d), np.zeros(d)
        self.centre = self.last = self.spread = self.error = self.near = 0.0
        self.w, self.P = np.zeros((2, d + 1)), np.ones((2, d + 1))
        self.beta, self.S = np.zeros((2, d + 1)), np.array([np.eye(d + 1)] * 2)
        self.knots, self.Q = np.zeros(KNOTS * d + 1), np.ones(KNOTS * d + 1)
        self.u, self.U = np.zeros(7), 0.1 * np.eye(7)
        self.u[COVARIANCE] = 1
        self.losses = np.zeros(8)
        self.log_widths, self.covered, self.tested = GAUSSIAN.copy(), np.zeros(9), 0

    def standardized(self, x: np.ndarray) -> np.ndarray:
        """All columns on one scale, at most 4 by size; a zero is no value."""
        if self.t == 0:
            return np.sign(x)
        p = self.n / self.t
        size = np.sqrt(self.s2 + self.a**2 * (1 - p**4))
        there = (x != 0) & (size > 1e-6 * abs(self.a))  # a column that is always the same says 0
        return np.clip(np.where(there, x - self.a * p**2, 0) / np.where(there, size, 1), -4, 4)

    def evaluate(self, x: np.ndarray) -> float:
        """The prediction, and what makes it."""
        present = np.count_nonzero(x)
        z = self.standardized(x)
        self.z = np.append(z / np.sqrt(present), 0.5)
        self.b = np.zeros(KNOTS * len(x) + 1)
        place = (np.clip(z, -2, 2) + 2) * 1.5
        below = np.minimum(place.astype(int), KNOTS - 2)
        at = KNOTS * np.arange(len(x)) + below
        self.b[at] = np.where(x != 0, 1 - (place - below), 0) / np.sqrt(present)
        self.b[at + 1] = np.where(x != 0, place - below, 0) / np.sqrt(present)
        self.b[-1] = 0.5
        linear, full = self.w @ self.z, self.beta @ self.z
        self.f = np.array(
            [0, self.last - self.centre, *linear, *full, full[0] + self.knots @ self.b]
        )
        shares = np.exp(-0.5 * (self.losses - self.losses.min()))
        shares /= shares.sum()
        self.prediction = self.centre + (shares[:7] + shares[7] * self.u) @ self.f
        return float(self.prediction)

    def radius(self, level: int) -> float:
        """Half the width of the interval of a level."""
        return float(self.near * np.exp(self.log_widths[: level + 1].max()))

    def learn(self, x: np.ndarray, y: float) -> None:
        """Learn the row that was evaluated."""
        if self.t == 0:
            self.centre = self.last = y
        typical = max(self.error, 0.01 * self.spread)
        clip = 10 * typical if self.t > 1 and typical > 0 else np.inf
        errors = np.clip(y - self.centre - np.append(self.f, self.u @ self.f), -clip, clip)
        if self.t > 0:
            missed = abs(y - self.prediction)
            if self.t > 1:
                self.follow(errors, missed, typical)
            self.measure(missed, abs(y - self.centre))
            self.learn_stack(errors[7])
            self.learn_experts(errors)
        self.centre += np.clip(y - self.centre, -clip, clip) / (self.t + 1)
        self.last = y
        self.t += 1
        there = x != 0
        self.n[there] += 1
        before = x - self.a
        self.a[there] += (before / np.maximum(self.n, 1))[there]
        part = 1 / np.maximum(self.n, 1)
        self.s2 += np.where(there, (before**2 * (1 - part) - self.s2) * part, 0)

    def follow(self, errors: np.ndarray, missed: float, typical: float) -> None:
        """Losses, and widths of intervals."""
        rate = max(0.03, 1 / np.sqrt(self.t))
        self.tested += 1
        for i in range(9):  # one after the other: a wider one is never narrower
            out = missed > self.radius(i)
            self.covered[i] += not out
            self.log_widths[i] += rate * (out - (1 - LEVELS[i]))
        self.losses = 0.99 * self.losses + (errors / typical) ** 2

    def measure(self, missed: float, distance: float) -> None:
        """Typical sizes."""
        if self.t == 1:
            self.error, self.near, self.spread = missed, missed, distance
            return
        for name, value, pace in (
            ("error", missed, 0.05), ("near", missed, 0.03), ("spread", distance, 0.03),
        ):  # fmt: skip
            size = getattr(self, name)
            value = min(value, 10 * size) if size > 0 else value
            setattr(self, name, size + max(pace, 1 / (self.t + 1)) * (value - size))

    def learn_stack(self, error: float) -> None:
        """Least squares over the experts, whose weights drift."""
        h = self.U @ self.f
        v = h @ self.f
        r = 10 * max(self.error, 0.01 * self.spread) ** 2
        if v <= 0:
            return
        self.u = self.u + error * h / (v + r)
        self.U -= np.outer(h, h) / (v + r)
        np.fill_diagonal(self.U, np.minimum(np.diag(self.U) + 1e-4, 0.1))

    def learn_experts(self, errors: np.ndarray) -> None:
        """Each by its own error."""
        z, b = self.z, self.b
        for k, (r, memory) in enumerate(((0.1, 1.0), (1.0, 0.95))):
            step = errors[STEADY + k] / ((z**2 / self.P[k]).sum() + r)
            self.w[k] += step * z / self.P[k]
            there = z != 0
            self.P[k] = np.where(there, 1 + (self.P[k] + z**2 / r - 1) * memory, self.P[k])
        for k in range(2):
            h = self.S[k] @ z
            share = 1 / (h @ z + 0.03)
            self.beta[k] += errors[COVARIANCE + k] * share * h
            self.S[k] -= share * np.outer(h, h)
        np.fill_diagonal(self.S[1], np.minimum(np.diag(self.S[1]) + 1e-3, 1))
        step = errors[SPLINE] / ((b**2 / self.Q).sum() + 0.1)
        self.knots += step * b / self.Q
        self.Q += b**2 / 0.1
