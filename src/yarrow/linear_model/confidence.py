"""Second-order learners, which know how sure they are of each weight: SOP, CW, AROW, SCW."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import CalibratedProbabilities, LinearClassifier, normalised
from yarrow.base.combinations import Needs
from yarrow.base.rivals import CostSensitiveClassifier
from yarrow.data.arrays import Array
from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.linear_model.affine import AVERAGE
from yarrow.parameters import choice, flag, integer, number

COVARIANCE = "Diagonal of the precision or of the covariance; all of it; or factored by `rank`."
DIAGONAL_OR_FULL = (
    "Diagonal of the precision or of the covariance; or all of it (features**2 numbers a score)."
)
RANK = "With a factored covariance: the factors kept beside the diagonal."
#: of what the classes behind the best one share, the part that goes to all of them alike
EQUAL_SHARE = 0.02
#: bytes that the full covariances of a model may take: 8 * features**2 for each score
MOST_COVARIANCE_BYTES = 4 * 2**30


def normal_quantile(probability: float) -> float:
    """What a standard normal number stays below with this probability."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)


def confidence_loop(covariance: str) -> _core.Loop:
    """The loop that keeps a covariance of this kind."""
    return {
        "diagonal": _core.Loop.diagonal,
        "projected": _core.Loop.projected,
        "full": _core.Loop.full,
        "factored": _core.Loop.factored,
    }[covariance]


def covariance_parameters(covariance: str, rank: int) -> list[float]:
    """What that loop must know beside its rule."""
    parameters = {"full": [float(MOST_COVARIANCE_BYTES)], "factored": [float(rank)]}
    return parameters.get(covariance, [])


class MarginProbabilities(CalibratedProbabilities):
    """Probabilities from margins in units of their deviation."""

    multiclass: Any
    _fitted: Any

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
            return self._of_two(scores, variances, now)
        from scipy.special import softmax

        rows = np.arange(len(scores))
        order = np.argsort(-scores, axis=1, kind="stable")
        best, second = order[:, 0], order[:, 1]
        margin = scores[rows, best] - scores[rows, second]
        variance = variances[rows, best] + variances[rows, second]
        deviation = np.sqrt(variance)
        top = _sure(margin, deviation, now, n_classes)
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
        probabilities[rows, best] = _above_chance(top, n_classes)
        return normalised(probabilities)

    def _of_two(self, scores: Array, variances: Array, calibration: Any) -> Array:
        """The same of two classes: nothing is to be put in order, nor shared."""
        if self.multiclass == "ovr":  # one margin, and its mirror image
            margin, variance = scores[:, 1], variances[:, 1]
        else:
            margin, variance = scores[:, 1] - scores[:, 0], variances[:, 1] + variances[:, 0]
        top = _sure(np.abs(margin), np.sqrt(variance), calibration, 2)
        best, rest = _above_chance(top, 2), 1 - top
        total = best + rest
        best /= total
        rest /= total
        probabilities = np.empty_like(scores)
        probabilities[:, 0] = np.where(margin > 0, rest, best)
        probabilities[:, 1] = np.where(margin > 0, best, rest)
        return probabilities


def _sure(margin: Array, deviation: Array, calibration: Any, n_classes: int) -> Array:
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


def _above_chance(top: Array, n_classes: int) -> Array:
    """A little above, so that a tie does not change the predicted class."""
    least: Array = np.maximum(top, 1.0 / n_classes * (1 + 1e-9))
    return least


