"""Input: rows from files, standard input and tables, in bounded memory."""

from typing import TYPE_CHECKING

from yarrow.lazy import exports

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

# Imported when it is first used: learning from arrays never needs it.
__getattr__, __dir__ = exports(__name__, _HOMES)
