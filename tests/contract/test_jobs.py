"""`n_jobs`: the rows of an array are shared between threads, and all answers stay the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import classification

from yarrow import (
    AROWClassifier,
    AROWRegressor,
    OneClassPassiveAggressive,
    PassiveAggressiveClassifier,
    VotedPerceptron,
    YarrowClassifier,
)
from yarrow.errors import ParameterError

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
