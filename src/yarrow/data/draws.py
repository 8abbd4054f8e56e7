"""Shares that sum to one, and random numbers to draw by them."""

from __future__ import annotations

import math

from yarrow.data.arrays import Array
from yarrow.lazy import np


def normalised(table: Array) -> Array:
    """The same with shares along the last axis that sum to one; where all are 0, all are equal."""
    sums = table.sum(axis=-1, keepdims=True)
    equal = np.full_like(table, 1.0 / max(1, table.shape[-1]))
    shares: Array = np.divide(table, sums, out=equal, where=sums > 0)
    return shares


def uniform(seed: int, number: int) -> float:
    """A random number in [0, 1) for each number: SplitMix64 (Steele, Lea & Flood 2014).

    No state is kept between draws, so that rows may come by any route, and models may be saved.

    >>> round(uniform(0, 1), 4), round(uniform(0, 2), 4)
    (0.8833, 0.4315)
    """
    mask = (1 << 64) - 1
    z = (seed * 0xD1342543DE82EF95 + number * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return math.ldexp((z ^ (z >> 31)) >> 11, -53)
