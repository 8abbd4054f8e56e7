"""NHERD: AROW's relative that narrows the covariance by its expected value."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.estimator import estimator
from yarrow.linear_model.affine import AVERAGE
from yarrow.linear_model.confidence import ConfidenceClassifier
from yarrow.parameters import choice, flag, number


@estimator
class NHERDClassifier(ConfidenceClassifier):
    """Gaussian herding (NHERD, Crammer & Lee 2010): moves a herd of weight vectors linearly.

    It steps as AROW with r = 1/C and then narrows more: the precision grows by 2C + C²v where
    AROW's grows by C.

    Use it where AROW learns too slowly at any r. Instead: `AROWClassifier` on noisy labels.
    A sample weight multiplies C.

    >>> model = NHERDClassifier()
    >>> model.learn_one({"cheap": 1}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"lunch": 1})
    'ham'
    """

    expected_failed_checks: ClassVar[dict[str, str]] = (
        ConfidenceClassifier.expected_failed_checks
        | {
            "check_class_weight_classifiers": (
                "precision grows by C², so after one row of weight 1000 no other one counts"
            )
        }
    )

    C: float = number(default=1.0, doc="Price of a row that keeps a loss.", above=0)
    covariance: Literal["exact", "project", "drop", "full"] = choice(
        default="exact",
        options=("exact", "project", "drop", "full"),
        doc="The best diagonal map, the diagonal of the precision or of the covariance; or all.",
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _loop(self) -> _core.Loop:
        return {
            "exact": _core.Loop.herded,
            "project": _core.Loop.diagonal,
            "drop": _core.Loop.projected,
            "full": _core.Loop.full,
        }[self.covariance]

    def _rule(self) -> _core.Rule:
        return rules.nherd_exact if self.covariance == "exact" else rules.nherd
