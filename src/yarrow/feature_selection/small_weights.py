"""Removal of small weights from a linear learner (Shen & Dietterich, sections 3.4 and 4.3)."""

from __future__ import annotations

from typing import Any

from yarrow.base.linear import LinearModel
from yarrow.data.arrays import Array
from yarrow.errors import ParameterError, check_value
from yarrow.lazy import np
from yarrow.linear_model.exported import ExportedModel
from yarrow.saving import export_file


def _small(costs: Array, sigma: float, inclusive: bool) -> Array:
    """Which weights go, a row a weight vector: the smallest, as long as their costs sum to sigma.

    Sums are taken from the smallest up; of equal weights the first goes first.
    """
    order = np.argsort(costs, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(costs, order, axis=1), axis=1)
    goes = np.zeros(costs.shape, dtype=bool)
    np.put_along_axis(goes, order, sums <= sigma if inclusive else sums < sigma, axis=1)
    return goes


def _check(model: Any, sigma: float) -> None:
    if not isinstance(model, LinearModel):
        raise ParameterError(f"Only linear learners have weights, not {type(model).__name__}.")
    check_value(np.isfinite(sigma) and sigma >= 0, "sigma", sigma, ">= 0")


def remove_small_weights(model: LinearModel, sigma: float) -> int:
    """Set the smallest weights to zero for good: those whose squares sum to less than `sigma`.

    This is done for each weight vector (each class) by itself, and the intercept stays. The model
    is changed and goes on learning without them; a feature whose weight was removed may get a new
    one. Called after every row, this is the algorithm of Theorems 3.3 and 3.4, which bound its
    mistakes. A learner that averages loses the past of these weights, too; one that keeps gradients
    (dual averaging) forgets those of the removed weights, and with groups what is left of a group
    shrinks the more. Costs as much as saving the model.

    Returns how many weights that were not zero have been removed.

    >>> from yarrow import Perceptron
    >>> model = Perceptron(fit_intercept=False)
    >>> model.learn_one({"large": 3, "small": 0.1}, "a")
    >>> model.learn_one({"other": 1}, "b")
    >>> remove_small_weights(model, sigma=0.5)
    1
    """
    _check(model, sigma)
    core = model._fitted
    weights = np.asarray(core.plane(0)[0], dtype=np.float64).T[:, 1:]
    goes = _small(weights * weights, sigma, inclusive=False) & (weights != 0)
    state = model.__getstate__()["_core_state"]
    tensors = dict(state["tensors"])
    blocks = tensors["blocks"].copy()
    removed = np.vstack([np.zeros((1, len(goes)), dtype=bool), goes.T])  # slot 0: the intercept
    average = bool(state["made_with"].get("average", False))
    for plane in (0, blocks.shape[1] - 1) if average else (0,):  # the sum of the past stands last
        blocks[:, plane, :][removed] = 0
    tensors["blocks"] = blocks
    scale = tensors["scale"]
    stored = blocks[:, 0, :].astype(np.float64)
    tensors["ww"] = np.where(tensors["ww"] != 0, scale**2 * (stored**2).sum(axis=0), 0.0)
    tensors.pop("group_squares", None)  # made anew of what is left
    model._restore({**state, "tensors": tensors})
    of_classes = sorted(set(core.plane(0)[1])) or [0]  # not the column "none of the seen"
    return int(np.count_nonzero(goes[of_classes]))


def without_small_weights(model: LinearModel, sigma: float) -> ExportedModel:
    """Return a model that predicts without the smallest weights; `model` stays as it is.

    Left out are those whose absolute values sum to at most `sigma`, for each weight vector (each
    class) by itself; the intercept stays. The learner goes on with all of its weights, as in the
    experiment of section 4.3.

    >>> from yarrow import Perceptron
    >>> model = Perceptron(fit_intercept=False)
    >>> model.learn_one({"large": 3, "small": 0.1}, "a")
    >>> model.learn_one({"other": 1}, "b")
    >>> without_small_weights(model, sigma=0.5).feature_names_
    ['large', 'other']
    """
    _check(model, sigma)
    weights = np.array(model._weights_to_export())
    of_features = weights[:, 1:]
    of_features[_small(np.abs(of_features, dtype=np.float64), sigma, inclusive=True)] = 0
    return ExportedModel(*export_file.exported(model, weights, calibrated=False))
