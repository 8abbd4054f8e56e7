"""Probabilities: honest on data whose noise is known, and consistent with the predictions."""

import numpy as np
import pytest
from linear_model.oracles import class_stream
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import erf, expit, ndtr
from sklearn.datasets import make_classification

from yarrow import YarrowClassifier
from yarrow import load as load_model
from yarrow.datasets import load
from yarrow.datasets.catalogue import declared
from yarrow.linear_model import (
    AROWClassifier,
    CWClassifier,
    OGDClassifier,
    SCWClassifier,
    SOPClassifier,
)

PROBABILISTIC = [
    AROWClassifier(),
    AROWClassifier(covariance="projected", average=True),
    AROWClassifier(loss="hinge"),
    CWClassifier(),
    CWClassifier(variant="variance"),
    SCWClassifier(),
    SCWClassifier(variant="scw2"),
    SOPClassifier(),
    OGDClassifier("logistic"),
]
each_model = pytest.mark.parametrize("model", PROBABILISTIC, ids=repr)


def noisy_problem(seed, rows, features=20, classes=2):
    """Gaussian rows; a label is drawn from known probabilities, so none can be sure."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    scores = X @ random.normal(size=(features, classes)) / np.sqrt(features) * 2
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) > random.random((rows, 1))).argmax(axis=1)
    return X, y


def calibration_error(said, happened, bins=10):
    """Mean distance of what was said and what happened, over bins of what was said."""
    place = np.minimum((said * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    gap = np.bincount(place, said, bins) - np.bincount(place, happened, bins)
    return np.abs(gap[count > 0]).sum() / len(said)


@pytest.mark.parametrize(
    "model",
    [
        AROWClassifier(10.0),
        AROWClassifier(covariance="projected"),
        AROWClassifier(loss="hinge"),
        SCWClassifier(0.01),
        OGDClassifier("logistic", average=True),
    ],
    ids=repr,
)
def test_two_classes_with_known_noise(model):
    X, y = noisy_problem(91, 14000)
    model = model.clone().partial_fit(X[:10000], y[:10000])
    said = model.predict_proba(X[10000:])[:, 1]
    error = calibration_error(said, y[10000:])
    assert error < 0.05
    assert said.std() > 0.1  # not the base rate for everyone
    if not isinstance(model, OGDClassifier):
        scores, variances = model._scores(X[10000:])
        raw = ndtr(scores[:, 1] / np.sqrt(variances[:, 1]))
        assert error < calibration_error(raw, y[10000:]) / 3


@pytest.mark.parametrize("seed", [91, 1, 2, 3])
@pytest.mark.parametrize(
    "model", [AROWClassifier(10.0), AROWClassifier(), SCWClassifier()], ids=repr
)
def test_probabilities_tell_sure_rows_from_unsure_ones(model, seed):
    """The same probability for everyone can be calibrated, too; it says nothing."""
    X, y = noisy_problem(seed, 14000)
    model = model.clone().partial_fit(X[:10000], y[:10000])
    p = model.predict_proba(X[10000:])[np.arange(4000), y[10000:]]
    sureness = np.maximum(p, 1 - p)
    assert sureness.std() > 0.05
    right = np.mean(p > 0.5)
    the_same_for_all = -right * np.log(right) - (1 - right) * np.log(1 - right)
    assert -np.mean(np.log(p)) < the_same_for_all - 0.02


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("classes", [3, 8])
def test_many_classes_with_known_noise(multiclass, classes):
    X, y = noisy_problem(92, 14000, classes=classes)
    model = AROWClassifier(10.0, multiclass=multiclass).partial_fit(X[:10000], y[:10000])
    said = model.predict_proba(X[10000:])
    top = said.argmax(axis=1)
    right = model.classes_[top] == y[10000:]
    assert calibration_error(said.max(axis=1), right) < 0.08


@each_model
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_probabilities_are_consistent(model, multiclass, classes):
    X, y = class_stream(93, rows=200, features=6, classes=classes)
    model = model.clone({"multiclass": multiclass}).partial_fit(X, y)
    table = model.predict_proba(X)
    assert table.shape == (len(X), classes)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[table.argmax(axis=1)], model.predict(X))
    by_name = model.predict_proba_one(dict(enumerate(X[7].tolist())))
    assert list(map(by_name.get, model.classes_.tolist())) == pytest.approx(table[7].tolist())


@each_model
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_probabilities_rise_with_the_margin(model, multiclass):
    """With the score, and where the model knows its deviation, with the score in its units."""
    X, y = class_stream(94, rows=200, classes=2)
    model = model.clone({"multiclass": multiclass}).partial_fit(X, y)
    margins, variances = model.decision_function(X), model._scores(X)[1]
    if not isinstance(model, OGDClassifier):
        margins = margins / np.sqrt(variances.sum(axis=1))
    in_order = model.predict_proba(X)[np.argsort(margins), 1]
    assert (np.diff(in_order) >= -1e-12).all()
    assert in_order[-1] > 0.5 > in_order[0]


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_logistic_probabilities_are_those_of_the_loss(multiclass):
    X, y = class_stream(95, rows=200, classes=2)
    model = OGDClassifier("logistic", multiclass=multiclass).partial_fit(X, y)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, expit(model.decision_function(X)), rtol=1e-6)


def test_there_are_no_probabilities_without_a_logistic_loss():
    for loss in ("hinge", "squared_hinge", "squared"):
        model = OGDClassifier(loss).partial_fit([[0.0], [1.0]], [0, 1])
        assert not hasattr(model, "predict_proba")
        with pytest.raises(NotImplementedError):
            model.predict_proba_one({0: 1.0})


@each_model
def test_extreme_rows_keep_probabilities_finite(model):
    X, y = class_stream(96, rows=100, classes=3)
    model = model.clone().partial_fit(X, y)
    table = model.predict_proba(np.vstack([1e30 * X[:5], 1e-30 * X[:5], 0 * X[:1]]))
    assert np.isfinite(table).all()
    np.testing.assert_allclose(table.sum(axis=1), 1)


# -- the fit ---------------------------------------------------------------------------------------

_BINS = np.arange(96) + 0.5
MARGINS = np.sinh(np.where(_BINS < 64, _BINS * 0.25, 16 + (_BINS - 64) * 1.5)) / 8


def evidence(log_c, lapse, right, wrong, chance):
    """What the fit makes as large as it can, as core/state/calibration.hpp states it."""
    rows = right + wrong
    typical = np.sum(rows * np.log(MARGINS)) / (1 + rows.sum())
    gain = erf(np.exp(log_c) * MARGINS / np.sqrt(2))
    gain[-1] = 1  # the last bin has all margins beyond it, too
    p = chance + (1 - lapse - chance) * gain
    away = log_c + typical - np.log(0.6744897501960817)
    prior = 0.1 * np.log(lapse) - (np.sqrt(1 + 2 * away**2) - 1)
    return np.sum(right * np.log(p) + wrong * np.log1p(-p)) + prior


def refitted(right, wrong, classes):
    """The scale and lapse that a model takes, one row after it kept this histogram."""
    model = AROWClassifier(multiclass="top1" if classes > 2 else "ovr")
    X, y = np.eye(classes), np.arange(classes)
    model.partial_fit(X, y)
    state = model._model.get_state()
    scalars = np.array(state["scalars"])
    scalars[9] = model.t_ + 1  # the next fit
    kept = {"scalars": scalars, "calibration_right": right, "calibration_wrong": wrong}
    model._model.set_state({**state, **kept}, model._model.classes)
    model.partial_fit(X[:1], y[:1])
    after = model._model.get_state()
    tables = [np.array(after[f"calibration_{kind}"]) for kind in ("right", "wrong")]
    counted = [2 * np.pad(table, (0, len(MARGINS) - len(table))) for table in tables]
    return model._model.calibration, counted


def random_histogram(random, classes):
    """Rows of a model of some scale, lapse and spread of margins, or of none."""
    kind = random.integers(4)
    rows = int(10 ** random.uniform(0.5, 5))
    q = np.exp(random.normal(random.uniform(-3, 25), random.uniform(0.1, 2), rows))
    p = np.full(rows, random.uniform(1 / classes, 1))  # margins that tell nothing
    if kind > 0:
        lapse = random.choice([0.0, 1e-3, 0.05, 0.4])
        scale = np.exp(random.normal(0, 1.5)) / np.median(q)
        p = 1 / classes + (1 - lapse) * (1 - 1 / classes) * erf(scale * q / np.sqrt(2))
    is_right = random.random(rows) < p
    place = np.arcsinh(8 * q) / 0.25
    place = np.minimum(np.where(place < 64, place, 64 + (place - 64) / 6), 95).astype(int)
    if kind == 3:
        place = np.where(random.random(rows) < 0.1, random.integers(0, 96, rows), place)
    right, wrong = (np.bincount(place[part], minlength=96) for part in (is_right, ~is_right))
    return right.astype(float), wrong.astype(float)


@pytest.mark.parametrize("seed", range(60))
def test_the_fit_is_the_best_there_is(seed):
    """No scale and lapse that SciPy finds, from many starts, are likelier by more than a trifle."""
    random = np.random.default_rng(seed)
    classes = int(random.choice([2, 3, 6, 20]))
    (c, lapse), (right, wrong) = refitted(*random_histogram(random, classes), classes)
    chance = 1 / classes
    least, most = (1 - chance) * 1e-9, (1 - chance) * 0.95

    def worth(point):
        log_lapse = np.clip(point[1], np.log(least), np.log(most))
        return -evidence(point[0], np.exp(log_lapse), right, wrong, chance)

    rows = right + wrong
    centre = np.log(0.674) - np.sum(rows * np.log(MARGINS)) / (1 + rows.sum())
    found = [
        minimize(worth, [centre + shift, np.log(lapse_0)], method="Nelder-Mead").fun
        for shift in (-8, -4, -2, -1, 0, 1, 2, 4, 8)
        for lapse_0 in (1e-4, 0.03, 0.3)
    ]
    assert least * (1 - 1e-6) <= lapse <= most * (1 + 1e-6)
    trifle = 0.01 + 1e-5 * rows.sum()
    assert evidence(np.log(c), lapse, right, wrong, chance) > -min(found) - trifle


# -- probabilities that say something --------------------------------------------------------------


def six_classes():
    return make_classification(
        8000, 12, n_informative=8, n_classes=6, n_clusters_per_class=1, class_sep=1.6, flip_y=0,
        random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [YarrowClassifier(), AROWClassifier(), AROWClassifier(multiclass="top1"), CWClassifier()],
    ids=repr,
)
def test_many_classes_are_told_apart_and_none_is_ruled_out(model):
    X, y = six_classes()
    told = model.clone().progressive(X, y, classes=np.unique(y), probabilities=True)
    c, lapse = model.clone().partial_fit(X, y)._model.calibration
    assert c < 10
    assert lapse < 0.04
    likely = told.probabilities[4000:]
    true = likely[np.arange(4000), y[4000:]]
    right = told.predictions[4000:] == y[4000:]
    error = 1 - np.mean(right)
    # One probability for all that are best, and equal shares of the rest, would cost this much.
    flat = -(1 - error) * np.log(1 - error) - error * np.log(error / 5)
    assert -np.mean(np.log(true)) < 0.75 * flat
    third = np.sort(likely, axis=1)[:, -3]
    said = np.mean(np.sort(likely, axis=1)[:, :-2].sum(axis=1))  # neither the best nor the second
    happened = np.mean(true < np.sort(likely, axis=1)[:, -2])
    assert third.min() > 1e-6
    chance = 2 * np.sqrt(happened / len(true))  # a few dozen rows
    assert 0.5 * (happened - chance) < said < 5 * (happened + chance)


def real(name, rows):
    if not declared(name).is_here():
        pytest.skip(f"{name} is not in YARROW_DATA")
    data = load(name)
    return data.X[:rows], np.asarray(data.y[:rows])


STREAMS = ["a9a", "electricity", "mnist", "usps", "sms-spam", "20newsgroups/sb-8-1"]
LEARNERS = [YarrowClassifier(), AROWClassifier(), SCWClassifier(), CWClassifier()]
#: Columns of unequal size are beyond these two: their margins there tell nothing.
FEWER = {"SCWClassifier": [n for n in STREAMS if n != "electricity"], "CWClassifier": STREAMS[-3:]}


@pytest.mark.parametrize(
    ("model", "name"),
    [(m, name) for m in LEARNERS for name in FEWER.get(type(m).__name__, STREAMS)],
    ids=repr,
)
def test_surer_tenths_are_right_more_often(model, name):
    """Of rows in the order of their probability, as far as chance does not reverse two tenths."""
    X, y = real(name, 6000)
    told = model.clone().progressive(X, y, classes=np.unique(y), probabilities=True)
    sure, right = told.probabilities[1000:].max(axis=1), (told.predictions == y)[1000:]
    order = np.argsort(sure, kind="stable")
    tenths = [np.mean(right[part]) for part in np.array_split(order, 10)]
    noise = 3 * np.sqrt(2 * np.mean(right) * (1 - np.mean(right)) / (len(order) / 10))  # of two
    assert np.all(np.diff(tenths) > -noise)
    assert tenths[-1] > tenths[0] + noise
    # and not one value for all: the surest tenth and the least sure one are said to differ
    said = [np.mean(sure[part]) for part in np.array_split(order, 10)]
    assert said[-1] - said[0] > 0.3 * (tenths[-1] - tenths[0])


@pytest.mark.parametrize("model", LEARNERS[:3], ids=repr)
@pytest.mark.parametrize("name", ["a9a", "mushrooms", "sms-spam", "splice", "svmguide1"])
def test_two_classes_are_ordered_as_their_margins(model, name):
    """Strictly, where margins differ noticeably and are not so large that a row is sure anyway."""
    X, y = real(name, 4000)
    model = model.clone().partial_fit(X, y)
    scores, variances = model._scores(X)
    margins = scores[:, 1] / np.sqrt(variances[:, 1])
    order = np.argsort(margins)
    second = model.classes_.tolist().index(model._model.classes[1])
    margins, said = margins[order], model.predict_proba(X)[order, second]
    assert (np.diff(said) >= 0).all()
    sure = 4 / model._model.calibration[0]
    unsure = np.abs(margins) < sure
    some = np.flatnonzero(unsure)[:: max(1, unsure.sum() // 50)]
    apart = np.diff(margins[some]) > 0.001 * sure
    assert (np.diff(said[some])[apart] > 0).all()
    assert unsure.mean() > 0.01  # of mushrooms nearly all are sure


@pytest.mark.parametrize("model", [AROWClassifier(), CWClassifier(), SCWClassifier()], ids=repr)
@pytest.mark.parametrize("weight", [1e300, 1e307])
def test_rows_of_any_weight_leave_probabilities_and_a_file_that_loads(model, weight, tmp_path):
    X, y = noisy_problem(3, 400)
    model = model.clone().partial_fit(X, y, sample_weight=np.full(len(y), weight))
    likely = model.predict_proba(X)
    assert np.isfinite(likely).all()
    assert np.allclose(likely.sum(axis=1), 1)
    model.save(tmp_path / "heavy.yarrow")
    assert np.array_equal(load_model(tmp_path / "heavy.yarrow").predict_proba(X), likely)


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_two_classes_by_the_formula(multiclass):
    X, y = noisy_problem(91, 3000)
    model = AROWClassifier(multiclass=multiclass).partial_fit(X, y)
    rows = np.vstack([X, np.zeros_like(X[:1])])
    scores, variances = model._scores(rows)
    variances[-1] = scores[-1] = 0  # a row of which nothing is known
    c, lapse = model._fitted.calibration
    margin, variance = scores[:, 1], variances[:, 1]
    if multiclass == "top1":
        margin, variance = margin - scores[:, 0], variance + variances[:, 0]
    q = np.divide(margin, np.sqrt(variance), out=np.zeros_like(margin), where=variance > 0)
    second = 0.5 + (0.5 - lapse) * erf(c * q / np.sqrt(2))
    found = model._probabilities(scores, variances)
    assert_allclose(found[:, 1], second, atol=1e-9)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-15)
    order = [model._fitted.classes.index(label) for label in model.classes_]
    assert_array_equal(found[:-1, order], model.predict_proba(X))


def test_of_equal_scores_the_predicted_class_is_the_most_probable():
    model = AROWClassifier(fit_intercept=False).partial_fit(np.eye(3), ["c", "a", "b"])
    table, labels = model.predict_proba(np.zeros((1, 3))), model.predict(np.zeros((1, 3)))
    assert labels.tolist() == ["c"]  # the one that was seen first
    assert model.classes_[table.argmax(axis=1)].tolist() == ["c"]
