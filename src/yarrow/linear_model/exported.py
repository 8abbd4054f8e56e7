"""A model that only predicts: the nonzero weights that `export` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from yarrow.errors import DataError
from yarrow.linear_model.persistence import unpack_names
from yarrow.stream.arrays import Array, read_rows


class ExportedModel:
    """Predicts with exported weights, from arrays or dicts.

    Use it where a model is served and no longer learns. It keeps no variances, so there are no
    probabilities. Instead: `save` and `load` for a model that goes on learning.
    """

    def __init__(self, tensors: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        self.metadata = dict(metadata)
        self.intercept_: Array = np.asarray(tensors["intercept"])
        self.feature_names_: list[Any] = unpack_names(tensors)
        self._place = {name: i for i, name in enumerate(self.feature_names_)}
        self.coef_: Array = np.zeros((len(self.intercept_), len(self.feature_names_)))
        self.coef_[np.asarray(tensors["score"]), np.asarray(tensors["feature"])] = tensors["weight"]
        classes = metadata["classes"]
        self.classes_: Array | None = None if classes is None else np.array(classes)
        if metadata.get("hash_bits"):
            raise DataError("Exports of hashed models hold no names: use save and load instead.")

    def __repr__(self) -> str:
        return f"ExportedModel({self.metadata['estimator']}, {self.coef_.shape[1]} features)"

    def decision_function(self, X: Any) -> Array:
        """Scores, as the model gave them before it was exported."""
        rows = read_rows(X)
        names = rows.names or range(rows.n_columns)
        used = [(j, self._place[name]) for j, name in enumerate(names) if name in self._place]
        columns, places = [j for j, _ in used], [p for _, p in used]
        scores = np.asarray(X[:, columns] @ self.coef_[:, places].T if rows.names is None
                            else np.asarray(X)[:, columns] @ self.coef_[:, places].T)
        scores = scores + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _score_one(self, x: Mapping[Any, Any]) -> Array:
        scores = self.intercept_.astype(np.float64).copy()
        for name, value in x.items():
            if isinstance(value, str):
                name, value = f"{name}={value}", 1.0
            place = self._place.get(name)
            if place is not None:
                scores += self.coef_[:, place] * value
        return scores

    def _choose(self, scores: Array) -> Any:
        if self.classes_ is None:
            return scores[..., 0]
        if scores.shape[-1] == 1:
            return self.classes_[(scores[..., 0] > 0).astype(int) if len(self.classes_) > 1 else 0]
        return self.classes_[np.argmax(scores, axis=-1)]

    def predict(self, X: Any) -> Array:
        """Classes, or values of a regression."""
        scores = self.decision_function(X)
        return np.asarray(self._choose(scores[:, None] if scores.ndim == 1 else scores))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The class, or the value, of one row."""
        chosen = self._choose(self._score_one(x))
        return chosen.item() if isinstance(chosen, np.generic) else chosen
