"""`yarrow.load`: a model of any kind from its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from yarrow import model_file
from yarrow.linear_model import export_file
from yarrow.registry import class_named


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a model that `save` or `export` wrote.

    What no file can hold, such as a rule or a kernel of your own, is given by name.
    """
    return _unpacked(path, *export_file.read(path), objects)


def loads(content: bytes | bytearray, **objects: Any) -> Any:
    """Read a model from the content of such a file."""
    return _unpacked("<bytes>", *export_file.parse("<bytes>", content), objects)


def _unpacked(path: Any, tensors: Any, metadata: Any, objects: Mapping[str, Any]) -> Any:
    with model_file.refusing(path, objects):
        cls = class_named(metadata.get("kind"), metadata.get("estimator"))
        return cls._unpacked(tensors, metadata, objects)
