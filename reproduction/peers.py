"""Learners of other libraries as entrants of a race: scikit-learn's SGD, river, Vowpal Wabbit.

Each learns row by row with the library's own code, and takes the rows in the library's own form:
arrays, dicts, lines of text. All are told beforehand how many classes there will be.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import math
from collections.abc import Callable
from typing import Any

from yarrow.compare.race_batch import Classes, RaceBatch
from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.lazy import np


def _module(name: str, package: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ParameterError(
            f"{package} is not installed, and the comparison needs it: pip install {package}."
        ) from None


@dataclasses.dataclass(frozen=True)
class Peer:
    """A learner of another library: `enter` starts a run, as races ask for it."""

    family: str
    label: str
    parameters: dict[str, Any]
    start: Callable[[int], Any]
    """Makes a run of so many classes: `step(batch)` gives the numbers of the classes predicted."""

    @property
    def learner(self) -> str:
        """The class, without the setting."""
        return self.label.partition("(")[0].partition(" ")[0]

    def get_params(self) -> dict[str, Any]:
        """The setting."""
        return self.parameters

    def enter(self, classes: Classes | None, known: list[Any] | None) -> Any:
        """Start a race."""
        if classes is None or known is None or len(known) < 2:
            raise ParameterError(f"{self.label} must be told two or more classes beforehand.")
        return _Run(self.start(len(known)), classes)


class _Run:
    """What a race asks of an entrant, around a function that predicts and learns a block."""

    def __init__(self, run: Any, classes: Classes) -> None:
        self._run, self._classes, self._rows = run, classes, 0

    def step(self, batch: RaceBatch) -> Array:
        """Predict and learn a block."""
        if batch.weights is not None:
            raise ParameterError("Learners of other libraries take rows without weights here.")
        told: Array = self._run.step(batch)
        self._rows += len(told)
        # One that names a class which has not appeared yet is wrong, whichever it is.
        return np.where(told < len(self._classes.names), told, -1)

    def learned(self) -> Any:
        return self._run

    def updates(self) -> int:
        return self._rows

    def nonzeros(self) -> int:
        return 0  # not counted: some keep no weights that could be looked at cheaply


def _csr(batch: RaceBatch) -> Any:
    from scipy.sparse import csr_array

    return csr_array(batch.matrix)


class _Once:
    """The rows of a block in another form, made once for all entrants that want it."""

    def __init__(self, make: Callable[[RaceBatch], Any]) -> None:
        self._make, self._last = make, (None, None)

    def __call__(self, batch: RaceBatch) -> Any:
        if self._last[0] is not batch:
            self._last = (batch, self._make(batch))  # type: ignore[assignment]
        return self._last[1]


# scikit-learn


def scikit_sgd(scaled: bool = False, **parameters: Any) -> Peer:
    """scikit-learn's SGDClassifier; with C also its Passive-Aggressive rates ("pa1", "pa2").

    `scaled`: behind a StandardScaler that is told each row before the row is predicted.
    """
    shown = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return Peer(
        "scikit-learn",
        f"SGDClassifier({shown}){' behind StandardScaler' if scaled else ''}",
        parameters,
        lambda k: _Scaled(_SGD(parameters, k)) if scaled else _SGD(parameters, k),
    )


class _Scaled:
    """A run behind what scikit-learn's StandardScaler does in `partial_fit` and `transform`.

    Row by row, zeros included; the library's own calls take longer than all that is learned.
    """

    def __init__(self, run: Any) -> None:
        self.run, self._rows = run, 0
        self._mean, self._squares = np.zeros(0), np.zeros(0)

    def step(self, batch: RaceBatch) -> Array:
        from scipy.sparse import csr_array

        rows = _csr(batch).toarray().astype(np.float64)
        more = rows.shape[1] - len(self._mean)  # columns that had no value but 0
        self._mean = np.pad(self._mean, (0, more))
        self._squares = np.pad(self._squares, (0, more))
        for row in rows:
            self._rows += 1
            away = row - self._mean
            self._mean += away / self._rows
            self._squares += away * (row - self._mean)
            deviation = np.sqrt(self._squares / self._rows)
            row[:] = (row - self._mean) / np.where(deviation > _CONSTANT, deviation, 1.0)
        told: Array = self.run.step(dataclasses.replace(batch, rows=None, X=csr_array(rows)))
        return told


_CONSTANT = 1e-9  # a deviation below it is one of rounding


class _SGD:
    """`partial_fit` row by row, but for its checks of each row, which cost a hundred times more.

    The steps are those of scikit-learn's compiled loop, called as `partial_fit` calls it, with the
    weights of the row's features only. The penalty shrinks all others by the same factor, which one
    more weight of 1, that no row touches, tells. As in scikit-learn, the intercept of sparse rows
    learns a hundred times slower than that of dense ones.
    """

    def __init__(self, parameters: dict[str, Any], classes: int) -> None:
        sgd = _module("sklearn.linear_model._stochastic_gradient", "scikit-learn")
        self._loop = sgd._plain_sgd64
        self._rows_of = _module("sklearn.utils._seq_dataset", "scikit-learn").CSRDataset64
        self.model = model = sgd.SGDClassifier(**parameters, shuffle=False, random_state=0)
        self._loss = model._get_loss_function(model.loss)
        self._penalty = model._get_penalty_type(model.penalty)
        self._rate = model._get_learning_rate_type(model.learning_rate)
        self._negative = 0.0 if model.loss == "log_loss" else -1.0
        self._weights = np.zeros((1 if classes == 2 else classes, 0))  # times _scales
        self._scales = np.ones(len(self._weights))
        self.intercept = np.zeros(len(self._weights))
        self._decay: float | None = None
        self._t = 1.0

    @property
    def coef(self) -> Array:
        """The weights, a line for each class; one line for two."""
        return self._weights * self._scales[:, None]

    def step(self, batch: RaceBatch) -> Array:
        X = _csr(batch)
        if self._decay is None:  # who has dense rows gives them as such
            self._decay = 1.0 if X.nnz > 0.5 * X.shape[0] * X.shape[1] else 0.01
        if X.shape[1] > self._weights.shape[1]:
            wider = np.zeros((len(self._weights), X.shape[1]))
            wider[:, : self._weights.shape[1]] = self._weights
            self._weights = wider
        data, told = X.data.astype(np.float64), np.empty(X.shape[0], np.int64)
        for i, label in enumerate(batch.learned.tolist()):
            part = slice(X.indptr[i], X.indptr[i + 1])
            told[i] = self._predict_and_learn(data[part], X.indices[part], label)
        return told

    def _predict_and_learn(self, values: Array, columns: Array, label: int) -> int:
        compact = np.ones((len(self._weights), len(values) + 1))
        compact[:, :-1] = self._weights[:, columns] * self._scales[:, None]
        scores = compact[:, :-1] @ values + self.intercept
        if not np.isfinite(scores).all():
            raise ValueError("the weights are no longer finite")
        places, begins = (
            np.arange(len(values), dtype=np.int32),
            np.array([0, len(values)], np.int32),
        )
        for place, weights in enumerate(compact):
            positive = label == (place if len(compact) > 1 else 1)
            target = np.array([1.0 if positive else self._negative])
            row = self._rows_of(values, begins, places, target, np.ones(1), seed=1)
            self.intercept[place] = self._one_step(weights, place, row)
        self._scales *= compact[:, -1]
        for place in np.flatnonzero(self._scales < 1e-9).tolist():
            self._weights[place] *= self._scales[place]
            self._scales[place] = 1.0
        self._weights[:, columns] = compact[:, :-1] / self._scales[:, None]
        self._t += 1.0
        return int(scores.argmax()) if len(scores) > 1 else int(scores[0] > 0)

    def _one_step(self, weights: Array, place: int, row: Any) -> float:
        model = self.model
        found = self._loop(
            weights, self.intercept[place], None, 0.0, self._loss, self._penalty, model.alpha,
            model._get_l1_ratio(), row, np.zeros(1, np.uint8), False, None, 5, 1, -np.inf, 1, 0, 0,
            1, 1.0, 1.0, self._rate, model.eta0, model.power_t, 0, self._t, self._decay, 0,
        )  # fmt: skip
        return float(found[1])


# river


def river_logistic(
    optimizer: str, rate: float, loss: str = "Log", scaled: bool = False, zeros: bool = False
) -> Peer:
    """river's LogisticRegression with an optimizer, a loss, and a running scaler before it.

    `zeros`: rows bring all their values, not only those that are not 0.
    """

    def make() -> Any:
        linear_model = _module("river.linear_model", "river")
        optim = importlib.import_module("river.optim")
        preprocessing = importlib.import_module("river.preprocessing")
        model = linear_model.LogisticRegression(
            optimizer=getattr(optim, optimizer)(rate), loss=getattr(optim.losses, loss)()
        )
        return preprocessing.StandardScaler() | model if scaled else model

    setting = {"optimizer": optimizer, "rate": rate, "loss": loss, "scaled": scaled}
    return _river("LogisticRegression", setting, make, zeros)


def river_linear(model: str, **setting: Any) -> Peer:
    """Another of river's linear models: PAClassifier, ALMAClassifier, Perceptron."""

    def make() -> Any:
        return getattr(_module("river.linear_model", "river"), model)(**setting)

    return _river(model, setting, make)


