"""Streams whose targets are numbers, each by its source, in the order in which rows came.

Columns stay as they are: nobody scales them beforehand.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from yarrow.datasets import load


class Stream(NamedTuple):
    """Rows, dense or sparse, and their targets."""

    X: Any
    y: Any
    clean: Any = None
    """The targets by which predictions are judged, where those that are learned are spoilt."""


def _river(name: str) -> list[list[str]]:
    """The rows of a file that comes with river, its head left out."""
    import river.datasets

    path = Path(river.datasets.__file__).parent / name
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
    return list(csv.reader(text.splitlines()))[1:]


def _data(path: str) -> Any:
    """A table in the folder that YARROW_DATA names, without its last column, which is a class."""
    with gzip.open(Path(os.environ["YARROW_DATA"]) / path, "rt") as file:
        return np.array([row[:-1] for row in list(csv.reader(file))[1:]], dtype=float)


def _target(table: Any, column: int, *left_out: int) -> Stream:
    return Stream(np.delete(table, [column, *left_out], axis=1), table[:, column])


def trump_approval() -> Stream:
    """What five polls say, and the mean of many."""
    rows = _river("trump_approval.csv.gz")
    return _target(np.array(rows, dtype=float), 1)


def chick_weights() -> Stream:
    """The weight of a chick by its age, its number and its diet."""
    return _target(np.array(_river("chick-weights.csv"), dtype=float), 0)


def water_flow() -> Stream:
    """Water in a pipe by the hour of the day and the day of the week, one column each."""
    rows = _river("water-flow.csv")
    times = [datetime.datetime.fromisoformat(time) for time, _ in rows]
    X = np.zeros((len(rows), 31))
    X[np.arange(len(rows)), [time.hour for time in times]] = 1
    X[np.arange(len(rows)), [24 + time.weekday() for time in times]] = 1
    return Stream(X, np.array([float(flow) for _, flow in rows]))


def electricity_price() -> Stream:
    """The price in New South Wales by time, demand and the transfer to the other state."""
    table = _data("electricity/elecNormNew.csv.gz")
    return _target(table, 3, 5)


def weather_temperature() -> Stream:
    """A day's temperature by dew point, pressure, visibility and wind."""
    return _target(_data("weather/noaa-weather.csv.gz")[:, :6], 0)


def power_supply() -> Stream:
    """What a state's own power stations give by what is brought in."""
    return _target(_data("powersupply/powersupply.csv.gz"), 1)


def movielens() -> Stream:
    """Ratings by time; a row says who and what."""
    ratings = load("movielens-100k")
    return Stream(ratings.X, np.asarray(ratings.y, dtype=float))


def diabetes() -> Stream:
    """How far the disease goes within a year, by ten measurements as they were taken."""
    from sklearn.datasets import load_diabetes

    table = load_diabetes(scaled=False)
    return Stream(table.data, table.target)


def friedman() -> Stream:
    """Ten uniform columns of which five matter, two of them only together (Friedman 1991)."""
    random = np.random.default_rng(1)
    X = random.random((10_000, 10))
    return Stream(X, _friedman_of(X) + random.normal(size=len(X)))


def friedman_drift() -> Stream:
    """The same, but the columns that matter change places after each third of the rows."""
    random = np.random.default_rng(2)
    X = random.random((9_000, 10))
    y = random.normal(size=len(X))
    for part in range(3):
        rows = slice(3000 * part, 3000 * (part + 1))
        y[rows] += _friedman_of(np.roll(X[rows], 3 * part, axis=1))
    return Stream(X, y)


def _friedman_of(X: Any) -> Any:
    bent = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return bent + 10 * X[:, 3] + 5 * X[:, 4]


def unequal_columns() -> Stream:
    """A plane over columns of very different size, which go together."""
    return _plane(3, walk=0.0, outliers=0.0)


def moving_plane() -> Stream:
    """The same plane, whose slopes move a little with each row."""
    return _plane(4, walk=0.03, outliers=0.0)


def outliers() -> Stream:
    """The plane that stays; of a hundred targets two are far off."""
    return _plane(5, walk=0.0, outliers=0.02)


def _plane(seed: int, walk: float, outliers: float) -> Stream:
    random = np.random.default_rng(seed)
    rows, columns = 8000, 20
    mixed = random.normal(size=(columns, columns)) / np.sqrt(columns) + np.eye(columns)
    Z = random.normal(size=(rows, columns)) @ mixed
    slopes = random.normal(size=columns) + walk * random.normal(size=(rows, columns)).cumsum(axis=0)
    y = (Z * slopes).sum(axis=1) + random.normal(size=rows)
    X = Z * 10.0 ** random.uniform(-3, 4, columns) + random.normal(size=columns)
    far = random.random(rows) < outliers
    spoilt = y + np.where(far, 100 * random.standard_cauchy(rows), 0)
    return Stream(X, 1000 + spoilt, 1000 + y)


def sparse_plane() -> Stream:
    """Thirty of 5,000 words a row, of which the frequent ones come often; each has a weight."""
    from scipy import sparse

    random = np.random.default_rng(6)
    rows, words = 10_000, 5_000
    weights = random.normal(size=words) * (random.random(words) < 0.2)
    column = np.minimum(random.pareto(0.7, size=(rows, 30)) * 5, words - 1).astype(int)
    X = sparse.coo_array(
        (np.ones(rows * 30), (np.repeat(np.arange(rows), 30), column.ravel())), (rows, words)
    ).tocsr()
    X.data[:] = 1
    return Stream(X, X @ weights + 0.5 * random.normal(size=rows))


#: streams by the source of their data, which stays together where numbers are chosen
SOURCES: dict[str, tuple[Callable[[], Stream], ...]] = {
    "river": (trump_approval, chick_weights, water_flow),
    "electricity": (electricity_price,),
    "weather": (weather_temperature,),
    "powersupply": (power_supply,),
    "movielens": (movielens,),
    "scikit-learn": (diabetes,),
    "friedman": (friedman, friedman_drift),
    "planes": (unequal_columns, moving_plane, outliers, sparse_plane),
}
