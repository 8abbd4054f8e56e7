"""Products of features: what the two together say beyond each alone."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, ClassVar

from yarrow.data.frames import dict_rows, frame_of
from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.features.base import Row, Transformer, values_of
from yarrow.parameters import anything, flag

Feature = tuple[str, float]

ANY = ":"
"""Stands for every namespace of a row."""


def _are_terms(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(
        isinstance(term, tuple | list)
        and len(term) > 1
        and all(isinstance(space, str) for space in term)
        for term in value
    )


@estimator
class Interactions(Transformer):
    """Add products of the features of two or more namespaces, as Vowpal Wabbit's `-q` does.

    The namespace of a feature is what stands before "^" in its name: "user^anna" is in "user";
    a name without it is in the namespace "". The pair ("user", "ad") adds the feature
    "user^anna*ad^car" for each feature of the one and each of the other, with the product of
    their values. A pair of a namespace with itself adds each product once, squares among them.

    Use it for linear learners where a combination matters (who sees what). The number of
    products grows with that of the features of both; with many, let the learner hash names.

    Examples
    --------
    >>> pair = Interactions([("user", "ad")])
    >>> pair.transform_one({"user^anna": 1, "ad^car": 2})
    {'user^anna': 1.0, 'ad^car': 2.0, 'user^anna*ad^car': 2.0}
    """

    sklearn_tags: ClassVar[dict[str, Any]] = {
        "input_tags.two_d_array": False, "input_tags.dict": True, "requires_fit": False,
    }  # fmt: skip

    terms: Any = anything(
        default=((ANY, ANY),),
        allowed="a list of tuples of two or more namespaces",
        accepts=_are_terms,
        doc='Tuples of namespaces whose features are multiplied; ":" stands for any namespace.',
    )
    keep: bool = flag(default=True, doc="Keep the features themselves, too.")

    def transform_one(self, x: Row) -> dict[Hashable, float]:
        """Return the row with its products."""
        self._check_parameters()
        if not isinstance(x, Mapping):
            raise DataError(f"A row must be a dict of features, not {x!r}.")
        row = dict(zip(x, values_of(x).tolist(), strict=True))
        spaces: dict[str, list[Feature]] = {}
        for name in sorted(row, key=str):  # a product has one name, whatever the row's order
            space = name.split("^", 1)[0] if isinstance(name, str) and "^" in name else ""
            spaces.setdefault(space, []).append((str(name), row[name]))
        result: dict[Hashable, float] = row if self.keep else {}
        for term in self._terms_of(sorted(spaces)):
            for product, value in _products(term, spaces):
                if not math.isfinite(value):
                    raise DataError("the product is too large", field=product)
                result[product] = value
        return result

    def transform(self, X: Iterable[Row]) -> list[dict[Hashable, float]]:
        """Return all rows, dicts or those of a frame, with their products, as dicts."""
        if frame_of(X) is not None:
            X = dict_rows(X)
        elif hasattr(X, "shape"):
            raise DataError(f"X must be a frame or a list of dicts, not {type(X).__name__}.")
        return [self.transform_one(row) for row in X]

    def _terms_of(self, spaces: list[str]) -> Iterable[tuple[str, ...]]:
        """Return the terms with each ":" replaced, each combination once."""
        found: dict[tuple[str, ...], tuple[str, ...]] = {}
        for term in self.terms:
            for choice in itertools.product(*(spaces if s == ANY else [s] for s in term)):
                found.setdefault(tuple(sorted(choice)), choice)
        return found.values()


def _products(term: tuple[str, ...], spaces: dict[str, list[Feature]]) -> list[Feature]:
    """Return each product of one feature per namespace, unordered where one is repeated."""
    powers = [_power(spaces.get(space, []), times) for space, times in Counter(term).items()]
    return functools.reduce(
        lambda left, right: [(f"{a}*{b}", v * w) for a, v in left for b, w in right], powers
    )


def _power(features: list[Feature], times: int) -> list[Feature]:
    if times == 1:
        return features
    return [
        ("*".join(name for name, _ in chosen), math.prod(value for _, value in chosen))
        for chosen in itertools.combinations_with_replacement(features, times)
    ]
