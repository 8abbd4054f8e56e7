"""Looking inside a linear model: its largest weights, and why a row got its score."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.data.arrays import Array
from yarrow.io.taught import as_taught
from yarrow.lazy import np

#: said of parts that do not add up
NO_SUM = "it is no sum: each part is what the score would lose without that feature"


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
    """Why a row got its score: the parts sum up to it.

    If they do not (`adds_up` is false), each is what the score would lose without that feature.
    """

    label: Any
    score: float
    contributions: list[Contribution]
    adds_up: bool = True

    def __str__(self) -> str:
        head = f"score {self.score:+.4f}" + ("" if self.label is None else f" for {self.label!r}")
        head += "" if self.adds_up else f"; {NO_SUM}"
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
    """The parts of a row's score, largest first; features that add nothing are left out."""
    model._fitted  # noqa: B018  (raises before anything was learned)
    x = as_taught(model, x)
    if label is None and hasattr(model, "classes_"):
        label = model.predict_one(x)
    score = model._score_of(x, label)  # which refuses what is no row
    features = [
        (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
        for name, value in x.items()
    ]
    weights, constant = model._weights_in(features, label)
    parts = [
        Contribution(name, value, float(weight))
        for (name, value), weight in zip(features, weights, strict=True)
    ]
    parts.append(Contribution("(intercept)", model._constant or 1.0, float(constant)))
    parts = sorted((p for p in parts if p.amount != 0), key=lambda p: -abs(p.amount))
    return Explanation(label, score, parts, model.adds_up)


def fixed_weights(
    model: Any, features: list[tuple[Any, float]], label: Any, table: Array
) -> tuple[Array, float]:
    """The weights of features, and that of the constant one, from a table as `_weights` gives."""
    row, sign = model._row_of(label)
    weights = sign * table[row].astype(np.float64)
    places = places_of(model, features, len(weights) - 1)
    return np.where(places >= 0, weights[places + 1], 0.0), float(weights[0])


def places_of(model: Any, features: list[tuple[Any, float]], size: int) -> Array:
    """Where features stand among so many; -1 for those unknown then: threads may add some."""
    places = np.array(model._fitted.place([name for name, _ in features]), np.int64)
    return np.where(places < size, places, -1)


def lost_without(model: Any, features: list[tuple[Any, float]], label: Any) -> tuple[Array, float]:
    """What the score of a row loses without a feature, for each unit of its value."""
    rows = [summed(features[:i] + features[i + 1 :]) for i in range(len(features))]
    score = model._score_of(summed(features), label)
    lost = score - np.array([model._score_of(row, label) for row in rows])
    values = np.array([value for _, value in features])
    return np.divide(lost, values, out=np.zeros(len(rows)), where=values != 0), 0.0


def summed(features: list[tuple[Any, float]]) -> dict[Any, float]:
    """Features as a row; a name may be there twice, once by a category."""
    row: dict[Any, float] = {}
    for name, value in features:
        row[name] = row.get(name, 0.0) + value
    return row


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

    def _score_of(self: Any, x: dict[Any, Any], label: Any) -> float:
        return float(self._fitted.score_one(x)[0][0])
