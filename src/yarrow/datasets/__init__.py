"""Data as streams: synthetic ones here, each made from its seed alone."""

from yarrow.datasets.synthetic import Stream, drifting_text, noisy_text

__all__ = ["Stream", "drifting_text", "noisy_text"]
