"""Learning from the advice of learners: which of them, or which settings, to follow.

Any learners can be experts: Yarrow's, scikit-learn's with `partial_fit`, river's with `learn_one`.
"""

from typing import TYPE_CHECKING

from yarrow.lazy import exports

if TYPE_CHECKING:
    from yarrow.experts.hedge import FixedShareClassifier as FixedShareClassifier
    from yarrow.experts.hedge import FixedShareRegressor as FixedShareRegressor
    from yarrow.experts.hedge import HedgeClassifier as HedgeClassifier
    from yarrow.experts.hedge import HedgeRegressor as HedgeRegressor
    from yarrow.experts.hedge import WeightedMajorityClassifier as WeightedMajorityClassifier
    from yarrow.experts.mixture import MixtureClassifier as MixtureClassifier
    from yarrow.experts.online_to_batch import OnlineToBatchClassifier as OnlineToBatchClassifier
    from yarrow.experts.online_to_batch import OnlineToBatchRegressor as OnlineToBatchRegressor

#: what is offered, and the file that has it
_HOMES = {
    "FixedShareClassifier": "hedge",
    "FixedShareRegressor": "hedge",
    "HedgeClassifier": "hedge",
    "HedgeRegressor": "hedge",
    "MixtureClassifier": "mixture",
    "OnlineToBatchClassifier": "online_to_batch",
    "OnlineToBatchRegressor": "online_to_batch",
    "WeightedMajorityClassifier": "hedge",
}

if not TYPE_CHECKING:
    __all__ = list(_HOMES)

__getattr__, __dir__ = exports(__name__, _HOMES)
