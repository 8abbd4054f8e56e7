"""A sheet to draw on, and the figure it becomes: SVG of lines, shapes and text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape as _escape

from yarrow.report.figures.style import css

Point = tuple[float, float]

#: widths of characters, as shares of the type size. Those of DejaVu Sans, the widest of the usual
#: fonts, so that what fits here fits everywhere.
_WIDTHS = {
    letter: width
    for width, letters in (
        (0.32, " ,.'IJijl"),
        (0.36, "-/:;\\f|"),
        (0.41, "!()[]rt"),
        (0.52, '"*_`sz\N{EN DASH}'),
        (0.57, "?Lc"),
        (0.62, "FPTYaekovxy"),
        (0.65, "$0123456789EKSbdghnpqu{}"),
        (0.70, "ABCRVXZ"),
        (0.77, "DGHNU"),
        (0.81, "&OQw"),
        (0.87, "#+<=>M^~"),
        (0.98, "%m"),
    )
    for letter in letters
}


def text_width(text: str, size: float = 12, strong: bool = False) -> float:
    """At most how wide `text` is when it is drawn."""
    return size * (1.12 if strong else 1) * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if unicodedata.combining(letter):
        return 0.0
    if letter.isalpha() and unicodedata.east_asian_width(letter) not in "WF":
        return 0.75
    return 1.05


def fitted(text: str, width: float, size: float = 12, strong: bool = False) -> str:
    """`text`, with its middle cut out if it is wider than `width`.

    >>> fitted("PassiveAggressiveClassifier", 100)
    'Passive…ssifier'
    """
    if text_width(text, size, strong) <= width:
        return text
    head, tail = "", ""
    room = width - text_width("…", size, strong)
    for k in range(len(text)):
        letter = text[k // 2] if k % 2 == 0 else text[-1 - k // 2]
        room -= text_width(letter, size, strong)
        if room < 0:
            break
        head, tail = (head + letter, tail) if k % 2 == 0 else (head, letter + tail)
    return f"{head}…{tail}"


def escape(text: object) -> str:
    """Safe as text and inside double quotes, in XML and in HTML.

    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    kept = "".join(
        letter if _allowed(letter) else "\N{REPLACEMENT CHARACTER}" for letter in str(text)
    )
    return _escape(kept, {'"': "&quot;", "'": "&#39;"})


def _allowed(letter: str) -> bool:
    """Whether XML may hold this character at all."""
    code = ord(letter)
    if code < 0x20:
        return letter in "\t\n\r"
    return not (0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in (0xFFFE, 0xFFFF))


@dataclass(frozen=True)
class Box:
    """The room something takes."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share some area."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def inside(self, other: Box) -> bool:
        """Whether nothing of this box is outside the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


@dataclass(frozen=True)
class Figure:
    """A finished figure.

    Attributes
    ----------
    width, height : in pixels
    title, description : said to readers who do not see it
    body : its SVG elements
    texts : the room of each text, to check that none covers another
    plot : frame and scales of a chart, as JSON: what a script needs to read values out of it
    """

    width: float
    height: float
    title: str
    description: str
    body: str
    texts: tuple[tuple[str, Box], ...]
    plot: str = ""

    def inline(self) -> str:
        """SVG to put into a page that has the style of `figures.css()`."""
        return self._svg(f' data-plot="{escape(self.plot)}"' if self.plot else "", "")

    def standalone(self) -> str:
        """SVG for a file of its own, with its style inside and readable in both themes."""
        return self._svg(' xmlns="http://www.w3.org/2000/svg"', f"<style>{css()}</style>\n")

    def save(self, path: str | Path) -> None:
        """Write the standalone form."""
        Path(path).write_text(self.standalone() + "\n", encoding="utf-8")

    def _svg(self, more: str, style: str) -> str:
        width, height = _n(self.width), _n(self.height)
        return (
            f'<svg{more} class="figure" role="img" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}">\n'
            f"<title>{escape(self.title)}</title>\n<desc>{escape(self.description)}</desc>\n"
            f"{style}{self.body}\n</svg>"
        )


