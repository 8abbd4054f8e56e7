"""AROW that forgets, against the slow form in which every feature fades after every row.

The slow form keeps precisions, all of them, and touches each one each time; the package keeps
variances and touches a row's features only.
"""

import copy
import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import (
    EXACT,
    assert_same,
    binary_stream,
    class_stream,
    planes,
    weights,
    with_constant,
)

from yarrow.linear_model import ARCORClassifier, AROWClassifier, ForgettingAROWClassifier

DATA = os.environ.get("YARROW_DATA")
each_clock = pytest.mark.parametrize("clock", ["visits", "rows"])


def eager(rows, y, r, memory, clock, hinge=False, projected=False):
    """Means and precisions after each row, as one would write them down.

    A projected covariance keeps the diagonal of Sigma - Sigma x x' Sigma / (v + r).
    """
    mu, P = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    for x, label in zip(rows, y, strict=True):
        margin, v = label * mu @ x, x**2 @ (1 / P)
        updates = margin < 1 and v > 0
        if updates:
            alpha = min(1 / (2 * r), (1 - margin) / v) if hinge else (1 - margin) / (v + r)
            mu = mu + alpha * label * x / P
            P = 1 / (1 / P - (x / P) ** 2 / (v + r)) if projected else P + x**2 / r
        fades = np.full(len(mu), clock == "rows") | (updates & (x != 0))
        P = np.where(fades, 1 + (P - 1) * memory, P)
    return mu, P


@each_clock
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("memory", [0.3, 0.9, 0.999])
def test_lazy_is_eager(clock, loss, memory):
    # Dense enough that rows without a feature are rare: at the second one after a step of the hinge
    # loss the margin is 1 but for rounding, which then decides whether there is an update.
    X, y = binary_stream(41, rows=400, features=12, density=0.35)
    model = ForgettingAROWClassifier(0.3, memory, clock, loss, classes=[-1, 1], **EXACT)
    model.partial_fit(scipy.sparse.csr_array(X), y)
    mu, P = eager(with_constant(X), y, 0.3, memory, clock, hinge=loss == "hinge")
    np.testing.assert_allclose(weights(model)[0], mu, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.variance_[0], 1 / P[1:], rtol=1e-9)


@each_clock
@pytest.mark.parametrize("memory", [0.3, 0.9, 0.999])
def test_lazy_is_eager_with_a_projected_covariance(clock, memory):
    X, y = binary_stream(48, rows=400, features=12, density=0.3)
    model = ForgettingAROWClassifier(
        0.3, memory, clock, covariance="projected", classes=[-1, 1], **EXACT
    ).partial_fit(scipy.sparse.csr_array(X), y)
    mu, P = eager(with_constant(X), y, 0.3, memory, clock, projected=True)
    np.testing.assert_allclose(weights(model)[0], mu, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.variance_[0], 1 / P[1:], rtol=1e-9)


@each_clock
def test_lazy_is_eager_for_each_of_many_classes(clock):
    """One-versus-rest: each class fades at its own pace, also one that comes late."""
    X, y = class_stream(42, density=0.3)
    model = ForgettingAROWClassifier(0.5, 0.95, clock, **EXACT).partial_fit(X, y)
    for row, label in zip(weights(model), model.classes_, strict=True):
        mu, _ = eager(with_constant(X), np.where(y == label, 1, -1), 0.5, 0.95, clock)
        np.testing.assert_allclose(row, mu, rtol=1e-9, atol=1e-12)


@each_clock
def test_average_is_that_of_all_rows(clock):
    X, y = binary_stream(43, rows=120, features=6, density=0.4)
    model = ForgettingAROWClassifier(0.5, 0.9, clock, average=True, classes=[-1, 1], **EXACT)
    model.partial_fit(X, y)
    rows = with_constant(X)
    means = [eager(rows[:n], y[:n], 0.5, 0.9, clock)[0] for n in range(1, len(y) + 1)]
    np.testing.assert_allclose(weights(model)[0], np.mean(means, axis=0), rtol=1e-9, atol=1e-12)


