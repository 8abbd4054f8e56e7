"""What of a loop's numbers adds up over parts, declared once for each kind of loop.

A loop's numbers are read as quantities that are 0 before the first row. Of parts that learned apart
the quantities beyond their common base add up; one that is a mean is weighted by a count before,
and divided by the sum of these counts once, at the end.

affine       weights: the mean of the parts' steps (iterative parameter mixing: McDonald, Hall &
             Mann 2010), each weight's by how far a part moved it
gaussian     precision beyond the prior's, and precision times mean: the product of Gaussians
whitened     gradients and correlations of the second-order Perceptron
dual         sums of gradients, as dual averaging keeps them: exact
adaptive     the same, and sums of their squares
mixture      counts and statistics of features, exact; experts by their mean, weighted by the visits
             of each feature; what experts are worth by the mean over rows

Parts that go on from a base have all met the same errors of it. The steps that each takes alone,
added up, would overshoot together: gaussian, dual and their kin diverge within a few epochs. So
beyond a base precisions, squares and rows add as before, but weights move by the mean of the parts'
steps d_k, for each weight by itself:

    w_j = base_j + sum_k g_kj d_kj / sum_k g_kj

g is what part k gained of precision or of squares at feature j; where nothing is counted for each
feature (affine, dual), how far it moved: |d_kj|, or the gradients that it added. So a part that
never saw a word does not hold back those who did: with g equal for all, a word in one of 16 parts
would learn at a sixteenth of its rate. (Agarwal et al. 2014 weigh so by squares of gradients;
Censor, Gordon & Gordon 2001 divide projections by the equations that a variable is in.) The sum is
made of the weights again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from yarrow._core import COLUMN_SHARE, UNNAMED_RATES
from yarrow.lazy import np

Numbers = dict[str, Any]


class Quantity(NamedTuple):
    """What a number belongs to, and how it is united."""

    of: str  #: a "cell", which is a feature in a column; a "column"; or the whole "model"
    signed: bool = False  #: changes its sign in the mirror column of a class
    mean_by: str | None = None  #: what weights it in a mean; None: it adds up
    size_of: str | None = None  #: it is how far a part moved that number


@dataclass(frozen=True)
class Family:
    """How one kind of loop is read and written.

    `read` gets the saved state, its planes in double, by the core's names and a line for each of
    one name, and the settings; `write` makes planes of quantities again, and tensors for what the
    state has beside them.
    """

    quantities: Mapping[str, Quantity]
    read: Callable[[Numbers, Any, Settings], Numbers]
    write: Callable[[Numbers, Settings], tuple[Numbers, Numbers]]


class Settings(NamedTuple):
    """What a family must know of its learner."""

    average: bool
    prior: float  #: the precision before the first row
    began: float = -1  #: rows that the parts' base had learned; -1: they began from nothing


#: what all loops count; calibration is fitted anew at the row after merging
COUNTS = {
    **dict.fromkeys(("t", "updates", "mistakes", "right", "wrong"), Quantity("model")),
    **dict.fromkeys(("log_c", "lapse"), Quantity("model", mean_by="t")),
    **dict.fromkeys(("column_updates", "column_memory"), Quantity("column")),
}


def _read_affine(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    found = {"weight": state["scale"] * planes["weight"]}
    if settings.average:
        found["past"] = state["scale_sum"] * planes["weight"] - planes["average"]
    return found


def _write_affine(sums: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
    planes = {"weight": sums["weight"]}
    if settings.average:
        planes["average"] = -sums["past"]
    return planes, {"ww": np.square(sums["weight"]).sum(axis=(0, 1))}


_PAST = {"past": Quantity("cell", signed=True)}  #: of all past weights
_AFFINE = Family(
    {
        "weight": Quantity("cell", signed=True, mean_by="moved"),
        "moved": Quantity("cell", size_of="weight"),
        **_PAST,
    },
    _read_affine,
    _write_affine,
)


def _sum(sums: Numbers, scale: Any, settings: Settings) -> Any:
    """The sum of parts from nothing; beyond a base, that of the weights: weight = sum/scale."""
    return sums["step"] * scale if settings.began > 0 else sums["sum"]


def _quantities(gained: str) -> dict[str, Quantity]:
    """Those of a sum that makes weights, and what is gained with it."""
    return {
        "sum": Quantity("cell", signed=True),
        "step": Quantity("cell", signed=True, mean_by=gained),
    }


def _read_gaussian(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    mean, precision = planes["mean"], 1 / planes["variance"]
    found = {"precision": precision - settings.prior, "sum": precision * mean, "step": mean}
    if settings.average:
        found["past"] = state["t"] * mean - planes["average"]
    return found


def _precision(sums: Numbers, settings: Settings) -> Any:
    # Rounding may leave less than a tiny prior where nothing was learned.
    return np.maximum(sums["precision"] + settings.prior, settings.prior)


def _write_gaussian(sums: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
    precision = _precision(sums, settings)
    mean = _sum(sums, precision, settings) / precision
    past = {"average": sums["t"] * mean - sums["past"]} if settings.average else {}
    return {"mean": mean, "variance": 1 / precision, **past}, {}


def _read_whitened(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    gradient, variance = planes["mean"], planes["variance"]  # it keeps gradients for the mean
    precision = 1 / variance - settings.prior
    return {"precision": precision, "sum": gradient, "step": gradient * variance}


def _write_whitened(sums: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
    precision = _precision(sums, settings)
    return {"mean": _sum(sums, precision, settings), "variance": 1 / precision}, {}


def _read_dual(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    gradients = planes["gradients"]
    return {"sum": gradients, "step": gradients / np.sqrt(state["t"])}


def _write_dual(sums: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
    # Sixteen sums that all answer to weights of zero are four times too long.
    gradients = sums["sum"] if settings.began < 0 else sums["step"] * np.sqrt(sums["t"])
    return {"gradients": gradients}, {}


def _read_adaptive(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    gradient, root = planes["gradients"], planes["root"]
    return {"squares": np.square(root), "sum": gradient, "step": gradient / (1 + root)}


def _write_adaptive(sums: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
    root = np.sqrt(np.maximum(sums["squares"], 0))
    return {"gradients": _sum(sums, 1 + root, settings), "root": root}, {}


_GAINED = {"precision": Quantity("cell"), **_quantities("precision")}
_GAUSSIAN = Family({**_GAINED, **_PAST}, _read_gaussian, _write_gaussian)
_WHITENED = Family(_GAINED, _read_whitened, _write_whitened)
_DUAL = Family(
    {**_quantities("moved"), "moved": Quantity("cell", size_of="sum")}, _read_dual, _write_dual
)
_ADAPTIVE = Family(
    {"squares": Quantity("cell"), **_quantities("squares")}, _read_adaptive, _write_adaptive
)

# -- YarrowClassifier: products of two values are given up, since they do not add up ---------------


def _read_mixture(state: Numbers, planes: Any, settings: Settings) -> Numbers:
    hits, visits, mean = planes["hits"], planes["visits"], planes["mean"]
    counted = state["mixture"][-3:]
    _, values, weight = counted  # rows stand before them
    return {
        "experts": planes["weight"],
        "confidence": planes["precision"],
        # The mirror column has the other hits: what is signed is how far they lean.
        "lean": 2 * hits - visits,
        "visits": visits,
        "total": visits * mean,
        "squares": visits * (np.square(planes["deviation"]) + np.square(mean)),
        "worth": state["pair_trial" if "pair_trial" in state else "mixture"][:-3],
        "rates": np.array(state.get("mixture_rates", UNNAMED_RATES)),
        "drift": 1 / state["mixture_drift_rows"] if "mixture_drift_rows" in state else np.zeros(1),
        "seeks": np.array([float("table_columns" in state)]),
        "counted": counted,
        "class_lean": 2 * state["mixture_hits"] - values,
        "class_weight": 2 * state["mixture_weights"] - weight,
    }


def _write_mixture(sums: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
    visits = np.maximum(sums["visits"], 0)
    seen = np.where(visits > 0, visits, 1)
    mean = sums["total"] / seen
    variance = sums["squares"] / seen - np.square(mean)
    variance[variance < 1e-12 * np.square(mean)] = 0  # of a constant, but for rounding
    counted = np.maximum(sums["counted"], 0)
    tensors = {
        "mixture": np.concatenate([sums["worth"], counted]),
        "mixture_rates": sums["rates"],
    }
    if sums["drift"] > 0:
        tensors["mixture_drift_rows"] = 1 / sums["drift"]
    if sums["seeks"] > 0:
        n = visits[0, :, 0]
        tensors["table_columns"] = np.flatnonzero(n[1:] >= COLUMN_SHARE * n[0]).astype(np.int32)
    for name, key, of_all in (("hits", "class_lean", 1), ("weights", "class_weight", 2)):
        tensors[f"mixture_{name}"] = _share(sums[key], counted[of_all])
    return {
        "weight": sums["experts"],
        "precision": np.maximum(sums["confidence"], 0),
        "hits": _share(sums["lean"], visits),
        "visits": visits,
        "mean": mean,
        "deviation": np.sqrt(variance),
    }, tensors


def _share(lean: Any, of_all: Any) -> Any:
    return np.clip((lean + of_all) / 2, 0, of_all)


_MIXTURE = Family(
    {
        "experts": Quantity("cell", signed=True, mean_by="visits"),
        "confidence": Quantity("cell", mean_by="visits"),
        "lean": Quantity("cell", signed=True),
        **dict.fromkeys(("visits", "total", "squares"), Quantity("cell")),
        **dict.fromkeys(("worth", "rates", "drift", "seeks"), Quantity("model", mean_by="t")),
        "counted": Quantity("model"),
        **dict.fromkeys(("class_lean", "class_weight"), Quantity("column", signed=True)),
    },
    _read_mixture,
    _write_mixture,
)

#: by the name of the core's learner
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
