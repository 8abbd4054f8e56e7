"""Learners that approach the maximum margin: ALMA and ROMMA."""

from __future__ import annotations

import math

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import HARD
from yarrow.estimator import estimator
from yarrow.linear_model.affine import AffineFamily
from yarrow.parameters import flag, number


@estimator
class ALMAClassifier(AffineFamily, LinearClassifier):
    """ALMA (Gentile 2001) for p = 2: a Perceptron that asks for a margin which slowly shrinks.

    Rows count by their direction only, and all weights together, the intercept's included, stay in
    the unit ball. On data that a plane separates it reaches (1 - alpha) times the largest margin.
    A sample weight multiplies the step; a row of zeros is left alone.
    Use it on separable data of unknown scale. Instead: `AROWClassifier` where labels are noisy.
    """

    alpha: float = number(
        default=0.9,
        doc="Fraction of the largest margin that may be given up; smaller is slower.",
        above=0,
        at_most=1,
    )
    B: float | None = number(
        default=None, doc="The required margin at first; None: sqrt(8)/alpha.", above=0
    )
    C: float = number(default=math.sqrt(2), doc="The first step's size.", above=0)

    class_weight_fails = (
        "weights stay in the unit ball, where a class weight of 1000 does no more than ten"
    )

    core_rule = "alma"

    def _rule_parameters(self) -> list[float]:
        return [self.alpha, math.sqrt(8) / self.alpha if self.B is None else self.B, self.C]


@estimator
class ROMMAClassifier(AffineFamily, LinearClassifier):
    """ROMMA (Li & Long 2002): the shortest weights that meet the row and what was learned before.

    What was learned before is relaxed to a half-space. Constraints have no price, so a sample
    weight has no effect; a row of zeros, or one that contradicts the weights outright (within a
    thousandth of a radian), is left alone.
    Use it on clean data that a plane separates. Instead: `PassiveAggressiveClassifier`, which can
    tolerate noise.
    """

    aggressive: bool = flag(
        default=False, doc="Learn from every row whose margin is below 1, not from mistakes only."
    )

    class_weight_fails = HARD

    def _rule(self) -> _core.Rule:
        return rules.aggressive_romma if self.aggressive else rules.romma
