"""What 0, absent and missing mean to the learners that bring columns to scale, by every route."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import fingerprint

import yarrow
from yarrow import AROWClassifier, YarrowClassifier, YarrowRegressor
from yarrow.io.formats import StreamFormat
from yarrow.online.core_stream import learn_stream

NAMES = ["km", "age", "rooms"]
LEARNERS = [YarrowClassifier, YarrowRegressor]


def table(n: int = 400, zeros: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns far from 0, of which some cells are 0, and classes by the first."""
    random = np.random.default_rng(seed)
    X = random.normal([7.5, 40, 3], [1, 10, 0.5], (n, 3)).astype(np.float32)
    X[40:] *= random.random((n - 40, 3)) >= zeros
    return X, (X[:, 0] > 7.5).astype(int)


def as_dicts(X, with_zeros):
    return [
        {name: float(x) for name, x in zip(NAMES, row, strict=True) if with_zeros or x} for row in X
    ]


def taught(cls, X, y):
    return cls().partial_fit(pd.DataFrame(X, columns=NAMES), y)


@pytest.mark.parametrize("more", [0, 70, 200], ids="and {} words".format)
def test_a_value_of_zero_is_one_though_it_was_never_learned(more):
    X, y = table()
    random = np.random.default_rng(1)
    rows = as_dicts(X, True)
    for row in rows:
        row |= {f"word {j}": 1.0 for j in random.integers(0, more, 5)} if more else {}
    model = YarrowClassifier()
    for row, label in zip(rows, y.tolist(), strict=True):
        model.learn_one(row, label)
    near = {"km": 1e-3, "age": 40.0, "rooms": 3.0}
    for zero in ({**near, "km": 0}, {"age": 40.0, "rooms": 3.0}):
        assert model.predict_one(zero) == model.predict_one(near) == 0
        assert model.predict_proba_one(zero)[0] == pytest.approx(model.predict_proba_one(near)[0])
    unknown = model.predict_proba_one({**near, "km": None})
    assert unknown[0] < model.predict_proba_one(near)[0] - 0.01


def test_a_regression_follows_its_line_to_zero():
    X, _ = table()
    model = taught(YarrowRegressor, X, 10 + 2 * X[:, 0])
    found = [model.predict_one({"km": km, "age": 40.0, "rooms": 3.0}) for km in (0, 1e-3, None)]
    assert found[0] == pytest.approx(found[1], abs=1e-2)
    assert found[0] < 22 < found[2] == pytest.approx(25, abs=1.5)


@pytest.mark.parametrize("cls", LEARNERS)
@pytest.mark.parametrize("zeros", [0.005, 0.05, 0.5])
def test_zeros_are_the_same_by_every_route(cls, zeros, tmp_path):
    """Dense rows, sparse ones without zeros, dicts with and without, and files."""
    X, y = table(600, zeros)
    frame = pd.DataFrame(X, columns=NAMES)
    models = [cls().partial_fit(X, y), cls().partial_fit(sp.csr_matrix(X), y)]
    chunks = cls()
    for i in range(0, 600, 7):
        chunks.partial_fit(sp.csr_matrix(X[i : i + 7]), y[i : i + 7])
    whole = sp.csr_matrix(np.ones(X.shape, np.float32))
    whole.data[:] = X.ravel()  # zeros that are stored
    models += [chunks, cls().partial_fit(whole, y)]
    for with_zeros in (True, False):
        numbered = cls()
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            numbered.learn_one({j: x for j, x in enumerate(row) if with_zeros or x}, label)
        models.append(numbered)
    first = models[0]._model.get_state()
    for model in models:
        state = model._model.get_state()
        assert all(np.array_equal(state[name], numbers) for name, numbers in first.items())

    named = [taught(cls, X, y)]
    for with_zeros in (True, False):
        one_by_one = cls()
        for row, label in zip(as_dicts(X, with_zeros), y.tolist(), strict=True):
            one_by_one.learn_one(row, label)
        named.append(one_by_one)
    path = tmp_path / "rows.csv"
    frame.assign(y=y).to_csv(path, index=False, float_format="%.9g")
    by_file = cls()
    for _ in learn_stream(by_file, path, StreamFormat(table={"label": "y"})):
        pass
    expected = models[0].predict(X).tolist()
    for model in [*named, by_file]:
        dicts = [model.predict_one(row) for row in as_dicts(X, False)]
        assert dicts == model.predict(frame).tolist() == expected
    path = tmp_path / "model.yarrow"
    models[1].save(path)
    again = yarrow.load(path)
    rest, labels = table(100, 0.3, seed=1)
    assert fingerprint(again.partial_fit(rest, labels)) == fingerprint(
        models[0].partial_fit(sp.csr_matrix(rest), labels)
    )


