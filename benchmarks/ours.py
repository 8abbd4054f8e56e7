"""Yarrow's side of the benchmarks: the only file here that knows its interface."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

COMMAND = [str(Path(sys.executable).with_name("yarrow"))]


def pa1(X: Any, y: np.ndarray) -> Any:
    from yarrow import PassiveAggressiveClassifier

    return PassiveAggressiveClassifier(C=1.0, variant="pa1").partial_fit(X, y, classes=[-1, 1])


def arow(X: Any, y: np.ndarray) -> Any:
    from yarrow import AROWClassifier

    return AROWClassifier(r=1.0).partial_fit(X, y, classes=[-1, 1])


def sg_l1(X: Any, y: np.ndarray) -> Any:
    from yarrow import FOBOSClassifier

    return FOBOSClassifier(l1=1e-5).partial_fit(X, y, classes=[-1, 1])


def rda(X: Any, y: np.ndarray) -> Any:
    from yarrow import RDAClassifier

    return RDAClassifier(l1=1e-5).partial_fit(X, y, classes=[-1, 1])


def arow_multiclass(X: Any, y: np.ndarray, strategy: str) -> Any:
    from yarrow import AROWClassifier

    return AROWClassifier(r=1.0, multiclass=strategy).partial_fit(X, y, classes=np.unique(y))


def one_pass(learner: str, X: Any, y: np.ndarray, declared: bool) -> Any:
    """A learner with its defaults, which knows all classes beforehand or not."""
    import yarrow

    classes = np.unique(y) if declared else None
    return getattr(yarrow, learner)().partial_fit(X, y, classes=classes)


def pa_multiclass(X: Any, y: np.ndarray, strategy: str) -> Any:
    from yarrow import PassiveAggressiveClassifier

    model = PassiveAggressiveClassifier(C=1.0, multiclass=strategy, k=5)
    return model.partial_fit(X, y, classes=np.unique(y))


def families() -> dict[str, list[str]]:
    """The classifiers of the three families, by name."""
    from yarrow import linear_model

    found: dict[str, list[str]] = {"affine": [], "confidence": [], "proximal": []}
    for name in linear_model.__all__:
        learner = getattr(linear_model, name)
        family = getattr(learner, "family", "")
        if family in found and hasattr(learner, "classes_") and name != "CustomClassifier":
            found[family].append(name)
    return found


def learn(name: str, X: Any, y: np.ndarray) -> Any:
    """One pass of a learner with its default parameters."""
    from yarrow import linear_model

    return getattr(linear_model, name)().partial_fit(X, y, classes=[-1, 1])


def learn_many(frame: Any, y: Any) -> None:
    from yarrow import PassiveAggressiveClassifier

    PassiveAggressiveClassifier(C=1.0, variant="pa1").learn_many(frame, y)


def learn_one(rows: Sequence[dict[str, float]], y: Sequence[int]) -> Any:
    from yarrow import PassiveAggressiveClassifier

    model = PassiveAggressiveClassifier(C=1.0, variant="pa1")
    for row, c in zip(rows, y, strict=True):
        model.learn_one(row, c)
    return model


def train_text(path: Path, model: Path, threads: int = 2) -> list[str]:
    """``yarrow train`` as a command."""
    options = ["--learner", "PassiveAggressiveClassifier", "--model", str(model)]
    return [*COMMAND, "train", str(path), *options, "--threads", str(threads)]


#: ten settings of each of five learners
FIFTY = {
    "arow": {"r": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]},
    "pa": {"C": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3]},
    "scw": {"C": [0.01, 0.1, 1, 10, 100], "eta": [0.75, 0.95]},
    "adagrad": {"eta": [0.01, 0.03, 0.1, 0.3, 1], "loss": ["hinge", "logistic"]},
    "fobos": {"eta0": [0.05, 0.15, 0.5, 1.5, 5], "l1": [1e-6, 1e-5]},
}


def compare_text(path: Path, grid: dict[str, Any], place: Path) -> list[str]:
    """``yarrow compare`` as a command; its grid is written to a place."""
    place.write_text(json.dumps(grid))
    options = ["--learners", ",".join(grid), "--grid", str(place), "--quiet"]
    return [*COMMAND, "compare", str(path), *options]


def weights(model: Any) -> np.ndarray:
    """The weights of a two-class model, the intercept last."""
    return np.append(model.coef_.ravel(), model.intercept_)
