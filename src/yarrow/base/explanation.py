"""Looking inside a linear model: its largest weights, and why a row got its score."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from yarrow.data.dict_rows import features_of
from yarrow.io.row_reader import row_for
from yarrow.lazy import np
from yarrow.notebook import shown

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

    def _repr_html_(self) -> str:
        title = str(dataclasses.replace(self, contributions=[]))
        rows = [
            (part.feature, f"{part.value:g}", f"{part.weight:+.4f}", f"{part.amount:+.4f}")
            for part in self.contributions
        ]
        return shown(title, rows, ("feature", "value", "weight", "part"))


def top_features(model: Any, n: int, label: Any) -> list[tuple[Any, float]]:
    """The n features with the largest weights by size."""
    row, sign = model._row_of(label)
    weights = sign * model._weights()[row, 1:]
    names = model.feature_names_  # another thread may have added some meanwhile
    order = np.argsort(-np.abs(weights), kind="stable")[:n]
    return [(names[i], float(weights[i])) for i in order.tolist()]


def explain_one(model: Any, x: dict[Any, Any], label: Any) -> Explanation:
    """The parts of a row's score, largest first; features that add nothing are left out.

    Where a value of 0 adds something, it is called `feature=0`; where a category that is not there
    does, `no column=category`.
    """
    core = model._fitted
    x = row_for(model, x)
    if label is None and hasattr(model, "classes_"):
        label = model.predict_one(x)
    score = model._score_of(x, label)  # which refuses what is no row
    missing = [n for n, value in x.items() if value is None] if model.tells_missing else []
    features = features_of(x)
    names = [*features, *missing]
    values = [*features.values(), *[math.nan] * len(missing)]
    found = [(sign, core.explain(names, values, c)) for c, sign in model._classes_of(label)]
    constant = sum(sign * part for sign, (_, part, _, _) in found)
    weights = [sum(sign * w[i] for sign, (w, _, _, _) in found) for i in range(len(names))]
    parts = [Contribution(*part) for part in zip(features, values, weights, strict=False)]
    zeros: dict[Any, float] = {}
    for sign, (_, _, _, of_zeros) in found:
        for name, part in of_zeros:
            zeros[name] = zeros.get(name, 0.0) + sign * part
    parts += [Contribution(_zero(name), 1.0, part) for name, part in zeros.items()]
    unit = model._constant or 1.0
    parts.append(Contribution("(intercept)", unit, constant / unit))
    parts = sorted((p for p in parts if p.amount != 0), key=lambda p: -abs(p.amount))
    return Explanation(label, score, parts, all(adds_up for _, (_, _, adds_up, _) in found))


def _zero(name: Any) -> str:
    """What the value 0 of a feature is called."""
    return f"no {name}" if isinstance(name, str) and "=" in name else f"{name}=0"


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

    def _classes_of(self, label: Any) -> list[tuple[int, float]]:
        return [(0, 1.0)]

    def _score_of(self: Any, x: dict[Any, Any], label: Any) -> float:
        return float(self._fitted.score_one(x)[0][0])
