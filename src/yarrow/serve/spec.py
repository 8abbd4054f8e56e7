"""The spec of a model: which learner, with which settings, of which columns.

    {"learner": "arow", "parameters": {"r": 0.1}, "columns": {"text": ["body"], "drop": ["date"]}}

A learner is named as on the command line or by its class; a parameter that is a learner is a spec,
too. `columns` are those of tables (see `yarrow train --help`); without it a row is its features.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from yarrow.errors import YarrowError, did_you_mean
from yarrow.parameters import parameters
from yarrow.saving import schema
from yarrow.saving.codec import STREAM_FIELDS
from yarrow.saving.registry import LEARN_LABELS, PACKAGES, means, short_name
from yarrow.serve.errors import ServiceError

_FIELDS = ("learner", "parameters", "columns", "per_key", "promote")


def build(spec: Mapping[str, Any]) -> Any:
    """A fresh learner as a spec says, checked."""
    if not isinstance(spec, Mapping) or not isinstance(spec.get("learner"), str):
        raise ServiceError('A spec is an object that names a learner: {"learner": "arow"}.')
    for name in spec:
        if name not in _FIELDS:
            raise ServiceError(f"A spec has {', '.join(_FIELDS)}, but no {name!r}.")
    for name in ("per_key", "promote"):
        if not isinstance(spec.get(name, False), bool):
            raise ServiceError(f"{name!r} is true or false. Got {spec[name]!r}.")
    cls = _class_named(spec["learner"])
    settings = spec.get("parameters") or {}
    if not isinstance(settings, Mapping):
        raise ServiceError("The parameters of a spec are an object: names and values.")
    known = parameters(cls)
    for name in settings:
        if name not in known:
            alike = did_you_mean(str(name), known)
            raise ServiceError(f"{cls.__name__} has no parameter {name!r}{alike}.")
    try:
        model = cls(**{name: _value(value) for name, value in settings.items()})
        model._check_parameters()
        columns = spec.get("columns")
        if columns:
            stream = {"format": "jsonl", "table": columns}
            schema.check(STREAM_FIELDS, stream, "columns")
            model._stream = stream
    except YarrowError as error:
        raise ServiceError(str(error)) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise ServiceError(f"{cls.__name__} cannot be made of this spec: {error}.") from None
    return model


def text_column(model: Any) -> str | None:
    """The column that a row given as a text alone fills: the only one that is read as words."""
    table = (getattr(model, "_stream", None) or {}).get("table", {})
    columns = table.get("text", ())
    return columns[0] if len(columns) == 1 else None


def _value(value: Any) -> Any:
    if isinstance(value, Mapping) and "learner" in value:
        return build(value)
    if isinstance(value, list):
        return [_value(item) for item in value]
    return value


def _class_named(name: str) -> Any:
    found = {}
    for kind in (*LEARN_LABELS, "composite"):
        module = import_module(f"yarrow.{PACKAGES[kind]}")
        for known in module.__all__:
            if means(name, known):
                cls = getattr(module, known)
                if isinstance(cls, type) and hasattr(cls, "learn_one") and hasattr(cls, "save"):
                    return cls
            found[short_name(known)] = known
    raise ServiceError(f"There is no learner {name!r}{did_you_mean(name.lower(), found)}.")
