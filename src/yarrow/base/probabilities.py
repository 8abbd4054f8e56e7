"""Probabilities: of log odds, or of margins in units of their deviation."""

from __future__ import annotations

from typing import Any

from yarrow import _core
from yarrow.base.hyperparameters import n_threads
from yarrow.data.arrays import Array, Rows, feature_names
from yarrow.data.draws import normalised
from yarrow.data.frames import frame_like
from yarrow.estimator import ClassifierMixin
from yarrow.io.row_reader import row_to_predict, rows_for
from yarrow.lazy import np
from yarrow.online.progressive import CoreModel, CoreResult

#: of what the classes behind the best one share, the part that goes to all of them alike
EQUAL_SHARE = 0.02


class Probabilities:
    """predict_proba and its kin, from the probabilities that `_probabilities` makes of scores."""

    def _probabilities(self, scores: Array, variances: Array, calibration: Any = None) -> Array:
        """From the calibration of now, or of each row: two columns."""
        raise NotImplementedError

    def _told_probabilities(self) -> dict[str, Any] | None:
        """The same for exports: `saving/scorer.py` reads it."""
        raise NotImplementedError

    def _row_probabilities(self: Any, model: CoreModel, rows: Rows, names: list[Any]) -> Array:
        """Of rows, from the calibration of now: a column a class in the order of appearance."""
        return self._probabilities(*self._score_rows(model, rows, names))  # type: ignore[no-any-return]

    def predict_proba(self: Any, X: Any) -> Array:
        """Probabilities, a column a class in the order of `classes_`."""
        model = self._fitted
        return self._in_class_order(self._row_probabilities(model, *self._read(X)), 0.0)  # type: ignore[no-any-return]

    def predict_proba_one(self: Any, x: dict[Any, Any]) -> dict[Any, float]:
        """The probability of each class seen."""
        model = self.__dict__.get("_model")
        if model is None:
            return {}
        scores, variances = model.score_one(row_to_predict(self, model, x))
        row = self._probabilities(np.array([scores]), np.array([variances]))[0]
        return dict(zip(model.classes, row.tolist(), strict=False))

    def predict_proba_many(self: Any, X: Any) -> Any:
        """Probabilities as a data frame of the same library, a column a class."""
        model = self.__dict__.get("_model")
        if model is None:
            return frame_like(X, {})
        rows = rows_for(self, X, by_core=True)
        names: list[Any] = feature_names(X, rows)
        table = self._row_probabilities(model, rows, names)
        return frame_like(X, zip(model.classes, table.T, strict=False))


class SometimesProbabilities:
    """predict_proba and its kin that are absent where `_lacks_probabilities` says why."""

    def _lacks_probabilities(self) -> str | None:
        raise NotImplementedError

    def __getattribute__(self: Any, name: str) -> Any:
        # scikit-learn asks for the attribute, river calls the method and waits for its refusal.
        if name.startswith("predict_proba") and (why := self._lacks_probabilities()):
            if name == "predict_proba":
                raise AttributeError(why)
            return getattr(ClassifierMixin, name).__get__(self)
        return super().__getattribute__(name)


class LogisticProbabilities(SometimesProbabilities, Probabilities):
    """predict_proba for `loss='logistic'`, whose scores are log odds; absent for other losses."""

    def _lacks_probabilities(self: Any) -> str | None:
        there = self.loss == "logistic"
        return None if there else "predict_proba is there for loss='logistic' only"

    def _probabilities(
        self: Any, scores: Array, variances: Array, calibration: Any = None
    ) -> Array:
        if scores.shape[1] <= 2 and self.multiclass == "ovr":
            positive = scores[:, -1:] if scores.shape[1] == 2 else np.full_like(scores, np.inf)
            second = 0.5 * (1 + np.tanh(0.5 * positive))
            return np.hstack([1 - second, second]) if scores.shape[1] == 2 else second
        if self.multiclass == "top1":
            shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
            return normalised(shifted)
        return normalised(0.5 * (1 + np.tanh(0.5 * scores)))

    def _told_probabilities(self: Any) -> dict[str, Any] | None:
        if self.loss != "logistic":
            return None
        is_joint = self.multiclass == "top1" or len(self._fitted.classes) <= 2
        return {"kind": "softmax" if is_joint else "logistic"}


