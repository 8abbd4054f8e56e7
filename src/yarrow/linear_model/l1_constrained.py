"""The L1-norm-constrained Passive-Aggressive: weights that never leave a ball with corners."""

from __future__ import annotations

from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import HARD, OneVersusRest
from yarrow.estimator import estimator
from yarrow.parameters import number


@estimator
class L1ConstrainedPAClassifier(OneVersusRest, LinearClassifier):
    """L1-norm-constrained Passive-Aggressive (Shen & Dietterich 2009).

    It makes the smallest change that gives the row its margin of 1 while the absolute weights,
    the intercept's included, never sum up to more than `beta`: learning something new takes weight
    from everything else, and the weights that become zero leave a sparse model. A row costs its own
    features and all that have a weight.

    No weights in the ball give a row its margin if all of its values, the constant feature's
    included, are below 1 / beta; such a row is left alone. There is no slack, so a sample weight
    has no effect.

    Use it on drifting, clean streams where few features matter. Instead: `FOBOSClassifier` or
    `RDAClassifier` where labels are noisy, `PassiveAggressiveClassifier` where nothing drifts.

    >>> model = L1ConstrainedPAClassifier(beta=2.0)
    >>> for _ in range(3):
    ...     model.learn_one({"cheap": 1, "pills": 1}, "spam")
    ...     model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"cheap": 1, "today": 0.1})
    'spam'
    >>> bool(abs(model.coef_).sum() <= 2.0)
    True
    """

    row_costs = "O(nnz), and the nonzero weights"
    is_dear = True
    grows_with_rows = True
    class_weight_fails = HARD
    family = "constrained"

    beta: float = number(default=10.0, doc="Maximum L1 norm of the weights.", above=0)

    core_learner = "l1_constrained"
    core_rule = "l1_constrained"
    loop_settings = ("beta",)
