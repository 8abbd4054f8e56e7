"""Labels that come late, that must be asked for, and predictions that say how sure they are."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yarrow.feedback.late import LateLabels as LateLabels
    from yarrow.feedback.late import Ticket as Ticket
    from yarrow.feedback.selective import SelectiveClassifier as SelectiveClassifier
    from yarrow.feedback.sets import PredictionSetClassifier as PredictionSetClassifier

#: what is offered, and the file that has it
_HOMES = {
    "LateLabels": "late",
    "PredictionSetClassifier": "sets",
    "SelectiveClassifier": "selective",
    "Ticket": "late",
}

if not TYPE_CHECKING:
    __all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
