"""Many classes: top-1 and one-versus-rest against dense blocks and independent binary models."""

import numpy as np
import pytest
from linear_model.oracles import (
    EXACT,
    binary_stream,
    class_stream,
    gaussian_step,
    planes,
    weights,
    with_constant,
)
from scipy.special import ndtri

from yarrow import load
from yarrow.errors import DataError
from yarrow.linear_model import (
    AROWClassifier,
    CWClassifier,
    FOBOSClassifier,
    OGDClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    RDAClassifier,
    SCWClassifier,
    SOPClassifier,
)

MODELS = [
    Perceptron(**EXACT),
    Perceptron(average=True, **EXACT),
    PassiveAggressiveClassifier(0.1, **EXACT),
    OGDClassifier("logistic", **EXACT),
    SOPClassifier(**EXACT),
    CWClassifier(**EXACT),
    AROWClassifier(covariance="projected", **EXACT),
    AROWClassifier(average=True, **EXACT),
    SCWClassifier(**EXACT),
    FOBOSClassifier(0.01, **EXACT),
    RDAClassifier(0.01, **EXACT),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def rivals(scores, c, known):
    """The best class but c; ties go to the class seen first."""
    others = [k for k in known if k != c]
    return max(others, key=lambda k: scores[k]) if others else None


def dense_top1(X, y, step, projected=False):
    """Blocks of means and variances; `step(margin, zz, v)` gives (alpha, kappa)."""
    rows, known = with_constant(X), []
    K = y.max() + 1
    mu, s = np.zeros((K, rows.shape[1])), np.ones((K, rows.shape[1]))
    for x, c in zip(rows, y, strict=True):
        known += [c] * (c not in known)
        rival = rivals(mu @ x, c, known)
        if rival is None:
            continue
        z = np.zeros_like(mu)
        z[c], z[rival] = x, -x
        v = (s * z**2).sum()
        alpha, kappa = step((z * mu).sum(), (z * z).sum(), v)
        mu = mu + alpha * s * z
        s = s - kappa / (1 + kappa * v) * s**2 * z**2 if projected else 1 / (1 / s + kappa * z**2)
    return mu, s


def test_top1_passive_aggressive_is_the_dense_block_form():
    X, y = class_stream(51, rows=300)
    model = PassiveAggressiveClassifier(0.2, multiclass="top1", **EXACT).partial_fit(X, y)
    expected, _ = dense_top1(X, y // 10, lambda m, zz, v: (min(0.2, max(0, 1 - m) / zz), 0))
    np.testing.assert_allclose(weights(model), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
def test_top1_arow_is_the_dense_block_form(covariance):
    X, y = class_stream(52, rows=300)
    model = AROWClassifier(0.5, covariance, multiclass="top1", **EXACT).partial_fit(X, y)
    mean, variance = dense_top1(
        X,
        y // 10,
        lambda m, zz, v: ((1 - m) / (v + 0.5), 2.0) if m < 1 else (0, 0),
        covariance == "projected",
    )
    np.testing.assert_allclose(weights(model), mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.variance_, variance[:, 1:], rtol=1e-10)


@each_model
def test_one_versus_rest_is_independent_binary_models(model):
    """Although classes appear late, every one is as if it had been known from the first row."""
    X, y = class_stream(53, rows=150)
    many = model.clone().partial_fit(X, y)
    assert len(many.classes_) == 4
    for k, name in enumerate(many.classes_):
        alone = model.clone({"classes": [-1, 1]}).partial_fit(X, np.where(y == name, 1, -1))
        np.testing.assert_array_equal(many.coef_[k], alone.coef_[0])
        assert many.intercept_[k] == alone.intercept_[0]
        np.testing.assert_array_equal(many.decision_function(X)[:, k], alone.decision_function(X))


@each_model
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("classes", [2, 4])
def test_declared_classes_change_nothing(model, multiclass, classes):
    """`classes=` only validates and orders: state, counts and probabilities stay the same."""
    X, y = class_stream(54, rows=120, classes=classes)
    free = model.clone({"multiclass": multiclass}).partial_fit(X, y)
    told = model.clone({"multiclass": multiclass})
    told.partial_fit(X, y, classes=[30, 20, 10, 0][-classes:])
    np.testing.assert_array_equal(free.coef_, told.coef_)
    np.testing.assert_array_equal(free.intercept_, told.intercept_)
    np.testing.assert_array_equal(free.decision_function(X), told.decision_function(X))
    assert free.n_updates_ == told.n_updates_
    assert free.n_mistakes_ == told.n_mistakes_
    if hasattr(free, "predict_proba"):
        np.testing.assert_array_equal(free.predict_proba(X), told.predict_proba(X))


@each_model
def test_two_classes_need_no_declaration(model):
    X, y = binary_stream(59, rows=400, features=6, density=0.7)
    free = model.clone().partial_fit(X, y)
    told = model.clone({"classes": [-1, 1]}).partial_fit(X, y)
    np.testing.assert_array_equal(weights(free), weights(told))


@each_model
def test_three_declared_classes_of_which_two_come(model):
    X, y = class_stream(55, rows=80, classes=2)
    told = model.clone().partial_fit(X, y, classes=[0, 10, 20])
    free = model.clone().partial_fit(X, y)
    assert told.predict(X).tolist() == free.predict(X).tolist()
    assert told._fitted.score_one({0: 1.0}) == free._fitted.score_one({0: 1.0})
    assert told.classes_.tolist() == [0, 10, 20]


@each_model
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("came", [[20], [0, 20], [20, 0], [10, 30, 0]])
def test_a_declared_class_is_there_before_its_first_row(model, multiclass, came, tmp_path):
    """As in scikit-learn: all tables have a line or a column for it."""
    X, _ = class_stream(57, rows=60)
    y = np.array(came)[np.arange(60) % len(came)]
    for declared in ([0, 20], [0, 10, 20, 30]):
        if not set(came) <= set(declared):
            continue
        told = model.clone({"multiclass": multiclass}).partial_fit(X, y, classes=declared)
        assert told.classes_.tolist() == declared
        scores = told.decision_function(X)
        names = np.array(declared)
        best = (scores > 0).astype(int) if len(declared) == 2 else scores.argmax(axis=1)
        assert names[best].tolist() == told.predict(X).tolist()
        if len(declared) > 2:
            unseen = ~np.isin(names, came)
            assert (scores[:, unseen] == -np.inf).all()
            assert np.isfinite(scores[:, ~unseen]).all()
            assert not told.coef_[unseen].any()
            if told.is_exportable:  # else the score is no plane
                by_hand = X @ told.coef_.T + told.intercept_
                np.testing.assert_allclose(scores[:, ~unseen], by_hand[:, ~unseen], atol=1e-12)
            if hasattr(told, "variance_"):
                assert told.variance_.shape == told.coef_.shape
        if hasattr(told, "predict_proba"):
            likely = told.predict_proba(X)
            assert likely.shape == (len(X), len(declared))
            assert not likely[:, ~np.isin(names, came)].any()
            np.testing.assert_allclose(likely.sum(axis=1), 1)
        told.save(tmp_path / "m")
        assert load(tmp_path / "m").classes_.tolist() == declared
        if told.is_exportable:
            told.export(tmp_path / "e")
            assert load(tmp_path / "e").predict(X).tolist() == told.predict(X).tolist()
        for unseen_class in set(declared) - set(came):
            with pytest.raises(DataError, match="has not been seen"):
                told.explain_one({0: 1.0}, unseen_class)


@each_model
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_an_unseen_class_is_never_predicted(model, multiclass):
    X, y = class_stream(56, rows=120)
    model = model.clone({"multiclass": multiclass})
    model.partial_fit(X[:1], y[:1], classes=[0, 10, 20, 30])
    for i in range(1, len(y)):
        seen = set(y[:i].tolist())
        assert set(model.predict(X).tolist()) <= seen
        assert model.predict_one(dict(enumerate(X[i]))) in seen
        assert set(model.classes_.tolist()) == {0, 10, 20, 30}
        model.partial_fit(X[i : i + 1], y[i : i + 1])


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("order", [["b", "a"], ["a", "b"], ["c", "a", "b"], ["b", "c", "a"]])
def test_ties_go_to_the_class_seen_first(multiclass, order):
    model = Perceptron(multiclass=multiclass, fit_intercept=False)
    for place, name in enumerate(order):
        model.learn_one({place: 1.0}, name)
    assert model.predict_one({"unknown": 1.0}) == order[0]
    assert model.classes_.tolist() == sorted(order)


def test_ties_go_to_the_class_seen_first_while_learning():
    model = Perceptron(multiclass="top1", fit_intercept=False)
    for feature, name in enumerate("cab"):
        model.learn_one({feature: 1.0}, name)
    # the third row's scores were all 0: the rival of "b" was "c", not "a"
    assert model.coef_[:, 2].tolist() == [0, 1, -1]
    mistakes = model.n_mistakes_
    model.learn_one({"new": 1.0}, "c")
    assert model.n_mistakes_ == mistakes
    model.learn_one({"newer": 1.0}, "a")
    assert model.n_mistakes_ == mistakes + 1


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_the_layout_follows_the_order_of_appearance_not_the_names(multiclass):
    """Renaming classes permutes the rows of coef_ and changes nothing else."""
    X, y = class_stream(57, rows=100, classes=3)
    names = np.array(["z", "m", "a"])[y // 10]
    one = AROWClassifier(multiclass=multiclass, **EXACT).partial_fit(X, y)
    other = AROWClassifier(multiclass=multiclass, **EXACT).partial_fit(X, names)
    np.testing.assert_array_equal(planes(one), planes(other))
    np.testing.assert_array_equal(one.coef_, other.coef_[::-1])
    expected = np.array(["z", "m", "a"])[one.predict(X) // 10]
    np.testing.assert_array_equal(other.predict(X), expected)


def test_top1_with_two_classes_is_binary_with_doubled_rows():
    """z = (x, -x): the difference of the two weights is a binary PA with |z|^2 = 2 |x|^2."""
    X, y = class_stream(58, rows=100, classes=2)
    model = PassiveAggressiveClassifier(0.2, multiclass="top1", **EXACT).partial_fit(X, y)
    w = np.zeros(6)
    first = y.tolist().index(10)
    for x, label in zip(with_constant(X)[first:], y[first:], strict=True):
        z = x if label == 10 else -x
        w = w + 2 * min(0.2, max(0, 1 - z @ w) / (2 * z @ z)) * z
    np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), with_constant(X) @ w, atol=1e-10)


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
@pytest.mark.parametrize("variant", ["scw1", "scw2"])
def test_top1_scw_steps_are_argmins(variant, covariance):
    """The paper's problem over Gaussians, for x on the true class and -x on its best rival."""
    X, y = class_stream(60, rows=80, features=3, classes=3)
    order = np.random.default_rng(61).permutation(len(y))
    X, y = X[order], y[order]
    rows, phi = with_constant(X), ndtri(0.9)
    sample_weight = np.random.default_rng(60).choice([0.5, 1.0, 2.0], len(y))
    model = SCWClassifier(0.3, 0.9, variant, covariance, multiclass="top1", **EXACT)
    warm = max(y.tolist().index(name) for name in (0, 10, 20)) + 1
    model.partial_fit(X[:warm], y[:warm])
    seen = model._model.classes
    assert len(seen) == 3
    updates = 0
    for i in range(warm, len(y)):
        mu, s = (planes(model)[:, plane, :].T for plane in (0, 1))
        c = seen.index(y[i])
        rival = rivals(mu @ rows[i], c, range(3))
        z = np.zeros_like(mu)
        z[c], z[rival] = rows[i], -rows[i]
        m, v = (z * mu).sum(), (z * z * s).sum()
        alpha = kappa = 0.0
        if phi * np.sqrt(v) > m:
            updates += 1
            alpha, kappa = gaussian_step(
                m,
                v,
                shortfall=lambda m, v: phi * np.sqrt(v) - m,
                price=0.3 * sample_weight[i],
                power={"scw1": 1, "scw2": 2}[variant],
            )
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=sample_weight[i : i + 1])
        mean, variance = (planes(model)[:, plane, :].T for plane in (0, 1))
        np.testing.assert_allclose(mean, mu + alpha * s * z, rtol=0, atol=1e-6)
        narrowed = (
            1 / (1 / s + kappa * z**2)
            if covariance == "diagonal"
            else s - kappa / (1 + kappa * v) * s**2 * z**2
        )
        np.testing.assert_allclose(variance, narrowed, rtol=1e-6)
    assert updates > 5


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_while_one_class_is_known_it_is_predicted_and_coef_speaks_for_it(multiclass):
    X = np.array([[1.0, 0.0], [1.0, 0.5], [-1.0, 0.0]])
    model = AROWClassifier(multiclass=multiclass).partial_fit(X[:2], ["a", "a"])
    assert model.predict(X).tolist() == ["a"] * 3
    assert (model.decision_function(X) <= 0).all()  # above 0 would be the second class
    if multiclass == "ovr":  # with rivals, a class without one has nothing to learn
        assert (model.decision_function(X[:2]) < 0).all()
        assert (X[:2] @ model.coef_[0] + model.intercept_ > 0).all()
    model.partial_fit(X[2:], ["b"])
    assert model.predict(X).tolist() == ["a", "a", "b"]


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize(("seen", "above"), [("a", False), ("b", True)])
def test_of_two_declared_classes_the_one_that_was_seen_is_decided_for(seen, above, multiclass):
    model = PassiveAggressiveClassifier(classes=["a", "b"], multiclass=multiclass)
    model.partial_fit([[1.0, 0.0], [0.5, 1.0]], [seen, seen])
    scores = model.decision_function([[1.0, 0.0], [0.0, 1.0], [-3.0, -3.0]])
    assert ((scores > 0) == above).all()
    assert model.predict([[1.0, 0.0], [-3.0, -3.0]]).tolist() == [seen, seen]


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_progressive_scores_of_two_declared_classes_are_decisions(multiclass):
    X, y = binary_stream(40)
    labels = np.where(y > 0, "b", "a")
    model, other = (AROWClassifier(multiclass=multiclass, **EXACT) for _ in range(2))
    told = model.progressive(X, labels, classes=["a", "b"]).scores[:, 0]
    expected = np.full(len(labels), np.nan)
    for i, label in enumerate(labels):
        if len(set(labels[:i])) == 2:
            expected[i] = other.decision_function(X[i : i + 1])[0]
        other.partial_fit(X[i : i + 1], [label], classes=["a", "b"])
    np.testing.assert_array_equal(told, expected)


def test_twenty_features_are_shown_unless_another_number_is_asked_for():
    model = Perceptron().partial_fit(np.eye(30), np.arange(30) % 2)
    assert len(model.top_features()) == 20
    assert len(model.top_features(3)) == 3
