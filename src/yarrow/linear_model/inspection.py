"""Looking inside a linear model: its largest weights, and why a row got its score."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.lazy import np


@dataclasses.dataclass(frozen=True)
class Contribution:
    """One feature's part of a score: value times weight."""

    feature: Any
    value: float
    weight: float

    @property
    def amount(self) -> float:
        """What is added to the score."""
        return self.value * self.weight


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Why a row got its score: the parts sum up to it."""

    label: Any
    score: float
    contributions: list[Contribution]

    def __str__(self) -> str:
        head = f"score {self.score:+.4f}" + ("" if self.label is None else f" for {self.label!r}")
        lines = [
            f"  {c.amount:+.4f}  {c.feature}  ({c.value:g} x {c.weight:+.4f})"
            for c in self.contributions
        ]
        return "\n".join([head, *lines])


def top_features(model: Any, n: int, label: Any) -> list[tuple[Any, float]]:
    """The n features with the largest weights by size."""
    row, sign = model._row_of(label)
    weights = sign * model._weights()[row, 1:]
    names = model.feature_names_  # another thread may have added some meanwhile
    order = np.argsort(-np.abs(weights), kind="stable")[:n]
    return [(names[i], float(weights[i])) for i in order.tolist()]


def explain_one(model: Any, x: dict[Any, Any], label: Any) -> Explanation:
    """The parts of a row's score, largest first; features without weight are left out."""
    core = model._fitted
    if label is None and hasattr(model, "classes_"):
        label = model.predict_one(x)
    row, sign = model._row_of(label)
    features = {
        (f"{name}={value}" if isinstance(value, str) else name): (
            1.0 if isinstance(value, str) else float(value)
        )
        for name, value in x.items()
    }
    places = core.place(list(features))
    weights = sign * model._weights()[row]
    parts = [
        Contribution(name, value, float(weights[place + 1]))
        for (name, value), place in zip(features.items(), places, strict=True)
        if 0 <= place < len(weights) - 1
    ]
    if model.fit_intercept:
        parts.append(Contribution("(intercept)", model.intercept_scaling, float(weights[0])))
    parts = sorted((p for p in parts if p.amount != 0), key=lambda p: -abs(p.amount))
    return Explanation(label, sum(p.amount for p in parts), parts)


class OneScore:
    """What a learner without classes offers: a row has one score, so weights need no class."""

    @property
    def coef_(self: Any) -> Any:
        """Weights."""
        return super().coef_[0]  # type: ignore[misc]

    def top_features(self, n: int = 20) -> list[tuple[Any, float]]:
        """The features with the largest weights by size."""
        return top_features(self, n, None)

    def explain_one(self, x: dict[Any, Any]) -> Explanation:
        """What each feature of a row adds to its score."""
        return explain_one(self, x, None)

    def _row_of(self, label: Any) -> tuple[int, float]:
        return 0, 1.0
