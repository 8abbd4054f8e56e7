"""A small model file of every kind, to be changed."""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import yarrow
from yarrow.errors import YarrowError
from yarrow.saving import export_file, model_file
from yarrow.saving.registry import PACKAGES

KINDS = ("model", "export", *(kind for kind in PACKAGES if kind != "model"))
FORMATS = ("safetensors", "json", "text")
WORDS = ["cheap", "pills", "lunch", "today", "ünï", 7, -3]
_NEEDS_A_FUNCTION = {"CustomClassifier", "StructuredClassifier"}


def row(rng: random.Random, names: list[Any] = WORDS) -> dict[Any, float]:
    return {name: rng.choice([1.0, -1.0, 0.5, 2.0]) for name in rng.sample(names, 3)}


def _taught(model: Any, labels: list[Any], rows: int = 24) -> Any:
    rng = random.Random(1)
    for i in range(rows):
        model.learn_one(row(rng), labels[i % len(labels)])
    return model


def _content(model: Any) -> bytes:
    return b"".join(model_file.dump("it", *model._packed()))


@functools.cache
def files_of(kind: str) -> list[tuple[str, bytes]]:
    """Names and contents of files of one of `KINDS`, one for each class and its choices."""
    is_export = kind == "export"
    home = "model" if is_export else kind
    module = getattr(__import__(f"yarrow.{PACKAGES[home]}"), PACKAGES[home])
    found = [
        (name, make)
        for class_name in module.__all__
        for name, make in _makers_of(home, class_name, getattr(module, class_name))
        if name.endswith(FORMATS) == is_export
    ]
    return [(name, make()) for name, make in sorted(found, key=lambda item: item[0])]


def _makers_of(kind: str, name: str, cls: Any) -> Iterator[tuple[str, Callable[[], bytes]]]:
    if not isinstance(cls, type) or name in _NEEDS_A_FUNCTION:
        return
    if kind == "decomposition":
        yield name, lambda: _decomposition(cls)
        return
    if name == "LateLabels":
        yield name, _late_labels
        return
    if not hasattr(cls, "_unpacked") or name == "ExportedModel":
        return
    parameters = getattr(cls, "__dataclass_fields__", {})
    variants: list[dict[str, Any]] = [{}]
    if kind == "model":
        if "dtype" in parameters:
            variants.append({"dtype": "float64"})
        if "multiclass" in parameters:
            choices = parameters["multiclass"].metadata["parameter"].choices
            variants += [{"multiclass": choice} for choice in choices if choice != "ovr"]
        if "covariance" in parameters:
            choices = parameters["covariance"].metadata["parameter"].choices
            variants += [{"covariance": choice} for choice in choices]
        if "average" in parameters:
            variants.append({"average": True})
        if "hash_bits" in parameters:
            variants.append({"hash_bits": 3})
    for settings in variants:
        words = ",".join(f"{key}={value}" for key, value in settings.items())
        label = f"{name}({words})"
        for classes in (2, 3):
            with contextlib.suppress(YarrowError, TypeError):
                model = _model(cls, settings, classes)
                _content(model)
                yield f"{label}/{classes}", lambda m=model: _content(m)  # type: ignore[misc]
                if kind == "model" and model.is_exportable and _is_exported(settings):
                    forms = FORMATS[:2] if "Yarrow" in name else FORMATS  # text has weights alone
                    for form in forms:
                        yield f"{label}/{classes}/{form}", lambda m=model, f=form: _export(m, f)  # type: ignore[misc]
            if "Regressor" in name or "OneClass" in name or "Ranker" in name:
                break


def _is_exported(settings: dict[str, Any]) -> bool:
    """With the defaults, and where a matrix goes along."""
    return not settings or settings.get("covariance") == "full"


def _model(cls: Any, settings: dict[str, Any], classes: int) -> Any:
    model = cls(**settings)
    name = cls.__name__
    if "OneClass" in name:
        rng = random.Random(2)
        for _ in range(12):
            model.learn_one(row(rng))
        return model
    if "Ranker" in name:
        rng = np.random.default_rng(0)
        return model.fit(rng.normal(size=(12, 3)), rng.normal(size=12))
    labels = [0.5, 1.5, -1.0] if "Regressor" in name else ["ham", "spam", "ünï"][:classes]
    if hasattr(model, "choose_one"):
        model = model.set_params(classes=labels)
        rng = random.Random(3)
        for i in range(24):
            model.learn(model.choose_one(row(rng)), bool(i % 2))
        return model
    return _taught(model, labels)


def _export(model: Any, form: str) -> bytes:
    tensors, metadata = model._exported()
    if form == "safetensors":
        return b"".join(model_file.dump("it", tensors, metadata))
    lines = export_file.lines_of(form, tensors, metadata)
    return "".join(f"{line}\n" for line in lines).encode()


def _decomposition(cls: Any) -> bytes:
    rng = np.random.default_rng(0)
    name = cls.__name__
    small = {"n_components": 3, "rank": 3, "n_factors": 2, "block_size": 4, "n_kept": 3}
    known = {key: value for key, value in small.items() if key in cls.__dataclass_fields__}
    model = cls(**known)
    if "Factorization" in name or "MF" in name or hasattr(model, "recommend"):
        pairs = [[f"u{i % 4}", f"i{i % 5}"] for i in range(20)]
        model.partial_fit(pairs, rng.integers(1, 6, 20).astype(float))
    else:
        X = rng.integers(0, 5, size=(11, 5)).astype(float)
        model.partial_fit(X)
    return b"".join(model_file.dump("it", *model._packed()))


def _late_labels() -> bytes:
    late = yarrow.feedback.LateLabels(yarrow.AROWClassifier(), keep=4)
    rng = random.Random(4)
    tickets = [late.predict(row(rng)) for _ in range(9)]
    for i, ticket in enumerate(tickets[:7]):
        late.learn(ticket, ["ham", "spam"][i % 2])
    return b"".join(model_file.dump("it", *late._packed()))
