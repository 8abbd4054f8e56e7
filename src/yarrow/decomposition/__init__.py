"""Unsupervised learning from streams: subspaces, dictionaries, topics and tastes."""

from yarrow.decomposition.dictionary import OnlineDictionaryLearning
from yarrow.decomposition.factorization import OnlineMatrixFactorization
from yarrow.decomposition.hdp import OnlineHDP
from yarrow.decomposition.lda import OnlineLDA
from yarrow.decomposition.pca import OnlinePCA
from yarrow.decomposition.ranking import OnlineRankMF
from yarrow.decomposition.svd import OnlineSVD

__all__ = [
    "OnlineDictionaryLearning",
    "OnlineHDP",
    "OnlineLDA",
    "OnlineMatrixFactorization",
    "OnlinePCA",
    "OnlineRankMF",
    "OnlineSVD",
]
