"""`yarrow.load`: a model of any kind from its file."""

from __future__ import annotations

import os
from typing import Any

from yarrow import kernel, linear_model, model_file
from yarrow.linear_model import export_file


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a model that `save` or `export` wrote.

    What no file can hold, such as a rule or a kernel of your own, is given by name.
    """
    if not export_file.is_readable(path):
        metadata = model_file.read(path)[1]
        if metadata.get("kind") == "kernel" and metadata.get("estimator") in kernel.__all__:
            return getattr(kernel, metadata["estimator"]).load(path, **objects)
    return linear_model.load(path, **objects)
