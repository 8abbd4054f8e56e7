"""Linear learners, one file per family; each file is loaded when it is first asked for."""

from typing import TYPE_CHECKING

from yarrow.lazy import exports

if TYPE_CHECKING:  # the names below, for type checkers
    from yarrow.base.core_estimator import load as load
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
    from yarrow.linear_model.yarrow_regressor import *  # noqa: F403

#: the files, and what each offers
_FILES = {
    "adaptive": "AdaGradClassifier AdaGradRegressor FTRLClassifier FTRLRegressor",
    "affine": "PassiveAggressiveClassifier PassiveAggressiveRegressor Perceptron",
    "bayesian": "BayesianPerceptron",
    "confidence": "AROWClassifier CWClassifier SCWClassifier SOPClassifier",
    "custom": "CustomClassifier",
    "elastic_net_pa": "ElasticNetPAClassifier",
    "exported": "ExportedModel",
    "forgetting": "ARCORClassifier ForgettingAROWClassifier",
    "frequency": "FrequencyRDAClassifier SGFTClassifier",
    "gradient": "ASGDClassifier NORMAClassifier OGDClassifier OGDRegressor PegasosClassifier",
    "grouped": "GroupLassoClassifier MultiTaskClassifier",
    "iellip": "IELLIPClassifier",
    "l1_constrained": "L1ConstrainedPAClassifier",
    "least_squares": "AROWRegressor",
    "maximum_margin": "ALMAClassifier ROMMAClassifier",
    "mira": "MIRAClassifier",
    "mirror": "ALMApClassifier EGClassifier EGRegressor PNormClassifier",
    "narow": "NAROWClassifier",
    "nherd": "NHERDClassifier",
    "one_class": "OneClassPassiveAggressive",
    "proximal": (
        "CumulativePenaltyClassifier FOBOSClassifier FOBOSRegressor RDAClassifier RDARegressor"
    ),
    "ranking": "PassiveAggressiveRanker",
    "regularized_pa": "NormConstrainedPAClassifier RegularizedPAClassifier",
    "selection": "OFSClassifier SOFSClassifier",
    "structured": "StructuredClassifier",
    "truncated": "CoefficientRoundingClassifier TruncatedGradientClassifier",
    "voted": "VotedPerceptron",
    "yarrow": "YarrowClassifier",
    "yarrow_regressor": "YarrowRegressor",
}
_HOMES = {name: file for file, names in _FILES.items() for name in names.split()}
_HOMES = dict(sorted(_HOMES.items())) | {"load": "yarrow.base.core_estimator"}

if not TYPE_CHECKING:  # type checkers know lists that are written out only
    __all__ = list(_HOMES)

__getattr__, __dir__ = exports(__name__, _HOMES)
