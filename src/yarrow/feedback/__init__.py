"""Labels that come late, that must be asked for, and predictions that say how sure they are."""

from typing import TYPE_CHECKING

from yarrow.lazy import exports

if TYPE_CHECKING:
    from yarrow.feedback.late import LateLabels as LateLabels
    from yarrow.feedback.late import Ticket as Ticket
    from yarrow.feedback.selective import SelectiveClassifier as SelectiveClassifier
    from yarrow.feedback.sets import PredictionSetClassifier as PredictionSetClassifier

#: what is offered, and the file that has it
_HOMES = {
    "LateLabels": "late",
    "PredictionSetClassifier": "sets",
    "SelectiveClassifier": "selective",
    "Ticket": "late",
}

if not TYPE_CHECKING:
    __all__ = list(_HOMES)

__getattr__, __dir__ = exports(__name__, _HOMES)
