"""numpy, loaded when it is first used: that takes longer than many a command needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Lazy:
        """A module whose attributes are looked up on first use, and then kept."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            value = getattr(import_module(self._name), attribute)
            setattr(self, attribute, value)
            return value

    np = _Lazy("numpy")
