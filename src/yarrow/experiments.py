"""The old name of `yarrow.compare`; what measures papers is beside the package: `reproduction`."""

import sys

from yarrow.checkout import load
from yarrow.compare import Comparison, Entrant, Files, Outcome, Race, compare, race
from yarrow.moved import alias, warn

__all__ = ["Comparison", "Entrant", "Files", "Outcome", "Race", "compare", "race"]

_HERE = [
    "baselines",
    "comparison",
    "curve",
    "folds",
    "grids",
    "heats",
    "lanes",
    "recommend",
    "runs",
    "sources",
    "tune",
]
_BESIDE = ["candidates", "engine", "findings", "peers", "protocols", "results", "spec"]

__path__: list[str] = []  # a package whose modules are all elsewhere
warn(__name__, "yarrow.compare")
alias({f"{__name__}.{name}": f"yarrow.compare.{name}" for name in _HERE})
alias({f"{__name__}.judgement": "yarrow.compare.holdout"})
alias({f"{__name__}.{name}": f"reproduction.{name}" for name in _BESIDE}, load)
alias({f"{__name__}.reproductions": "reproduction.specs"}, load)
for _name in ("compare", "race"):  # importing them anew would hide the functions of these names
    sys.modules[f"{__name__}.{_name}"] = sys.modules[f"yarrow.compare.{_name}"]
