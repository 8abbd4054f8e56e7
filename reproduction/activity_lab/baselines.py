"""What the recogniser is compared with: a batch learner, regular expressions, and nothing."""

from __future__ import annotations

import dataclasses
import math
import re
import time
from typing import TYPE_CHECKING, Literal

from yarrow.activity.log.entries import Confirm, Correct, Create, Declare, Entry, Event
from yarrow.activity.model.explain import Alarm
from yarrow.activity.model.features import SCALE
from yarrow.activity.model.history import Diary
from yarrow.activity.model.learning import FIRST_WEIGHTS, Example, Weights
from yarrow.activity.model.vectors import InformationVector, VectorBuilder
from yarrow.activity.sources.categories import Categories, Category
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAY = 86400.0
_NEWTON_STEPS = 50
Solver = Literal["liblinear", "libsvm"]
SOLVERS: tuple[Solver, ...] = ("liblinear", "libsvm")


@dataclasses.dataclass
class BatchLargeMargin:
    """The batch learner of Shen & Dietterich (2009): all examples again after each feedback.

    Each example gives a positive row Z and a negative row -Z, and a linear support vector machine
    without an intercept is fitted to all of them. `solver` is scikit-learn's LIBLINEAR (squared
    hinge, as in 5.27) or its LIBSVM with the linear kernel, which the paper used (hinge).
    `retrain="daily"` is kinder: it fits once a day. C is for features of about 1, before they are
    scaled for Lemma 5.1; it was tuned like the recogniser. `scale` is what its features were
    multiplied with. With `first_weights` it is drawn to those that the recogniser begins with,
    instead of zero: the squared hinge loss of all examples and |w - w_1|^2/2.
    """

    C: float = 0.01
    retrain: Literal["always", "daily"] = "always"
    solver: Solver = "liblinear"
    tolerance: float = 1e-3
    first_weights: bool = False
    scale: float = SCALE
    fits: int = 0
    fit_seconds: float = 0.0
    examples: list[NDArray[np.float64]] = dataclasses.field(default_factory=list)
    _fitted_at: float = 0.0
    _last: NDArray[np.float64] | None = None

    def learn(self, weights: Weights, example: Example, importance: float = 1.0) -> None:
        """Keep the example, and fit all examples if it is time."""
        self.examples.append(example.features / self.scale)
        if self.retrain == "always" or example.time >= self._fitted_at + DAY:
            self._fitted_at = example.time
            weights.features = self.fit() / self.scale

    def fit(self) -> NDArray[np.float64]:
        """Return the weights for all examples so far."""
        from sklearn.svm import SVC, LinearSVC

        started = time.process_time()
        positive = np.array(self.examples)
        if self.first_weights:
            coefficients = self._fit_near_first_weights(positive)
            self.fits += 1
            self.fit_seconds += time.process_time() - started
            return coefficients
        rows = np.concatenate((positive, -positive))
        labels = np.repeat((1, -1), len(positive))
        if self.solver == "liblinear":
            machine = LinearSVC(
                C=self.C, tol=self.tolerance, dual=False, fit_intercept=False, max_iter=1000
            )
        else:
            machine = SVC(C=self.C, tol=self.tolerance, kernel="linear", cache_size=200)
        machine.fit(rows, labels)
        self.fits += 1
        self.fit_seconds += time.process_time() - started
        fitted: NDArray[np.float64] = machine.coef_[0].copy()
        return fitted

    def _fit_near_first_weights(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Newton's steps for |w - w_1|^2/2 + 2*C*sum(max(0, 1 - Z.w)^2), two rows an example.

        The loss is a parabola as long as the same examples are short of their margin.
        """
        first = np.array(FIRST_WEIGHTS) * SCALE
        w = first if self._last is None else self._last  # one more example changes little
        short = Z @ w < 1
        for _ in range(_NEWTON_STEPS):
            rows = Z[short]
            w = np.linalg.solve(
                np.eye(len(first)) + 4 * self.C * rows.T @ rows,
                first + 4 * self.C * rows.sum(axis=0),
            )
            before, short = short, Z @ w < 1
            if (before == short).all():
                break
        self._last = w
        return w.copy()


class RuleWatcher:
    """Alarms by regular expressions: rules for activities, made of the words of their names.

    That is what a user of ActivityWatch would write for "Review harbour budget": both words of the
    thing in the title, in any order. It alarms when for `patience` vectors in a row most of the
    time went to windows of one activity that is not declared. Without rules (`patience=None`) it
    never alarms: the activity is always the same as last.
    """

    def __init__(self, patience: int | None = 1, interval: float = 60.0) -> None:
        self.patience = patience
        self.declared: int | None = None
        self._builder = VectorBuilder(interval)
        self._categories = Categories()
        self._numbers: dict[str, int] = {}
        self._known: dict[str, int | None] = {}  # titles that were looked at before
        self._diary = Diary()
        self._row = (-1, 0)  # an activity, and how many vectors in a row it was seen
        self._alarms = 0

    def feed(self, entry: Entry) -> list[Alarm]:
        """Take the next entry of the log."""
        alarms = self.tick(entry.time)
        match entry:
            case Event():
                alarms += self._take(self._builder.tell(entry))
            case Create():
                self._write_rule(entry.activity, entry.name)
            case Declare():
                self._take(self._builder.cut(entry.time))
                self.declared, self._row = entry.activity, (-1, 0)
            case Correct():
                self.declared, self._row = entry.activity, (-1, 0)
                for line in self._diary.between(entry.since, math.inf):
                    self._diary.relabel(line, entry.activity, "corrected")
            case Confirm():
                self._row = (-1, 0)
        return alarms

    def tick(self, now: float) -> list[Alarm]:
        """Let time pass."""
        alarms: list[Alarm] = []
        while (vector := self._builder.due(now)) is not None:
            alarms += self._take(vector)
        return alarms

    def minutes(self) -> list[tuple[float, int]]:
        """When each information vector ended, and its activity."""
        return list(zip(self._diary.end, self._diary.activity, strict=True))

    def _write_rule(self, activity: int, name: str) -> None:
        one, *other = (re.escape(word) for word in name.split()[1:3])
        rule = "|".join(f"{one}.*{two}|{two}.*{one}" for two in other) or one
        self._categories.categories.append(Category((name,), re.compile(rule, re.IGNORECASE)))
        self._numbers[name] = activity
        self._known.clear()

    def _take(self, vector: InformationVector | None) -> list[Alarm]:
        if vector is None:
            return []
        declared = -1 if self.declared is None else self.declared
        best = self._category(vector)
        self._diary.add(vector.start, vector.end, declared, "declared", best, 1.0)
        self._row = (best, self._row[1] + 1 if best == self._row[0] else 1)
        if self.patience is None or best in (-1, self.declared) or self._row[1] != self.patience:
            return []
        self._alarms += 1
        since = self._diary.start[-self.patience]
        return [Alarm(self._alarms, vector.end, since, best, self.declared, 1.0, 1.0, ())]

    def _category(self, vector: InformationVector) -> int:
        """The activity of most of the time, -1 for none."""
        seconds: dict[int, float] = {}
        for resource, title in vector.titles.items():
            if title not in self._known:
                name = self._categories.of(title)
                self._known[title] = None if name is None else self._numbers[name[-1]]
            activity = self._known[title]
            spent = vector.active.get(resource, 0.0)
            number = -1 if activity is None else activity
            seconds[number] = seconds.get(number, 0.0) + spent
        return max(seconds, key=lambda number: seconds[number], default=-1)
