"""Experiments: which learner, with which settings, and how sure are we?"""

from yarrow.compare.compare import compare
from yarrow.compare.comparison import Comparison, Outcome
from yarrow.compare.entrant import Entrant
from yarrow.compare.race import Race, race
from yarrow.compare.sources import Files

__all__ = ["Comparison", "Entrant", "Files", "Outcome", "Race", "compare", "race"]
