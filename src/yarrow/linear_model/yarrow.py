"""The learner without settings: ten experts on standardised columns, a mixture above them."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import OneVersusRest
from yarrow.base.probabilities import MarginProbabilities
from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import number
from yarrow.saving import export_experts, export_file


@estimator
class YarrowClassifier(OneVersusRest, MarginProbabilities, LinearClassifier):
    """No settings to choose: AROW's confidence joined with forgetting (after Crammer et al. 2013).

    Ten experts learn each row: four AROWs, cautious and bold, whose confidence fades slowly, fast
    or never, one of them with an eye for telling words; two logistic regressions by AdaGrad; naive
    Bayes; and, where features are few, an AROW on splines of them (up to 128) and one that knows
    how they go together (up to 64); and, where rows have up to 48 values, an AROW on products of
    two of them, which is given up after 4,096 rows unless it pays. Above them a small AROW with a
    full covariance learns, row by row, what each expert is worth. Columns of different size are
    brought to one scale on the way.
    docs/yarrow-learner.md has the equations, the evidence, and where it fails.

    Use it first: it makes the fewest mistakes of all in docs/evidence.md, on text, on dense tables
    with unequal columns, on few rows and many, with and without drift. Instead: `AROWClassifier`
    for an eighth of the memory and a third to a fifteenth of the time;
    `RDAClassifier` for few weights; the method of a paper where that paper is the point.
    Two classes that are declared (`classes=`) take half the time of two that are not.
    A sample weight divides the r of AROW, multiplies the gradients of AdaGrad, and is how often a
    row is counted, by naive Bayes and in the scale of columns. `coef_` holds weights of the
    standardised features, as far as the score is a straight line.
    """

    family = "mixture"
    row_costs = "six times O(nnz); of few features or values also their square"
    is_dear = True
    has_weight_table = False

    _: dataclasses.KW_ONLY
    intercept_scaling: float = number(
        default=0.5, doc="Value of the constant feature; rows are about as long as one.", above=0
    )

    tells_missing = True
    core_learner = "yarrow"
    core_rule = "arow"

    def _rule_parameters(self) -> list[float]:
        return []

    def _exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return export_experts.packed(self, self.dtype, export_file.described(self))

    @property
    def expert_weights_(self) -> Array:
        """What each expert is worth to the mixture.

        Four AROWs, two logistic regressions, AROW on splines, naive Bayes, AROW with a full
        covariance, AROW on products of two values, whose worth is 0 where it was given up.
        """
        return np.array([worth for _, worth, _ in self._fitted.experts])
