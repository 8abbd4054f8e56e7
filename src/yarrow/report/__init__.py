"""Results as tables, figures and pages.

`page` makes one HTML page of a comparison; `figures` draws SVG, `tables` writes Markdown and text.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yarrow.report import figures, tables
    from yarrow.report.comparison_page import page

__all__ = ["figures", "page", "tables"]


def __getattr__(name: str) -> Any:
    """Import figures and pages when they are used: commands print tables without them."""
    if name == "page":
        return import_module("yarrow.report.comparison_page").page
    if name in __all__:
        return import_module(f"yarrow.report.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
