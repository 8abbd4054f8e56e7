"""Yarrow's side of the benchmarks: the only file here that knows its interface."""

from __future__ import annotations

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


def learn_one(rows: Sequence[dict[str, float]], y: Sequence[int]) -> None:
    from yarrow import PassiveAggressiveClassifier

    model = PassiveAggressiveClassifier(C=1.0, variant="pa1")
    for row, c in zip(rows, y, strict=True):
        model.learn_one(row, c)


def train_text(path: Path, model: Path, threads: int = 2) -> list[str]:
    """``yarrow train`` as a command."""
    options = ["--learner", "PassiveAggressiveClassifier", "--model", str(model)]
    return [*COMMAND, "train", str(path), *options, "--threads", str(threads)]


def weights(model: Any) -> np.ndarray:
    """The weights of a two-class model, the intercept last."""
    return np.append(model.coef_.ravel(), model.intercept_)