def river_softmax(optimizer: str, rate: float) -> Peer:
    """river's SoftmaxRegression, for two classes as for many."""

    def make() -> Any:
        linear_model = _module("river.linear_model", "river")
        optim = importlib.import_module("river.optim")
        return linear_model.SoftmaxRegression(optimizer=getattr(optim, optimizer)(rate))

    return _river("SoftmaxRegression", {"optimizer": optimizer, "rate": rate}, make)


def _river(
    name: str, setting: dict[str, Any], make: Callable[[], Any], zeros: bool = False
) -> Peer:
    shown = ", ".join(f"{key}={value!r}" for key, value in setting.items())
    rows = _as_full_dicts if zeros else _as_dicts
    return Peer("river", f"{name}({shown})", setting, lambda k: _River(make(), k, rows))


def _dicts(batch: RaceBatch) -> list[dict[int, float]]:
    X = _csr(batch)
    columns, values, begins = X.indices.tolist(), X.data.tolist(), X.indptr.tolist()
    return [
        dict(zip(columns[start:end], values[start:end], strict=True))
        for start, end in itertools.pairwise(begins)
    ]


def _full_dicts(batch: RaceBatch) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in _csr(batch).toarray().tolist()]


_as_dicts, _as_full_dicts = _Once(_dicts), _Once(_full_dicts)


