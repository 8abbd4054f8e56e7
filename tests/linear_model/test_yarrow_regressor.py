"""YarrowRegressor against its textbook form, and what it promises."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from linear_model.yarrow_regressor_textbook import LEVELS, Textbook
from scipy import sparse

import yarrow
from yarrow import AROWRegressor, OGDRegressor, YarrowRegressor
from yarrow.errors import DataError, ParameterError


def stream(rows=600, columns=6, seed=0, noise=0.3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns)) * 10.0 ** random.uniform(-3, 3, columns) + 1
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    slopes = random.normal(size=columns)
    y = 50 + scaled @ slopes + scaled[:, 0] ** 2 + noise * random.normal(size=rows)
    return X, y


def determination(y, predicted, start=50):
    left = ((y - predicted)[start:] ** 2).sum()
    return 1 - left / ((y - y.mean())[start:] ** 2).sum()


@pytest.mark.parametrize("spoilt", [False, True])
def test_it_is_the_textbook_form(spoilt):
    X, y = stream(400)
    X[3::7, 2] = 0  # not all rows have all features
    if spoilt:
        y[50::40] += 1e4
    model, textbook = YarrowRegressor(dtype="float64"), Textbook(X.shape[1])
    for t, (row, target) in enumerate(zip(X, y, strict=True)):
        expected = textbook.evaluate(row)
        if t > 1:
            assert model.predict(row[None])[0] == pytest.approx(expected, rel=1e-6), t
            low, high = model.predict_interval(row[None], coverage=0.9)[0]
            assert (high - low) / 2 == pytest.approx(textbook.radius(5), rel=1e-6), t
        model.partial_fit(row[None], [target])
        textbook.learn(row, target)
    found = model.coverage_
    np.testing.assert_allclose(list(found.values()), textbook.covered / textbook.tested)
    np.testing.assert_allclose(
        list(model.expert_weights_.values()), textbook.u, rtol=1e-5, atol=1e-8
    )


def test_scales_of_columns_and_targets_do_not_matter():
    X, y = stream()
    plain = YarrowRegressor(dtype="float64").progressive(X, y).predictions
    scaled = YarrowRegressor(dtype="float64").progressive(X * 2.0**20, 2.0**30 * y).predictions
    np.testing.assert_allclose(scaled / 2.0**30, plain, rtol=1e-9)
    assert determination(y, plain) > 0.75


def test_outliers_hardly_count():
    X, y = stream(2000)
    spoilt = y.copy()
    spoilt[100::50] += 1e6
    predicted = YarrowRegressor().progressive(X, spoilt).predictions
    assert determination(y, predicted, 200) > 0.6
    assert determination(y, AROWRegressor().progressive(X, spoilt).predictions, 200) < 0


def test_drift_is_followed():
    X, y = stream(2000)
    y[1000:] = 200 - 2 * y[1000:]
    assert determination(y, YarrowRegressor().progressive(X, y).predictions) > 0.9


def test_it_is_hardly_worse_than_the_last_target_or_the_mean():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 10))
    walk = random.normal(size=3000).cumsum()
    noise = 5 + random.normal(size=3000)
    for y, baseline in ((walk, np.append(0, walk[:-1])), (noise, np.full(3000, 5.0))):
        predicted = YarrowRegressor().progressive(X, y).predictions
        assert ((y - predicted)[50:] ** 2).mean() < 1.05 * ((y - baseline)[50:] ** 2).mean()


@pytest.mark.parametrize("kind", ["calm", "drift", "heavy tails", "growing noise"])
@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_intervals_hold_the_target_as_often_as_asked(kind, coverage):
    X, y = stream(3000)
    random = np.random.default_rng(1)
    if kind == "drift":
        y[1500:] = 300 - 5 * y[1500:]
    if kind == "heavy tails":
        y += random.standard_t(2, size=len(y))
    if kind == "growing noise":
        y += random.normal(size=len(y)) * np.linspace(0, 10, len(y))
    model, inside = YarrowRegressor().partial_fit(X[:20], y[:20]), 0
    for row, target in zip(X[20:], y[20:], strict=True):
        low, high = model.predict_interval(row[None], coverage)[0]
        inside += low <= target <= high
        model.partial_fit(row[None], [target])
    assert inside / (len(y) - 20) == pytest.approx(coverage, abs=0.02)
    assert model.coverage_[coverage] == pytest.approx(coverage, abs=0.02)


def test_wider_coverage_is_no_narrower_interval():
    X, y = stream()
    model = YarrowRegressor().partial_fit(X, y)
    widths = [np.ptp(model.predict_interval(X[:1], c)) for c in (0.5, *LEVELS, 0.93, 0.99)]
    assert sorted(widths[:10]) == widths[:10]
    assert widths[6] <= widths[10] <= widths[7]


def test_before_two_rows_an_interval_has_no_end():
    model = YarrowRegressor()
    assert model.predict_interval_one({"a": 1}) == (-np.inf, np.inf)
    model.learn_one({"a": 1}, 3.0)
    assert model.predict_interval_one({"a": 1}) == (-np.inf, np.inf)


@pytest.mark.parametrize("coverage", [0, 0.3, 1, 90, float("nan")])
def test_a_coverage_out_of_range_is_refused(coverage):
    with pytest.raises(ParameterError, match="'coverage' must be between"):
        YarrowRegressor().predict_interval_one({}, coverage)


@pytest.mark.parametrize("columns", [3, 40, 100, 300])
def test_every_route_gives_the_same_bits_and_parts_add_up(columns, tmp_path):
    X, y = stream(300, columns)
    X[np.random.default_rng(2).random(X.shape) < 0.4] = 0
    dense = YarrowRegressor().partial_fit(X, y)
    in_pieces = YarrowRegressor().partial_fit(X[:100], y[:100])
    in_pieces.save(tmp_path / "half.yarrow")
    in_pieces = yarrow.load(tmp_path / "half.yarrow").partial_fit(
        sparse.csr_array(X[100:]), y[100:]
    )
    by_dict = YarrowRegressor()
    for row, target in zip(X, y, strict=True):
        by_dict.learn_one({j: v for j, v in enumerate(row.tolist()) if v}, target)
    expected = dense.predict(X)
    assert np.array_equal(in_pieces.predict(X), expected)
    rows = [{j: v for j, v in enumerate(row.tolist()) if v} for row in X[:20]]
    assert [by_dict.predict_one(row) for row in rows] == expected[:20].tolist()
    for row, predicted in zip(rows, expected, strict=False):
        parts = dense.explain_one(row).contributions
        assert sum(part.amount for part in parts) == pytest.approx(predicted, rel=1e-6)


def test_a_row_that_is_refused_leaves_no_trace():
    X, y = stream(100)
    model = YarrowRegressor().partial_fit(X, y)
    before = model.predict(X)
    with pytest.raises(DataError, match="Row 1: this row's target is too large"):
        model.partial_fit(X[:2], [1.0, 1e200])
    assert np.array_equal(model.predict(X), before)


@pytest.mark.parametrize("way", ["arrays", "dicts", "progressive"])
def test_a_regression_that_diverges_says_so_once(way):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 5)) * [1, 1e2, 1e4, 1, 1]
    y = X @ [1, 0.01, 1e-4, 2, 3]

    def teach(model):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for rows in (slice(0, 300), slice(300, 600)):
                if way == "arrays":
                    model.partial_fit(X[rows], y[rows])
                elif way == "progressive":
                    model.progressive(X[rows], y[rows])
                else:
                    for row, target in zip(X[rows], y[rows], strict=True):
                        model.learn_one(dict(enumerate(row.tolist())), target)
        return [str(one.message) for one in told]

    told = teach(OGDRegressor())
    assert len(told) == 1
    assert "diverges" in told[0]
    assert teach(YarrowRegressor()) == []
    X /= [1, 1e2, 1e4, 1, 1]
    assert teach(OGDRegressor()) == []


def test_targets_far_from_zero_are_no_divergence():
    X, y = stream(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AROWRegressor().partial_fit(X[:, :1], y + 1e6)
