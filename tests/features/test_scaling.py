"""Scalers agree with scikit-learn over what they have seen, bit for bit by every route."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from river import compose, linear_model
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler, normalize

from yarrow.errors import DataError, NotFittedError, ParameterError
from yarrow.features import (
    OnlineIDF,
    OnlineMaxAbsScaler,
    OnlineMinMaxScaler,
    OnlineStandardScaler,
    RowNormalizer,
)

random = np.random.default_rng(7)
DENSE = random.normal(3, [1, 10, 1e-3, 1e4], (200, 4)) * (random.random((200, 4)) < 0.4)

PAIRS = {
    "standard": (OnlineStandardScaler(), StandardScaler(with_mean=False)),
    "centred": (OnlineStandardScaler(with_mean=True), StandardScaler()),
    "mean only": (
        OnlineStandardScaler(with_mean=True, with_std=False),
        StandardScaler(with_std=False),
    ),
    "maxabs": (OnlineMaxAbsScaler(), MaxAbsScaler()),
    "minmax": (OnlineMinMaxScaler(), MinMaxScaler()),
    "idf": (OnlineIDF(), TfidfTransformer(norm=None)),
}
SCALERS = {name: ours for name, (ours, _) in PAIRS.items()}
every_scaler = pytest.mark.parametrize("scaler", SCALERS.values(), ids=SCALERS)
sparse_scalers = pytest.mark.parametrize(
    "scaler", [SCALERS[name] for name in ("standard", "maxabs", "idf")]
)


def dicts(X):
    return [dict(enumerate(row)) for row in X.tolist()]


def as_array(rows, width):
    return np.array([[row.get(column, 0.0) for column in range(width)] for row in rows])


@pytest.mark.parametrize(("ours", "sklearns"), PAIRS.values(), ids=PAIRS)
def test_scaling_agrees_with_scikit_learn(ours, sklearns):
    expected = sklearns.fit(DENSE).transform(DENSE)
    expected = expected.toarray() if sparse.issparse(expected) else expected
    np.testing.assert_allclose(ours.clone().fit_transform(DENSE), expected, rtol=1e-10)


@pytest.mark.parametrize("with_mean", [False, True])
def test_moments_agree_with_numpy_even_far_from_zero(with_mean):
    X = 1e9 + random.normal(size=(500, 3))
    scaler = OnlineStandardScaler(with_mean=with_mean).fit(X)
    np.testing.assert_allclose(scaler.mean_, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaler.var_, X.var(axis=0), rtol=1e-6)


values = st.sampled_from([0.0, 1.0, -2.5, 1e-3, 7e5]) | st.floats(-1e6, 1e6)
arrays = hnp.arrays(float, st.tuples(st.integers(1, 8), st.just(3)), elements=values)


@every_scaler
@given(X=arrays, cut=st.integers(0, 8))
def test_every_route_gives_the_same_bits(scaler, X, cut):
    cut = min(cut, len(X))
    whole = scaler.clone().fit(X)
    expected = whole.transform(X)

    chunked = scaler.clone()
    for part in (X[:cut], X[cut:]):
        if len(part):
            chunked.partial_fit(part)
    by_dict = scaler.clone()
    for row in dicts(X):
        by_dict.learn_one(row)
    routes = [chunked, by_dict]
    if not scaler._counts_zeros():
        routes.append(scaler.clone().fit(sparse.csr_matrix(X)))
        by_short_dict = scaler.clone()
        for row in dicts(X):
            by_short_dict.learn_one({name: value for name, value in row.items() if value})
        routes.append(by_short_dict)
        np.testing.assert_array_equal(whole.transform(sparse.csr_array(X)).toarray(), expected)
    for route in routes:
        np.testing.assert_array_equal(route.transform(X), expected)
    np.testing.assert_array_equal(
        as_array([by_dict.transform_one(row) for row in dicts(X)], 3), expected
    )


@every_scaler
def test_no_row_is_scaled_by_a_later_one(scaler):
    online = scaler.clone()
    expected = []
    for row in dicts(DENSE):
        online.learn_one(row)
        expected.append(online.transform_one(row))
    expected = as_array(expected, 4)

    half = scaler.clone()
    found = np.concatenate([half.learn_transform(DENSE[:77]), half.learn_transform(DENSE[77:])])
    np.testing.assert_array_equal(found, expected)
    changed = DENSE.copy()
    changed[100:] *= 1000
    np.testing.assert_array_equal(scaler.clone().learn_transform(changed)[:100], expected[:100])
    np.testing.assert_array_equal(half.transform(DENSE), online.transform(DENSE))


@sparse_scalers
def test_sparse_rows_stay_sparse_and_are_learned_in_order(scaler):
    matrix = sparse.csr_matrix(DENSE)
    found = scaler.clone().learn_transform(matrix)
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), scaler.clone().learn_transform(DENSE))
    np.testing.assert_array_equal(matrix.toarray(), DENSE)  # the input is not changed


def test_repeated_entries_of_a_sparse_matrix_are_one_value():
    repeated = sparse.csr_matrix(([3.0, 2.0, 4.0], [0, 0, 0], [0, 2, 3]), shape=(2, 1))
    scaler = OnlineMaxAbsScaler().fit(repeated)
    np.testing.assert_array_equal(scaler.transform([[5.0]]), [[1.0]])
    assert repeated.nnz == 3


@pytest.mark.parametrize("scaler", [SCALERS["centred"], SCALERS["minmax"]])
def test_shifting_refuses_sparse_rows_and_counts_only_what_is_stated(scaler):
    with pytest.raises(DataError, match="zeros of a sparse matrix would not stay zeros"):
        scaler.clone().fit(sparse.csr_matrix(DENSE))
    gappy = scaler.clone()
    for row in ({"a": 1.0}, {"b": 5.0}, {"a": 3.0}):
        gappy.learn_one(row)
    full = scaler.clone()
    for value in (1.0, 3.0):
        full.learn_one({"a": value})
    assert gappy.transform_one({"a": 2.5}) == full.transform_one({"a": 2.5})


@every_scaler
def test_what_has_shown_no_scale_is_zero(scaler):
    if isinstance(scaler, OnlineIDF) or not getattr(scaler, "with_std", True):
        pytest.skip("has a scale from the start")
    fresh = scaler.clone()
    assert fresh.transform_one({"new": 1e6}) == {"new": 0.0}
    fresh.learn_one({"old": 2.0})
    assert fresh.transform_one({"new": 1e6}) == {"new": 0.0}


@every_scaler
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "text", None, 10**400])
def test_a_bad_value_is_an_error_that_names_it_and_changes_nothing(scaler, bad):
    learned = scaler.clone().fit(DENSE)
    before = learned.transform(DENSE)
    for call in (learned.learn_one, learned.transform_one):
        with pytest.raises(DataError, match=r"field 'x': .* is not a finite number"):
            call({"y": 1.0, "x": bad})
    if isinstance(bad, float):
        with pytest.raises(DataError, match=r"Input X contains (NaN|infinity)"):
            learned.partial_fit([[0, 1, 2, 3], [0, 1, 2, bad]])
    np.testing.assert_array_equal(learned.transform(DENSE), before)
    assert learned.n_rows_ == len(DENSE)


def test_values_that_overflow_are_errors_that_change_nothing():
    scaler = OnlineStandardScaler().fit(DENSE)
    before = scaler.transform(DENSE)
    with pytest.raises(DataError, match="field '1': the values are too large"):
        scaler.partial_fit([[1, 1, 1, 1], [0, 1e300, 0, 0], [0, -1e300, 0, 0]])
    with pytest.raises(DataError, match="field '1': the values are too large"):
        scaler.learn_one({1: 1e300})
    np.testing.assert_array_equal(scaler.transform(DENSE), before)
    with pytest.raises(DataError, match="too large to be scaled"):
        OnlineMinMaxScaler().fit([[-1e308], [1e308]]).transform([[1e308]])


def test_data_frames_and_dicts_share_their_names():
    frame = pd.DataFrame(DENSE, columns=list("abcd"))
    scaler = OnlineStandardScaler().partial_fit(frame.iloc[:100])
    for row in frame.iloc[100:].to_dict("records"):
        scaler.learn_one(row)
    assert scaler.feature_names_ == list("abcd")
    assert list(scaler.get_feature_names_out()) == list("abcd")
    np.testing.assert_array_equal(
        scaler.transform(frame), OnlineStandardScaler().fit(DENSE).transform(DENSE)
    )
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(scaler.transform(DENSE), scaler.transform(frame))


def test_float32_stays_float32():
    X = DENSE.astype(np.float32)
    for scaler in (*SCALERS.values(), RowNormalizer()):
        assert scaler.clone().fit_transform(X).dtype == np.float32


def test_unfitted_scalers_and_bad_parameters_are_errors():
    with pytest.raises(NotFittedError, match="This OnlineMaxAbsScaler instance is not fitted"):
        OnlineMaxAbsScaler().transform(DENSE)
    with pytest.raises(ParameterError, match="'with_mean' parameter must be True or False"):
        OnlineStandardScaler(with_mean="yes").fit(DENSE)
    with pytest.raises(ParameterError, match="'with_mean' parameter must be True or False"):
        OnlineStandardScaler(with_mean="yes").learn_one({"a": 1.0})
    with pytest.raises(ParameterError, match="'norm' parameter must be one of 'l2'"):
        RowNormalizer(norm="l3").transform_one({"a": 1})


@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
@given(X=arrays.map(lambda X: np.where(abs(X) < 1e-6, 0, X)))
def test_rows_are_normalized_as_in_scikit_learn(norm, X):
    normalizer = RowNormalizer(norm=norm)
    found = normalizer.fit_transform(X)
    np.testing.assert_allclose(found, normalize(X, norm), rtol=1e-12)
    np.testing.assert_array_equal(normalizer.transform(sparse.csr_matrix(X)).toarray(), found)
    rows = [normalizer.transform_one(row) for row in dicts(X)]
    np.testing.assert_array_equal(as_array(rows, 3), found)


def test_normalizing_does_not_overflow():
    np.testing.assert_allclose(RowNormalizer().transform([[3e200, 4e200]]), [[0.6, 0.8]])
    np.testing.assert_allclose(RowNormalizer().transform([[3e-200, 4e-200]]), [[0.6, 0.8]])


def test_scalers_work_in_pipelines_of_both_libraries():
    pipeline = make_pipeline(OnlineMaxAbsScaler(), RowNormalizer())
    expected = normalize(MaxAbsScaler().fit_transform(DENSE))
    np.testing.assert_allclose(pipeline.fit_transform(DENSE), expected)

    model = OnlineStandardScaler(with_mean=True) | linear_model.LinearRegression()
    union = (OnlineMaxAbsScaler() + RowNormalizer()) | linear_model.LinearRegression()
    for row in dicts(DENSE[:50]):
        for pipeline in (model, union):
            pipeline.learn_one(row, row[0])
            assert np.isfinite(pipeline.predict_one(row))
    assert model[0].n_rows_ == 50
    assert isinstance(OnlineMaxAbsScaler() * "by", compose.Grouper)
