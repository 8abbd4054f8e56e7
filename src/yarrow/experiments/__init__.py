"""Experiments: which learner, with which settings, and how sure are we?"""

from yarrow.experiments.compare import compare
from yarrow.experiments.comparison import Comparison, Outcome
from yarrow.experiments.lanes import Entrant
from yarrow.experiments.race import Race, race
from yarrow.experiments.sources import Files

__all__ = ["Comparison", "Entrant", "Files", "Outcome", "Race", "compare", "race"]
