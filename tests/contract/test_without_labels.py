"""The contract of learners whose rows have no labels: balls and rankings."""

from __future__ import annotations

import copy
import pickle
import random
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import (
    INTERRUPTIONS,
    as_dicts,
    assert_same,
    classification,
    learned,
    refuse,
    save_and_load,
)
from river import checks
from sklearn.base import clone, is_outlier_detector
from sklearn.utils.estimator_checks import check_estimator

from yarrow import OneClassPassiveAggressive, PassiveAggressiveRanker
from yarrow.errors import NotFittedError

X, Y = classification(120, 7, 3, seed=4)
NAMES = [f"c{j}" for j in range(7)]
VARIANTS = [
    *(OneClassPassiveAggressive(variant=v) for v in ("pa", "pa1", "pa2")),
    OneClassPassiveAggressive(3.0, learn_radius=True),
    OneClassPassiveAggressive(fit_intercept=True, dtype="float64"),
    *(PassiveAggressiveRanker(variant=v) for v in ("pa", "pa1", "pa2")),
    PassiveAggressiveRanker(average=True, hash_bits=4),
    PassiveAggressiveRanker(fit_intercept=True, dtype="float64"),
]
pytestmark = pytest.mark.parametrize("model", VARIANTS, ids=repr)


def pairs_of(relevance):
    """Each row against those after it, as `partial_fit` says."""
    for i in range(len(relevance)):
        for j in range(i + 1, len(relevance)):
            if relevance[i] != relevance[j]:
                yield (i, j) if relevance[i] > relevance[j] else (j, i)


def by_dicts(model, part, names=None):
    rows = as_dicts(X[part], names)
    if isinstance(model, OneClassPassiveAggressive):
        for row in rows:
            model.learn_one(row)
        return model
    for better, worse in pairs_of(Y[part].tolist()):
        columns = names or range(X.shape[1])  # differences come in the order of the columns
        full = [{c: rows[i].get(c, 0.0) for c in columns} for i in (better, worse)]
        model.learn_pair(*full)
    return model


def by_arrays(form):
    return lambda model, part: model.partial_fit(form(X[part]), Y[part])


ROUTES = {
    "dicts": by_dicts,
    "dense": by_arrays(lambda X: X),
    "Fortran order": by_arrays(np.asfortranarray),
    "CSR": by_arrays(sp.csr_matrix),
    "CSC": by_arrays(sp.csc_array),
    "lists": by_arrays(lambda X: X.tolist()),
}


def test_one_result_by_every_route(model):
    parts = [slice(0, 20), slice(20, 21), slice(21, 40)]
    if not isinstance(model, OneClassPassiveAggressive):
        parts.pop(1)  # a row alone makes no pair
    results = []
    for route in ROUTES.values():
        one = model.clone()
        for part in parts:
            route(one, part)
        results.append(learned(one))
    for result in results[1:]:
        assert_same(result, results[0])


def test_named_columns_are_features_by_name(model):
    frame = pd.DataFrame(X[:30], columns=NAMES)
    by_frame = model.clone().partial_fit(frame, Y[:30])
    by_dict = by_dicts(model.clone(), slice(0, 30), NAMES)
    assert_same(learned(by_frame), learned(by_dict))
    rows = as_dicts(X, NAMES)
    one_by_one = [by_dict.predict_one(row) for row in rows]
    np.testing.assert_array_equal(by_frame.predict(pd.DataFrame(X, columns=NAMES)), one_by_one)
    assert by_frame.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("how", INTERRUPTIONS)
def test_interruptions_leave_no_trace(model, how):
    straight = model.clone().partial_fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    interrupted = INTERRUPTIONS[how](model.clone().partial_fit(X[:40], Y[:40]))
    assert_same(learned(interrupted.partial_fit(X[40:], Y[40:])), learned(straight))
    np.testing.assert_array_equal(save_and_load(straight).predict(X), straight.predict(X))


def test_fit_forgets_and_is_repeatable(model):
    fitted = model.clone().fit(X, Y)
    used = model.clone().partial_fit(X[:, :3], Y).fit(X, Y)
    assert_same(learned(used), learned(fitted))
    assert fitted.n_iter_ == model.max_iter
    with pytest.raises(NotFittedError):
        clone(fitted).predict(X)


def test_bad_rows_leave_no_trace(model):
    model = model.clone().partial_fit(X[:40], Y[:40])
    for bad in (np.nan, np.inf):
        rows = X[:9].copy()
        rows[4, 2] = bad
        refuse(lambda rows=rows: model.partial_fit(rows, Y[:9]), "NaN|inf", model)
    refuse(lambda: model.partial_fit(X[:9, :4], Y[:9]), "expecting 7 features", model)
    huge = X[:9].copy()
    huge[8] = 3e38
    try:
        before = learned(model)
        model.partial_fit(huge, Y[:9])
    except ValueError:
        assert_same(learned(model), before)
    assert np.isfinite(model.coef_).all()


def test_features_may_come_at_any_time(model):
    model = model.clone()
    if isinstance(model, OneClassPassiveAggressive):
        model.learn_one({"a": 1.0})
        model.learn_one({"b": 2.0, "c": "red"})
    else:
        model.learn_pair({"a": 1.0}, {})
        model.learn_pair({"b": 2.0, "c": "red"}, {"a": 0.5, "c": "blue"})
    if model.hash_bits is None:
        assert {"a", "b", "c=red"} <= set(model.feature_names_)
    assert np.isfinite(model.predict_one({"a": 1, "never seen": 5}))
    twin = pickle.loads(pickle.dumps(model))
    assert twin.predict_one({"b": 1}) == model.predict_one({"b": 1})
    assert copy.deepcopy(model).t_ == 2


def test_scikit_learns_checks(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model.clone(), on_skip=None, on_fail=None)
    failed = {r["check_name"]: repr(r["exception"]) for r in results if r["status"] == "failed"}
    assert not {k: v for k, v in failed.items() if k not in model.expected_failed_checks}
    assert len(results) > 40
    assert is_outlier_detector(model) == isinstance(model, OneClassPassiveAggressive)


def test_rivers_checks(model):
    """Those for any estimator: river has no interface for pairs, and finds detectors by class."""
    found = list(checks.yield_checks(model.clone()))
    assert len(found) > 5
    for check in found:
        random.seed(0)
        check(model.clone())
