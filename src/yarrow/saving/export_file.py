"""`yarrow.load`, and files of exported weights: safetensors, or JSON and text for other programs.

All three hold the same and are read back alike. In memory an export is tensors (`intercept`, a
number a score, and for each weight its `feature`, `score` and `weight`, beside them the packed
names of the features) and metadata.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from yarrow.data.labels import in_order
from yarrow.errors import ModelFileError, ParameterError
from yarrow.io.replacing import replacing
from yarrow.lazy import np
from yarrow.saving import model_file, schema
from yarrow.saving.codec import (
    NAME_FIELDS,
    SOURCE_FIELDS,
    header,
    pack_names,
    restored,
    unpack_names,
)

Tensors = Mapping[str, Any]

_SUFFIXES = {"json": "json", "txt": "text", "tsv": "text"}
_INTERCEPT = "(intercept)"  # a feature of this name would stand in quotes


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a model that `save` or `export` wrote.

    What no file can hold, such as a rule or a kernel of your own, is given by name.
    """
    return restored(path, *read(path), objects)


def loads(content: bytes | bytearray, **objects: Any) -> Any:
    """Read a model from the content of such a file."""
    return restored("<bytes>", *parse("<bytes>", content), objects)


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
        "classes": in_order(core.classes) if hasattr(type(model), "classes_") else None,
        "seen": core.classes,  # in this order ties are decided
        "n_features_in": model.__dict__.get("_n_features_in"),
        "feature_names_in": model.__dict__.get("_feature_names_in"),
        "stream": model.__dict__.get("_stream"),
    }
    kept, place = np.unique(feature, return_inverse=True)
    tensors = {
        "intercept": np.asarray(weights[:, 0] * model._constant, dtype=np.float64),
        "feature": place.astype(np.int64).reshape(-1),
        "score": score.astype(np.int64),
        "weight": weights[score, feature + 1],
        **pack_names([names[i] for i in kept.tolist()]),
    }
    return tensors, metadata


def write(
    path: str | os.PathLike[str], tensors: Tensors, metadata: dict[str, Any], format: str | None
) -> None:
    """Write an export in a format, or the one that the suffix tells."""
    suffix = os.path.splitext(os.fspath(path))[1].lstrip(".")
    chosen = format or _SUFFIXES.get(suffix, "safetensors")
    if chosen not in ("safetensors", "json", "text"):
        raise ParameterError(
            f"The 'format' must be safetensors, json or text. Got {format!r} instead."
        )
    if chosen == "safetensors":
        model_file.write(path, tensors, metadata)
        return
    lines = _json_lines if chosen == "json" else _text_lines
    with replacing(path) as file:
        for line in lines(tensors, metadata):
            file.write(f"{line}\n".encode())


def _entries(tensors: Tensors) -> Iterator[tuple[Any, int, float]]:
    """Name, score and weight of each nonzero weight."""
    names = unpack_names(tensors)
    columns = (tensors[name].tolist() for name in ("feature", "score", "weight"))
    for place, score, weight in zip(*columns, strict=True):
        yield names[place], score, weight


def _json_lines(tensors: Tensors, metadata: dict[str, Any]) -> Iterator[str]:
    weights = {"intercept": tensors["intercept"].tolist(), "weights": list(_entries(tensors))}
    yield json.dumps(metadata | weights, ensure_ascii=False)


def _text_lines(tensors: Tensors, metadata: dict[str, Any]) -> Iterator[str]:
    counted = metadata | {"n_weights": len(tensors["weight"])}
    yield f"# {json.dumps(counted, ensure_ascii=False)}"
    yield "# score\tfeature\tweight"
    for score, value in enumerate(tensors["intercept"].tolist()):
        yield f"{score}\t{_INTERCEPT}\t{value!r}"
    for name, score, weight in _entries(tensors):
        yield f"{score}\t{json.dumps(name, ensure_ascii=False)}\t{weight!r}"


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors, as views or arrays, and the metadata of a model file or of any export."""
    with open(path, "rb") as file:
        if not _is_readable(file.read(8)):
            return model_file.read(path, arrays=False)
        file.seek(0)
        return parse(path, file.read())


def _is_readable(start: bytes | bytearray) -> bool:
    """Whether a file looks like JSON or text; a safetensors file begins with a number's bytes."""
    return start.startswith((b"{", b"# ")) and b"\0" not in start


def parse(path: object, content: bytes | bytearray) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and the metadata of a file's content; `path` is its name in errors."""
    if not _is_readable(content[:8]):
        return model_file.parse(path, bytearray(content), arrays=False)
    try:
        text = content.decode()
        document = _read_text(text) if text.startswith("# ") else json.loads(text)
        return _read_document(document)
    except RecursionError:
        raise ModelFileError(f"{path}: damaged: it is nested too deeply.") from None
    except (ValueError, OverflowError) as error:  # of json, of UTF-8 and those below
        raise ModelFileError(f"{path}: damaged: {str(error).rstrip('.')}.") from None


