"""Model files of the decompositions: whatever is learned is arrays, numbers and names."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import yarrow
from yarrow import model_file
from yarrow.errors import ModelFileError, ParameterError, not_fitted
from yarrow.estimator import Estimator
from yarrow.lazy import np
from yarrow.parameters import parameters

Expected = tuple[int | None, ...] | tuple[type, ...] | type
"""The shape of an array, None where it is free; or the types that are allowed."""


class Stored(Estimator):
    """An estimator whose learned state is arrays, numbers and names, and so fits in a model file.

    Everything that is not a parameter is state: attributes that start with one underscore.
    """

    _not_saved: ClassVar[tuple[str, ...]] = ()  # state that is worked out again

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the exact training state: a loaded model goes on as if nothing had happened."""
        if not self.__sklearn_is_fitted__():
            not_fitted(self)
        state = {name: v for name, v in self._state().items() if name not in self._not_saved}
        tensors = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        others = {name: value for name, value in state.items() if name not in tensors}
        metadata = {
            "kind": "decomposition",
            "yarrow": yarrow.__version__,
            "estimator": type(self).__name__,
            "parameters": {
                name: _plain(value) for name, value in self.get_params(deep=False).items()
            },
            "state": {name: _packed(value) for name, value in others.items()},
        }
        contiguous = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
        model_file.write(path, contiguous, metadata)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""
        tensors, metadata = model_file.read(path)
        name = metadata.get("estimator")
        if metadata.get("kind") != "decomposition" or name != cls.__name__:
            raise ModelFileError(f"{os.fspath(path)}: holds a {name}, not a {cls.__name__}.")
        if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
            raise ModelFileError(f"{os.fspath(path)}: a number in it is not finite.")
        try:
            model = cls(**metadata["parameters"])
            model._check_parameters()
            state = {key: _unpacked(value) for key, value in metadata["state"].items()}
        except (TypeError, KeyError, ValueError, ParameterError) as error:
            raise ModelFileError(
                f"{os.fspath(path)}: does not fit its own settings: {error}"
            ) from error
        model.__dict__.update({key: np.array(value) for key, value in tensors.items()} | state)
        try:
            model._check_state()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ModelFileError(f"{os.fspath(path)}: contradicts itself: {error}") from error
        return model

    def _check_state(self) -> None:
        """Refuse a state that no learning leads to, before it gives wrong numbers."""
        found = {key: v for key, v in self._state().items() if key not in self._not_saved}
        expected = self._expected()
        if found.keys() != expected.keys():
            odd = sorted(found.keys() ^ expected.keys())
            raise ValueError(f"{odd[0]!r} is {'not known' if odd[0] in found else 'missing'}")
        for name, wanted in expected.items():
            value = found[name]
            if isinstance(wanted, tuple) and not all(isinstance(one, type) for one in wanted):
                _check_shape(name, value, wanted)
            elif not isinstance(value, wanted):  # type: ignore[arg-type]
                raise ValueError(f"{name!r} is {value!r}")

    @abstractmethod
    def _expected(self) -> dict[str, Expected]:
        """What a file must hold: the shape of each array, the types of all else."""

    def _state(self) -> dict[str, Any]:
        known = parameters(self)
        return {key: value for key, value in self.__dict__.items() if key not in known}

    def _adopt(self, other: Self) -> None:
        """Take over all that another one with the same parameters has learned."""
        self.__dict__.update(other._state())

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """Whether anything has been learned."""


def _check_shape(name: str, value: Any, wanted: tuple[Any, ...]) -> None:
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{name!r} is {value!r}, no array")
    fits = len(value.shape) == len(wanted) and all(
        size is None or size == own for size, own in zip(wanted, value.shape, strict=True)
    )
    if not fits:
        words = " x ".join("any" if size is None else str(size) for size in wanted)
        raise ValueError(f"{name!r} has the shape {value.shape}, not {words}")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _packed(value: Any) -> Any:
    """Dicts as pairs: JSON knows keys only as text."""
    if isinstance(value, Mapping):
        for key in value:
            if type(_plain(key)) not in (str, int, float, bool):
                raise ModelFileError(f"A file holds names that are texts or numbers, not {key!r}.")
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    return _plain(value)


def _unpacked(value: Any) -> Any:
    return dict(value["pairs"]) if isinstance(value, Mapping) else value
