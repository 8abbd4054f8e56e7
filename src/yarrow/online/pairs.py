"""Pairs of rows of which one is the better."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import DataError
from yarrow.lazy import np

_PAIRS_AT_ONCE = 4096


def parts(pairs: Array) -> list[Array]:
    """Pairs in order, so many at a time that their differences fit in memory."""
    return [pairs[at : at + _PAIRS_AT_ONCE] for at in range(0, len(pairs), _PAIRS_AT_ONCE)]


def wrong_order(scores: Array, pairs: Array) -> float:
    """How many pairs have the better row behind; ties count half."""
    ahead = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    return float(np.sum((1 - np.sign(ahead)) / 2))


def pairs_of(relevance: Array, group: Any) -> Array:
    """Places of the better and the worse row of every pair within a group; at least one."""
    n = len(relevance)
    groups = np.zeros(n) if group is None else np.asarray(group)
    if groups.shape != (n,):
        raise DataError(f"group must have one entry a row: {n}. Got the shape {groups.shape}.")
    pairs = np.concatenate([pairs_among(relevance, members) for members in _members(groups)])
    if len(pairs) == 0:
        raise DataError(
            f"There is nothing to rank: no group has rows of different relevance (n_samples={n})."
        )
    return pairs


def pairs_among(relevance: Array, members: Array) -> Array:
    """The pairs of some rows, each row against those after it: places of the better, the worse."""
    found: list[Array] = [np.empty((0, 2), np.int64)]
    for at, i in enumerate(members[:-1]):
        others = members[at + 1 :]
        others = others[relevance[others] != relevance[i]]
        ahead = relevance[i] > relevance[others]
        row = np.full(len(others), i)
        found.append(
            np.where(ahead[:, None], np.column_stack([row, others]), np.column_stack([others, row]))
        )
    return np.concatenate(found)


def _members(groups: Array) -> list[Array]:
    """The places of each group's rows, ascending; groups in the order of their first row."""
    _, first, numbered = np.unique(groups, return_index=True, return_inverse=True)
    places = np.argsort(numbered, kind="stable")
    parts = np.split(places, np.cumsum(np.bincount(numbered))[:-1])
    return [parts[k] for k in np.argsort(first, kind="stable")]
