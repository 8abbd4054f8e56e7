"""The second form of an export: a mixture of experts on standardised columns.

A score is the sum, over the experts, of weight times what the expert says, cut to a size; and that
is a constant and some terms, each a sum over the row. docs/export.md has the equations. Tensors are
`shift`, `unit` and `bends` of each feature, the `constant` of each expert, and the numbers of each
term; the metadata says who the experts are. In JSON numbers stand where they belong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from yarrow.data.labels import order_of
from yarrow.errors import ModelFileError
from yarrow.lazy import np
from yarrow.saving import schema
from yarrow.saving.codec import NAME_FIELDS, pack_names, unpack_names

Tensors = Mapping[str, Any]

#: what a term sums over, whose numbers it has, and their shape beyond these and scores
OVER: dict[str, tuple[str, tuple[int, ...]]] = {
    "values": ("names", ()),
    "presence": ("names", ()),
    "knots": ("names", (7,)),
    "pairs": ("pairs", (49,)),
    "products": ("places", ()),
}
#: features whose products have places of their own, and how many all others share
_MOST_EXACT, _SHARED = 255, 1 << 15

#: no number is larger, so that sums stay finite; the scale of a column may be
LARGEST = 1e150
LARGEST_SCALE = 1e308
_NUMBER = schema.Number(-LARGEST, LARGEST)


def packed(
    model: Any, dtype: str, metadata: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and the metadata of a mixture's export, as the core settles it."""
    core = model._fitted
    settled = core.settled(order_of(core.classes).tolist())
    names, experts = model.feature_names_, settled.pop("experts")
    tensors = {name: settled.pop(name) for name in ("shift", "unit", "bends")}
    tensors["constant"] = np.array([expert.pop("constant") for expert in experts])
    tensors |= pack_names([names[feature] for feature in settled.pop("features").tolist()])
    if metadata["probabilities"] is not None:
        # Two classes are apart by one score, of many the two best by one each: a variance of 1.
        scores = tensors["constant"].shape[1]
        tensors["intercept_variance"] = np.full(scores, 0.5 if scores > 1 else 1.0)
    for number, expert in enumerate(experts):
        for place, term in enumerate(expert["terms"]):
            tensors[_tensor(number, place)] = term.pop("numbers").astype(dtype)
            if (of := term.pop("of")) is not None:
                tensors[_tensor(number, place, "of")] = of.astype(np.int64)
    return tensors, metadata | settled | {"experts": experts}


def _tensor(expert: int, term: int, what: str = "numbers") -> str:
    return f"{what}_{expert}_{term}"


def document(tensors: Tensors, metadata: dict[str, Any]) -> dict[str, Any]:
    """The export as JSON holds it."""
    experts = [
        expert
        | {
            "constant": tensors["constant"][number].tolist(),
            "terms": [
                term
                | {"numbers": _shortest(tensors[_tensor(number, place)])}
                | (
                    {"of": tensors[of].tolist()}
                    if (of := _tensor(number, place, "of")) in tensors
                    else {}
                )
                for place, term in enumerate(expert["terms"])
            ],
        }
        for number, expert in enumerate(metadata["experts"])
    ]
    columns = (tensors[name].tolist() for name in ("shift", "unit", "bends"))
    features = [list(one) for one in zip(unpack_names(tensors), *columns, strict=True)]
    told = {name: tensors[name].tolist() for name in ("intercept_variance",) if name in tensors}
    return metadata | told | {"features": features, "experts": experts}


def _shortest(numbers: Any) -> Any:
    """Numbers as lists, those of float32 with as few digits as tell them apart."""
    if numbers.dtype != np.float32:
        return numbers.tolist()
    return (
        np.array(list(map(float, map(str, numbers.reshape(-1)))), np.float64)
        .reshape(numbers.shape)
        .tolist()
    )


_FEATURE = schema.Record(
    schema.FeatureName(),
    schema.Number(-LARGEST_SCALE, LARGEST_SCALE),
    schema.Number(0, LARGEST_SCALE),
    schema.OneOf((0, 1)),
)
_READ = schema.Fields(
    {
        "features": schema.ListOf(_FEATURE),
        "experts": schema.ListOf(
            schema.Fields(
                {
                    "constant": schema.ListOf(_NUMBER, "scores"),
                    "terms": schema.ListOf(schema.Fields({"numbers": schema.Anything()})),
                }
            )
        ),
    }
)


