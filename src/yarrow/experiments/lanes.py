"""How one entrant runs: it predicts the rows of a block and learns them, and keeps its account."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from yarrow.composite.base import Composite
from yarrow.composite.members import Block
from yarrow.composite.names import named
from yarrow.errors import DataError, ParameterError, YarrowError
from yarrow.experiments.baselines import Baseline
from yarrow.experiments.comparison import Outcome
from yarrow.experiments.curve import curve_of, error_of
from yarrow.kernel.base import KernelClassifier
from yarrow.lazy import np
from yarrow.linear_model.base import LinearModel
from yarrow.linear_model.progressive import foretell
from yarrow.stream.arrays import Array, Rows, read_labels, read_rows, read_values, read_weights

#: of more classes no confusion matrix is kept
MOST_CLASSES = 200
UNKNOWN = -2  # the number of a class that no learner can have seen


class OneMoreClass(DataError):
    """A class that nobody expected."""


class Classes:
    """Classes numbered in the order of their appearance, as every learner numbers them."""

    def __init__(self, expected: Sequence[Any] | None = None) -> None:
        self.names: list[Any] = []
        self._expected = None if expected is None else {_class_name(name) for name in expected}
        self._numbers: dict[Any, int] = {}

    def number(self, y: Array, add: bool) -> Array:
        """The numbers of labels; those that are new get one, or are UNKNOWN."""
        names, first, places = np.unique(y, return_index=True, return_inverse=True)
        numbers = np.full(len(names), UNKNOWN)
        listed = names.tolist()
        for place in np.argsort(first, kind="stable").tolist():
            name = _class_name(listed[place])
            if add and name not in self._numbers:
                if self._expected is not None and name not in self._expected:
                    raise OneMoreClass(f"the class {name!r} was not told beforehand")
                self._numbers[name] = len(self.names)
                self.names.append(name)
            numbers[place] = self._numbers.get(name, UNKNOWN)
        return numbers[places.reshape(-1)]


def _class_name(label: Any) -> Any:
    return int(label) if isinstance(label, float) and label.is_integer() else label


class Entrant(NamedTuple):
    """A fresh estimator that takes part in a race under a name that no other has."""

    name: str
    model: Any


class Heat(NamedTuple):
    """A block made ready for all entrants: read once, whoever learns it."""

    X: Any
    y: Array
    weights: Array | None
    names: list[Any] | None  # of the columns, for those that look at names
    rows: Rows
    labels: tuple[Array, list[Any]]
    learned: Array  # the labels as class numbers, or values
    truth: Array  # what predictions are compared with: these, or those before noise
    counts: Array | None  # which rows count; None: all

    @classmethod
    def of(cls, block: Any, classes: Classes | None, clean: bool) -> Heat:
        """Make a block ready; without `classes` its labels are values."""
        rows = read_rows(block.X)
        weights = read_weights(block.weights, rows.n_rows)
        counts = None if weights is None or weights.all() else weights != 0
        compared = block.clean if clean and block.clean is not None else block.y
        labels: tuple[Array, list[Any]]
        if classes is None:
            learned = read_values(block.y, rows.n_rows)
            labels = learned, []
            truth = learned if compared is block.y else read_values(compared, rows.n_rows)
        else:
            labels = read_labels(block.y, rows.n_rows)
            y = np.asarray(block.y)
            classes.number(y if counts is None else y[counts], add=True)
            learned = truth = classes.number(y, add=False)
            if compared is not block.y:
                truth = classes.number(np.asarray(compared), add=False)
        return cls(block.X, block.y, weights, block.names, rows, labels, learned, truth, counts)


class Lane:
    """One entrant's run. A failure ends it, and only it."""

    def __init__(self, entrant: Entrant, classes: Classes | None, known: list[Any] | None) -> None:
        self.outcome = Outcome(entrant.name, **described(entrant.model))
        self.classes = classes
        self._wrong: list[Array] = []
        self._counts = np.zeros((0, 0), np.int64)
        self._first_pass: Array | None = None
        self._next_look = 1
        self.run: Any = None
        try:
            self.run = _run_of(entrant.model, classes, known)
        except (YarrowError, ValueError, TypeError) as error:
            self._fail(error)

    @property
    def failed(self) -> bool:
        """Whether it is out."""
        return self.outcome.failure is not None

    def step(self, heat: Heat) -> None:
        """Predict and learn a block."""
        if self.failed:
            return
        # Time on a core: by the clock, one would pay for the others that run beside it.
        started = time.thread_time()
        try:
            predictions = self.run.step(heat)
        except MemoryError:
            return self._fail(MemoryError("there is not enough memory"))
        except Exception as error:
            return self._fail(error)  # other libraries raise whatever they like
        finally:
            self.outcome.seconds += time.thread_time() - started
        self._account(heat, predictions)

    def _account(self, heat: Heat, predictions: Array) -> None:
        truth = heat.truth
        if heat.counts is not None:
            predictions, truth = predictions[heat.counts], truth[heat.counts]
        outcome = self.outcome
        if self.classes is None:
            wrong = (predictions - truth) ** 2
            outcome.squared_error += float(wrong.sum())
        else:
            wrong = predictions != truth
            outcome.mistakes += int(np.count_nonzero(wrong))
            self._confuse(truth, predictions)
        self._wrong.append(wrong)
        outcome.rows += len(wrong)
        if outcome.rows >= self._next_look and self._first_pass is None:
            outcome.nonzeros_curve.append((outcome.rows, self.run.nonzeros()))
            self._next_look = outcome.rows + outcome.rows // 4 + 1

    def _confuse(self, truth: Array, predictions: Array) -> None:
        n = len(self.classes.names) if self.classes else 0
        if n > MOST_CLASSES:
            return
        if n > len(self._counts):
            larger = np.zeros((n, n), np.int64)
            larger[: len(self._counts), : len(self._counts)] = self._counts
            self._counts = larger
        both = (truth >= 0) & (predictions >= 0)
        cells = truth[both] * n + predictions[both].astype(np.int64)
        self._counts += np.bincount(cells, minlength=n * n).reshape(n, n)

    def end_pass(self) -> None:
        """Close the account of a pass; the first one is what the outcome is about."""
        wrong = np.concatenate(self._wrong) if self._wrong else np.zeros(0, np.bool_)
        self._wrong = []
        outcome = self.outcome
        outcome.pass_errors.append(error_of(wrong))
        if self._first_pass is None:
            self._first_pass = wrong
            self._first = (outcome.rows, outcome.mistakes, outcome.squared_error)
            if self.classes is not None and 0 < len(self._counts) <= MOST_CLASSES:
                outcome.confusion = {
                    "labels": [str(name) for name in self.classes.names],
                    "counts": self._counts.tolist(),
                }
        outcome.rows, outcome.mistakes, outcome.squared_error = self._first

    def finish(self) -> Outcome:
        """The outcome, complete."""
        outcome = self.outcome
        if self._first_pass is not None and len(self._first_pass):
            outcome.wrong = self._first_pass
            outcome.curve = curve_of(self._first_pass)
        if not self.failed and self.run is not None:
            outcome.model = self.run.learned()
            outcome.updates, outcome.nonzeros = self.run.updates(), self.run.nonzeros()
            last = (outcome.rows, outcome.nonzeros)
            if len(outcome.pass_errors) == 1 and outcome.nonzeros_curve[-1:] != [last]:
                outcome.nonzeros_curve.append(last)
        return outcome

    def _fail(self, error: BaseException) -> None:
        text = " ".join(str(error).split()) or type(error).__name__
        at = f"after {self.outcome.rows:,} rows: " if self.outcome.rows else ""
        self.outcome.failure = f"{at}{text if text.endswith('.') else text + '.'}"


