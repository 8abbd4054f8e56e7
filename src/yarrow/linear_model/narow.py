"""NAROW: AROW that chooses for each row how far to narrow the covariance."""

from __future__ import annotations

from yarrow.base.hyperparameters import Averaging, Covariance, covariance
from yarrow.estimator import estimator
from yarrow.linear_model.confidence import ConfidenceClassifier
from yarrow.parameters import number


@estimator
class NAROWClassifier(Averaging, ConfidenceClassifier):
    """NAROW (Orabona & Crammer 2010): AROW that chooses r for each row.

    A row on which the model is unsure (variance of the margin above 1/b) narrows the covariance
    until that variance is 1/b; any other row moves the weights only, as in a Perceptron.

    Use it where no one r suits the whole stream. Instead: `AROWClassifier`, steadier on noise.
    A sample weight counts the row that many times.
    """

    b: float = number(
        default=1.0, doc="Only rows whose variance is above 1/b shrink the covariance.", above=0
    )
    covariance: Covariance = covariance("diagonal", "projected", "full")

    core_rule = "narow"
