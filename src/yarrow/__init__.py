"""Online learning for sparse streams: linear learners with a compiled core.

Learners are loaded when they are first asked for, so that ``import yarrow`` costs nothing.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from yarrow.moved import keep_old_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from yarrow._core import RuleInput as RuleInput
    from yarrow._core import RuleInput as Situation  # noqa: F401
    from yarrow.errors import YarrowError as YarrowError
    from yarrow.linear_model import *  # noqa: F403
    from yarrow.merging import merge as merge

_MODULES = (
    "bandit",
    "compare",
    "composite",
    "datasets",
    "decomposition",
    "distributed",
    "evaluate",
    "experts",
    "feature_selection",
    "features",
    "feedback",
    "io",
    "kernel",
    "linear_model",
    "metrics",
    "report",
)
_ELSEWHERE = {
    "RuleInput": "yarrow._core",
    "YarrowError": "yarrow.errors",
    "diff": "yarrow.evaluate.difference",
    "load": "yarrow.saving.export_file",
    "merge": "yarrow.merging",
}
#: old names, and what they are called now
_RENAMED = {"Situation": "RuleInput"}

keep_old_names()


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [name for name in __dir__() if name not in _MODULES]
    if name in _MODULES or name in ("experiments", "stream"):  # old names, which warn
        return import_module(f"yarrow.{name}")
    if name in _RENAMED:
        new = _RENAMED[name]
        warnings.warn(f"yarrow.{name} is now yarrow.{new}.", DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    if name not in __dir__():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_ELSEWHERE.get(name, "yarrow.linear_model")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    learners = import_module("yarrow.linear_model").__all__
    return sorted({*_ELSEWHERE, *_MODULES, "__version__", *learners})
