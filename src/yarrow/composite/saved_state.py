"""Estimators made of learners as the tensors and the metadata of one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from yarrow.errors import ModelFileError, ParameterError
from yarrow.estimator import Estimator
from yarrow.online.adapters import adapter_of
from yarrow.saving import schema
from yarrow.saving.codec import from_json, to_json
from yarrow.saving.registry import class_named

if TYPE_CHECKING:
    from yarrow.composite.base import Composite


def pack(model: Composite) -> tuple[dict[str, Any], dict[str, Any]]:
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
        "members": members,
        "classes": list(state.codes),
        "rows": state.t,
        "notes": notes,
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


FIELDS = {
    "members": schema.ListOf(schema.MapOf(schema.Anything())),
    "classes": schema.ListOf(schema.Label(), unique=True),
    "rows": schema.Whole(at_least=1),
    "notes": schema.MapOf(schema.Anything()),
}


def unpack(model: Composite, tensors: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Give a fresh estimator the state that `pack` has made tensors and metadata of."""
    codes = {label: code for code, label in enumerate(metadata["classes"])}
    if model.regression is bool(codes):
        raise ModelFileError("it has classes though it is a regression, or none though it is not")
    parts = {str(place): about for place, about in enumerate(metadata["members"])}
    for name in tensors:
        if name.partition("/")[0] not in {"own", *parts}:
            raise ModelFileError(f"its {name!r} belongs to no learner")
    own, notes = part(tensors, "own/"), metadata["notes"]
    arrays, others = (schema.Fields(some, closed=True) for some in model._state_schema())
    sizes = schema.check(arrays, own, "its own", classes=len(codes), members=len(parts))
    schema.check(others, notes, "its 'notes'", **sizes)
    members = [
        adapter_of(unpacked_member(about, part(tensors, f"{place}/")))
        for place, about in parts.items()
    ]
    _check_members(model, members, codes)
    model._state = model._unpack_state(codes, metadata["rows"], own, notes)
    model._state.members = members


def _check_members(model: Composite, members: list[Any], codes: Mapping[Any, int]) -> None:
    for member in members:
        name = type(member.model).__name__
        if member.regression is not model.regression:
            raise ModelFileError(f"a {name} cannot be inside a {type(model).__name__}")
        known = getattr(member.model, "classes_", None) if not model.regression else None
        fitted = member.model.__sklearn_is_fitted__()
        if fitted and known is not None and not {*known.tolist()} <= codes.keys():
            raise ModelFileError(f"a {name} in it knows classes that it does not")


def part(tensors: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The tensors whose names begin so, without that."""
    return {
        name.removeprefix(prefix): array
        for name, array in tensors.items()
        if name.startswith(prefix)
    }


def unpacked_part(tensors: Mapping[str, Any], metadata: Mapping[str, Any], name: str) -> Any:
    """A learner inside that has a name."""
    return unpacked_member(metadata[name], part(tensors, f"{name}/"))


def unpacked_member(about: Mapping[str, Any], tensors: Mapping[str, Any]) -> Any:
    """A learner inside, from its part of the file."""
    if "fresh" not in about:
        return class_named(about.get("kind"), about.get("estimator"))._unpacked(tensors, about)
    model = from_json(about["fresh"])
    if not isinstance(model, Estimator):
        raise ModelFileError("a learner in it is not known to this version")
    return model
