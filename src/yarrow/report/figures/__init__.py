"""Figures as SVG: for the page of a comparison, and as files for Markdown.

Every function returns a `Figure`: `inline()` for a page, `save(path)` for a file of its own.
A figure is text with classes; colours are CSS variables, so that one drawing serves both themes,
print and Markdown. Text is measured with the widths of the widest usual font, so that labels placed
apart stay apart.
"""

from yarrow.report.figures.axes import Axis
from yarrow.report.figures.box_plot import boxes
from yarrow.report.figures.confusion_matrix import confusion, worst_confusions
from yarrow.report.figures.drawing import Figure, escape
from yarrow.report.figures.image_grid import images
from yarrow.report.figures.line_chart import Series, lines, reliability
from yarrow.report.figures.ranks import Difference, differences, rank_diagram
from yarrow.report.figures.scatter_plot import Spot, paired, pareto_front, scatter
from yarrow.report.figures.style import css

__all__ = [
    "Axis",
    "Difference",
    "Figure",
    "Series",
    "Spot",
    "boxes",
    "confusion",
    "css",
    "differences",
    "escape",
    "images",
    "lines",
    "paired",
    "pareto_front",
    "rank_diagram",
    "reliability",
    "scatter",
    "worst_confusions",
]
