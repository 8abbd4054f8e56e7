"""Every estimator made of learners, and every bandit: both interfaces, one result, files."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
import subprocess
import sys
import threading
import warnings

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
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import estimator_checks_generator

import yarrow
from yarrow import bandit, composite, experts, feedback
from yarrow.errors import ModelFileError, NotFittedError, ParameterError, YarrowError
from yarrow.estimator import Estimator

CLASSES = [
    cls
    for package in (bandit, composite, experts, feedback)
    for cls in (getattr(package, name) for name in package.__all__)
    if isinstance(cls, type) and issubclass(cls, Estimator)
]
#: take a minute each, and ask what others ask as well
SLOW = {"check_bounded_memory_growth"}
X, LABELS = classification(160, 8, 3, seed=4)
VALUES = X @ np.random.default_rng(1).normal(size=8)


def is_regressor(cls):
    return cls.__name__.endswith("Regressor")


def targets(cls):
    return VALUES if is_regressor(cls) else LABELS


def few(cls):
    """Return a model with fewer learners than by default, so that checks take seconds."""
    if "learners" not in cls().get_params():
        return cls()
    kind = yarrow.AROWRegressor if is_regressor(cls) else yarrow.AROWClassifier
    return cls([kind(0.1), kind(1.0)])


@pytest.fixture(params=CLASSES, ids=lambda cls: cls.__name__)
def cls(request):
    return request.param


def learned(model):
    """Return all that a model has learned, bit for bit."""
    tensors, metadata = model._packed()
    return {name: np.asarray(array).tobytes() for name, array in tensors.items()} | metadata


def answers(model, rows=X):
    return [model.predict_one(row) for row in as_dicts(rows)]


def sklearn_checks():
    for cls in CLASSES:
        with warnings.catch_warnings(action="ignore"):  # of not inheriting from BaseEstimator
            found = list(estimator_checks_generator(cls()))
        for estimator, check in found:
            name = check.func.__name__
            marks = ()
            if name in cls.expected_failed_checks:
                marks = pytest.mark.xfail(reason=cls.expected_failed_checks[name])
            yield pytest.param(estimator, check, id=f"{cls.__name__}-{name}", marks=marks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(sklearn_checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_all_checks_of_river_pass(cls):
    # Each check on one of its sets, the last: some have three, and rows are slow in Python.
    found = {check.__name__: check for check in checks.yield_checks(few(cls))}
    assert len(found) > 15
    asked = [check for name, check in found.items() if name not in SLOW]
    assert not failed_checks(asked, lambda: few(cls))


def test_one_result_by_every_route(cls):
    y = targets(cls)
    expected = answers(few(cls).partial_fit(X, y))
    by_rows = few(cls)
    for row, label in zip(as_dicts(X), y.tolist(), strict=True):
        by_rows.learn_one(row, label)
    assert answers(by_rows) == expected
    for form in (sp.csr_matrix, np.asarray, lambda part: part.astype(np.float32)):
        model = few(cls)
        for at in range(0, len(X), 7):
            model.partial_fit(form(X[at : at + 7]), y[at : at + 7])
        assert answers(model) == expected
    for interruption in (
        save_and_load,
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
    ):
        model = interruption(few(cls).partial_fit(X[:70], y[:70]))
        model.partial_fit(X[70:], y[70:])
        assert answers(model) == expected
        assert learned(model) == learned(few(cls).partial_fit(X, y))


def test_what_progressive_says_is_what_one_row_after_the_other_would_be_told(cls):
    y = targets(cls)
    said = cls().progressive(X, y).predictions
    model, told = cls(), []
    for i in range(len(X)):
        one = model.progressive(X[i : i + 1], y[i : i + 1]).predictions[0]
        told.append(one)
    assert list(said) == told
    late = cls().progressive(X, y, delay=5).predictions
    assert len(late) == len(X)
    assert list(late) != list(said)


def test_learners_that_are_given_are_never_changed(cls):
    if issubclass(cls, yarrow.bandit.base.BanditClassifier):
        pytest.skip("has no learners inside")
    name = "learner" if "learner" in cls().get_params() else "learners"
    inside = yarrow.AROWRegressor() if is_regressor(cls) else yarrow.AROWClassifier()
    model = cls(**{name: inside if name == "learner" else [inside]})
    model.fit(X, targets(cls))
    assert not inside.__sklearn_is_fitted__()
    assert clone(model).get_params().keys() == model.get_params().keys()


def test_grid_searches_reach_the_learner_inside():
    for cls in CLASSES:
        if "learner" not in cls().get_params():
            continue
        inside = yarrow.AROWRegressor if is_regressor(cls) else yarrow.AROWClassifier
        model = cls(learner=inside(r=3.0))
        assert model.get_params()["learner__r"] == 3.0
        assert "learner__r" not in model.get_params(deep=False)
        search = GridSearchCV(model, {"learner__r": [0.1, 2.0]}, cv=2, error_score="raise")
        search.fit(X, targets(cls))
        assert search.best_estimator_.learner.r == search.best_params_["learner__r"]
        assert model.learner.r == 3.0
        assert save_and_load(model.fit(X, targets(cls))).learner.r == 3.0
        assert model.set_params(learner=inside(), learner__r=5.0).learner.r == 5.0
        with pytest.raises(ValueError, match="Invalid parameter 'q'"):
            model.set_params(learner__q=1)
        with pytest.raises(ValueError, match="Invalid parameter 'learner__r'"):
            cls().set_params(learner__r=1.0)  # there is no learner yet whose r it could be


def test_bad_rows_change_nothing(cls):
    y = targets(cls)
    model = cls().partial_fit(X, y)
    before = answers(model)
    bad = np.vstack([X[:1], np.where(np.arange(8) == 2, np.nan, 1.0), X[:1]])
    for form in (np.asarray, sp.csr_matrix):
        with pytest.raises(YarrowError, match="NaN at row 1, column 2"):
            model.partial_fit(form(bad), y[:3])
        with pytest.raises(YarrowError, match="NaN at row 1, column 2"):
            model.predict(form(bad))
    with pytest.raises(YarrowError, match="features"):
        model.partial_fit(X[:, :4], y)
    for row in ({"a": np.nan}, {1.5: 1.0}, {"a": 10**400}, [1.0]):
        with pytest.raises(YarrowError):
            model.learn_one(row, y[0].item())
    with pytest.raises(YarrowError):
        model.learn_one({"a": 1.0}, None)
    with pytest.raises(YarrowError):
        model.learn_one({"a": 1.0}, y[0].item(), w=-1.0)
    with pytest.raises(YarrowError):
        model.partial_fit(X[:2], y[:3])
    assert answers(model) == before


def dtypes(cls):
    """Return a model whose learners keep numbers of different sizes, the larger ones first."""
    if not {"learner", "learners"} & cls().get_params().keys():
        return cls()
    kind = yarrow.AROWRegressor if is_regressor(cls) else yarrow.AROWClassifier
    if "learner" in cls().get_params():
        return cls(kind())
    return cls([kind(dtype="float64"), kind(), kind(0.1)])


def refused(model, call):
    """Check that a call is refused, and that nothing of it is left."""
    before = copy.deepcopy(learned(model))
    with pytest.raises(YarrowError):
        call()
    assert learned(model) == before
    assert answers(model) == answers(copy.deepcopy(model))


def test_a_refused_call_leaves_no_trace(cls):
    """Not a class, not a feature, not a row, with any learner inside, even if others took it."""
    y = targets(cls)
    other = 7.5 if is_regressor(cls) else 7
    model = dtypes(cls).partial_fit(X, y)
    large = X[:4].copy()
    large[2, 1] = 1e120
    labels = np.append(y[:3], other)
    frame = pd.DataFrame(large, columns=[*range(7), 99])
    large_row = {2: 1e120, "new": 1.0}
    usual = few(cls).partial_fit(X, y)
    refused(usual, lambda: usual.learn_one({2: 1e308}, other))
    calls = [
        lambda: model.learn_one(large_row, other),
        lambda: model.learn_one(large_row, y[0].item(), w=2.0),
        lambda: model.learn_many(frame, pd.Series(labels)),
        lambda: model.partial_fit(large, labels),
        lambda: model.partial_fit(large[2:3], labels[3:]),
        lambda: model.progressive(large, labels),
        lambda: model.progressive(large[2:3], labels[3:]),
        lambda: model.progressive(large, labels, delay=1),
        lambda: model.fit(large, labels),
    ]
    if hasattr(model, "progressive_sets"):
        calls.append(lambda: model.progressive_sets(large, labels))
        calls.append(lambda: model.predict_set_one(large_row))
    if hasattr(model, "learn_asked"):
        calls.append(lambda: model.learn_asked(large_row, other))
        calls.append(lambda: model.wants_label(large_row))
    if hasattr(model, "choose_one"):
        choice = model.choose_one({"a": 1.0})
        calls.append(lambda: model.learn(dataclasses.replace(choice, x=large_row), True))
        calls.append(lambda: model.learn(dataclasses.replace(choice, label=other), False))
    for call in calls:
        refused(model, call)
    model.partial_fit(X, y)
    assert answers(model) == answers(_taught_twice(cls, y, model))


def _taught_twice(cls, y, model):
    """Return the same without the refused calls, which may draw a class as they choose."""
    again = dtypes(cls).partial_fit(X, y)
    if hasattr(model, "choose_one"):
        again.choose_one({"a": 1.0})
    return again.partial_fit(X, y)


@pytest.mark.filterwarnings("ignore:no feature of the rows is known")
def test_a_row_that_one_learner_cannot_learn_is_taken_back_by_the_others():
    """By steps of different sizes, and by limits of their own, in any depth."""
    steps = [yarrow.OGDRegressor(eta0=1e-3), yarrow.OGDRegressor(eta0=1.0)]
    deep = experts.HedgeRegressor([experts.HedgeRegressor(steps), steps[0], steps[1]])
    for model in (experts.HedgeRegressor(steps), deep):
        model.learn_one({"a": 1.0}, 1.0)
        refused(model, lambda: model.learn_one({"a": 1e37, "b": 1.0}, 5.0))  # noqa: B023
        refused(model, lambda: model.partial_fit([[1e37]], [5.0]))  # noqa: B023
    kept = yarrow.AROWClassifier(max_features=40, when_full="prune")
    full = yarrow.AROWClassifier(max_features=41)
    model = experts.HedgeClassifier([kept, yarrow.YarrowClassifier(), full])
    for i in range(41):
        model.learn_one({f"{i}": 1.0, f"{i - 1}": 2.0} if i else {"0": 1.0}, i % 3)
    for label in (0, 9):
        refused(model, lambda: model.learn_one({"5": 1.0, "42": 1.0}, label))  # noqa: B023
    first = experts.HedgeClassifier([yarrow.AROWClassifier(), full.clone({"max_features": 1})])
    with pytest.raises(YarrowError):
        first.learn_one({"a": 1.0, "b": 1.0}, 1)
    assert not first.__sklearn_is_fitted__()


def test_before_any_row(cls):
    model = cls()
    assert model.predict_one({"a": 1.0}) == (0.0 if is_regressor(cls) else None)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X[:2], targets(cls)[:2], sample_weight=[0, 0])
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.save("nowhere")


def test_a_row_of_no_weight_is_absent(cls):
    y = targets(cls)
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    model = cls().partial_fit(X, y, sample_weight=weights)
    assert answers(model) == answers(cls().partial_fit(X[weights > 0], y[weights > 0]))


def test_damaged_files_are_refused(cls, tmp_path):
    path = tmp_path / "model"
    cls().partial_fit(X, targets(cls)).save(path)
    content = path.read_bytes()
    for damaged in (content[:-9], content[:200], b"nonsense"):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            cls.load(path)
    path.write_bytes(content)
    other = next(one for one in CLASSES if one is not cls)
    with pytest.raises(ModelFileError, match=f"not a {other.__name__}"):
        other.load(path)


def test_frames(cls):
    y = targets(cls)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    model, by_rows = cls(), cls()
    model.learn_many(frame, pd.Series(y))
    for row, label in zip(as_dicts(X, list(frame.columns)), y.tolist(), strict=True):
        by_rows.learn_one(row, label)
    expected = [by_rows.predict_one(row) for row in as_dicts(X, list(frame.columns))]
    assert model.predict_many(frame).tolist() == expected


def test_it_says_when_to_use_it_and_what_instead(cls):
    text = " ".join(cls.__doc__.split())
    assert "Use it " in text
    assert "Instead: " in text


def test_a_learner_for_another_task_is_refused():
    with pytest.raises(ParameterError, match="AROWRegressor is not for classes"):
        experts.HedgeClassifier([yarrow.AROWRegressor()]).fit(X, LABELS)
    with pytest.raises(ParameterError, match="'learners' parameter must be"):
        experts.HedgeClassifier([yarrow.AROWClassifier]).fit(X, LABELS)


def test_learners_of_other_libraries_take_part():
    from river import linear_model as river_models
    from sklearn.linear_model import SGDClassifier

    y = (LABELS == 1).astype(int)
    mixed = [
        yarrow.AROWClassifier(),
        SGDClassifier(random_state=0),
        river_models.LogisticRegression(),
    ]
    model = experts.HedgeClassifier(mixed)
    said = model.progressive(X, y, classes=[0, 1]).predictions
    alone = yarrow.AROWClassifier().progressive(X, y).predictions
    assert model.losses_[0] == np.sum(alone != y)
    assert np.mean(said == y) > 0.7
    with pytest.raises(ParameterError, match="SGDClassifier is not Yarrow's"):
        model.save("nowhere")
    with pytest.raises(YarrowError, match="told all classes"):
        experts.HedgeClassifier(mixed).partial_fit(X, y)


def test_a_row_that_one_learner_refuses_is_learned_by_none():
    from river import linear_model as river_models
    from sklearn.linear_model import SGDClassifier

    y = (LABELS == 1).astype(int)
    of_arrays = experts.HedgeClassifier([yarrow.AROWClassifier(), SGDClassifier(random_state=0)])
    of_arrays.partial_fit(X, y, classes=[0, 1])
    of_dicts = experts.HedgeClassifier([yarrow.AROWClassifier(), river_models.PAClassifier()])
    of_dicts.partial_fit(X, y)
    for model, refused, sentence in (
        (of_arrays, lambda model: model.learn_one({0: 1.0}, 1), "rows of arrays, not dicts"),
        (of_arrays, lambda model: model.partial_fit(X[:1], [2]), "row 0: .* class 2"),
        (of_arrays, lambda model: model.progressive(X[:5], [0, 1, 0, 2, 0], delay=1), "row 3: "),
        (of_dicts, lambda model: model.learn_one({0: 1.0}, 1, w=2.0), "takes no weights"),
    ):
        with pytest.raises(YarrowError, match=sentence):
            refused(model)
        assert model.t_ == model.learners_[0].t_ == len(X)
        assert model.classes_.tolist() == [0, 1]


def test_experts_of_experts_are_saved():
    inner = experts.HedgeClassifier([yarrow.Perceptron(), yarrow.AROWClassifier()])
    model = experts.WeightedMajorityClassifier([inner, yarrow.kernel.KernelPerceptron(budget=9)])
    model.partial_fit(X, LABELS)
    loaded = save_and_load(model)
    assert answers(loaded) == answers(model)
    assert loaded.learners_[0].losses_.tolist() == model.learners_[0].losses_.tolist()


@pytest.mark.threads
def test_threads_may_share_a_model():
    shared_by_threads(experts.HedgeClassifier().partial_fit(X[:20], LABELS[:20]), X, LABELS)


@pytest.mark.threads
def test_what_is_saved_while_others_learn_is_whole(cls, tmp_path):
    """Files and pickles are those of one moment."""
    model, y = few(cls), targets(cls)
    rows = as_dicts(X)
    model.partial_fit(X, y)
    stop = threading.Event()

    def work():
        for i in itertools.count():
            if stop.is_set():
                return
            model.learn_one({**rows[i % len(rows)], f"new {i}": 1.0}, y[i % len(y)].item())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(15):
            model.save(tmp_path / "model")
            for again in (yarrow.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
                if hasattr(again, "losses_"):  # experts learn every row
                    assert {one.t_ for one in again.learners_} == {again.t_}
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_importing_imports_neither_library():
    program = (
        "import sys, yarrow.experts, yarrow.bandit, yarrow.feedback\n"
        "print({'sklearn', 'river', 'scipy', 'pandas', 'numpy'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"
