"""Learning where only "right" or "wrong" is told of the one class that was shown."""

from typing import TYPE_CHECKING

from yarrow.lazy import exports

if TYPE_CHECKING:
    from yarrow.bandit.banditron import BanditPAClassifier as BanditPAClassifier
    from yarrow.bandit.banditron import BanditronClassifier as BanditronClassifier
    from yarrow.bandit.choice import Choice as Choice

#: what is offered, and the file that has it
_HOMES = {
    "BanditPAClassifier": "banditron",
    "BanditronClassifier": "banditron",
    "Choice": "choice",
}

if not TYPE_CHECKING:
    __all__ = list(_HOMES)

__getattr__, __dir__ = exports(__name__, _HOMES)
