"""Relatives of AROW with other ways to narrow the covariance: NAROW, NHERD, IELLIP."""

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
class NAROWClassifier(ConfidenceClassifier):
    """NAROW (Orabona & Crammer 2010): AROW that chooses r for each row.

    A row on which the model is unsure (variance of the margin above 1/b) narrows the covariance
    until that variance is 1/b; any other row moves the weights only, as in a Perceptron.

    Use it where no one r suits the whole stream. Instead: `AROWClassifier`, steadier on noise.
    A sample weight counts the row that many times.

    >>> model = NAROWClassifier()
    >>> model.learn_one({"cheap": 1}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"lunch": 1})
    'ham'
    """

    b: float = number(
        default=1.0, doc="Rows whose variance is above 1/b narrow the covariance.", above=0
    )
    covariance: Literal["diagonal", "projected", "full"] = choice(
        default="diagonal", options=("diagonal", "projected", "full"), doc=DIAGONAL_OR_FULL
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return rules.narow


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
