"""Linear learners, one file per family; each file is loaded when it is first asked for."""

from typing import TYPE_CHECKING

from yarrow.lazy import exports

if TYPE_CHECKING:  # the names below, for type checkers
    from yarrow.linear_model.adaptive import *  # noqa: F403
    from yarrow.linear_model.affine import *  # noqa: F403
    from yarrow.linear_model.bayesian import *  # noqa: F403
    from yarrow.linear_model.confidence import *  # noqa: F403
    from yarrow.linear_model.custom import *  # noqa: F403
    from yarrow.linear_model.elastic_net_pa import *  # noqa: F403
    from yarrow.linear_model.exported import *  # noqa: F403
    from yarrow.linear_model.forgetting import *  # noqa: F403
    from yarrow.linear_model.frequency import *  # noqa: F403
    from yarrow.linear_model.gradient import *  # noqa: F403
    from yarrow.linear_model.grouped import *  # noqa: F403
    from yarrow.linear_model.iellip import *  # noqa: F403
    from yarrow.linear_model.l1_constrained import *  # noqa: F403
    from yarrow.linear_model.least_squares import *  # noqa: F403
    from yarrow.linear_model.maximum_margin import *  # noqa: F403
    from yarrow.linear_model.mira import *  # noqa: F403
    from yarrow.linear_model.mirror import *  # noqa: F403
    from yarrow.linear_model.narow import *  # noqa: F403
    from yarrow.linear_model.nherd import *  # noqa: F403
    from yarrow.linear_model.one_class import *  # noqa: F403
    from yarrow.linear_model.proximal import *  # noqa: F403
    from yarrow.linear_model.ranking import *  # noqa: F403
    from yarrow.linear_model.regularized_pa import *  # noqa: F403
    from yarrow.linear_model.selection import *  # noqa: F403
    from yarrow.linear_model.structured import *  # noqa: F403
    from yarrow.linear_model.truncated import *  # noqa: F403
    from yarrow.linear_model.voted import *  # noqa: F403
    from yarrow.linear_model.yarrow import *  # noqa: F403
    from yarrow.saving.core_state import load as load

#: what is offered, and the file that has it
_HOMES = {
    "ALMAClassifier": "maximum_margin",
    "ALMApClassifier": "mirror",
    "ARCORClassifier": "forgetting",
    "AROWClassifier": "confidence",
    "AROWRegressor": "least_squares",
    "ASGDClassifier": "gradient",
    "AdaGradClassifier": "adaptive",
    "AdaGradRegressor": "adaptive",
    "BayesianPerceptron": "bayesian",
    "CWClassifier": "confidence",
    "CoefficientRoundingClassifier": "truncated",
    "CumulativePenaltyClassifier": "proximal",
    "CustomClassifier": "custom",
    "EGClassifier": "mirror",
    "EGRegressor": "mirror",
    "ElasticNetPAClassifier": "elastic_net_pa",
    "ExportedModel": "exported",
    "FOBOSClassifier": "proximal",
    "FOBOSRegressor": "proximal",
    "FTRLClassifier": "adaptive",
    "FTRLRegressor": "adaptive",
    "ForgettingAROWClassifier": "forgetting",
    "FrequencyRDAClassifier": "frequency",
    "GroupLassoClassifier": "grouped",
    "IELLIPClassifier": "iellip",
    "L1ConstrainedPAClassifier": "l1_constrained",
    "MIRAClassifier": "mira",
    "MultiTaskClassifier": "grouped",
    "NAROWClassifier": "narow",
    "NHERDClassifier": "nherd",
    "NORMAClassifier": "gradient",
    "NormConstrainedPAClassifier": "regularized_pa",
    "OFSClassifier": "selection",
    "OGDClassifier": "gradient",
    "OGDRegressor": "gradient",
    "OneClassPassiveAggressive": "one_class",
    "PNormClassifier": "mirror",
    "PassiveAggressiveClassifier": "affine",
    "PassiveAggressiveRanker": "ranking",
    "PassiveAggressiveRegressor": "affine",
    "PegasosClassifier": "gradient",
    "Perceptron": "affine",
    "RDAClassifier": "proximal",
    "RDARegressor": "proximal",
    "ROMMAClassifier": "maximum_margin",
    "RegularizedPAClassifier": "regularized_pa",
    "SCWClassifier": "confidence",
    "SGFTClassifier": "frequency",
    "SOFSClassifier": "selection",
    "SOPClassifier": "confidence",
    "StructuredClassifier": "structured",
    "TruncatedGradientClassifier": "truncated",
    "VotedPerceptron": "voted",
    "YarrowClassifier": "yarrow",
    "load": "yarrow.saving.core_state",
}

if not TYPE_CHECKING:  # type checkers know lists that are written out only
    __all__ = list(_HOMES)

__getattr__, __dir__ = exports(__name__, _HOMES)