def read(document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and the metadata of an export in JSON."""
    schema.check(_READ, document)
    metadata = {key: value for key, value in document.items() if key != "features"}
    columns = list(zip(*document["features"], strict=True)) or [(), (), (), ()]
    names = list(columns[0])
    if len(set(names)) < len(names):
        raise ValueError("a feature stands in it twice")
    tensors = {
        "shift": np.array(columns[1], np.float64),
        "unit": np.array(columns[2], np.float64),
        "bends": np.array(columns[3], np.uint8),
        **pack_names(names),
    }
    experts, constant = [], []
    for number, expert in enumerate(document["experts"]):
        terms = []
        for place, term in enumerate(expert["terms"]):
            shape = (-1, len(expert["constant"]), *OVER.get(str(term.get("over")), ("", ()))[1])
            numbers = array_of(term["numbers"], "the numbers of an expert")
            tensors[_tensor(number, place)] = (
                numbers.reshape(shape) if not numbers.size else numbers
            )
            if "of" in term:
                of = array_of(term["of"], "the numbers of features")
                if (of != np.floor(of)).any() or np.abs(of).max(initial=0) > 2**31:
                    _no_numbers("the numbers of features")
                tensors[_tensor(number, place, "of")] = of.astype(np.int64)
            terms.append({k: v for k, v in term.items() if k not in ("numbers", "of")})
        constant.append(expert["constant"])
        experts.append({k: v for k, v in expert.items() if k != "constant"} | {"terms": terms})
    tensors["constant"] = np.array(constant, np.float64)
    if "intercept_variance" in metadata:
        told = metadata.pop("intercept_variance")
        tensors["intercept_variance"] = array_of(told, "its 'intercept_variance'")
    return tensors, metadata | {"experts": experts}


def array_of(numbers: Any, place: str) -> Any:
    """Lists of numbers as an array; whatever else is refused."""
    rest: Any = [numbers]
    while rest and isinstance(rest[0], list):
        rest = [item for one in rest if isinstance(one, list) or _no_numbers(place) for item in one]
    if not all(type(item) in (int, float) and math.isfinite(item) for item in rest):
        _no_numbers(place)
    return np.array(numbers, np.float64)  # lists of unequal length are refused by ValueError


def _no_numbers(place: str) -> bool:
    raise ValueError(f"{place} are not numbers")


_TERM = schema.Fields({"over": schema.OneOf(tuple(OVER)), "divided": schema.Flag()}, closed=True)
SCHEMA = schema.Fields(
    {
        "limit": schema.Number(at_least=1, at_most=1e3),
        "paired": schema.Flag(),
        "experts": schema.ListOf(
            schema.Fields(
                {
                    "name": schema.Text(),
                    "weight": _NUMBER,
                    "cut": schema.Maybe(schema.Number(at_least=0, at_most=LARGEST)),
                    "needs_knots": schema.Flag(),
                    "terms": schema.ListOf(_TERM),
                },
                closed=True,
            ),
            "experts",
        ),
    },
    optional={
        "zeros": schema.ListOf(schema.Whole(), unique=True),
        "intervals": schema.Maybe(
            schema.Fields(
                {
                    "coverage": schema.ListOf(schema.Number(0, 1), "levels"),
                    "radius": schema.ListOf(schema.Number(0, LARGEST), "levels"),
                },
                closed=True,
            )
        ),
    },
)


def check(tensors: Tensors, metadata: Mapping[str, Any]) -> schema.Sizes:
    """Refuse what is no such export; otherwise its sizes."""
    sizes = schema.check(SCHEMA, metadata)
    if not metadata["experts"]:
        raise ModelFileError("it has no experts")
    n = len(tensors["name_ends"]) if "name_ends" in tensors else 0
    sizes |= {"names": n, "pairs": n * (n - 1) // 2}
    fields: dict[str, schema.Schema] = {
        "shift": schema.Array("f8", ("names",), -LARGEST_SCALE, LARGEST_SCALE),
        "unit": schema.Array("f8", ("names",), 0.0, LARGEST_SCALE),
        "bends": schema.Array("u1", ("names",), at_most=1),
        "constant": schema.Array("f8", ("experts", "scores"), -LARGEST, LARGEST),
        **NAME_FIELDS,
    }
    for number, expert in enumerate(metadata["experts"]):
        for place, term in enumerate(expert["terms"]):
            of_what, more = OVER[term["over"]]
            shape: tuple[int | str, ...] = (of_what, "scores", *more)
            if of_what == "places":
                of = _tensor(number, place, "of")
                fields[of] = schema.Array("i8", ("names",), 0, 2**31)
                shape = (places_of(tensors.get(of)), *shape[1:])
            fields[_tensor(number, place)] = schema.Array("f", shape, -LARGEST, LARGEST)
            if term["over"] == "pairs" and not metadata["paired"]:
                raise ModelFileError("it has pairs of features, but is not 'paired'")
    variance = schema.Array("f8", ("scores",), 1e-100, 1e100)
    tensors_of = schema.Fields(fields, optional={"intercept_variance": variance}, closed=True)
    schema.check(tensors_of, tensors, "it", **sizes)
    if max(metadata.get("zeros", ()), default=-1) >= n:
        raise ModelFileError("its 'zeros' are not those of its features")
    _check_intervals(metadata)
    return sizes | {"scores": tensors["constant"].shape[1]}


def places_of(of: Any) -> int:
    """How many products have a place, if features have these numbers."""
    most = int(np.asarray(() if of is None else of).max(initial=0))
    return most * (most + 1) // 2 + 1 if most <= _MOST_EXACT else _SHARED


def _check_intervals(metadata: Mapping[str, Any]) -> None:
    intervals = metadata.get("intervals")
    if intervals is None:
        return
    levels = intervals["coverage"]
    if metadata["classes"] is not None or len(levels) < 2 or sorted({*levels}) != levels:
        raise ModelFileError("its 'intervals' are not those of a regression")
