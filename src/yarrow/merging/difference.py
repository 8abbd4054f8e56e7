"""What parts have learned since they had a common base, as sums; and the model made of them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable
from typing import Any

from yarrow.base.linear import LinearModel
from yarrow.errors import ParameterError
from yarrow.lazy import np
from yarrow.merging.layout import Names, Outputs, unite_classes, unite_names
from yarrow.merging.sums import KEEPING, LOOPS, SIGNED, LoopSums, State, Sums

_BINS = 96  #: of a calibration, where all are in use
_OF_COLUMNS = {"column_updates": "updates", "column_memory": "memory"}


def merge(parts: Iterable[Any], base: Any = None) -> Any:
    """One model of several that learned apart: a new one, the parts stay as they are.

    Parameters
    ----------
    parts : estimators of one class with the same parameters
    base : the model that all of them went on from; None: each began from nothing. It counts once.

    Returns
    -------
    estimator
        Counters are those of all rows. Weights of the affine family are the mean of the parts',
        weighted by their updates; of the confidence family the product of Gaussians; the sums of
        dual averaging add up. Of a single part it is a copy.

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
    found = [Difference.of(part, base) for part in parts]
    if not found:
        raise ParameterError("There is nothing to merge: give at least one part.")
    return add_all(found).finish(base)


def add_all(found: list[Difference]) -> Difference:
    """The sum by a tree whose shape depends on their number alone: neighbours first."""
    while len(found) > 1:
        pairs = zip(found[::2], [*found[1::2], None], strict=False)
        found = [a if b is None else a + b for a, b in pairs]
    return found[0]


@dataclasses.dataclass(frozen=True)
class Difference:
    """What one part, or several, have learned beyond a base. `+` is associative but for rounding.

    `sums` are slots x columns, `columns` a number a column, `counts` numbers of the whole.
    """

    like: Any  #: an estimator with the parameters, without what it learned
    origin: dict[str, Any]  #: declared classes and their weights
    names: Names | None
    outputs: Outputs
    sums: Sums
    columns: Sums
    counts: Sums
    hashed_kinds: int = 0  #: of names that were hashed; see core/saved_state.hpp
    only: Any = None  #: the part itself, as long as it is the only one

    @classmethod
    def of(cls, part: Any, base: Any = None) -> Difference:
        """What a part has learned beyond a base."""
        loop = _loop_of(part)
        found = cls._of_whole(part, loop)
        before = found._base(base, loop)
        found = found._placed(*unite_names(found.names, before.names)[:2], before.outputs, loop)
        changed: dict[str, Any] = {
            kind: {key: value - getattr(before, kind)[key] for key, value in numbers.items()}
            for kind, numbers in found._numbers().items()
        }
        if loop.mixed:  # weights become a mean, in which a part counts as often as it moved
            changed["sums"]["weight"] *= changed["columns"]["updates"]
        for key in ("log_c", "lapse"):
            changed["counts"][key] *= changed["counts"]["t"]
        return dataclasses.replace(found, **changed, only=part)

    @classmethod
    def _of_whole(cls, model: Any, loop: LoopSums) -> Difference:
        """All that a model has learned, as sums."""
        core, learner = model._fitted, _unlearned(model)
        state = core.get_state()
        t, updates, mistakes, *_ = state["scalars"]
        c, lapse = state["scalars"][7:9]
        counts = {"t": t, "updates": updates, "mistakes": mistakes}
        counts |= {"log_c": np.log(c), "lapse": lapse}
        for side in ("right", "wrong"):
            bins = state[f"calibration_{side}"]
            counts[side] = np.pad(bins, (0, _BINS - len(bins)))
        return cls(
            like=learner,
            origin={"declared": core.declared, "class_weights": core.class_weights},
            hashed_kinds=int(state.get("hashed_kinds", [0])[0]),
            names=Names.of(state),
            outputs=Outputs(learner._strategy(core.declared).name, core.classes),
            sums=loop.read(State(state, _averages(learner))),
            columns={key: state[name] for name, key in _OF_COLUMNS.items()},
            counts=counts,
        )

    def _base(self, base: Any, loop: LoopSums) -> Difference:
        """What a base had learned, with at least these features and classes."""
        if not _has_learned(base):
            fresh = {key: np.full_like(value, self._fresh(key)) for key, value in self.sums.items()}
            return dataclasses.replace(
                self,
                sums=fresh,
                columns={key: np.zeros_like(value) for key, value in self.columns.items()},
                counts={key: np.zeros_like(value) for key, value in self.counts.items()},
            )
        _check_alike(self.like, base)
        found = Difference._of_whole(base, loop)
        classes = unite_classes(found.outputs.classes, self.outputs.classes)
        names, of_base, _ = unite_names(found.names, self.names)
        outputs = Outputs(self.outputs.strategy, classes)
        return found._placed(names, of_base, outputs, loop)

    def _fresh(self, key: str) -> float:
        """What a sum is before the first row."""
        if key != "precision":
            return 0.0
        return float(1 / np.asarray(self.like._initial_variance(), self.like.dtype).astype(float))

    def _numbers(self) -> dict[str, Sums]:
        return {"sums": self.sums, "columns": self.columns, "counts": self.counts}

    def _placed(
        self, names: Names | None, places: Any, outputs: Outputs, whole: LoopSums | None = None
    ) -> Difference:
        """The same with more features and classes; in a `whole` model new ones are fresh."""
        source, sign = np.array(outputs.columns_from(self.outputs)).T
        columns = {key: np.where(source < 0, 0.0, n[source]) for key, n in self.columns.items()}
        sums = {}
        for key, value in self.sums.items():
            initial = self._fresh(key) if whole else 0.0
            slots = len(value) if names is None else len(names) + 1
            moved = np.full((slots, len(source)), initial)
            signs = sign if key in SIGNED else 1
            turned = np.where(source < 0, initial, value[:, source] * signs)
            if places is None:
                moved[: len(turned)] = turned
            else:
                moved[0], moved[places + 1] = turned[0], turned[1:]
            sums[key] = moved
        return dataclasses.replace(
            self, names=names, outputs=outputs, sums=sums, columns=columns, only=None
        )

    def __add__(self, other: Difference) -> Difference:
        _check_alike(self.like, other.like)
        names, of_self, of_other = unite_names(self.names, other.names)
        classes = unite_classes(self.outputs.classes, other.outputs.classes)
        outputs = Outputs(self.outputs.strategy, classes)
        a = self._placed(names, of_self, outputs)
        b = other._placed(names, of_other, outputs)
        both: dict[str, Any] = {
            kind: {key: value + getattr(b, kind)[key] for key, value in numbers.items()}
            for kind, numbers in a._numbers().items()
        }
        return dataclasses.replace(a, **both, hashed_kinds=a.hashed_kinds | b.hashed_kinds)

    def finish(self, base: Any = None) -> Any:
        """The base and all that was added to it, as one model."""
        if self.only is not None:
            return copy.deepcopy(self.only)
        loop = _loop_of(self.like)
        before = self._base(base, loop)
        added = self._placed(before.names, unite_names(self.names, before.names)[1], before.outputs)
        total = {
            kind: {key: value + getattr(before, kind)[key] for key, value in numbers.items()}
            for kind, numbers in added._numbers().items()
        }
        sums, columns, counts = total["sums"], total["columns"], total["counts"]
        if loop.mixed:
            moves = np.maximum(added.columns["updates"], 1)
            sums["weight"] = before.sums["weight"] + added.sums["weight"] / moves
        rows = max(added.counts["t"], 1.0)
        log_c, lapse = (before.counts[k] + added.counts[k] / rows for k in ("log_c", "lapse"))
        planes = loop.write(sums, counts["t"], _averages(self.like))
        dtype = np.dtype(self.like.dtype)
        blocks = np.ascontiguousarray(np.stack(planes, axis=1), dtype=dtype)
        n, largest = blocks.shape[2], float(np.abs(blocks).max())
        most = 1 - 1 / max(2, len(added.outputs.classes))
        squares = np.square(blocks[:, 0, :].astype(np.float64)).sum(axis=0)
        tensors = {
            "blocks": blocks,
            "scale": np.ones(n),
            "ww": squares if loop.mixed else np.zeros(n),
            "scale_sum": np.zeros(n),
            "restarts": np.zeros(n),
            # Calibration is fitted anew at the next row.
            "scalars": np.array(
                [counts["t"], counts["updates"], counts["mistakes"],
                 len(added.outputs.classes), 0.0, largest, largest,
                 np.exp(log_c), min(max(lapse, 0.0), most), counts["t"]]
            ),
        }  # fmt: skip
        tensors |= {name: columns[key] for name, key in _OF_COLUMNS.items()}
        for side in ("right", "wrong"):
            tensors[f"calibration_{side}"] = np.maximum(counts[side], 0.0)
        if before.names is not None:
            tensors |= before.names.arrays()
        elif self.hashed_kinds:
            tensors["hashed_kinds"] = np.array([self.hashed_kinds], dtype=np.uint8)
        merged = copy.deepcopy(self.like)
        merged._restore(self.origin | {"tensors": tensors, "classes": added.outputs.classes,
                                       "made_with": self.like.get_params(deep=False)})  # fmt: skip
        return merged


