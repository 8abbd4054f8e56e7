"""What notebooks show: small tables of HTML without a style of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def shown(title: str, rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """A title and a table below it, as HTML.

    >>> shown("a & b", [("r", 1.0)])
    '<div><p><b>a &amp; b</b></p><table><tbody><tr><td>r</td><td>1.0...'
    """
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    top = f"<thead><tr>{_cells('th', head)}</tr></thead>" if head else ""
    title = _escaped(title)
    return f"<div><p><b>{title}</b></p><table>{top}<tbody>{body}</tbody></table></div>"


def _cells(tag: str, cells: Sequence[Any]) -> str:
    return "".join(f"<{tag}>{_escaped(str(cell))}</{tag}>" for cell in cells)


def _escaped(text: str) -> str:
    import html  # a millisecond that only notebooks need

    return html.escape(text)
