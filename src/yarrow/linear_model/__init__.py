"""Linear learners, one file per family."""

from yarrow.linear_model.affine import (
    OGDClassifier,
    OGDRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
)
from yarrow.linear_model.confidence import (
    AROWClassifier,
    CWClassifier,
    SCWClassifier,
    SOPClassifier,
)
from yarrow.linear_model.custom import CustomClassifier
from yarrow.linear_model.exported import ExportedModel
from yarrow.linear_model.mira import MIRAClassifier
from yarrow.linear_model.persistence import load
from yarrow.linear_model.proximal import FOBOSClassifier, RDAClassifier
from yarrow.linear_model.structured import StructuredClassifier

__all__ = [
    "AROWClassifier",
    "CWClassifier",
    "CustomClassifier",
    "ExportedModel",
    "FOBOSClassifier",
    "MIRAClassifier",
    "OGDClassifier",
    "OGDRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "RDAClassifier",
    "SCWClassifier",
    "SOPClassifier",
    "StructuredClassifier",
    "load",
]
