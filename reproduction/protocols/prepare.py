"""The rows of a cell: loaded once a process, cut to the part that is asked for, made noisy."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence
from typing import Any

from reproduction import second_round
from reproduction.spec import Data
from yarrow import datasets
from yarrow.datasets import Dataset
from yarrow.errors import DataError
from yarrow.lazy import np

# What random numbers are drawn for: each purpose has a stream of its own.
PART, NOISE, ORDER, TUNING, FOLDS = range(5)


def random(seed: int, purpose: int) -> np.random.Generator:
    """Return random numbers of one seed for one purpose."""
    return np.random.default_rng([seed, purpose])


@functools.lru_cache(maxsize=2)
def _loaded(name: str, options: str) -> Dataset:
    if name in second_round.NAMES:
        return second_round.load(name)
    return datasets.load(name, **json.loads(options))


def rows_of(data: Data, *, noise: float, seed: int) -> Dataset:
    """Return the rows to learn, `y` with noise and `clean` without; the test part without noise.

    Nobody may change them: cells that differ in the learner share them.
    """
    return _prepared(json.dumps(dataclasses.asdict(data), sort_keys=True), noise, seed)


@functools.lru_cache(maxsize=2)
def _prepared(recipe: str, noise: float, seed: int) -> Dataset:
    data = Data(**json.loads(recipe))
    options = {**data.options, "seed": seed} if data.drawn else data.options
    whole = _loaded(data.name, json.dumps(options, sort_keys=True))
    part = _part(whole, data, random(seed, PART))
    if part.clean is not None:  # the generator has made its own noise
        return part
    if noise:
        return datasets.with_noise(part, noise, int(random(seed, NOISE).integers(2**31)))
    return dataclasses.replace(part, clean=part.y)


def true_labels(rows: Dataset) -> Any:
    """Return the labels without noise."""
    return rows.y if rows.clean is None else rows.clean


def fewest(mistakes: Sequence[Any]) -> list[int]:
    """Return the places of all settings that made the fewest mistakes."""
    found: list[int] = np.flatnonzero(np.asarray(mistakes) == min(mistakes)).tolist()
    return found


def middle(places: list[int]) -> int:
    """Return the middle one: the first would favour whoever's grid begins at the better end."""
    return places[len(places) // 2]


def test_part(rows: Dataset) -> Dataset:
    """Return the set's own test part."""
    if rows.test is None:
        raise DataError(f"{rows.name} has no test part of its own.")
    return rows.test


def _part(whole: Dataset, data: Data, random: np.random.Generator) -> Dataset:
    test = None if whole.test is None else _chosen_classes(whole.test, data)
    part = dataclasses.replace(_chosen_classes(whole, data), test=test)
    if data.per_class is not None:
        places = [
            random.permutation(np.flatnonzero(part.y == label))[: data.per_class]
            for label in part.classes
        ]
        part = part.take(np.sort(np.concatenate(places)))
    if data.rows is not None and data.rows < len(part):
        part = part.take(np.sort(random.permutation(len(part))[: data.rows]))
    return part if len(part) == len(whole) else _without_unused_columns(part)


def _without_unused_columns(part: Dataset) -> Dataset:
    """Columns that no row has change nothing, but learners would keep room for them."""
    used = np.diff(part.X.tocsc().indptr) > 0
    test = part.test and dataclasses.replace(part.test, X=part.test.X[:, used])
    return dataclasses.replace(part, X=part.X[:, used], test=test, feature_names=None)


def _chosen_classes(rows: Dataset, data: Data) -> Dataset:
    if data.classes:
        rows = rows.take(np.isin(rows.y, data.classes))
    if data.against_rest is not None:
        rows = dataclasses.replace(rows, y=(rows.y == data.against_rest).astype(np.int64))
    return rows