def described(model: Any) -> dict[str, Any]:
    """The class of an entrant, its family, and the parameters that are not the default."""
    if isinstance(model, Baseline):
        return {"learner": model.name, "family": "baseline", "parameters": {}}
    family = getattr(model, "family", "") or type(model).__module__.split(".")[0]
    return {
        "learner": getattr(model, "learner", "") or type(model).__name__,
        "family": family,
        "parameters": changed_parameters(model),
    }


def changed_parameters(model: Any) -> dict[str, Any]:
    """The parameters that differ from the defaults of a learner's class."""
    get = getattr(model, "get_params", None) or getattr(model, "_get_params", None)
    if get is None:
        return {}
    try:
        defaults = get.__func__(type(model)())
    except Exception:  # a class of others that cannot be made without parameters
        defaults = {}
    return {k: v for k, v in get().items() if repr(v) != repr(defaults.get(k))}


def _run_of(model: Any, classes: Classes | None, known: list[Any] | None) -> Any:
    if isinstance(model, Baseline):
        return model
    if isinstance(model, LinearModel):
        if (classes is None) == hasattr(type(model), "classes_"):
            task = "a regression" if classes is None else "classes"
            raise ParameterError(f"{type(model).__name__} is not for {task}.")
        return _CoreRun(model, known)
    if isinstance(model, Composite):
        if (classes is None) is not model.regression:
            task = "a regression" if classes is None else "classes"
            raise ParameterError(f"{type(model).__name__} is not for {task}.")
        return _CompositeRun(model, classes, known)
    if hasattr(model, "enter"):
        return model.enter(classes, known)
    if isinstance(model, KernelClassifier):
        return _KernelRun(model, classes)
    if hasattr(model, "learn_one"):
        return _DictRun(model, classes)
    return _ArrayRun(model, classes, known)


