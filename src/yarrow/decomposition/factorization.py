"""Online factorization of ratings (Ling, Yang, King and Lyu, 2012)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

from yarrow.data.arrays import check_size, read_values
from yarrow.decomposition.base import LARGEST, Floats
from yarrow.decomposition.saved_state import Places, Stored, numbers
from yarrow.errors import DataError, ModelFileError
from yarrow.estimator import estimator, uninterrupted
from yarrow.lazy import np
from yarrow.parameters import choice, integer, number
from yarrow.saving import schema

_ROWS_A_DRAW = 256
#: of users, and of items
FACTORS = ("_user_factors", "_item_factors")
GRADIENTS = ("_user_gradients", "_item_gradients")


@estimator
class Factorization(Stored):
    """Base of the factorizations: a few numbers for each user and each item.

    Pairs come as dicts `{"user": ..., "item": ...}`, or as an array or list with two columns. Users
    and items may have any name that is hashable; a model file holds texts and numbers. The columns
    are names and no numbers, which is why scikit-learn's checks do not apply. Each rating is
    learned by itself, in order, so all chunkings give the same result. Memory grows with the users
    and the items, not with the ratings.

    With `steps="dual_averaging"`, after the paper's DA-PMF and DA-RMF, the factors of a user or an
    item are those that are best for the average of all their gradients so far, with the penalty
    l2/2 |w|² and one that fades, |w|²/(2 learning_rate sqrt(n)) after n of them: the dual averaging
    of Xiao (2010). What was learned early counts as much as what came last. Begin with
    `learning_rate=1`; several times more may diverge.
    """

    n_factors: int = integer(default=10, doc="Factors of a user, and of an item.", at_least=1)
    learning_rate: float = number(
        default=0.1, doc="Size of a step of the factors.", above=0, at_most=1e50
    )
    l2: float = number(default=0.02, doc="How much a step shrinks what it changes.", at_least=0)
    scale: float = number(default=0.1, doc="Spread of the first factors.", at_least=0, at_most=1e50)
    seed: int = integer(default=0, doc="Seed of the first factors.", at_least=0)
    steps: Literal["gradient", "dual_averaging"] = choice(
        default="gradient",
        options=("gradient", "dual_averaging"),
        doc="Factors go down each gradient, or are made of the average of all of theirs.",
    )

    river_bases: ClassVar[tuple[str, ...]] = ("Regressor",)
    regression: ClassVar[bool] = True
    _learned_as: ClassVar[str] = "_users"
    #: arrays with a line a user, and with a line an item
    _of_users: ClassVar[tuple[str, ...]] = ("_user_factors",)
    _of_items: ClassVar[tuple[str, ...]] = ("_item_factors",)

    # -- what a subclass says --------------------------------------------------------------------

    @abstractmethod
    def _learn_rating(self, user: int, item: int, rating: float) -> None:
        """Learn that a user, in this row, has rated the item in that row."""

    @abstractmethod
    def _score(self, user: int | None, item: int | None) -> float:
        """What is predicted for these rows; None is a user or an item never seen."""

    def _start(self) -> None:
        self._users: dict[Hashable, int] = {}
        self._items: dict[Hashable, int] = {}
        self._n_rows = 0
        self._user_factors = np.zeros((0, self.n_factors))
        self._item_factors = np.zeros((0, self.n_factors))
        if self.steps == "dual_averaging":  # the sum of all gradients, and how many they are
            self._user_gradients = np.zeros((0, self.n_factors + 1))
            self._item_gradients = np.zeros((0, self.n_factors + 1))

    def _arrays(self, side: int) -> tuple[str, ...]:
        """The arrays with a line a user (side 0) or an item."""
        own = (self._of_users, self._of_items)[side]
        return (*own, GRADIENTS[side]) if self.steps == "dual_averaging" else own

    def _grow(self) -> None:
        """Make place for new users and items: factors by chance, zeros of all else."""
        own = self.__dict__
        for side, (name, names) in enumerate(zip(FACTORS, (self._users, self._items), strict=True)):
            while len(names) > len(own[name]):
                rng = np.random.default_rng([self.seed, side, len(own[name])])
                more = self.scale * rng.standard_normal((_ROWS_A_DRAW, self.n_factors))
                own[name] = np.concatenate([own[name], more])
            for other in self._arrays(side):
                lines = [(0, len(own[name]) - len(own[other]))]
                own[other] = np.pad(own[other], lines + [(0, 0)] * (own[other].ndim - 1))

    def _average(self, side: int, rows: Any, gradients: Floats) -> None:
        """Dual averaging of the factors of some users (side 0) or items, a gradient each.

        After n gradients g the factors are argmin of w'(mean of g) + (l2/2 + 1/(2 learning_rate
        sqrt(n))) |w|^2.
        """
        sums = self.__dict__[GRADIENTS[side]]
        sums[rows, :-1] = np.clip(sums[rows, :-1] + gradients, -LARGEST, LARGEST)
        sums[rows, -1] += 1
        n = sums[rows, -1:]
        factors = -sums[rows, :-1] / (self.l2 * n + np.sqrt(n) / self.learning_rate)
        self.__dict__[FACTORS[side]][rows] = np.clip(factors, -LARGEST, LARGEST)

    # -- learning and predicting -----------------------------------------------------------------

    def learn_one(self, x: Mapping[str, Hashable], y: float) -> None:
        """Learn one rating: `x` names the user and the item."""
        self._check_parameters()
        user, item = _pair(x)
        try:
            rating = float(y)
        except (TypeError, ValueError):
            raise DataError(f"{y!r} is not a rating: it must be a number") from None
        if not abs(rating) <= LARGEST:
            raise DataError(f"{y!r} is not a rating: it must be a finite number")
        with self._lock, uninterrupted():  # nothing refuses it from here on
            self._learn_pair(user, item, rating)

    def predict_one(self, x: Mapping[str, Hashable]) -> float:
        """Predict one rating; before anything has been learned, 0."""
        user, item = _pair(x)
        with self._lock:
            if not self.__sklearn_is_fitted__():
                return 0.0
            return self._score(self._users.get(user), self._items.get(item))

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn all ratings, in order."""
        return self._fit(X, y)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn all ratings, in order; all of them or, if one cannot be, none."""
        self._check_parameters()
        pairs = _pairs(X)
        ratings = read_values(y, len(pairs))
        check_size(ratings, LARGEST, "Input y")
        with self._lock:
            self._learn_pairs(pairs, ratings.tolist())
        return self

    def _learn_pairs(self, pairs: list[tuple[Hashable, Hashable]], ratings: list[float]) -> None:
        """All or nothing: lines that ratings touch are put back, and new ones taken out."""
        if not self.__sklearn_is_fitted__():
            self._change(lambda twin: twin._learn_all(pairs, ratings))
            return
        old = self._contents()
        counts = len(self._users), len(self._items)
        kept = []
        for side, lines in enumerate(self._touched(pairs)):
            there = [line for line in lines if line < len(old[FACTORS[side]])]
            kept += [(old[name], there, old[name][there]) for name in self._arrays(side)]
        try:
            self._learn_all(pairs, ratings)
        except BaseException:
            for array, lines, values in kept:
                array[lines] = values
            for names, count in zip((self._users, self._items), counts, strict=True):
                while len(names) > count:
                    names.popitem()  # the newest
            self.__dict__.update(old)
            raise

    def _touched(self, pairs: list[tuple[Hashable, Hashable]]) -> tuple[list[int], list[int]]:
        """The lines of users and of items that learning these pairs may change."""
        users, items = zip(*pairs, strict=True)
        return _lines(self._users, users), _lines(self._items, items)

    def _learn_all(self, pairs: list[tuple[Hashable, Hashable]], ratings: list[float]) -> None:
        for (user, item), rating in zip(pairs, ratings, strict=True):
            self._learn_pair(user, item, rating)

    def predict(self, X: Any) -> Floats:
        """Predict the ratings of all pairs of a user and an item."""
        self._check_fitted()
        pairs = _pairs(X)
        with self._lock:
            users, items = self._users, self._items
            scores = [self._score(users.get(user), items.get(item)) for user, item in pairs]
        return np.array(scores)

    def recommend(self, user: Hashable, n_items: int = 10) -> list[Hashable]:
        """The items with the highest predictions for a user, the highest first."""
        self._check_fitted()
        with self._lock:
            row = self._users.get(user)
            names = list(self._items)
            scores = np.array([self._score(row, item) for item in range(len(names))])
        return [names[j] for j in np.argsort(-scores, kind="stable")[:n_items].tolist()]

    def _shrink(self, rate: float) -> float:
        """What a step shrinks by, never beyond 0."""
        return min(self.l2, 1 / rate) if rate else self.l2

    def _learn_pair(self, user: Hashable, item: Hashable, rating: float) -> None:
        if not self.__sklearn_is_fitted__():
            self._start()
        users, items = self._users, self._items
        rows = users.setdefault(user, len(users)), items.setdefault(item, len(items))
        if len(users) > len(self._user_factors) or len(items) > len(self._item_factors):
            self._grow()
        self._n_rows += 1
        self._learn_rating(*rows, rating)

    # -- what has been learned -------------------------------------------------------------------

    @property
    def user_factors_(self) -> dict[Hashable, Floats]:
        """The factors of each user."""
        self._check_fitted()
        with self._lock:
            return {name: self._user_factors[row].copy() for name, row in self._users.items()}

    @property
    def item_factors_(self) -> dict[Hashable, Floats]:
        """The factors of each item."""
        self._check_fitted()
        with self._lock:
            return {name: self._item_factors[row].copy() for name, row in self._items.items()}

    def _expected(self) -> dict[str, schema.Schema]:
        # There is room for more than there are.
        arrays = dict.fromkeys(FACTORS, self.n_factors)
        if self.steps == "dual_averaging":
            arrays |= dict.fromkeys(GRADIENTS, self.n_factors + 1)
        rooms = ("room for users", "room for items")
        return {
            "_users": Places("users"),
            "_items": Places("items"),
            "_n_rows": schema.Whole(at_most=2**53),
            **{
                name: numbers((room, width), -LARGEST, LARGEST)
                for (name, width), room in zip(arrays.items(), 2 * rooms, strict=False)
            },
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        for names in ("users", "items"):
            if not 1 <= sizes[names] <= sizes[f"room for {names}"]:
                raise ModelFileError("not every user and item has factors of its own")
        for name in GRADIENTS:
            if name in state and (state[name][:, -1] < 0).any():
                raise ModelFileError(f"{name} counts fewer than no gradients")


@estimator
class OnlineMatrixFactorization(Factorization):
    """Predict ratings by users of items: online probabilistic matrix factorization.

    Use it for streams of ratings that are to be predicted, as they come. Use `OnlineRankMF` where
    only the order of items matters. With few ratings a user most of the gain is in the biases:
    compare with `learning_rate` near 0. A prediction is the mean so far, a bias of the user and one
    of the item, and the inner product of their factors, kept within the ratings seen. Each rating
    is a step down the gradient of its squared error (Ling et al. 2012, SGD-PMF, with biases); the
    steps of a bias shrink with the root of the number of its ratings. Ratings of a scale much wider
    than 1 to 5 should be divided first: factors take steps of bounded length.

    Examples
    --------
    >>> model = OnlineMatrixFactorization(n_factors=2)
    >>> for _ in range(50):
    ...     model.learn_one({"user": 1, "item": "film"}, 5)
    ...     model.learn_one({"user": 2, "item": "film"}, 2)
    >>> round(model.predict_one({"user": 1, "item": "film"}))
    5
    """

    bias_rate: float = number(
        default=0.3, doc="Step n of a bias is this over the root of n + 3, at most 1.", at_least=0
    )

    _of_users: ClassVar[tuple[str, ...]] = ("_user_factors", "_user_biases")
    _of_items: ClassVar[tuple[str, ...]] = ("_item_factors", "_item_biases")

    def _start(self) -> None:
        super()._start()
        # the bias, and how many ratings it has learned
        self._user_biases, self._item_biases = np.zeros((0, 2)), np.zeros((0, 2))
        self._mean, self._low, self._high = 0.0, math.inf, -math.inf

    def _learn_rating(self, user: int, item: int, rating: float) -> None:
        mine, its = self._user_factors[user], self._item_factors[item]
        bias, other = self._user_biases[user], self._item_biases[item]
        error = rating - (self._mean + bias[0] + other[0] + float(mine @ its))
        error = min(max(error, -LARGEST), LARGEST)
        for own in (bias, other):
            own[1] += 1
            step = min(self.bias_rate / math.sqrt(own[1] + 3), 1.0)
            own[0] += step * (error - self._shrink(step) * own[0])
        self._mean += (rating - self._mean) / self._n_rows
        self._low, self._high = min(self._low, rating), max(self._high, rating)
        if self.steps == "dual_averaging":
            change = -error * its  # of the user, by the item's factors from before
            self._average(1, [item], -error * mine[None])
            self._average(0, [user], change[None])
            return
        # No step may go beyond the rating that it aims at: factors and errors can be large.
        reach = max(float(mine @ mine + its @ its), abs(error))
        rate = self.learning_rate / max(1.0, self.learning_rate * reach)
        l2 = self._shrink(rate)
        change = rate * (error * its - l2 * mine)
        its += rate * (error * mine - l2 * its)
        mine += change

    def _expected(self) -> dict[str, schema.Schema]:
        return super()._expected() | {
            "_user_biases": numbers(("room for users", 2)),
            "_item_biases": numbers(("room for items", 2)),
            **dict.fromkeys(("_mean", "_low", "_high"), schema.Number(-1e150, 1e150)),
        }

    def _score(self, user: int | None, item: int | None) -> float:
        score = self._mean
        if user is not None:
            score += float(self._user_biases[user, 0])
        if item is not None:
            score += float(self._item_biases[item, 0])
        if user is not None and item is not None:
            score += float(self._user_factors[user] @ self._item_factors[item])
        return min(self._high, max(self._low, score))


def _lines(known: dict[Hashable, int], names: Iterable[Hashable]) -> list[int]:
    """Where these are, and where those of them will be that are new."""
    lines, new = [], set()
    for name in names:
        line = known.get(name)
        new.add(name) if line is None else lines.append(line)
    return [*lines, *range(len(known), len(known) + len(new))]


def _is_name(value: Any) -> bool:
    return value is not None and isinstance(value, Hashable) and bool(value == value)


def _pair(x: Mapping[str, Hashable]) -> tuple[Hashable, Hashable]:
    for field in ("user", "item"):
        if field not in x:
            raise DataError("it is missing: a rating names a user and an item", field=field)
        value = x[field]
        if not _is_name(value):
            raise DataError(f"{value!r} is not a name", field=field)
    return x["user"], x["item"]


def _pairs(X: Any) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs of a table with two columns; numbers as Python's, so that names agree."""
    if hasattr(X, "tocsr"):
        raise DataError("X names users and items, two a row: a sparse matrix cannot.")
    columns = getattr(X, "columns", None)
    if columns is not None and {"user", "item"} <= set(columns):
        table = [np.asarray(X["user"]).tolist(), np.asarray(X["item"]).tolist()]
        pairs = list(zip(*table, strict=True))
    else:
        rows = X.tolist() if isinstance(X, np.ndarray) else X
        pairs = [tuple(row) if isinstance(row, (list, tuple)) else (row,) for row in rows]
    if not pairs:
        raise DataError("There is no rating: X is empty.")
    for place, pair in enumerate(pairs):
        if len(pair) != 2:
            raise DataError(f"a pair of a user and an item is expected, got {pair!r}", row=place)
        if not all(map(_is_name, pair)):
            raise DataError(f"a user or an item has no name: {pair!r}", row=place)
    return pairs
