"""Model files of the decompositions: whatever is learned is arrays, numbers and names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from yarrow.data.labels import plain
from yarrow.errors import ModelFileError
from yarrow.estimator import Estimator, Shared
from yarrow.lazy import np
from yarrow.parameters import parameters
from yarrow.saving import schema
from yarrow.saving.codec import Objects, Saved, from_json

#: whatever is learned from values up to `base.LARGEST` is smaller, and has a finite square
_MOST = 1e150


def numbers(
    shape: tuple[schema.Size, ...], at_least: float = -_MOST, at_most: float = _MOST
) -> schema.Schema:
    """Numbers of a learned state."""
    return schema.Array("f8", shape, max(at_least, -_MOST), at_most)


class Places(schema.Schema):
    """A mapping from names to 0, 1, 2, ..., which is as long as another size says."""

    def __init__(self, size: schema.Size) -> None:
        self.size = size

    def check(self, value: Any, place: str, sizes: schema.Sizes) -> None:
        """See `schema.Schema`."""
        if not isinstance(value, dict):
            schema.refuse(place, "pairs of names and places", value)
        names = schema.ListOf(_NAME, self.size)
        names.check(list(value), f"the names of {place}", sizes)
        numbers = list(value.values())
        if any(type(number) is not int for number in numbers) or sorted(numbers) != list(
            range(len(numbers))
        ):
            raise ModelFileError(f"{place} are not numbered from 0 on")


class _Name(schema.Schema):
    """Whatever may name a feature, a user or an item: a text or a number."""

    def check(self, value: Any, place: str, sizes: schema.Sizes) -> None:
        if type(value) is not bool and type(value) is not float:
            schema.FeatureName().check(value, place, sizes)


_NAME = _Name()


class Stored(Saved, Shared, Estimator):
    """An estimator whose learned state is arrays, numbers and names, and so fits in a model file.

    Everything that is not a parameter is state: attributes that start with one underscore.
    """

    _not_saved: ClassVar[tuple[str, ...]] = ()  # lists of what is worked out again
    _n_rows: int

    _fields: ClassVar[Mapping[str, schema.Schema]] = {"state": schema.MapOf(schema.Anything())}

    def _fit(self, *data: Any) -> Self:
        """Forget everything, then learn all rows."""
        fresh = self.clone()
        fresh.partial_fit(*data)
        with self._lock:
            self.__dict__.update(fresh._state())
        return self

    @abstractmethod
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn all rows, in order; all of them or, if one cannot be, none."""

    @property
    def n_rows_(self) -> int:
        """Rows learned."""
        return self._now()._n_rows

    def _now(self) -> Self:
        """All that has been learned, as of one moment."""
        self._check_fitted()
        return self._snapshot()

    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        self._check_fitted()
        state = {name: v for name, v in self._state().items() if name not in self._not_saved}
        tensors = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        others = {name: _as_json(value) for name, value in state.items() if name not in tensors}
        contiguous = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
        return contiguous, {"state": others}

    def _unpack(
        self, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
    ) -> None:
        state = {name: from_json(value) for name, value in metadata["state"].items()}
        if state.keys() & tensors.keys():
            raise ModelFileError("a part of it stands there twice")
        state |= {name: np.array(value) for name, value in tensors.items()}
        sizes = schema.check(schema.Fields(self._expected(), closed=True), state)
        self._check_state(state, sizes)
        self.__dict__.update(state | {name: [] for name in self._not_saved})

    @abstractmethod
    def _expected(self) -> dict[str, schema.Schema]:
        """What a file must hold."""

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        """Refuse parts that are as expected, but do not belong together."""

    def _state(self) -> dict[str, Any]:
        known = parameters(self)
        return {key: value for key, value in self._contents().items() if key not in known}


def _as_json(value: Any) -> Any:
    """Dicts as pairs: JSON knows keys only as text."""
    if isinstance(value, Mapping):
        for key in value:
            if type(plain(key)) not in (str, int, float, bool):
                raise ModelFileError(f"A file holds names that are texts or numbers, not {key!r}.")
        return {"pairs": [[plain(key), plain(item)] for key, item in value.items()]}
    return plain(value)
