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
from yarrow.linear_model.grouped import GroupLassoClassifier, MultiTaskClassifier
from yarrow.linear_model.persistence import load
from yarrow.linear_model.proximal import FOBOSClassifier, RDAClassifier
from yarrow.linear_model.selection import OFSClassifier, SOFSClassifier

__all__ = [
    "AROWClassifier",
    "CWClassifier",
    "CustomClassifier",
    "ExportedModel",
    "FOBOSClassifier",
    "GroupLassoClassifier",
    "MultiTaskClassifier",
    "OFSClassifier",
    "OGDClassifier",
    "OGDRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "RDAClassifier",
    "SCWClassifier",
    "SOFSClassifier",
    "SOPClassifier",
    "load",
]
