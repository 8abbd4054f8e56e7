"""Frequency-aware sparse learners: rare features are not cut before the others."""

from __future__ import annotations

from yarrow import _core
from yarrow.base.hyperparameters import Loss, first_step, l1_strength, loss, step_power
from yarrow.estimator import estimator
from yarrow.linear_model.proximal import ProximalClassifier
from yarrow.parameters import flag, number

NORM = "The norm that makes one number of a feature's steps: 1 spares rare ones most, inf least."
CAP = "The most that this number may be; counts for p <= 2 only."


@estimator
class SGFTClassifier(ProximalClassifier):
    """Subgradient method with frequency-aware truncation (Oiwa, Matsushima & Nakagawa 2011).

    As `FOBOSClassifier`, but the pull on a feature is multiplied by h, the p-norm of all the
    steps that losses have made on its weight. So features that are rare or of small values are
    kept or cut by what they are worth. `cumulative` makes a weight that stopped at zero owe what
    it could not pay (see `CumulativePenaltyClassifier`), by the latest h. The intercept is not
    pulled. A sample weight multiplies the gradient, and with it h.

    Use it for small models where features differ much in frequency or in scale. Instead:
    `FOBOSClassifier` where they do not; `FrequencyRDAClassifier` for models still smaller.

    >>> model = SGFTClassifier(l1=0.02)
    >>> for i in range(60):
    ...     model.learn_one({"rain": 1, "monday": 0.01}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    ...     if i == 5:
    ...         model.learn_one({"thunder": 1}, "wet")
    >>> sorted(name for name, weight in model.top_features() if weight)
    ['monday', 'rain', 'sun', 'thunder']
    """

    l1: float = l1_strength()
    p: float = number(default=2.0, doc=NORM, at_least=1, or_infinite=True)
    cap: float = number(default=500.0, doc=CAP, above=0)
    cumulative: bool = flag(
        default=False, doc="Weights at zero still owe the penalty that they could not pay."
    )
    loss: Loss = loss()
    eta0: float = first_step()
    power: float = step_power()

    def _kind(self) -> _core.Learner:
        if self.cumulative:
            return _core.Learner.frequency_cumulative_penalty
        return _core.Learner.frequency_penalty

    loop_settings = ("l1", "eta0", "power", "p", "cap")


@estimator
class FrequencyRDAClassifier(ProximalClassifier):
    """RDA with the h of SGFT (after Oiwa, Matsushima & Nakagawa 2011), the outlook of their paper.

    As `RDAClassifier`, but the cut-off of a feature is `l1` times h, the p-norm of what each of its
    gradients was worth when it came, gradient / (gamma*sqrt(t)). The intercept is not cut. A sample
    weight multiplies the gradient.

    Use it for the smallest models where rare features matter. Instead: `RDAClassifier` where
    features are about equally frequent.

    >>> model = FrequencyRDAClassifier(l1=0.1)
    >>> for i in range(60):
    ...     model.learn_one({"rain": 1, "monday": i % 2, "thunder": i == 7}, "wet")
    ...     model.learn_one({"sun": 1, "monday": i % 2}, "dry")
    >>> model.n_nonzero_ <= 4
    True
    """

    l1: float = number(
        default=1e-5,
        doc="Average gradients up to this times h give the weight zero.",
        at_least=0,
    )
    gamma: float = number(
        default=1.0, doc="Strength of the L2 term; larger for smaller steps.", above=0
    )
    p: float = number(default=2.0, doc=NORM, at_least=1, or_infinite=True)
    cap: float = number(default=500.0, doc=CAP, above=0)
    loss: Loss = loss()

    takes_gradients = True
    core_learner = "frequency_dual_averaging"
    loop_settings = ("l1", "gamma", "p", "cap")
