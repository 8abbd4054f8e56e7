"""IELLIP: an ellipsoid that holds the weights shrinks around them."""

from __future__ import annotations

from typing import ClassVar

from yarrow.base.hyperparameters import HARD, Averaging, Covariance, covariance
from yarrow.estimator import estimator
from yarrow.linear_model.confidence import ConfidenceClassifier
from yarrow.parameters import number


@estimator
class IELLIPClassifier(Averaging, ConfidenceClassifier):
    """The improved ellipsoid method (IELLIP, Yang, Jin & Ye 2009).

    On a mistake the weights move to the nearest point where the row has margin 1, measured by the
    ellipsoid, and the ellipsoid narrows along the row by the share c * b**(updates so far).

    Use it to study ellipsoid methods. Instead: `AROWClassifier`, which labels with errors cannot
    throw so far. A sample weight has no effect, since the constraint has no price.
    """

    class_weight_fails = HARD
    expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_classifiers_train": (
            "a full ellipsoid narrows on the first mistakes between classes that overlap"
        ),
    }

    c: float = number(
        default=0.5, doc="How much the first update shrinks the ellipsoid.", at_least=0, below=1
    )
    b: float = number(
        default=0.99, doc="How fast that share falls with each update.", above=0, at_most=1
    )
    covariance: Covariance = covariance("diagonal", "projected", "full")

    core_rule = "iellip"
