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
from yarrow.linear_model.settled import settled_classifier
from yarrow.parameters import number
from yarrow.saving import export_experts, export_file

#: experts: r of AROW or the rate of AdaGrad, and how much of its confidence a visit leaves; the
#: first AROW sees values times what they say to naive Bayes
AROW_EXPERTS = ((0.3, 1.0), (0.03, 1.0), (1.0, 0.9), (1.0, 0.7))
ADAGRAD_EXPERTS = ((1.0, 0.99), (0.5, 1.0))
EXPERTS = (*AROW_EXPERTS, *ADAGRAD_EXPERTS)
#: what the mixture gives to these at first, half to those that forget; then to AROW on splines,
#: to naive Bayes and to AROW with a full covariance, which learn from few rows, and to AROW on
#: products of two values
FIRST_WEIGHTS = (*(1 / 6 if memory == 1 else 1 / 12 for _, memory in EXPERTS), 0.5, 0.5, 1.0, 0.5)
FIRST_VARIANCES = (0.3,) * len(FIRST_WEIGHTS)
#: r of the mixture; what each row adds to its variances, from which row on less (as 1/row), and
#: which part of it at least
MIXTURE = (1.0, 1e-4, 300.0, 0.1)
#: r of AROW on splines
SPLINE = (0.1,)
#: r of AROW with a full covariance, and which part of r a row's variance has to be to shrink it
COVARIANCE = (0.1, 0.03)
#: r of AROW on products of two values
PAIRS = (0.3,)
#: what naive Bayes adds to the counts of a feature, and to those of all
SMOOTHING = (0.3, 10.0)


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
    for an eighth of the memory and a fifth to a fifteenth of the time;
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

    def _loop_parameters(self) -> list[float]:
        rates, memories = zip(*EXPERTS, strict=True)
        return [
            *rates,
            *memories,
            *FIRST_WEIGHTS,
            *FIRST_VARIANCES,
            *MIXTURE,
            *SPLINE,
            *COVARIANCE,
            *PAIRS,
            *SMOOTHING,
        ]

    def _exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        metadata = export_file.described(self)
        names = [f"AROW, r {r:g}, memory {memory:g}" for r, memory in AROW_EXPERTS]
        names += [f"AdaGrad, rate {rate:g}, memory {memory:g}" for rate, memory in ADAGRAD_EXPERTS]
        found = settled_classifier(self, names, len(AROW_EXPERTS), SMOOTHING)
        return export_experts.packed(*found, metadata)

    @property
    def expert_weights_(self) -> Array:
        """What each expert is worth to the mixture.

        Four AROWs, two logistic regressions, AROW on splines, naive Bayes, AROW with a full
        covariance, AROW on products of two values, whose worth is 0 where it was given up.
        """
        state = self._fitted.get_state()
        worth: Array = np.zeros(len(FIRST_WEIGHTS))
        kept = len(worth) - ("pair_weights" not in state)
        worth[:kept] = state["mixture"][:kept]
        return worth
