"""`yarrow.merge`: parts that learned apart become one model."""

from __future__ import annotations

import numpy as np
import pytest
from contract.support import classification, fingerprint, learned

import yarrow
from yarrow.errors import ParameterError
from yarrow.merging import Difference


def can_be_merged(model):
    try:
        Difference.of(model)
    except ParameterError as error:
        if "cannot be merged" not in str(error):
            raise
        return False
    return True


def parts_of(make, X, y, n=4, base=None):
    parts = []
    for rows in np.array_split(np.arange(len(X)), n):
        part = make() if base is None else yarrow.merge([base])
        parts.append(part.partial_fit(X[rows], y[rows]))
    return parts


def close(a, b):
    a, b = learned(a), learned(b)
    assert a["classes"] == b["classes"]
    assert a["features"].keys() == b["features"].keys()
    for key in ("t", "scalars", "column_updates"):
        if key in a:
            np.testing.assert_allclose(a[key], b[key], rtol=1e-9)
    for name, numbers in a["features"].items():
        np.testing.assert_allclose(numbers, b["features"][name], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a["intercept"], b["intercept"], rtol=1e-9, atol=1e-12)


def test_one_part_is_itself_and_the_parts_stay(variant, three_classes):
    X, y = three_classes
    model = variant(dtype="float64").partial_fit(X[:50], y[:50])
    if can_be_merged(model):
        before = fingerprint(model)
        merged = yarrow.merge([model])
        assert fingerprint(merged) == before
        yarrow.merge([model, merged])
        assert fingerprint(model) == before


def test_any_grouping_gives_the_same_and_counters_are_right(variant, three_classes):
    X, y = three_classes
    base = variant(dtype="float64").partial_fit(X[:40], y[:40])
    if not can_be_merged(base):
        return
    for start in (None, base):
        parts = parts_of(lambda: variant(dtype="float64"), X[40:], y[40:], base=start)
        a, b, c, d = (Difference.of(part, start) for part in parts)
        merged = ((a + b) + (c + d)).finish(start)
        close(merged, (((a + b) + c) + d).finish(start))
        close(merged, (a + (b + (c + d))).finish(start))
        assert merged.t_ == 260 + 40 * (start is not None)
        added = sum(part.n_updates_ for part in parts)
        assert merged.n_updates_ == added - 3 * (base.n_updates_ if start is not None else 0)
        merged.partial_fit(X[:9], y[:9])  # and it goes on
        assert np.isfinite(merged.predict(X)).all()


