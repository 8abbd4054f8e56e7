"""Second-order learners, which know how sure they are of each weight: SOP, CW, AROW, SCW."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier, filled
from yarrow.base.combinations import Needs
from yarrow.base.hyperparameters import (
    HARD,
    Averaging,
    Covariance,
    FactorRank,
    caution,
    confidence,
    covariance,
    price,
)
from yarrow.base.probabilities import MarginProbabilities
from yarrow.base.rivals import CostSensitiveClassifier
from yarrow.data.arrays import Array
from yarrow.data.labels import order_of
from yarrow.errors import DataError, ParameterError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import choice, number

#: bytes that the full covariances of a model may take: 8 * features**2 for each score, and
#: 8 * (classes * features)**2 for a joint one
MOST_COVARIANCE_BYTES = 4 * 2**30

#: covariances that relate each two weights
WHOLE = ("full", "factored", "joint")

#: features up to which an export has a matrix of their covariances
MOST_EXPORTED = 2000


def covariance_parameters(covariance: str, rank: int) -> list[float]:
    """What that loop must know beside its rule."""
    parameters = {"full": [float(MOST_COVARIANCE_BYTES)], "factored": [float(rank)]}
    return parameters.get(covariance, [])


@estimator
class ConfidenceClassifier(MarginProbabilities, LinearClassifier):
    """Base of the confidence family."""

    family = "confidence"
    row_costs = "O(nnz); full covariance: O(features²)"
    expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_decision_proba_consistency": (
            "Phi(m/sqrt(v)) depends on how sure the model is of a row, not on its score alone"
        )
    }

    core_learner = "{covariance}"

    def _kind(self) -> _core.Learner:
        apart = getattr(self, "covariance", "") == "joint" and not self._is_joint
        return _core.Learner.full if apart else super()._kind()

    def _loop_parameters(self) -> list[float]:
        own = super()._loop_parameters()
        covariance = getattr(self, "covariance", "")
        if self._is_joint:
            return [float(MOST_COVARIANCE_BYTES), float(self.multiclass in ("topk", "all"))]
        covariance = "full" if covariance == "joint" else covariance
        return own or covariance_parameters(covariance, getattr(self, "rank", 0))

    @property
    def variance_(self) -> Array:
        """The variance of each weight, in the shape of `coef_`."""
        table: Array
        columns: list[int]
        if self._is_joint and self._columns_of_score() == 2:  # of a difference, never 0
            separate = self._by_score(self._fitted.plane(1)[0].T)[:, 1:]
            table = np.maximum(np.diag(self.covariance_)[None], 1e-15 * separate)
            return table
        table, columns = self._fitted.plane(1)
        return self._by_score(table.T[columns])[:, 1:]

    @property
    def covariance_(self) -> Array:
        """The covariance of the weights, features x features for each row of `coef_`.

        A joint one is a single matrix, over `coef_.ravel()`.
        """
        if getattr(self, "covariance", "diagonal") not in WHOLE:
            raise AttributeError("covariance_ needs covariance='full', 'factored' or 'joint'")
        model = self._fitted
        matrices = max(1, len(model.classes)) ** (2 if self._is_joint else 1)
        n_bytes = 8 * matrices * (model.n_features + 1) ** 2
        if n_bytes > MOST_COVARIANCE_BYTES:
            raise DataError(
                f"covariance_ of {model.n_features} features would take {n_bytes / 1e9:.1f} GB."
            )
        found = np.asarray(model.covariances())
        if not self._is_joint:
            return self._by_score(found)[:, 1:, 1:]
        order = self._class_table(len(found))[1]
        if len(order) > 2:
            parts = filled(found[order][:, order], order, np.nan)
            parts[:, order < 0] = np.nan
        else:  # coef_ is the second class's weights less those of the first
            signs = np.array([-1.0, 1.0])[: len(found)]
            parts = np.einsum("i,j,ijab->ab", signs, signs, found)[None, None]
        return np.block([[part[1:, 1:] for part in row] for row in parts])

    @property
    def _is_joint(self) -> bool:
        return getattr(self, "covariance", "") == "joint" and self.multiclass != "ovr"

    def _own_covariances(self, order: Array) -> Array:
        """By scores, those that probabilities know of: of each class by itself."""
        found = np.asarray(self._fitted.covariances())
        if self._is_joint:
            found = found[np.arange(len(found)), np.arange(len(found))]
        return self._by_score(found, order)

    def _by_score(self, by_class: Array, order: Array | None = None) -> Array:
        """Variances of the classes by appearance, as those of the rows of `coef_`."""
        order = self._class_table(len(by_class))[1] if order is None else order
        if len(order) > 2:
            return filled(by_class[order], order, np.nan)
        return by_class.sum(axis=0, keepdims=True) if self.multiclass != "ovr" else by_class[:1]

    def _columns_of_score(self) -> int:
        """How many classes' variances that of a score holds."""
        return 2 if self.multiclass != "ovr" and len(self._fitted.classes) == 2 else 1

    def _score_variances(self) -> Array | None:
        """The variances of scores for an export, the intercept's first; or their covariances.

        None where these are too many to be written.
        """
        model, unit = self._fitted, self._constant
        order = order_of(model.classes)  # without those that were only declared
        if getattr(self, "covariance", "") not in WHOLE:
            table, columns = model.plane(1)
            variances = np.array(self._by_score(table.T[columns], order), dtype=np.float64)
            variances[:, 0] *= unit * unit
            return variances
        if model.n_features > MOST_EXPORTED:
            return None
        matrices = np.array(self._own_covariances(order), np.float64)
        matrices[:, 0, :] *= unit
        matrices[:, :, 0] *= unit
        return matrices

    def predict_drawn(self, X: Any, random_state: int = 0) -> Array:
        """The classes by weights drawn from N(mu, Sigma) anew for each row, not by their mean.

        This is how the papers define the classifier, before they turn to the mean, which is right
        more often; a drawn w explores. The same seed gives the same classes.
        """
        if self._is_joint:
            raise ParameterError("predict_drawn draws each class by itself: not with 'joint'.")
        scores, variances = self._scores(X)
        random = np.random.default_rng(random_state)
        noise = np.asarray(random.standard_normal(scores.shape))
        if scores.shape[1] == 2 and self.multiclass == "ovr":  # one weight vector, two signs
            noise[:, 0] = -noise[:, 1]
        return self._predicted(scores + np.sqrt(variances) * noise)


