"""Data as streams: named public sets in a stated order, and synthetic ones made from a seed."""

from yarrow.datasets.catalogue import describe, is_name, load, names
from yarrow.datasets.dataset import Block, Dataset, with_noise
from yarrow.datasets.drift import drift_chances, drifting, four_phases
from yarrow.datasets.raw import (
    Documents,
    Ratings,
    load_activity,
    load_documents,
    load_ratings,
)
from yarrow.datasets.synthetic import drifting_text, noisy_text

__all__ = [
    "Block",
    "Dataset",
    "Documents",
    "Ratings",
    "describe",
    "drift_chances",
    "drifting",
    "drifting_text",
    "four_phases",
    "is_name",
    "load",
    "load_activity",
    "load_documents",
    "load_ratings",
    "names",
    "noisy_text",
    "with_noise",
]