def test_a_base_that_nobody_went_on_from_comes_back(variant, three_classes):
    X, y = three_classes
    base = variant(dtype="float64").partial_fit(X, y)
    if can_be_merged(base):
        merged = yarrow.merge([base, base, base], base=base)
        assert merged.t_ == base.t_
        np.testing.assert_allclose(merged.coef_, base.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_precisions_of_arow_add_and_the_prior_counts_once(two_classes, classes):
    X, y = two_classes

    def make():
        return yarrow.AROWClassifier(dtype="float64", classes=classes)

    for base in (None, make().partial_fit(X[:50], y[:50])):
        parts = parts_of(make, X[50:], y[50:], base=base)
        merged = yarrow.merge(parts, base=base)
        first = 1.0 if base is None else 1 / base.variance_
        first_mean = 0.0 if base is None else first * base.coef_
        precision = first + sum(1 / part.variance_ - first for part in parts)
        sign = [1 if part.classes_.tolist() == [0, 1] else None for part in parts]
        assert None not in sign
        evidence = first_mean + sum(part.coef_ / part.variance_ - first_mean for part in parts)
        np.testing.assert_allclose(1 / merged.variance_, precision, rtol=1e-9)
        np.testing.assert_allclose(merged.coef_, evidence / precision, rtol=1e-7, atol=1e-12)


def test_sums_of_dual_averaging_add_exactly(two_classes):
    """On rows that share no feature parts learn what one model would, up to the common clock."""
    X, y = two_classes
    y = np.where(y, 1, 0)
    parts = parts_of(lambda: yarrow.RDAClassifier(l1=0.0, dtype="float64"), X, y)
    merged = yarrow.merge(parts)
    gamma, t = parts[0].gamma, len(X)
    sums = sum(part.coef_ * part.gamma * np.sqrt(part.t_) for part in parts)
    np.testing.assert_allclose(merged.coef_, sums / (gamma * np.sqrt(t)), rtol=1e-9)


def test_mixing_weighs_by_updates(two_classes):
    X, y = two_classes
    parts = parts_of(lambda: yarrow.PassiveAggressiveClassifier(dtype="float64"), X, y, n=3)
    counts = np.array([part._fitted.get_state()["column_updates"][-1] for part in parts])
    mean = sum(n * part.coef_ for n, part in zip(counts, parts, strict=True)) / counts.sum()
    np.testing.assert_allclose(yarrow.merge(parts).coef_, mean, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("declared", [False, True])
def test_classes_and_features_are_united(n, declared):
    """Parts that saw other classes, in another order, and other features."""
    X, y = classification(400, 6, n)
    classes = list(range(n)) if declared and n == 2 else None
    orders = [np.flatnonzero(np.isin(y, kept)) for kept in ([0], [n - 1], range(n))]
    orders.append(orders[-1][::-1])
    parts = []
    for number, rows in enumerate(orders):
        part = yarrow.AROWClassifier(classes=classes)
        for i in rows:
            part.learn_one({f"x{j}": X[i, j] for j in range(number, 6)}, f"c{y[i]}"
                           if classes is None else y[i])  # fmt: skip
        parts.append(part)
    merged = yarrow.merge(parts)
    assert len(merged.classes_) == n
    assert set(merged.feature_names_) == {f"x{j}" for j in range(6)}
    assert merged.t_ == sum(part.t_ for part in parts)
    rows = [{f"x{j}": row[j] for j in range(6)} for row in X]
    wanted = y if classes is not None else [f"c{label}" for label in y]
    right = np.mean([merged.predict_one(r) == c for r, c in zip(rows, wanted, strict=True)])
    assert right > (0.75 if n < 5 else 0.5)  # two parts of one class each


def test_a_class_that_a_part_has_not_seen_is_the_rest_to_it(three_classes):
    """As if that part had known the class beforehand: the column "none of the seen"."""
    X, y = three_classes
    halves = [(X[:150], y[:150]), (X[150:][y[150:] < 2], y[150:][y[150:] < 2])]
    apart = [yarrow.AROWClassifier(dtype="float64").partial_fit(*half) for half in halves]
    known = [
        yarrow.AROWClassifier(dtype="float64").partial_fit(X[:150], y[:150], classes=[0, 1, 2]),
        yarrow.AROWClassifier(dtype="float64").partial_fit(*halves[1], classes=[0, 1, 2]),
    ]
    np.testing.assert_allclose(yarrow.merge(apart).coef_, yarrow.merge(known).coef_, rtol=1e-12)


def test_integer_columns_and_hashed_models(two_classes):
    X, y = two_classes
    narrow = yarrow.AROWClassifier()
    wide = yarrow.AROWClassifier()
    for row, label in zip(X, y, strict=True):
        narrow.learn_one(dict(enumerate(row[:5])), label)
        wide.learn_one(dict(enumerate(row)) | {"text": 1.0}, label)
    assert set(yarrow.merge([narrow, wide]).feature_names_) == {*range(12), "text"}
    hashed = parts_of(lambda: yarrow.AROWClassifier(hash_bits=6), X, y)
    assert yarrow.merge(hashed).score(X, y) > 0.9


def test_what_does_not_belong_together_is_refused(two_classes):
    X, y = two_classes
    a, b = yarrow.AROWClassifier().fit(X, y), yarrow.AROWClassifier(r=2.0).fit(X, y)
    with pytest.raises(ParameterError, match=r"r is 1\.0 and 2\.0"):
        yarrow.merge([a, b])
    with pytest.raises(ParameterError, match="one class"):
        yarrow.merge([a, yarrow.PassiveAggressiveClassifier().fit(X, y)])
    with pytest.raises(ParameterError, match="nothing to merge"):
        yarrow.merge([])
    with pytest.raises(ParameterError, match="cannot be merged"):
        yarrow.merge([yarrow.VotedPerceptron().fit(X, y)] * 2)
    with pytest.raises(ParameterError, match="cannot be merged"):
        yarrow.merge([yarrow.kernel.KernelPerceptron().fit(X, y)] * 2)
