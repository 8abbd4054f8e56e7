"""`yarrow.merge`: parts that learned apart become one model."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from contract.support import classification, fingerprint, learned

import yarrow
from yarrow.errors import ParameterError
from yarrow.merging import Sums, combined, finished


def can_be_merged(model):
    try:
        yarrow.merge([model, model])
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
        a, b, c, d = (Sums.beyond(part, start) for part in parts)
        merged = yarrow.merge(parts, base=start)
        close(merged, finished((a + b) + (c + d), start))
        close(merged, finished(((a + b) + c) + d, start))
        close(merged, finished(a + (b + (c + d)), start))
        close(merged, finished(combined([combined([a, b]), combined(parts[2:], start)]), start))
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


def rda_in_numpy(sums, t, l1, gamma=1.0):
    """The weights of regularised dual averaging after t rows, from the sums of gradients."""
    shrunk = np.sign(sums) * np.maximum(np.abs(sums) - l1 * t, 0)
    return shrunk / (gamma * np.sqrt(max(t, 1)))


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("l1", [0.0, 0.03])
def test_sums_of_dual_averaging_add_exactly(two_classes, l1, with_base):
    X, y = two_classes
    signs = np.where(y, 1, -1)

    def make():
        return yarrow.RDAClassifier(l1=l1, dtype="float64", fit_intercept=False)

    n = 40 if with_base else 0
    base = make().partial_fit(X[:n], y[:n]) if with_base else None
    parts = parts_of(make, X[n:], y[n:], base=base)

    def gradients(rows, sums, t):
        sums = sums.copy()
        for i in rows:
            if signs[i] * (rda_in_numpy(sums, t, l1) @ X[i]) < 1:
                sums += signs[i] * X[i]
            t += 1
        return sums

    first = gradients(range(n), np.zeros(X.shape[1]), 0)
    rows_of = np.array_split(np.arange(n, 200), 4)
    apart = [gradients(rows, first, n) for rows in rows_of]
    total = sum(apart)
    if with_base:  # sums of the weights that have made the mean of the parts' steps, before l1
        began = first / np.sqrt(n)
        moved = [abs(sums - first) for sums in apart]
        steps = [
            m * (sums / np.sqrt(n + len(rows)) - began)
            for m, sums, rows in zip(moved, apart, rows_of, strict=True)
        ]
        total = (began + sum(steps) / np.maximum(sum(moved), 1e-300)) * np.sqrt(200)
    merged = yarrow.merge(parts, base=base)
    assert merged.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(merged.coef_[0], rda_in_numpy(total, 200, l1), rtol=1e-9, atol=1e-12)
    assert l1 == 0 or 0 < np.count_nonzero(merged.coef_) < X.shape[1]


def test_squares_of_adagrad_add(two_classes):
    X, y = two_classes
    parts = parts_of(lambda: yarrow.FTRLClassifier(dtype="float64"), X, y)
    merged = yarrow.merge(parts)
    found = [part._fitted.get_state()["blocks"] for part in parts]
    roots = np.sqrt(sum(np.square(blocks[:, 1]) for blocks in found))
    np.testing.assert_allclose(merged._fitted.get_state()["blocks"][:, 1], roots, rtol=1e-12)


@pytest.mark.parametrize("with_base", [False, True])
def test_a_weight_is_moved_by_those_who_moved_it(two_classes, with_base):
    """By the mean of their steps, weighted by their size; who never saw it has no say."""
    X, y = two_classes
    X = X[:, :9].copy()
    n = 40 if with_base else 0
    for third, rows in enumerate(np.array_split(np.arange(n, 200), 3)):
        X[rows, 3 * third : 3 * third + 2] = 0  # columns that the others see

    def make():
        return yarrow.PassiveAggressiveClassifier(dtype="float64")

    base = make().partial_fit(X[:n], y[:n]) if with_base else None
    parts = parts_of(make, X[n:], y[n:], n=3, base=base)
    began = base.coef_ if with_base else np.zeros((1, 9))
    steps = np.array([part.coef_ - began for part in parts])
    assert (steps == 0).any(axis=0).sum() == 6
    wanted = began + (abs(steps) * steps).sum(axis=0) / abs(steps).sum(axis=0)
    np.testing.assert_allclose(yarrow.merge(parts, base=base).coef_, wanted, rtol=1e-9)


def arow_in_numpy(X, signs, base=None):
    """The mean and the precision of AROW with r = 1, and of the constant feature, densely."""
    mean, precision = base or (np.zeros(X.shape[1] + 1), np.ones(X.shape[1] + 1))
    mean, precision = mean.copy(), precision.copy()
    for row, sign in zip(np.c_[np.ones(len(X)), X], signs, strict=True):
        margin, v = sign * (mean @ row), (row**2 / precision).sum()
        if margin < 1:
            mean += (1 - margin) / (v + 1) * sign * row / precision
            precision += row**2
    return mean, precision


@pytest.mark.parametrize(("n", "declared"), [(2, False), (2, True), (3, False), (5, False)])
@pytest.mark.parametrize("with_base", [False, True])
def test_classes_and_features_are_united(n, declared, with_base):
    """Parts that saw other classes, in another order, and other features, against the formula.

    To a part that has not seen a class all of its rows are the rest, as if it had known the class.
    """
    X, y = classification(400, 6, n, seed=n)
    taught = [np.flatnonzero(np.isin(y, kept)) for kept in ([0], [n - 1], range(n), range(n))]
    taught[3] = taught[3][::-1]
    began = np.arange(30, 60) if with_base else np.arange(0)
    seen = [np.where(np.arange(6) >= first, X, 0) for first in (0, 1, 2, 3)]  # features of a part

    def learn(model, x, rows):
        for i in rows:
            model.learn_one({f"x{j}": x[i, j] for j in np.flatnonzero(x[i])}, f"c{y[i]}")
        return model

    classes = [f"c{k}" for k in range(n)] if declared else None
    base = learn(yarrow.AROWClassifier(classes=classes, dtype="float64"), X, began)
    parts = [learn(copy.deepcopy(base), x, rows) for x, rows in zip(seen, taught, strict=True)]
    merged = yarrow.merge(parts, base=base if with_base else None)
    assert merged.classes_.tolist() == [f"c{k}" for k in range(n)]
    assert set(merged.feature_names_) == {f"x{j}" for j in range(6)}
    assert merged.t_ == sum(map(len, taught)) + len(began)
    order = [merged.feature_names_.index(f"x{j}") for j in range(6)]
    for k in range(1 if n == 2 else 0, n):
        signs = np.where(y == k, 1, -1)
        first = arow_in_numpy(X[began], signs[began])
        found = [
            arow_in_numpy(x[rows], signs[rows], first) for x, rows in zip(seen, taught, strict=True)
        ]
        precision = first[1] + sum(p - first[1] for _, p in found)
        mean = sum(m * p for m, p in found) / precision
        if with_base:  # all parts have met the errors of the base: the mean of their steps
            gained = sum(p - first[1] for _, p in found)
            mean = first[0] + sum((p - first[1]) * (m - first[0]) for m, p in found) / gained
        row = 0 if n == 2 else k
        weights = np.r_[merged.intercept_[row], merged.coef_[row][order]]
        np.testing.assert_allclose(weights, mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(1 / merged.variance_[row][order], precision[1:], rtol=1e-9)


def test_one_class_alone_is_united():
    parts = [yarrow.AROWClassifier(), yarrow.AROWClassifier()]
    for number, part in enumerate(parts):
        part.learn_one({f"x{number}": 1.0}, "a")
    merged = yarrow.merge(parts)
    assert merged.classes_.tolist() == ["a"]
    assert merged.predict_one({"x0": 1.0}) == "a"
    merged.learn_one({"x1": 1.0}, "b")
    assert merged.classes_.tolist() == ["a", "b"]


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


def test_a_hashed_model_that_does_not_say_what_taught_it_never_will():
    parts = [yarrow.AROWClassifier(hash_bits=6) for _ in range(2)]
    for part, label in zip(parts, "xy", strict=True):
        part.learn_one({"a": 1}, label)
    state = parts[0]._fitted.get_state()
    del state["hashed_kinds"]  # as in a file from before there was one
    parts[0]._fitted.set_state(state, parts[0]._fitted.classes)
    for merged in (yarrow.merge(parts), yarrow.merge(parts[::-1])):
        assert "hashed_kinds" not in merged._fitted.get_state()
        assert np.isfinite(merged.decision_function(np.ones((1, 3)))).all()
    assert yarrow.merge(parts[1:])._fitted.get_state()["hashed_kinds"].tolist() == [1]


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


@pytest.mark.parametrize("name", ["AROWClassifier", "PassiveAggressiveClassifier", "RDAClassifier"])
def test_epochs_of_mixing_do_not_diverge(name):
    """Sixteen parts that all correct the same errors of their base must not overshoot together."""
    random = np.random.default_rng(0)
    plane = random.normal(size=300)
    X = (random.random((2000, 300)) < 0.1) * 0.2
    y = X @ plane + 0.05 * random.normal(size=2000) > 0

    def make():
        return getattr(yarrow, name)(**({"gamma": 0.1, "l1": 0.0} if "RDA" in name else {}))

    mixed = make()
    for _ in range(8):
        parts = [copy.deepcopy(mixed).partial_fit(X[i:1600:16], y[i:1600:16]) for i in range(16)]
        mixed = yarrow.merge(parts, base=mixed)
    alone = make()
    for _ in range(8):
        alone.partial_fit(X[:1600], y[:1600])
    assert alone.score(X[1600:], y[1600:]) > 0.85
    assert mixed.score(X[1600:], y[1600:]) > alone.score(X[1600:], y[1600:]) - 0.05


# -- YarrowClassifier ------------------------------------------------------------------------------


def words(n, seed, vocabulary=400, classes=3):
    """Rows of words, some of which speak for a class."""
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=n)
    rows = []
    for label in labels:
        own = random.integers(label * 40, label * 40 + 60, size=3)
        rest = random.integers(vocabulary, size=9)
        rows.append({f"w{i}": float(random.integers(1, 4)) for i in {*own, *rest}})
    return rows, [f"c{label}" for label in labels]


def test_counts_and_statistics_of_yarrow_classifier_add_exactly():
    rows, labels = words(900, 0)
    whole = yarrow.YarrowClassifier(dtype="float64")
    parts = [yarrow.YarrowClassifier(dtype="float64") for _ in range(3)]
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        whole.learn_one(row, label)
        parts[number % 3].learn_one(row, label)
    merged = yarrow.merge(parts)
    assert merged.t_ == 900
    a, b = learned(whole), learned(merged)
    columns = {c: k for k, c in enumerate([1, 0, 2], start=1)}  # of classes by appearance
    for name, planes in a["features"].items():
        got = np.array(b["features"][name])
        np.testing.assert_allclose(got[13:], np.array(planes)[13:], rtol=1e-9, atol=1e-12)
        for place, (_, label) in enumerate(a["classes"]):
            other = [c for _, c in b["classes"]].index(label)
            hits = planes[12][columns[place]], got[12][columns[other]]
            np.testing.assert_allclose(*hits, rtol=1e-12)
    np.testing.assert_allclose(b["mixture"][-3:], a["mixture"][-3:])
    # The parts' own worth of the experts without products of two values, which do not add up.
    worth = sum(300 * np.array(learned(part)["pair_trial"][:-3]) for part in parts) / 900
    assert "pair_weights" not in b
    assert b["mixture_drift_rows"] == pytest.approx(a["mixture_drift_rows"])
    np.testing.assert_allclose(b["mixture"][:-3], worth)
    np.testing.assert_allclose(b["mixture_rates"], a["mixture_rates"], rtol=1e-15)


def test_yarrow_classifier_is_as_good_after_some_epochs():
    rows, labels = words(3000, 1)
    test_rows, wanted = words(2000, 2)

    def accuracy(model):
        found = zip(test_rows, wanted, strict=True)
        return np.mean([model.predict_one(row) == label for row, label in found])

    alone, mixed = yarrow.YarrowClassifier(), yarrow.YarrowClassifier()
    for _ in range(3):
        parts = [copy.deepcopy(mixed) for _ in range(8)]
        for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
            alone.learn_one(row, label)
            parts[number % 8].learn_one(row, label)
        mixed = yarrow.merge(parts, base=mixed)
    assert accuracy(mixed) > accuracy(alone) - 0.015


def test_yarrow_classifier_of_few_features_says_that_it_cannot(two_classes):
    parts = [yarrow.YarrowClassifier().fit(*two_classes) for _ in range(2)]
    with pytest.raises(ParameterError, match="at most 128 features"):
        yarrow.merge(parts)


def test_paths_and_other_declared_classes_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"not paths: yarrow.load\('a'\)"):
        yarrow.merge(["a"])
    parts = []
    for classes in ([0, 1], [0, 1, 2]):
        model = yarrow.AROWClassifier()
        parts.append(model.partial_fit(np.eye(2), [0, 1], classes=classes))
    with pytest.raises(ParameterError, match="declared classes"):
        yarrow.merge(parts)


def test_features_with_names_and_columns_without_are_not_united() -> None:
    nameless = yarrow.AROWClassifier().partial_fit(np.eye(2), [0, 1])
    named = yarrow.AROWClassifier()
    for i in range(4):
        named.learn_one({"km": 1.0 + i, "age": 1.0}, i % 2)
    for parts in ([nameless, named], [named, nameless]):
        with pytest.raises(ParameterError, match=r"columns without names, and another .* 'km'"):
            yarrow.merge(parts)


def test_columns_of_a_table_stay_columns() -> None:
    """A feature that nearly all rows had (core/mixture/table_columns.hpp)."""
    random = np.random.default_rng(0)
    parts = [yarrow.YarrowClassifier() for _ in range(2)]
    for i in range(400):
        words = {f"word {j}": 1.0 for j in random.integers(0, 400, 6)}
        parts[i % 2].learn_one({"km": 5.0 + i % 3, **words}, i % 3 > 1)
    merged = yarrow.merge(parts)
    assert [
        merged.feature_names_[j] for j in merged._model.get_state()["table_columns"].tolist()
    ] == ["km"]
