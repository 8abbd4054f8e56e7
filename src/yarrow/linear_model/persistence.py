"""Model files: `save` keeps the exact training state, `export` the nonzero weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import yarrow
from yarrow import model_file
from yarrow.errors import ModelFileError, ParameterError
from yarrow.estimator import Estimator
from yarrow.lazy import np
from yarrow.linear_model import export_file

if TYPE_CHECKING:
    from yarrow.linear_model.base import LinearModel
    from yarrow.linear_model.owner import ModelOwner


def core_state(model: ModelOwner) -> dict[str, Any]:
    """All that the core has learned, as plain objects and arrays."""
    state = _core_views(model)
    return {**state, "tensors": {k: np.asarray(v) for k, v in state["tensors"].items()}}


def _core_views(model: ModelOwner) -> dict[str, Any]:
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


def restore_core(model: ModelOwner, state: Mapping[str, Any]) -> None:
    """Give a model the core state that `core_state` took from another."""
    weights = [(label, weight) for label, weight in state["class_weights"]]
    made_with = state.get("made_with") or model.get_params(deep=False)
    core = type(model)(**made_with)._new_model(list(state["declared"]), weights)
    core.set_state(dict(state["tensors"]), list(state["classes"]))
    model._model, model._made_with = core, made_with


def save(model: ModelOwner, path: str | os.PathLike[str]) -> None:
    """Write the exact training state."""
    model_file.write(path, *packed(model))


def packed(model: ModelOwner) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The exact training state as the tensors and the metadata of a file."""
    state = _core_views(model)
    metadata = {
        "kind": "model",
        "yarrow": yarrow.__version__,
        "estimator": type(model).__name__,
        "rule": model._rule().name,
        "parameters": {
            name: to_json(value) for name, value in model.get_params(deep=False).items()
        },
        "made_with": {name: to_json(value) for name, value in state["made_with"].items()},
        "classes": state["classes"],
        "declared": state["declared"],
        "class_weights": state["class_weights"],
        "n_features_in": model.__dict__.get("_n_features_in"),
        "feature_names_in": model.__dict__.get("_feature_names_in"),
        "n_iter": model.__dict__.get("_n_iter"),
        "rows": model.t_,
        "updates": model.n_updates_,
        "stream": model.__dict__.get("_stream"),
    }
    return state["tensors"], metadata


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a model that `save` or `export` wrote.

    A parameter that no file can hold, such as a rule of your own, is given by name.
    """
    from yarrow import linear_model

    read = export_file.read if export_file.is_readable(path) else model_file.read
    tensors, metadata = read(path)
    if metadata.get("kind") == "export":
        try:
            return linear_model.ExportedModel(tensors, metadata)
        except _MISFITS as error:
            raise _misfit(path, error) from error
    name = metadata.get("estimator", "")
    estimator = getattr(linear_model, name, None) if name in linear_model.__all__ else None
    if metadata.get("kind") != "model" or not _is_learner(estimator):
        raise ModelFileError(
            f"{os.fspath(path)}: holds no model that this version knows ({name!r})."
        )
    try:
        return unpacked(estimator, tensors, metadata, objects)
    except _MISFITS as error:
        if isinstance(error, ParameterError) and objects:
            raise
        raise _misfit(path, error) from error


#: what parts of a file raise that do not belong together
_MISFITS = (ValueError, KeyError, TypeError, IndexError, AttributeError, RuntimeError)


def _misfit(path: str | os.PathLike[str], error: Exception) -> ModelFileError:
    return ModelFileError(f"{os.fspath(path)}: does not fit its own settings: {error}")


def _is_learner(estimator: Any) -> bool:
    from yarrow.linear_model.owner import ModelOwner

    return isinstance(estimator, type) and issubclass(estimator, ModelOwner)


def unpacked(
    estimator: Any, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Any
) -> ModelOwner:
    """The model of a class that `packed` has made tensors and metadata of."""
    parameters = {key: from_json(value) for key, value in metadata["parameters"].items()}
    for key, value in parameters.items():
        if value is Unstorable and key not in objects:
            raise ModelFileError(
                f"the parameter {key!r} is not in the file: pass {key}=... to load"
            )
    model: ModelOwner = estimator(**(parameters | objects))
    model._check_parameters()
    if "blocks" not in tensors:
        raise ModelFileError("it has no weights")
    if tensors["blocks"].dtype != model.dtype:
        raise ModelFileError(f"its numbers are not of the type {model.dtype}")
    if not all(np.isfinite(array).all() for array in tensors.values()):
        raise ModelFileError("a number in it is not finite")
    made_with = {key: from_json(value) for key, value in metadata.get("made_with", {}).items()}
    state = {**metadata, "tensors": tensors, "made_with": made_with and made_with | objects}
    restore_core(model, state)
    columns, names = metadata["n_features_in"], metadata["feature_names_in"]
    if columns is not None:
        if names is not None and len(names) != columns:
            raise ModelFileError("it does not name all of its columns")
        model._n_features_in, model._feature_names_in = columns, names
    if metadata.get("n_iter") is not None:
        model._n_iter = metadata["n_iter"]
    if metadata.get("stream") is not None:
        model.__dict__["_stream"] = metadata["stream"]
    return model


def exported(model: LinearModel, weights: Any) -> tuple[dict[str, Any], dict[str, Any]]:
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
    metadata = {
        "kind": "export",
        "yarrow": yarrow.__version__,
        "estimator": type(model).__name__,
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
        **export_file.pack_names([names[i] for i in kept.tolist()]),
    }
    return tensors, metadata


def export(model: LinearModel, path: str | os.PathLike[str], format: str | None) -> None:
    """Write the nonzero weights, settled, for prediction."""
    export_file.write(path, *exported(model, model._weights()), format)


class Unstorable:
    """Marks a parameter that a file cannot hold."""


def to_json(value: Any, nested: bool = False) -> Any:
    """A parameter as JSON holds it."""
    if _is_plain(value):
        return value
    if isinstance(value, Mapping):
        return {"pairs": [[to_json(key), to_json(item)] for key, item in value.items()]}
    # Lists come back as tuples, which only matters inside others: there a list is no tuple.
    if isinstance(value, tuple) or (not nested and isinstance(value, (list, np.ndarray))):
        items = [to_json(item, nested=True) for item in value]
        stored = not any(isinstance(item, Mapping) and "unstorable" in item for item in items)
        return {"list": items} if stored else {"unstorable": repr(value)}
    if isinstance(value, Estimator):
        parameters = {name: to_json(item) for name, item in value.get_params(deep=False).items()}
        package = type(value).__module__.removeprefix("yarrow.").partition(".")[0]
        found = {"estimator": type(value).__name__, "parameters": parameters}
        return found | {"package": package} if package in _PACKAGES[1:] else found
    plain = _plain(value)
    return plain if _is_plain(plain) else {"unstorable": repr(value)}


#: packages whose estimators may be parameters of others
_PACKAGES = ("linear_model", "kernel", "experts", "bandit", "feedback")


def _package(value: Mapping[str, Any]) -> str:
    package: str = value.get("package", "linear_model")
    if package not in _PACKAGES:
        raise ModelFileError(f"it names an estimator of {package!r}, which is no package known")
    return package


def _is_plain(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def from_json(value: Any) -> Any:
    """What `to_json` was given, or `Unstorable`."""
    if not isinstance(value, Mapping):
        return value
    if "pairs" in value:
        return {from_json(key): from_json(item) for key, item in value["pairs"]}
    if "list" in value:
        return tuple(from_json(item) for item in value["list"])
    if "estimator" in value:
        parameters = {name: from_json(item) for name, item in value["parameters"].items()}
        package = import_module(f"yarrow.{_package(value)}")
        if Unstorable not in parameters.values() and value["estimator"] in package.__all__:
            return getattr(package, value["estimator"])(**parameters)
    return Unstorable


def _plain(value: Any) -> Any:
    return value.item() if not _is_plain(value) and isinstance(value, np.generic) else value