@pytest.mark.parametrize("cls", LEARNERS)
def test_missing_stays_missing_by_every_route(cls, tmp_path):
    X, y = table(300)
    X[100:104, 0] = np.nan
    frame = pd.DataFrame(X, columns=NAMES)
    dicts = [{name: None if x != x else x for name, x in row.items()} for row in as_dicts(X, True)]
    by_frame = taught(cls, X, y)
    by_list = cls().partial_fit(dicts, y)
    by_dict = cls()
    for row, label in zip(dicts, y.tolist(), strict=True):
        by_dict.learn_one(row, label)
    by_file = cls()
    csv = tmp_path / "rows.csv"
    frame.assign(y=y).to_csv(csv, index=False, float_format="%.9g", na_rep="NA")
    for _ in learn_stream(by_file, csv, StreamFormat(table={"label": "y"})):
        pass
    by_lines = cls()
    lines = "\n".join(json.dumps(row | {"y": int(a)}) for row, a in zip(dicts, y, strict=True))
    text = io.BytesIO(lines.encode())
    for _ in learn_stream(by_lines, text, StreamFormat(format="jsonl", table={"label": "y"})):
        pass
    asked = [{"km": None, "age": 40.0, "rooms": 3.0}, {"age": 40.0, "rooms": 3.0}]
    expected = [by_frame.predict(frame).tolist(), [by_frame.predict_one(row) for row in asked]]
    for model in (by_list, by_dict, by_file, by_lines):
        found = [model.predict_one(row) for row in dicts]
        assert [found, [model.predict_one(row) for row in asked]] == expected
        blocks = [one._model.get_state()["blocks"] for one in (model, by_frame)]
        np.testing.assert_array_equal(*blocks)


def test_to_a_learner_of_lines_zero_absent_and_missing_are_the_same():
    X, y = table(300)
    model = taught(AROWClassifier, X, y)
    rows = pd.DataFrame({"km": [0.0, np.nan], "age": [40.0] * 2, "rooms": [3.0] * 2})
    scores = model.decision_function(rows)
    assert scores[0] == scores[1] == model.decision_function(rows[:1])[0]


def test_a_feature_that_few_rows_have_is_just_not_there():
    random = np.random.default_rng(0)
    model = YarrowClassifier()
    for _ in range(500):
        words = random.integers(0, 30, 8)
        model.learn_one({f"word {j}": 1.0 for j in words}, int(words.min() < 2))
    assert len(model._model.get_state()["table_columns"]) == 0


def test_a_failed_call_leaves_the_zeros_columns_as_they_were():
    X, y = table(200, 0.005)
    model = YarrowClassifier().partial_fit(X, y)
    before = fingerprint(model)
    rows = np.where(np.arange(3) == 1, 0, X[:3]).astype(np.float64)
    rows[2, 2] = 1e39
    with pytest.raises(yarrow.YarrowError, match="row 2, column 2"):
        model.partial_fit(sp.csr_matrix(rows), y[:3])
    assert fingerprint(model) == before


def test_an_explanation_names_the_zero():
    X, y = table()
    model = taught(YarrowClassifier, X, y)
    found = model.explain_one({"age": 40.0, "rooms": 3.0})
    parts = {part.feature: part.amount for part in found.contributions}
    assert parts["km=0"] == min(parts.values(), key=lambda amount: -abs(amount))
    assert sum(parts.values()) == pytest.approx(found.score, rel=1e-5)
    of_none = model.explain_one({"km": None, "age": 40.0, "rooms": 3.0})
    assert {part.feature for part in of_none.contributions} <= {"age", "rooms", "(intercept)"}


def test_an_explanation_names_a_category_that_is_not_there():
    model = YarrowClassifier()
    for i in range(300):
        model.learn_one({"age": i % 7 - 3, "town": "Oslo" if i % 150 else "Rome"}, int(i % 7 > 3))
    parts = {part.feature for part in model.explain_one({"age": 2}).contributions}
    assert parts == {"age", "no town=Oslo", "(intercept)"}


@pytest.mark.parametrize("cls", LEARNERS)
def test_an_export_means_the_same(cls, tmp_path):
    X, y = table(300, 0.005)
    model = taught(cls, X, y)
    path = tmp_path / "model.json"
    model.export(path)
    exported = yarrow.load(path)
    asked = [
        {"km": km, "age": 40.0, "rooms": rooms} for km in (0, None, 7.0) for rooms in (0.0, 2.5)
    ]
    score = "predict_proba_one" if cls is YarrowClassifier else "predict_one"
    for row in [*asked, {"age": 40.0}]:
        expected = getattr(model, score)(row)
        assert getattr(exported, score)(row) == pytest.approx(expected, abs=1e-4)
    frame = pd.DataFrame(asked).astype(float)
    np.testing.assert_allclose(exported.predict(frame), model.predict(frame), atol=1e-4)
