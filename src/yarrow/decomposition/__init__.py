"""Unsupervised learning from streams: subspaces, dictionaries, topics and tastes."""

from yarrow.decomposition.svd import OnlineSVD

__all__ = ["OnlineSVD"]
