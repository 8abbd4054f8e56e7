"""One covariance over the weights of all classes: AROW's own form for many (section 3.3)."""

import numpy as np
import pytest
from contract.support import refuse, save_and_load
from linear_model.oracles import EXACT, assert_same, class_stream, smallest_change, weights
from linear_model.test_rivals import COST, WEIGHTS, signed, steps, stream

from yarrow.errors import ParameterError
from yarrow.evaluate import certificate, record
from yarrow.linear_model import AROWClassifier, StructuredClassifier
from yarrow.linear_model import confidence as confidence_module
from yarrow.linear_model.structured import block_map

JOINT = {"covariance": "joint", **EXACT}


def sigma_of(model):
    """The whole matrix, class by class in the order of appearance, intercepts included."""
    parts = np.asarray(model._model.covariances())
    classes, _, slots, _ = parts.shape
    return parts.transpose(0, 2, 1, 3).reshape(classes * slots, classes * slots)


@pytest.mark.parametrize("cost", [None, COST], ids=["plain", "cost"])
@pytest.mark.parametrize("confidence_r", [None, 2.0])
@pytest.mark.parametrize("how", ["top1", "max_loss", "topk", "all"])
def test_steps_are_argmins_over_all_weights_at_once(how, confidence_r, cost):
    """The means solve (28) for Sigma before the row; the precision grows as in (24) or figure 3."""
    X, y, warm = stream(12)
    r = 0.7
    model = AROWClassifier(r, multiclass=how, k=2, cost=cost, confidence_r=confidence_r, **JOINT)
    expected_sigma = []

    def expected(model, x, c, rivals, asked, i):
        W, sigma = weights(model), sigma_of(model)
        if expected_sigma:
            np.testing.assert_allclose(sigma, expected_sigma[-1], rtol=1e-7, atol=1e-10)
        expected_sigma.append(sigma)
        root = np.linalg.cholesky(sigma)
        start = np.linalg.solve(root, W.ravel())
        wishes = [(root.T @ signed(x, c, k, len(W)).ravel(), asked[k]) for k in rivals]
        if all(z @ start >= target for z, target in wishes):
            return W
        found = root @ smallest_change(start, wishes, price=WEIGHTS[i] / (2 * r), power=2)
        f = signed(x, c, rivals[0], len(W)) if how in ("top1", "max_loss") else np.zeros_like(W)
        if how in ("topk", "all"):
            f[[c, *rivals]] = x
        kappa = WEIGHTS[i] / (confidence_r or r)
        precision = np.linalg.inv(sigma) + kappa * np.outer(f.ravel(), f.ravel())
        expected_sigma[-1] = np.linalg.inv(precision)
        return found.reshape(W.shape)

    several = steps(model, X, y, warm, expected, compare=2e-6)
    assert several >= 3 or how in ("top1", "max_loss")
    between = sigma_of(model)[:4, 4:8]
    assert np.abs(between).max() > 0.01  # classes do share something


def test_the_users_joint_map_gives_the_same():
    X, y = class_stream(71, rows=200)
    labels = np.unique(y).tolist()
    one = AROWClassifier(0.5, multiclass="top1", classes=labels, fit_intercept=False, **JOINT)
    learner = AROWClassifier(0.5, "full", fit_intercept=False, dtype="float64")
    other = StructuredClassifier(learner, block_map, labels=labels)
    for label in labels:  # the map knows all labels from the first row on
        one.learn_one(dict.fromkeys(range(X.shape[1]), 0.0), label)
        other.learn_one(dict.fromkeys(range(X.shape[1]), 0.0), label)
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        one.learn_one(dict(enumerate(x)), label)
        other.learn_one(dict(enumerate(x)), label)
    found = np.array(
        [[other.weights_.get(f"{c}:{j}", 0.0) for j in range(X.shape[1])] for c in labels]
    )
    np.testing.assert_allclose(one.coef_, found, rtol=1e-6, atol=1e-8)


