"""The old home of `yarrow.online.adapters`, which pickles of earlier versions name."""

import warnings
from typing import Any

from yarrow.online import adapters, batch, learners

_NAMES: dict[str, Any] = {
    "Member": adapters.Adapter,
    "CoreMember": adapters.CoreAdapter,
    "DictMember": adapters.DictAdapter,
    "ArrayMember": adapters.ArrayAdapter,
    "Block": batch.Batch,
    "member_of": adapters.adapter_of,
}


def __getattr__(name: str) -> Any:
    found = _NAMES.get(name) or getattr(learners, name)
    warnings.warn(
        f"yarrow.composite.members is no more: {name} is {found.__module__}.{found.__name__}",
        DeprecationWarning,
        stacklevel=2,
    )
    return found