@estimator
class ConfidenceClassifier(MarginProbabilities, LinearClassifier):
    """Base of the confidence family."""

    family: ClassVar[str] = "confidence"
    row_costs: ClassVar[str] = "its values; full covariance: features²"
    can_average: ClassVar[bool] = True
    expected_failed_checks: ClassVar[dict[str, str]] = LinearClassifier.expected_failed_checks | {
        "check_decision_proba_consistency": (
            "Phi(m/sqrt(v)) depends on how sure the model is of a row, not on its score alone"
        )
    }

    def _loop(self) -> _core.Loop:
        return confidence_loop(getattr(self, "covariance", "diagonal"))

    def _loop_parameters(self) -> list[float]:
        covariance = getattr(self, "covariance", "diagonal")
        return covariance_parameters(covariance, getattr(self, "rank", 0))

    @property
    def variance_(self) -> Array:
        """The variance of each weight, in the shape of `coef_`."""
        table: Array
        columns: list[int]
        table, columns = self._fitted.plane(1)
        order = self._class_table(len(columns))[1]
        by_class = table.T[columns][order][:, 1:]
        if len(order) > 2:
            return by_class
        return by_class.sum(axis=0, keepdims=True) if self.multiclass != "ovr" else by_class[:1]

    @property
    def covariance_(self) -> Array:
        """The covariance of the weights, features x features for each row of `coef_`."""
        if getattr(self, "covariance", "diagonal") not in ("full", "factored"):
            raise AttributeError("covariance_ needs covariance='full' or 'factored'")
        model = self._fitted
        n_bytes = 8 * max(1, len(model.classes)) * (model.n_features + 1) ** 2
        if n_bytes > MOST_COVARIANCE_BYTES:
            raise DataError(
                f"covariance_ of {model.n_features} features would take {n_bytes / 1e9:.1f} GB."
            )
        by_class: Array = np.asarray(model.covariances())[:, 1:, 1:]
        order = self._class_table(len(by_class))[1]
        if len(order) > 2:
            return by_class[order]
        return by_class.sum(axis=0, keepdims=True) if self.multiclass == "top1" else by_class[:1]

    def predict_drawn(self, X: Any, random_state: int = 0) -> Array:
        """The classes by weights drawn from N(mu, Sigma) anew for each row, not by their mean.

        This is how the papers define the classifier, before they turn to the mean, which is right
        more often; a drawn w explores. The same seed gives the same classes.
        """
        scores, variances = self._scores(X)
        random = np.random.default_rng(random_state)
        noise = np.asarray(random.standard_normal(scores.shape))
        if scores.shape[1] == 2 and self.multiclass == "ovr":  # one weight vector, two signs
            noise[:, 0] = -noise[:, 1]
        return self._best_names(scores + np.sqrt(variances) * noise)


@estimator
class SOPClassifier(ConfidenceClassifier):
    """The second-order Perceptron (Cesa-Bianchi, Conconi & Gentile 2005).

    A Perceptron on rows whitened by the correlations of past mistakes, the row itself included.

    Use it to study the step from first to second order. Instead: `AROWClassifier`.

    >>> model = SOPClassifier()
    >>> model.learn_one({"cheap": 1}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"lunch": 1})
    'ham'
    """

    a: float = number(default=1.0, doc="Weight of the identity in the correlation matrix.", above=0)
    covariance: Literal["diagonal", "full"] = choice(
        default="diagonal",
        options=("diagonal", "full"),
        doc="Diagonal of the correlation matrix, or all of it.",
    )

    can_average: ClassVar[bool] = False  # its weights are made anew for each row
    is_exportable: ClassVar[bool] = False

    def _loop(self) -> _core.Loop:
        whitened = {"diagonal": _core.Loop.whitened, "full": _core.Loop.full_row_inside}
        return whitened[self.covariance]

    def _rule(self) -> _core.Rule:
        return rules.second_order_perceptron

    def _initial_variance(self) -> float:
        return 1.0 / self.a


