"""Model files: `save` keeps the exact training state, `export` the nonzero weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from yarrow import _core
from yarrow.errors import ModelFileError, ParameterError
from yarrow.lazy import np
from yarrow.saving import export_file, schema
from yarrow.saving.codec import (
    SETTINGS,
    Objects,
    header,
    pack_names,
    packed_settings,
    restore_settings,
    restored,
)

CoreModel = _core.ModelF32 | _core.ModelF64


def taken(model: Any) -> dict[str, Any]:
    """All that the core has learned, as plain objects and arrays."""
    state = _core_views(model)
    return {**state, "tensors": {k: np.asarray(v) for k, v in state["tensors"].items()}}


def _core_views(model: Any) -> dict[str, Any]:
    """The same with views of memory in place of arrays: a command need not load numpy to save."""
    core = model._fitted
    tensors, classes = core.get_named_state()
    return {
        "tensors": tensors,
        "classes": classes,
        # Parameters changed since then count from the next `fit` on.
        "made_with": model.__dict__.get("_made_with") or model.get_params(deep=False),
        "declared": core.declared,
        "class_weights": [list(pair) for pair in core.class_weights],
    }


def restore(model: Any, state: Mapping[str, Any]) -> None:
    """Give a model the core state that `taken` took from another."""
    weights = [(label, weight) for label, weight in state["class_weights"]]
    made_with = state.get("made_with") or model.get_params(deep=False)
    maker = type(model)(**made_with)
    blocks = state["tensors"].get("blocks")
    if blocks is None:
        raise ModelFileError("it has no weights")
    # A model that hashes has room for all of its places from the start: first look whether there
    # is anything to fill it with.
    bits = getattr(maker, "hash_bits", None)
    if bits is not None and len(blocks) != 2**bits + 1:
        raise ModelFileError(f"its weights are not those of 2**{bits} places")
    core = maker._new_model(list(state["declared"]), weights)
    core.set_state(dict(state["tensors"]), list(state["classes"]))
    model._model, model._made_with = core, made_with


#: its tensors are looked at by the core, which knows what they mean
FIELDS = {
    "classes": schema.ListOf(schema.Label(), unique=True),
    "declared": schema.ListOf(schema.Label(), unique=True),
    "class_weights": schema.ListOf(schema.Record(schema.Label(), schema.Number(at_least=0))),
}
LATER_FIELDS = {"made_with": SETTINGS}


def pack(model: Any) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The exact training state as tensors and fields of a file."""
    state = _core_views(model)
    return state["tensors"], {
        "made_with": packed_settings(state["made_with"]),
        "classes": state["classes"],
        "declared": state["declared"],
        "class_weights": state["class_weights"],
        "rows": model.t_,
        "updates": model.n_updates_,
    }


def unpack(
    model: Any, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
) -> None:
    """Give a fresh model the state that `pack` has made tensors and fields of."""
    learned_with = metadata.get("made_with") or metadata["parameters"]
    made_with = restore_settings(type(model), learned_with, objects).get_params(deep=False)
    if "blocks" in tensors and tensors["blocks"].dtype != model.dtype:
        raise ModelFileError(f"its numbers are not of the type {model.dtype}")
    restore(model, {**metadata, "tensors": tensors, "made_with": made_with})


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a linear model that `save` or `export` wrote.

    A parameter that no file can hold, such as a rule of your own, is given by name.
    """
    tensors, metadata = export_file.read(path)
    if metadata.get("kind") not in ("export", "model"):
        held = metadata.get("estimator")
        raise ModelFileError(f"{os.fspath(path)}: holds no linear model, but a {held}.")
    return restored(path, tensors, metadata, objects)


def exported(model: Any, weights: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """These weights, of which zeros are left out, as the tensors and the metadata of an export."""
    core = model._fitted
    if not model.is_exportable:
        raise ParameterError(
            f"{type(model).__name__} does not predict by a fixed weight a feature: use save."
        )
    if model.hash_bits is not None:
        raise ParameterError("A hashed model knows no names of features to export: use save.")
    feature, score = np.nonzero(weights[:, 1:].T)
    names = model.feature_names_
    metadata = header(type(model)) | {
        "kind": "export",
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
        "seen": core.classes,  # in this order ties are decided
        "n_features_in": model.__dict__.get("_n_features_in"),
        "feature_names_in": model.__dict__.get("_feature_names_in"),
        "stream": model.__dict__.get("_stream"),
    }
    kept, place = np.unique(feature, return_inverse=True)
    tensors = {
        "intercept": np.ascontiguousarray(model.intercept_, dtype=np.float64),
        "feature": place.astype(np.int64).reshape(-1),
        "score": score.astype(np.int64),
        "weight": weights[score, feature + 1],
        **pack_names([names[i] for i in kept.tolist()]),
    }
    return tensors, metadata


def export(model: Any, path: str | os.PathLike[str], format: str | None) -> None:
    """Write the nonzero weights, settled, for prediction."""
    export_file.write(path, *exported(model, model._weights()), format)
