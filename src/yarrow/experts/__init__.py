"""Learning from the advice of learners: which of them, or which settings, to follow.

Any learners can be experts: Yarrow's, scikit-learn's with `partial_fit`, river's with `learn_one`.
"""

from yarrow.experts.hedge import (
    FixedShareClassifier,
    FixedShareRegressor,
    HedgeClassifier,
    HedgeRegressor,
    WeightedMajorityClassifier,
)
from yarrow.experts.mixture import MixtureClassifier
from yarrow.experts.online_to_batch import OnlineToBatchClassifier, OnlineToBatchRegressor

__all__ = [
    "FixedShareClassifier",
    "FixedShareRegressor",
    "HedgeClassifier",
    "HedgeRegressor",
    "MixtureClassifier",
    "OnlineToBatchClassifier",
    "OnlineToBatchRegressor",
    "WeightedMajorityClassifier",
]
