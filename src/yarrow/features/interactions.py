"""Products of features: what the two together say beyond each alone."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.features.base import Row, Transformer, finite
from yarrow.parameters import anything, flag

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

    terms: Any = anything(
        ((ANY, ANY),),
        "a list of tuples of two or more namespaces",
        _are_terms,
        'Tuples of namespaces whose features are multiplied; ":" stands for any namespace.',
    )
    keep: bool = flag(True, "Keep the features themselves, too.")

    def transform_one(self, x: Row) -> dict[Hashable, float]:
        """Return the row with its products."""
        self._check_parameters()
        row = {name: finite(name, value) for name, value in x.items()}
        spaces: dict[str, list[Hashable]] = {}
        for name in sorted(row, key=str):  # a product has one name, whatever the row's order
            space = name.split("^", 1)[0] if isinstance(name, str) and "^" in name else ""
            spaces.setdefault(space, []).append(name)
        result: dict[Hashable, float] = dict(row) if self.keep else {}
        for term in self._terms_of(sorted(spaces)):
            for names in _products(term, spaces):
                value = math.prod(row[name] for name in names)
                if not math.isfinite(value):
                    raise DataError("the product is too large", field="*".join(map(str, names)))
                result["*".join(map(str, names))] = value
        return result

    def transform(self, X: Iterable[Row]) -> list[dict[Hashable, float]]:
        """Return all rows, which are dicts, with their products."""
        return [self.transform_one(row) for row in X]

    def _terms_of(self, spaces: list[str]) -> Iterable[tuple[str, ...]]:
        """Return the terms with each ":" replaced, each combination once."""
        found: dict[tuple[str, ...], tuple[str, ...]] = {}
        for term in self.terms:
            for choice in itertools.product(*(spaces if s == ANY else [s] for s in term)):
                found.setdefault(tuple(sorted(choice)), choice)
        return found.values()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.dict = False, True
        tags.requires_fit = False
        return tags


def _products(
    term: tuple[str, ...], spaces: dict[str, list[Hashable]]
) -> Iterator[tuple[Hashable, ...]]:
    """Yield the names in each product: one per namespace, unordered where one is repeated."""
    choices = (
        itertools.combinations_with_replacement(spaces.get(space, []), times)
        for space, times in Counter(term).items()
    )
    for parts in itertools.product(*choices):
        yield tuple(itertools.chain(*parts))
