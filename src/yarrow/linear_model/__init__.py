"""Linear learners, one file per family."""

from yarrow.linear_model.adaptive import (
    AdaGradClassifier,
    AdaGradRegressor,
    FTRLClassifier,
    FTRLRegressor,
)
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
from yarrow.linear_model.frequency import FrequencyRDAClassifier, SGFTClassifier
from yarrow.linear_model.persistence import load
from yarrow.linear_model.proximal import (
    CumulativePenaltyClassifier,
    FOBOSClassifier,
    FOBOSRegressor,
    RDAClassifier,
    RDARegressor,
)
from yarrow.linear_model.truncated import (
    CoefficientRoundingClassifier,
    TruncatedGradientClassifier,
)

__all__ = [
    "AROWClassifier",
    "AdaGradClassifier",
    "AdaGradRegressor",
    "CWClassifier",
    "CoefficientRoundingClassifier",
    "CumulativePenaltyClassifier",
    "CustomClassifier",
    "ExportedModel",
    "FOBOSClassifier",
    "FOBOSRegressor",
    "FTRLClassifier",
    "FTRLRegressor",
    "FrequencyRDAClassifier",
    "OGDClassifier",
    "OGDRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "RDAClassifier",
    "RDARegressor",
    "SCWClassifier",
    "SGFTClassifier",
    "SOPClassifier",
    "TruncatedGradientClassifier",
    "load",
]
