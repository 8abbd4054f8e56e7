"""How a cell is measured: one module a protocol, with a function `run(cell)` and its revision.

The revision is part of what results are cached by: raise it whenever a change of the module, or of
what it calls, may change a result.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any

from reproduction.spec import Cell
from yarrow.errors import ParameterError

NAMES = (
    "online",
    "tuned",
    "sparse_folds",
    "drift",
    "selection",
    "choosing_p",
    "settings",
    "asking",
    "coverage",
    "experts",
    "activity",
    "budget",
    "regression",
)


@dataclasses.dataclass(frozen=True)
class Protocol:
    """A way to measure a cell."""

    run: Callable[[Cell], dict[str, Any]]
    revision: int


def named(name: str) -> Protocol:
    """Return the protocol of this name."""
    if name not in NAMES:
        raise ParameterError(f"There is no protocol {name!r}; there are {', '.join(NAMES)}.")
    module = importlib.import_module(f"reproduction.protocols.{name}")
    return Protocol(module.run, module.REVISION)