class _Quantile:
    """A probability asked for, and what its rule makes of it."""

    eta: float

    @property
    def phi(self) -> float:
        """The normal quantile of `eta`."""
        from statistics import NormalDist

        return NormalDist().inv_cdf(self.eta)


@estimator
class SOPClassifier(ConfidenceClassifier):
    """The second-order Perceptron (Cesa-Bianchi, Conconi & Gentile 2005).

    A Perceptron on rows whitened by the correlations of past mistakes, the row itself included.

    Use it to study the step from first to second order. Instead: `AROWClassifier`.
    """

    a: float = number(
        default=1.0, doc="Weight of the identity in the correlation matrix.", above=0, at_most=1e30
    )
    covariance: Covariance = covariance("diagonal", "full", only="Of the correlation matrix")

    is_exportable = False

    def _kind(self) -> _core.Learner:
        whitened = {"diagonal": _core.Learner.whitened, "full": _core.Learner.full_row_inside}
        return whitened[self.covariance]

    core_rule = "second_order_perceptron"

    def _initial_variance(self) -> float:
        return 1.0 / self.a


@estimator
class CWClassifier(_Quantile, Averaging, FactorRank, ConfidenceClassifier):
    """Confidence-weighted learning (Dredze et al. 2008; Crammer et al. 2008).

    It makes the smallest change of a Gaussian over weights that classifies the row right with
    probability `eta`.

    Use it on clean, high-dimensional text; the variance form also follows drift. Instead:
    `AROWClassifier` where labels are noisy, since every row is fitted whatever it costs, and
    probabilities then say little.
    """

    class_weight_fails = HARD

    eta: float = confidence()
    variant: Literal["variance", "stdev"] = choice(
        default="stdev",
        options=("variance", "stdev"),
        doc="The margin is measured against its variance (2008a) or standard deviation (2008b).",
    )
    covariance: Covariance = covariance("diagonal", "projected", "full", "factored")

    def _rule(self) -> _core.Rule:
        return {"variance": rules.cw_variance, "stdev": rules.cw_deviation}[self.variant]


@estimator
class AROWClassifier(Averaging, FactorRank, CostSensitiveClassifier, ConfidenceClassifier):
    """Adaptive regularization of weights (Crammer, Kulesza & Dredze 2013).

    Use it first: second-order speed of learning, and one mislabelled row cannot spoil it.
    Instead: `CWClassifier` on clean labels; `ForgettingAROWClassifier` under drift, since here
    confidence only grows; `RDAClassifier` for few weights.
    A sample weight divides r. The squared loss also pulls back margins above 1: recursive least
    squares on labels -1 and +1.
    With up to a few thousand correlated features, try `covariance="full"`; with more, "factored".
    With many classes "full" keeps a matrix a class. "joint" is the paper's own form: one over the
    weights of all classes, 8 (classes * features)² bytes, at most 4 GB; with `multiclass="ovr"`,
    whose problems are apart, it is "full". Probabilities take its classes for independent.

    The paper's objective (3) has two prices, of the loss and of the variance; it sets both to
    1/(2r). With `confidence_r` that of the variance is 1/(2 confidence_r): larger keeps the steps
    of the mean, and lets confidence grow more slowly.
    """

    r: float = caution()
    covariance: Covariance = covariance("diagonal", "projected", "full", "factored", "joint")
    loss: Literal["squared_hinge", "hinge", "squared"] = choice(
        default="squared_hinge",
        options=("squared_hinge", "hinge", "squared"),
        doc="What a margin below 1 costs; squared: also one above.",
    )
    confidence_r: float | None = number(
        default=None, doc="How little one row may add to the confidence; None: r.", above=0
    )

    restrictions: ClassVar[tuple[Needs, ...]] = (
        *CostSensitiveClassifier.restrictions,
        Needs("multiclass", ("topk", "all"), "loss", ("squared_hinge",)),
    )

    def _rule(self) -> _core.Rule:
        form = {"squared_hinge": "arow", "hinge": "arow_hinge", "squared": "arow_squared"}
        name = form[self.loss] + ("" if self.confidence_r is None else "_two_prices")
        rule: _core.Rule = getattr(rules, name)
        return rule


@estimator
class SCWClassifier(_Quantile, Averaging, FactorRank, ConfidenceClassifier):
    """Soft confidence-weighted learning (Wang, Zhao & Hoi 2012): CW that may leave a row unfitted.

    Use it where CW is too eager and AROW too slow. Instead: `AROWClassifier` on noisy labels.
    A sample weight multiplies C.
    """

    C: float = price()
    eta: float = confidence()
    variant: Literal["scw1", "scw2"] = choice(
        default="scw1", options=("scw1", "scw2"), doc="Slack priced C*xi or C*xi**2."
    )
    covariance: Covariance = covariance("diagonal", "projected", "full", "factored")

    core_rule = "{variant}"
