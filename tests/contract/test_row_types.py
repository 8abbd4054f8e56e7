"""Rows of every type, order and layout, longer than the core reads at a time: the same bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import assert_same, learned, refuse

from yarrow import AROWClassifier, PassiveAggressiveClassifier, YarrowClassifier

ROWS = 700  # the core reads 256 at a time
VALUES = ["float32", "float64", "int8", "int32", "int64", "uint16", "uint64"]
LEARNERS = [
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(average=True),
    AROWClassifier(),
    AROWClassifier(dtype="float64", multiclass="top1"),
    YarrowClassifier(),
]


def table(zeros, columns=30):
    """Whole numbers, which every type holds; some rows are empty where there are zeros."""
    random = np.random.default_rng(3)
    X = random.integers(1, 9, size=(ROWS, columns))
    if zeros:
        X[random.random(X.shape) < 0.6] = 0
        X[[0, 255, 256, 511, ROWS - 1]] = 0
    y = np.where(X @ random.normal(size=columns) + random.normal(size=ROWS) > 0, 2, 1)
    return X, y


def sparse(index):
    def convert(X):
        matrix = sp.csr_array(X)
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        return matrix

    return convert


def between(X):
    """Rows and columns of a larger array."""
    wide = np.full((2 * len(X), X.shape[1] + 3), 7, X.dtype)
    wide[::2, 2:-1] = X
    return wide[::2, 2:-1]


def unaligned(X):
    """An array that begins one byte off."""
    memory = np.zeros(X.nbytes + 1, np.int8)
    shifted = memory[1:].view(X.dtype).reshape(X.shape)
    shifted[:] = X
    return shifted


LAYOUTS = {
    "CSR int32": sparse(np.int32),
    "CSR int64": sparse(np.int64),
    "dense C": np.ascontiguousarray,
    "dense Fortran": np.asfortranarray,
    "rows backwards": lambda X: X[::-1].copy()[::-1],
    "part of a table": between,
    "part of a table, turned": lambda X: between(X.T).T,
    "unaligned": unaligned,
    "frame": pd.DataFrame,
    "frame of columns": lambda X: pd.DataFrame({j: X[:, j] for j in range(X.shape[1])}),
}


def one_by_one(model, rows, y):
    for row, label in zip(rows, y, strict=True):
        model.learn_one(row, label)
    return model


def dicts(X):
    return [{j: float(row[j]) for j in np.flatnonzero(row)} for row in X]


def csr_dicts(X):
    parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), strict=True)
    return [dict(zip(index.tolist(), value.tolist(), strict=True)) for index, value in parts]


def answers(model, rows):
    """What single rows are told: scores, classes and probabilities."""
    scores = np.array([model._fitted.score_one(row)[0] for row in rows])
    likely = None
    if hasattr(model, "predict_proba"):
        said = [model.predict_proba_one(row) for row in rows]
        likely = [[found[c] for c in model.classes_] for found in said]
    return scores, [model.predict_one(row) for row in rows], likely


def assert_learned(model, expected, rows):
    """Compare all that was learned; with many columns, what is said of the rows."""
    if model.n_features_in_ <= 60:
        assert_same(learned(model), learned(expected))
    assert answers(model, rows)[0].tolist() == answers(expected, rows)[0].tolist()


def check_answers(model, X, rows):
    scores, classes, likely = answers(model, rows)
    assert model._scores(X)[0].tolist() == scores.tolist()
    assert model._scores(X, variances=False)[0].tolist() == scores.tolist()
    assert model.predict(X).tolist() == classes
    if likely is not None:
        assert model.predict_proba(X).tolist() == likely


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", VALUES)
def test_types_and_layouts(value, layout, zeros):
    X, y = table(zeros)
    rows, given = dicts(X), LAYOUTS[layout](X.astype(value))
    for learner in LEARNERS:
        expected = one_by_one(learner.clone(), rows, y)
        model = learner.clone().partial_fit(given, y)
        assert_same(learned(model), learned(expected))
        check_answers(model, given, rows)


def in_no_order(columns, value, index, seed=0):
    """Rows of unique indices that neither rise nor fall, some of them longer than a batch."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 40, size=ROWS)
    lengths[[3, 300]] = min(columns, 20_000)
    parts = [random.choice(columns, size=n, replace=False) for n in lengths]
    begins = np.concatenate([[0], np.cumsum(lengths)])
    data = random.normal(size=begins[-1]).astype(value)
    X = sp.csr_array((data, np.concatenate(parts), begins), shape=(ROWS, columns))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X, random.integers(1, 3, size=ROWS)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [60, 70_000, 1_500_000])
def test_rows_in_no_order_keep_it(columns, value, index):
    X, y = in_no_order(columns, value, index)
    rows = csr_dicts(X)
    for learner in LEARNERS[:1] if columns > 60 else LEARNERS:
        expected = one_by_one(learner.clone(), rows, y)
        model = learner.clone().partial_fit(X, y)
        assert_learned(model, expected, rows)
        check_answers(model, X, rows)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [60, 70_000, 1_500_000])
