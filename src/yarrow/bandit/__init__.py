"""Learning where only "right" or "wrong" is told of the one class that was shown."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yarrow.bandit.banditron import BanditronClassifier as BanditronClassifier
    from yarrow.bandit.base import Choice as Choice
    from yarrow.bandit.regularized_pa import BanditPAClassifier as BanditPAClassifier

#: what is offered, and the file that has it
_HOMES = {
    "BanditPAClassifier": "regularized_pa",
    "BanditronClassifier": "banditron",
    "Choice": "base",
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