@each_clock
@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_perfect_memory_is_arow_to_the_bit(clock, covariance, multiclass, dtype):
    X, y = class_stream(44, rows=300, density=0.4)
    options = {"multiclass": multiclass, "dtype": dtype, "covariance": covariance}
    model = ForgettingAROWClassifier(0.1, 1.0, clock, **options).partial_fit(X, y)
    plain = AROWClassifier(0.1, **options).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    np.testing.assert_array_equal(model.variance_, plain.variance_)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_a_feature_that_stays_away_becomes_open_again():
    model = ForgettingAROWClassifier(memory=0.9, clock="rows", classes=[0, 1], **EXACT)
    for _ in range(20):
        model.learn_one({"a": 1.0}, 1)
    sure = model.variance_[0, 0]
    for n in (10, 100):
        for _ in range(n):
            model.learn_one({"b": 1.0}, 0)
        expected = 1 / (1 + (1 / sure - 1) * 0.9**n)
        assert model.variance_[0, 0] == pytest.approx(expected, rel=1e-9)
        sure = expected
    assert sure == pytest.approx(1.0, abs=1e-3)


def at_row(model, t):
    """The same model as if it had learned t rows so far, which left no mark."""
    state = copy.deepcopy(model.__getstate__())
    tensors = state["_core_state"]["tensors"]
    scalars, blocks = tensors["scalars"].copy(), tensors["blocks"].copy()
    blocks[:, 2, :] += (t - scalars[0]) % 2**23
    scalars[0] = t
    tensors["scalars"], tensors["blocks"] = scalars, blocks
    model.__setstate__(state)
    return model


@pytest.mark.parametrize("start", [2**23 - 40, 2**24 - 40, 2**40 - 40])
def test_float32_counts_rows_exactly_however_many_there_are(start):
    """Times are kept below 2^23 and settled when the clock starts again."""
    X, y = binary_stream(45, rows=160, features=8, density=0.2)
    options = {"memory": 0.95, "clock": "rows", "classes": [-1, 1]}
    young = ForgettingAROWClassifier(**options).partial_fit(X[:60], y[:60])
    old = at_row(copy.deepcopy(young), start)
    np.testing.assert_array_equal(old.variance_, young.variance_)
    for model in (young, old):
        model.partial_fit(X[60:], y[60:])
    assert planes(old)[:, 2].max() <= 60 < planes(young)[:, 2].max()  # the clock did start again
    np.testing.assert_allclose(old.coef_, young.coef_, rtol=1e-5)
    np.testing.assert_allclose(old.variance_, young.variance_, rtol=1e-5)


def test_a_call_that_fails_after_the_clock_started_again_leaves_no_trace():
    X, y = binary_stream(46, rows=60, features=8, density=0.3)
    X = np.hstack([X, np.zeros((60, 400))])  # large, so that only parts are copied beforehand
    model = ForgettingAROWClassifier(memory=0.9, clock="rows", classes=[-1, 1], **EXACT)
    model = at_row(model.partial_fit(scipy.sparse.csr_array(X), y), 2**23 - 2)
    before = copy.deepcopy(model)
    bad = scipy.sparse.csr_array(np.vstack([X[:5], 1e200 * (np.arange(X.shape[1]) == 400)]))
    with pytest.raises(ValueError, match="Row 5"):
        model.partial_fit(bad, y[:6])
    assert_same(model, before)


@each_clock
def test_variances_stay_between_nothing_and_the_prior(clock):
    X, y = binary_stream(47, rows=500, density=0.4, noise=0.3)
    model = ForgettingAROWClassifier(1e-3, 0.5, clock, classes=[-1, 1])
    for x, label in zip(X, y, strict=True):
        model.partial_fit([x], [label])
        assert ((model.variance_ > 0) & (model.variance_ <= 1)).all()


# -- starting anew -----------------------------------------------------------------------------


