"""The old name of `yarrow.io` and of what is now in `yarrow.data`."""

from typing import Any

from yarrow import io
from yarrow.io import __all__ as __all__
from yarrow.moved import warn

__path__: list[str] = []  # a package whose modules are all elsewhere

warn(__name__, "yarrow.io")


def __getattr__(name: str) -> Any:
    return getattr(io, name)
