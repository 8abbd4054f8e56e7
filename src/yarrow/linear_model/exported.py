"""A model that only predicts: the nonzero weights that `export` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from yarrow.data.arrays import Array, column_names
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.linear_model.affine import PassiveAggressiveRegressor, Perceptron
from yarrow.saving import export_file
from yarrow.saving.codec import restore_source, unpack_names
from yarrow.saving.registry import class_named


class ExportedModel:
    """Predicts with exported weights, from arrays or dicts.

    Use it where a model is served and no longer learns. It keeps no variances, so there are no
    probabilities. Instead: `save` and `load` for a model that goes on learning.
    """

    _offered = (
        "predict_one", "predict_many", "score", "classes_",
        "top_features", "explain_one", "feature_names_", "n_features_in_", "feature_names_in_",
    )  # fmt: skip

    def __init__(self, tensors: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        export_file.check(tensors, metadata)
        self.metadata = dict(metadata)
        names = unpack_names(tensors)
        weights = np.zeros((len(tensors["intercept"]), len(names) + 1))
        weights[:, 0] = tensors["intercept"]
        weights[np.asarray(tensors["score"]), np.asarray(tensors["feature"]) + 1] = tensors[
            "weight"
        ]
        self._learner = class_named("model", metadata["estimator"])
        self._inner: Any = _predictor(weights, names, self.metadata)

    @classmethod
    def _unpacked(
        cls,
        tensors: Mapping[str, Any],
        metadata: Mapping[str, Any],
        objects: Mapping[str, Any] | None = None,
    ) -> Self:
        return cls(tensors, metadata)

    @property
    def learns_labels(self) -> bool:
        """Whether predictions are to be compared with labels: not those of a ranker."""
        return bool(getattr(self._learner, "learns_labels", True))

    @property
    def coef_(self) -> Array:
        """Weights of the features that have any, in the order of `feature_names_`."""
        return np.asarray(self._inner.coef_)

    @property
    def intercept_(self) -> Array:
        """What is added to the scores."""
        return np.asarray(self._inner.intercept_)

    def predict(self, X: Any) -> Array:
        """Classes, or values of a regression."""
        return np.asarray(self._inner.predict(self._in_order(X)))

    def decision_function(self, X: Any) -> Array:
        """Scores."""
        return np.asarray(self._inner.decision_function(self._in_order(X)))

    def _in_order(self, X: Any) -> Any:
        """Columns have names: in a frame they may stand in any order, an array has none."""
        known = self.metadata["feature_names_in"]
        if known is None:
            return X
        names = column_names(X)
        if names is None:
            raise DataError("This model was learned from a data frame: predict for data frames.")
        return X[known] if set(names) == set(known) else X

    def __getattr__(self, name: str) -> Any:
        if name in self._offered:
            return getattr(self._inner, name)
        raise AttributeError(f"An exported model only predicts: it has no {name!r}.")

    def __repr__(self) -> str:
        features = len(self._inner.feature_names_)
        return f"ExportedModel({self.metadata['estimator']}, {features} features)"


def _predictor(weights: Array, names: list[Any], metadata: Mapping[str, Any]) -> Any:
    """A learner of the affine family that holds these weights: all it is used for is predicting."""
    seen = metadata["seen"]
    model: Any
    if metadata["classes"] is None:
        model = PassiveAggressiveRegressor(dtype="float64")
    else:
        # One column a class in the order of appearance. Where one row of weights serves two
        # classes it is the second's in sorted order, and the other's score is 0.
        model = Perceptron(dtype="float64", multiclass="top1")
        if len(weights) == 1 and len(seen) == 2:
            weights = np.vstack([np.zeros_like(weights), weights])
        order = [metadata["classes"].index(name) for name in seen]
        weights = weights[order]
    core = model._new_model([])
    state = core.get_state()
    columns = len(weights)
    state["blocks"] = np.ascontiguousarray(weights.T[:, None, :])
    for name in ("scale", "ww", "scale_sum", "column_updates", "column_memory", "restarts"):
        state[name] = np.full(columns, 1.0 if name == "scale" else 0.0)
    state["scalars"] = np.array(state["scalars"])
    state["scalars"][0] = 1  # a model that has seen no row would not predict
    state["scalars"][3] = len(seen)
    state["scalars"][5] = np.abs(weights).max(initial=0.0)  # no weight is larger
    state |= _flat_names(names)
    core.set_state(state, seen)
    model._model = core
    restore_source(model, metadata)
    return model


def _flat_names(names: list[Any]) -> dict[str, Array]:
    """Names as the core keeps them: texts in UTF-8, integers as eight bytes."""
    packed = [
        name.encode() if isinstance(name, str) else name.to_bytes(8, "little", signed=True)
        for name in names
    ]
    return {
        "name_columns": np.zeros(1, np.int64),
        "name_kinds": np.array([not isinstance(name, str) for name in names], np.uint8),
        "name_offsets": np.cumsum([0, *map(len, packed)], dtype=np.uint64),
        "name_bytes": np.frombuffer(b"".join(packed), np.uint8),
    }
