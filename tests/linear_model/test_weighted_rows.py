"""Sample weights, class weights and the intercept mean the same for every learner."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, assert_same, class_stream, weights

from yarrow.errors import YarrowError
from yarrow.linear_model import (
    AROWClassifier,
    CWClassifier,
    FOBOSClassifier,
    OGDClassifier,
    OGDRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    RDAClassifier,
    SCWClassifier,
    SOPClassifier,
)

CLASSIFIERS = [
    Perceptron(average=True),
    PassiveAggressiveClassifier(0.1),
    PassiveAggressiveClassifier(0.1, "pa2"),
    OGDClassifier("logistic"),
    SOPClassifier(),
    CWClassifier(),
    AROWClassifier(),
    AROWClassifier(loss="hinge", average=True),
    SCWClassifier(),
    FOBOSClassifier(0.01),
    RDAClassifier(0.01),
]
REGRESSORS = [PassiveAggressiveRegressor(), OGDRegressor(average=True)]
each_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
each_regressor = pytest.mark.parametrize("model", REGRESSORS, ids=repr)
each_strategy = pytest.mark.parametrize("multiclass", ["ovr", "top1"])


@each_classifier
@each_strategy
def test_a_row_without_weight_is_absent(model, multiclass):
    """It moves no clock and makes no class."""
    X, y = class_stream(81, rows=90)
    absent = np.arange(len(y)) % 4 == 3
    y[absent & (y == 10)] = 99  # a class that only rows without weight have
    model = model.clone({"multiclass": multiclass})
    expected = model.clone().partial_fit(X[~absent], y[~absent])
    assert_same(model.clone().partial_fit(X, y, sample_weight=~absent), expected)
    assert 99 not in expected.classes_
    one_by_one = model.clone().partial_fit(X[:1], y[:1])
    for x, label, gone in zip(X[1:], y[1:], absent[1:], strict=True):
        one_by_one.learn_one(dict(enumerate(x.tolist())), int(label), 0.0 if gone else 1.0)
    np.testing.assert_array_equal(one_by_one.coef_, expected.coef_)
    assert one_by_one.t_ == expected.t_ == np.sum(~absent)


@each_regressor
def test_a_row_without_weight_is_absent_in_regression(model):
    X, _ = class_stream(82)
    y, absent = X[:, 0] + 1, np.arange(len(X)) % 4 == 3
    one = model.clone().partial_fit(X, y, sample_weight=~absent)
    assert_same(one, model.clone().partial_fit(X[~absent], y[~absent]))


@each_classifier
@each_strategy
def test_class_weights_are_weights_of_rows(model, multiclass):
    X, y = class_stream(83)
    sample_weight = np.random.default_rng(83).choice([0.5, 1.0, 3.0], len(y))
    by_class = model.clone({"multiclass": multiclass, "class_weight": {0: 2.0, 30: 0.25}})
    by_class.partial_fit(X, y, sample_weight=sample_weight)
    factor = np.select([y == 0, y == 30], [2.0, 0.25], 1.0)
    by_row = model.clone({"multiclass": multiclass})
    by_row.partial_fit(X, y, sample_weight=factor * sample_weight)
    np.testing.assert_array_equal(weights(by_class), weights(by_row))
    unweighted = model.clone({"multiclass": multiclass}).partial_fit(X, y)
    if not isinstance(model, CWClassifier):  # whose hard constraint has no price
        assert not np.array_equal(weights(by_class), weights(unweighted))


@each_classifier
def test_balanced_weights_are_inverse_frequencies(model):
    X, y = class_stream(84)
    labels, counts = np.unique(y, return_counts=True)
    told = dict(zip(labels.tolist(), (len(y) / (len(labels) * counts)).tolist(), strict=True))
    one = model.clone({"class_weight": "balanced"}).fit(X, y)
    other = model.clone({"class_weight": told}).fit(X, y)
    np.testing.assert_array_equal(weights(one), weights(other))


@each_classifier
@each_strategy
def test_the_intercept_is_a_feature_of_stated_value(model, multiclass):
    X, y = class_stream(85)
    if isinstance(model, FOBOSClassifier | RDAClassifier):
        model = model.clone({"l1": 0.0})  # where the intercept is not pulled
    with_column = np.hstack([X, np.full((len(X), 1), 0.25)])
    model = model.clone({"multiclass": multiclass, **EXACT})
    one = model.clone({"intercept_scaling": 0.25}).partial_fit(X, y)
    other = model.clone({"fit_intercept": False}).partial_fit(with_column, y)
    np.testing.assert_allclose(one.coef_, other.coef_[:, :-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.intercept_, 0.25 * other.coef_[:, -1], rtol=1e-9, atol=1e-12)
    assert not other.intercept_.any()
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(with_column), rtol=1e-9, atol=1e-12
    )


@each_regressor
def test_the_intercept_is_a_feature_in_regression(model):
    X, _ = class_stream(86)
    y = X[:, 0] + 1
    with_column = np.hstack([X, np.full((len(X), 1), 0.25)])
    one = model.clone({"intercept_scaling": 0.25, **EXACT}).partial_fit(X, y)
    other = model.clone({"fit_intercept": False, **EXACT}).partial_fit(with_column, y)
    np.testing.assert_allclose(one.coef_, other.coef_[:-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.predict(X), other.predict(with_column), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=repr)
def test_a_weight_that_is_none_is_refused(model, weight):
    model = model.clone().partial_fit([[1.0], [2.0]], [0, 1])
    before = model.clone(include_attributes=True)
    with pytest.raises(YarrowError, match=r"[wW]eight"):
        model.learn_one({0: 1.0}, 1, weight)
    with pytest.raises(YarrowError, match=r"[wW]eight"):
        model.partial_fit([[1.0]], [1], sample_weight=[weight])
    assert_same(model, before)
