"""`yarrow.load`, and files of exported models: safetensors, or JSON and text for other programs.

All three are read back alike. In memory an export is tensors and metadata, in one of two forms:
weights (`intercept`, a number a score, and for each weight its `feature`, `score` and `weight`,
perhaps its `variance`, beside them the packed names of the features), or a mixture of experts,
which `export_experts` has. docs/export.md says what each field means.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from yarrow.data.labels import in_order
from yarrow.errors import ModelFileError, ParameterError, check_value
from yarrow.io.replacing import replacing
from yarrow.lazy import np
from yarrow.saving import export_experts, model_file, schema
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


def described(model: Any) -> dict[str, Any]:
    """The metadata of any export; a model that cannot be exported is refused."""
    core = model._fitted
    if not model.is_exportable:
        raise ParameterError(
            f"{type(model).__name__} does not predict by a fixed weight a feature: use save."
        )
    if model.hash_bits is not None:
        raise ParameterError("A hashed model knows no names of features to export: use save.")
    return header(type(model)) | {
        "kind": "export",
        "classes": in_order(core.classes) if hasattr(type(model), "classes_") else None,
        "seen": core.classes,  # in this order ties are decided
        "n_features_in": model.__dict__.get("_n_features_in"),
        "feature_names_in": model.__dict__.get("_feature_names_in"),
        "stream": model.__dict__.get("_stream"),
        "probabilities": model._told_probabilities(),
    }


def exported(
    model: Any, weights: Any, calibrated: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """These weights, of which zeros are left out, as the tensors and the metadata of an export.

    Where they are not those that the model's probabilities were calibrated for, it has none.
    """
    if not model.has_weight_table:
        raise ParameterError(f"{type(model).__name__} does not predict by one weight a feature.")
    metadata, names = described(model), model.feature_names_
    told: Any = metadata["probabilities"] if calibrated else None
    metadata["probabilities"] = told
    variances = model._score_variances() if _needs_variances(told) else None
    if variances is None and _needs_variances(told):
        metadata["probabilities"] = None  # a matrix too large to be written
    is_kept = weights[:, 1:] != 0
    if variances is not None and variances.ndim == 2:  # where nothing was learned, left out
        told["initial_variance"] = model._initial_variance() * model._columns_of_score()
        is_kept |= variances[:, 1:] != told["initial_variance"]
    feature, score = np.nonzero(is_kept.T)
    kept, place = np.unique(feature, return_inverse=True)
    if variances is not None:  # features without a weight are known all the same
        kept, place = np.arange(len(names)), feature
    tensors = {
        "intercept": np.asarray(weights[:, 0] * model._constant, dtype=np.float64),
        "feature": place.astype(np.int64).reshape(-1),
        "score": score.astype(np.int64),
        "weight": weights[score, feature + 1],
        **pack_names([names[i] for i in kept.tolist()]),
    }
    if variances is not None and variances.ndim == 2:
        tensors["variance"] = variances[score, feature + 1].astype(weights.dtype)
        tensors["intercept_variance"] = np.array(variances[:, 0], dtype=np.float64)
    elif variances is not None:
        tensors["covariance"] = variances
    return tensors, metadata


def _needs_variances(told: Mapping[str, Any] | None) -> bool:
    return told is not None and told["kind"] in ("margin", "posterior")


def checked_format(model: Any, path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format of an export, or the one that its suffix tells; refused if the model has none."""
    suffix = os.path.splitext(os.fspath(path))[1].lstrip(".")
    chosen = format or _SUFFIXES.get(suffix, "safetensors")
    known = chosen in ("safetensors", "json", "text")
    check_value(known, "format", format, "safetensors, json or text")
    if chosen == "text" and not model.has_weight_table:
        raise ParameterError(
            f"{type(model).__name__} has no table of weights, as text needs: export it as json or "
            "safetensors."
        )
    return chosen


def write(
    path: str | os.PathLike[str], tensors: Tensors, metadata: dict[str, Any], chosen: str
) -> None:
    """Write an export in a format."""
    if chosen == "safetensors":
        model_file.write(path, tensors, metadata)
        return
    with replacing(path) as file:
        for line in lines_of(chosen, tensors, metadata):
            file.write(f"{line}\n".encode())


def lines_of(format: str, tensors: Tensors, metadata: dict[str, Any]) -> Iterator[str]:
    """An export as JSON or text."""
    if format == "json":
        yield json.dumps(document(tensors, metadata), ensure_ascii=False)
    else:
        yield from _text_lines(tensors, metadata)


def document(tensors: Tensors, metadata: dict[str, Any]) -> dict[str, Any]:
    """All of an export as JSON holds it, and as the scorers read it."""
    if "experts" in metadata:
        return export_experts.document(tensors, metadata)
    found = {"intercept": tensors["intercept"].tolist(), "weights": list(_entries(tensors))}
    if _needs_variances(metadata["probabilities"]):
        found["known"] = unpack_names(tensors)
    if "variance" in tensors:
        found["variances"] = list(_entries(tensors, "variance"))
    for name in ("intercept_variance", "covariance"):
        if name in tensors:
            found[name] = tensors[name].tolist()
    return metadata | found


