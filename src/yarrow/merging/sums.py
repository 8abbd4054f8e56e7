"""What models have learned, as quantities that add up, and the model made of their sum."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

from yarrow._core import (
    CALIBRATION_BINS,
    NAMES_UNKNOWN,
    SCALARS,
    SPLINE_FEATURES,
    column_sources,
)
from yarrow.base.linear import LinearModel
from yarrow.errors import ParameterError
from yarrow.lazy import np
from yarrow.merging.families import (
    COUNTS,
    FAMILIES,
    KEEPING,
    Family,
    Numbers,
    Quantity,
    Settings,
)


def merge(parts: Iterable[Any], base: Any = None) -> Any:
    """One model of several that learned apart: a new one, the parts stay as they are.

    Parameters
    ----------
    parts : estimators of one class with the same parameters
    base : the model that all of them went on from; None: each began from nothing. It counts once.
        One that has learned nothing yet says that the merged model will be a base in its turn.

    Returns
    -------
    estimator
        Counters are those of all rows. Weights of the affine family are the mean of the parts',
        each weighted by how far a part moved it. From nothing, Gaussians of the confidence family
        are multiplied, the prior counted once, and sums of dual averaging added. Beyond a base
        precisions add, too, and weights move by the mean of the parts' steps, weighted by what each
        part gained of precision or gradients at that feature. Of a single part it is a copy.

    Examples
    --------
    >>> import yarrow
    >>> a, b = yarrow.AROWClassifier(), yarrow.AROWClassifier()
    >>> a.learn_one({"x": 1.0}, "a")
    >>> b.learn_one({"y": 1.0}, "b")
    >>> merged = yarrow.merge([a, b])
    >>> merged.t_, merged.predict_one({"y": 1.0})
    (2, 'b')
    """
    listed = list(parts)
    if not listed:
        raise ParameterError("There is nothing to merge: give at least one part.")
    return finished(combined(listed, base), base)


def combined(items: Sequence[Any], base: Any = None) -> Any:
    """Models and `Sums` as one: a single one as it is, several by a tree of a fixed shape.

    Neighbours are added first, so that the shape depends on their number alone, and few sums are
    there at a time.
    """
    if len(items) == 1:
        if not isinstance(items[0], Sums):
            _family_of(items[0])  # says so where it cannot be merged
        return items[0]
    half = 1 << (len(items) - 1).bit_length() - 1
    a, b = (combined(some, base) for some in (items[:half], items[half:]))
    return _sums(a, base) + _sums(b, base)


def _sums(item: Any, base: Any) -> Sums:
    return item if isinstance(item, Sums) else Sums.beyond(item, base)


def finished(item: Any, base: Any = None) -> Any:
    """The model that `combined` parts make with their base; the one division is made here."""
    if not isinstance(item, Sums):
        return copy.deepcopy(item)
    added = item.numbers
    means = {
        name: added[name] / np.where(added[by] > 0, added[by], 1) for name, by in item.means.items()
    }
    total = dataclasses.replace(item, numbers={**added, **means})
    if _has_learned(base):
        return (Sums.of(base) + total).model(began=base.t_)
    return total.model(began=-1 if base is None else 0)


@dataclasses.dataclass(frozen=True)
class Sums:
    """What one model, or several, have learned. `+` is associative but for rounding."""

    like: Any  #: an estimator with the parameters, without what it learned
    origin: dict[str, Any]  #: declared classes and their weights
    features: list[Any] | None  #: names; None: they are hashed
    hashed_kinds: int  #: what names taught a hashed model, see core/data/named_row.hpp
    classes: list[Any]  #: in the order of their appearance
    planes: list[str]  #: what the core calls those of its blocks
    numbers: Numbers

    @classmethod
    def of(cls, model: Any) -> Sums:
        """All that a model has learned."""
        family, core, like = _family_of(model), model._fitted, _unlearned(model)
        state = core.get_state()
        state |= dict(zip(SCALARS, state.pop("scalars"), strict=True))
        counts = ("t", "updates", "mistakes", "lapse", "column_updates", "column_memory")
        numbers = {name: state[name] for name in counts} | {"log_c": np.log(state["c"])}
        for side in ("right", "wrong"):
            bins = state[f"calibration_{side}"]
            numbers[side] = np.pad(bins, (0, CALIBRATION_BINS - len(bins)))
        planes = np.moveaxis(np.asarray(state["blocks"], dtype=np.float64), 1, 0)
        named = {name: planes[[n == name for n in core.planes]] for name in core.planes}
        return cls(
            like=like,
            origin={"declared": core.declared, "class_weights": core.class_weights},
            features=None if like.hash_bits else core.feature_names,
            hashed_kinds=int(state.get("hashed_kinds", [NAMES_UNKNOWN])[0]),
            classes=core.classes,
            planes=core.planes,
            numbers=numbers | family.read(state, named, _settings(like)),
        )

    @classmethod
    def beyond(cls, part: Any, base: Any) -> Sums:
        """What a part has learned beyond a base, ready to be added to that of others."""
        found = cls.of(part)
        if _has_learned(base):
            before = cls.of(base)
            taken = {name: -value for name, value in before.numbers.items()}
            found = dataclasses.replace(before, numbers=taken) + found
        numbers = dict(found.numbers)
        for name, quantity in found.family.quantities.items():
            if quantity.size_of is not None:
                numbers[name] = np.abs(numbers[quantity.size_of])
        found = dataclasses.replace(found, numbers=numbers)
        weighted = {name: numbers[name] * numbers[by] for name, by in found.means.items()}
        return dataclasses.replace(found, numbers=numbers | weighted)

    @property
    def family(self) -> Family:
        """How the numbers are read and written."""
        return _family_of(self.like)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """What each of the numbers is."""
        known = {**COUNTS, **self.family.quantities}
        return {name: known[name] for name in self.numbers}

    @property
    def means(self) -> dict[str, str]:
        """Quantities that are a mean, and the counts that weight them."""
        return {name: q.mean_by for name, q in self.quantities.items() if q.mean_by is not None}

    def __add__(self, other: Sums) -> Sums:
        _check_alike(self.like, other.like)
        of_a, of_b = (each.origin["declared"] for each in (self, other))
        if of_a and of_b and {*of_a} != {*of_b}:
            raise ParameterError(
                f"Only models of the same declared classes can be merged, not {of_a} and {of_b}."
            )
        features = _united_features(self.features, other.features)
        classes = list({(type(c), c): c for c in [*self.classes, *other.classes]}.values())
        a, b = (each._placed(features, classes) for each in (self, other))
        return dataclasses.replace(
            self,
            like=other.like,
            features=features,
            classes=classes,
            hashed_kinds=self.hashed_kinds | other.hashed_kinds,
            numbers={name: value + b[name] for name, value in a.items()},
        )

    def _placed(self, features: list[Any] | None, classes: list[Any]) -> Numbers:
        """The numbers as they are among more features and classes."""
        place = {(type(c), c): n for n, c in enumerate(self.classes)}
        places = [place.get((type(c), c), -1) for c in classes]
        if features == self.features and places == list(range(len(self.classes))):
            return self.numbers
        strategy = self.like._strategy(self.origin["declared"])
        sources = column_sources(strategy, len(self.classes), places)
        source, sign = np.array([s for s, _ in sources]), np.array([s for _, s in sources])
        slots = None
        if features is not None and features != self.features:
            there = {name: n for n, name in enumerate(features, start=1)}
            slots = np.array([0, *(there[name] for name in self.features or [])])
        found = {}
        for name, quantity in self.quantities.items():
            value = self.numbers[name]
            if quantity.of != "model":
                value = np.where(source < 0, 0.0, value[..., source])
                if quantity.signed:
                    value = value * sign
            if quantity.of == "cell" and slots is not None:
                grown = np.zeros((*value.shape[:-2], len(features or []) + 1, value.shape[-1]))
                grown[..., slots, :] = value
                value = grown
            found[name] = value
        return found

    def model(self, began: float = -1) -> Any:
        """The model that has learned this, beyond a base that had learned so many rows."""
        n, classes = self.numbers, len(self.classes)
        if self.family is FAMILIES["yarrow"] and len(self.features or []) <= SPLINE_FEATURES:
            raise ParameterError(
                f"{type(self.like).__name__} cannot be merged while it knows at most "
                f"{SPLINE_FEATURES} features, since their splines do not add up: use "
                "AROWClassifier."
            )
        settings = _settings(self.like)._replace(began=began)
        planes, tensors = self.family.write(n, settings)
        stacked = np.concatenate([planes[name] for name in dict.fromkeys(self.planes)])
        blocks = np.ascontiguousarray(np.moveaxis(stacked, 0, 1), dtype=self.like.dtype)
        zeros = np.zeros(blocks.shape[2])
        lapse, bound = min(max(n["lapse"], 0.0), 1 - 1 / max(2, classes)), np.abs(blocks).max()
        scalars = {name: n[name] for name in ("t", "updates", "mistakes")} | {
            "classes": classes, "penalty": 0, "weight_bound": bound, "sum_bound": bound,
            "c": np.exp(n["log_c"]), "lapse": lapse, "next_fit": n["t"],
        }  # fmt: skip
        tensors = {
            "blocks": blocks,
            "scale": zeros + 1,
            "ww": zeros,
            "scale_sum": zeros,
            "restarts": zeros,
            "column_updates": n["column_updates"],
            "column_memory": n["column_memory"],
            "scalars": np.array([scalars[name] for name in SCALARS], dtype=np.float64),
            "calibration_right": np.maximum(n["right"], 0.0),
            "calibration_wrong": np.maximum(n["wrong"], 0.0),
        } | tensors
        if self.features is not None:
            tensors |= _flat_names(self.features)
        elif self.hashed_kinds < NAMES_UNKNOWN:
            tensors["hashed_kinds"] = np.array([self.hashed_kinds], dtype=np.uint8)
        merged = copy.deepcopy(self.like)
        merged._restore({**self.origin, "tensors": tensors, "classes": self.classes,
                         "made_with": self.like.get_params(deep=False)})  # fmt: skip
        return merged


# -- names of features -----------------------------------------------------------------------------


def _columns(names: list[Any]) -> int:
    """How many of the first ones are the columns 0, 1, 2, ... of an array."""
    return next((n for n, name in enumerate(names) if name != n), len(names))


def _united_features(a: list[Any] | None, b: list[Any] | None) -> list[Any] | None:
    """All names of both in the order of their appearance, but columns of arrays first."""
    if a is None or b is None or a == b:
        return a
    kinds = [{isinstance(name, str) for name in names} for names in (a, b)]
    if kinds in ([{True}, {False}], [{False}, {True}]):
        name = next(name for name in [*a, *b] if isinstance(name, str))
        raise ParameterError(
            "Models cannot be merged of which one was taught by columns without names, and another "
            f"by features that have them, such as {name!r}."
        )
    return list(dict.fromkeys([*range(max(_columns(a), _columns(b))), *a, *b]))


def _flat_names(names: list[Any]) -> dict[str, Any]:
    """Names as a saved state holds them."""
    columns = _columns(names)
    texts = [isinstance(name, str) for name in names[columns:]]
    pieces = [
        name.encode() if isinstance(name, str) else name.to_bytes(8, "little", signed=True)
        for name in names[columns:]
    ]
    return {
        "name_columns": np.array([columns], dtype=np.int64),
        "name_kinds": np.array([0 if text else 1 for text in texts], dtype=np.uint8),
        "name_offsets": np.cumsum([0, *map(len, pieces)]).astype(np.uint64),
        "name_bytes": np.frombuffer(b"".join(pieces), dtype=np.uint8),
    }


# -- what can be merged ----------------------------------------------------------------------------


def _has_learned(model: Any) -> bool:
    return model is not None and "_model" in model.__dict__


def _unlearned(model: Any) -> Any:
    """An estimator with the parameters that a model has learned with, and its source's columns."""
    learner = type(model)(**model.__dict__.get("_made_with", model.get_params(deep=False)))
    kept = ("_n_features_in", "_feature_names_in", "_stream")
    learner.__dict__.update({key: model.__dict__[key] for key in kept if key in model.__dict__})
    return learner


