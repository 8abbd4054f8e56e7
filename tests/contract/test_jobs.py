"""`n_jobs`: threads share rows to predict or classes to learn, and all results stay the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import classification, learned

import yarrow
from yarrow import (
    AROWClassifier,
    AROWRegressor,
    CWClassifier,
    ForgettingAROWClassifier,
    OneClassPassiveAggressive,
    PassiveAggressiveClassifier,
    PegasosClassifier,
    Perceptron,
    ROMMAClassifier,
    VotedPerceptron,
    YarrowClassifier,
)
from yarrow.base.classifier import LinearClassifier
from yarrow.errors import DataError, ParameterError

pytestmark = pytest.mark.threads

ROWS, COLUMNS = 2_001, 90  # threads are started for 32,768 values each, and more
MODELS = [
    AROWClassifier(),
    AROWClassifier(multiclass="top1", dtype="float64"),
    AROWClassifier(covariance="full"),
    AROWRegressor(),
    OneClassPassiveAggressive(),
    PassiveAggressiveClassifier(average=True, hash_bits=5),
    VotedPerceptron(),
    YarrowClassifier(),
]
LAYOUTS = [np.asarray, np.asfortranarray, sp.csr_array, lambda X: pd.DataFrame(X).add_prefix("c")]


def taught(model, X, y):
    if isinstance(model, OneClassPassiveAggressive):
        return model.fit(X)
    return model.fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("layout", LAYOUTS, ids=["C", "Fortran", "CSR", "frame"])
def test_threads_change_no_bit(model, layout):
    X, y = classification(ROWS, COLUMNS, 3)
    X = layout(X)
    model = type(model)(**(model.get_params() | {"max_iter": 1}))
    taught(model, X, y)
    for call in ("predict", "decision_function", "predict_proba"):
        if not hasattr(model, call):
            continue
        alone = getattr(model.set_params(n_jobs=None), call)(X)
        for jobs in (2, 5, -1):
            together = getattr(model.set_params(n_jobs=jobs), call)(X)
            np.testing.assert_array_equal(together, alone)


def test_the_first_of_all_wrong_rows_is_named():
    X, y = classification(ROWS, COLUMNS, 2)
    model = AROWClassifier(n_jobs=4).fit(X, y)
    for row in (1_900, 1_200, 3):  # each in an earlier thread's part
        X[row, 7] = np.inf
        with pytest.raises(ValueError, match=f"infinity at row {row}, column 7"):
            model.predict(X)


@pytest.mark.parametrize("jobs", [0, 1.5, True, "all"])
def test_no_threads_are_refused(jobs):
    X, y = classification(20, 3, 2)
    with pytest.raises(ParameterError, match="'n_jobs' parameter must be None or an integer"):
        AROWClassifier(n_jobs=jobs).fit(X, y)


def test_a_file_does_not_say_how_many_threads_its_reader_has(tmp_path):
    X, y = classification(20, 3, 2)
    AROWClassifier(n_jobs=7).fit(X, y).save(tmp_path / "model")
    assert AROWClassifier.load(tmp_path / "model").n_jobs is None


# -- learning ------------------------------------------------------------------------------------

CLASSES = 11  # which are 12 columns


def late_classes(n=1_500, columns=30):
    """Rows in which the last classes come after others have been learned for a while."""
    X, y = classification(n, columns, CLASSES)
    late = np.flatnonzero(y >= CLASSES - 2)
    kept = late[late >= n // 2]
    place = np.concatenate([np.flatnonzero(y < CLASSES - 2), kept])
    place.sort()
    return X[place], y[place]


def one_versus_rest():
    """Every learner that learns so by default, and some that keep more for a feature."""
    classes = [
        cls for cls in (getattr(yarrow, name) for name in yarrow.__all__) if isinstance(cls, type)
    ]
    models = [cls() for cls in classes if issubclass(cls, LinearClassifier)]
    return [
        *(model for model in models if model.multiclass == "ovr"),
        AROWClassifier(average=True, dtype="float64"),
        CWClassifier(hash_bits=4),
        ForgettingAROWClassifier(clock="rows"),
        PassiveAggressiveClassifier(average=True),
    ]


@pytest.mark.parametrize("model", one_versus_rest(), ids=repr)
def test_threads_learn_no_other_bit(model):
    X, y = late_classes()
    random = np.random.default_rng(0)
    weights = random.integers(0, 3, len(y)) / 2
    names = np.array([f"class {c}" for c in range(CLASSES)])[y]

    def taught(jobs):
        model.set_params(n_jobs=jobs, shuffle=True, max_iter=2, class_weight={"class 3": 2.5})
        found = type(model)(**model.get_params())
        found.fit(sp.csr_array(X), names, sample_weight=weights)
        found.partial_fit(X[:700], names[:700])
        return learned(found.partial_fit(X, names))

    alone = taught(None)
    for jobs in (2, 5):
        assert taught(jobs) == alone


REFUSING = [Perceptron(), PegasosClassifier(), ROMMAClassifier(dtype="float64")]


@pytest.mark.parametrize("row", [300, 900, 1_100])
@pytest.mark.parametrize("model", REFUSING, ids=repr)
def test_a_row_that_is_refused_leaves_no_trace(model, row):
    X, y = late_classes()
    wrong = X.copy()
    size = 3e38 if model.dtype == "float32" else 1e160
    wrong[row] = size  # whose update overflows
    wrong[row + 5] = size / 2
    told = []
    for jobs in (None, 2, 5):
        model.set_params(n_jobs=jobs)
        model.fit(X, y)
        before = learned(model)
        with pytest.raises(DataError, match=f"^Row {row}: ") as in_order:
            model.partial_fit(wrong, y)
        assert learned(model) == before
        with pytest.raises(DataError, match=r"^Row [0-9]+: ") as shuffled:
            model.fit(wrong, y)
        told.append((str(in_order.value), str(shuffled.value), learned(model.partial_fit(X, y))))
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_bound_that_is_reached_is_looked_into(call):
    """Weights come and go, so that what they may have grown to is far above what they are."""
    X, y = late_classes()
    X[400:600, 0] = np.resize([1e36, -1e36], 200)
    y[400:600] = 3
    found = []
    for jobs in (None, 2, 5):
        model = Perceptron(n_jobs=jobs, shuffle=False, fit_intercept=False)
        getattr(model, call)(X, y)
        found.append(learned(model.partial_fit(X, y)))
    assert found[0] == found[1] == found[2]
    assert found[0]["scalars"][5] > 1e37
