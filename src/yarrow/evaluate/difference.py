"""What changed between two models: weights, and how sure each is, which is its learning rate."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.errors import ParameterError
from yarrow.lazy import np

#: a weight of a feature: the class that it speaks for, and the name of the feature
Key = tuple[Any, Any]


@dataclasses.dataclass(frozen=True)
class Change:
    """A number of a feature in two models; a feature that one does not know has None there."""

    feature: Any
    label: Any
    before: float | None
    after: float | None

    @property
    def amount(self) -> float:
        """By how much it changed."""
        return (self.after or 0.0) - (self.before or 0.0)


@dataclasses.dataclass(frozen=True)
class Difference:
    """What changed most from one model to another."""

    rows: int
    updates: int
    new_classes: list[Any]
    new_features: int
    changed: int
    weights: list[Change]
    rates: list[Change]

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} more rows, {self.updates:,} more updates, {self.new_features:,} new "
            f"features, {self.changed:,} weights changed"
        ]
        if self.new_classes:
            lines.append(f"new classes: {', '.join(map(str, self.new_classes))}")
        for title, changes in (("weights", self.weights), ("learning rates", self.rates)):
            if changes:
                lines.append(f"{title} that changed most")
                lines += [f"  {_line(change)}" for change in changes]
        return "\n".join(lines)


def diff(a: Any, b: Any, n: int = 20) -> Difference:
    """Which weights and learning rates changed most from one linear model to another.

    A weight speaks for a class; of two classes for the second. The rate at which a weight still
    learns is its variance, in learners that keep one (AROW and its kin). Where features have the
    same name they are the same.

    >>> import copy, yarrow
    >>> model = yarrow.AROWClassifier()
    >>> model.learn_one({"cheap": 1.0, "pills": 1.0}, "spam")
    >>> model.learn_one({"hello": 1.0}, "ham")
    >>> before = copy.deepcopy(model)
    >>> model.learn_one({"cheap": 1.0, "flights": 1.0}, "ham")
    >>> [change.feature for change in yarrow.diff(before, model, n=2).weights]
    ['flights', 'cheap']
    """
    for model in (a, b):
        if not hasattr(type(model), "coef_") or not hasattr(type(model), "feature_names_"):
            raise ParameterError(f"{type(model).__name__} has no weights that could be compared.")
    if hasattr(type(a), "classes_") != hasattr(type(b), "classes_"):
        raise ParameterError("A classifier and a regressor have no weights in common.")
    weights = _changes(_numbers(a, "coef_"), _numbers(b, "coef_"))
    rates = _changes(_numbers(a, "variance_"), _numbers(b, "variance_"))
    seen = set(_classes(a) or ())
    return Difference(
        rows=int(getattr(b, "t_", 0) - getattr(a, "t_", 0)),  # 0 before the first row
        updates=int(getattr(b, "n_updates_", 0) - getattr(a, "n_updates_", 0)),
        new_classes=[label for label in _classes(b) or () if label not in seen],
        new_features=len(set(_names(b)) - set(_names(a))),
        changed=len(weights),
        weights=weights[:n],
        rates=rates[:n],
    )


def _classes(model: Any) -> list[Any] | None:
    found = getattr(model, "classes_", None)
    return None if found is None else list(found.tolist())


def _names(model: Any) -> list[Any]:
    return list(getattr(model, "feature_names_", ()))


def _numbers(model: Any, attribute: str) -> dict[Key, float]:
    """Numbers by class and feature; none where the model keeps none of the kind."""
    table = getattr(model, attribute, None)
    if table is None:
        return {}
    table = np.atleast_2d(np.asarray(table))
    classes = _classes(model)
    labels = [None] if classes is None else classes if len(table) > 1 else classes[-1:]
    names = _names(model)
    return {
        (label, name): value
        for label, row in zip(labels, table, strict=False)
        for name, value in zip(names, row.tolist(), strict=False)
    }


def _changes(before: dict[Key, float], after: dict[Key, float]) -> list[Change]:
    """What differs, the largest change first."""
    keys = [key for key in {**before, **after} if before.get(key, 0.0) != after.get(key, 0.0)]
    found = [Change(name, label, before.get((label, name)), after.get((label, name)))
             for label, name in keys]  # fmt: skip
    return sorted(found, key=lambda change: -abs(change.amount))


def _line(change: Change) -> str:
    numbers = ("new" if x is None else f"{x:+.4f}" for x in (change.before, change.after))
    whose = "" if change.label is None else f" for {change.label}"
    return f"{change.amount:>+10.4f}  {change.feature}{whose}  ({' -> '.join(numbers)})"
