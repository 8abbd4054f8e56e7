"""Data as streams: named public sets in a stated order, and synthetic ones made from a seed."""

from yarrow.datasets.catalogue import describe, is_name, load, names
from yarrow.datasets.dataset import Block, Dataset, with_noise
from yarrow.datasets.synthetic import Stream, drifting_text, noisy_text

__all__ = [
    "Block",
    "Dataset",
    "Stream",
    "describe",
    "drifting_text",
    "is_name",
    "load",
    "names",
    "noisy_text",
    "with_noise",
]