def _read_text(text: str) -> dict[str, Any]:
    """The document that a JSON export would be."""
    if not text.endswith("\n"):
        raise ValueError("its last line is cut off")
    head, *lines = text.split("\n")
    document = json.loads(head.removeprefix("# "))
    if not isinstance(document, dict):
        raise ValueError("line 1 is no JSON object")
    intercept: list[Any] = []
    weights: list[Any] = []
    for number, line in enumerate(lines, start=2):
        if not line or line.startswith("#"):
            continue
        try:
            score, name, weight = line.split("\t")
            if name == _INTERCEPT and int(score) == len(intercept):
                intercept.append(float(weight))
            else:
                weights.append([json.loads(name), int(score), float(weight)])
        except ValueError:
            raise ValueError(f"line {number} is no score, feature and weight: {line!r}") from None
    told = document.pop("n_weights", None)
    if told != len(weights):
        raise ValueError(f"it has {len(weights)} weights, but its first line tells of {told}")
    return document | {"intercept": intercept, "weights": weights}


def _read_document(document: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(document, dict) or document.get("kind") != "export":
        raise ValueError("it holds no exported model")
    metadata = dict(document)
    intercept, weights = metadata.pop("intercept", None), metadata.pop("weights", None)
    if not isinstance(intercept, list) or not all(map(_is_finite, intercept)):
        raise ValueError("its intercept is no list of numbers")
    if not isinstance(weights, list):
        raise ValueError("its weights are no list")
    return _tensors(intercept, weights), metadata


#: no weight is larger, so that sums of a few stay finite
LARGEST = 1e307
#: an export: metadata, and its tensors
SCHEMA = schema.Fields(
    {
        "estimator": schema.Text(),
        "classes": schema.Maybe(schema.ListOf(schema.Label(), "classes", unique=True)),
        "seen": schema.ListOf(schema.Label(), unique=True),
        **{name: SOURCE_FIELDS[name] for name in ("n_features_in", "feature_names_in", "stream")},
    }
)
TENSORS = schema.Fields(
    {
        "intercept": schema.Array("f8", ("scores",), -LARGEST, LARGEST),
        "feature": schema.Array("i8", ("weights",), at_least=0),
        "score": schema.Array("i8", ("weights",), at_least=0),
        "weight": schema.Array("f", ("weights",), -LARGEST, LARGEST),
        **NAME_FIELDS,
    },
    closed=True,
)


def check(tensors: Tensors, metadata: Mapping[str, Any]) -> None:
    """Refuse what is no export, before a model is made of it."""
    schema.check(SCHEMA, metadata)
    sizes = schema.check(TENSORS, tensors)
    classes, seen = metadata["classes"], metadata["seen"]
    if classes is None and seen:
        raise ModelFileError("it has seen classes, but has none")
    if classes is not None and (not classes or {*seen} != {*classes}):
        raise ModelFileError("its 'classes' are not those it has 'seen'")
    if sizes["scores"] != (len(classes) if classes is not None and len(classes) > 2 else 1):
        raise ModelFileError("its classes and its intercept do not go together")
    places = np.stack([tensors["feature"], tensors["score"]])
    limits = np.array([[sizes["names"]], [sizes["scores"]]])
    if (places >= limits).any() or len(np.unique(places, axis=1).T) < sizes["weights"]:
        raise ModelFileError("its weights do not belong to its features and scores")


def _tensors(intercept: list[float], weights: Iterable[Any]) -> dict[str, Any]:
    places: dict[Any, int] = {}
    found: dict[tuple[int, int], float] = {}
    for entry in weights:
        if not _is_entry(entry, len(intercept)):
            raise ValueError(
                f"{entry!r} is no feature, score (0 to {len(intercept) - 1}) and weight"
            )
        name, score, weight = entry
        at = places.setdefault(name, len(places)), score
        if at in found:
            raise ValueError(f"the feature {name!r} has two weights for the score {score}")
        found[at] = weight
    pairs = np.array(list(found), dtype=np.int64).reshape(-1, 2)
    return {
        "intercept": np.array(intercept, dtype=np.float64),
        "feature": pairs[:, 0],
        "score": pairs[:, 1],
        "weight": np.array(list(found.values()), dtype=np.float64),
        **pack_names(list(places)),
    }


def _is_entry(entry: Any, scores: int) -> bool:
    if not isinstance(entry, list) or len(entry) != 3:
        return False
    name, score, weight = entry
    is_name = type(name) is str or (type(name) is int and -(2**63) <= name < 2**63)
    return is_name and type(score) is int and 0 <= score < scores and _is_finite(weight)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
