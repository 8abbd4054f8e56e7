"""Regressors of other libraries, by their own code: predict each row, then learn it.

All columns of dense rows are brought to scale while they stream by, as the guides of scikit-learn
and river advise; Vowpal Wabbit normalises by itself. Targets are taken from the mean of the
first hundred and divided by their deviation: a user who tunes looks at them first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import math
from typing import Any

import numpy as np

LARGEST = 1e12
"""Beyond so many deviations a prediction is as wrong as can be."""


def progressive(peer: Any, X: Any, y: Any) -> Any:
    """Predictions of all rows, each before it is learned; divergence is a large number."""
    y = np.asarray(y, dtype=float)
    centre, scale = y[:100].mean(), y[:100].std() or 1.0
    with np.errstate(all="ignore"):
        found = np.asarray(peer.run(X, (y - centre) / scale), dtype=float)
    found = np.where(np.isfinite(found), found, LARGEST)
    return centre + scale * np.clip(found, -LARGEST, LARGEST)


def _rows(X: Any) -> Any:
    """Index and values of each row."""
    if hasattr(X, "indptr"):
        for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            yield X.indices[begin:end], X.data[begin:end]
    else:
        columns = np.arange(X.shape[1])
        for row in np.asarray(X, dtype=float):
            yield columns, row


@dataclasses.dataclass(frozen=True)
class RiverRegressor:
    """river's linear regression behind its running scaler, by an optimizer and its rate."""

    optimizer: str = "SGD"
    rate: float = 0.01
    loss: str = "Squared"

    def run(self, X: Any, y: Any) -> list[float]:
        """Predict and learn row by row."""
        from river import linear_model, optim, preprocessing

        model: Any = linear_model.LinearRegression(
            optimizer=getattr(optim, self.optimizer)(self.rate),
            loss=getattr(optim.losses, self.loss)(),
        )
        if not hasattr(X, "indptr"):
            model = preprocessing.StandardScaler() | model
        return _by_dicts(model, X, y)


@dataclasses.dataclass(frozen=True)
class RiverTree:
    """river's Hoeffding tree, of another kind than all others here."""

    def run(self, X: Any, y: Any) -> list[float]:
        """Predict and learn row by row."""
        from river import tree

        return _by_dicts(tree.HoeffdingAdaptiveTreeRegressor(seed=1), X, y)


def _by_dicts(model: Any, X: Any, y: Any) -> list[float]:
    found = []
    for (index, values), target in zip(_rows(X), y, strict=True):
        row = dict(zip(index.tolist(), values.tolist(), strict=True))
        said = math.inf  # where it has diverged
        with contextlib.suppress(OverflowError, ValueError):
            said = float(model.predict_one(row))
            model.learn_one(row, float(target))
        found.append(said)
    return found


@dataclasses.dataclass(frozen=True)
class ScikitRegressor:
    """scikit-learn's SGDRegressor behind its running scaler."""

    learning_rate: str = "invscaling"
    eta0: float = 0.01
    loss: str = "squared_error"

    def run(self, X: Any, y: Any) -> list[float]:
        """Predict and learn row by row."""
        from sklearn.linear_model import SGDRegressor
        from sklearn.preprocessing import StandardScaler

        model = SGDRegressor(learning_rate=self.learning_rate, eta0=self.eta0, loss=self.loss)
        scaler = None if hasattr(X, "indptr") else StandardScaler()
        if scaler is None:  # it takes 32-bit indices alone
            X = X.tocsr(copy=True)
            X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
        found = []
        for i, target in enumerate(y):
            row = X[[i]]
            if scaler is not None:
                row = scaler.partial_fit(row).transform(row)
            said = math.inf  # where it has diverged
            with contextlib.suppress(ValueError):
                said = float(model.predict(row)[0]) if i else 0.0
                model.partial_fit(row, [target])
            found.append(said)
        return found


@dataclasses.dataclass(frozen=True)
class VowpalRegressor:
    """Vowpal Wabbit with its arguments."""

    arguments: str = ""

    def run(self, X: Any, y: Any) -> list[float]:
        """Predict and learn row by row."""
        model = importlib.import_module("vowpalwabbit").Workspace(f"--quiet -b 18 {self.arguments}")
        found = []
        for (index, values), target in zip(_rows(X), y, strict=True):
            parts = (f"{i}:{v:.9g}" for i, v in zip(index, values, strict=True) if v)
            example = model.parse(f"{target:.9g} | " + " ".join(parts))
            found.append(float(model.predict(example)))
            model.learn(example)
            model.finish_example(example)
        model.finish()
        return found
