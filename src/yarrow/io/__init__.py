"""Input: rows from files, standard input and tables, in bounded memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yarrow.data.named_rows import NamedRows
    from yarrow.io.compressed import open_bytes
    from yarrow.io.tables import Table, read_table

__all__ = ["NamedRows", "Table", "open_bytes", "read_table"]

_HOMES = {
    "NamedRows": "yarrow.data.named_rows",
    "Table": "yarrow.io.tables",
    "open_bytes": "yarrow.io.compressed",
    "read_table": "yarrow.io.tables",
}


def __getattr__(name: str) -> Any:
    """Import what reads files when it is first used: learning from arrays never needs it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
