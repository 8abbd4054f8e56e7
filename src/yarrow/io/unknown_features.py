"""Warns who asks a model about rows of which it knows no feature, or lets it learn them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from yarrow.errors import UnknownFeaturesWarning, warn_user
from yarrow.lazy import np

NO_FEATURE = "(none)"
#: a model of fewer does not tell which features are unknown
FEW_ROWS = 32


def warn_of_unknown(core: Any, names: Sequence[Any], place: str = "", **words: str) -> None:
    """Warn where a model knows none of the features of some rows."""
    seen = [name for name in dict.fromkeys(names) if name != NO_FEATURE]
    if seen and not any(number >= 0 for number in core.place(seen)):
        warn_user(UnknownFeaturesWarning(seen, core.feature_names, place, **words))


class UnknownFeatures:
    """The same of rows that come part by part: only if no part has a feature that is known."""

    def __init__(self, core: Any) -> None:
        self._core, self._seen = core, list[Any]()
        self._found_one = False

    def look_at(self, names: Sequence[Any]) -> None:
        """What features of some rows are called."""
        if names and not self._found_one:
            self._found_one = any(place >= 0 for place in self._core.place(list(names)))
            self._seen = self._seen or list(names)

    def warn(self, place: str) -> None:
        """To be called when all rows have been seen."""
        if not self._found_one:
            warn_of_unknown(self._core, self._seen, place)


def first_names(source: Any, stream_format: Any, dtype: str) -> list[Any]:
    """What features of the first rows of a text are called; nothing where it is read only once."""
    from yarrow.io.formats import reading

    if not (isinstance(source, (str, os.PathLike)) and os.path.isfile(source)):
        return []
    with reading(source, stream_format, labels=False, dtype=dtype) as opened:
        block = opened.reader.next_arrays() or {}
    return list(block["names"]) if "names" in block else block.get("indices", np.zeros(0)).tolist()
