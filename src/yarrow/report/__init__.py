"""Results as tables, figures and pages.

`page` makes one HTML page of a comparison; `figures` draws SVG, `tables` writes Markdown and text.
"""

from typing import TYPE_CHECKING

from yarrow.lazy import exports

if TYPE_CHECKING:
    from yarrow.report import figures, tables
    from yarrow.report.comparison_page import page

__all__ = ["figures", "page", "tables"]

# Imported when they are used: commands print tables without figures and pages.
__getattr__, __dir__ = exports(
    __name__, {"figures": "figures", "page": "comparison_page", "tables": "tables"}
)
