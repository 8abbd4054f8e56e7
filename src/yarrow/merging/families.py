"""What of a loop's numbers adds up over parts, declared once for each kind of loop.

A loop's numbers are read as quantities that are 0 before the first row. Of parts that learned apart
the quantities beyond their common base add up; one that is a mean is weighted by a count before,
and divided by the sum of these counts once, at the end.

affine       weights: their mean, weighted by updates (iterative parameter mixing: McDonald, Hall &
             Mann 2010)
gaussian     precision beyond the prior's, and precision times mean: the product of Gaussians with
             the prior counted once. Parts that go on from a base have all met the same errors of
             it: steps that each takes alone would overshoot together and, with a precision for
             each feature alone, diverge within a few epochs. Their precisions add all the same,
             and the mean moves by the mean of their steps, weighted by the precision gained
whitened     gradients and correlations of the second-order Perceptron
dual         sums of gradients, as dual averaging keeps them: exact
adaptive     the same, and sums of their squares
mixture      counts and statistics of features, exact; experts by their mean, weighted by the visits
             of each feature; what experts are worth by the mean over rows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from yarrow.lazy import np

Numbers = dict[str, Any]


class Quantity(NamedTuple):
    """What a number belongs to, and how it is united."""

    of: str  #: a "cell", which is a feature in a column; a "column"; or the whole "model"
    signed: bool = False  #: changes its sign in the mirror column of a class
    mean_by: str | None = None  #: the count that weights it in a mean; None: it adds up


@dataclass(frozen=True)
class Family:
    """How one kind of loop is read and written.

    `read` gets the saved state, its planes in double, and the settings; `write` makes planes of
    quantities again, and tensors for what the state has beside them.
    """

    quantities: Mapping[str, Quantity]
    read: Callable[[Numbers, Any, Settings], Numbers]
    write: Callable[[Numbers, Settings], tuple[list[Any], Numbers]]


class Settings(NamedTuple):
    """What a family must know of its learner."""

    average: bool
    prior: float  #: the precision before the first row
    has_base: bool = False


#: what all loops count; calibration is fitted anew at the row after merging
COUNTS = {
    **dict.fromkeys(("t", "updates", "mistakes", "right", "wrong"), Quantity("model")),
    **dict.fromkeys(("log_c", "lapse"), Quantity("model", mean_by="t")),
    **dict.fromkeys(("column_updates", "column_memory"), Quantity("column")),
}


def _read_affine(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    found = {"weight": state["scale"] * planes[0]}
    if settings.average:
        found["past"] = state["scale_sum"] * planes[0] - planes[1]
    return found


def _write_affine(sums: Numbers, settings: Settings) -> tuple[list[Any], Numbers]:
    planes = [sums["weight"], *([-sums["past"]] if settings.average else [])]
    return planes, {"ww": np.square(sums["weight"]).sum(axis=0)}


_PAST = {"past": Quantity("cell", signed=True)}  #: of all past weights
_AFFINE = Family(
    {"weight": Quantity("cell", signed=True, mean_by="column_updates"), **_PAST},
    _read_affine,
    _write_affine,
)


def _read_gaussian(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    mean, precision = planes[0], 1 / planes[1]
    found = {"precision": precision - settings.prior, "evidence": precision * mean, "mean": mean}
    if settings.average:
        found["past"] = state["scalars"][0] * mean - planes[2]
    return found


def _write_gaussian(sums: Numbers, settings: Settings) -> tuple[list[Any], Numbers]:
    # Rounding may leave less than a tiny prior where nothing was learned.
    variance = 1 / np.maximum(sums["precision"] + settings.prior, settings.prior)
    mean = sums["mean"] if settings.has_base else variance * sums["evidence"]
    return [mean, variance, *([sums["t"] * mean - sums["past"]] if settings.average else [])], {}


_GAUSSIAN = Family(
    {
        "precision": Quantity("cell"),
        "evidence": Quantity("cell", signed=True),
        "mean": Quantity("cell", signed=True, mean_by="precision"),
        **_PAST,
    },
    _read_gaussian,
    _write_gaussian,
)

_GRADIENT = {"gradient": Quantity("cell", signed=True)}
_WHITENED = Family(
    {**_GRADIENT, "precision": Quantity("cell")},
    lambda state, planes, settings: {
        "gradient": planes[0],
        "precision": 1 / planes[1] - settings.prior,
    },
    lambda sums, settings: ([sums["gradient"], 1 / (sums["precision"] + settings.prior)], {}),
)
_DUAL = Family(
    _GRADIENT,
    lambda state, planes, settings: {"gradient": planes[0]},
    lambda sums, settings: ([sums["gradient"]], {}),
)
_ADAPTIVE = Family(
    {**_GRADIENT, "squares": Quantity("cell")},
    lambda state, planes, settings: {"gradient": planes[0], "squares": np.square(planes[1])},
    lambda sums, settings: ([sums["gradient"], np.sqrt(np.maximum(sums["squares"], 0))], {}),
)

# -- YarrowClassifier: its planes are those of core/mixture/experts.hpp ----------------------------

_LINEAR = 6  #: experts whose score is a sum
_EXPERTS = 9
MOST_FEW = 128  #: features up to which it keeps splines


def _read_mixture(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    hits, visits, mean, deviation = planes[2 * _LINEAR :]
    *worth, rows, values, weight = state["mixture"]
    return {
        "experts": planes[:_LINEAR],
        "confidence": planes[_LINEAR : 2 * _LINEAR],
        # The mirror column has the other hits: what is signed is how far they lean.
        "lean": 2 * hits - visits,
        "visits": visits,
        "total": visits * mean,
        "squares": visits * (np.square(deviation) + np.square(mean)),
        "worth": np.array(worth),
        "counted": np.array([rows, values, weight]),
        "class_lean": 2 * state["mixture_hits"] - values,
        "class_weight": 2 * state["mixture_weights"] - weight,
    }


def _write_mixture(sums: Numbers, settings: Settings) -> tuple[list[Any], Numbers]:
    visits = np.maximum(sums["visits"], 0)
    seen = np.where(visits > 0, visits, 1)
    mean = sums["total"] / seen
    variance = sums["squares"] / seen - np.square(mean)
    variance[variance < 1e-12 * np.square(mean)] = 0  # of a constant, but for rounding
    counted = np.maximum(sums["counted"], 0)
    tensors = {"mixture": np.concatenate([sums["worth"], counted])}
    for name, key, of_all in (("hits", "class_lean", 1), ("weights", "class_weight", 2)):
        tensors[f"mixture_{name}"] = _share(sums[key], counted[of_all])
    return [
        *sums["experts"],
        *np.maximum(sums["confidence"], 0),
        _share(sums["lean"], visits),
        visits,
        mean,
        np.sqrt(variance),
    ], tensors


def _share(lean: Any, of_all: Any) -> Any:
    return np.clip((lean + of_all) / 2, 0, of_all)


_MIXTURE = Family(
    {
        "experts": Quantity("cell", signed=True, mean_by="visits"),
        "confidence": Quantity("cell", mean_by="visits"),
        "lean": Quantity("cell", signed=True),
        **dict.fromkeys(("visits", "total", "squares"), Quantity("cell")),
        "worth": Quantity("model", mean_by="t"),
        "counted": Quantity("model"),
        **dict.fromkeys(("class_lean", "class_weight"), Quantity("column", signed=True)),
    },
    _read_mixture,
    _write_mixture,
)

#: by the name of the loop
FAMILIES = {
    "affine": _AFFINE,
    **dict.fromkeys(("diagonal", "projected", "herded"), _GAUSSIAN),
    "whitened": _WHITENED,
    "dual_averaging": _DUAL,
    **dict.fromkeys(("adagrad_dual", "ftrl_proximal"), _ADAPTIVE),
    "yarrow": _MIXTURE,
}
#: rules whose memory is no count that adds up
KEEPING = ("norma_nu", "one_class")