def test_an_index_that_stands_twice_in_one_of_many_rows(columns, value, index):
    X, y = in_no_order(columns, value, index)
    at = int(X.indptr[400])
    while X.indptr[401] - at < 3:  # a row that is long enough
        X, y = in_no_order(columns, value, index, seed=int(y.sum()))
        at = int(X.indptr[400])
    X.data[at], X.data[at + 2] = 0.5, 0.25
    X.indices[at + 2] = X.indices[at]
    rows = csr_dicts(X)
    rows[400][int(X.indices[at])] = 0.75
    model = AROWClassifier().partial_fit(X, y)
    assert_learned(model, one_by_one(AROWClassifier(), rows, y), rows)
    check_answers(model, X, rows)


def test_shuffled_rows_and_weights_of_zero():
    X, y = in_no_order(60, np.float64, np.int64)
    weights = (np.arange(ROWS) % 3 != 0).astype(float)
    X.data[X.indptr[3] : X.indptr[4]] = np.nan  # not looked at
    model = AROWClassifier().partial_fit(X, y, sample_weight=weights)
    rows = [row for row, weight in zip(csr_dicts(X), weights, strict=True) if weight]
    assert_same(learned(model), learned(one_by_one(AROWClassifier(), rows, y[weights > 0])))


BAD = {"NaN": np.nan, "infinity": np.inf, "too large": 1e39}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_bad_values_are_named(layout, what):
    X, y = table(zeros=True)
    X = X.astype(np.float64)
    model = AROWClassifier().partial_fit(LAYOUTS[layout](X), y)
    X[333, 17], X[600, 2] = BAD[what], np.nan
    given = LAYOUTS[layout](X)
    place = f"{what}.*at row 333, column 17"
    refuse(lambda: model.partial_fit(given, y), place, model)
    refuse(lambda: model.predict(given), place, model)
    refuse(lambda: model.predict_proba(given), place, model)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("bad", [-1, 60, 2**31 - 1, 2**33 + 5])
def test_bad_indices_are_named(index, bad):
    if bad > np.iinfo(index).max:
        pytest.skip("no such index")
    X, y = in_no_order(60, np.float64, index)
    model = AROWClassifier().partial_fit(X, y)
    X.indices[X.indptr[420] : X.indptr[430]] = bad
    row = 420 + int(np.flatnonzero(np.diff(X.indptr[420:]))[0])
    place = f"column index outside 0..59 in row {row}"
    refuse(lambda: model.partial_fit(X, y), place, model)
    refuse(lambda: model.predict(X), place, model)


def test_sums_that_are_too_large_are_named():
    X, y = in_no_order(60, np.float64, np.int32)
    X.indices[X.indptr[300] : X.indptr[300] + 3] = [5, 9, 5]
    X.data[X.indptr[300] : X.indptr[300] + 3] = [3e38, 1, 3e38]
    model = AROWClassifier().partial_fit(X[:300], y[:300])
    place = "values of column 5 in row 300 have too large a sum"
    refuse(lambda: model.partial_fit(X, y), place, model)


def named(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


FRAMES = {
    "a block": named,
    "columns": lambda X: pd.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}),
    "rows of a larger one": lambda X: named(np.repeat(X, 2, axis=0))[::2],
    "columns of two types": lambda X: named(X).astype({"c0": "float64"}),
}


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("value", ["float32", "float64"])
@pytest.mark.parametrize("layout", FRAMES)
def test_a_missing_value_of_a_frame_is_no_feature(layout, value, zeros):
    X, y = table(zeros)
    X = X.astype(value)
    X[np.random.default_rng(5).random(X.shape) < 0.1] = np.nan
    frame = FRAMES[layout](X)
    rows = [{f"c{j}": float(row[j]) for j in np.flatnonzero(np.nan_to_num(row))} for row in X]
    full = named(np.nan_to_num(X))
    for learner in LEARNERS:
        expected = learner.clone().partial_fit(full, y)
        model = learner.clone().partial_fit(frame, y)
        assert_same(learned(model), learned(expected))
        check_answers(model, frame, rows)
        known = learner.clone().fit(frame, y)
        assert_same(learned(known), learned(learner.clone().fit(full, y)))
        told = model.progressive(frame, y)
        assert told.scores.tolist() == expected.progressive(full, y).scores.tolist()


@pytest.mark.parametrize("what", ["infinity", "too large"])
@pytest.mark.parametrize("value", ["float32", "float64"])
@pytest.mark.parametrize("layout", ["a block", "columns"])
def test_bad_values_among_missing_ones_are_named(layout, value, what):
    if value == "float32" and what == "too large":
        pytest.skip("no such value")
    X, y = table(zeros=True)
    X = X.astype(value)
    model = AROWClassifier().partial_fit(FRAMES[layout](X), y)
    X[333, 3], X[333, 17], X[600, 2] = np.nan, BAD[what], BAD[what]
    given = FRAMES[layout](X)
    place = f"{what}.*at row 333, column {17 if what == 'too large' else chr(39) + 'c17'}"
    refuse(lambda: model.partial_fit(given, y), place, model)
    refuse(lambda: model.predict(given), place, model)
    refuse(lambda: model.predict_proba(given), place, model)
    refuse(lambda: model.predict_proba_many(given), place, model)
    refuse(lambda: model.progressive(given, y), place, model)
