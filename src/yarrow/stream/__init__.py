"""Input: rows from files, standard input and tables, in bounded memory."""

from yarrow.stream.compressed import open_bytes
from yarrow.stream.named_rows import NamedRows
from yarrow.stream.tabular import Table, read_table

__all__ = ["NamedRows", "Table", "open_bytes", "read_table"]
