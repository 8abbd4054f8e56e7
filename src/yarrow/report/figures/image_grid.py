"""Grids of small grey pictures: weights as images, dictionary patches."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

from yarrow.errors import ParameterError
from yarrow.lazy import np
from yarrow.report.figures.drawing import Box, Drawing, Figure, fitted


def images(
    tiles: Sequence[tuple[str, Any]],
    *,
    title: str,
    columns: int = 10,
    size: float = 64,
    signed: bool = False,
) -> Figure:
    """Pictures in a grid, `columns` a row; a tile is a name and an array of two dimensions.

    Dark is small, bright is large; each tile has its own scale. `signed`: mid grey is 0, as for
    weights.

    >>> figure = images([("7", [[0, 1], [2, 3]])], title="A digit")
    >>> "data:image/png;base64," in figure.inline()
    True
    """
    arrays = [np.asarray(values, dtype=float) for _, values in tiles]
    for (name, _), array in zip(tiles, arrays, strict=True):
        if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
            raise ParameterError(f"the picture {name!r} is not a finite array of two dimensions")
    labelled = any(name for name, _ in tiles)
    gap, below = 8.0, 18.0 if labelled else 0.0
    across = max(1, min(columns, len(tiles)))
    rows = math.ceil(len(tiles) / across)
    drawing = Drawing(gap + across * (size + gap), gap + rows * (size + below + gap))
    for i, ((name, _), array) in enumerate(zip(tiles, arrays, strict=True)):
        x = gap + (size + gap) * (i % across)
        y = gap + (size + below + gap) * (i // across)
        high, wide = array.shape
        unit = size / max(high, wide)  # square pixels, the picture in the middle of its tile
        left, top = x + 0.5 * (size - unit * wide), y + 0.5 * (size - unit * high)
        box = Box(left, top, left + unit * wide, top + unit * high)
        grey = _grey(array, signed)
        drawing.image(box, base64.b64encode(_png(grey)).decode("ascii"), name)
        drawing.rect(box, "cell")
        if name:
            at = (x + 0.5 * size, y + size + 13)
            drawing.text(at, fitted(name, size + gap - 2, 11), size=11, anchor="middle", tip=name)
    names = ", ".join(name for name, _ in tiles if name)
    words = f"{len(tiles)} grey pictures" + (f": {names}." if names else ".")
    return drawing.figure(title, words)


def _grey(array: Any, signed: bool) -> Any:
    """Bytes 0 to 255 over the range of the values, which `signed` makes symmetric."""
    low, high = float(array.min()), float(array.max())
    if signed:
        high = max(-low, high)
        low = -high
    if high == low:
        return np.full(array.shape, 128 if signed else 0, dtype=np.uint8)
    return np.round(255 * (array - low) / (high - low)).astype(np.uint8)


def _png(grey: Any) -> bytes:
    """8 bits a pixel, grey, no filter: the smallest thing that every browser reads."""
    high, wide = grey.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", wide, high, 8, 0, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in grey)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
