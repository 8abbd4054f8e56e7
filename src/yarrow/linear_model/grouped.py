"""Sparse learners whose features vanish in groups: group lasso and multi-task feature selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import Loss, loss
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.online.progressive import CoreModel
from yarrow.parameters import anything, number

GAMMA = "Strength of the L2 term; larger for smaller steps."
L1 = "Average gradients up to this give the weight zero, whatever their group."


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, bool)


def _are_groups(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value != ""
    if isinstance(value, Mapping):
        return all(_is_name(name) and _is_name(group) for name, group in value.items())
    return isinstance(value, (list, tuple, np.ndarray)) and all(map(_is_name, value))


class _DualAverager(LinearClassifier):
    """What both learners share: the sum of all gradients."""

    family = "proximal"
    loss: Any

    core_rule = "dual_{loss}"


@estimator
class GroupLassoClassifier(_DualAverager):
    """Online group lasso by dual averaging (Yang, Xu, King & Lyu 2010), also sparse.

    The average of all gradients is cut off at `l1` feature by feature; then each group shrinks as a
    whole, and vanishes as a whole where its length is below `l21` times the root of its size. The
    intercept is not pulled. A feature of no group is a group of its own.

    Groups are a dict from names of features to their groups, a list (for column 0, 1, ... of an
    array), or a text such as ``"^"``: what stands before it in a name is the feature's group. The
    sizes of such groups are not known beforehand, so they all count as one. With `hash_bits`, a
    place belongs to the first declared name that is hashed to it.

    Use it where features are made of few sources, and sources are to be selected. Instead:
    `RDAClassifier` for single features. A row costs its own values; with `l1`, the sizes of its
    groups. A sample weight multiplies the gradient.

    >>> model = GroupLassoClassifier(groups="^", l21=0.2)
    >>> for _ in range(20):
    ...     model.learn_one({"sky^rain": 1, "day^mon": 0.1, "day^cold": 0.1}, "wet")
    ...     model.learn_one({"sky^sun": 1, "day^mon": 0.1, "day^warm": 0.1}, "dry")
    >>> [name for name, weight in model.top_features() if weight]
    ['sky^rain', 'sky^sun']
    """

    groups: Any = anything(
        default=None,
        allowed="None, a dict from names of features to groups, a list of groups, or a separator",
        accepts=_are_groups,
        doc="Which features belong together: a dict, a list, or the text that ends a group's name.",
    )
    l21: float = number(
        default=1e-5, doc="Groups whose average gradient is shorter vanish.", at_least=0
    )
    l1: float = number(default=0.0, doc=L1, at_least=0)
    gamma: float = number(default=1.0, doc=GAMMA, above=0)
    loss: Loss = loss()

    core_learner = "feature_groups"
    loop_settings = ("l1", "l21", "gamma")

    def _new_model(self, *settings: Any, **more: Any) -> CoreModel:
        model = super()._new_model(*settings, **more)
        if self.groups is None:
            return model
        if isinstance(self.groups, str):
            if self.hash_bits is not None:
                raise ParameterError("Hashed names cannot be separated: give groups as a dict.")
            model.separate_groups(self.groups)
            return model
        group_of = self.groups if isinstance(self.groups, Mapping) else dict(enumerate(self.groups))
        numbers: dict[Any, int] = {}
        names = [name.item() if isinstance(name, np.integer) else name for name in group_of]
        model.declare_groups(
            names, [numbers.setdefault(group, len(numbers)) for group in group_of.values()]
        )
        return model


@estimator
class MultiTaskClassifier(_DualAverager):
    """Multi-task feature selection by dual averaging (Yang, Lyu & King 2013): classes are tasks.

    A feature's weights for all classes shrink together, and vanish together where the feature's
    average gradients, taken over all classes, are shorter than `l21`. With `l1` they are first cut
    off one by one. The intercept is not pulled. Two classes in one-versus-rest are one task.

    Where tasks have rows of their own, as in the paper, `GroupLassoClassifier(groups="^")` is that:
    name a value by feature and task, ``{"rain^london": 1}``, and a feature's weights for all tasks
    are its group.

    Use it where many classes are to share few features. Instead: `RDAClassifier`, where each class
    chooses its own. A sample weight multiplies the gradient.

    >>> model = MultiTaskClassifier(l21=0.1)
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1, "monday": 0.1}, "wet")
    ...     model.learn_one({"sun": 1, "monday": 0.1}, "dry")
    ...     model.learn_one({"snow": 1, "monday": 0.1}, "cold")
    >>> sorted(name for name, used in zip(model.feature_names_, model.coef_.any(axis=0)) if used)
    ['rain', 'snow', 'sun']
    """

    l21: float = number(
        default=1e-5, doc="Features whose average gradient is shorter vanish.", at_least=0
    )
    l1: float = number(default=0.0, doc=L1, at_least=0)
    gamma: float = number(default=1.0, doc=GAMMA, above=0)
    loss: Loss = loss()

    core_learner = "task_groups"

    def _loop_parameters(self) -> list[float]:
        return [self.l1, self.l21, self.gamma, float(self.multiclass == "top1")]
