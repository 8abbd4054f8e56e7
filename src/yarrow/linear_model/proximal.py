"""Sparse learners: a gradient step, then a pull of every weight towards zero, paid lazily."""

from __future__ import annotations

from typing import ClassVar

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import (
    Loss,
    RegressionLoss,
    error_margin,
    first_step,
    l1_strength,
    l2_strength,
    loss,
    regression_loss,
    step_power,
)
from yarrow.base.probabilities import LogisticProbabilities
from yarrow.base.regressor import LinearRegressor
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.parameters import number


class ProximalClassifier(LogisticProbabilities, LinearClassifier):
    """A classifier whose pull makes the weights; its rule gives gradients or steps."""

    family = "proximal"
    example: ClassVar[str] = """>>> model = {name}(l1=0.01)
>>> for _ in range(20):
...     model.learn_one({{"rain": 1, "monday": 0.01}}, "wet")
...     model.learn_one({{"sun": 1}}, "dry")
>>> [name for name, weight in model.top_features() if weight]
['rain', 'sun']"""
    #: the pull works on gradients and has rates of its own
    takes_gradients = False
    loss: Loss

    def _rule(self) -> _core.Rule:
        kind = "dual" if self.takes_gradients else "descent"
        rule: _core.Rule = getattr(rules, f"{kind}_{self.loss}")
        return rule


class ProximalRegressor(LinearRegressor):
    """The same for a regression: an epsilon-insensitive error is a hinge at its margin."""

    family = "proximal"
    #: the pull works on gradients and has rates of its own
    takes_gradients = False
    loss: RegressionLoss
    epsilon: float

    def _rule(self) -> _core.Rule:
        if self.takes_gradients:
            return rules.dual_squared if self.loss == "squared" else rules.dual_hinge
        return rules.descent_squared if self.loss == "squared" else rules.descent_hinge

    def _epsilon(self) -> float:
        return 0.0 if self.loss == "squared" else self.epsilon


class _Fobos:
    """The pull of FOBOS: L1 alone has a loop of its own, which is faster."""

    l1: float
    l2: float
    eta0: float
    power: float

    def _kind(self) -> _core.Learner:
        return _core.Learner.elastic_net if self.l2 > 0 else _core.Learner.soft_threshold

    loop_settings: ClassVar[tuple[str, ...]] = ("l1", "eta0", "power", "l2")


@estimator
class FOBOSClassifier(_Fobos, ProximalClassifier):
    """SG-L1, also known as FOBOS (Duchi & Singer 2009), with L1, L2 or both (elastic net).

    After each gradient step every weight moves towards zero by the step's size times `l1`, stops
    there, and is divided by 1 + step size * `l2`. The intercept is not pulled. A sample weight
    multiplies the gradient.

    Use it for a small model out of many features. Instead: `RDAClassifier`, which keeps fewer
    weights at the same accuracy; `SGFTClassifier` where features differ much in frequency;
    `AROWClassifier` where size does not matter.
    """

    l1: float = l1_strength()
    loss: Loss = loss()
    eta0: float = first_step()
    power: float = step_power()
    l2: float = l2_strength()


@estimator
class FOBOSRegressor(_Fobos, ProximalRegressor):
    """FOBOS (Duchi & Singer 2009) for a regression, with L1, L2 or both.

    Use it on scaled features of which few matter. Instead: `OGDRegressor` where all do. A sample
    weight multiplies the gradient.

    >>> model = FOBOSRegressor(l1=0.01, eta0=0.3, power=0.0)
    >>> for _ in range(50):
    ...     model.learn_one({"x": 1.0, "noise": 0.001}, 3.0)
    >>> round(model.predict_one({"x": 1.0}), 1), model.n_nonzero_
    (3.0, 1)
    """

    l1: float = l1_strength()
    loss: RegressionLoss = regression_loss()
    epsilon: float = error_margin()
    eta0: float = first_step(0.01)
    power: float = step_power(0.25)
    l2: float = l2_strength()


@estimator
class CumulativePenaltyClassifier(ProximalClassifier):
    """SG-L1 with the cumulative penalty of Tsuruoka, Tsujii & Ananiadou (2009).

    A weight that stopped at zero still owes the rest of its penalties, so that no single row makes
    it leave zero: sparser than `FOBOSClassifier` and less a matter of the last rows. The penalty
    that the paper applies at a feature's next row is applied to what is predicted, too. The
    intercept is not pulled. A sample weight multiplies the gradient.

    Use it for the smallest models that plain gradient steps give. Instead: `RDAClassifier`, whose
    steps do not shrink; `SGFTClassifier(cumulative=True)` where features differ in frequency.
    """

    l1: float = l1_strength()
    loss: Loss = loss()
    eta0: float = first_step()
    power: float = step_power()

    core_learner = "cumulative_penalty"
    loop_settings = ("l1", "eta0", "power")


class _DualAveraging:
    """The pull of RDA."""

    takes_gradients = True
    l1: float
    gamma: float
    rho: float
    l2: float

    core_learner = "dual_averaging"

    def _loop_parameters(self) -> list[float]:
        if self.gamma == 0 and self.l2 == 0:
            raise ParameterError("The 'gamma' parameter must be > 0 where 'l2' is 0.")
        return [self.l1, self.gamma, self.rho, self.l2]


GAMMA = "Strength of the L2 term that fades, gamma/sqrt(t); larger for smaller steps."
RHO = "More L1 at first, gamma*rho/sqrt(t): the enhanced form."
DUAL_L2 = "Strength of an L2 term that stays; with it gamma may be 0."


@estimator
class RDAClassifier(_DualAveraging, ProximalClassifier):
    """Regularised dual averaging (Xiao 2010) with L1; enhanced, or strongly convex.

    Weights are made from the average of all gradients, cut off at `l1`, and with `rho` a little
    above it at first. `l2` makes the regularizer strongly convex: with `gamma=0` the regret falls
    as log(t)/t. The intercept is not cut, but the L2 terms hold it. A sample weight multiplies
    the gradient.

    Use it for the smallest models. Instead: `FrequencyRDAClassifier` or `FOBOSClassifier` where
    rare features must survive.
    """

    l1: float = number(
        default=1e-5, doc="Average gradients up to this give the weight zero.", at_least=0
    )
    gamma: float = number(default=1.0, doc=GAMMA, at_least=0)
    loss: Loss = loss()
    rho: float = number(default=0.0, doc=RHO, at_least=0)
    l2: float = number(default=0.0, doc=DUAL_L2, at_least=0)


@estimator
class RDARegressor(_DualAveraging, ProximalRegressor):
    """Regularised dual averaging (Xiao 2010) for a regression.

    Use it for the smallest models on scaled features; a `gamma` that is too small makes it swing.
    Instead: `FTRLRegressor`, whose steps fit each feature. A sample weight multiplies the gradient.

    >>> model = RDARegressor(l1=0.01, gamma=2.0)
    >>> for _ in range(200):
    ...     model.learn_one({"x": 1.0, "noise": 0.001}, 3.0)
    >>> round(model.predict_one({"x": 1.0})), model.n_nonzero_
    (3, 1)
    """

    l1: float = number(
        default=1e-5, doc="Average gradients up to this give the weight zero.", at_least=0
    )
    gamma: float = number(default=10.0, doc=GAMMA, at_least=0)
    loss: RegressionLoss = regression_loss()
    epsilon: float = error_margin()
    rho: float = number(default=0.0, doc=RHO, at_least=0)
    l2: float = number(default=0.0, doc=DUAL_L2, at_least=0)
