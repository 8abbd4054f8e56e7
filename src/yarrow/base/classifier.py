"""Classification: labels, classes, decision values and probabilities."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from yarrow import _core
from yarrow.base import explanation
from yarrow.base.hyperparameters import Multiclass, declared_classes
from yarrow.base.linear import SupervisedModel
from yarrow.base.probabilities import probabilities_then
from yarrow.data.arrays import Array, Rows
from yarrow.data.labels import (
    Labels,
    array_of,
    check_declared,
    check_known,
    in_order,
    label_list,
    order_of,
    plain,
    read_labels,
)
from yarrow.errors import DataError, ParameterError, first_of
from yarrow.estimator import ClassifierMixin, estimator
from yarrow.io.row_reader import rows_for
from yarrow.lazy import np
from yarrow.online.progressive import CoreModel, CoreResult
from yarrow.online.results import ProgressiveResult
from yarrow.parameters import anything, choice, most_classes


def _is_class_weight(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == "balanced"):
        return True
    return isinstance(value, Mapping) and all(
        isinstance(w, numbers.Real) and math.isfinite(w) and float(w) > 0 for w in value.values()
    )


_STRATEGIES = {
    "ovr": "each against the rest",
    "top1": "the best rival",
    "max_loss": "priced",
    "topk": "k rivals",
    "all": "all rivals",
}


def strategies(*options: str) -> Any:
    """The parameter `multiclass` of a learner that has these options, the default first."""
    words = [f"{name} ({_STRATEGIES[name]})" for name in options]
    return choice(default=options[0], options=options, doc=f"Many classes: {', '.join(words)}.")


@estimator
class LinearClassifier(ClassifierMixin, SupervisedModel):
    """Base of the linear classifiers."""

    _: dataclasses.KW_ONLY
    multiclass: Multiclass = strategies("ovr", "top1")
    classes: Any = declared_classes(" Two then share one weight vector.")
    max_classes: int = most_classes()
    class_weight: Any = anything(
        default=None,
        allowed="None, 'balanced' or a dict of positive numbers",
        accepts=_is_class_weight,
        doc="Weight of each class's rows; 'balanced' (in `fit` only): by inverse frequency.",
    )

    # -- classes ---------------------------------------------------------------------------------

    def _strategy(self, declared: list[Any]) -> _core.Strategy:
        if self.multiclass in ("top1", "max_loss"):
            return _core.Strategy[self.multiclass]
        if self.multiclass in ("topk", "all"):
            return _core.Strategy.many
        # One-versus-rest over two classes is one binary problem and its mirror image.
        if len(declared) == 2:
            return _core.Strategy.binary
        return _core.Strategy.one_versus_rest

    def _most_classes(self) -> int:
        return self.max_classes

    def _class_weights(self) -> list[tuple[Any, float]]:
        if self.class_weight is None:
            return []
        if self.class_weight == "balanced":
            raise ParameterError(
                "class_weight='balanced' needs all labels at once: use `fit`, or give a dict."
            )
        return [(label, float(weight)) for label, weight in self.class_weight.items()]

    def _balanced(self, numbers: Array, names: list[Any]) -> list[tuple[Any, float]]:
        present, counts = np.unique(numbers, return_counts=True)
        return [
            (label, len(numbers) / (len(present) * count))
            for label, count in zip(label_list((present, names)), counts, strict=True)
        ]

    def _declared(self, classes: Any = None) -> list[Any]:
        self._check_parameters()
        declared = self.classes if self.classes is not None else classes
        if declared is None:
            return []
        names = in_order({plain(name) for name in declared})
        if len(names) > self.max_classes:
            self._check_new_class(names[self.max_classes], self.max_classes)
        if classes is not None:
            check_declared(classes, names)
        self._check_classes_named(names)
        return names

    def _classes_named(self) -> dict[str, list[Any]]:
        """The classes that parameters say something about."""
        weighted = self.class_weight if isinstance(self.class_weight, Mapping) else {}
        costs = dict.fromkeys(name for *pair, _ in self._costs() for name in pair)
        return {"class_weight": list(weighted), "cost": list(costs)}

    def _check_classes_named(self, classes: list[Any]) -> None:
        """Refuse what is said of a class that cannot come, if nothing is said of one that can."""
        for parameter, names in self._classes_named().items():
            unknown = [name for name in names if name not in classes]
            if unknown and not set(classes) <= set(names):
                raise ParameterError(
                    f"The {parameter!r} names {shown_names(unknown)}, but the classes are "
                    f"{shown_names(in_order(classes))}."
                )

    @property
    def classes_(self) -> Array:
        """The classes declared or seen so far, sorted.

        One that was declared and not yet seen is never predicted: its score is minus infinity, or
        its probability 0.
        """
        return self._class_table()[0]

    def _class_table(self, n: int | None = None) -> tuple[Array, Array]:
        """The classes, sorted, and the place of each among the first n seen; -1: only declared.

        Another thread may add classes meanwhile; whoever holds scores of n classes says so.
        """
        model = self._fitted
        return _class_table(model.classes[:n], model.declared)

    @property
    def n_mistakes_(self) -> int:
        """Rows that were predicted wrongly before they were learned."""
        return int(self._fitted.mistakes)

    # -- scikit-learn ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn `max_iter` shuffled passes over the rows."""
        rows = rows_for(self, X, by_core=True, fresh=True)
        labels = read_labels(y, rows.n_rows)
        balanced = self._balanced(*labels) if self.class_weight == "balanced" else None
        known = label_list((np.unique(labels[0]), labels[1]))
        declared = self._declared() or (known if len(known) == 2 else [])
        self._check_classes_named(declared or known)
        self._fit_passes(self._new_model(declared, balanced), rows, labels, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once. `classes` declares all that may ever come."""
        self._partial_fit(X, y, classes, sample_weight)
        return self

    @contextlib.contextmanager
    def _learning_of(self, classes: Any) -> Iterator[CoreModel]:
        """The model to learn with, where no other than these classes may come."""
        declared = self._declared(classes)
        with self._learning(declared) as model:
            if classes is not None:
                check_known(classes, declared, {*model.classes, *model.declared})
            if classes is not None and model.declared and len(declared) > len(model.declared):
                new = [name for name in declared if name not in model.declared]
                raise ParameterError(
                    f"classes={classes!r} names {shown_names(new)}, but the classes were declared "
                    f"before: {shown_names(in_order(model.declared))}. Without it any may come."
                )
            yield model

    def _read_labels(self, y: Any, n_rows: int) -> Labels:
        return read_labels(y, n_rows)

    def _named_result(self, model: CoreModel, found: CoreResult) -> ProgressiveResult:
        predictions, scores = found.predictions, found.scores
        classes, order = _class_table(model.classes)
        if not len(classes):  # no row counted
            return ProgressiveResult(np.full(len(predictions), None), scores, classes)
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        unknown = predictions < 0
        labels = classes[places[predictions.astype(np.int64)]]
        if unknown.any():
            labels = labels.astype(object)
            labels[unknown] = None
        likely = None
        if found.variances is not None:
            likely = probabilities_then(self, found)[:, order]
        scores = scores[:, order]
        if len(model.declared) == 2:
            both = scores.shape[1] == 2
            decided = self._decided(scores) if both else np.full(len(scores), np.nan)
            scores = np.where(np.isnan(scores).any(axis=1), np.nan, decided)[:, None]
        return ProgressiveResult(labels, scores, classes, likely)

    def _in_class_order(self, scores: Array, of_unseen: float = -math.inf) -> Array:
        order = self._class_table(scores.shape[1])[1]
        in_order = bool((order == np.arange(len(order))).all())
        return scores if in_order else filled(scores.T[order], order, of_unseen).T

    def decision_function(self, X: Any) -> Array:
        """Scores: of the second class where there are two, else a column a class.

        While one class is known it is always predicted, so no score is above 0; `coef_` speaks for
        that class, so that there a row that fits is above 0.
        """
        seen = self._scores(X, variances=False)[0]
        scores = self._in_class_order(seen)
        if seen.shape[1] == 1 and scores.shape[1] == 2:  # the one that was seen is always predicted
            size = np.abs(seen[:, 0])
            is_second = self._class_table(1)[1][0] < 0
            return np.maximum(size, np.finfo(size.dtype).tiny) if is_second else -size
        return self._decided(scores)

    def _decided(self, scores: Array) -> Array:
        return self._decision(scores, mirrored=self.multiclass == "ovr")

    def _predicted(self, scores: Array) -> Array:
        return array_of(self._fitted.classes[: scores.shape[1]]).take(best_column(scores))

    def _score_held_out(self, model: Any, rows: Rows, labels: Labels, weights: Array) -> float:
        scores = self._score_rows(model, rows, rows.names or [], variances=False)[0]
        known = model.classes
        predicted = [known[place] for place in best_column(scores)]
        true = label_list(labels)
        right = [one == other for one, other in zip(predicted, true, strict=True)]
        return float(np.average(right, weights=weights))

    def _weights(self) -> Array:
        table: Array
        columns: list[int]
        table, columns = self._fitted.plane(0)
        return self._combined(table.T[columns])

    def _weights_to_export(self) -> Array:
        table, columns = self._fitted.plane(0)
        return self._combined(table.T[columns], order_of(self._fitted.classes[: len(columns)]))

    def _combined(self, by_class: Array, order: Array | None = None) -> Array:
        """What `coef_` shows of the weights of each class, given by appearance."""
        order = self._class_table(len(by_class))[1] if order is None else order
        if len(order) > 2:
            if self.multiclass == "ovr" and len(by_class) <= 2:  # see below
                by_class = np.concatenate([-by_class[:1], by_class[1:]])
            return filled(by_class[order], order, 0.0)
        if self.multiclass != "ovr" and len(by_class) == 2:
            return by_class[order[1:]] - by_class[order[:1]]
        # One column serves both classes: it speaks for the second one that was seen.
        return by_class[:1] if order.tolist() == [0, 1] else -by_class[:1]

    # -- looking inside --------------------------------------------------------------------------

    def top_features(self, n: int = 20, label: Any = None) -> list[tuple[Any, float]]:
        """The features with the largest weights by size, for one class where there are many."""
        return explanation.top_features(self, n, label)

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> explanation.Explanation:
        """What each feature of a row adds to the score of a class (the predicted one)."""
        return explanation.explain_one(self, x, label)

    def _score_of(self, x: dict[Any, Any], label: Any) -> float:
        """What speaks for a class: its score; of two classes the decision for it."""
        scores = self._fitted.score_one(x)[0]
        return float(sum(sign * scores[c] for c, sign in self._classes_of(label)))

    def _classes_of(self, label: Any) -> list[tuple[int, float]]:
        """The classes, numbered by appearance, whose scores speak for one, and their signs."""
        self._row_of(label)  # is it a class that was seen?
        classes, order = self._class_table()
        place = int(order[classes.tolist().index(label)])
        is_decision = len(classes) == 2 and order.min() >= 0 and self.multiclass != "ovr"
        return [(place, 1.0), (1 - place, -1.0)] if is_decision else [(place, 1.0)]

    def _row_of(self, label: Any) -> tuple[int, float]:
        """The row of `coef_` that speaks for a class, and with which sign."""
        classes = self.classes_.tolist()
        if label is None:
            if len(classes) > 2:
                raise ParameterError("With more than two classes, say which one by label=...")
            label = classes[-1]
        if label not in (seen := in_order(self._fitted.classes)):
            raise DataError(f"The class {label!r} has not been seen; seen are {seen}.")
        place = classes.index(label)
        if len(classes) > 2:
            return place, 1.0
        return 0, 1.0 if place == len(classes) - 1 else -1.0


def shown_names(names: Sequence[Any]) -> str:
    """Some classes as a sentence has them: 'ham', 'spam', 3."""
    return first_of(map(repr, names))


def best_column(scores: Array) -> Array:
    """The column with the highest score in each row, the first of equal ones."""
    if scores.shape[1] == 2:  # which argmax takes longer for than the scores took
        return np.asarray(scores[:, 1] > scores[:, 0], dtype=np.intp)
    return np.asarray(np.argmax(scores, axis=1))


def _class_table(seen: list[Any], declared: Sequence[Any] = ()) -> tuple[Array, Array]:
    unseen = [name for name in declared if name not in seen]
    order = order_of([*seen, *unseen])
    return array_of(in_order([*seen, *unseen])), np.where(order < len(seen), order, -1)


def filled(by_class: Array, order: Array, of_unseen: float) -> Array:
    """A line a class, with one number throughout the lines of those that were not seen."""
    by_class[order < 0] = of_unseen
    return by_class
