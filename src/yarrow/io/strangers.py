"""Who asks a model about rows of which it knows no feature, or lets it learn them, is told."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from yarrow.errors import UnknownFeaturesWarning
from yarrow.lazy import np

NO_FEATURE = "(none)"
#: a model of fewer does not tell who is a stranger to it
FEW_ROWS = 32


class Strangers:
    """Warns, at the end, where no feature of the rows to be predicted is known to a model."""

    def __init__(self, core: Any) -> None:
        self._core, self._seen = core, list[Any]()
        self.found_one = False

    def meet(self, names: Sequence[Any]) -> None:
        """What features of some rows are called."""
        if self.found_one or not names:
            return
        self.found_one = any(place >= 0 for place in self._core.place(list(names)))
        self._seen = self._seen or [name for name in names if name != NO_FEATURE]

    def warn(self, place: str = "", stacklevel: int = 5, **words: str) -> None:
        """To be called when all rows have been seen."""
        if self._seen and not self.found_one:
            warning = UnknownFeaturesWarning(self._seen, self._core.feature_names, place, **words)
            warnings.warn(warning, stacklevel=stacklevel)


def first_names(source: Any, stream_format: Any, dtype: str) -> list[Any]:
    """What features of the first rows of a text are called; nothing where it is read only once."""
    from yarrow.io.formats import reading

    if not (isinstance(source, (str, os.PathLike)) and os.path.isfile(source)):
        return []
    with reading(source, stream_format, labels=False, dtype=dtype) as opened:
        block = opened.reader.next_arrays() or {}
    return list(block["names"]) if "names" in block else block.get("indices", np.zeros(0)).tolist()
