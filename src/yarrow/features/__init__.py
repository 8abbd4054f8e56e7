"""Features: tables, text, interactions, scaling; steps of scikit-learn's and river's pipelines."""

from yarrow.features.columns import Columns
from yarrow.features.interactions import Interactions
from yarrow.features.normalizing import RowNormalizer
from yarrow.features.scaling import (
    OnlineIDF,
    OnlineMaxAbsScaler,
    OnlineMinMaxScaler,
    OnlineStandardScaler,
)
from yarrow.features.text import TextFeatures

__all__ = [
    "Columns",
    "Interactions",
    "OnlineIDF",
    "OnlineMaxAbsScaler",
    "OnlineMinMaxScaler",
    "OnlineStandardScaler",
    "RowNormalizer",
    "TextFeatures",
]
