"""Extreme and broken input: nothing becomes infinite, and a failed call leaves no trace."""

import contextlib
import copy

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import assert_same, binary_stream, planes

from yarrow.errors import DataError
from yarrow.linear_model import (
    AROWClassifier,
    CustomClassifier,
    CWClassifier,
    EGClassifier,
    FOBOSClassifier,
    OGDClassifier,
    OGDRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    PNormClassifier,
    RDAClassifier,
    SCWClassifier,
    SOPClassifier,
)

CLASSIFIERS = [
    Perceptron(),
    Perceptron(average=True),
    PassiveAggressiveClassifier(variant="pa"),
    PassiveAggressiveClassifier(),
    OGDClassifier("logistic", average=True),
    OGDClassifier("squared_hinge"),
    SOPClassifier(),
    CWClassifier(),
    CWClassifier(variant="variance", covariance="projected"),
    AROWClassifier(average=True),
    AROWClassifier(covariance="projected"),
    AROWClassifier(loss="hinge"),
    SCWClassifier(),
    SCWClassifier(variant="scw2", covariance="projected"),
    FOBOSClassifier(0.01),
    RDAClassifier(0.01),
    PNormClassifier(20),
    EGClassifier(),
]
each_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
each_strategy = pytest.mark.parametrize("multiclass", ["ovr", "top1"])


def assert_healthy(model):
    """All stored numbers are finite, and no variance is 0."""
    for name, values in model._model.get_state().items():
        assert np.isfinite(values).all(), name
    if hasattr(model, "variance_"):
        assert (planes(model)[:, 1] > 0).all()


@each_classifier
@each_strategy
@pytest.mark.parametrize("size", [1e-40, 1e-20, 1e4, 1e30])
def test_extreme_features_break_nothing(model, multiclass, size):
    """In float32, with noisy labels, over and over; a refusal is fine, damage is not."""
    X, y = binary_stream(101, rows=300, features=3, noise=0.3)
    y = np.where(np.arange(len(y)) % 5 == 0, 2, y)
    X[:, 0] *= size
    model = model.clone({"multiclass": multiclass}).partial_fit(np.eye(3), [-1, 1, 2])
    refused = 0
    for x, label in zip(X, y, strict=True):
        try:
            model.partial_fit([x], [label])
        except DataError as error:
            refused += 1
            assert "scale" in str(error)  # noqa: PT017
    assert_healthy(model)
    assert np.isfinite(model.decision_function(X)).all()
    assert refused < 10 or isinstance(model, OGDClassifier | FOBOSClassifier | RDAClassifier)


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
@pytest.mark.parametrize("size", [1e4, 1e30])
def test_a_large_feature_can_still_be_learned(covariance, size):
    """In float32 the textbook's difference of variances rounds to 0, and the weight is frozen."""
    model = AROWClassifier(covariance=covariance)
    for i in range(200):
        model.learn_one({"x": size if i % 2 else -size}, i % 2)
    assert model.predict_one({"x": size}) == 1
    assert model.predict_one({"x": -size}) == 0
    assert 0 < model.variance_.min() < 1


#: rows of finite numbers whose update cannot be finite, per family
OVERFLOWS = [
    (Perceptron(), 3e38),
    (Perceptron(average=True), 3e38),
    (PassiveAggressiveClassifier(variant="pa"), 1e-38),
    (OGDClassifier(average=True), 3e38),
    (SOPClassifier(), 3e38),
    (FOBOSClassifier(power=0.0), 3e38),
    (RDAClassifier(), 3e38),
    *((model.clone({"dtype": "float64"}), 1e200) for model in CLASSIFIERS),
]


@pytest.mark.parametrize(("model", "value"), OVERFLOWS, ids=repr)
@each_strategy
@pytest.mark.parametrize("features", [4, 400])
def test_overflow_is_an_error_that_leaves_no_trace(model, value, multiclass, features):
    """Alone, and in small and large chunks: a large model undoes by parts, a small one whole."""
    X, y = binary_stream(102, rows=60, features=features, density=1.0 if features < 10 else 0.1)
    y[::5] = 2
    X[:, 1] = 0  # kept for the bad row, whose margin is 0, so that every rule wants an update
    model = model.clone({"multiclass": multiclass, "fit_intercept": False})
    model.partial_fit(scipy.sparse.csr_array(X), y)
    before = copy.deepcopy(model)
    bad = X.copy()
    bad[30] = 0
    bad[30, 1] = value
    with pytest.raises(DataError, match="scale"):
        model.learn_one({1: value}, 1)
    assert_same(model, before)
    with pytest.raises(DataError, match="scale"):
        model.learn_one({"a new feature": value}, 77)  # and a new class
    assert_same(model, before)
    for rows in (slice(30, 31), slice(29, 32), slice(0, 60)):
        for X_bad in (bad[rows], scipy.sparse.csr_array(bad[rows])):
            with pytest.raises(DataError, match=rf"Row {30 - rows.start}: .*scale"):
                model.partial_fit(X_bad, y[rows])
            assert_same(model, before)
    labels = y.copy()
    labels[29] = 88  # a class that is new in the call
    with pytest.raises(DataError, match=r"Row 30: .*scale"):
        model.partial_fit(bad, labels)
    assert_same(model, before)
    # what comes next is as if nothing had been tried
    assert_same(model.partial_fit(X, y), before.partial_fit(X, y))


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (OGDRegressor(average=True), 3e38),
        (PassiveAggressiveRegressor(1e300, fit_intercept=False), 1e-38),
        (PassiveAggressiveRegressor(dtype="float64"), 1e200),
    ],
    ids=repr,
)
def test_overflow_in_regression_leaves_no_trace(model, value):
    X, _ = binary_stream(103, features=4)
    model = model.clone().partial_fit(X, X[:, 0])
    before = copy.deepcopy(model)
    with pytest.raises(DataError, match="scale"):
        model.learn_one({0: value}, 1e3)
    with pytest.raises(DataError, match=r"Row 1: .*scale"):
        model.partial_fit([X[0], [value, 0, 0, 0]], [1.0, 1e3])
    assert_same(model, before)