class _River:
    """Two classes are False and True; of many, each is told from the rest where it has to be."""

    def __init__(self, model: Any, classes: int, rows: Callable[[RaceBatch], Any]) -> None:
        self._kind: type = int
        self._rows = rows
        if type(model).__name__ != "SoftmaxRegression":
            if classes == 2:
                self._kind = bool
            else:
                model = importlib.import_module("river.multiclass").OneVsRestClassifier(model)
        self.model = model

    def step(self, batch: RaceBatch) -> Array:
        told = np.empty(len(batch.learned), np.int64)
        predict, learn = self.model.predict_one, self.model.learn_one
        labels = map(self._kind, batch.learned.tolist())
        for i, (row, label) in enumerate(zip(self._rows(batch), labels, strict=True)):
            said = predict(row)
            told[i] = -1 if said is None else int(said)
            learn(row, label)
        return told


# Vowpal Wabbit


def vowpal_wabbit(arguments: str = "", **options: Any) -> Peer:
    """Vowpal Wabbit with arguments of its command line, `power_t=0.5` for `--power_t 0.5`."""
    words = [arguments, *(f"--{name} {value}" for name, value in options.items())]
    line = " ".join(word for word in words if word)
    return Peer("Vowpal Wabbit", f"vw {line}", {"arguments": line}, lambda k: _VW(line, k))


def _texts(batch: RaceBatch) -> list[str]:
    X = _csr(batch)
    columns, values, begins = X.indices.tolist(), X.data.tolist(), X.indptr.tolist()
    words = [f"{j}:{v:.9g}" for j, v in zip(columns, values, strict=True)]
    return [" ".join(words[a:b]) for a, b in itertools.pairwise(begins)]


_as_texts = _Once(_texts)


class _VW:
    """Lines of text, each predicted and learned in one call; weights have room without clashes."""

    def __init__(self, arguments: str, classes: int) -> None:
        self._arguments, self._classes = arguments, classes
        _module("vowpalwabbit", "vowpalwabbit")
        self._workspace: Any = None

    def _opened(self, columns: int) -> Any:
        many = self._classes > 2
        # A number is its own place in the table, so a table of that size has no clashes.
        least = 22 if "-q" in self._arguments else 18  # pairs share what room there is
        bits = max(least, math.ceil(math.log2((columns + 2) * (self._classes if many else 1))) + 1)
        task = f"--oaa {self._classes}" if many else "--binary"
        line = f"--quiet --bit_precision {bits} {task} {self._arguments}"
        return importlib.import_module("vowpalwabbit").Workspace(line)

    def step(self, batch: RaceBatch) -> Array:
        if self._workspace is None:
            self._workspace = self._opened(batch.n_columns)
        workspace, many = self._workspace, self._classes > 2
        told = np.empty(len(batch.learned), np.int64)
        for i, (text, number) in enumerate(
            zip(_as_texts(batch), batch.learned.tolist(), strict=True)
        ):
            label = number + 1 if many else 2 * number - 1
            example = workspace.example(f"{label} | {text}")
            workspace.learn(example)  # what it predicts is from before this row
            if many:
                told[i] = example.get_multiclass_prediction() - 1
            else:
                told[i] = example.get_simplelabel_prediction() > 0
            workspace.finish_example(example)
        return told

    @property
    def own_error(self) -> float:
        """The progressive error as Vowpal Wabbit reports it."""
        return float(self._workspace.get_sum_loss() / self._workspace.get_weighted_examples())
