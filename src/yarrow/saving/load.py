"""`yarrow.load`: a model of any kind from its file."""

from __future__ import annotations

import os
from typing import Any

from yarrow.saving import export_file
from yarrow.saving.codec import restored


def load(path: str | os.PathLike[str], **objects: Any) -> Any:
    """Read a model that `save` or `export` wrote.

    What no file can hold, such as a rule or a kernel of your own, is given by name.
    """
    return restored(path, *export_file.read(path), objects)


def loads(content: bytes | bytearray, **objects: Any) -> Any:
    """Read a model from the content of such a file."""
    return restored("<bytes>", *export_file.parse("<bytes>", content), objects)
