"""What all linear learners share: the core model behind them, both interfaces, saving and reading.

A subclass says which loop and which rule of the core it is, and declares its parameters.
Parameters changed after learning count from the next `fit` on: what has been learned belongs to
those it was learned with. `fit` hands the core a permutation, so that random order moves no rows.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from yarrow import _core
from yarrow.base import epochs
from yarrow.base.combinations import Needs, check_combination
from yarrow.base.core_estimator import CoreEstimator
from yarrow.base.hyperparameters import CoreRule, jobs, n_threads, passes, seed, shuffling
from yarrow.data.arrays import Array, Rows, check_columns, first_text, read_weights
from yarrow.data.labels import Labels
from yarrow.errors import DataError
from yarrow.estimator import columns_of, estimator
from yarrow.io.row_reader import row_for, row_to_predict, rows_for
from yarrow.io.unknown_features import warn_of_unknown
from yarrow.lazy import np
from yarrow.online.progressive import CoreModel, CoreProgressive
from yarrow.parameters import MOST_WHOLE, choice, flag, integer, number
from yarrow.saving import export_file

if TYPE_CHECKING:
    from yarrow.online.core_stream import Learning


@estimator
class LinearModel(CoreRule, CoreEstimator):
    """Base of the linear learners."""

    _: dataclasses.KW_ONLY
    fit_intercept: bool = flag(default=True, doc="Learn a constant term as one more feature.")
    intercept_scaling: float = number(
        default=1.0,
        doc="Value of the constant feature; it counts in norms like any other feature.",
        above=0,
        at_most=1e38,  # which float32 can hold
    )
    max_iter: int = passes()
    shuffle: bool = shuffling()
    random_state: int = seed()
    early_stopping: bool = flag(
        default=False,
        doc="In `fit`, hold rows out, stop when their score stops improving, keep the best pass.",
    )
    validation_fraction: float = number(
        default=0.1, doc="Share of the rows held out for early_stopping.", above=0, below=1
    )
    n_iter_no_change: int = integer(
        default=5, doc="Passes without a better score before early_stopping stops.", at_least=1
    )
    tol: float = number(
        default=1e-3,
        doc="Minimum improvement that counts for early_stopping.",
        at_least=0,
    )
    dtype: Literal["float32", "float64"] = choice(
        default="float32", options=("float32", "float64"), doc="Type of the learned numbers."
    )
    hash_bits: int | None = integer(
        default=None,
        doc="Hash feature names into 2**hash_bits places instead of keeping them.",
        at_least=1,
        at_most=_core.MOST_HASH_BITS,
    )
    max_features: int | None = integer(
        default=None,
        doc="Maximum number of features kept, to bound memory on endless streams.",
        at_least=1,
        at_most=MOST_WHOLE,
    )
    when_full: Literal["error", "drop", "prune"] = choice(
        default="error",
        options=("error", "drop", "prune"),
        doc="Beyond max_features: refuse the row, ignore new features, or forget small weights.",
    )
    n_jobs: int | None = jobs()

    #: family of the learner, and what a row costs, for the table of all learners
    family: ClassVar[str] = ""
    row_costs: ClassVar[str] = "O(nnz)"
    #: its learner in the core, named as its rule is, and what rows it learns
    core_learner: ClassVar[str]
    core_strategy: ClassVar[str]
    #: the parameters that the loop must know beside its rule, in its order
    loop_settings: ClassVar[tuple[str, ...]] = ()
    #: settings that do not go together
    restrictions: ClassVar[tuple[Needs, ...]] = ()
    learns_rows: ClassVar[bool] = True
    #: learns a label a row, as files and both libraries' supervised interfaces give them
    learns_labels: ClassVar[bool] = True
    #: what a wrong prediction is called where its share is told
    wrong: ClassVar[str] = "error"
    #: predicts by numbers that stand still, which `export` can write
    is_exportable: ClassVar[bool] = True
    #: these are one weight a feature
    has_weight_table: ClassVar[bool] = True

    # -- what a subclass says --------------------------------------------------------------------

    def _kind(self) -> _core.Learner:
        return _core.Learner[self.core_learner.format_map(vars(self))]

    def _rule_parameters(self) -> list[float]:
        return [float(getattr(self, name)) for name in self._rule().parameters]

    def _loop_parameters(self) -> list[float]:
        return [float(getattr(self, name)) for name in self.loop_settings]

    def _constants(self) -> dict[str, list[float]]:
        """Of a mixture, those that are not its own, by their names in the core."""
        return {}

    def _initial_variance(self) -> float:
        return 1.0

    def _epsilon(self) -> float:
        return 0.0

    def _strategy(self, declared: list[Any]) -> _core.Strategy:
        return _core.Strategy[self.core_strategy]

    def _class_weights(self) -> list[tuple[Any, float]]:
        return []

    def _most_classes(self) -> int:
        """How many classes may appear."""
        return _core.NO_LIMIT

    def _rivals(self) -> int:
        """How many rivals are met at once; 0: all."""
        return 0

    def _costs(self) -> list[tuple[Any, Any, float]]:
        """(true, predicted, cost)."""
        return []

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_combination(self)

    def _stream_learning(self) -> type[Learning]:
        """What learns files into the model."""
        from yarrow.online.core_stream import Learning

        return Learning

    # -- the core model --------------------------------------------------------------------------

    def _new_model(
        self,
        declared: list[Any],
        class_weights: list[tuple[Any, float]] | None = None,
        joint: bool = False,
    ) -> CoreModel:
        """A fresh model; a joint one learns signed examples, from which a constant cancels."""
        self._check_parameters()
        model_type = _core.ModelF32 if self.dtype == "float32" else _core.ModelF64
        return model_type(
            kind=self._kind(),
            strategy=_core.Strategy.joint if joint else self._strategy(declared),
            rule=self._rule(),
            rule_parameters=self._rule_parameters(),
            rivals=self._rivals(),
            loop_parameters=self._loop_parameters(),
            constants=self._constants(),
            initial_variance=self._initial_variance(),
            intercept=self.intercept_scaling if self.fit_intercept and not joint else 0.0,
            epsilon=self._epsilon(),
            average=bool(getattr(self, "average", False)),
            hash_bits=self.hash_bits or 0,
            max_features=_core.NO_LIMIT if self.max_features is None else self.max_features,
            when_full={
                "error": _core.WhenFull.refuse,
                "drop": _core.WhenFull.drop,
                "prune": _core.WhenFull.prune,
            }[self.when_full],
            declared=declared,
            max_classes=self._most_classes(),
            class_weights=self._class_weights() if class_weights is None else class_weights,
            costs=self._costs(),
        )

    # -- arrays ----------------------------------------------------------------------------------

    def _read(self, X: Any, by_core: bool = True) -> tuple[Rows, list[Any]]:
        """The rows of `X` and the names of its columns, checked against those seen before."""
        rows = rows_for(self, X, by_core)
        known = self.__dict__.get("_n_features_in")
        fitted_names = self.__dict__.get("_feature_names_in")
        check_columns(type(self).__name__, rows, known, fitted_names, self._text_name)
        made = known is None or rows.made_of is not None
        return rows, (rows.names if made else fitted_names) or []

    def _text_name(self) -> str | None:
        """A feature that is called by a text, if there is one; '' where names were hashed."""
        core = self.__dict__.get("_model")
        if core is None:
            return None
        if self.hash_bits is not None:
            named_file = (self._stream or {}).get("format") not in (None, "svmlight")
            return "" if core.hashed_kinds == 1 or named_file else None
        if core.has_integer_names:
            return None
        return first_text(core.feature_names)

    def _learn(
        self,
        model: CoreModel,
        rows: Rows,
        names: list[Any],
        labels: Labels,
        sample_weight: Any,
        order: Array | None = None,
        undo: bool = True,
        jobs: int | None = None,
    ) -> None:
        numbers, label_names = labels
        weights = read_weights(sample_weight, rows.n_rows)
        jobs = jobs or n_threads(self.n_jobs)
        rows.given_to(model.learn_rows, numbers, label_names, weights, names, order, undo, jobs)

    def _fit_passes(self, model: CoreModel, rows: Rows, labels: Labels, sample_weight: Any) -> None:
        """`fit`: some passes over all rows, shuffled; the model is kept only if all succeed."""
        if sample_weight is not None and not np.any(read_weights(sample_weight, rows.n_rows)):
            raise DataError("All sample weights are zero: there is no row to learn.")
        given, jobs = (rows, labels, sample_weight), n_threads(self.n_jobs)
        try:
            model, scores = epochs.run(self, model, *given, jobs)
        except DataError:
            if jobs == 1:
                raise
            # Threads stop at different rows: one alone finds the first that is wrong, if any is.
            model, scores = epochs.run(self, epochs.fresh(self, model), *given, 1)
        n_iter = self.max_iter if scores is None else len(scores)
        self._keep_fitted(model, rows, n_iter, scores)

    def _keep_fitted(
        self, model: CoreModel, rows: Rows, n_iter: int, scores: list[float] | None = None
    ) -> None:
        """Take a model that `fit` made, and forget how other rows were read: all in one step."""
        found = {"_model": model, "_made_with": self.get_params(deep=False), "_n_iter": n_iter}
        others = {"_stream": None, "_validation_scores": scores}
        self.__dict__.update(found | others | columns_of(rows))

    def _score_held_out(
        self, model: CoreModel, rows: Rows, labels: Labels, weights: Array
    ) -> float:
        """What `score` would say of a model and rows that were not learned."""
        raise NotImplementedError

    def _scores(self, X: Any, variances: bool = True) -> tuple[Array, Array]:
        """Scores and variances, a column a class in the order of their appearance."""
        model = self._fitted
        rows, names = self._read(X)
        if names and rows.names is not None:
            warn_of_unknown(model, names)
        return self._score_rows(model, rows, names, variances)

    def _score_rows(
        self, model: CoreModel, rows: Rows, names: list[Any], variances: bool = True
    ) -> tuple[Array, Array]:
        """The same of rows that were read; without variances it takes less time."""
        return rows.given_to(model.predict_rows, names, variances, n_threads(self.n_jobs))  # type: ignore[no-any-return]

    # -- what was learned ------------------------------------------------------------------------

    @property
    def feature_names_(self) -> list[Any]:
        """Names of all features in the order of the columns of `coef_`."""
        model = self._fitted
        return model.feature_names or list(range(model.n_features))  # hashed ones have no names

    @property
    def validation_scores_(self) -> list[float]:
        """The score of the rows held out after each pass of the last `fit`, if it stopped early."""
        scores: list[float] | None = self.__dict__.get("_validation_scores")
        if scores is None:
            raise AttributeError("validation_scores_ is set by fit with early_stopping=True")
        return list(scores)

    @property
    def n_nonzero_(self) -> int:
        """Weights that are not zero, without the intercept."""
        return self._fitted.count_nonzero()

    @property
    def sparsity_(self) -> float:
        """Share of zeros among the weights of the features seen."""
        size = self.coef_.size
        return 1.0 - self.n_nonzero_ / size if size else 1.0

    @property
    def coef_(self) -> Array:
        """Weights, a row a class (one row for two classes or a regression).

        Of two classes the row speaks for the second; while one is known, for that one.
        """
        return np.ascontiguousarray(self._weights()[:, 1:])

    @property
    def intercept_(self) -> Array:
        """What is added to the scores: the constant feature's weight times its value."""
        return self._weights()[:, 0] * self._constant

    @property
    def _constant(self) -> float:
        """The value of the constant feature in the model as it was learned."""
        made_with = self.__dict__.get("_made_with", self.__dict__)
        return float(made_with["intercept_scaling"]) if made_with["fit_intercept"] else 0.0

    def _weights(self) -> Array:
        """A row a score, the intercept's weight first."""
        table: Array = self._fitted.plane(0)[0]
        return table.T

    # -- files -----------------------------------------------------------------------------------

    def _weights_to_export(self) -> Array:
        """Those that predict: no class that was only declared."""
        return self._weights()

    def export(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write what prediction needs: safetensors, json or text, by the suffix.

        docs/export.md says what is in it.
        """
        chosen = export_file.checked_format(self, path, format)
        tensors, metadata = self._exported()
        export_file.check_written(tensors, metadata)
        export_file.write(path, tensors, metadata, chosen)

    def _exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return export_file.exported(self, self._weights_to_export())

    def _told_probabilities(self) -> dict[str, Any] | None:
        """How an export makes probabilities of scores, if it can."""
        return None


@estimator
class SupervisedModel(CoreProgressive, LinearModel):
    """Rows with labels: base of the linear classifiers and regressors."""

    def _predicted(self, scores: Array) -> Array:
        """Labels or values, from the scores of each class in the order of appearance."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The class with the highest score, the one seen first if several have it; or values."""
        return self._predicted(self._scores(X, variances=False)[0])

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        scores = self._score_rows(self._fitted, rows, names, variances=False)[0]
        return self._predicted(scores)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        rows, names = self._read(X)
        self._learn_named(rows, names, y, sample_weight, classes)
        self._keep_columns(rows)

    def _learn_named(
        self, rows: Rows, names: list[Any], y: Any, weight: Any, classes: Any = None
    ) -> None:
        labels = self._read_labels(y, rows.n_rows)
        with self._learning_of(classes) as model:
            self._learn(model, rows, names, labels, weight)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row: features by name. A string as value makes the feature `name=value`."""
        if self._stream is not None:
            x = row_for(self, x)
        model = self.__dict__.get("_model")
        if model is not None:
            model.learn_one(x, y, w)
            return
        with self._learning_of(None) as model:
            model.learn_one(x, y, w)

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class or value of one row; None or 0 before any row was learned."""
        model = self.__dict__.get("_model")
        return self.nothing if model is None else model.predict_one(row_to_predict(self, model, x))
