"""Choosing features: by counts of a stream, or by the weights of a linear learner."""

from yarrow.feature_selection.game import GameSelection, solve_game
from yarrow.feature_selection.information_gain import InformationGain
from yarrow.feature_selection.small_weights import remove_small_weights, without_small_weights

__all__ = [
    "GameSelection",
    "InformationGain",
    "remove_small_weights",
    "solve_game",
    "without_small_weights",
]
