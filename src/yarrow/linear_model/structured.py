"""Outputs of any kind, scored by a user's joint feature map."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from yarrow import _core
from yarrow.base.classifier import LinearClassifier
from yarrow.base.core_estimator import CoreEstimator
from yarrow.errors import DataError, ParameterError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.linear_model.affine import PassiveAggressiveClassifier
from yarrow.online.progressive import CoreModel
from yarrow.parameters import anything, choice

Features = Mapping[Any, Any]


def _function(doc: str, allowed: str, otherwise: Callable[[Any], bool] = callable) -> Any:
    return anything(
        default=None,
        allowed=allowed,
        accepts=lambda v: v is None or callable(v) or otherwise(v),
        doc=doc,
    )


@estimator
class StructuredClassifier(CoreEstimator):
    """Learns to choose an output for any input by F(x, output), a feature map of your own.

    The output with the highest score w.F(x, output) is predicted. A learner's rule is shown the
    signed example F(x, true) - F(x, rival), whose margin should reach the rival's cost: with F
    that copies x into a block of its own for each class, that is `multiclass="top1"` (Collins
    2002; Crammer et al. 2006, section 8; Crammer, Kulesza & Dredze 2013, figure 3).

    Use it for sequences, trees, rankings: whatever has features of input and output together. The
    `cost` has no effect on rules that ask for no margin of a given size (Perceptron, CW, SCW).
    Instead: any classifier, where outputs are a few classes. A sample weight is passed to the rule.

    >>> def F(word, tag):
    ...     return {f"{tag} ends in {word[-2:]}": 1, f"{tag} is {word}": 1}
    >>> model = StructuredClassifier(feature_map=F, labels=["noun", "verb"])
    >>> for word, tag in (("singing", "verb"), ("table", "noun"), ("asking", "verb")):
    ...     model.learn_one(word, tag)
    >>> model.predict_one("walking")
    'verb'
    """

    learner: Any = anything(
        default=None,
        allowed="None or a linear classifier",
        accepts=lambda v: v is None or isinstance(v, LinearClassifier),
        doc="Whose rule, averaging, number type and limits are taken; None: Passive-Aggressive.",
    )
    feature_map: Any = _function(
        allowed="a function F(x, output) that returns a dict of features",
        doc="Features of an input and an output together.",
    )
    _: dataclasses.KW_ONLY
    labels: Any = _function(
        allowed="None, a list of outputs or a function of x that returns them",
        otherwise=lambda v: isinstance(v, (list, tuple)),
        doc="The outputs among which to choose; ties go to the first.",
    )
    decode: Any = _function(
        allowed="None or a function (x, score) that returns an output",
        doc="Finds the best output itself, such as Viterbi; `score` gives w.features of a dict.",
    )
    cost: Any = _function(
        allowed="None or a function (true, other) that returns a number >= 0",
        doc="The required margin over a wrong output; None: 1.",
    )
    rival: Literal["prediction", "max_loss"] = choice(
        default="prediction",
        options=("prediction", "max_loss"),
        doc="Learn against the wrong output with the highest score, or with cost plus score.",
    )

    river_bases: ClassVar[tuple[str, ...]] = ("Classifier",)

    def _learner(self) -> LinearClassifier:
        return PassiveAggressiveClassifier() if self.learner is None else self.learner

    @property
    def dtype(self) -> Any:
        """The number type of the weights."""
        return self._learner().dtype

    def _rule(self) -> _core.Rule:
        return self._learner()._rule()

    def _new_model(
        self, declared: list[Any], class_weights: list[tuple[Any, float]] | None = None
    ) -> CoreModel:
        self._check_parameters()
        return self._learner()._new_model([], [], joint=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.feature_map is None:
            raise ParameterError("The 'feature_map' must be given: a function F(x, output).")
        if self.labels is None and (self.decode is None or self.rival == "max_loss"):
            raise ParameterError("The 'labels' must be given, or 'decode' with rival='prediction'.")

    # -- choosing --------------------------------------------------------------------------------

    def _candidates(self, x: Any) -> Iterable[Any]:
        found: Iterable[Any] = self.labels(x) if callable(self.labels) else self.labels
        return found

    def _best(self, x: Any, score: Callable[[Features], float], decode: bool) -> Any:
        if decode and self.decode is not None:
            return self.decode(x, score)
        best = max(self._candidates(x), key=lambda z: score(self.feature_map(x, z)), default=None)
        if best is None:
            raise DataError("There is no output to choose from: `labels` gave none.")
        return best

    def _rival(self, x: Any, y: Any, score: Callable[[Features], float]) -> tuple[Any, bool]:
        """The output to learn against, and whether there is one."""
        if self.decode is not None and self.rival == "prediction":
            best = self.decode(x, score)
            return best, not _equal(best, y)
        others = [z for z in self._candidates(x) if not _equal(z, y)]
        if not others:
            return None, False
        extra = self._cost if self.rival == "max_loss" else lambda y, z: 0.0
        return max(others, key=lambda z: extra(y, z) + score(self.feature_map(x, z))), True

    def _cost(self, y: Any, z: Any) -> float:
        cost = 1.0 if self.cost is None else float(self.cost(y, z))
        if not 0 <= cost < np.inf:
            raise DataError(f"The cost of {z!r} for {y!r} must be finite and >= 0, not {cost}.")
        return cost

    # -- learning and predicting -----------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learn one input and its true output."""
        with self._learning([]) as model:
            rival, is_there = self._rival(x, y, model.last_score)
            if is_there:
                example = difference(self.feature_map(x, y), self.feature_map(x, rival))
                model.learn_one(example, self._cost(y, rival), w)
            else:
                model.learn_one({}, 0.0, w)

    def predict_one(self, x: Any) -> Any:
        """The output with the highest score; None before anything was learned."""
        model = self.__dict__.get("_model")
        if model is None:
            return None
        return self._best(x, lambda features: model.score_one(features)[0][0], decode=True)

    def partial_fit(self, X: Iterable[Any], y: Iterable[Any], sample_weight: Any = None) -> Self:
        """Learn inputs and outputs in order, once."""
        inputs, outputs = list(X), list(y)
        weights = [1.0] * len(inputs) if sample_weight is None else list(sample_weight)
        for row in zip(inputs, outputs, weights, strict=True):
            self.learn_one(*row)
        return self

    def fit(self, X: Sequence[Any], y: Sequence[Any], sample_weight: Any = None) -> Self:
        """Forget everything, then learn as many shuffled passes as the learner's `max_iter`."""
        learner = self._learner()
        self._check_parameters()
        self.__dict__.pop("_model", None)
        random = np.random.default_rng(learner.random_state)
        weights = [1.0] * len(X) if sample_weight is None else sample_weight
        for _ in range(learner.max_iter):
            order = random.permutation(len(X)) if learner.shuffle else range(len(X))
            for i in order:
                self.learn_one(X[i], y[i], weights[i])
        return self

    def predict(self, X: Iterable[Any]) -> list[Any]:
        """The outputs with the highest scores."""
        self._fitted  # noqa: B018  (raises before anything was learned)
        return [self.predict_one(x) for x in X]

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """The share of outputs that are right as a whole."""
        return float(np.mean([_equal(a, b) for a, b in zip(self.predict(X), y, strict=True)]))

    @property
    def n_mistakes_(self) -> int:
        """Rows whose rival scored at least as high as the true output before they were learned."""
        return int(self._fitted.mistakes)

    @property
    def weights_(self) -> dict[Any, float]:
        """The weight of each feature."""
        table = self._fitted.plane(0)[0]
        return dict(zip(self._fitted.feature_names, table[1:, 0].tolist(), strict=True))