def test_two_classes_are_the_full_covariance_of_their_difference():
    """x on one class and -x on the other: w1 - w0 has twice the variance, as if r were half."""
    X, y = class_stream(72, rows=120, classes=2)
    joint = AROWClassifier(2.0, multiclass="top1", fit_intercept=False, **JOINT)
    full = AROWClassifier(1.0, "full", fit_intercept=False, **EXACT)
    for model in (joint, full):
        model.partial_fit(np.zeros((2, X.shape[1])), [0, 10])  # both classes are there
        model.partial_fit(X, y)
    np.testing.assert_allclose(joint.coef_, full.coef_, rtol=1e-8)
    np.testing.assert_allclose(joint.covariance_, 2 * full.covariance_[0], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(joint.variance_, 2 * full.variance_, rtol=1e-8)


def test_covariance_is_over_coef_in_its_order():
    X, y = class_stream(73)
    model = AROWClassifier(multiclass="all", **JOINT).partial_fit(X, y[::-1])
    matrix = model.covariance_
    assert matrix.shape == (model.coef_.size,) * 2
    np.testing.assert_allclose(np.diag(matrix), model.variance_.ravel(), rtol=1e-12)
    assert (matrix == matrix.T).all()
    assert np.linalg.eigvalsh(matrix).min() > 0
    more = model.clone({"classes": [-5, *np.unique(y).tolist()]}).partial_fit(X, y[::-1])
    assert np.isnan(more.covariance_[:5]).all()
    np.testing.assert_array_equal(more.covariance_[5:, 5:], matrix)


@pytest.mark.parametrize("multiclass", ["top1", "all"])
def test_features_and_classes_may_come_in_any_order_and_features_go(multiclass):
    X, y = class_stream(74, rows=150, features=12, density=0.3)
    dicts = [{f"f{j}": row[j] for j in np.flatnonzero(row)} for row in X]
    grown = AROWClassifier(multiclass=multiclass, **JOINT)
    for row, label in zip(dicts, y.tolist(), strict=True):
        grown.learn_one(row, label)
    known = AROWClassifier(multiclass=multiclass, **JOINT).partial_fit(X, y)
    order = [int(name[1:]) for name in grown.feature_names_]
    np.testing.assert_array_equal(grown.coef_, known.coef_[:, order])
    places = (np.arange(4)[:, None] * 12 + order).ravel()
    np.testing.assert_array_equal(grown.covariance_, known.covariance_[np.ix_(places, places)])
    pruned = AROWClassifier(multiclass=multiclass, max_features=7, when_full="prune", **JOINT)
    for row, label in zip(dicts, y.tolist(), strict=True):
        pruned.learn_one(row, label)
        loaded = save_and_load(pruned) if pruned.t_ % 30 == 0 else pruned
        np.testing.assert_array_equal(loaded._model.covariances(), pruned._model.covariances())
    assert np.linalg.eigvalsh(sigma_of(pruned)).min() > 0


@pytest.mark.parametrize("multiclass", ["top1", "topk"])
def test_a_saved_model_goes_on_in_the_middle_of_waiting_steps(multiclass):
    X, y = class_stream(75, rows=100)
    rows = [dict(enumerate(x)) for x in X.tolist()]
    model = AROWClassifier(covariance="joint", multiclass=multiclass, k=2)
    for row, label in zip(rows[:45], y[:45].tolist(), strict=True):
        model.learn_one(row, label)
    assert model._model.get_state()["joint_covariance_queued"].max() > 0
    loaded = save_and_load(model)
    for each in (model, loaded):
        each.learn_many(_frame(X[45:]), y[45:])
    assert_same(model, loaded)


def _frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=list(range(X.shape[1])))


def test_what_would_not_fit_is_refused_and_leaves_no_trace(monkeypatch):
    n = 3 * 6
    monkeypatch.setattr(confidence_module, "MOST_COVARIANCE_BYTES", 8 * n * (n + 17))
    X, y = class_stream(76)
    model = AROWClassifier(multiclass="top1", **JOINT)
    model.partial_fit(X[y < 30], y[y < 30])
    says = "joint covariance of 5 features and 4 classes would take 7.9 kB"
    refuse(lambda: model.learn_one({0: 1.0}, 30), says, model)
    refuse(lambda: model.partial_fit(X, y), says, model)
    refuse(lambda: model.learn_one({0: 1.0, 7: 1.0}, 0), "joint covariance of", model)
    model.partial_fit(X[y < 30], y[y < 30])


def test_a_call_that_fails_late_takes_back_classes_and_features():
    X, y = class_stream(77)
    model = AROWClassifier(multiclass="all", **JOINT).partial_fit(X[y < 20], y[y < 20])
    rows = [{0: 1.0, 9: 2.0}, {1: 1.0, 11: 1.0}, {0: 1e300}]
    before = model.__getstate__()
    with pytest.raises(ValueError, match="overflow"):
        model.learn_many(rows, [30, 0, 20])
    for name, values in before["_core_state"]["tensors"].items():
        np.testing.assert_array_equal(values, model.__getstate__()["_core_state"]["tensors"][name])
    model.learn_many(rows[:2], [30, 0])
    assert len(model.classes_) == 3


def test_it_keeps_to_theorem_2():
    X, y = class_stream(78, rows=300)
    model = AROWClassifier(0.5, multiclass="top1", fit_intercept=False, **JOINT)
    found = certificate(record(model, X, y))
    assert found.bound.applies, [str(a) for a in found.assumptions if not a.holds]
    assert found.is_valid
    priced = model.clone({"confidence_r": 5.0})
    assert not certificate(record(priced, X, y)).bound.applies


def test_problems_that_are_apart_have_the_full_covariance_each():
    X, y = class_stream(79)
    joint = AROWClassifier(**JOINT).partial_fit(X, y)
    full = AROWClassifier(covariance="full", **EXACT).partial_fit(X, y)
    np.testing.assert_array_equal(joint.covariance_, full.covariance_)
    np.testing.assert_array_equal(joint.coef_, full.coef_)


def test_it_draws_no_weights():
    model = AROWClassifier(covariance="joint", multiclass="all").partial_fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ParameterError, match="predict_drawn"):
        model.predict_drawn([[1.0]])
