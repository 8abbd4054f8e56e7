"""`yarrow.load`: a model of any kind from its file."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from yarrow import linear_model, model_file
from yarrow.linear_model import export_file

#: packages whose estimators read their own files, which name the package as their kind
_PACKAGES = ("bandit", "decomposition", "experts", "feedback", "kernel")


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a model that `save` or `export` wrote.

    What no file can hold, such as a rule or a kernel of your own, is given by name.
    """
    if not export_file.is_readable(path):
        metadata = model_file.read(path)[1]
        kind, name = metadata.get("kind"), metadata.get("estimator")
        if kind in _PACKAGES:
            package = import_module(f"yarrow.{kind}")
            if name in package.__all__:
                return getattr(package, str(name)).load(path, **objects)
    return linear_model.load(path, **objects)
