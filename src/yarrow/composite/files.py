"""Estimators made of learners as the tensors and the metadata of one file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import yarrow
from yarrow.composite.members import member_of
from yarrow.errors import ModelFileError, ParameterError
from yarrow.linear_model.persistence import Unstorable, from_json, to_json

if TYPE_CHECKING:
    from yarrow.composite.base import Composite

#: packages that a learner inside may come from, by the kind that its part of the file names
_KINDS = {"model": "linear_model"} | {
    name: name for name in ("kernel", "experts", "bandit", "feedback")
}


def packed(model: Composite) -> tuple[dict[str, Any], dict[str, Any]]:
    """The exact training state."""
    state = model._fitted
    own, notes = model._pack_state(state)
    tensors: dict[str, Any] = {f"own/{name}": array for name, array in own.items()}
    members: list[dict[str, Any]] = []
    for place, member in enumerate(state.members):
        inner, about = packed_member(member.model)
        tensors |= {f"{place}/{name}": array for name, array in inner.items()}
        members.append(about)
    return tensors, {
        "kind": type(model).__module__.split(".")[1],
        "yarrow": yarrow.__version__,
        "estimator": type(model).__name__,
        "parameters": {
            name: to_json(value) for name, value in model.get_params(deep=False).items()
        },
        "members": members,
        "classes": list(state.codes),
        "rows": state.t,
        "notes": notes,
        "n_features_in": model.__dict__.get("_n_features_in"),
        "feature_names_in": model.__dict__.get("_feature_names_in"),
        "n_iter": model.__dict__.get("_n_iter"),
        "stream": model.__dict__.get("_stream"),
    }


def packed_member(model: Any) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """A learner inside, as its part of the file."""
    if not hasattr(model, "_packed"):
        raise ParameterError(
            f"{type(model).__name__} is not Yarrow's, and no file can hold it: use pickle."
        )
    if not model.__sklearn_is_fitted__():
        return {}, {"fresh": to_json(model)}
    return model._packed()  # type: ignore[no-any-return]


def unpacked(
    cls: type[Composite], tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Any
) -> Composite:
    """The estimator that `packed` has made tensors and metadata of."""
    settings = {name: from_json(value) for name, value in metadata["parameters"].items()}
    for name, value in settings.items():
        if value is Unstorable and name not in objects:
            raise ModelFileError(f"the parameter {name!r} is not in the file: pass {name}=...")
    model = cls(**(settings | objects))
    model._check_parameters()
    codes = {label: code for code, label in enumerate(metadata["classes"])}
    own, notes = part(tensors, "own/"), metadata["notes"]
    model._state = model._unpack_state(codes, int(metadata["rows"]), own, notes)
    model._state.members = [
        member_of(unpacked_member(about, part(tensors, f"{place}/")))
        for place, about in enumerate(metadata["members"])
    ]
    for name in ("n_features_in", "feature_names_in", "n_iter"):
        if metadata[name] is not None or name == "feature_names_in":
            setattr(model, f"_{name}", metadata[name])
    if metadata.get("stream") is not None:
        model.__dict__["_stream"] = metadata["stream"]
    return model


def part(tensors: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The tensors whose names begin so, without that."""
    return {
        name.removeprefix(prefix): array
        for name, array in tensors.items()
        if name.startswith(prefix)
    }


def unpacked_member(about: Mapping[str, Any], tensors: Mapping[str, Any]) -> Any:
    """A learner inside, from its part of the file."""
    if "fresh" in about:
        model = from_json(about["fresh"])
        if model is Unstorable:
            raise ModelFileError("a learner in it is not known to this version")
        return model
    kind, name = _KINDS.get(about.get("kind", "")), about.get("estimator")
    package = import_module(f"yarrow.{kind}") if kind else None
    if package is None or name not in package.__all__:
        raise ModelFileError(f"the learner {name!r} in it is not known to this version")
    return getattr(package, str(name))._unpacked(tensors, about)