def _entries(tensors: Tensors, of: str = "weight") -> Iterator[tuple[Any, int, float]]:
    """Name, score and number of each weight that is not zero, or of each variance."""
    names = unpack_names(tensors)
    columns = (tensors[name].tolist() for name in ("feature", "score", of))
    for place, score, number in zip(*columns, strict=True):
        if number or of == "variance":
            yield names[place], score, number


def _text_lines(tensors: Tensors, metadata: dict[str, Any]) -> Iterator[str]:
    if _needs_variances(metadata["probabilities"]):  # a line has no place for them
        metadata = metadata | {"probabilities": None}
    counted = metadata | {"n_weights": int(np.count_nonzero(tensors["weight"]))}
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
        raise ValueError("line 1 is not a JSON object")
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
            raise ValueError(
                f"line {number} is not a score, a feature and a weight: {line!r}"
            ) from None
    told = document.pop("n_weights", None)
    if told != len(weights):
        raise ValueError(f"it has {len(weights)} weights, but its first line tells of {told}")
    return document | {"intercept": intercept, "weights": weights}


def _read_document(document: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(document, dict) or document.get("kind") != "export":
        raise ValueError("it holds no exported model")
    if "experts" in document:
        return export_experts.read(document)
    metadata = dict(document)
    intercept, weights = metadata.pop("intercept", None), metadata.pop("weights", None)
    known = metadata.pop("known", [])
    if not isinstance(intercept, list) or not all(map(_is_finite, intercept)):
        raise ValueError("its intercept is not a list of numbers")
    if not isinstance(weights, list):
        raise ValueError("its weights are not a list")
    tensors = _tensors(intercept, weights, metadata.pop("variances", None), known)
    if "covariance" in metadata and len(known) < len(tensors["name_ends"]):
        raise ValueError("its 'covariance' is of features that it does not tell as 'known'")
    for name in ("intercept_variance", "covariance"):
        if name in metadata:
            tensors[name] = export_experts.array_of(metadata.pop(name), f"its {name!r}")
    return tensors, metadata


#: no weight is larger, so that sums of a few stay finite
LARGEST = 1e307
#: nor is a variance, which is multiplied by squares
LARGEST_VARIANCE = 1e150
#: what every export says
SCHEMA = schema.Fields(
    {
        "estimator": schema.Text(),
        "classes": schema.Maybe(schema.ListOf(schema.Label(), "classes", unique=True)),
        "seen": schema.ListOf(schema.Label(), unique=True),
        **{name: SOURCE_FIELDS[name] for name in ("n_features_in", "feature_names_in", "stream")},
    },
    optional={"probabilities": schema.Maybe(schema.MapOf(schema.Anything()))},
)
_SHARE = schema.Number(at_least=0, at_most=1)
_SPREAD = schema.Number(at_least=schema.TINY, at_most=1e100)
#: how scores become probabilities, by kind
PROBABILITIES = {
    "softmax": schema.Fields({}),
    "logistic": schema.Fields({}),
    "posterior": schema.Fields({"noise": _SPREAD}),
    "margin": schema.Fields({"scale": _SPREAD, "lapse": _SHARE, "equal_share": _SHARE}),
}
_VARIANCES = {"at_least": 0.0, "at_most": LARGEST_VARIANCE}
#: the tensors of weights
TENSORS = schema.Fields(
    {
        "intercept": schema.Array("f8", ("scores",), -LARGEST, LARGEST),
        "feature": schema.Array("i8", ("weights",), at_least=0),
        "score": schema.Array("i8", ("weights",), at_least=0),
        "weight": schema.Array("f", ("weights",), -LARGEST, LARGEST),
        **NAME_FIELDS,
    },
    optional={
        "variance": schema.Array("f", ("weights",), **_VARIANCES),
        "intercept_variance": schema.Array("f8", ("scores",), **_VARIANCES),
        "covariance": schema.Array(
            "f8", ("scores", "slots", "slots"), -LARGEST_VARIANCE, LARGEST_VARIANCE
        ),
    },
    closed=True,
)


def check(tensors: Tensors, metadata: Mapping[str, Any]) -> None:
    """Refuse what is no export, before a model is made of it."""
    schema.check(SCHEMA, metadata)
    if "experts" in metadata:
        sizes = export_experts.check(tensors, metadata)
    else:
        sizes = schema.check(TENSORS, tensors)
        feature, score = tensors["feature"], tensors["score"]
        inside = (feature < sizes["names"]).all() and (score < sizes["scores"]).all()
        places = np.sort(feature * sizes["scores"] + score) if inside else feature
        if not inside or (places[1:] == places[:-1]).any():
            raise ModelFileError("its weights do not belong to its features and scores")
    classes, seen = metadata["classes"], metadata["seen"]
    if classes is None and seen:
        raise ModelFileError("it has seen classes, but has none")
    if classes is not None and (not classes or {*seen} != {*classes}):
        raise ModelFileError("its 'classes' are not those it has 'seen'")
    if sizes["scores"] != (len(classes) if classes is not None and len(classes) > 2 else 1):
        raise ModelFileError("its classes and its intercept do not go together")
    _check_probabilities(tensors, metadata, sizes)


def check_written(tensors: Tensors, metadata: Mapping[str, Any]) -> None:
    """Refuse to write what could not be read again: numbers too large."""
    try:
        check(tensors, metadata)
    except ModelFileError as error:
        raise ParameterError(
            f"{metadata['estimator']} cannot be exported, as {str(error).rstrip('.')}: use save."
        ) from None


def _check_probabilities(
    tensors: Tensors, metadata: Mapping[str, Any], sizes: schema.Sizes
) -> None:
    """That probabilities can be made of the scores, by what the file has."""
    told, classes, place = metadata.get("probabilities"), metadata["classes"], "its 'probabilities'"
    if told is not None:
        schema.check(schema.Fields({"kind": schema.OneOf(tuple(PROBABILITIES))}), told, place)
        schema.check(PROBABILITIES[told["kind"]], told, place)
    by_matrix, by_entry = "covariance" in tensors, "intercept_variance" in tensors
    if _needs_variances(told) != (by_matrix or by_entry) or (by_matrix and by_entry):
        raise ModelFileError("its 'probabilities' and its variances do not go together")
    if told is None:
        return
    if classes is None or (told["kind"] == "posterior" and len(classes) > 2):
        raise ModelFileError("its 'probabilities' and its classes do not go together")
    if "lapse" in told and not told["lapse"] <= 1 - 1 / max(2, len(classes)):
        raise ModelFileError("its 'probabilities' are below chance")
    if "experts" in metadata:
        return
    if by_matrix and (sizes["slots"] != sizes["names"] + 1 or not _are_covariances(tensors)):
        raise ModelFileError("its 'covariance' is not that of its features")
    if by_entry != ("variance" in tensors):
        raise ModelFileError("its weights and their variances do not go together")
    if by_entry:
        number = schema.Number(at_least=0, at_most=LARGEST_VARIANCE)
        schema.check(schema.Fields({"initial_variance": number}), told, place)


def _are_covariances(tensors: Tensors) -> bool:
    """Whether matrices are symmetric, and no two features go together more than by all."""
    matrices = tensors["covariance"]
    roots = np.sqrt(np.maximum(np.einsum("kii->ki", matrices), 0))
    limits = roots[:, :, None] * roots[:, None, :]
    alike = np.abs(matrices - matrices.swapaxes(1, 2)) <= 1e-6 * limits
    return bool((alike & (np.abs(matrices) <= 1.000001 * limits)).all())


def _tensors(
    intercept: list[float], weights: list[Any], variances: Any, known: Any
) -> dict[str, Any]:
    schema.check(schema.ListOf(schema.FeatureName(), unique=True), known, "its 'known'")
    places = {name: place for place, name in enumerate(known)}
    found = _read_entries("weight", weights, len(intercept), places)
    spread: dict[tuple[int, int], float] = {}
    if variances is not None:
        schema.check(schema.ListOf(schema.Anything()), variances, "its 'variances'")
        spread = _read_entries("variance", variances, len(intercept), places)
        if not found.keys() <= spread.keys():
            raise ValueError("a weight has no variance")
    pairs = np.array(list(spread or found), dtype=np.int64).reshape(-1, 2)
    tensors = {
        "intercept": np.array(intercept, dtype=np.float64),
        "feature": pairs[:, 0],
        "score": pairs[:, 1],
        "weight": np.array([found.get(at, 0.0) for at in spread or found], dtype=np.float64),
        **pack_names(list(places)),
    }
    if variances is not None:
        tensors["variance"] = np.array(list(spread.values()), dtype=np.float64)
    return tensors


def _read_entries(
    what: str, entries: list[Any], scores: int, places: dict[Any, int]
) -> dict[tuple[int, int], float]:
    """The number of each place of a feature and score; new features get a place."""
    found: dict[tuple[int, int], float] = {}
    for entry in entries:
        if not _is_entry(entry, scores):
            raise ValueError(f"{entry!r} is not a feature, a score (0 to {scores - 1}) and {what}")
        name, score, number = entry
        at = places.setdefault(name, len(places)), score
        if at in found:
            raise ValueError(f"the feature {name!r} has two {what}s for the score {score}")
        found[at] = number
    return found


def _is_entry(entry: Any, scores: int) -> bool:
    if not isinstance(entry, list) or len(entry) != 3:
        return False
    name, score, number = entry
    is_name = type(name) is str or (type(name) is int and -(2**63) <= name < 2**63)
    return is_name and type(score) is int and 0 <= score < scores and _is_finite(number)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
