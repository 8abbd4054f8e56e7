"""Learners that answer an open question of a paper and are not part of the package."""

from __future__ import annotations

import math
from typing import Any

from yarrow import CustomClassifier, Situation


def adaptive_margin_arow(r: float, phi: float, **parameters: Any) -> CustomClassifier:
    """AROW that asks for the margin phi*sqrt(v) instead of 1: less where it is sure, as CW does.

    The step is AROW's own (16) with this margin: alpha = loss/(v + r), precision += z*z'/r.
    """

    def rule(s: Situation) -> tuple[float, float]:
        loss = phi * math.sqrt(s.v) - s.margin
        return (loss / (s.v + r), 1 / r) if loss > 0 else (0.0, 0.0)

    return CustomClassifier(rule, "confidence", **parameters)
