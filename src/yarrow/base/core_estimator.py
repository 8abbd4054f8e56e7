"""What owns a model of the core: how it comes to be, how it is saved and copied."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from yarrow import _core
from yarrow.errors import DataError, ModelFileError, not_fitted
from yarrow.estimator import Estimator, LearnsArrays
from yarrow.lazy import np
from yarrow.online.progressive import CoreModel
from yarrow.saving import export_file, schema
from yarrow.saving.codec import (
    SETTINGS,
    Objects,
    Saved,
    packed_settings,
    restore_settings,
    restored,
)

_STARTING = _core.Lock()


class CoreEstimator(LearnsArrays, Saved, Estimator):
    """Base of all that learns by a model of the core."""

    _model: CoreModel
    _learned_as: ClassVar[str] = "_model"
    _made_with: dict[str, Any]
    dtype: Any
    #: a value that is missing is no 0
    tells_missing: ClassVar[bool] = False

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
                self._own(model)

    def _keep(self, model: CoreModel) -> None:
        """Own a model that was made before there was one, and has learned meanwhile."""
        with _STARTING:
            if self.__dict__.get("_model", model) is not model:
                raise DataError(
                    "Another thread gave this model its first rows while these were read, so these "
                    "were not learned: learn them again."
                )
            self._own(model)

    def _own(self, model: CoreModel) -> None:
        if "_model" not in self.__dict__:
            self._model, self._made_with = model, self.get_params(deep=False)

    @property
    def _fitted(self) -> CoreModel:
        try:
            model: CoreModel = self.__dict__["_model"]
        except KeyError:
            not_fitted(self)
        return model

    @property
    def t_(self) -> int:
        """Rows learned."""
        return int(self._fitted.t)

    @property
    def n_updates_(self) -> int:
        """Rows that changed the weights."""
        return int(self._fitted.updates)

    # -- files -----------------------------------------------------------------------------------

    #: its tensors are looked at by the core, which knows what they mean
    _fields: ClassVar[Mapping[str, schema.Schema]] = {
        "classes": schema.ListOf(schema.Label(), unique=True),
        "declared": schema.ListOf(schema.Label(), unique=True),
        "class_weights": schema.ListOf(schema.Record(schema.Label(), schema.Number(at_least=0))),
    }
    _later_fields: ClassVar[Mapping[str, schema.Schema]] = {"made_with": SETTINGS}
    _takes_views = True

    @classmethod
    def _read_file(cls, path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        return export_file.read(path)

    def _about(self) -> dict[str, Any]:
        return {"rule": self._rule().name}

    def _learned(self) -> dict[str, Any]:
        """All that the core has learned, as plain objects and views of its memory.

        They are no arrays: a command need not load numpy to save.
        """
        core = self._fitted
        tensors, classes = core.get_named_state()
        return {
            "tensors": tensors,
            "classes": classes,
            # Parameters changed since then count from the next `fit` on.
            "made_with": self.__dict__.get("_made_with") or self.get_params(deep=False),
            "declared": core.declared,
            "class_weights": [list(pair) for pair in core.class_weights],
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take what another has learned."""
        weights = [(label, weight) for label, weight in state["class_weights"]]
        made_with = state.get("made_with") or self.get_params(deep=False)
        maker = type(self)(**made_with)
        blocks = state["tensors"].get("blocks")
        if blocks is None:
            raise ModelFileError("it has no weights")
        # A model that hashes has room for all of its places from the start: first look whether
        # there is anything to fill it with.
        bits = getattr(maker, "hash_bits", None)
        if bits is not None and len(blocks) != 2**bits + 1:
            raise ModelFileError(f"its weights are not those of 2**{bits} places")
        core = maker._new_model(list(state["declared"]), weights)
        core.set_state(dict(state["tensors"]), list(state["classes"]))
        self._model, self._made_with = core, made_with

    def _pack(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        state = self._learned()
        tensors, made_with = state.pop("tensors"), packed_settings(state.pop("made_with"))
        counts = {"rows": self.t_, "updates": self.n_updates_}
        return tensors, {"made_with": made_with} | state | counts

    def _unpack(
        self, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
    ) -> None:
        learned_with = metadata.get("made_with") or metadata["parameters"]
        made_with = restore_settings(type(self), learned_with, objects).get_params(deep=False)
        code = "f" if self.dtype == "float32" else "d"
        if "blocks" in tensors and memoryview(tensors["blocks"]).format != code:
            raise ModelFileError(f"its numbers are not of the type {self.dtype}")
        self._restore({**metadata, "tensors": tensors, "made_with": made_with})

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_model", "_was_asked")}
        if "_model" in self.__dict__:
            learned = self._learned()
            arrays = {name: np.asarray(view) for name, view in learned["tensors"].items()}
            state["_core_state"] = learned | {"tensors": arrays}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        learned = state.pop("_core_state", None)
        self.__dict__.update(state)
        if learned is not None:
            self._restore(learned)

    @property
    def _raw_memory_usage(self) -> int:
        if "_model" not in self.__dict__:
            return super()._raw_memory_usage
        return int(super()._raw_memory_usage + self._model.memory)


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a linear model that `save` or `export` wrote.

    A parameter that no file can hold, such as a rule of your own, is given by name.
    """
    tensors, metadata = export_file.read(path)
    if metadata.get("kind") not in ("export", "model"):
        held = metadata.get("estimator")
        raise ModelFileError(f"{os.fspath(path)}: holds a {held}, not a linear model.")
    return restored(path, tensors, metadata, objects)