def restarting(rows, y, r, floor, power):
    """ARCOR as one would write it down; says how often it started anew."""
    mu, s, i = np.zeros(rows.shape[1]), np.ones(rows.shape[1]), 1
    for x, label in zip(rows, y, strict=True):
        margin, v = label * mu @ x, x**2 @ s
        if margin >= 1 or v == 0:
            continue
        mu, s = mu + (1 - margin) / (v + r) * label * s * x, 1 / (1 / s + x**2 / r)
        if s.min() < floor * i**-power:
            s, i = np.ones(len(s)), i + 1
    return mu, s, i - 1


@pytest.mark.parametrize(("floor", "power"), [(0.05, 0.0), (0.2, 0.5), (0.5, 2.0), (1e-9, 0.0)])
def test_restarts_when_a_variance_falls_below_the_floor(floor, power):
    X, y = binary_stream(48, rows=400, features=10, density=0.2)
    model = ARCORClassifier(0.3, floor, power, classes=[-1, 1], **EXACT)
    model.partial_fit(scipy.sparse.csr_array(X), y)
    mu, s, restarts = restarting(with_constant(X), y, 0.3, floor, power)
    assert (restarts > 2) == (floor > 1e-9)
    np.testing.assert_allclose(weights(model)[0], mu, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.variance_[0], s[1:], rtol=1e-9)


def test_each_class_restarts_on_its_own_and_a_file_remembers(tmp_path):
    X, y = class_stream(49, density=0.4)
    model = ARCORClassifier(0.3, 0.1, **EXACT).partial_fit(X, y)
    assert len(set(model._model.get_state()["restarts"])) > 1
    model.save(tmp_path / "model.yarrow")
    loaded = ARCORClassifier.load(tmp_path / "model.yarrow")
    for learner in (model, loaded):
        learner.partial_fit(X, y)
    assert_same(model, loaded)
    for row, label in zip(weights(model), model.classes_, strict=True):
        twice = np.vstack([with_constant(X)] * 2)
        mu, _, _ = restarting(twice, np.where(np.tile(y, 2) == label, 1, -1), 0.3, 0.1, 0.0)
        np.testing.assert_allclose(row, mu, rtol=1e-9, atol=1e-12)


def test_a_floor_that_is_never_reached_is_arow():
    X, y = binary_stream(50, rows=100)
    model = ARCORClassifier(0.5, 1e-20).partial_fit(X, y)
    plain = AROWClassifier(0.5).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.variance_, plain.variance_)


# -- a stream that drifts ----------------------------------------------------------------------


@pytest.mark.skipif(not DATA, reason="YARROW_DATA does not name a folder of data sets")
def test_forgetting_more_than_halves_the_errors_on_electricity():
    """Half-hours in the order of time, raw columns, one pass, each row predicted before learned."""
    path = Path(str(DATA)) / "electricity" / "elecNormNew.csv.gz"
    if not path.exists():
        pytest.skip("electricity is not in YARROW_DATA")
    with gzip.open(path, "rt") as file:
        table = list(csv.reader(file))[1:]
    X = np.array([row[:-1] for row in table], dtype=float)
    y = np.array([row[-1] for row in table])

    def error(model):
        return model.partial_fit(X, y).n_mistakes_ / len(y)

    repeating = np.mean(y[1:] != y[:-1])
    plain = min(
        error(AROWClassifier(r, covariance))
        for r in (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
        for covariance in ("diagonal", "projected")
    )
    arcor = min(
        error(ARCORClassifier(r, floor, power))
        for r in (1e-2, 0.1, 1.0)
        for floor in (1e-3, 1e-2, 0.1)
        for power in (0.0, 0.25, 0.5)
    )
    for clock in ("visits", "rows"):
        forgetting = min(
            error(ForgettingAROWClassifier(r, memory, clock))
            for r in (1e-3, 1e-2, 0.1)
            for memory in (0.9, 0.95, 0.99)
        )
        assert forgetting < 0.08  # 7.4 % with either clock
        assert forgetting < plain / 2  # 25.8 %
        assert forgetting < repeating  # 14.7 %
        assert forgetting < arcor  # 8.9 %