@estimator
class CWClassifier(ConfidenceClassifier):
    """Confidence-weighted learning (Dredze et al. 2008; Crammer et al. 2008).

    It makes the smallest change of a Gaussian over weights that classifies the row right with
    probability `eta`.

    Use it on clean, high-dimensional text; the variance form also follows drift. Instead:
    `AROWClassifier` where labels are noisy, since every row is fitted whatever it costs.

    >>> model = CWClassifier()
    >>> model.learn_one({"cheap": 1}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"lunch": 1})
    'ham'
    """

    expected_failed_checks: ClassVar[dict[str, str]] = (
        ConfidenceClassifier.expected_failed_checks
        | {"check_class_weight_classifiers": "a hard constraint has no price that a weight scales"}
    )

    eta: float = number(default=0.9, doc="Confidence asked for.", above=0.5, below=1)
    variant: Literal["variance", "stdev"] = choice(
        default="stdev",
        options=("variance", "stdev"),
        doc="The margin is measured against its variance (2008a) or standard deviation (2008b).",
    )
    covariance: Literal["diagonal", "projected", "full", "factored"] = choice(
        default="diagonal", options=("diagonal", "projected", "full", "factored"), doc=COVARIANCE
    )
    _: dataclasses.KW_ONLY
    rank: int = integer(default=10, doc=RANK, at_least=1, at_most=256)
    average: bool = flag(default=False, doc=AVERAGE)

    @property
    def phi(self) -> float:
        """The normal quantile of `eta`."""
        return normal_quantile(self.eta)

    def _rule(self) -> _core.Rule:
        return {"variance": rules.cw_variance, "stdev": rules.cw_deviation}[self.variant]


@estimator
class AROWClassifier(CostSensitiveClassifier, ConfidenceClassifier):
    """Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2013).

    Use it first: second-order speed of learning, and one mislabelled row cannot spoil it.
    Instead: `CWClassifier` on clean labels; `ForgettingAROWClassifier` under drift, since here
    confidence only grows; `RDAClassifier` for few weights.
    A sample weight divides r. The squared loss also pulls back margins above 1: recursive least
    squares on labels -1 and +1.
    With up to a few thousand correlated features, try `covariance="full"`; with more, "factored".

    >>> model = AROWClassifier()
    >>> model.learn_one({"cheap": 1, "pills": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"pills": 1})
    'spam'
    """

    r: float = number(
        default=1.0, doc="How little one row may change; larger for noisier labels.", above=0
    )
    covariance: Literal["diagonal", "projected", "full", "factored"] = choice(
        default="diagonal", options=("diagonal", "projected", "full", "factored"), doc=COVARIANCE
    )
    loss: Literal["squared_hinge", "hinge", "squared"] = choice(
        default="squared_hinge",
        options=("squared_hinge", "hinge", "squared"),
        doc="What a margin below 1 costs; squared: also one above.",
    )
    _: dataclasses.KW_ONLY
    rank: int = integer(default=10, doc=RANK, at_least=1, at_most=256)
    average: bool = flag(default=False, doc=AVERAGE)

    restrictions: ClassVar[tuple[Needs, ...]] = (
        *CostSensitiveClassifier.restrictions,
        Needs("multiclass", ("topk", "all"), "loss", ("squared_hinge",)),
    )

    def _rule(self) -> _core.Rule:
        return {
            "squared_hinge": rules.arow,
            "hinge": rules.arow_hinge,
            "squared": rules.arow_squared,
        }[self.loss]


@estimator
class SCWClassifier(ConfidenceClassifier):
    """Soft confidence-weighted learning (Wang, Zhao & Hoi 2012): CW that may leave a row unfitted.

    Use it where CW is too eager and AROW too slow. Instead: `AROWClassifier` on noisy labels.
    A sample weight multiplies C.

    >>> model = SCWClassifier()
    >>> model.learn_one({"cheap": 1}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"lunch": 1})
    'ham'
    """

    C: float = number(
        default=1.0, doc="Price of a row that keeps a loss; small is cautious.", above=0
    )
    eta: float = number(default=0.9, doc="Confidence asked for.", above=0.5, below=1)
    variant: Literal["scw1", "scw2"] = choice(
        default="scw1", options=("scw1", "scw2"), doc="Slack priced C*xi or C*xi**2."
    )
    covariance: Literal["diagonal", "projected", "full", "factored"] = choice(
        default="diagonal", options=("diagonal", "projected", "full", "factored"), doc=COVARIANCE
    )
    _: dataclasses.KW_ONLY
    rank: int = integer(default=10, doc=RANK, at_least=1, at_most=256)
    average: bool = flag(default=False, doc=AVERAGE)

    @property
    def phi(self) -> float:
        """The normal quantile of `eta`."""
        return normal_quantile(self.eta)

    def _rule(self) -> _core.Rule:
        return {"scw1": rules.scw1, "scw2": rules.scw2}[self.variant]
