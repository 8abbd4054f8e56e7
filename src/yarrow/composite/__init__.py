"""Estimators made of other learners: what `experts`, `bandit` and `feedback` stand on.

Rows are brought to one scale here, for any learner.
"""

from yarrow.composite.scaled import ScaledClassifier, ScaledRegressor

__all__ = ["ScaledClassifier", "ScaledRegressor"]
