"""The Bayesian Perceptron: a Gaussian posterior over weights, kept up row by row."""

from __future__ import annotations

from typing import Any, Literal

from yarrow.base.hyperparameters import Averaging, Covariance, covariance
from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.linear_model.confidence import ConfidenceClassifier
from yarrow.parameters import choice, number


@estimator
class BayesianPerceptron(Averaging, ConfidenceClassifier):
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
    covariance: Covariance = covariance("projected", "diagonal", "full")
    probabilities: Literal["posterior", "calibrated"] = choice(
        default="posterior",
        options=("posterior", "calibrated"),
        doc="With two classes: those of the model, or as its mistakes so far suggest.",
    )

    core_rule = "bayesian_perceptron"

    @property
    def _by_margin(self) -> bool:  # type: ignore[override]
        return self.probabilities == "calibrated"

    def _probabilities(self, scores: Array, variances: Array, calibration: Any = None) -> Array:
        if scores.shape[1] != 2 or self._by_margin:
            return super()._probabilities(scores, variances, calibration)
        from scipy.special import ndtr

        if self.multiclass == "top1":
            margin, variance = scores[:, 1] - scores[:, 0], variances.sum(axis=1)
        else:
            margin, variance = scores[:, 1], variances[:, 1]
        u = margin / np.sqrt(self.noise**2 + variance)
        return np.column_stack([ndtr(-u), ndtr(u)])

    def _told_probabilities(self) -> dict[str, Any] | None:
        if len(self._fitted.classes) != 2 or self.probabilities == "calibrated":
            return super()._told_probabilities()
        return {"kind": "posterior", "noise": float(self.noise)}