def block_map(x: Features, label: Any) -> dict[str, Any]:
    """F(x, label) that gives every class all features for itself: outputs are plain classes.

    With it and `AROWClassifier(covariance="full")` there is one covariance over the weights of all
    classes together, as in Theorem 2 of Crammer, Kulesza & Dredze (2013); `multiclass="top1"` keeps
    one for each class.

    >>> block_map({"rain": 1.0, "wind": 0.5}, "wet")
    {'wet:rain': 1.0, 'wet:wind': 0.5}
    """
    return {f"{label}:{name}": value for name, value in x.items()}


def _equal(one: Any, other: Any) -> bool:
    """Equality of outputs, which may be arrays."""
    return bool(np.all(one == other)) if isinstance(one, np.ndarray) else bool(one == other)


def _numbers(features: Features) -> dict[Any, float]:
    """A text as value makes the feature `name=value`, as in all rows."""
    return {
        (f"{name}={value}" if isinstance(value, str) else name): (
            1.0 if isinstance(value, str) else value
        )
        for name, value in features.items()
    }


def difference(one: Features, other: Features) -> dict[Any, float]:
    """The features of one output minus those of another."""
    signed = _numbers(one)
    for name, value in _numbers(other).items():
        signed[name] = signed.get(name, 0.0) - value
    return {name: value for name, value in signed.items() if value != 0}
