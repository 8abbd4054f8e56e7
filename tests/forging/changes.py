"""Changes at random to a file's content, with digests that are right again."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from yarrow.errors import ModelFileError
from yarrow.saving import model_file

_SPECIAL = [
    None, True, False, 0, 1, -1, 2, 3, 26, 30, 63, 2**31, 2**53, 2**63, -(2**63), 10**40,
    0.5, -0.5, 1e-320, 1e38, 1e300, -1e308, math.inf, -math.inf, math.nan,
    "", "a", "a\0", "a" * 10_000, "load", "float32", "float64", "\ud800", "AROWClassifier",
    "/dev/stdin",
    [], [[]], {}, [None], {"pairs": [[1]]}, {"list": 3}, {"estimator": "load"},
    {"estimator": "load", "parameters": {"path": "/dev/zero"}},
    {"estimator": "Perceptron", "parameters": {"loss": 1}},
]  # fmt: skip
_NUMBERS = [
    0, 1, -1, 2, 0.5, -0.0, 1e-320, 1e-30, 1e30, 3e38, 1e300, 2**31, 2**63,
    math.nan, math.inf, -math.inf,
]  # fmt: skip
_DTYPES = ["<f8", "<f4", "<f2", "<i8", "<i4", "|u1", "<u8", "|b1"]


def forged(content: bytes, rng: random.Random) -> bytes:
    """The content of a file with some of it changed, and right digests."""
    if content[:1] in (b"{", b"#"):
        return _forged_text(content, rng)
    if rng.random() < 0.02:
        return _damaged(content, rng)
    original, metadata = _parsed(content)
    tensors = dict(original)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if tensors and rng.random() < 0.6:
            _change_tensor(tensors, rng)
        else:
            metadata = _changed_json(metadata, rng)
    try:
        return b"".join(model_file.dump("it", tensors, metadata))
    except (ModelFileError, ValueError, RecursionError):  # what no file can hold
        return content


def with_extreme_parameters(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The content of a file with each of its numeric parameters at each extreme, by name."""
    tensors, metadata = _parsed(content)
    for name, value in metadata.get("parameters", {}).items():
        if type(value) in (int, float):
            for extreme in (1e-320, 1e300) if type(value) is float else (0, 2**53):
                changed = {**metadata, "parameters": {**metadata["parameters"], name: extreme}}
                if name in metadata.get("made_with", ()):
                    changed["made_with"] = {**metadata["made_with"], name: extreme}
                whole = b"".join(model_file.dump("it", tensors, changed))
                yield f"{name}={extreme:g}", whole


@functools.cache
def _parsed(content: bytes) -> tuple[dict[str, Any], Any]:
    return model_file.parse("it", bytearray(content))


def _damaged(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.choice([len(data), len(data), rng.randrange(len(data))])])


def _forged_text(content: bytes, rng: random.Random) -> bytes:
    if content[:1] == b"{" and rng.random() < 0.7:
        changed = _changed_json(json.loads(content), rng)
        return json.dumps(changed).encode()
    if content[:1] == b"#" and rng.random() < 0.4:
        head, *lines = content.decode().split("\n")
        changed = _changed_json(json.loads(head[2:]), rng)
        return "\n".join([f"# {json.dumps(changed)}", *lines]).encode()
    return _damaged(content, rng)


def _nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _nodes(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value[:50]):
            yield from _nodes(item, (*path, place))


def _changed_json(document: Any, rng: random.Random) -> Any:
    document = json.loads(json.dumps(document))
    path = rng.choice(list(_nodes(document)))
    if not path:
        return document if rng.random() < 0.8 else rng.choice(_SPECIAL)
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    old = parent[path[-1]]
    change = rng.randrange(5)
    if change == 0 and isinstance(parent, dict):
        del parent[path[-1]]
    elif change == 1 and isinstance(old, list) and old:
        old.append(json.loads(json.dumps(rng.choice(old))))
    elif change == 2 and isinstance(old, list) and old:
        old.pop(rng.randrange(len(old)))
    elif change == 3 and isinstance(old, (int, float)) and not isinstance(old, bool):
        parent[path[-1]] = rng.choice([old + 1, old - 1, -old, old * 2, float(old), str(old)])
    elif change == 4 and isinstance(parent, dict):
        parent[rng.choice([*parent, "new"])] = rng.choice(_SPECIAL)
    else:
        parent[path[-1]] = rng.choice(_SPECIAL)
    return document


def _change_tensor(tensors: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(list(tensors))
    array = tensors[name]
    change = rng.randrange(10)
    if change <= 4 and array.size:
        with warnings.catch_warnings(), contextlib.suppress(OverflowError, ValueError):
            warnings.simplefilter("ignore")
            tensors[name] = array.copy()  # the original serves for other files, too
            flat = tensors[name].reshape(-1)
            if rng.random() < 0.1:
                flat[:] = rng.choice(_NUMBERS)
            for _ in range(rng.choice([1, 1, 2, 5])):
                flat[rng.randrange(flat.size)] = rng.choice(_NUMBERS)
    elif change == 5 and array.ndim:
        axis = rng.randrange(array.ndim)
        if rng.random() < 0.5:
            tensors[name] = np.concatenate([array, array], axis=axis)
        elif array.shape[axis]:
            tensors[name] = np.delete(array, rng.randrange(array.shape[axis]), axis=axis)
    elif change == 6:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensors[name] = array.astype(rng.choice(_DTYPES))
    elif change == 7:
        del tensors[name]
    elif change == 8:
        other = rng.choice(list(tensors))
        tensors[name], tensors[other] = tensors[other], array
    else:
        tensors[rng.choice(["new", "own/new", "0/new", name + "x"])] = array.reshape(-1)[:3]
