"""Rows whose update cannot be represented are refused, and what came before them is undone."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import as_dicts, assert_same, classification, fingerprint, refuse
from hypothesis import given, settings
from hypothesis import strategies as st

import yarrow
from yarrow import (
    AROWClassifier,
    CustomClassifier,
    FOBOSClassifier,
    GroupLassoClassifier,
    MultiTaskClassifier,
    OFSClassifier,
    OGDClassifier,
    OGDRegressor,
    Perceptron,
    RDAClassifier,
    SOFSClassifier,
    SOPClassifier,
    linear_model,
)
from yarrow.errors import YarrowError

COLUMNS = 200
X, Y = classification(150, COLUMNS, 3, seed=1)


def is_regression(model):
    return not hasattr(type(model), "classes_")


NEED_A_FUNCTION = ("CustomClassifier", "StructuredClassifier")
LEARN_DICTS = [
    name
    for name in linear_model.__all__
    if name not in NEED_A_FUNCTION and hasattr(getattr(linear_model, name), "learn_one")
]
EXTREMES = [1.0, -0.5, 1e-38, 1e-20, 1e20, 1e30, -3e38]


@settings(max_examples=15)
@given(
    values=st.lists(st.sampled_from(EXTREMES), min_size=3, max_size=8),
    weights=st.lists(st.sampled_from([1.0, 1e-300, 1e-3, 1e6, 1e300]), min_size=8, max_size=8),
    target=st.sampled_from([0, 1, 7]),
    chunk=st.sampled_from([1, 3, 8]),
    fit_intercept=st.booleans(),
)
def test_extreme_rows_are_learned_or_refused(variant, values, weights, target, chunk, **parameters):
    """Whatever the values, the weights stay finite, and a refused call leaves no trace."""
    model, never_failed = variant(**parameters), variant(**parameters)
    for each in (model, never_failed):
        each.partial_fit(X[:30, :8], Y[:30] % 2)
    rows = np.tile(X[30:38, :8], (1, 1))
    rows[np.arange(len(values)), np.arange(len(values))] = values
    y = np.where(np.arange(8) == 5, target, Y[30:38] % 2)
    for at in range(0, 8, chunk):
        part = slice(at, at + chunk)
        before = fingerprint(model)
        try:
            model.partial_fit(rows[part], y[part], sample_weight=weights[part])
        except YarrowError as error:
            assert_same(fingerprint(model) | {"error": str(error)[:4]}, before | {"error": "Row "})
        else:
            never_failed.partial_fit(rows[part], y[part], sample_weight=weights[part])
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
        if hasattr(model, "variance_"):
            assert np.isfinite(model.variance_).all()
            assert (model.variance_ > 0).all()
    model.partial_fit(X[40:60, :8], Y[40:60] % 2)
    never_failed.partial_fit(X[40:60, :8], Y[40:60] % 2)
    assert_same(fingerprint(model), fingerprint(never_failed))


def shouting(s):
    """Add far too much of the row, and forget a quarter of the rest."""
    return 0.75, s.weight if s.margin < 1 else 0.0


#: estimators, with a value and a weight whose update cannot be represented
OVERFLOWS = [
    (AROWClassifier(fit_intercept=False, r=1e-300), 1e-38, 1.0),
    (CustomClassifier(shouting), 3e38, 100.0),
    (FOBOSClassifier(), 3e38, 100.0),
    (GroupLassoClassifier({"0": 0, "7": 0, "new": 0}), 3e38, 1.0),
    (MultiTaskClassifier(), 3e38, 1.0),
    (OFSClassifier(B=5), 3e38, 1.0),
    (OGDClassifier(multiclass="top1"), 3e38, 100.0),
    (OGDClassifier(average=True), 3e38, 1.0),
    (OGDRegressor(), 3e38, 1.0),
    (Perceptron(), 3e38, 1.0),
    (Perceptron(average=True), 1.0, 1e300),
    (RDAClassifier(), 3e38, 1.0),
    (SOFSClassifier(B=5, fit_intercept=False, r=1e-300), 1e-38, 1.0),
    (SOPClassifier(), 3e38, 1.0),
]


@pytest.mark.parametrize("n", [1, 20, 150])
@pytest.mark.parametrize("new_class", [False, True], ids=["known classes", "new class"])
@pytest.mark.parametrize(
    ("model", "value", "weight"), OVERFLOWS, ids=[type(model).__name__ for model, *_ in OVERFLOWS]
)
def test_an_overflow_in_the_middle_of_a_call_undoes_it(model, value, weight, new_class, n):
    """Rows before it were learned already, with a feature and perhaps a class that are new."""
    model = model.clone()
    model.learn_many(pd.DataFrame(X[:100], columns=[str(j) for j in range(COLUMNS)]), Y[:100] % 2)
    rows = pd.DataFrame(
        {"0": [1.0] * n + [value], "new": [2.0] * n + [0.0], "7": [3.0] * n + [0.0]}
    )
    wrong = 1000 if is_regression(model) else 1 - model.predict_one({"0": value})
    labels = [2 if new_class else 1 - wrong] * n + [wrong]
    weights = [1.0] * n + [weight]
    refuse(lambda: model.learn_many(rows, labels, weights), f"Row {n}: this row's update", model)


def test_folding_the_scale_is_undone():
    """A rule that shrinks all weights makes even a short call touch features it does not have."""
    model = CustomClassifier(shouting, fit_intercept=False).partial_fit(X[:100], Y[:100] % 2)
    rows = sp.csr_matrix((np.ones(80), np.zeros(80, int), np.arange(81)), shape=(80, COLUMNS))
    rows.data[-1] = 3e38
    wrong = 1 - model.predict_one({0: 3e38})
    labels = [1 - wrong] * 79 + [wrong]
    weights = [1.0] * 79 + [100.0]
    refuse(lambda: model.partial_fit(rows, labels, sample_weight=weights), "Row 79", model)


def test_a_refused_dict_leaves_no_trace_in_what_follows(variant):
    rows = as_dicts(X[:60, :8])
    model, never_failed = variant(), variant()
    for i, row in enumerate(rows):
        model.learn_one(row, int(Y[i] % 2))
        never_failed.learn_one(row, int(Y[i] % 2))
        before = fingerprint(model)
        try:
            model.learn_one({0: 3e38, "new": 3e38, 7: 1e-38}, 1, w=1e300)
        except YarrowError:
            assert_same(fingerprint(model), before)
        else:
            never_failed.learn_one({0: 3e38, "new": 3e38, 7: 1e-38}, 1, w=1e300)
    assert_same(fingerprint(model), fingerprint(never_failed))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1e30, 1e100, 1e154, 1e250])
@pytest.mark.parametrize("name", LEARN_DICTS)
def test_what_is_learned_of_huge_rows_can_be_read_again(name, size, dtype, tmp_path):
    cls = getattr(linear_model, name)
    model = cls(**({"dtype": dtype} if "dtype" in cls.__dataclass_fields__ else {}))
    draw = np.random.default_rng(1)
    for i in range(20):
        row = {word: float(draw.choice([size, -size, 1.0])) for word in "abc"}
        label = float(draw.choice([size, -1.0, 1.0])) if is_regression(model) else "xyz"[i % 3]
        with contextlib.suppress(YarrowError):
            model.learn_one(row, *([] if "OneClass" in name else [label]))
    if model.__sklearn_is_fitted__():
        model.save(tmp_path / "model")
        yarrow.load(tmp_path / "model")


def settings_that_are_numbers():
    for name in LEARN_DICTS:
        made = getattr(linear_model, name)()
        for parameter, value in made.get_params().items():
            if isinstance(value, float):
                yield name, parameter


@pytest.mark.parametrize(("name", "parameter"), settings_that_are_numbers())
def test_what_is_learned_by_absurd_settings_can_be_read_again(name, parameter, tmp_path):
    """Or the setting is refused, or the rows are."""
    regression = is_regression(getattr(linear_model, name)())
    for value in (5e-324, 1e-150, 1e-30, 1e30, 1e150, 1e300):
        with contextlib.suppress(ValueError):
            model = getattr(linear_model, name)(**{parameter: value})
            for x, c in zip(
                X[:60, :5].toarray() if sp.issparse(X) else X[:60, :5], Y, strict=False
            ):
                with contextlib.suppress(YarrowError):
                    row = {str(at): float(v) for at, v in enumerate(x)}
                    model.learn_one(row, float(c) if regression else int(c))
            model.save(tmp_path / "m.yarrow")
            yarrow.load(tmp_path / "m.yarrow")
