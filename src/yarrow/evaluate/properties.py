"""Four properties that tell online methods apart (Crammer, Kulesza & Dredze 2013, Table 9).

The paper sorts seven methods by hand. Here each property is an experiment of a few rows, so that
the table can be made of any learner of two classes that takes rows as dicts.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from yarrow.lazy import np


@dataclasses.dataclass(frozen=True)
class Properties:
    """What a learner does, as the paper names it. None: the rows did not show it."""

    #: learns from a row that is predicted rightly, but by little
    large_margin: bool | None
    #: moves the weight of a rare feature farther than that of a frequent one
    confidence: bool | None
    #: after a row that contradicts many others, asks for more: it has not given in at once
    non_separable: bool | None
    #: of two rows with the same margin, learns only the one that it knows less about
    adaptive_margin: bool | None


def properties(model: Any) -> Properties:
    """Try a fresh copy of a learner on rows that show what it does.

    >>> from yarrow import CWClassifier, PassiveAggressiveClassifier
    >>> properties(CWClassifier())
    Properties(large_margin=True, confidence=True, non_separable=False, adaptive_margin=True)
    >>> properties(PassiveAggressiveClassifier()).adaptive_margin
    False
    """
    fresh = model.clone({"classes": [0, 1], "fit_intercept": False})
    return Properties(
        large_margin=_large_margin(fresh.clone()),
        confidence=_confidence(fresh.clone()),
        non_separable=_non_separable(fresh.clone()),
        adaptive_margin=_adaptive_margin(fresh.clone()),
    )


def properties_table(models: Mapping[str, Any]) -> str:
    """The properties of some learners, in Markdown.

    >>> from yarrow import Perceptron
    >>> print(properties_table({"Perceptron": Perceptron()}))
    | algorithm | large margin | confidence | non-separable | adaptive margin |
    | --- | --- | --- | --- | --- |
    | Perceptron | no | no | yes | no |
    """
    heads = ("algorithm", "large margin", "confidence", "non-separable", "adaptive margin")
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    words = {True: "yes", False: "no", None: "-"}
    for name, model in models.items():
        found = dataclasses.astuple(properties(model))
        lines.append(f"| {name} | {' | '.join(words[value] for value in found)} |")
    return "\n".join(lines)


def _learns(model: Any, row: dict[str, float], label: int) -> bool:
    """Whether a model, which is left as it is, would learn from a row."""
    twin = copy.deepcopy(model)
    before = twin.n_updates_
    twin.learn_one(row, label)
    return bool(twin.n_updates_ > before)


def _large_margin(model: Any) -> bool | None:
    model.learn_one({"old": 1.0}, 1)
    model.learn_one({"old": -1.0}, 0)
    row = {"old": 0.01, "new": 1.0}  # as right as `old`, but hardly
    return _learns(model, row, 1) if model.predict_one(row) == 1 else None


def _confidence(model: Any) -> bool | None:
    for _ in range(20):
        model.learn_one({"frequent": 1.0, "a": 1.0}, 1)
        model.learn_one({"frequent": 1.0, "b": 1.0}, 0)
    row = {"frequent": 1.0, "rare": 1.0}
    before = _weights(model)
    model.learn_one(row, 1 - model.predict_one(row))
    after = _weights(model)
    rare = abs(after.get("rare", 0.0))
    frequent = abs(after["frequent"] - before["frequent"])
    return bool(frequent < 0.8 * rare) if rare else None


def _weights(model: Any) -> dict[str, float]:
    return dict(zip(model.feature_names_, np.ravel(model.coef_).tolist(), strict=True))


def _non_separable(model: Any) -> bool | None:
    for _ in range(50):
        model.learn_one({"x": 1.0}, 1)
    if model.predict_one({"x": 1.0}) != 1:
        return None
    model.learn_one({"x": 1.0}, 0)
    return _learns(model, {"x": 1.0}, 0)


def _adaptive_margin(model: Any) -> bool | None:
    known, unknown = {"old": 1.0}, {"old": 1.0, "new": 1.0}  # a new feature has no weight
    for _ in range(50):
        model.learn_one(known, 1)
        # By what is gained: a constraint that is met exactly is missed by rounding every time.
        if _gain(model, unknown) > 1e-2 and _gain(model, known) < 1e-5:
            return True
    return False


def _gain(model: Any, row: dict[str, float]) -> float:
    """How much farther on the side of class 1 a row is after it was learned, relative to 1."""
    twin = copy.deepcopy(model)
    before = _margin(twin, row)
    twin.learn_one(row, 1)
    return (_margin(twin, row) - before) / max(1.0, abs(before))


def _margin(model: Any, row: dict[str, float]) -> float:
    core = model._fitted
    return float(core.score_one(row)[0][core.classes.index(1)])
