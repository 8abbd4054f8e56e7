"""What can be told of a learner, whichever library it is of."""

from __future__ import annotations

import sys
from typing import Any

from yarrow.data.labels import in_order
from yarrow.errors import ParameterError
from yarrow.estimator import Estimator
from yarrow.lazy import np


def fresh(model: Any) -> Any:
    """A learner with the same parameters that has learned nothing."""
    if hasattr(model, "clone"):  # Yarrow's and river's
        return model.clone()
    from sklearn.base import clone

    return clone(model)


def has_learned(model: Any) -> bool:
    """Whether one of Yarrow's learners has learned a row."""
    return bool(model.__sklearn_is_fitted__())


def is_core(model: Any) -> bool:
    """Whether rows of arrays and files go straight to the core."""
    return hasattr(type(model), "_stream_learning")


def classes_of(model: Any) -> list[Any] | None:
    """The classes of a model, saved or exported, in their order; None for a regression."""
    learner = getattr(model, "_inner", model)
    if is_core(learner):
        return in_order(learner._fitted.classes) if hasattr(type(learner), "classes_") else None
    classes = getattr(model, "classes_", None)
    return None if classes is None else list(classes.tolist())


def is_regression(model: Any) -> bool:
    """Whether a learner predicts values, not classes."""
    if isinstance(model, Estimator):
        return model.regression
    if "river.base" in sys.modules and hasattr(model, "learn_one"):
        from river import base, compose

        while isinstance(model, compose.Pipeline):
            model = list(model.steps.values())[-1]
        return isinstance(model, base.Regressor)
    if "sklearn.base" in sys.modules and hasattr(model, "__sklearn_tags__"):
        from sklearn.base import is_regressor

        return bool(is_regressor(model))
    return getattr(model, "_estimator_type", None) == "regressor"


def check_tells(model: Any, wanted: str) -> None:
    """Refuse to ask a classifier for scores or probabilities that it does not tell."""
    method = {"probabilities": "predict_proba", "scores": "decision_function"}.get(wanted)
    if method is not None and not hasattr(model, method):
        raise ParameterError(f"{type(model).__name__} has no {wanted}.")


def sparseness(model: Any) -> float:
    """Share of zeros among the weights of all features seen, for all classes.

    Oiwa et al. 2011 do not define their sparseness rate; this is how it is taken here.
    """
    if hasattr(model, "sparsity_"):
        return float(model.sparsity_)
    count = nonzeros(model)
    return 1.0 - count / np.size(model.coef_)


def says_not_fitted(error: Exception) -> bool:
    """Whether an error is that of a model which has learned nothing, of whatever library."""
    return any(cls.__name__ == "NotFittedError" for cls in type(error).__mro__)


def nonzeros(model: Any, otherwise: int | None = None) -> int:
    """Weights that are not zero, without the intercept, of learners of all libraries.

    Where there is nothing to count, `otherwise`, or an error.
    """
    if isinstance(model, Estimator) and not has_learned(model):
        return 0
    if hasattr(model, "n_nonzero_"):
        return int(model.n_nonzero_)
    if hasattr(getattr(model, "weights", None), "values"):  # river
        return sum(bool(np.any(value)) for value in model.weights.values())
    for name in ("coef_", "dual_coef_"):
        if hasattr(model, name):
            return int(np.count_nonzero(getattr(model, name)))
    if otherwise is None:
        raise ParameterError(f"{type(model).__name__} has no weights that could be counted.")
    return otherwise


def is_learner(value: Any) -> bool:
    """Whether a value can be a member: an object, not a class, that learns row by row."""
    return (by_dicts(value) or by_arrays(value)) and not isinstance(value, type)


def by_dicts(model: Any) -> bool:
    """Whether it learns and predicts one dict at a time, as river does."""
    return hasattr(model, "learn_one") and hasattr(model, "predict_one")


def takes_lists_of_dicts(model: Any) -> bool:
    """Whether rows that are dicts are read as `fit` of this package reads a list of them."""
    return by_arrays(model) and hasattr(model, "progressive")


def by_arrays(model: Any) -> bool:
    """Whether it learns and predicts rows of arrays, as scikit-learn does."""
    return hasattr(model, "partial_fit") and hasattr(model, "predict")


def check_task(model: Any, regression: bool) -> None:
    """Refuse a classifier for values, and a regressor for classes."""
    if is_regression(model) is not regression:
        task = "a regression" if regression else "classes"
        raise ParameterError(f"{type(model).__name__} is not for {task}.")
