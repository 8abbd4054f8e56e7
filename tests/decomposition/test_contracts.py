"""Every decomposition keeps the contracts of scikit-learn and of river, and of model files."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import with_rows
from river.checks import yield_checks
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import yarrow
from yarrow import decomposition
from yarrow.decomposition.base import Decomposition
from yarrow.errors import DataError, ModelFileError, NotFittedError, ParameterError
from yarrow.saving import model_file

CLASSES = [getattr(decomposition, name) for name in decomposition.__all__]
OF_ROWS = [cls for cls in CLASSES if issubclass(cls, Decomposition)]
#: smaller than by default, so that the checks take seconds
SMALL = {
    "OnlineHDP": {"n_components": 4, "n_document_topics": 2, "max_rounds": 5},
    "OnlineLDA": {"n_components": 3, "max_rounds": 10},
}


#: arrays of which a line more is no contradiction: it has no user, no item or no row
FREE = {"_user_factors", "_item_factors", "_left"}


def small(cls):
    return cls(**SMALL.get(cls.__name__, {}))


def sklearn_checks():
    for cls in OF_ROWS:
        with warnings.catch_warnings(action="ignore"):  # of not inheriting from BaseEstimator
            checks = list(estimator_checks_generator(small(cls)))
        for estimator, check in checks:
            name = check.func.__name__
            marks = ()
            if name in cls.expected_failed_checks:
                marks = pytest.mark.xfail(reason=cls.expected_failed_checks[name])
            yield pytest.param(estimator, check, id=f"{cls.__name__}-{name}", marks=marks)


def river_checks():
    for cls in OF_ROWS:
        for check in yield_checks(small(cls)):
            if check.__name__ in cls._unit_test_skips():
                continue
            if check.__name__ != "check_bounded_memory_growth":
                check = with_rows(check, 60)
            yield pytest.param(cls, check, id=f"{cls.__name__}-{check.__name__}")


def rows(n: int = 60, d: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).poisson(2.0, (n, d)).astype(float)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(sklearn_checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("cls", "check"), list(river_checks()))
def test_river_checks(cls, check):
    check(small(cls))


@pytest.mark.parametrize("cls", CLASSES)
def test_clones_prints_and_says_when_to_use_it(cls):
    assert clone(cls()).get_params() == cls().get_params()
    assert repr(cls()) == f"{cls.__name__}()"
    assert "Use it" in cls.__doc__


@pytest.mark.parametrize("cls", OF_ROWS)
def test_save_and_load_go_on_as_if_nothing_had_happened(cls, tmp_path):
    X = rows()
    model = cls().partial_fit(X[:37])
    model.save(tmp_path / "model")
    loaded = yarrow.load(tmp_path / "model")
    copied = pickle.loads(pickle.dumps(model))
    assert loaded.get_params() == model.get_params()
    for other in (loaded, copied):
        other.partial_fit(X[37:])
    expected = model.partial_fit(X[37:]).transform(X)
    np.testing.assert_array_equal(loaded.transform(X), expected)
    np.testing.assert_array_equal(copied.transform(X), expected)


@pytest.mark.parametrize("cls", OF_ROWS)
def test_a_file_of_another_or_a_damaged_one_is_refused(cls, tmp_path):
    with pytest.raises(NotFittedError):
        cls().save(tmp_path / "model")
    model = cls().fit(rows())
    model.save(tmp_path / "model")
    other = next(c for c in [*CLASSES, type("Other", (cls,), {})] if c is not cls)
    with pytest.raises(ModelFileError, match=f"holds a {cls.__name__}"):
        other.load(tmp_path / "model")
    content = bytearray((tmp_path / "model").read_bytes())
    content[-1] ^= 1
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelFileError, match="damaged"):
        cls.load(tmp_path / "model")


def learned_model(cls):
    if cls in OF_ROWS:
        return cls().fit(rows())
    return cls().fit([[u, i] for u in range(5) for i in range(4)], np.arange(20.0) % 5)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_file_that_contradicts_itself_is_refused(cls, tmp_path):
    """Each array in turn with a line too many, each other thing missing or of another type."""
    path = tmp_path / "model"
    learned_model(cls).save(path)
    tensors, metadata = model_file.read(path)
    cls.load(path)

    def refused(changed_tensors, changed_state):
        changed = {**metadata, "state": changed_state}
        model_file.write(path, changed_tensors, changed)
        with pytest.raises(ModelFileError, match="model: "):
            cls.load(path)

    for name, tensor in tensors.items():
        if name in FREE:
            continue
        longer = np.concatenate([tensor, tensor[:1]]) if len(tensor) else np.ones((3, 3, 3))
        refused({**tensors, name: longer}, metadata["state"])
        refused({**tensors, name: tensor[None]}, metadata["state"])
        refused({k: v for k, v in tensors.items() if k != name}, metadata["state"])
    for name in metadata["state"]:
        refused(tensors, {k: v for k, v in metadata["state"].items() if k != name})
        refused(tensors, {**metadata["state"], name: "x"})
    refused(tensors, {**metadata["state"], "transform": 1})


@pytest.mark.parametrize("cls", OF_ROWS)
def test_names_of_columns_survive_a_file(cls, tmp_path):
    frame = pd.DataFrame(rows(), columns=list("abcdef"))
    model = cls().fit(frame)
    model.save(tmp_path / "model")
    loaded = yarrow.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
    with pytest.raises(DataError, match="unseen at fit time"):
        loaded.transform(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("cls", OF_ROWS)
def test_bad_input_changes_nothing(cls):
    X = rows()
    model = cls().fit(X)
    before = model.transform(X)
    bad = X[:3].copy()
    bad[2, 1] = np.inf
    for wrong in (bad, X[:, :4], np.full((2, 6), 1e200), [["a"] * 6]):
        with pytest.raises(DataError):
            model.partial_fit(wrong)
        with pytest.raises(DataError):
            model.fit(wrong) if np.shape(wrong) != (60, 4) else model.partial_fit(wrong)
    for row in ({0: "x"}, {0: float("inf")}, {0: 10**400}):
        with pytest.raises(DataError):
            model.learn_one(row)
    np.testing.assert_array_equal(model.transform(X), before)
    assert model.n_features_in_ == 6


@pytest.mark.parametrize("cls", OF_ROWS)
def test_sparse_dense_and_dict_rows_give_the_same(cls):
    X = rows(30)
    one = cls().fit(X)
    other = cls().fit(sp.csr_array(X))
    np.testing.assert_allclose(other.transform(sp.csr_array(X)), one.transform(X), atol=1e-9)
    first = dict(enumerate(X[0]))
    got = one.transform_one(first)
    np.testing.assert_allclose([*got.values()], one.transform(X[:1])[0], atol=1e-9)
    assert cls().transform_one(first) == {}


def test_a_wrong_parameter_is_named():
    for cls in CLASSES:
        name = next(iter(cls().get_params()))
        with pytest.raises(ParameterError, match=name):
            cls(**{name: -1})._check_parameters()


def test_importing_imports_neither_library():
    program = (
        "import sys, yarrow.decomposition\n"
        "print({'sklearn', 'river', 'scipy', 'pandas', 'pyarrow'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"
