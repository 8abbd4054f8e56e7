"""`progressive`: one call says what predicting and learning row by row would say, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from contract.support import as_dicts, assert_same, fingerprint, learned, refuse
from contract.test_one_result import LABELS, as_column, make_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from yarrow import AROWClassifier, PassiveAggressiveClassifier, Perceptron
from yarrow.errors import YarrowError


def decisions(model, x, n_classes):
    """Return the scores of the classes known, in the order of their appearance, then NaN."""
    scores = model._scores(x)[0][0] if "_model" in model.__dict__ else []
    return [*scores, *[np.nan] * (n_classes - len(scores))]


def row_by_row(model, X, y, w, delay, n_scores):
    """Predict a row, then learn the one `delay` rows before: the definition."""
    predictions, scores = [], []
    for t in range(len(X) + delay):
        if t < len(X):
            fresh = "_model" not in model.__dict__
            predictions.append(None if fresh else model.predict(X[t : t + 1])[0])
            scores.append(decisions(model, X[t : t + 1], n_scores))
        if t >= delay:
            now = slice(t - delay, t - delay + 1)
            model.partial_fit(
                X[now], as_column(y[now]), sample_weight=None if w is None else w[now]
            )
    return predictions, np.array(scores)


@settings(max_examples=4)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(list(LABELS)),
    weights=st.sampled_from(["none", "some", "with zeros"]),
    delay=st.sampled_from([0, 0, 1, 7, 100]),
    parts=st.sampled_from([1, 3]),
    dtype=st.sampled_from(["float32", "float64"]),
    naming=st.sampled_from([{}, {}, {"hash_bits": 2}, {"max_features": 4, "when_full": "prune"}]),
    sparse=st.booleans(),
)
def test_one_call_equals_row_by_row(
    few_variants, seed, kind, weights, delay, parts, dtype, naming, sparse
):
    variant = few_variants
    X, y, w = make_rows(seed, 24, LABELS[kind] if variant.is_classifier else None, weights)
    plain, model = variant(dtype=dtype, **naming), variant(dtype=dtype, **naming)
    width = len(set(y)) if variant.is_classifier else 1
    for at in range(0, 24, 24 // parts + 1):
        part = slice(at, at + 24 // parts + 1)
        given_w = None if w is None else w[part]
        expected, scores = row_by_row(plain, X[part], y[part], given_w, delay, width)
        rows = sp.csr_array(X[part]) if sparse else X[part]
        found = model.progressive(rows, as_column(y[part]), given_w, delay=delay)
        if not variant.is_classifier:
            expected = [0.0 if value is None else value for value in expected]
            scores = np.nan_to_num(scores)
        assert found.predictions.tolist() == expected
        if variant.is_classifier:
            order = plain._class_table()[1]
            assert found.classes.tolist() == plain.classes_.tolist()
            scores = scores[:, order]
        np.testing.assert_array_equal(found.scores, scores)
    assert_same(learned(model), learned(plain))


def test_it_says_what_dict_by_dict_would_say(few_variants):
    """Once all features are known: a feature that is new is left out of a dict's prediction."""
    X, y, _ = make_rows(3, 60, [0, 1, 2] if few_variants.is_classifier else None, "none")
    X[0] = 1.0
    model, plain = few_variants(), few_variants()
    found = model.progressive(X, y)
    expected = []
    for x, label in zip(as_dicts(X), y, strict=True):
        expected.append(plain.predict_one(x))
        plain.learn_one(x, label)
    assert found.predictions.tolist() == expected
    assert_same(learned(model), learned(plain))


def test_a_bad_row_leaves_no_trace(few_variants):
    X, y, _ = make_rows(1, 30, [0, 1, 1] if few_variants.is_classifier else None, "none")
    fresh, fitted = few_variants(), few_variants().partial_fit(X, y)
    bad = X.copy()
    bad[20, 3] = np.nan
    for model in (fresh, fitted):
        refuse(lambda model=model: model.progressive(bad, y), "NaN at row 20, column 3", model)
        refuse(lambda model=model: model.progressive(bad, y, delay=5), "NaN at row 20", model)


def test_two_declared_classes_have_one_column():
    X, y, _ = make_rows(2, 30, ["b", "a", "b"], "none")
    for model in (AROWClassifier(), PassiveAggressiveClassifier(multiclass="top1")):
        found = model.progressive(X, y, classes=["a", "b"])
        assert found.scores.shape == (30, 1)
        both = y.index("a") + 1  # 'b' comes first
        assert np.isnan(found.scores[:both]).all()
        said = np.where(found.scores[both:, 0] > 0, "b", "a")
        assert said.tolist() == found.predictions[both:].tolist()
        again = model.progressive(X, y)
        assert not np.isnan(again.scores).any()
        assert again.predictions.dtype.kind == "U"


@pytest.mark.parametrize("delay", [-1, 1.5, True, "1"])
def test_a_delay_is_a_number_of_rows(delay):
    model = Perceptron()
    with pytest.raises(YarrowError, match="The delay must be an integer >= 0"):
        model.progressive([[1.0]], [1], delay=delay)
    assert fingerprint(model) == fingerprint(Perceptron())


def test_rows_that_do_not_count_leave_a_fresh_model():
    model = Perceptron()
    found = model.progressive([[1.0], [2.0]], [1, 0], [0.0, 0.0])
    assert found.predictions.tolist() == [None, None]
    assert "_model" not in model.__dict__
