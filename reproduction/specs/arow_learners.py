"""The learners of Crammer, Kulesza & Dredze (2013), with the grids they are tuned by here.

The paper gives no grids, no variant of PA and no intercept: powers of ten that the tuning never
found too narrow by more than a step, PA-I (the paper's Table 9 calls PA fit for data that no plane
separates, which the plain PA is not), no intercept. CW is the "variance" form, as the paper says;
diagonals are those of the precision.
"""

from __future__ import annotations

from typing import Any

from reproduction.spec import Learner

PAPER = "Crammer, Kulesza & Dredze, Adaptive Regularization of Weight Vectors, 2013"
PLAIN = {"fit_intercept": False}


def _powers(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{exponent}") for exponent in range(low, high + 1))


R = _powers(-2, 6)
SMALL_R = _powers(-6, 4)
C = _powers(-5, 1)
A = _powers(-2, 6)
ETA = (0.505, 0.52, 0.55, 0.6, 0.7, 0.8, 0.9)


def arow(label: str = "AROW", grid: tuple[float, ...] = R, **parameters: Any) -> Learner:
    """AROW; r is tuned."""
    return Learner(label, "AROWClassifier", {**PLAIN, **parameters}, {"r": grid})


def cw(label: str = "CW", **parameters: Any) -> Learner:
    """Confidence-weighted in its variance form; eta is tuned."""
    fixed = {**PLAIN, "variant": "variance", **parameters}
    return Learner(label, "CWClassifier", fixed, {"eta": ETA})


def pa(label: str = "PA", **parameters: Any) -> Learner:
    """PA-I; C is tuned."""
    fixed = {**PLAIN, "variant": "pa1", **parameters}
    return Learner(label, "PassiveAggressiveClassifier", fixed, {"C": C})


def plain_pa(label: str = "PA without C", **parameters: Any) -> Learner:
    """PA that fits every row; nothing but its passes to tune."""
    fixed = {**PLAIN, "variant": "pa", **parameters}
    return Learner(label, "PassiveAggressiveClassifier", fixed)


def sop(label: str = "SOP", **parameters: Any) -> Learner:
    """The second-order Perceptron; a is tuned."""
    return Learner(label, "SOPClassifier", {**PLAIN, **parameters}, {"a": A})


def perceptron(label: str = "Perceptron", **parameters: Any) -> Learner:
    """The Perceptron; nothing to tune."""
    return Learner(label, "Perceptron", {**PLAIN, **parameters})
