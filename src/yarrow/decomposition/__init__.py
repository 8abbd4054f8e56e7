"""Unsupervised learning from streams: subspaces, dictionaries, topics and tastes."""

from yarrow.decomposition.dictionary import OnlineDictionaryLearning
from yarrow.decomposition.pca import OnlinePCA
from yarrow.decomposition.svd import OnlineSVD

__all__ = ["OnlineDictionaryLearning", "OnlinePCA", "OnlineSVD"]
