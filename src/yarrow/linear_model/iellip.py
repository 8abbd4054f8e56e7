"""IELLIP: an ellipsoid that holds the weights shrinks around them."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.estimator import estimator
from yarrow.linear_model.affine import AVERAGE
from yarrow.linear_model.confidence import DIAGONAL_OR_FULL, ConfidenceClassifier
from yarrow.parameters import choice, flag, number


@estimator
class IELLIPClassifier(ConfidenceClassifier):
    """The improved ellipsoid method (IELLIP, Yang, Jin & Ye 2009).

    On a mistake the weights move to the nearest point where the row has margin 1, measured by the
    ellipsoid, and the ellipsoid narrows along the row by the share c * b**(updates so far).

    Use it to study ellipsoid methods. Instead: `AROWClassifier`, which labels with errors cannot
    throw so far. A sample weight has no effect, since the constraint has no price.

    >>> model = IELLIPClassifier()
    >>> model.learn_one({"cheap": 1}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"lunch": 1})
    'ham'
    """

    expected_failed_checks: ClassVar[dict[str, str]] = (
        ConfidenceClassifier.expected_failed_checks
        | {
            "check_class_weight_classifiers": "a hard constraint has no price that a weight scales",
            "check_classifiers_train": (
                "a full ellipsoid narrows on the first mistakes between classes that overlap"
            ),
        }
    )

    c: float = number(
        default=0.5, doc="How much the ellipsoid narrows at the first update.", at_least=0, below=1
    )
    b: float = number(
        default=0.99, doc="How fast that share falls with each update.", above=0, at_most=1
    )
    covariance: Literal["diagonal", "projected", "full"] = choice(
        default="diagonal", options=("diagonal", "projected", "full"), doc=DIAGONAL_OR_FULL
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return rules.iellip
