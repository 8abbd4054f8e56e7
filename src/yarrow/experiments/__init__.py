"""Experiments: which learner, with which settings, and how sure are we?"""

from yarrow.experiments.comparison import Comparison, Outcome

__all__ = ["Comparison", "Outcome"]
