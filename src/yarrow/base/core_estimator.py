"""What owns a model of the core: how it comes to be, how it is saved and copied."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from yarrow import _core
from yarrow.errors import not_fitted
from yarrow.estimator import Estimator, LearnsArrays
from yarrow.saving import core_state, export_file, schema
from yarrow.saving.codec import Objects, Saved
from yarrow.saving.core_state import CoreModel

_STARTING = _core.Lock()


class CoreEstimator(LearnsArrays, Saved, Estimator):
    """Base of all that learns by a model of the core."""

    _model: CoreModel
    _made_with: dict[str, Any]
    dtype: Any

    def _rule(self) -> _core.Rule:
        raise NotImplementedError

    def _new_model(
        self, declared: list[Any], class_weights: list[tuple[Any, float]] | None = None
    ) -> CoreModel:
        raise NotImplementedError

    @contextlib.contextmanager
    def _learning(self, declared: list[Any]) -> Iterator[CoreModel]:
        """The model to learn with: a new one before the first row, kept once it has learned one.

        Two threads that both bring the first row must not make two models.
        """
        model = self.__dict__.get("_model")
        if model is not None:
            yield model
            return
        with _STARTING:
            model = self.__dict__.get("_model")
            if model is None:
                model = self._new_model(declared)
            yield model
            if model.t > 0:
                self._model, self._made_with = model, self.get_params(deep=False)

    @property
    def _fitted(self) -> CoreModel:
        try:
            model: CoreModel = self.__dict__["_model"]
        except KeyError:
            not_fitted(self)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    @property
    def t_(self) -> int:
        """Rows learned."""
        return int(self._fitted.t)

    @property
    def n_updates_(self) -> int:
        """Rows that changed the weights."""
        return int(self._fitted.updates)

    # -- files -----------------------------------------------------------------------------------

    _fields: ClassVar[Mapping[str, schema.Schema]] = core_state.FIELDS
    _later_fields: ClassVar[Mapping[str, schema.Schema]] = core_state.LATER_FIELDS

    @classmethod
    def _read_file(cls, path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        return export_file.read(path)

    def _about(self) -> dict[str, Any]:
        return {"rule": self._rule().name}

    def _pack(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        return core_state.pack(self)

    def _unpack(
        self, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
    ) -> None:
        core_state.unpack(self, tensors, metadata, objects)

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k != "_model"}
        if "_model" in self.__dict__:
            state["_core_state"] = core_state.taken(self)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        learned = state.pop("_core_state", None)
        self.__dict__.update(state)
        if learned is not None:
            core_state.restore(self, learned)

    @property
    def _raw_memory_usage(self) -> int:
        if "_model" not in self.__dict__:
            return super()._raw_memory_usage
        return int(super()._raw_memory_usage + self._model.memory)