class MarginProbabilities(Probabilities):
    """Probabilities from margins in units of their deviation."""

    multiclass: Any
    n_jobs: Any
    _fitted: Any
    _by_margin = True  #: and not by a posterior of the method's own

    def _row_probabilities(self: Any, model: CoreModel, rows: Rows, names: list[Any]) -> Array:
        found = None
        if self._by_margin:
            found = rows.given_to(model.predict_two_classes, names, n_threads(self.n_jobs))
        return super()._row_probabilities(model, rows, names) if found is None else found

    def _probabilities(self, scores: Array, variances: Array, calibration: Any = None) -> Array:
        """The Gaussian margin m/sqrt(v) as a probability, calibrated online.

        With many classes it is that of the best class against the second; the others share the
        rest by their distance to the best, and none gets more than the best.
        """
        n_classes = scores.shape[1]
        if n_classes == 1:
            return np.ones_like(scores)
        now = self._fitted.calibration if calibration is None else calibration
        if n_classes == 2:
            each = np.ascontiguousarray(np.broadcast_to(now, (len(scores), 2)), dtype=np.float64)
            ovr = self.multiclass == "ovr"
            return np.asarray(_core.two_classes(scores, variances, each, mirrored=ovr))
        from scipy.special import softmax

        rows = np.arange(len(scores))
        order = np.argsort(-scores, axis=1, kind="stable")
        best, second = order[:, 0], order[:, 1]
        margin = scores[rows, best] - scores[rows, second]
        variance = variances[rows, best] + variances[rows, second]
        deviation = np.sqrt(variance)
        top = _confidence(margin, deviation, now, n_classes)
        behind = scores - scores[rows, best][:, None]
        behind[rows, best] = -np.inf
        unit = np.where(deviation > 0, deviation, 1.0)[:, None]
        scale = np.broadcast_to(now, (len(scores), 2))[:, :1]
        share = softmax(scale * behind / unit, axis=1)
        # Mixed with equal shares: a little, since the order of those behind errs as well, and
        # as far as it takes to keep the best class on top.
        equal = 1.0 / (n_classes - 1)
        room = np.divide(top, 1 - top, out=np.full_like(top, np.inf), where=top < 1) - equal
        room = np.maximum(room, 0)
        excess = share.max(axis=1) - equal
        mix = np.divide(room, excess, out=np.ones_like(room), where=excess > room)[:, None]
        mix *= 1 - EQUAL_SHARE
        probabilities = (1 - top)[:, None] * (mix * share + (1 - mix) * equal)
        # A little above chance, so that a tie does not change the predicted class.
        probabilities[rows, best] = np.maximum(top, 1.0 / n_classes * (1 + 1e-9))
        return normalised(probabilities)

    def _told_probabilities(self) -> dict[str, Any] | None:
        scale, lapse = (float(number) for number in self._fitted.calibration)
        return {"kind": "margin", "scale": scale, "lapse": lapse, "equal_share": EQUAL_SHARE}


def _confidence(margin: Array, deviation: Array, calibration: Any, n_classes: int) -> Array:
    """How likely the best class is, by its margin over the second, from chance on."""
    from scipy.special import erf

    scale, lapse = np.asarray(calibration).T
    # A mask takes as long as the rest.
    where: Any = {} if deviation.all() else {"out": np.zeros_like(margin), "where": deviation > 0}
    likely: Array = np.divide(margin, deviation, **where)
    chance = 1.0 / n_classes
    likely *= scale
    likely /= np.sqrt(2)
    erf(likely, out=likely)
    likely *= 1 - lapse - chance
    likely += chance
    return likely


def probabilities_then(model: Any, found: CoreResult) -> Array:
    """The probabilities of each row at its time: of the classes, and as calibrated, then."""
    likely = np.full(found.scores.shape, np.nan)
    known = np.count_nonzero(~np.isnan(found.scores), axis=1)
    for n in np.unique(known[known > 0]).tolist():
        rows = np.flatnonzero(known == n)
        parts = found.scores[rows, :n], found.variances[rows, :n], found.calibrations[rows]
        likely[rows, :n] = model._probabilities(*parts)
    return likely
