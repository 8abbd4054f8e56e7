"""Classifiers that can meet many rivals of the true class at once, and price mistakes."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

from yarrow.base.classifier import LinearClassifier, strategies
from yarrow.base.combinations import Needs
from yarrow.base.hyperparameters import Multiclass
from yarrow.estimator import estimator
from yarrow.parameters import anything, integer


def _flat(cost: Mapping[Any, Any]) -> list[tuple[Any, Any, Any]]:
    """(true, predicted, cost) of {(true, predicted): cost} or {true: {predicted: cost}}."""
    found = []
    for key, value in cost.items():
        if isinstance(value, Mapping):
            found += [(key, other, price) for other, price in value.items()]
        else:
            truth, other = key
            found.append((truth, other, value))
    return found


def _is_cost(value: Any) -> bool:
    if value is None:
        return True
    try:
        flat = _flat(value)
    except (AttributeError, TypeError, ValueError):
        return False
    return all(
        isinstance(price, numbers.Real) and math.isfinite(price) and float(price) >= 0
        for _, _, price in flat
    )


@estimator
class RivalsClassifier(LinearClassifier):
    """Base of learners whose rule has a form for many rivals at once (core/learner/rivals.hpp)."""

    _: dataclasses.KW_ONLY
    multiclass: Multiclass = strategies("ovr", "top1", "topk", "all")
    k: int = integer(default=5, doc="With multiclass='topk': how many rivals at once.", at_least=1)

    def _rivals(self) -> int:
        return self.k if self.multiclass == "topk" else 0


@estimator
class CostSensitiveClassifier(RivalsClassifier):
    """Base of learners that also ask for a larger margin where a mistake costs more."""

    _: dataclasses.KW_ONLY
    multiclass: Multiclass = strategies("ovr", "top1", "max_loss", "topk", "all")
    cost: Any = anything(
        default=None,
        allowed="None, a dict {(true, predicted): cost} or {true: {predicted: cost}} of costs >= 0",
        accepts=_is_cost,
        doc="Cost of each mistake: the margin required over that class; 1 where none is given.",
    )

    restrictions: ClassVar[tuple[Needs, ...]] = (
        Needs("cost", None, "multiclass", ("top1", "max_loss", "topk", "all")),
    )

    def _costs(self) -> list[tuple[Any, Any, float]]:
        if self.cost is None:
            return []
        return [(truth, other, float(price)) for truth, other, price in _flat(self.cost)]