def _settings(learner: Any) -> Settings:
    variance = np.asarray(learner._initial_variance(), learner.dtype)
    return Settings(bool(getattr(learner, "average", False)), 1 / float(variance))


def _family_of(model: Any) -> Family:
    """How a model's numbers add up, or one sentence that they do not."""
    name = type(model).__name__
    if isinstance(model, (str, os.PathLike)):
        raise ParameterError(f"Give models to merge, not paths: yarrow.load({str(model)!r}).")
    if not isinstance(model, LinearModel):
        raise ParameterError(
            f"{name} cannot be merged: what it learns is no sum over rows; train it in one place."
        )
    kind, rule = model._kind().name, model._rule().name
    if kind not in FAMILIES or rule in KEEPING:
        raise ParameterError(
            f"{name} with these settings cannot be merged: the numbers of its loop ({kind}, rule "
            f"{rule}) do not add up; AROWClassifier, PassiveAggressiveClassifier and RDAClassifier "
            "with their defaults can be."
        )
    return FAMILIES[kind]


def _check_alike(a: Any, b: Any) -> None:
    if type(a) is not type(b):
        raise ParameterError(
            f"Only models of one class can be merged, not {type(a).__name__} and "
            f"{type(b).__name__}."
        )
    ours, theirs = a.get_params(deep=False), b.get_params(deep=False)
    for name, value in ours.items():
        if name != "n_jobs" and repr(value) != repr(theirs[name]):
            raise ParameterError(
                f"Only models with the same parameters can be merged: {name} is {value!r} and "
                f"{theirs[name]!r}."
            )
