"""First-order rules in the space of a kernel, `f <- a*f + b*y*K(x, .)`, on a budget.

The rules are those of the linear learners, to the letter: a rule sees scalars, and all of them
(margin, K(x, x), |f|^2) can be had from kernel values. Beyond the budget the oldest row goes,
or for the Perceptron, if asked, one at random.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.hyperparameters import (
    CoreRule,
    ForgettingRule,
    PAVariant,
    UpdateOn,
    check_rate,
    first_step,
    pa_variant,
    price,
    price_or_none,
    step_power,
    update_on,
)
from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.kernel.base import Example, KernelClassifier
from yarrow.kernel.expansion import Expansion
from yarrow.lazy import np
from yarrow.parameters import choice, number


class AffineKernelClassifier(CoreRule, KernelClassifier):
    """A rule of the affine family."""

    _follows_norms: ClassVar[bool] = False  # does the rule look at |f|^2?

    def _update(self, state: Expansion, x: Example) -> bool:
        told = {0: x.margins, 3: state.squared_norms, 7: state.column_updates, 8: state.memory}
        rule = self._rule()
        settings = [float(getattr(self, name)) for name in rule.parameters]
        steps = self._steps(rule, settings, state.t, x, told)
        is_kept = self._is_kept(state, steps[:, 1] != 0)
        if not is_kept and steps[-1, 1]:
            steps[-1] = 1, 0, state.memory[-1]  # for "none of the classes seen" it has not come
        a, b, state.memory = steps[:, 0], steps[:, 1], steps[:, 2].copy()
        moved = (b != 0) | (a != 1)
        if not moved.any():
            return False
        state.column_updates += moved
        if self._follows_norms:
            a, b = self._restrained(state, x, a, b)
        if (a != 1).any():
            state.coefficients[:] *= a
        if is_kept:
            state.keep(x.row, self._place(state), coefficients=b * x.signs)
        return bool(moved[:-1].any())

    def _place(self, state: Expansion) -> int:
        """Where the new row goes."""
        return state.next_place

    def _restrained(self, state: Expansion, x: Example, a: Array, b: Array) -> tuple[Array, Array]:
        """The step to make instead of one that a row's leaving would spoil; |f|^2 follows it."""
        raise NotImplementedError


@estimator
class KernelPerceptron(AffineKernelClassifier):
    """The Perceptron with a kernel (Aizerman, Braverman & Rozonoer 1964), on a budget if asked.

    Beyond the budget the oldest row goes, or one drawn at random (Cavallanti, Cesa-Bianchi &
    Gentile 2007). Use it as the baseline of kernel learners. A sample weight has no effect but for
    0.
    Instead: `ForgetronClassifier`, whose budget has a mistake bound; a linear learner for text.
    """

    margin: float = number(
        default=0.0, doc="Also update rows whose margin is not above this.", at_least=0
    )
    removal: Literal["oldest", "random"] = choice(
        default="oldest",
        options=("oldest", "random"),
        doc="Which row leaves when the budget is full; 'random' has a mistake bound under drift.",
    )

    core_rule = "perceptron"

    def _place(self, state: Expansion) -> int:
        if self.removal == "oldest" or not state.is_full:
            return state.next_place
        random = np.random.default_rng([self.random_state, state.supports.n_kept])
        return int(random.integers(len(state.supports)))


@estimator
class KernelPassiveAggressiveClassifier(AffineKernelClassifier):
    """Passive-Aggressive with a kernel (Crammer et al. 2006), on a budget if asked.

    Each row makes the smallest change to the functions that gives it its margin. A sample weight
    multiplies C, and has no effect on the variant 'pa'. Use it where classes bend around each
    other and labels are mostly right. Instead: `KernelAROWClassifier` under label noise.
    """

    C: float = price()
    variant: PAVariant = pa_variant()

    core_rule = "{variant}"


@estimator
class KernelNORMAClassifier(AffineKernelClassifier):
    """NORMA (Kivinen, Smola & Williamson 2004): descent in the space of a kernel that forgets.

    Each row is a gradient step on l2/2*|f|**2 + max(0, rho - margin); the rate is eta0 / t**power.
    Old rows fade by (1 - rate*l2) a row, so with a `budget` the row that is let go hardly matters.
    Use it under drift, with power=0. A sample weight multiplies the loss.
    Instead: `KernelRegularizedPAClassifier`, which forgets only when it errs.
    """

    eta0: float = first_step(0.5, "; below 1/l2")
    power: float = step_power()
    l2: float = number(default=1e-3, doc="Weight of |f|**2/2 in the objective.", above=0)
    rho: float = number(default=1.0, doc="The required margin, unless nu is given.", at_least=0)
    nu: float | None = number(
        default=None, doc="Share of rows that may stay below the margin.", above=0, below=1
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rate(self.eta0, self.l2)

    def _rule(self) -> _core.Rule:
        return rules.norma if self.nu is None else rules.norma_nu


@estimator
class KernelRegularizedPAClassifier(ForgettingRule, AffineKernelClassifier):
    """Passive-Aggressive with alpha/2*|f|**2 in its objective, with a kernel on a budget.

    The kernel form that Shen & Dietterich (2009) leave open: every update shrinks all older
    coefficients by 1/(1 + alpha), so the oldest row, the one that goes, weighs the least. With
    `C`, a margin may fall short by xi at the price C*xi**2, which a sample weight multiplies.
    Use it under drift. Instead: `KernelPassiveAggressiveClassifier` where nothing drifts.
    """

    alpha: float = number(default=0.001, doc="How much each update shrinks old weights.", above=0)
    C: float | None = price_or_none()
    update: UpdateOn = update_on()

    core_rule = "regularized_pa"


@estimator
class KernelNormConstrainedPAClassifier(AffineKernelClassifier):
    """Passive-Aggressive within |f| <= beta, with a kernel on a budget.

    The kernel form that Shen & Dietterich (2009) leave open: the smallest change that gives the row
    its margin inside the ball. When the oldest row goes, what is left may lie outside again; it is
    then scaled back onto the ball. Constraints have no price, so a sample weight has no effect.
    Use it under drift. Instead: `KernelPassiveAggressiveClassifier` where nothing drifts.
    """

    beta: float = number(default=10.0, doc="The largest norm of a class's function.", above=0)

    core_rule = "norm_constrained_pa"

    _follows_norms: ClassVar[bool] = True

    def _restrained(self, state: Expansion, x: Example, a: Array, b: Array) -> tuple[Array, Array]:
        norms = a * a * state.squared_norms + 2 * a * b * x.margins + b * b * x.square
        keep = np.ones(len(a))
        if state.is_full and b.any():
            # |f - c*K(s, .)|^2 = |f|^2 - 2*c*f(s) + c^2*K(s, s) for the row s that goes.
            place = state.supports.oldest
            gone = a * state.coefficients[place]
            scores = a * state.scores(state.kernel_row_at(place))
            scores += b * x.signs * x.values[place]
            norms += gone * gone * state.square_at(place) - 2 * gone * scores
            # What is left may lie outside of the ball.
            keep = self.beta / np.maximum(np.sqrt(np.maximum(norms, 0)), self.beta)
        state.squared_norms = np.maximum(norms, 0) * keep * keep
        return a * keep, b * keep
