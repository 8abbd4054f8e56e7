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
from yarrow.linear_model.l1_constrained import L1ConstrainedPAClassifier
from yarrow.linear_model.mirror import (
    ALMApClassifier,
    EGClassifier,
    EGRegressor,
    PNormClassifier,
)
from yarrow.linear_model.persistence import load
from yarrow.linear_model.proximal import FOBOSClassifier, RDAClassifier
from yarrow.linear_model.voted import VotedPerceptron

__all__ = [
    "ALMApClassifier",
    "AROWClassifier",
    "CWClassifier",
    "CustomClassifier",
    "EGClassifier",
    "EGRegressor",
    "ExportedModel",
    "FOBOSClassifier",
    "L1ConstrainedPAClassifier",
    "OGDClassifier",
    "OGDRegressor",
    "PNormClassifier",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "RDAClassifier",
    "SCWClassifier",
    "SOPClassifier",
    "VotedPerceptron",
    "load",
]
