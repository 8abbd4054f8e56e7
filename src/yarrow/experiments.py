"""The old name of `yarrow.compare`; what measures papers is beside the package: `reproduction`."""

import sys

from yarrow.compare import Comparison, Entrant, Files, Outcome, Race, compare, race
from yarrow.moved import warn

__all__ = ["Comparison", "Entrant", "Files", "Outcome", "Race", "compare", "race"]
__path__: list[str] = []  # a package whose modules are all elsewhere

warn(__name__, "yarrow.compare")
for _name in ("compare", "race"):  # importing them anew would hide the functions of these names
    sys.modules[f"{__name__}.{_name}"] = sys.modules[f"yarrow.compare.{_name}"]
