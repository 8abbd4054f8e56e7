"""Learners that answer a question, of a paper or our own, and are not part of the package."""

from __future__ import annotations

import math
from typing import Any

from yarrow import CustomClassifier, Situation, YarrowClassifier
from yarrow.linear_model.yarrow import EXPERTS, MIXTURE


def adaptive_margin_arow(r: float, phi: float, **parameters: Any) -> CustomClassifier:
    """AROW that asks for the margin phi*sqrt(v) instead of 1: less where it is sure, as CW does.

    The step is AROW's own (16) with this margin: alpha = loss/(v + r), precision += z*z'/r.
    """

    def rule(s: Situation) -> tuple[float, float]:
        loss = phi * math.sqrt(s.v) - s.margin
        return (loss / (s.v + r), 1 / r) if loss > 0 else (0.0, 0.0)

    return CustomClassifier(rule, "confidence", **parameters)


def yarrow_without(part: str, **parameters: Any) -> YarrowClassifier:
    """`YarrowClassifier` without one of its parts, to see what the part is worth."""
    rates, memories = zip(*EXPERTS, strict=True)
    takes_part = {
        "AROW": (0, 0, 0, 0, 1, 1),
        "AdaGrad": (1, 1, 1, 1, 0, 0),
        "three experts": (1, 0, 0, 1, 0, 1),
        "all but one expert": (0, 1, 0, 0, 0, 0),
    }.get(part, (1,) * len(EXPERTS))
    kept = [1.0] * len(EXPERTS) if part == "forgetting" else memories
    weights = [one / sum(takes_part) for one in takes_part]
    mixture = (1e300, 0.0, MIXTURE[2]) if part == "mixture" else MIXTURE

    class Without(YarrowClassifier):
        def _loop_parameters(self) -> list[float]:
            return [*rates, *kept, *weights, *mixture]

    return Without(**parameters)
