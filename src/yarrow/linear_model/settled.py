"""What the learners without settings predict by, settled for an export (docs/export.md).

All that depends on counts and times of learning becomes a number: a column's scale, what a feature
says to naive Bayes, what each expert is worth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from yarrow.data.arrays import Array
from yarrow.data.labels import order_of
from yarrow.lazy import np
from yarrow.saving.export_experts import Columns, Expert, Term, places_of

#: the core's numbers: knots, features in pairs (core/mixture/spline.hpp), the limits of a score and
#: of a standardised value, and how much of naive Bayes and of a logistic score is heard
_KNOTS, _MOST_PAIRED = 7, 4
_CUT, _LIMIT = 3.0, 2.0
_BAYES_GAIN, _LOGISTIC_GAIN = 0.1, 0.5


@dataclasses.dataclass(frozen=True)
class Features:
    """The features that were seen: where they stand, and what brings them to scale."""

    slots: Array  # in the blocks
    numbers: Array  # among few features; of as many as there are none
    columns: Columns
    few: bool  # up to 64
    bent: bool  # up to 128

    @classmethod
    def of(
        cls, model: Any, state: Mapping[str, Any], at: int, limit: float, only_varying: bool
    ) -> Features:
        """From the statistics in the planes of the blocks from a place on."""
        visits, mean, deviation = np.asarray(state["blocks"][:, at : at + 3, 0], np.float64).T
        few = "full_weights" in state
        listed = np.asarray(state.get("few_features", ()), dtype=np.int64)
        slots = listed + 1 if "few_features" in state else np.arange(1, len(visits))
        numbers = np.flatnonzero(visits[slots] > 0)
        slots = slots[numbers]
        p = np.minimum(1.0, visits[slots] / max(visits[0], 1e-300))
        a, s = mean[slots], deviation[slots]
        largest = np.maximum(np.maximum(np.abs(a), s), 1e-300)  # whose square is a number
        squared = (s / largest) ** 2 + (a / largest) ** 2 * (1 - p**4)
        varies = squared > 1e-12 * (a / largest) ** 2
        bent = "few_features" in state
        bends = np.full(len(slots), bent) & (few | (s > 0) | (not only_varying))
        names = model.feature_names_
        place_of = {slot - 1: place for place, slot in enumerate(slots.tolist())}
        zeros = [
            place_of[feature] for feature in np.asarray(state.get("table_columns", ())).tolist()
        ]
        columns = Columns(
            [names[slot - 1] for slot in slots.tolist()],
            a * p**2,
            np.where(varies, largest * np.sqrt(squared), 0.0),
            bends,
            limit,
            few and len(listed) <= _MOST_PAIRED,
            zeros,
        )
        return cls(slots, numbers, columns, few, bent)

    def pieces(self) -> Array:
        """The pieces of each feature's knots."""
        first = _first_piece(self.numbers)
        return first[:, None] + np.arange(_KNOTS)

    def pairs(self) -> Array:
        """Those of each two features, the later one first: its pairs with all before it."""
        both = [
            _first_piece(np.array([two]))[0] + _KNOTS + _KNOTS**2 * one
            for place, two in enumerate(self.numbers.tolist())
            for one in self.numbers[:place].tolist()
        ]
        return np.array(both, dtype=np.int64)[:, None] + np.arange(_KNOTS**2)

    def terms(self, by_piece: Array, divided: bool) -> list[Term]:
        """Numbers of pieces (columns x pieces) as the terms of an expert."""
        by_piece = by_piece.T
        terms = [Term("knots", by_piece[self.pieces()].swapaxes(1, 2), divided)]
        if self.columns.paired:
            terms.append(Term("pairs", by_piece[self.pairs()].swapaxes(1, 2), divided))
        return terms


