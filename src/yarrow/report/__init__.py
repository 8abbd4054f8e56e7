"""Results as tables, figures and pages.

`page` makes one HTML page of a comparison; `figures` draws SVG, `tables` writes Markdown and text.
"""

from yarrow.report import figures, tables
from yarrow.report.comparison_page import page

__all__ = ["figures", "page", "tables"]
