"""Learning where only "right" or "wrong" is told of the one class that was shown."""

from yarrow.bandit.banditron import BanditPAClassifier, BanditronClassifier
from yarrow.bandit.choice import Choice

__all__ = [
    "BanditPAClassifier",
    "BanditronClassifier",
    "Choice",
]