@each_classifier
@each_strategy
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_bad_values_poison_nothing(model, multiclass, bad):
    X, y = binary_stream(104)
    model = model.clone({"multiclass": multiclass}).partial_fit(X, y)
    before = copy.deepcopy(model)
    with pytest.raises(DataError):
        model.learn_one({0: 1.0, 1: bad}, 1)
    X[40, 2] = bad
    for rows in (X, scipy.sparse.csr_array(X), X[40:41]):
        with pytest.raises(DataError, match=r"NaN|infinity|too large"):
            model.partial_fit(rows, y[: rows.shape[0]])
    with pytest.raises(ValueError, match=r"NaN|infinit|finite|label"):
        model.partial_fit(X[:1], [bad] if np.isinf(bad) or np.isnan(bad) else [0.5])
    assert_same(model, before)
    X[40, 2] = 1.0
    assert_same(model.partial_fit(X, y), before.partial_fit(X, y))


@each_classifier
@each_strategy
@pytest.mark.parametrize("new_class", [False, True])
def test_undoing_by_parts_goes_back_to_the_first_visit(model, multiclass, new_class):
    """Few rows of a large model, which share features and move the intercept before one fails."""
    X, y = binary_stream(105, rows=300, features=2000, density=0.01)
    model = model.clone({"multiclass": multiclass, "dtype": "float64"})
    model.partial_fit(scipy.sparse.csr_array(X), np.where(np.arange(300) % 4, y, 2))
    before = copy.deepcopy(model)
    rows = np.zeros((7, 2000))
    rows[:, :5] = np.random.default_rng(105).normal(size=(7, 5))
    rows[6, 7] = 1e200
    labels = [-1, 1, 1, -1, 99 if new_class else 2, 1, 1]
    if model.predict(np.zeros((1, 2000)))[0] == 1:
        labels[6] = -1  # a mistake, which every rule wants to mend
    with pytest.raises(DataError, match=r"Row 6: .*scale"):
        model.partial_fit(scipy.sparse.csr_array(rows), labels)
    assert_same(model, before)
    model.partial_fit(scipy.sparse.csr_array(rows[:6]), labels[:6])
    changed = planes(model)[:6, 0, 1] != planes(before)[:6, 0, 1]
    assert changed.any()  # those rows do move the weights
    assert_same(model, before.partial_fit(scipy.sparse.csr_array(rows[:6]), labels[:6]))


@pytest.mark.parametrize("rows", [3, 40])
def test_undoing_reaches_weights_that_the_rows_do_not_name(rows):
    """A rule that shrinks folds its scale into all weights, wherever the call's rows are."""

    def rule(s):
        if s.zz > 50:
            raise LookupError
        return 1e-3, 1.0

    model = CustomClassifier(rule, fit_intercept=False)
    model.partial_fit(np.eye(200), np.arange(200) % 2)
    before = copy.deepcopy(model)
    X = np.zeros((rows + 1, 200))
    X[:, 0], X[rows, 0] = 1, 100
    with pytest.raises(LookupError):
        model.partial_fit(scipy.sparse.csr_array(X), np.arange(rows + 1) % 2)
    assert_same(model, before)


def test_a_rule_that_grows_its_weights_ends_in_an_error():
    model = CustomClassifier(lambda s: (1e30, 1.0))
    model.learn_one({0: 1.0}, 0)
    model.learn_one({1: 1.0}, 1)
    with pytest.raises(DataError, match="scale"):
        model.partial_fit(np.ones((30, 1)), np.arange(30) % 2)
    for _ in range(30):
        with contextlib.suppress(DataError):
            model.learn_one({0: 1.0}, 1)
    assert_healthy(model)
    assert np.isfinite(model.coef_).all()


def test_a_rule_that_makes_variances_infinite_or_negative_is_refused():
    for kappa in (-1.0, -3.0):
        model = CustomClassifier(lambda s, k=kappa: (0.1, k), "confidence", fit_intercept=False)
        with pytest.raises(DataError):
            model.learn_one({"a": 1.0}, 0)


def test_the_clock_and_the_counts_of_a_refused_row():
    model = Perceptron()
    model.learn_one({"a": 1.0}, 0)
    model.learn_one({"b": 1.0}, 1)
    counts = model.t_, model.n_updates_, model.n_mistakes_, list(model.classes_)
    with pytest.raises(DataError):
        model.learn_one({"c": 3e38}, 2)
    assert (model.t_, model.n_updates_, model.n_mistakes_, list(model.classes_)) == counts
    assert model.feature_names_ == ["a", "b"]


@each_classifier
def test_a_model_that_only_saw_rows_without_weight_has_learned_nothing(model):
    model = model.clone()
    model.partial_fit([[1.0], [2.0]], [0, 1], sample_weight=[0, 0])
    assert model.predict_one({0: 1.0}) is None
    with pytest.raises(DataError.__base__):
        model.predict([[1.0]])
    model.partial_fit([[1.0], [2.0]], [0, 1])
    assert model.predict([[2.0]]).tolist() in ([0], [1])
