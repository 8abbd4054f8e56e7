"""What is wrong with one value of many is said with its place, by every estimator."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import classification

import yarrow
from yarrow import (
    bandit,
    decomposition,
    experts,
    feature_selection,
    feedback,
    kernel,
    linear_model,
)
from yarrow.decomposition.base import Decomposition
from yarrow.errors import YarrowError
from yarrow.estimator import Estimator

X, LABELS = classification(30, 6, 3, seed=2)
X = np.abs(X)
#: need a user's functions
OTHERS = {"CustomClassifier", "StructuredClassifier"}


def found(*packages):
    for package in packages:
        for name in package.__all__:
            cls = getattr(package, name)
            is_one = isinstance(cls, type) and issubclass(cls, Estimator) and name not in OTHERS
            if is_one and hasattr(cls, "partial_fit"):
                yield cls


SUPERVISED = [
    cls
    for cls in found(linear_model, kernel, experts, bandit, feedback)
    if getattr(cls, "learns_labels", True) and hasattr(cls, "predict")
]
#: learn examples, pairs of rows, or counts
OTHER_LINEAR = [linear_model.OneClassPassiveAggressive, linear_model.PassiveAggressiveRanker]
SELECTORS = [feature_selection.GameSelection, feature_selection.InformationGain]
FACTORIZATIONS = [decomposition.OnlineMatrixFactorization, decomposition.OnlineRankMF]
DECOMPOSITIONS = [cls for cls in found(decomposition) if issubclass(cls, Decomposition)]
every_supervised = pytest.mark.parametrize("cls", SUPERVISED, ids=lambda cls: cls.__name__)
every_decomposition = pytest.mark.parametrize("cls", DECOMPOSITIONS, ids=lambda cls: cls.__name__)
BAD = {"NaN": np.nan, "infinity": np.inf}


def targets(cls):
    return X.sum(axis=1) if "Regressor" in cls.__name__ else LABELS.astype(float)


def says(call, *words):
    with pytest.raises(YarrowError) as caught:
        call()
    for word in words:
        assert re.search(word, str(caught.value)), str(caught.value)


def test_all_kinds_are_found():
    names = {cls.__name__ for cls in SUPERVISED}
    assert {"AROWClassifier", "OGDRegressor", "KernelPerceptron", "HedgeClassifier"} <= names
    assert len(names) > 60
    assert set(found(linear_model)) <= {*SUPERVISED, *OTHER_LINEAR}
    assert set(found(feature_selection)) <= {*SELECTORS}
    assert set(found(decomposition)) <= {*DECOMPOSITIONS, *FACTORIZATIONS}
    assert len(DECOMPOSITIONS) >= 5


@every_supervised
@pytest.mark.parametrize("what", BAD)
def test_targets(cls, what):
    y = targets(cls)
    y[17] = BAD[what]
    says(lambda: cls().partial_fit(X, y), "Input y contains", what, "at row 17")
    says(lambda: cls().fit(X, y), "Input y contains", what, "at row 17")
    if "Regressor" not in cls.__name__:
        mixed = np.array([*"abc"] * 10, dtype=object)
        mixed[4] = BAD[what]
        says(lambda: cls().partial_fit(X, mixed), "Input y contains", what, "at row 4")


@every_supervised
@pytest.mark.parametrize("what", BAD)
def test_weights(cls, what):
    weights = np.ones(len(X))
    weights[11] = BAD[what]
    words = ("Input sample_weight contains", what, "at row 11")
    says(lambda: cls().partial_fit(X, targets(cls), sample_weight=weights), *words)
    says(lambda: cls().fit(X, targets(cls), sample_weight=weights), *words)
    weights[11] = -2.0
    call = lambda: cls().partial_fit(X, targets(cls), sample_weight=weights)  # noqa: E731
    says(call, "negative: -2.0 at row 11")


@every_supervised
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_rows(cls, form):
    y = targets(cls)
    model = cls().partial_fit(X, y)
    for value, what in ((np.nan, "NaN"), (np.inf, "infinity"), (1e300, "large|beyond|overflow")):
        bad = X.copy()
        bad[5, 3] = value
        if value == 1e300 and _takes_large(model):
            continue
        place = "row 5, column 3" if value != 1e300 or _is_single(model) else "[Rr]ow 5"
        says(lambda: model.partial_fit(form(bad), y), what, place)  # noqa: B023
        if value != 1e300 or _is_single(model):
            says(lambda: model.predict(form(bad)), what, place)  # noqa: B023


def _is_single(model):
    """Whether all numbers are kept in single precision."""
    if isinstance(model, yarrow.base.linear.LinearModel):
        return model.dtype == "float32"
    return hasattr(model, "learners_") and any(map(_is_single, model.learners_))


def _takes_large(model):
    return not _is_single(model)


@every_decomposition
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_rows_of_decompositions(cls, form):
    model = cls().partial_fit(X)
    asked = {np.inf: "infinity", 1e200: "beyond"}
    if not cls._takes_missing:
        asked[np.nan] = "NaN"
    if not cls._takes_negative:
        asked[-1.0] = "Negative values in data.*-1.0"
    for value, what in asked.items():
        bad = X.copy()
        bad[5, 3] = value
        for call in (model.partial_fit, model.transform, cls().fit):
            says(lambda: call(form(bad)), what, "at row 5, column 3")  # noqa: B023
        for call in (model.learn_one, model.transform_one):
            says(lambda: call({0: 1.0, 3: value}), what, "in feature 3")  # noqa: B023


def test_learners_inside_learners():
    inner = experts.HedgeClassifier([yarrow.AROWClassifier()])
    model = experts.MixtureClassifier([experts.MixtureClassifier(), yarrow.AROWClassifier()])
    bad = X.copy()
    bad[5, 3] = 1e39
    for outer in (model, experts.HedgeClassifier([inner, yarrow.AROWClassifier()])):
        says(lambda: outer.fit(bad, LABELS), "too large for dtype.'float32'. at row 5, column 3")  # noqa: B023


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("cls", [*OTHER_LINEAR, *SELECTORS], ids=lambda cls: cls.__name__)
def test_rows_of_learners_without_labels_of_their_own(cls, form):
    for value, what in ((np.nan, "NaN"), (np.inf, "infinity"), (1e300, "large|beyond|overflow")):
        bad = X.copy()
        bad[5, 3] = value
        if value == 1e300 and cls in SELECTORS:  # which count
            continue
        for name in ("fit", "partial_fit"):
            call = getattr(cls(), name)
            says(lambda: call(form(bad), LABELS), what, "at row 5, column 3")  # noqa: B023


def test_pairs_of_rows_whose_difference_is_too_large():
    bad = X.copy()
    bad[[4, 9], 1] = 3e38, -3e38
    y = np.arange(float(len(X)))
    for form in (np.asarray, sp.csr_matrix, np.float32):
        model = linear_model.PassiveAggressiveRanker()
        says(lambda: model.partial_fit(form(bad), y), "rows 9 and 4 is too large")  # noqa: B023
    y[17] = np.nan
    says(lambda: model.fit(X, y), "Input y contains NaN at row 17")


@pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)
def test_frames_that_are_counted_row_by_row(cls):
    labels = [] if cls is feature_selection.GameSelection else [LABELS]
    model = cls()
    model.learn_many(pd.DataFrame(X), *labels)
    before = model.scores_.tolist()
    bad = pd.DataFrame(X)
    bad.iloc[5, 3] = np.nan
    says(lambda: model.learn_many(bad, *labels), "row 5, field '3': nan")
    assert model.scores_.tolist() == before


@pytest.mark.parametrize("what", BAD)
def test_labels_that_are_counted(what):
    model = feature_selection.InformationGain()
    model.learn_many(pd.DataFrame(X), LABELS)
    before = model.scores_.tolist()
    y = LABELS.astype(float)
    y[17] = BAD[what]
    says(lambda: model.learn_many(pd.DataFrame(X), y), what, "at row 17")
    for call in (model.partial_fit, model.fit):
        says(lambda: call(X, y), what, "at row 17")  # noqa: B023
        says(lambda: call(X, LABELS, sample_weight=y), what, "at row 17")  # noqa: B023
    says(lambda: model.learn_one({0: 1.0}, BAD[what]), what)
    assert model.scores_.tolist() == before


@pytest.mark.parametrize("cls", FACTORIZATIONS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("what", BAD)
def test_ratings(cls, what):
    pairs, y = [[i % 5, i % 7] for i in range(30)], np.arange(30.0) % 5
    y[17] = BAD[what]
    for call in (cls().partial_fit, cls().fit):
        says(lambda: call(pairs, y), "Input y contains", what, "at row 17")  # noqa: B023
    says(lambda: cls().partial_fit([*pairs[:4], [1, None], *pairs[5:]], np.ones(30)), "row 4")


@pytest.mark.parametrize("cls", [linear_model.OneClassPassiveAggressive], ids=["one class"])
@pytest.mark.parametrize("what", BAD)
def test_weights_of_rows_without_labels(cls, what):
    weights = np.ones(len(X))
    weights[11] = BAD[what]
    for call in (cls().partial_fit, cls().fit):
        says(lambda: call(X, sample_weight=weights), what, "at row 11")  # noqa: B023
