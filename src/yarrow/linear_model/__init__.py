"""Linear learners, one file per family."""

from yarrow.linear_model.affine import (
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
from yarrow.linear_model.gradient import (
    ASGDClassifier,
    NORMAClassifier,
    OGDClassifier,
    OGDRegressor,
    PegasosClassifier,
)
from yarrow.linear_model.maximum_margin import ALMAClassifier, ROMMAClassifier
from yarrow.linear_model.one_class import OneClassPassiveAggressive
from yarrow.linear_model.persistence import load
from yarrow.linear_model.proximal import FOBOSClassifier, RDAClassifier
from yarrow.linear_model.ranking import PassiveAggressiveRanker
from yarrow.linear_model.regularized_pa import (
    NormConstrainedPAClassifier,
    RegularizedPAClassifier,
)

__all__ = [
    "ALMAClassifier",
    "AROWClassifier",
    "ASGDClassifier",
    "CWClassifier",
    "CustomClassifier",
    "ExportedModel",
    "FOBOSClassifier",
    "NORMAClassifier",
    "NormConstrainedPAClassifier",
    "OGDClassifier",
    "OGDRegressor",
    "OneClassPassiveAggressive",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRanker",
    "PassiveAggressiveRegressor",
    "PegasosClassifier",
    "Perceptron",
    "RDAClassifier",
    "ROMMAClassifier",
    "RegularizedPAClassifier",
    "SCWClassifier",
    "SOPClassifier",
    "load",
]
