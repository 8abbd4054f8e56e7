"""Every kernel classifier, found by itself: both interfaces, one result, files, bad input."""

from __future__ import annotations

import contextlib
import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import (
    as_dicts,
    classification,
    failed_checks,
    save_and_load,
    shared_by_threads,
)
from river import checks
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from yarrow import Perceptron, evaluate, kernel
from yarrow.errors import DataError, ModelFileError, NotFittedError, ParameterError, YarrowError
from yarrow.saving import model_file

CLASSES = [getattr(kernel, name) for name in kernel.__all__]
#: on rows of -1, 0 and 1 many scores are equal but for rounding, which the order of features moves
ROUNDING_DECIDES = {"KernelAROWClassifier": {"check_shuffle_features_no_impact"}}
X, Y = classification(150, 8, 3, seed=4)


@pytest.fixture(params=CLASSES, ids=lambda cls: cls.__name__)
def kernel_class(request):
    return request.param


def learned(model):
    """Return all that a model has learned, bit for bit."""
    tensors = {k: (v.shape, v.tobytes()) for k, v in model._fitted.tensors().items()}
    return tensors | {"classes": model._fitted.classes}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.SkipTestWarning")
def test_all_checks_of_scikit_learn_pass(kernel_class):
    passes = {"max_iter": 1} if kernel_class is kernel.KernelAROWClassifier else {}  # it is slow
    results = check_estimator(kernel_class(**passes), on_skip=None, on_fail=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert len(results) > 50
    assert failed.keys() <= kernel_class.expected_failed_checks.keys(), failed


def test_all_checks_of_river_pass(kernel_class):
    model = kernel_class(budget=10)
    found = list(checks.yield_checks(model))
    assert len(found) > 25
    # This one takes minutes; test_the_budget_is_never_exceeded asks the same.
    asked = [check for check in found if check.__name__ != "check_bounded_memory_growth"]
    failed = failed_checks(asked, model.clone)
    assert failed.keys() <= ROUNDING_DECIDES.get(kernel_class.__name__, set()), failed


@pytest.mark.parametrize("name", ["rbf", "linear", "polynomial"])
def test_one_result_by_every_route(kernel_class, name):
    def fresh():
        return kernel_class(kernel=name, gamma=0.5, budget=23)

    expected = learned(fresh().partial_fit(X, Y))
    by_rows = fresh()
    for row, label in zip(as_dicts(X), Y.tolist(), strict=True):
        by_rows.learn_one(row, label)
    assert learned(by_rows) == expected
    for form in (sp.csr_matrix, np.asarray, lambda part: part.astype(np.float32)):
        model = fresh()
        for at in range(0, len(X), 7):
            model.partial_fit(form(X[at : at + 7]), Y[at : at + 7])
        assert learned(model) == expected
    for interruption in (
        save_and_load,
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
    ):
        model = fresh().partial_fit(X[:70], Y[:70])
        assert learned(interruption(model).partial_fit(X[70:], Y[70:])) == expected


def test_words_in_lists_are_the_words_in_a_table(kernel_class, monkeypatch):
    """A large vocabulary is kept in another layout; the functions stay the same."""
    dense = kernel_class(kernel="linear", budget=30).partial_fit(X, Y)
    monkeypatch.setattr(kernel.support, "MOST_DENSE_BYTES", 2000)
    lists = kernel_class(kernel="linear", budget=30).partial_fit(X, Y)
    assert type(dense._fitted.supports.layout) is not type(lists._fitted.supports.layout)
    np.testing.assert_allclose(lists.dual_coef_, dense.dual_coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(lists.decision_function(X), dense.decision_function(X), atol=1e-8)


def test_the_budget_is_never_exceeded(kernel_class):
    model = kernel_class(budget=5)
    for row, label in zip(as_dicts(X), Y.tolist(), strict=True):
        model.learn_one(row, label)
        assert model.n_support_ <= 5
    names = {name for row in model.support_vectors_ for name in row}
    assert set(model._fitted.supports._lines) == names, "features of rows gone are forgotten"
    before = model._raw_memory_usage
    model.partial_fit(np.tile(X, (3, 1)), np.tile(Y, 3))
    assert model._raw_memory_usage <= 1.5 * before


@pytest.mark.parametrize("delay", [0, 7])
def test_progressive_is_predicting_and_learning_row_by_row(kernel_class, delay):
    weights = np.random.default_rng(3).integers(0, 3, len(X)).astype(float)
    model = kernel_class(gamma=0.5, budget=30)
    told = model.progressive(X, Y, weights, delay=delay)
    slow, said = kernel_class(gamma=0.5, budget=30), []
    for i in range(len(X) + delay):
        if i < len(X):
            said.append(slow.predict_one(as_dicts(X[i : i + 1])[0]))
        if i >= delay:
            at = i - delay
            slow.partial_fit(X[at : at + 1], Y[at : at + 1], sample_weight=weights[at : at + 1])
    assert told.predictions.tolist() == said
    assert learned(model) == learned(slow)
    assert told.classes.tolist() == [0, 1, 2]
    known = ~np.isnan(told.scores).any(axis=1)
    assert (
        told.classes[told.scores[known].argmax(axis=1)].tolist() == np.array(said)[known].tolist()
    )
    again = evaluate.progressive(kernel_class(gamma=0.5, budget=30), X, Y, delay=delay)
    assert again.predictions.tolist() != [None] * len(X)
    before = learned(model)
    with pytest.raises(YarrowError, match="The delay must"):
        model.progressive(X, Y, delay=-1)
    with pytest.raises(YarrowError, match="row 149"):
        model.set_params(classes=[0, 1, 2]).progressive(X, np.append(Y[:-1], 9))
    assert learned(model) == before


def test_an_error_names_the_row_though_fit_shuffles(kernel_class):
    for place in (3, 77):
        labels = Y.copy()
        labels[place] = 9
        with pytest.raises(DataError, match=f"^row {place}: The class 9 is not one") as error:
            kernel_class(classes=[0, 1, 2]).fit(X, labels)
        assert error.value.row == place


def test_classes_may_come_late(kernel_class):
    order = np.argsort(Y, kind="stable")
    late = kernel_class(gamma=0.5).partial_fit(X[order], Y[order])
    assert late.classes_.tolist() == [0, 1, 2]
    model = kernel_class(classes=[0, 1])
    model.partial_fit(X[Y < 2], Y[Y < 2])
    before = learned(model)
    with pytest.raises(YarrowError, match="2 is not one of the declared"):
        model.partial_fit(X[:9], Y[:9])
    assert learned(model) == before


BAD_ROWS = {
    "NaN at row 1, column 2": np.where(np.arange(8) == 2, np.nan, 1.0),
    "infinity at row 1, column 2": np.where(np.arange(8) == 2, np.inf, 1.0),
}


@pytest.mark.parametrize("says", BAD_ROWS)
def test_bad_rows_change_nothing(kernel_class, says):
    model = kernel_class(budget=20).partial_fit(X, Y)
    before = learned(model)
    rows = np.vstack([X[:1], BAD_ROWS[says], X[:1]])
    for form in (np.asarray, sp.csr_matrix):
        with pytest.raises(YarrowError, match=says):
            model.partial_fit(form(rows), [0, 1, 2])
        with pytest.raises(YarrowError, match=says):
            model.predict(form(rows))
    for row in ({"a": np.nan}, {1.5: 1.0}, {"a": 10**400}, [1.0]):
        with pytest.raises(YarrowError):
            model.learn_one(row, 1)
    with pytest.raises(YarrowError):
        model.learn_one({"a": 1.0}, None)
    with pytest.raises(YarrowError):
        model.learn_one({"a": 1.0}, 1, w=-1.0)
    assert learned(model) == before


def test_rows_of_different_sizes_cannot_overflow_unseen(kernel_class):
    model = kernel_class(kernel="polynomial", degree=9).partial_fit(X, Y)
    before = learned(model)
    with pytest.raises(YarrowError, match=r"row 1: .*too large"):
        model.partial_fit(np.vstack([X[:1], np.full((1, 8), 1e60)]), [0, 1])
    assert learned(model) == before


def test_a_kernel_of_ones_own(kernel_class, tmp_path):
    def product(x, s):
        return sum(value * s.get(name, 0.0) for name, value in x.items())

    own = kernel_class(kernel=product, budget=20).partial_fit(X, Y)
    linear = kernel_class(kernel="linear", budget=20).partial_fit(X, Y)
    np.testing.assert_allclose(own.decision_function(X), linear.decision_function(X), atol=1e-8)
    own.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"kernel=\.\.\. to load"):
        kernel_class.load(tmp_path / "model")
    again = kernel_class.load(tmp_path / "model", kernel=product)
    assert learned(again) == learned(own)


def test_damaged_files_are_refused(kernel_class, tmp_path):
    model = kernel_class(budget=20).partial_fit(X, Y)
    path = tmp_path / "model"
    model.save(path)
    content = path.read_bytes()
    for damaged in (content[:-9], content[:200], b"nonsense"):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            kernel_class.load(path)
    path.write_bytes(content)
    other = next(cls for cls in CLASSES if cls is not kernel_class)
    with pytest.raises(ModelFileError, match=f"not a {other.__name__}"):
        other.load(path)


INCONSISTENT = {
    "coefficients": (lambda t: t[:-1], "'coefficients' must be an array of"),
    "memory": (lambda t: np.append(t, 0.0), "'memory' must be an array of"),
    "values": (lambda t: np.where(np.arange(len(t)) == 3, np.nan, t), "is not finite"),
    "ends": (lambda t: t - 1, "do not end where"),
    "lines": (lambda t: np.where(t == 0, 99, t), "features of its rows"),
    "ages": (lambda t: np.zeros_like(t), "an age of its own"),
    "room": (lambda t: t * 10**6, "no room"),
}


@pytest.mark.parametrize("name", INCONSISTENT)
def test_files_that_contradict_themselves_are_refused(kernel_class, name, tmp_path):
    """Their checksums are right: somebody has written them so."""
    path = tmp_path / "model"
    kernel_class(budget=20).partial_fit(X, Y).save(path)
    tensors, metadata = model_file.read(path)
    change, says = INCONSISTENT[name]
    model_file.write(path, {**tensors, name: change(tensors[name])}, metadata)
    with pytest.raises(ModelFileError, match=f"model: .*{says}"):
        kernel_class.load(path)


def test_before_any_row(kernel_class):
    model = kernel_class()
    assert model.predict_one({"a": 1.0}) is None
    for ask in (lambda: model.predict(X), lambda: model.classes_, lambda: model.n_support_):
        with pytest.raises(NotFittedError):
            ask()
    model.partial_fit(X[:2], [0, 1], sample_weight=[0, 0])
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_pipelines_frames_and_searches(kernel_class):
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    search = GridSearchCV(
        make_pipeline(StandardScaler(), kernel_class(max_iter=3)),
        {f"{kernel_class.__name__.lower()}__gamma": [0.1, 1.0]},
        cv=2,
    ).fit(frame, [f"class {label}" for label in Y])
    assert search.best_score_ > 0.5
    model = kernel_class()
    model.learn_many(frame, pd.Series(Y))
    by_rows = kernel_class()
    for row, label in zip(as_dicts(X, list(frame.columns)), Y.tolist(), strict=True):
        by_rows.learn_one(row, label)
    assert learned(model) == learned(by_rows)
    assert model.predict_many(frame).tolist() == [
        by_rows.predict_one(r) for r in as_dicts(X, list(frame.columns))
    ]


@pytest.mark.threads
def test_threads_may_share_a_model(kernel_class):
    shared_by_threads(kernel_class(budget=20).partial_fit(X[:20], Y[:20]), X, Y)


@pytest.mark.parametrize("row", [{"\ud800": 1.0}, {"a": "\ud800"}, {2**70: 1.0}], ids=ascii)
def test_names_that_no_file_holds_are_refused(row):
    """As linear learners refuse them; a model that has learned one could not be saved."""
    model, linear = kernel.KernelPerceptron(), Perceptron()
    model.learn_one({"a": 1.0}, 1)
    before = pickle.dumps(model)
    with pytest.raises(DataError) as said:
        model.learn_one(row, 0)
    with pytest.raises(DataError) as said_by_linear:
        linear.learn_one(row, 0)
    assert str(said.value).split()[-3:] == str(said_by_linear.value).split()[-3:]
    with pytest.raises(DataError, match="not valid Unicode"):
        model.partial_fit(pd.DataFrame([[1.0]], columns=pd.Index(["\ud800"], dtype=object)), [0])
    for label, says in (("\ud800", "not valid Unicode"), (2**70, "64 bits")):
        with pytest.raises(DataError, match=says):
            model.learn_one({"a": 1.0}, label)
        with pytest.raises(DataError, match=says):
            linear.learn_one({"a": 1.0}, label)
    assert pickle.dumps(model) == before


def test_declared_classes_are_a_list_of_classes():
    model = kernel.KernelPerceptron(classes=np.array(["ham", "spam"]))
    model.learn_one({"a": 1}, "ham")
    with pytest.raises(ParameterError, match="'classes' parameter must be None or a list"):
        kernel.KernelPerceptron(classes=["ham", ["spam"]]).learn_one({"a": 1}, "ham")


def test_a_constant_whose_square_is_infinite_is_refused(kernel_class):
    with pytest.raises(ParameterError, match="'intercept_scaling' parameter must be"):
        kernel_class(intercept_scaling=1e200).learn_one({"a": 1.0}, "b")


@pytest.mark.parametrize("size", [1e-100, 1e-160])
def test_whatever_is_learned_can_be_read_again(kernel_class, size):
    """Small rows take large steps where no price bounds them."""
    settings = {"C": 1e300, "beta": 1e300, "fit_intercept": False, "kernel": "linear"}
    names = kernel_class().get_params()
    model = kernel_class(**{name: value for name, value in settings.items() if name in names})
    for label in "abab":
        with contextlib.suppress(DataError):
            model.learn_one({"x": size if label == "a" else -size, "y": size}, label)
    if model.__sklearn_is_fitted__():
        save_and_load(model)


def test_a_kept_rows_sign_is_no_other_number(tmp_path):
    kernel.DUOLClassifier().partial_fit(X, Y).save(tmp_path / "model")
    tensors, metadata = model_file.read(tmp_path / "model")
    tensors["signs"][3, 1] = 1e100
    model_file.write(tmp_path / "model", tensors, metadata)
    with pytest.raises(ModelFileError, match="signs"):
        kernel.DUOLClassifier.load(tmp_path / "model")
