"""The codec: how whatever is saved becomes the tensors and the metadata of a file, and comes back.

An estimator declares what it keeps (`Saved`); the header, parameters, what arrays have left behind,
the schema, locks and errors are the same for all. `model_file` has the bytes, `registry` the names.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import yarrow
from yarrow.data.labels import plain
from yarrow.errors import ModelFileError, OtherModelError
from yarrow.estimator import Estimator, LearnsArrays
from yarrow.io.formats import FORMATS
from yarrow.lazy import np
from yarrow.parameters import parameters
from yarrow.saving import model_file, schema
from yarrow.saving.registry import class_named, kind_of, name_of

Tensors = Mapping[str, Any]
Objects = Mapping[str, Any] | None
"""What no file can hold, by name: a rule, a kernel, a clock."""


class Saved:
    """What can be saved.

    A subclass says of what it has learned how it becomes tensors and fields of the metadata
    (`_pack`), what these fields are (`_fields`), and how it comes back (`_unpack`).
    """

    #: fields of the metadata that `_pack` makes, and those that older files lack
    _fields: ClassVar[Mapping[str, schema.Schema]]
    _later_fields: ClassVar[Mapping[str, schema.Schema]] = {}
    #: whether it takes tensors as views of a file's memory, without numpy; others get arrays
    _takes_views: ClassVar[bool] = False

    def _pack(self) -> tuple[Tensors, dict[str, Any]]:
        raise NotImplementedError

    def _unpack(self, tensors: Tensors, metadata: Mapping[str, Any], objects: Objects) -> None:
        """Take what `_pack` has made; the metadata has been checked, the tensors have not."""
        raise NotImplementedError

    @classmethod
    def _read_file(cls, path: str | os.PathLike[str]) -> tuple[Tensors, dict[str, Any]]:
        return model_file.read(path)

    def _about(self) -> dict[str, Any]:
        """Fields for people who look into the file."""
        return {}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the exact training state: a loaded model goes on as if nothing had happened.

        Rows that other threads bring wait until it is written.
        """
        with getattr(self, "_lock", contextlib.nullcontext()):
            model_file.write(path, *self._packed())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **objects: Any) -> Self:
        """Read what `save` wrote. `objects` gives parameters that a file cannot hold."""
        return restored(path, *cls._read_file(path), objects, cls)  # type: ignore[no-any-return]

    def _packed(self) -> tuple[Tensors, dict[str, Any]]:
        """All of it as the tensors and the metadata of a file."""
        tensors, fields = self._pack()
        metadata = header(type(self)) | self._about()
        if isinstance(self, Estimator):
            metadata["parameters"] = packed_settings(self.get_params(deep=False))
        metadata |= fields
        if isinstance(self, LearnsArrays):
            metadata |= {name: self.__dict__.get(f"_{name}") for name in SOURCE_FIELDS}
        return tensors, metadata

    @classmethod
    def _unpacked(
        cls, tensors: Tensors, metadata: Mapping[str, Any], objects: Objects = None
    ) -> Self:
        """The model that `_packed` has made tensors and metadata of."""
        fields, later = dict(cls._fields), dict(cls._later_fields)
        if issubclass(cls, Estimator):
            fields["parameters"] = SETTINGS
        if issubclass(cls, LearnsArrays):
            fields |= {name: SOURCE_FIELDS[name] for name in ("n_features_in", "feature_names_in")}
            later |= SOURCE_FIELDS
        schema.check(schema.Fields(fields, optional=later), metadata)
        model = cls._made(tensors, metadata, objects)
        model._unpack(tensors, metadata, objects)
        if isinstance(model, LearnsArrays):
            restore_source(model, metadata)
        return model

    @classmethod
    def _made(cls, tensors: Tensors, metadata: Mapping[str, Any], objects: Objects) -> Self:
        """A fresh one with the parameters of a file."""
        return restore_settings(cls, metadata["parameters"], objects)  # type: ignore[no-any-return]


def header(cls: type) -> dict[str, Any]:
    """What every file says of what it holds."""
    return {"kind": kind_of(cls), "yarrow": yarrow.__version__, "estimator": name_of(cls)}


def restored(
    path: object,
    tensors: Tensors,
    metadata: Mapping[str, Any],
    objects: Objects = None,
    cls: type | None = None,
) -> Any:
    """The model that a file holds: of whichever class, or of one; `path` is its name in errors."""
    with model_file.refusing(path, objects):
        found = class_named(metadata.get("kind"), metadata.get("estimator"))
    if cls is not None and not issubclass(found, cls):
        raise OtherModelError(f"{path}: holds a {found.__name__}, not a {cls.__name__}.")
    with model_file.refusing(path, objects):
        if not getattr(found, "_takes_views", False):
            tensors = model_file.as_arrays(tensors)
        return found._unpacked(tensors, metadata, objects)


#: parameters, each as `to_json` writes it
SETTINGS = schema.MapOf(schema.Anything())
_COLUMNS = schema.ListOf(schema.Text())
#: what a model's file may say of the stream that it has learned; see `StreamFormat.described`
STREAM_FIELDS = schema.Fields(
    {"format": schema.OneOf(FORMATS)},
    optional={
        "index_base": schema.OneOf((0, 1)),
        "interactions": schema.ListOf(schema.Record(schema.Text(), schema.Text())),
        "table": schema.Fields(
            {},
            optional={
                **dict.fromkeys(("label", "weight"), schema.Maybe(schema.Text())),
                **dict.fromkeys(("features", "columns"), schema.Maybe(_COLUMNS)),
                **dict.fromkeys(("drop", "text", "categories", "numeric", "missing"), _COLUMNS),
                "delimiter": schema.Maybe(schema.Text()),
                **dict.fromkeys(("quotes", "header"), schema.Flag()),
                "known": schema.MapOf(schema.OneOf(("number", "boolean", "date", "text"))),
                "ngrams": schema.Whole(at_least=1),
                "when_missing": schema.OneOf(("ignore", "indicate", "error")),
            },
            closed=True,
        ),
    },
    closed=True,
)

#: what arrays and files leave behind in any kind of model
SOURCE_FIELDS = {
    "n_features_in": schema.Maybe(schema.Whole(at_least=1, at_most=2**31)),
    "feature_names_in": schema.Maybe(schema.ListOf(schema.Text())),
    "n_iter": schema.Maybe(schema.Whole(at_least=1)),
    "stream": schema.Maybe(STREAM_FIELDS),
}


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


#: how many threads there are is no matter of the model, and another machine has others
_OF_THE_MACHINE = frozenset({"n_jobs"})
#: parameters that came later; where they have these values, older versions can read the file
_LATER = {"loss": None, "confidence_r": None, "steps": "gradient"}


def packed_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a file holds them."""
    return {
        name: to_json(value)
        for name, value in settings.items()
        if name not in _OF_THE_MACHINE and not (name in _LATER and value == _LATER[name])
    }


def restore_settings(cls: Any, settings: Mapping[str, Any], objects: Objects) -> Any:
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
        kind, settings = kind_of(type(value)), packed_settings(value.get_params(deep=False))
        found = {"estimator": name_of(type(value)), "parameters": settings}
        return found if kind == "model" else found | {"package": kind}
    value = plain(value)
    return value if _is_plain(value) else {"unstorable": repr(value)}


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
_ESTIMATOR = schema.Fields({"estimator": schema.Text(), "parameters": SETTINGS})


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
