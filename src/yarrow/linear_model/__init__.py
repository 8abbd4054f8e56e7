"""Linear learners, one file per family."""

from yarrow.linear_model.affine import (
    OGDClassifier,
    OGDRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
)
from yarrow.linear_model.bayesian import BayesianPerceptron
from yarrow.linear_model.confidence import (
    AROWClassifier,
    CWClassifier,
    SCWClassifier,
    SOPClassifier,
)
from yarrow.linear_model.confidence_relatives import (
    IELLIPClassifier,
    NAROWClassifier,
    NHERDClassifier,
)
from yarrow.linear_model.custom import CustomClassifier
from yarrow.linear_model.exported import ExportedModel
from yarrow.linear_model.forgetting import ARCORClassifier, ForgettingAROWClassifier
from yarrow.linear_model.least_squares import AROWRegressor
from yarrow.linear_model.persistence import load
from yarrow.linear_model.proximal import FOBOSClassifier, RDAClassifier

__all__ = [
    "ARCORClassifier",
    "AROWClassifier",
    "AROWRegressor",
    "BayesianPerceptron",
    "CWClassifier",
    "CustomClassifier",
    "ExportedModel",
    "FOBOSClassifier",
    "ForgettingAROWClassifier",
    "IELLIPClassifier",
    "NAROWClassifier",
    "NHERDClassifier",
    "OGDClassifier",
    "OGDRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "RDAClassifier",
    "SCWClassifier",
    "SOPClassifier",
    "load",
]