def _first_piece(numbers: Array) -> Array:
    paired = np.minimum(numbers, _MOST_PAIRED)
    first: Array = 3 + _KNOTS * numbers + _KNOTS**2 * (paired * (paired - 1) // 2)
    return first


def _log_odds(hits: Array, visits: Any, smoothing: float) -> Array:
    odds: Array = np.log((hits + smoothing) / (np.maximum(visits - hits, 0) + smoothing))
    return odds


def settled_classifier(
    model: Any, names: list[str], arows: int, smoothing: tuple[float, float]
) -> tuple[Columns, list[Expert]]:
    """The columns and the experts of a YarrowClassifier, whose linear ones have these names."""
    core, linear = model._fitted, len(names)
    state, of_class = core.get_state(), core.plane(0)[1]
    order = order_of(core.classes[: len(of_class)])
    columns, sign = np.asarray(of_class)[order], 1.0
    if len(order) <= 2:  # one column for both: it speaks for the second one that was seen
        columns, sign = columns[-1:], 1.0 if order.tolist() == [0, 1] else -1.0
    features = Features.of(model, state, 2 * linear + 1, _LIMIT, only_varying=True)
    dtype = state["blocks"].dtype
    cells = np.asarray(state["blocks"], np.float64)[:, : 2 * linear + 2][:, :, columns]
    own, constant = cells[features.slots], model._constant
    worth = state["mixture"]
    visits, weight = worth[-2:]
    a, c = smoothing
    bias = -_log_odds(state["mixture_hits"][columns], visits, c)
    evidence = _log_odds(own[:, -2], own[:, -1], a) + bias

    def expert(name: str, place: int, constant: Any, *terms: Term, **more: Any) -> Expert:
        signed = [
            dataclasses.replace(term, numbers=(sign * term.numbers).astype(dtype)) for term in terms
        ]
        return Expert(name, float(worth[place]), sign * constant, signed, _CUT, **more)

    experts = []
    for e, name in enumerate(names):
        gain = 1.0 if e < arows else _LOGISTIC_GAIN
        seen = np.abs(evidence) if e == 0 and not features.few else 1.0
        values = Term("values", gain * own[:, e] * seen)
        experts.append(expert(name, e, gain * constant * cells[0, e], values))
    bayes = [] if features.few else [Term("presence", _BAYES_GAIN * evidence, False)]
    if features.bent:
        pieces = np.asarray(state["bends"], np.float64)[columns]
        spline = features.terms(pieces[:, :, 0], True)
        heard = constant * pieces[:, 0, 0]
        experts.append(
            expert("AROW on splines", linear, heard, *spline, needs_knots=not features.few)
        )
        hits, of_piece = pieces[:, :, 2], pieces[:, :, 3]
        said = np.where(of_piece > 0, _log_odds(hits, of_piece, a) + bias[:, None], 0.0)
        bayes += features.terms(_BAYES_GAIN * said, False)
    prior = _log_odds(state["mixture_weights"][columns], weight, a)
    experts.append(expert("naive Bayes", linear + 1, _BAYES_GAIN * prior, *bayes))
    if features.few:
        full = np.asarray(state["full_weights"], np.float64)[columns].T
        values = Term("values", full[features.numbers + 1])
        experts.append(expert("AROW, full covariance", linear + 2, constant * full[0], values))
    if "pair_weights" in state:
        numbers = np.zeros(len(cells) - 1, dtype=np.int64)  # as the core numbers features for pairs
        numbers[state["pair_features"]] = np.arange(1, len(state["pair_features"]) + 1)
        of_pairs = np.asarray(state["pair_weights"], np.float64)[columns].T
        of = numbers[features.slots - 1]
        products = Term("products", of_pairs[: places_of(of)], False, of)
        nothing = np.zeros(len(columns))
        experts.append(expert("AROW on products", linear + 3, nothing, products))
    return features.columns, experts


def shares_of_experts(
    state: Mapping[str, Any], experts: tuple[str, ...], rate: float
) -> dict[str, float]:
    """How much of the prediction each expert of a YarrowRegressor makes: the stack's part, too."""
    numbers, count = np.asarray(state["regression"], np.float64), len(experts)
    silent = set()
    if "full_weights" not in state:
        silent |= {experts.index("covariance"), experts.index("drifting")}
    if "few_features" not in state:
        silent.add(experts.index("spline"))
    weights = numbers[7 : 7 + count]
    losses = numbers[7 + count + count**2 :][: count + 1]  # the stack's is the last
    heard = [e for e in range(count + 1) if e not in silent]
    shares = np.zeros(count + 1)
    shares[heard] = np.exp(-rate * (losses[heard] - losses[heard].min()))
    found = (shares[:-1] + shares[-1] * weights) / shares.sum()
    return dict(zip(experts, found.tolist(), strict=True))


def settled_regressor(
    model: Any, experts: tuple[str, ...], rate: float, limit: float
) -> tuple[Columns, list[Expert]]:
    """The columns and the one sum of a YarrowRegressor: nothing of it is cut."""
    state = model._fitted.get_state()
    numbers = np.asarray(state["regression"], np.float64)
    features = Features.of(model, state, 4, limit, only_varying=False)
    by = shares_of_experts(state, experts, rate)
    by["covariance" if features.few else "steady"] += by["spline"]  # which stands on it

    blocks, unit = np.asarray(state["blocks"], np.float64)[:, :2, 0], model._constant
    centre, last = numbers[:2]
    values = blocks[features.slots] @ [by["steady"], by["fading"]]
    constant = centre + by["last"] * (last - centre)
    constant += unit * (blocks[0] @ [by["steady"], by["fading"]])
    terms = []
    if features.few:
        full = by["covariance"] * np.asarray(state["full_weights"])[0]
        full = full + by["drifting"] * np.asarray(state["drifting_weights"])
        values = values + full[features.numbers + 1]
        constant += unit * full[0]
    if features.bent:
        pieces = by["spline"] * np.asarray(state["bends"])[:, :, 0]
        terms = features.terms(pieces, True)
        constant += unit * pieces[0, 0]
    terms.insert(0, Term("values", values[:, None]))
    return features.columns, [Expert("prediction", 1.0, [constant], terms)]
