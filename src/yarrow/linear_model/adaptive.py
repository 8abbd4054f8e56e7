"""Steps of each feature's own size, and weights that are pulled towards zero: AdaGrad, FTRL."""

from __future__ import annotations

from typing import ClassVar, Literal

from yarrow import _core
from yarrow.base.hyperparameters import (
    Loss,
    RegressionLoss,
    error_margin,
    l1_strength,
    l2_strength,
    loss,
    regression_loss,
)
from yarrow.estimator import estimator
from yarrow.linear_model.proximal import ProximalClassifier, ProximalRegressor
from yarrow.parameters import choice, number

Variant = Literal["mirror", "dual"]
ETA = "The size of a feature's first step."
DELTA = "Added to the root of the squared gradients: larger for smaller first steps."
VARIANT = "Composite mirror descent, or primal-dual averaging (sparser)."


class _AdaGrad:
    """The two pulls of AdaGrad."""

    takes_gradients = True
    eta: float
    l1: float
    delta: float
    variant: Variant

    def _kind(self) -> _core.Learner:
        if self.variant == "mirror":
            return _core.Learner.adagrad_mirror
        return _core.Learner.adagrad_dual

    loop_settings: ClassVar[tuple[str, ...]] = ("l1", "eta", "delta")


@estimator
class AdaGradClassifier(_AdaGrad, ProximalClassifier):
    """AdaGrad with L1 (Duchi, Hazan & Singer 2011), diagonal.

    A feature's step is eta / (delta + the root of the sum of its squared gradients), so rare
    features keep large steps. The intercept is not pulled. A sample weight multiplies the gradient.

    Use it where features differ much in frequency and no rate is known. Instead: `FTRLClassifier`
    for smaller models of the same steps; `AROWClassifier` where size does not matter.

    >>> model = AdaGradClassifier(l1=0.01)
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1, "monday": 0.001}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> model.predict_one({"rain": 1})
    'wet'
    """

    eta: float = number(default=0.1, doc=ETA, above=0)
    l1: float = l1_strength()
    delta: float = number(default=0.1, doc=DELTA, above=0)
    variant: Variant = choice(default="mirror", options=("mirror", "dual"), doc=VARIANT)
    loss: Loss = loss()


@estimator
class AdaGradRegressor(_AdaGrad, ProximalRegressor):
    """AdaGrad with L1 (Duchi, Hazan & Singer 2011) for a regression, diagonal.

    Use it where features differ in scale and no rate is known. Instead: `FOBOSRegressor` on scaled
    features. A sample weight multiplies the gradient.

    >>> model = AdaGradRegressor(eta=1.0)
    >>> for _ in range(200):
    ...     model.learn_one({"x": 1.0}, 3.0)
    >>> round(model.predict_one({"x": 1.0}), 1)
    3.0
    """

    eta: float = number(default=0.2, doc=ETA, above=0)
    l1: float = l1_strength()
    delta: float = number(default=1.0, doc=DELTA, above=0)
    variant: Variant = choice(default="mirror", options=("mirror", "dual"), doc=VARIANT)
    loss: RegressionLoss = regression_loss()
    epsilon: float = error_margin()


ALPHA = "Size of the steps; a feature's first is about alpha."
BETA = "Keeps the first steps of a feature small."
FTRL_L1 = "Sums of gradients up to this, centred at the past weights, give the weight zero."


class _FTRL:
    """The pull of FTRL-Proximal."""

    takes_gradients = True
    alpha: float
    beta: float
    l1: float
    l2: float

    core_learner = "ftrl_proximal"
    loop_settings: ClassVar[tuple[str, ...]] = ("l1", "alpha", "beta", "l2")


@estimator
class FTRLClassifier(_FTRL, ProximalClassifier):
    """FTRL-Proximal (McMahan et al. 2013), the learner of large advertising systems.

    Steps are AdaGrad's; sparsity comes from one problem over all past gradients, in which the
    penalties are counted once and do not grow with the rows. With `loss='logistic'` there is a
    `predict_proba`. The intercept is not pulled. A sample weight multiplies the gradient.

    Use it for clicks and other rare events with very many features. Instead: `RDAClassifier` for
    a size that `l1` fixes whatever the number of rows; `AROWClassifier` where size does not matter.

    >>> model = FTRLClassifier(alpha=1.0, l1=0.5)
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1, "monday": 0.01}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> sorted(name for name, weight in model.top_features() if weight)
    ['rain', 'sun']
    >>> model.predict_proba_one({"rain": 1})["wet"] > 0.6
    True
    """

    alpha: float = number(default=0.1, doc=ALPHA, above=0, at_most=1e20)
    beta: float = number(default=1.0, doc=BETA, above=0)
    l1: float = number(default=0.0, doc=FTRL_L1, at_least=0)
    l2: float = l2_strength()
    loss: Loss = loss("logistic")


@estimator
class FTRLRegressor(_FTRL, ProximalRegressor):
    """FTRL-Proximal (McMahan et al. 2013) for a regression.

    Use it where features differ in scale and few matter. Instead: `FOBOSRegressor` on scaled
    features. A sample weight multiplies the gradient.

    >>> model = FTRLRegressor(alpha=1.0, l1=0.1)
    >>> for _ in range(200):
    ...     model.learn_one({"x": 1.0, "noise": 0.0001}, 3.0)
    >>> round(model.predict_one({"x": 1.0}), 1), model.n_nonzero_
    (3.0, 1)
    """

    alpha: float = number(default=0.2, doc=ALPHA, above=0, at_most=1e20)
    beta: float = number(default=1.0, doc=BETA, above=0)
    l1: float = number(default=0.0, doc=FTRL_L1, at_least=0)
    l2: float = l2_strength()
    loss: RegressionLoss = regression_loss()
    epsilon: float = error_margin()

    expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_regressors_train": (
            "the check takes a parameter called alpha for a penalty and sets it to 0.01; here it "
            "is the rate, by the paper's letter, and then too small for so few rows"
        ),
    }
