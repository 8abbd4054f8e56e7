"""The Bayesian Perceptron: a Gaussian posterior over weights, kept up row by row."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.linear_model.affine import AVERAGE
from yarrow.linear_model.confidence import ConfidenceClassifier
from yarrow.parameters import choice, flag, number


@estimator
class BayesianPerceptron(ConfidenceClassifier):
    """The Bayesian Perceptron (Solla & Winther 1998; Opper 1998; Minka 2001).

    It takes a label to be right with probability Phi(margin / noise) and keeps, row by row, the
    Gaussian with the posterior's mean and variances (assumed-density filtering). With two classes
    its own probability is Phi(m / sqrt(noise² + v)). One-versus-rest columns have no posterior in
    common, so more classes take the calibrated form of the family.

    Use it where rows are few and a probability must say what the model does not know. Instead:
    `AROWClassifier`, faster, and its probabilities learn from the mistakes made.
    A sample weight divides noise².

    >>> model = BayesianPerceptron()
    >>> for _ in range(3):
    ...     model.learn_one({"cheap": 1}, "spam")
    ...     model.learn_one({"lunch": 1}, "ham")
    >>> {k: round(p, 2) for k, p in model.predict_proba_one({"lunch": 1}).items()}
    {'spam': 0.21, 'ham': 0.79}
    """

    noise: float = number(
        default=1.0,
        doc="Deviation of the noise on a margin; larger for noisier labels.",
        above=0,
        at_most=1e100,  # its square is a number, too
    )
    covariance: Literal["projected", "diagonal", "full"] = choice(
        default="projected",
        options=("projected", "diagonal", "full"),
        doc="Diagonal of the covariance (the posterior's variances) or of the precision; or all.",
    )
    probabilities: Literal["posterior", "calibrated"] = choice(
        default="posterior",
        options=("posterior", "calibrated"),
        doc="With two classes: those of the model, or as its mistakes so far suggest.",
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return rules.bayesian_perceptron

    def _probabilities(self, scores: Array, variances: Array, calibration: Any = None) -> Array:
        if scores.shape[1] != 2 or self.probabilities == "calibrated":
            return super()._probabilities(scores, variances, calibration)
        from scipy.special import ndtr

        if self.multiclass == "top1":
            margin, variance = scores[:, 1] - scores[:, 0], variances.sum(axis=1)
        else:
            margin, variance = scores[:, 1], variances[:, 1]
        u = margin / np.sqrt(self.noise**2 + variance)
        return np.column_stack([ndtr(-u), ndtr(u)])
