"""How one entrant runs: it predicts the rows of a block and learns them, and keeps its account."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from yarrow.compare.comparison import Outcome
from yarrow.compare.race_batch import Classes, RaceBatch
from yarrow.compare.race_learners import Baseline, run_of
from yarrow.data.arrays import Array
from yarrow.errors import YarrowError
from yarrow.evaluate.curves import curve_of, error_of
from yarrow.lazy import np

#: of more classes no confusion matrix is kept
MOST_CLASSES = 200


class Entrant(NamedTuple):
    """A fresh estimator that takes part in a race under a name that no other has."""

    name: str
    model: Any


#: what makes a learner take rows in another form, such as scaled; it is described as it was
Ready = Callable[[Any], Any]


def as_it_is(model: Any) -> Any:
    """The learner itself."""
    return model


class EntrantRun:
    """One entrant's run. A failure ends it, and only it."""

    def __init__(
        self,
        entrant: Entrant,
        classes: Classes | None,
        known: list[Any] | None,
        ready: Ready = as_it_is,
    ) -> None:
        self.outcome = Outcome(entrant.name, **described(entrant.model))
        self.classes = classes
        self._wrong: list[Array] = []
        self._counts = np.zeros((0, 0), np.int64)
        self._first_pass: Array | None = None
        self._next_look = 1
        self.run: Any = None
        try:
            self.run = run_of(ready(entrant.model), classes, known)
        except (YarrowError, ValueError, TypeError) as error:
            self._fail(error)

    @property
    def failed(self) -> bool:
        """Whether it is out."""
        return self.outcome.failure is not None

    def step(self, batch: RaceBatch) -> None:
        """Predict and learn a block."""
        if self.failed:
            return
        # Time on a core: by the clock, one would pay for the others that run beside it.
        started = time.thread_time()
        try:
            predictions = self.run.step(batch)
        except MemoryError:
            return self._fail(MemoryError("there is not enough memory"))
        except Exception as error:
            return self._fail(error)  # other libraries raise whatever they like
        finally:
            self.outcome.seconds += time.thread_time() - started
        self._account(batch, predictions)

    def _account(self, batch: RaceBatch, predictions: Array) -> None:
        truth, counts = batch.truth_numbers, batch.counts
        if not counts.all():
            predictions, truth = predictions[counts], truth[counts]
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
