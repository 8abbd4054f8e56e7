"""Labels that come late, that must be asked for, and predictions that say how sure they are."""

from yarrow.feedback.late import LateLabels, Ticket
from yarrow.feedback.selective import SelectiveClassifier
from yarrow.feedback.sets import PredictionSetClassifier

__all__ = [
    "LateLabels",
    "PredictionSetClassifier",
    "SelectiveClassifier",
    "Ticket",
]
