"""Probabilities of classifiers that can learn with the logistic loss."""

from __future__ import annotations

from typing import Any

from yarrow.base.classifier import CalibratedProbabilities, normalised
from yarrow.data.arrays import Array
from yarrow.estimator import ClassifierMixin
from yarrow.lazy import np


class LogisticProbabilities(CalibratedProbabilities):
    """predict_proba for `loss='logistic'`, whose scores are log odds; absent for other losses."""

    def __getattribute__(self: Any, name: str) -> Any:
        # scikit-learn asks for the attribute, river calls the method and waits for its refusal.
        if name.startswith("predict_proba") and self.loss != "logistic":
            if name == "predict_proba":
                raise AttributeError("predict_proba is there for loss='logistic' only")
            return getattr(ClassifierMixin, name).__get__(self)
        return super().__getattribute__(name)

    def _probabilities(
        self: Any, scores: Array, variances: Array, calibration: Any = None
    ) -> Array:
        if scores.shape[1] <= 2 and self.multiclass == "ovr":
            positive = scores[:, -1:] if scores.shape[1] == 2 else np.full_like(scores, np.inf)
            second = 0.5 * (1 + np.tanh(0.5 * positive))
            return np.hstack([1 - second, second]) if scores.shape[1] == 2 else second
        if self.multiclass == "top1":
            shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
            return normalised(shifted)
        return normalised(0.5 * (1 + np.tanh(0.5 * scores)))
