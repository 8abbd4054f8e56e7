"""Online factorization for the order of items (Ling, Yang, King and Lyu, 2012)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from yarrow.decomposition.base import LARGEST, Floats, softmax
from yarrow.decomposition.factorization import Factorization
from yarrow.decomposition.saved_state import numbers
from yarrow.errors import ModelFileError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import integer
from yarrow.saving import schema


@estimator
class OnlineRankMF(Factorization):
    """Put items in the order that a user would: online ranking matrix factorization.

    Use it for recommendations, where the order of items matters and the ratings do not. Use
    `OnlineMatrixFactorization` where the rating itself is asked for.

    `predict` gives scores: only their order within a user means something. A score is a bias of the
    item and the inner product of factors. Ratings of a user, and scores, are each turned into the
    chances that an item is the first one (a softmax); a step goes down the gradient of the cross
    entropy between the two. The paper sums over all ratings of the user; here the sum is over the
    last `n_kept` of them and the new one, so that memory and time do not grow.

    Examples
    --------
    >>> model = OnlineRankMF(n_factors=2)
    >>> for _ in range(30):
    ...     model.learn_one({"user": 1, "item": "film"}, 5)
    ...     model.learn_one({"user": 1, "item": "book"}, 1)
    >>> model.recommend(1)
    ['film', 'book']
    """

    n_kept: int = integer(default=20, doc="Ratings of each user that are kept.", at_least=1)

    _of_users: ClassVar[tuple[str, ...]] = (
        "_user_factors", "_kept_items", "_kept_ratings", "_n_ratings",
    )  # fmt: skip
    _of_items: ClassVar[tuple[str, ...]] = ("_item_factors", "_item_biases")

    def _start(self) -> None:
        super()._start()
        self._item_biases = np.zeros(0)
        self._kept_items = np.zeros((0, self.n_kept), np.int64)
        self._kept_ratings = np.zeros((0, self.n_kept))
        self._n_ratings = np.zeros(0, np.int64)  # of each user

    def _learn_rating(self, user: int, item: int, rating: float) -> None:
        count, size = int(self._n_ratings[user]), self._kept_items.shape[1]
        known = min(count, size)
        others = self._kept_items[user, :known] != item  # a new rating of an item is in its place
        items = np.append(self._kept_items[user, :known][others], item)
        ratings = np.append(self._kept_ratings[user, :known][others], rating)
        if len(items) > 1:
            self._step(user, items, ratings)
        place = count % size
        if not others.all():
            place = int(np.flatnonzero(~others)[0])
        else:
            self._n_ratings[user] += 1
        self._kept_items[user, place], self._kept_ratings[user, place] = item, rating

    def _touched(self, pairs: list[tuple[Hashable, Hashable]]) -> tuple[list[int], list[int]]:
        """Items that a user has rated before learn with each new rating of his."""
        users, items = super()._touched(pairs)
        known = [user for user in users if user < len(self._kept_items)]
        return users, [*items, *np.unique(self._kept_items[known]).tolist()]

    def _expected(self) -> dict[str, schema.Schema]:
        kept = ("room for users", self.n_kept)
        return super()._expected() | {
            "_item_biases": numbers(("room for items",)),
            "_kept_items": schema.Array("i8", kept, at_least=0),
            "_kept_ratings": numbers(kept),
            "_n_ratings": schema.Array("i8", ("room for users",), at_least=0),
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if (state["_kept_items"] >= max(1, sizes["room for items"])).any():
            raise ModelFileError("it keeps a rating of an item that is not there")

    def _step(self, user: int, items: Any, ratings: Floats) -> None:
        mine, its = self._user_factors[user], self._item_factors[items]
        slopes = softmax(its @ mine + self._item_biases[items]) - softmax(ratings)
        rate = self.learning_rate
        l2 = self._shrink(rate)
        self._item_biases[items] -= rate * (slopes + l2 * self._item_biases[items])
        of_user, of_items = slopes @ its, np.outer(slopes, mine)
        if self.steps == "dual_averaging":
            self._average(1, items, of_items)
            self._average(0, [user], of_user[None])
        else:
            self._item_factors[items] -= rate * (of_items + l2 * its)
            mine -= rate * (of_user + l2 * mine)
        if rate > 1:  # such steps may go ever farther
            for numbers in (self._item_factors, self._item_biases, mine):
                np.clip(numbers, -LARGEST, LARGEST, out=numbers)

    def _score(self, user: int | None, item: int | None) -> float:
        if item is None:
            return 0.0
        score = float(self._item_biases[item])
        if user is not None:
            score += float(self._user_factors[user] @ self._item_factors[item])
        return score