class Drawing:
    """A sheet of `width` by `height` pixels; y grows downwards.

    How things look is said by class: ``s0``, ``s1``, ... for the colours of series, ``sq`` for
    quiet and ``si`` for the colour of the text; see `figures.style`.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []
        self._texts: list[tuple[str, Box]] = []

    def figure(self, title: str, description: str, plot: str = "") -> Figure:
        """What has been drawn."""
        body, texts = "\n".join(self._parts), tuple(self._texts)
        return Figure(self.width, self.height, title, description, body, texts, plot)

    def line(self, start: Point, end: Point, look: str) -> None:
        """Draw a straight line."""
        (x1, y1), (x2, y2) = start, end
        self._parts.append(
            f'<line class="{look}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>'
        )

    def polyline(
        self, points: Iterable[Point], look: str, *, dashes: str = "", tip: str = ""
    ) -> None:
        """Draw a line through `points`; `tip` is shown where the pointer rests."""
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._shape("polyline", f'class="{look}" points="{path}"{dashed}', tip)

    def polygon(self, points: Iterable[Point], look: str, tip: str = "") -> None:
        """Draw and fill the area between `points`."""
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._shape("polygon", f'class="{look}" points="{path}"', tip)

    def circle(self, centre: Point, radius: float, look: str, tip: str = "") -> None:
        """Draw a disc or a ring."""
        x, y = centre
        self._shape("circle", f'class="{look}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"', tip)

    def rect(self, box: Box, look: str, *, opacity: float | None = None, tip: str = "") -> None:
        """Draw a rectangle."""
        clear = "" if opacity is None else f' fill-opacity="{opacity:.3g}"'
        self._shape("rect", f'class="{look}" {_area(box)}{clear}', tip)

    def text(
        self,
        at: Point,
        text: str,
        *,
        size: float = 12,
        anchor: str = "start",
        look: str = "",
        tip: str = "",
        turned: bool = False,
    ) -> None:
        """Write one line; `at` is on its base line. A turned text reads upwards."""
        if not text:
            return
        x, y = at
        self._texts.append((text, text_box(at, text, size, anchor, turned, "strong" in look)))
        turn = f' transform="rotate(-90 {_n(x)} {_n(y)})"' if turned else ""
        look = f' class="{look}"' if look else ""
        full = f"<title>{escape(tip)}</title>" if tip else ""
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" text-anchor="{anchor}"'
            f"{look}{turn}>{full}{escape(text)}</text>"
        )

    def image(self, box: Box, png: str, tip: str) -> None:
        """Draw a picture, given as PNG in base64, with hard pixels."""
        self._shape(
            "image",
            f'{_area(box)} preserveAspectRatio="none" style="image-rendering: pixelated"'
            f' href="data:image/png;base64,{png}"',
            tip,
        )

    def clipped(self, box: Box) -> _Clip:
        """Draw only what is inside `box`, as long as the ``with`` block lasts."""
        return _Clip(self._parts, box)

    def _shape(self, kind: str, attributes: str, tip: str) -> None:
        end = f"><title>{escape(tip)}</title></{kind}>" if tip else "/>"
        self._parts.append(f"<{kind} {attributes}{end}")


class _Clip:
    """An SVG inside the SVG, with the same coordinates: it clips and needs no id."""

    def __init__(self, parts: list[str], box: Box) -> None:
        self._parts, self._box = parts, box

    def __enter__(self) -> None:
        box = self._box
        size = f"{_n(box.right - box.left)} {_n(box.bottom - box.top)}"
        view = f"{_n(box.left)} {_n(box.top)} {size}"
        self._parts.append(f'<svg {_area(box)} viewBox="{view}">')

    def __exit__(self, *problem: object) -> None:
        self._parts.append("</svg>")


def text_box(
    at: Point, text: str, size: float, anchor: str, turned: bool = False, strong: bool = False
) -> Box:
    """The room `Drawing.text` takes."""
    x, y = at
    width = text_width(text, size, strong)
    before = width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    up, down = 0.78 * size, 0.22 * size
    if turned:
        return Box(x - up, y - width + before, x + down, y + before)
    return Box(x - before, y - up, x - before + width, y + down)


def _area(box: Box) -> str:
    width, height = box.right - box.left, box.bottom - box.top
    return f'x="{_n(box.left)}" y="{_n(box.top)}" width="{_n(width)}" height="{_n(height)}"'


def _n(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