def _has_learned(model: Any) -> bool:
    return model is not None and "_model" in model.__dict__


def _averages(learner: Any) -> bool:
    return bool(getattr(learner, "average", False))


def _unlearned(model: Any) -> Any:
    """An estimator with the parameters that a model has learned with, and its source's columns."""
    learner = type(model)(**model.__dict__.get("_made_with", model.get_params(deep=False)))
    kept = ("_n_features_in", "_feature_names_in", "_stream")
    learner.__dict__.update({key: model.__dict__[key] for key in kept if key in model.__dict__})
    return learner


def _loop_of(model: Any) -> LoopSums:
    """How a model's numbers add up, or one sentence that they do not."""
    name = type(model).__name__
    if not isinstance(model, LinearModel):
        raise ParameterError(
            f"{name} cannot be merged: what it learns is no sum over rows; train it in one place."
        )
    loop, rule = model._loop().name, model._rule().name
    if loop not in LOOPS or rule in KEEPING:
        raise ParameterError(
            f"{name} with these settings cannot be merged: the numbers of its loop ({loop}, rule "
            f"{rule}) do not add up; AROWClassifier, PassiveAggressiveClassifier and RDAClassifier "
            "with their defaults can be."
        )
    return LOOPS[loop]


def _check_alike(a: Any, b: Any) -> None:
    if type(a) is not type(b):
        raise ParameterError(
            f"Only models of one class can be merged, not {type(a).__name__} and "
            f"{type(b).__name__}."
        )
    ours, theirs = (_unlearned(each).get_params(deep=False) for each in (a, b))
    for name, value in ours.items():
        if repr(value) != repr(theirs[name]):
            raise ParameterError(
                f"Only models with the same parameters can be merged: {name} is {value!r} and "
                f"{theirs[name]!r}."
            )
