"""What files of all kinds of models hold alike: parameters, names, and what rows left behind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from yarrow import schema
from yarrow.errors import ModelFileError
from yarrow.estimator import Estimator
from yarrow.lazy import np
from yarrow.parameters import parameters
from yarrow.registry import class_named, kind_of, name_of
from yarrow.stream.format import DESCRIBED

#: what arrays and files leave behind in any kind of model
SOURCE_FIELDS = {
    "n_features_in": schema.Maybe(schema.Whole(at_least=1, at_most=2**31)),
    "feature_names_in": schema.Maybe(schema.ListOf(schema.Text())),
    "n_iter": schema.Maybe(schema.Whole(at_least=1)),
    "stream": schema.Maybe(DESCRIBED),
}


def source_fields(model: Any) -> dict[str, Any]:
    """What arrays and files have left behind in a model, as a file holds it."""
    return {name: model.__dict__.get(f"_{name}") for name in SOURCE_FIELDS}


#: what `pack_names` makes
NAME_FIELDS = {
    "name_bytes": schema.Array("u1", (None,)),
    "name_ends": schema.Array("i8", ("names",), at_least=0),
}


def restore_source(model: Any, metadata: Mapping[str, Any]) -> None:
    """Give a model back what arrays and files have left behind in it."""
    columns, names = metadata["n_features_in"], metadata["feature_names_in"]
    if names is not None and len(names) != columns:
        raise ModelFileError("it does not name all of its columns")
    if columns is not None:
        model._n_features_in, model._feature_names_in = columns, names
    for name in ("n_iter", "stream"):
        if metadata.get(name) is not None:
            setattr(model, f"_{name}", metadata[name])


def restore_settings(
    cls: Any, settings: Mapping[str, Any], objects: Mapping[str, Any] | None
) -> Any:
    """A fresh estimator with parameters as a file holds them, checked."""
    given = dict(objects or {})
    found = {name: from_json(value) for name, value in settings.items()} | given
    for name, value in found.items():
        if value is Unstorable:
            raise ModelFileError(
                f"the parameter {name!r} is not in the file: pass {name}=... to load"
            )
    unknown = found.keys() - parameters(cls).keys()
    if unknown:
        raise ModelFileError(f"{cls.__name__} has no parameter {min(unknown)!r}")
    estimator = cls(**found)
    estimator._check_parameters()
    return estimator


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
        kind = kind_of(type(value))
        found = {"estimator": name_of(type(value)), "parameters": parameters}
        return found if kind == "model" else found | {"package": kind}
    plain = _plain(value)
    return plain if _is_plain(plain) else {"unstorable": repr(value)}


def _is_plain(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def from_json(value: Any) -> Any:
    """What `to_json` was given, or `Unstorable`."""
    if not isinstance(value, Mapping):
        if type(value) is int and abs(value) >= 2**63:
            raise ModelFileError(f"a parameter is too large a number: {value:g}")
        return value
    if "pairs" in value:
        schema.check(_PAIRS, value, "a parameter")
        return {from_json(key): from_json(item) for key, item in value["pairs"]}
    if "list" in value:
        schema.check(_LIST, value, "a parameter")
        return tuple(from_json(item) for item in value["list"])
    if "estimator" in value:
        schema.check(_ESTIMATOR, value, "a parameter")
        cls = class_named(value.get("package", "model"), value["estimator"])
        if any(from_json(item) is Unstorable for item in value["parameters"].values()):
            return Unstorable
        return restore_settings(cls, value["parameters"], None)
    return Unstorable


_PAIRS = schema.Fields(
    {"pairs": schema.ListOf(schema.Record(schema.Anything(), schema.Anything()))}
)
_LIST = schema.Fields({"list": schema.ListOf(schema.Anything())})
_ESTIMATOR = schema.Fields(
    {"estimator": schema.Text(), "parameters": schema.MapOf(schema.Anything())}
)


def _plain(value: Any) -> Any:
    return value.item() if not _is_plain(value) and isinstance(value, np.generic) else value


def pack_names(names: list[Any]) -> dict[str, Any]:
    """Names as bytes: JSON of each, one behind the other."""
    packed = [json.dumps(name, ensure_ascii=False).encode() for name in names]
    ends = np.cumsum([len(text) for text in packed], dtype=np.int64)
    return {
        "name_bytes": np.frombuffer(b"".join(packed), dtype=np.uint8),
        "name_ends": np.asarray(ends, dtype=np.int64),
    }


def unpack_names(tensors: Mapping[str, Any], with_gaps: bool = False) -> list[Any]:
    """The names that `pack_names` has packed: texts and integers, none of them twice.

    `with_gaps`, None stands where there is no feature.
    """
    data, ends = tensors["name_bytes"].tobytes(), tensors["name_ends"].tolist()
    begins = [0, *ends[:-1]] if ends else []
    if sorted(ends) != ends or (ends[-1] if ends else 0) != len(data):
        raise ModelFileError("its names do not end where they should")
    try:
        names = [json.loads(data[begin:end]) for begin, end in zip(begins, ends, strict=True)]
    except (ValueError, RecursionError):
        raise ModelFileError("a name of a feature cannot be read") from None
    schema.check(schema.ListOf(schema.Maybe(schema.FeatureName())), names, "its names")
    given = [name for name in names if name is not None]
    if len(set(given)) < len(given) or (len(given) < len(names) and not with_gaps):
        raise ModelFileError("a name of a feature stands in it twice or is missing")
    return names
