"""Linear learners, one file per family."""

from yarrow.linear_model.adaptive import (
    AdaGradClassifier,
    AdaGradRegressor,
    FTRLClassifier,
    FTRLRegressor,
)
from yarrow.linear_model.affine import (
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
from yarrow.linear_model.elastic_net_pa import ElasticNetPAClassifier
from yarrow.linear_model.exported import ExportedModel
from yarrow.linear_model.forgetting import ARCORClassifier, ForgettingAROWClassifier
from yarrow.linear_model.frequency import FrequencyRDAClassifier, SGFTClassifier
from yarrow.linear_model.gradient import (
    ASGDClassifier,
    NORMAClassifier,
    OGDClassifier,
    OGDRegressor,
    PegasosClassifier,
)
from yarrow.linear_model.grouped import GroupLassoClassifier, MultiTaskClassifier
from yarrow.linear_model.l1_constrained import L1ConstrainedPAClassifier
from yarrow.linear_model.least_squares import AROWRegressor
from yarrow.linear_model.maximum_margin import ALMAClassifier, ROMMAClassifier
from yarrow.linear_model.mira import MIRAClassifier
from yarrow.linear_model.mirror import ALMApClassifier, EGClassifier, EGRegressor, PNormClassifier
from yarrow.linear_model.one_class import OneClassPassiveAggressive
from yarrow.linear_model.persistence import load
from yarrow.linear_model.proximal import (
    CumulativePenaltyClassifier,
    FOBOSClassifier,
    FOBOSRegressor,
    RDAClassifier,
    RDARegressor,
)
from yarrow.linear_model.ranking import PassiveAggressiveRanker
from yarrow.linear_model.regularized_pa import NormConstrainedPAClassifier, RegularizedPAClassifier
from yarrow.linear_model.selection import OFSClassifier, SOFSClassifier
from yarrow.linear_model.structured import StructuredClassifier
from yarrow.linear_model.truncated import CoefficientRoundingClassifier, TruncatedGradientClassifier
from yarrow.linear_model.voted import VotedPerceptron

__all__ = [
    "ALMAClassifier",
    "ALMApClassifier",
    "ARCORClassifier",
    "AROWClassifier",
    "AROWRegressor",
    "ASGDClassifier",
    "AdaGradClassifier",
    "AdaGradRegressor",
    "BayesianPerceptron",
    "CWClassifier",
    "CoefficientRoundingClassifier",
    "CumulativePenaltyClassifier",
    "CustomClassifier",
    "EGClassifier",
    "EGRegressor",
    "ElasticNetPAClassifier",
    "ExportedModel",
    "FOBOSClassifier",
    "FOBOSRegressor",
    "FTRLClassifier",
    "FTRLRegressor",
    "ForgettingAROWClassifier",
    "FrequencyRDAClassifier",
    "GroupLassoClassifier",
    "IELLIPClassifier",
    "L1ConstrainedPAClassifier",
    "MIRAClassifier",
    "MultiTaskClassifier",
    "NAROWClassifier",
    "NHERDClassifier",
    "NORMAClassifier",
    "NormConstrainedPAClassifier",
    "OFSClassifier",
    "OGDClassifier",
    "OGDRegressor",
    "OneClassPassiveAggressive",
    "PNormClassifier",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRanker",
    "PassiveAggressiveRegressor",
    "PegasosClassifier",
    "Perceptron",
    "RDAClassifier",
    "RDARegressor",
    "ROMMAClassifier",
    "RegularizedPAClassifier",
    "SCWClassifier",
    "SGFTClassifier",
    "SOFSClassifier",
    "SOPClassifier",
    "StructuredClassifier",
    "TruncatedGradientClassifier",
    "VotedPerceptron",
    "load",
]