class _CoreRun:
    """One of Yarrow's learners: a block is one call of the core, which needs no lock of Python."""

    def __init__(self, model: LinearModel, known: list[Any] | None) -> None:
        if "_model" in model.__dict__:
            raise ParameterError(f"{type(model).__name__} has learned before: give a fresh one.")
        self.model: Any = model.clone()
        self.core = self.model._new_model(self._declared(known))
        # Columns are numbered alike for all; who hashes, limits or groups names has to see them.
        self._needs_names = any(
            getattr(model, name, None) is not None
            for name in ("hash_bits", "max_features", "groups")
        )
        self._width: int | None = None

    def _declared(self, known: list[Any] | None) -> list[Any]:
        """Two classes that are known beforehand share one column of weights: twice as fast."""
        if not hasattr(self.model, "_declared"):
            return []
        two = known if known is not None and len(known) == 2 else None
        return list(self.model._declared(two if self.model.classes is None else None))

    def step(self, heat: Heat) -> Array:
        names = (heat.names or []) if self._needs_names else []
        told = foretell(
            self.core, heat.rows, names, heat.labels, heat.weights, wants_scores=False, undo=False
        )
        same = self._width in (None, heat.rows.n_columns)
        self._width = heat.rows.n_columns if same else -1
        return told[0]

    def learned(self) -> Any:
        if self.core.t > 0:
            self.model._model, self.model._made_with = self.core, self.model.get_params()
            if self._width is not None and self._width >= 0:
                self.model._n_features_in, self.model._feature_names_in = self._width, None
        return self.model

    def updates(self) -> int:
        return int(self.core.updates)

    def nonzeros(self) -> int:
        return int(self.learned().n_nonzero_) if self.core.t > 0 else 0


class _CompositeRun:
    """An estimator made of learners, or a bandit: a block is one call."""

    def __init__(self, model: Composite, classes: Classes | None, known: list[Any] | None) -> None:
        if "_state" in model.__dict__:
            raise ParameterError(f"{type(model).__name__} has learned before: give a fresh one.")
        self.model, self.classes, self.known = model.clone(), classes, known
        self.state = self.model._new_state()

    def step(self, heat: Heat) -> Array:
        # Columns are numbered alike in all blocks, whose number of columns may grow.
        block = Block(heat.rows, [], None, heat.labels, heat.weights, self.known)
        said = self.model._walk(self.state, block)
        if self.classes is None:
            return said
        return _numbered(list(named(said, list(self.state.codes))), self.classes)

    def learned(self) -> Any:
        if self.state.t:
            self.model._state = self.state
        return self.model

    def updates(self) -> int:
        return self.state.t

    def nonzeros(self) -> int:
        return int(self.learned().n_nonzero_) if self.state.t else 0


