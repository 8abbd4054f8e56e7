"""Input: rows from files, standard input and tables, in bounded memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yarrow.stream.compressed import open_bytes
    from yarrow.stream.named_rows import NamedRows
    from yarrow.stream.tabular import Table, read_table

__all__ = ["NamedRows", "Table", "open_bytes", "read_table"]

_HOMES = {
    "NamedRows": "named_rows",
    "Table": "tabular",
    "open_bytes": "compressed",
    "read_table": "tabular",
}


def __getattr__(name: str) -> Any:
    """Import what reads files when it is first used: learning from arrays never needs it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
