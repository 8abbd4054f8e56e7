"""Bad input never poisons: a sentence that names the place, and not a bit of the model changed."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import assert_same, classification, fingerprint, refuse

import yarrow
from yarrow import (
    AROWClassifier,
    FOBOSClassifier,
    OGDRegressor,
    PassiveAggressiveRegressor,
    Perceptron,
)
from yarrow.errors import YarrowError

COLUMNS = 200
X, Y = classification(300, COLUMNS, 3, seed=1)
GOOD = X[100:105]


def fitted(cls, **parameters):
    return cls(**parameters).partial_fit(X[:100], Y[:100])


def spoiled(form, value, place=(2, 3)):
    """Return a few rows, in some form, with one bad value."""
    rows = GOOD.astype(float if isinstance(value, float) else object)
    rows[place] = value
    return form(rows)


def damaged(**attributes: Callable[[np.ndarray], np.ndarray]):
    """Return a sparse matrix with something wrong inside, which SciPy does not look at again."""
    matrix = sp.csr_matrix(GOOD)
    for name, change in attributes.items():
        setattr(matrix, name, change(getattr(matrix, name).copy()))
    return matrix


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def changed(y, place, value):
    y = list(y)
    y[place] = value
    return np.array(y, dtype=object)


@dataclasses.dataclass
class Call:
    """A call that must be refused: what it gives, and what the sentence says."""

    says: str
    X: Any = dataclasses.field(default_factory=lambda: GOOD)
    y: Any = dataclasses.field(default_factory=lambda: Y[100:105])
    rest: dict[str, Any] = dataclasses.field(default_factory=dict)


frame = pd.DataFrame
ARRAYS = {
    "NaN": Call("NaN at row 2, column 3", spoiled(np.asarray, np.nan)),
    "NaN float32": Call("NaN at row 2, column 3", spoiled(np.float32, np.nan)),
    "NaN in CSR": Call("NaN at row 2, column 3", spoiled(sp.csr_matrix, np.nan)),
    "NaN in a frame": Call("NaN at row 2, column 3", spoiled(frame, np.nan)),
    "infinity": Call("infinity at row 2, column 3", spoiled(np.asarray, -np.inf)),
    "infinity in CSR": Call("infinity at row 2, column 3", spoiled(sp.csr_matrix, np.inf)),
    "too large": Call("too large.*at row 2, column 3", spoiled(np.asarray, 1e39)),
    "too large in CSR": Call("too large.*at row 2, column 3", spoiled(sp.csr_matrix, -1e39)),
    "None": Call("row 2, column 3", spoiled(np.asarray, None)),
    "text": Call("'word'.*row 2, column 3", spoiled(np.asarray, "word")),
    "set": Call("row 2, column 3", spoiled(np.asarray, frozenset())),
    "text in a frame": Call("'word'.*row 2", spoiled(frame, "word")),
    "NA in a frame": Call(
        "row 2", frame(pd.array([1, 2, None, 4, 5], "Int64")).iloc[:, [0] * COLUMNS]
    ),
    "dates in a frame": Call("row 0", frame([[pd.Timestamp("2020-01-01")] * COLUMNS] * 5)),
    "complex": Call("Complex data not supported", GOOD * 1j),
    "complex CSR": Call("Complex data not supported", sp.csr_matrix(GOOD * 1j)),
    "columns missing": Call(f"X has 10 features, but .* is expecting {COLUMNS}", GOOD[:, :10]),
    "columns missing in CSR": Call("X has 10 features", sp.csr_matrix(GOOD[:, :10])),
    "one dimension": Call("Expected 2D array, got 1D", X[100]),
    "three dimensions": Call("dim 3", GOOD[None]),
    "rows of different lengths": Call("row 1", [[1.0] * COLUMNS, [1.0] * 3], [0, 1]),
    "a number": Call("Expected 2D array", 5.0),
    "nothing": Call("Expected 2D array", None),
    "no rows": Call("0 sample", X[:0], []),
    "no columns": Call("0 feature", GOOD[:, :0]),
    "too few labels": Call(r"inconsistent numbers of samples: \[5, 4\]", y=Y[100:104]),
    "too many labels": Call(r"inconsistent numbers of samples: \[5, 6\]", y=Y[100:106]),
    "no labels": Call("y.*None", y=None),
    "table of labels": Call("1d array", y=np.zeros((5, 2))),
    "complex labels": Call("Complex data not supported", y=np.ones(5) * 1j),
    "weights missing": Call("sample_weight", rest={"sample_weight": np.ones(4)}),
    "table of weights": Call("weights must be 1D", rest={"sample_weight": np.ones((5, 1))}),
    "negative weight": Call("weights.*negative", rest={"sample_weight": [1, 1, -1, 1, 1]}),
    "NaN as weight": Call("weight.*NaN", rest={"sample_weight": [1, 1, np.nan, 1, 1]}),
    "infinite weight": Call("weight.*infinity", rest={"sample_weight": [1, 1, np.inf, 1, 1]}),
    "text as weight": Call("weight", rest={"sample_weight": ["x"] * 5}),
    "complex weight": Call("weight", rest={"sample_weight": [1j] * 5}),
    "negative index": Call("index.*row 0", damaged(indices=put(3, -1))),
    "index too large": Call("index.*row 0", damaged(indices=put(3, COLUMNS))),
    "index beyond 32 bits": Call(
        "index.*row 0", damaged(indices=lambda a: put(3, 2**32 + 1)(a.astype(np.int64)))
    ),
    "real indices": Call("indices.*int32 or int64", damaged(indices=lambda a: a.astype(float))),
    "negative begin": Call("damaged", damaged(indptr=put(0, -2))),
    "row that ends before it begins": Call("damaged: row 2", damaged(indptr=put(2, 10**6))),
    "row beyond the end": Call("damaged", damaged(indptr=put(-1, 10**6))),
    "too many begins": Call("damaged", damaged(indptr=lambda a: np.append(a, [a[-1]] * 3))),
    "too few begins": Call("damaged", damaged(indptr=lambda a: a[:3])),
    "indices missing": Call("damaged", damaged(indices=lambda a: a[:-3])),
    "values missing": Call("damaged", damaged(data=lambda a: a[:-3])),
}
LABELS = {
    "None as label": Call("y contains NaN", y=changed(Y[100:105], 2, None)),
    "NaN as label": Call("y contains NaN", y=np.where(np.arange(5) == 2, np.nan, 1)),
    "NaN among texts": Call("y contains NaN", y=np.array(["a", "b", np.nan], dtype=object)),
    "infinite label": Call("y contains", y=np.where(np.arange(5) == 2, np.inf, 1)),
    "real labels": Call("continuous", y=np.linspace(0, 1, 5)),
    "a real among texts": Call("continuous", y=changed(["a"] * 5, 2, 1.5)),
    "dates as labels": Call("label", y=np.array(["2020-01-01"] * 5, dtype="M8[D]")),
    "bytes as labels": Call("label|class", y=np.array([b"a"] * 5)),
    "tuples as labels": Call("label|class", y=pd.Series([("a", 1)] * 5)),
    "dicts as labels": Call("label|class", y=pd.Series([{}] * 5)),
    "integers beyond 64 bits": Call("label|class", y=np.array([2**70] * 5, dtype=object)),
    "missing texts of pandas": Call(
        "label|class|NaN", y=pd.Series(["a", None] * 2 + ["b"], dtype="string")
    ),
    "text that is no Unicode": Call("label|class", y=np.array(["\ud800"] * 5, dtype=object)),
}
for name in ("NaN among texts",):
    LABELS[name].X = X[100:103]
TARGETS = {
    "NaN as target": Call("y contains NaN", y=np.where(np.arange(5) == 2, np.nan, 1)),
    "infinite target": Call("y contains infinity", y=np.where(np.arange(5) == 2, np.inf, 1)),
    "None as target": Call("y contains NaN", y=changed([1.0] * 5, 2, None)),
    "text as target": Call("y.*'a'", y=np.array(["a"] * 5)),
}


@pytest.mark.parametrize("name", [*ARRAYS, *LABELS])
@pytest.mark.parametrize("cls", [AROWClassifier, FOBOSClassifier], ids=lambda cls: cls.__name__)
def test_arrays_are_refused_whole(cls, name):
    bad = (ARRAYS | LABELS)[name]
    model, fresh = fitted(cls), cls()
    refuse(lambda: model.partial_fit(bad.X, bad.y, **bad.rest), bad.says, model)
    if not bad.says.startswith("X has"):
        refuse(lambda: fresh.partial_fit(bad.X, bad.y, **bad.rest), bad.says, fresh)
        refuse(lambda: model.fit(bad.X, bad.y, **bad.rest), bad.says, model)
    model.partial_fit(X[100:105], Y[100:105])


@pytest.mark.parametrize("name", [*ARRAYS, *TARGETS])
def test_arrays_are_refused_whole_by_a_regression(name):
    bad = (ARRAYS | TARGETS)[name]
    model = fitted(PassiveAggressiveRegressor)
    refuse(lambda: model.partial_fit(bad.X, bad.y, **bad.rest), bad.says, model)


@pytest.mark.parametrize("name", [name for name, call in ARRAYS.items() if call.X is not GOOD])
@pytest.mark.parametrize("cls", [AROWClassifier, OGDRegressor], ids=lambda cls: cls.__name__)
def test_no_prediction_is_made_from_bad_arrays(cls, name):
    bad, model = ARRAYS[name], fitted(cls)
    refuse(lambda: model.predict(bad.X), bad.says, model)


@pytest.mark.parametrize("n", [1, 200])
def test_a_long_call_is_refused_as_a_short_one(variant, n):
    """A short call keeps copies of the parts it may touch, a long one of the whole model."""
    model = variant().partial_fit(X[:100], Y[:100] % 2)
    bad = X[100 : 100 + n].copy()
    bad[-1, 7] = np.nan
    for form in (np.asarray, sp.csr_matrix):
        call = lambda: model.partial_fit(form(bad), [2] * n)  # noqa: B023, E731
        refuse(call, f"NaN at row {n - 1}, column 7", model)


DICTS = {
    "NaN": ("value of feature 'a' is NaN", {"b": 1.0, "a": np.nan}),
    "infinity": ("value of feature 'a' is infinite", {"a": -np.inf}),
    "too large": ("value of feature 'a' is too large", {"a": 1e39}),
    "too large an integer": ("value of feature 'a' is too large", {"a": 10**400}),
    "list": ("feature 'a' is neither a number nor a text.*Columns\\(\\)", {"a": [1.0]}),
    "date": ("feature 'a' is neither a number nor a text.*Columns\\(\\)", {"a": date(2024, 5, 1)}),
    "complex": ("value of feature 'a' is neither a number nor a text", {"a": 1j}),
    "NumPy's NaN": ("value of feature 5 is NaN", {5: np.float32("nan")}),
    "tuple as name": ("feature name \\('a', 1\\)", {("a", 1): 1.0}),
    "None as name": ("feature name None", {"new": 1.0, None: 1.0}),
    "real name": ("feature name 1.5", {"new": 1.0, 1.5: 1.0}),
    "integer beyond 64 bits": ("feature name .*64 bits", {"new": 1.0, 2**70: 1.0}),
    "text that is no Unicode": ("not valid Unicode", {"new": 1.0, "\ud800": 1.0}),
    "text": ("dict of .*, not 'a text'; .*TextFeatures\\(\\)", "a text"),
    "no dict": ("dict", [("a", 1.0)]),
    "nothing": ("dict", None),
}
BAD_LABELS = [None, np.nan, np.inf, 1.5, ["a"], b"a", 2**70, "\ud800", ("a", 1)]
BAD_TARGETS = [None, np.nan, -np.inf, "abc", "1.5", [1.0], 1j]
BAD_WEIGHTS = [-1.0, np.nan, np.inf, "x", None]


@pytest.mark.parametrize("name", DICTS)
def test_dicts_are_refused_whole(estimator_class, name):
    says, row = DICTS[name]
    model, fresh = fitted(estimator_class), estimator_class()
    refuse(lambda: model.learn_one(row, 1), says, model)
    refuse(lambda: fresh.learn_one(row, 1), says, fresh)
    refuse(lambda: model.predict_one(row), says, model)
    if hasattr(model, "predict_proba"):
        refuse(lambda: model.predict_proba_one(row), says, model)


def test_a_value_that_is_none_is_missing(estimator_class):
    """Which is 0 to all learners but those that tell the two apart."""
    model, other = fitted(estimator_class), fitted(estimator_class)
    row, stated = {"new": 1.0, "a": None, 3: 0.5}, {"new": 1.0, 3: 0.5}
    assert model.predict_one(row) == model.predict_one(stated)
    model.learn_one(row, 1)
    other.learn_one(stated, 1)
    if hasattr(model, "explain_one"):
        assert "a" not in {part.feature for part in model.explain_one(row).contributions}
    if not getattr(estimator_class, "tells_missing", False):
        assert_same(fingerprint(model), fingerprint(other))
    with pytest.raises(YarrowError, match="feature name"):
        model.learn_one({1.5: None}, 1)


@pytest.mark.parametrize("label", BAD_LABELS, ids=ascii)
def test_labels_of_dicts_are_checked(label):
    model, fresh = fitted(AROWClassifier), AROWClassifier()
    refuse(lambda: model.learn_one({"new": 1.0}, label), "label|class", model)
    refuse(lambda: fresh.learn_one({"new": 1.0}, label), "label|class", fresh)


@pytest.mark.parametrize("target", BAD_TARGETS, ids=ascii)
def test_targets_of_dicts_are_checked(target):
    model = fitted(OGDRegressor)
    refuse(lambda: model.learn_one({"new": 1.0}, target), "target", model)


@pytest.mark.parametrize("weight", BAD_WEIGHTS, ids=ascii)
@pytest.mark.parametrize("cls", [AROWClassifier, OGDRegressor], ids=lambda cls: cls.__name__)
def test_weights_of_dicts_are_checked(cls, weight):
    model = fitted(cls)
    refuse(lambda: model.learn_one({"new": 1.0}, 1, w=weight), "weight", model)


def test_declared_classes_are_all_there_is():
    for model in (
        AROWClassifier(classes=["a", "b"]),
        Perceptron(classes=["a", "b"], multiclass="top1"),
    ):
        model.partial_fit(X[:2], ["a", "b"])
        says = "class 'c' is not one of the declared classes 'a', 'b'"
        refuse(lambda: model.partial_fit(X[:2], ["a", "c"]), f"Row 1.*{says}", model)  # noqa: B023
        refuse(lambda: model.learn_one({0: 1.0}, "c"), says, model)  # noqa: B023
    with pytest.raises(YarrowError, match="classes"):
        AROWClassifier().partial_fit(X[:2], ["a", "b"], classes=["a", "b"]).partial_fit(
            X[:2], ["a", "b"], classes=["x", "y"]
        )
    model = AROWClassifier().partial_fit(X[:2], ["a", "b"], classes=["a", "b"])
    call = lambda: model.partial_fit(X[:2], ["a", "b"], classes=["a", "b", "c"])  # noqa: E731
    refuse(call, "names 'c', but the classes were declared before: 'a', 'b'", model)
    model.partial_fit(X[:2], ["a", "b"], classes=["b", "a"])


def test_columns_of_frames_must_stay_the_same(estimator_class):
    names = [f"c{j}" for j in range(COLUMNS)]
    model = estimator_class().partial_fit(frame(X[:100], columns=names), Y[:100])
    renamed = frame(X[:9], columns=[*names[:-1], "other"])
    refuse(lambda: model.partial_fit(renamed, Y[:9]), "other", model)
    refuse(lambda: model.predict(renamed), "other", model)
    turned = frame(X[:9], columns=names[::-1])
    refuse(lambda: model.partial_fit(turned, Y[:9]), "same order", model)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_duplicates_must_not_overflow_together(dtype):
    most = float(np.finfo(dtype).max)
    twice = sp.csr_matrix(([most, most], [3, 3], [0, 2]), shape=(1, COLUMNS), dtype=dtype)
    model = fitted(AROWClassifier, dtype=dtype)
    refuse(lambda: model.partial_fit(twice, [1]), "[Rr]ow 0", model)
    refuse(lambda: model.predict(twice), "[Rr]ow 0", model)


def test_a_matrix_without_begins_cannot_crash():
    """In an interpreter of its own, which it may take down."""
    program = """
import numpy as np, scipy.sparse as sp
from yarrow import AROWClassifier, YarrowError
matrix = sp.csr_matrix(np.eye(3))
matrix.indptr = matrix.indptr[:0]
try:
    AROWClassifier().partial_fit(matrix, [0, 1, 0])
except YarrowError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "damaged" in done.stdout


def test_without_a_row_there_is_no_model():
    """Weight 0 means that a row is absent."""
    models = [AROWClassifier() for _ in range(3)]
    models[0].partial_fit(X[:2], [0, 1], sample_weight=[0, 0])
    models[1].learn_one({0: 1.0}, 1, w=0.0)
    for model in models:
        with pytest.raises(yarrow.errors.NotFittedError):
            model.predict(X[:2])
