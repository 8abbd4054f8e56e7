"""MIRA, the ultraconservative original."""

from __future__ import annotations

import dataclasses

from yarrow.base.classifier import strategies
from yarrow.base.hyperparameters import Multiclass
from yarrow.base.rivals import RivalsClassifier
from yarrow.estimator import estimator
from yarrow.linear_model.affine import AffineFamily
from yarrow.parameters import number


@estimator
class MIRAClassifier(AffineFamily, RivalsClassifier):
    """MIRA (Crammer & Singer 2003): on a mistake, the step to the shortest weights.

    Only the true class and classes that score at least as high move, by at most the row itself.
    The paper asks for no margin; with `margin=1` it is PA-I with C=1 over all rivals, which later
    papers call MIRA.

    Use it to study the step from the Perceptron to margins: on 20 Newsgroups one pass errs 52 %
    as the paper has it, 31 % with margins of 0.01 to 1. A sample weight multiplies the bound.
    Instead: `PassiveAggressiveClassifier`, which asks for a margin.

    >>> model = MIRAClassifier()
    >>> for _ in range(2):
    ...     for word, label in (("goal", "sport"), ("vote", "politics"), ("bank", "money")):
    ...         model.learn_one({word: 1}, label)
    >>> model.predict_one({"vote": 1})
    'politics'
    """

    row_costs = "O(nnz), and k log k for k rivals"
    is_dear = True
    margin: float = number(default=0.0, doc="The required margin; the paper's is 0.", at_least=0)
    _: dataclasses.KW_ONLY
    multiclass: Multiclass = strategies("all", "topk", "top1", "ovr")

    class_weight_fails = (
        "a mistake is mended just so far that it is none: a larger bound leads no further"
    )

    core_rule = "mira"
