"""NAROW: AROW that chooses for each row how far to narrow the covariance."""

from __future__ import annotations

import dataclasses
from typing import Literal

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
