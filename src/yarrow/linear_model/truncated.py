"""Sparsity by truncation every few rows (Langford, Li & Zhang 2009)."""

from __future__ import annotations

import math

from yarrow.base.hyperparameters import Loss, first_step, l1_strength, loss, step_power
from yarrow.estimator import estimator
from yarrow.linear_model.proximal import ProximalClassifier
from yarrow.parameters import integer, number


@estimator
class TruncatedGradientClassifier(ProximalClassifier):
    """Truncated gradient (Langford, Li & Zhang 2009).

    After each gradient step, every `every` rows, weights of size at most `theta` move towards zero
    by step size * `every` * `gravity` and stop there; larger weights are left alone. The intercept
    is not pulled. A sample weight multiplies the gradient.

    Use it where large weights must not be pulled. Instead: `FOBOSClassifier`, which is the same
    with theta=inf and every=1.

    >>> model = TruncatedGradientClassifier(gravity=0.01, theta=0.5, every=10)
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1, "monday": 0.01}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> [name for name, weight in model.top_features() if weight]
    ['rain', 'sun']
    """

    gravity: float = l1_strength()
    theta: float = number(
        default=math.inf, doc="Weights larger than this are not pulled.", above=0, or_infinite=True
    )
    every: int = integer(default=10, doc="Rows from one truncation to the next.", at_least=1)
    loss: Loss = loss()
    eta0: float = first_step()
    power: float = step_power()

    core_learner = "truncated_gradient"
    loop_settings = ("gravity", "eta0", "power", "theta", "every")


@estimator
class CoefficientRoundingClassifier(ProximalClassifier):
    """Simple coefficient rounding (Langford, Li & Zhang 2009): small weights become zero at times.

    After each gradient step, every `every` rows, weights of size at most `theta` become zero. The
    intercept is not rounded. A sample weight multiplies the gradient.

    Use it as the baseline that the truncated gradient improves on: if `every` is too small, no
    weight ever leaves zero, if it is too large, many that mean nothing stay. Instead:
    `TruncatedGradientClassifier`.

    >>> model = CoefficientRoundingClassifier(theta=0.05, every=10)
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1, "monday": 0.01}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> [name for name, weight in model.top_features() if weight]
    ['rain', 'sun']
    """

    theta: float = number(default=1e-3, doc="Weights up to this are rounded to zero.", at_least=0)
    every: int = integer(default=1000, doc="Rows from one rounding to the next.", at_least=1)
    loss: Loss = loss()
    eta0: float = first_step()
    power: float = step_power()

    core_learner = "randomized_rounding"
    loop_settings = ("theta", "every")
