"""A model that only predicts: what `export` wrote."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Self

from yarrow.base.explanation import Contribution, Explanation
from yarrow.data.arrays import Array, Rows, check_values, column_names
from yarrow.data.dict_rows import features_and_missing, features_of
from yarrow.data.labels import array_of
from yarrow.errors import DataError, ParameterError
from yarrow.io.row_reader import row_to_predict
from yarrow.io.unknown_features import FEW_ROWS
from yarrow.lazy import np
from yarrow.linear_model.affine import PassiveAggressiveRegressor, Perceptron
from yarrow.saving import export_file
from yarrow.saving.codec import restore_source, unpack_names
from yarrow.saving.registry import class_named
from yarrow.saving.scorer import Scorer


class ExportedModel:
    """Predicts by what `export` wrote, from arrays or dicts.

    Use it where a model is served and no longer learns. Weights are those of a model of the core,
    and as fast; a mixture of experts, and probabilities, come from `yarrow.saving.scorer`, plain
    Python, at tens of rows a millisecond at best. Instead: `save` and `load` for a model that goes
    on learning, or must be fast.
    """

    #: what the model of the core can do, which knows names, columns and, of weights, these
    _offered = ("classes_", "regression", "feature_names_", "n_features_in_", "feature_names_in_")
    _offered_of_weights = ("predict_one", "predict_many", "top_features", "explain_one")

    def __init__(self, tensors: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        export_file.check(tensors, metadata)
        self.metadata = dict(metadata)
        self._tensors = tensors
        self._has_weights = "experts" not in metadata
        names = unpack_names(tensors)
        if self._has_weights:
            weights = np.zeros((len(tensors["intercept"]), len(names) + 1))
            weights[:, 0] = tensors["intercept"]
            places = np.asarray(tensors["score"]), np.asarray(tensors["feature"]) + 1
            weights[places] = tensors["weight"]
        else:
            weights = np.zeros((tensors["constant"].shape[1], len(names) + 1))
        self._learner = class_named("model", metadata["estimator"])
        self._inner: Any = _predictor(weights, names, self.metadata)
        self._inner.tells_missing = not self._has_weights

    @functools.cached_property
    def _scorer(self) -> Scorer:
        return Scorer(export_file.document(self._tensors, self.metadata))

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

    def predict(self, X: Any) -> Array:
        """Classes, or values of a regression."""
        if self._has_weights:
            return np.asarray(self._inner.predict(self._in_order(X)))
        return self._predict_rows(*self._read(X))

    def decision_function(self, X: Any) -> Array:
        """Scores."""
        if self._has_weights:
            return np.asarray(self._inner.decision_function(self._in_order(X)))
        scores = self._score_table(*self._read(X))
        return np.asarray(self._inner._decided(scores))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or of a regression R²."""
        return float(type(self._inner).score(self, X, y, sample_weight))

    # -- by the scorer ---------------------------------------------------------------------------

    def _predict_one(self, x: dict[Any, Any]) -> Any:
        return self._scorer.predict(self._features(x))

    def _predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The probability of each class."""
        return self._scorer.probabilities(self._features(x))

    def _predict_proba(self, X: Any) -> Array:
        """Probabilities, a column a class in the order of `classes_`."""
        return self._probability_table(*self._read(X))

    def _predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """The ends of an interval for each row that holds the target as often as asked."""
        rows, names = self._read(X)
        return np.array([self._interval(x, coverage) for x in _dicts(rows, names)])

    def _predict_interval_one(
        self, x: dict[Any, Any], coverage: float = 0.9
    ) -> tuple[float, float]:
        """The ends of the interval of one row."""
        return self._interval(self._features(x), coverage)

    def _explain_one(self, x: dict[Any, Any], label: Any = None) -> Explanation:
        """What the score of a class (the predicted one) would lose without each feature."""
        row, classes = self._features(x), self.metadata["classes"]
        if classes is not None and label is None:
            label = self._scorer.predict(row)
        if classes is not None and label not in classes:
            raise DataError(f"The class {label!r} has not been seen; seen are {classes}.")

        def score(row: dict[Any, Any]) -> float:
            scores = self._scorer.scores(row)
            if classes is None or len(classes) > 2:
                return scores[0 if classes is None else classes.index(label)]
            return scores[-1] if label == classes[-1] else -scores[-1]

        whole = score(row)
        lost = {name: whole - score({**row, name: None}) for name, x in row.items() if x}
        parts = [
            Contribution(name, row[name], amount / row[name])
            for name, amount in lost.items()
            if amount
        ]
        return Explanation(label, whole, sorted(parts, key=lambda p: -abs(p.amount)), adds_up=False)

    def _interval(self, x: dict[Any, Any], coverage: float) -> tuple[float, float]:
        try:
            return self._scorer.interval(x, coverage)
        except ValueError as error:
            raise ParameterError(f"The {error}, not {coverage!r}.") from None

    def _features(self, x: Any) -> dict[Any, Any]:
        x = row_to_predict(self._inner, self._inner._fitted, x)
        return features_of(x) if self._has_weights else features_and_missing(x)

    def _read(self, X: Any) -> tuple[Rows, list[Any]]:
        rows, names = self._inner._read(self._in_order(X), by_core=False)
        check_values(rows)
        return rows, names

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        found = [self._scorer.predict(x) for x in _dicts(rows, names)]
        return array_of(found) if self.metadata["classes"] is not None else np.array(found)

    def _score_table(self, rows: Rows, names: list[Any]) -> Array:
        return np.array([self._scorer.scores(x) for x in _dicts(rows, names)])

    def _probability_table(self, rows: Rows, names: list[Any]) -> Array:
        told = (self._scorer.probabilities(x) for x in _dicts(rows, names))
        return np.array([list(likely.values()) for likely in told])

    def predicts_by_rows(self, wanted: str) -> bool:
        """Whether the core cannot say what is wanted of a file's rows, but the scorer."""
        return not self._has_weights or wanted == "probabilities"

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
        metadata = self.__dict__.get("metadata", {})
        has_weights = self.__dict__.get("_has_weights", False)
        if name in self._offered or (has_weights and name in self._offered_of_weights):
            return getattr(self._inner, name)
        if has_weights and name in ("coef_", "intercept_"):
            return np.asarray(getattr(self._inner, name))
        told = {
            "predict_one": "experts",
            "explain_one": "experts",
            "predict_proba": "probabilities",
            "predict_proba_one": "probabilities",
            "predict_interval": "intervals",
            "predict_interval_one": "intervals",
        }
        if metadata.get(told.get(name)) is not None:
            return getattr(self, f"_{name}")
        raise AttributeError(f"This exported model only predicts: it has no {name!r}.")

    def __repr__(self) -> str:
        features = len(self._inner.feature_names_)
        return f"ExportedModel({self.metadata['estimator']}, {features} features)"


def _dicts(rows: Rows, names: list[Any]) -> Iterator[dict[Any, float]]:
    """Each row as its features."""
    for i in range(rows.n_rows):
        columns, values = (part.tolist() for part in rows.cells(i))
        named = (names[column] for column in columns) if names else columns
        yield dict(zip(named, values, strict=True))


def _predictor(weights: Array, names: list[Any], metadata: Mapping[str, Any]) -> Any:
    """A learner of the affine family that holds these weights: all it is used for is predicting.

    For experts, weights are zeros, and it reads rows and knows names alone.
    """
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
    state["scalars"][0] = FEW_ROWS  # a model that has seen no row would not predict
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
