"""What each feature of a row adds to a score of `YarrowClassifier`, from the model's state."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array
from yarrow.lazy import np

#: as core/mixture/bends.hpp has them
KNOTS, MOST_PAIRED = 7, 4
#: how much of the experts' scores is heard (core/mixture/experts.hpp): four AROWs, two logistic
#: regressions, AROW on bent rows, naive Bayes, AROW with a full covariance
HEARD = (1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 1.0, 0.1, 1.0)
STRAIGHT, BENT, BAYES, FULL = 6, 6, 7, 8
#: the most that is heard of an expert (core/mixture/mixture.hpp)
MOST = 3.0


class Parts:
    """One column of a state, asked about one row.

    >>> Parts(state, column, intercept=0.5, smoothing=(0.3, 10.0))  # doctest: +SKIP
    """

    def __init__(
        self, state: dict[str, Any], column: int, intercept: float, smoothing: tuple[float, float]
    ) -> None:
        self._blocks = state["blocks"][:, :, column].astype(np.float64)
        mixture = state["mixture"]
        self._worth = np.asarray(mixture[: len(HEARD)])
        visits, weight = mixture[-2:]
        self._intercept = intercept
        self._smoothing, all_smoothing = smoothing
        hits = state["mixture_hits"][column]
        self._lean = -_log_odds(hits, visits, all_smoothing)
        self._prior = _log_odds(state["mixture_weights"][column], weight, self._smoothing)
        is_few = "full_weights" in state
        self._full = state["full_weights"][column] if is_few else None
        pieces = state.get("bends")
        self._pieces = None if pieces is None else pieces[column].astype(np.float64)
        features = state.get("few_features", [])
        self._numbers = {int(feature): number for number, feature in enumerate(features)}

    def of(self, places: Array, values: Array) -> tuple[Array, float]:
        """What the features at these places add, and the constant one.

        Names that share a place share what it adds, by their values.
        """
        own, which = np.unique(places, return_inverse=True)
        together = np.bincount(which, values)
        amounts, constant = self._of_places(own, together)
        sums = together[which]
        shares = np.divide(values, sums, out=np.zeros(len(values)), where=sums != 0)
        return shares * amounts[which], constant

    def _of_places(self, places: Array, values: Array) -> tuple[Array, float]:
        n = self._blocks[places + 1, 13]
        seen = (places >= 0) & (n > 0) & (values != 0)
        z = self._standardized(places, values) * seen
        amounts, constants = self._straight(places, z, seen)  # a column an expert
        hits, visits = self._blocks[places + 1, 12], np.where(seen, n, 1.0)
        if self._full is None:
            said = _log_odds(hits * seen, visits, self._smoothing) + self._lean
            amounts[:, BAYES] = seen * said
        constants[BAYES] = self._prior
        bent = seen if self._full is not None else seen & (self._blocks[places + 1, 15] > 0)
        if self._pieces is not None and (self._full is not None or bent.any()):
            amounts[:, [BENT, BAYES]] += self._bent(places, z, bent)
            constants[BENT] = self._intercept * self._pieces[0, 0]
        worth = self._worth * self._heard(amounts.sum(axis=0) + constants)
        return amounts @ worth, float(constants @ worth)

    def _heard(self, scores: Array) -> Array:
        """How much of each expert's score is heard: of one that shouts a smaller part."""
        loud = np.abs(HEARD * scores)
        return np.asarray(HEARD) * MOST / np.maximum(MOST, loud)

    def _standardized(self, places: Array, values: Array) -> Array:
        """As core/mixture/standardized.hpp does it, in units in which no square is too large."""
        n, a, s = self._blocks[places + 1, 13:16].T
        unit = np.maximum(np.abs(a), s)
        unit[unit == 0] = 1.0
        with np.errstate(over="ignore"):
            a, s, x = a / unit, s / unit, values / unit
        p = n / max(self._blocks[0, 13], np.finfo(float).tiny)
        squared = s**2 + a**2 * (1 - p**4)
        varies = squared > 1e-12 * a**2
        return np.clip(
            np.where(varies, x - a * p**2, 0.0) / np.sqrt(np.where(varies, squared, 1)), -2, 2
        )

    def _straight(self, places: Array, z: Array, seen: Array) -> tuple[Array, Array]:
        """The experts whose score is a sum of weight times value, and what is constant in it."""
        cells = self._blocks[places + 1]
        own = np.ones(len(z))
        if self._full is None:
            visits = np.where(seen, cells[:, 13], 1.0)
            own = np.abs(_log_odds(cells[:, 12] * seen, visits, self._smoothing) + self._lean)
        weights, constants = np.zeros((len(z), len(HEARD))), np.zeros(len(HEARD))
        weights[:, :STRAIGHT] = cells[:, :STRAIGHT]
        weights[:, 0] *= own
        constants[:STRAIGHT] = self._blocks[0, :STRAIGHT]
        if self._full is not None:
            numbers = [self._numbers.get(int(place), -1) + 1 for place in places]
            weights[:, FULL], constants[FULL] = self._full[numbers], self._full[0]
        length = 1 / np.sqrt(max(1, int(seen.sum())))
        return (z * length)[:, None] * weights, self._intercept * constants

    def _bent(self, places: Array, z: Array, bent: Array) -> Array:
        """The pieces of each feature, and half of those that it shares with another.

        What they say to AROW on bent rows, and to naive Bayes.
        """
        known = np.flatnonzero(bent)
        paired = len(self._numbers) <= MOST_PAIRED
        count = len(known) + (len(known) * (len(known) - 1) // 2 if paired else 0)
        length = 1 / np.sqrt(max(1, count))
        place = (z + 2) * (KNOTS - 1) / 4
        knots = np.minimum(place.astype(np.int64), KNOTS - 2)
        shares = np.stack([1 - (place - knots), place - knots], axis=1)
        amounts = np.zeros((len(z), 2))
        number = {i: self._numbers[int(places[i])] for i in known}
        for i in known:
            first = _pieces_of(number[i]) + knots[i]
            amounts[i] += self._of_pieces(first + np.arange(2), shares[i], length)
        if not paired:
            return amounts
        for i in known:
            for j in (j for j in known if number[j] < number[i]):
                first = _pieces_of(number[i]) + KNOTS + KNOTS * KNOTS * number[j]
                around = (knots[j] + np.arange(2))[:, None] * KNOTS + knots[i] + np.arange(2)
                share = np.outer(shares[j], shares[i])
                both = self._of_pieces(first + around.ravel(), share.ravel(), length)
                amounts[i] += both / 2
                amounts[j] += both / 2
        return amounts

    def _of_pieces(self, pieces: Array, shares: Array, length: float) -> Array:
        assert self._pieces is not None
        weight, _, hits, visits = self._pieces[pieces].T
        said = _log_odds(hits, visits, self._smoothing) + np.where(visits > 0, self._lean, 0)
        return np.array([shares @ (length * weight), shares @ said])


def _pieces_of(feature: int) -> int:
    """The first piece of a feature, as core/mixture/bends.hpp numbers them."""
    paired = min(feature, MOST_PAIRED)
    return 3 + KNOTS * feature + KNOTS * KNOTS * (paired * (paired - 1) // 2)


def _log_odds(hits: Any, visits: Any, smoothing: float) -> Any:
    return np.log((hits + smoothing) / (visits - hits + smoothing))