class _KernelRun:
    """A learner with a kernel: a block is one call, in Python."""

    def __init__(self, model: KernelClassifier, classes: Classes | None) -> None:
        if classes is None:
            raise ParameterError(f"{type(model).__name__} is not for a regression.")
        if model.__sklearn_is_fitted__():
            raise ParameterError(f"{type(model).__name__} has learned before: give a fresh one.")
        self.model, self.classes = model.clone(), classes

    def step(self, heat: Heat) -> Array:
        told = self.model._foretell_rows(heat.rows, [], heat.y, heat.weights)
        return _numbered(told.predictions.tolist(), self.classes)

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        return self.model.n_updates_ if self.model.__sklearn_is_fitted__() else 0

    def nonzeros(self) -> int:
        known = self.model.__sklearn_is_fitted__()
        return int(np.count_nonzero(self.model.dual_coef_)) if known else 0


class _ArrayRun:
    """A learner of scikit-learn's kind, row by row: slow."""

    def __init__(self, model: Any, classes: Classes | None, known: list[Any] | None) -> None:
        from sklearn.base import clone

        self.model, self.classes = clone(model), classes
        self._first = {} if classes is None or known is None else {"classes": np.asarray(known)}
        if classes is not None and known is None:
            raise ParameterError(f"{type(model).__name__} must be told all classes beforehand.")
        self._ready = False
        self._updates = 0

    def step(self, heat: Heat) -> Array:
        X = heat.X.tocsr() if hasattr(heat.X, "tocsr") else np.asarray(heat.X)
        labels: list[Any] = []
        for i in range(heat.rows.n_rows):
            row = X[i : i + 1]
            labels.append(self.model.predict(row)[0] if self._ready else None)
            if heat.counts is not None and not heat.counts[i]:
                continue
            more = {} if heat.weights is None else {"sample_weight": heat.weights[i : i + 1]}
            self.model.partial_fit(row, heat.y[i : i + 1], **self._first, **more)
            self._ready, self._first = True, {}
            self._updates += 1
        return _numbered(labels, self.classes)

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        return self._updates

    def nonzeros(self) -> int:
        return int(np.count_nonzero(getattr(self.model, "coef_", 0)))


class _DictRun:
    """A learner of river's kind, row by row: slow."""

    def __init__(self, model: Any, classes: Classes | None) -> None:
        self.model, self.classes = model.clone(), classes
        self._updates = 0

    def step(self, heat: Heat) -> Array:
        rows = heat.rows
        matrix: Any = heat.X.tocsr() if hasattr(heat.X, "tocsr") else np.asarray(heat.X)
        names = heat.names or range(rows.n_columns)
        labels: list[Any] = []
        for i, label in enumerate(np.asarray(heat.y).tolist()):
            if hasattr(matrix, "indptr"):
                part = slice(matrix.indptr[i], matrix.indptr[i + 1])
                places, values = matrix.indices[part].tolist(), matrix.data[part].tolist()
            else:
                places, values = range(rows.n_columns), matrix[i].tolist()
            x = {names[j]: value for j, value in zip(places, values, strict=True) if value}
            labels.append(self.model.predict_one(x))
            if heat.counts is not None and not heat.counts[i]:
                continue
            more = {} if heat.weights is None else {"w": float(heat.weights[i])}
            self.model.learn_one(x, label, **more)
            self._updates += 1
        return _numbered(labels, self.classes)

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        return self._updates

    def nonzeros(self) -> int:
        weights: Any = getattr(self.model, "weights", {})
        values = weights.values() if hasattr(weights, "values") else ()
        return sum(bool(np.any(value)) for value in values)


def _numbered(labels: list[Any], classes: Classes | None) -> Array:
    if classes is None:
        return np.array([0.0 if label is None else float(label) for label in labels])
    found = np.full(len(labels), -1)
    said = [i for i, label in enumerate(labels) if label is not None]
    if said:
        told = [labels[i] for i in said]
        kinds = {isinstance(label, str) for label in told}
        array = np.array(told) if len(kinds) == 1 else np.array(told, dtype=object)
        found[said] = classes.number(array, add=False)
    return found
