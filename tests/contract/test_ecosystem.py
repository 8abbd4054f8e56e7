"""A good guest: quick to import, sparing with memory, and at home with everyone's data."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from contract.support import assert_same, learned

from yarrow import AROWClassifier, FOBOSClassifier, OGDRegressor
from yarrow.io.formats import StreamFormat
from yarrow.online.core_stream import learn_stream


def run(program):
    """Run a program in a fresh interpreter; its output."""
    program = textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- imports -------------------------------------------------------------------------------------

HEAVY = ["scipy", "sklearn", "river", "pandas", "polars", "pyarrow", "rich", "click", "safetensors"]


def test_import_brings_nothing_heavy_along():
    loaded = run("import sys, yarrow; print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "yarrow" in loaded
    assert not set(HEAVY) & set(loaded)


def test_learning_from_arrays_and_dicts_needs_numpy_alone():
    program = """
        import sys, tempfile, os
        import numpy as np, yarrow
        from yarrow import linear_model
        for name in linear_model.__all__:
            cls = getattr(linear_model, name)
            if not getattr(cls, "learns_labels", False) or not hasattr(cls, "partial_fit"):
                continue
            model = cls().fit(np.eye(4), [0, 1, 0, 1])
            model.learn_one({"a": 1.0}, 1)
            model.predict(np.eye(4)), model.predict_one({"a": 1.0}), repr(model)
            path = os.path.join(tempfile.mkdtemp(), "m")
            model.save(path)
            yarrow.load(path)
        print(*{name.split('.')[0] for name in sys.modules})
    """
    assert not {"scipy", "sklearn", "river", "pandas", "pyarrow"} & set(run(program).split())


# -- memory --------------------------------------------------------------------------------------

MEMORY = """
    import resource
    import numpy as np, scipy.sparse as sp
    from yarrow import AROWClassifier
    random = np.random.default_rng(0)
    n, width = 30_000, 100
    indices = random.integers(0, 1000, n * width).astype(np.{index})
    values = random.random(n * width).astype(np.{value})
    begins = (np.arange(n + 1) * width).astype(np.{index})
    X = sp.csr_matrix((values, indices, begins), shape=(n, 1000))
    {form}
    y = random.integers(0, 2, n)
    model = AROWClassifier(max_iter=1).{call}(X[:100], y[:100])
    model.predict(X[:100])
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    before = peak()
    model.{call}(X, y)
    model.predict(X)
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
    print((peak() - before) / size)
"""


@pytest.mark.slow
@pytest.mark.parametrize("call", ["partial_fit", "fit"])
@pytest.mark.parametrize(
    ("index", "value", "form"),
    [
        ("int32", "float32", ""),
        ("int64", "float32", ""),
        ("int64", "float64", ""),
        ("int32", "float32", "X = X.toarray()"),
        ("int32", "float32", "X = np.asfortranarray(X.toarray())"),
    ],
    ids=["CSR direct", "CSR int64", "CSR float64", "dense", "Fortran order"],
)
def test_no_copy_of_the_input_is_made(call, index, value, form):
    """Only a row at a time is converted; labels and predictions are all that grows."""
    program = MEMORY.format(index=index, value=value, form=form, call=call)
    assert float(run(program)) < 0.2


@pytest.mark.parametrize("cls", [AROWClassifier, FOBOSClassifier, OGDRegressor])
def test_input_is_never_changed(cls, three_classes):
    X, y = three_classes
    unsorted = sp.csr_matrix(X)
    unsorted.indices = unsorted.indices[::-1].copy()  # out of order, so that rows are repaired
    unsorted.indices = np.minimum(unsorted.indices, X.shape[1] - 1)
    for given in (X.copy(), np.asfortranarray(X), sp.csr_matrix(X), unsorted, sp.csc_matrix(X)):
        parts = (
            [given] if isinstance(given, np.ndarray) else [given.data, given.indices, given.indptr]
        )
        before = [part.copy() for part in parts]
        for part in parts:
            part.flags.writeable = False
        labels = y.copy()
        labels.flags.writeable = False
        weights = np.ones(len(y))
        weights.flags.writeable = False
        model = cls().partial_fit(given, labels, sample_weight=weights)
        model.fit(given, labels, sample_weight=weights)
        model.predict(given)
        for part, copy in zip(parts, before, strict=True):
            np.testing.assert_array_equal(part, copy)


def test_rows_may_lie_in_a_file(three_classes, tmp_path):
    X, y = three_classes
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "data.npy", sp.csr_matrix(X).data)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(learned(AROWClassifier().fit(mapped, y)), learned(AROWClassifier().fit(X, y)))
    matrix = sp.csr_matrix(X)
    matrix.data = np.load(tmp_path / "data.npy", mmap_mode="r")
    assert_same(learned(AROWClassifier().fit(matrix, y)), learned(AROWClassifier().fit(X, y)))


# -- everyone's data -----------------------------------------------------------------------------

FORMS = {
    "lists": np.ndarray.tolist,
    "matrix": np.asmatrix,
    "big-endian": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
    "long double": lambda X: X.astype(np.longdouble),
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda X: pd.DataFrame(X).convert_dtypes(),
    "pandas, sparse": lambda X: pd.DataFrame(X).astype(pd.SparseDtype("float", 0.0)),
    "pandas, Arrow": lambda X: pd.DataFrame(X).convert_dtypes(dtype_backend="pyarrow"),
    "CSR array": sp.csr_array,
    "CSR big-endian": lambda X: replaced(X, lambda v: v.astype(">f8")),
    "CSC": sp.csc_matrix,
    "COO": sp.coo_array,
    "LIL": sp.lil_matrix,
    "DOK": sp.dok_matrix,
    "BSR": sp.bsr_array,
    "DIA": sp.dia_matrix,
}


def replaced(X, change):
    matrix = sp.csr_matrix(X)
    matrix.data = change(matrix.data)
    return matrix


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.filterwarnings(
    "ignore::PendingDeprecationWarning", "ignore::scipy.sparse.SparseEfficiencyWarning"
)
def test_arrays_of_every_kind_are_taken(three_classes, name):
    X, y = three_classes
    given = FORMS[name](X)
    model = AROWClassifier(dtype="float64").partial_fit(given, y)
    expected = AROWClassifier(dtype="float64").partial_fit(X, y)
    assert_same(learned(model), learned(expected))
    assert model.predict(given).tolist() == expected.predict(X).tolist()


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]
)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_matrix])
def test_numbers_of_every_type_are_taken(dtype, form):
    X = np.random.default_rng(0).integers(0, 2 if dtype == "?" else 4, (50, 6))
    y = X[:, 0] > X[:, 1]
    given = X.astype(dtype) if dtype == "f2" and form is sp.csr_matrix else form(X.astype(dtype))
    model = AROWClassifier().partial_fit(given, y)
    assert_same(learned(model), learned(AROWClassifier().partial_fit(X.astype(float), y)))


LABELS = {
    "list": list,
    "tuple": tuple,
    "pandas": pd.Series,
    "pandas texts": lambda y: pd.Series([f"class {v}" for v in y]),
    "pandas categories": lambda y: pd.Series([f"class {v}" for v in y], dtype="category"),
    "pandas nullable": lambda y: pd.Series(y, dtype="Int64"),
    "polars": pl.Series,
    "polars texts": lambda y: pl.Series([f"class {v}" for v in y]),
    "objects": lambda y: np.array(y, dtype=object),
    "uint8": lambda y: y.astype(np.uint8),
    "float32": lambda y: y.astype(np.float32),
    "texts": lambda y: y.astype(str),
    "Arrow": pa.array,
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_kind_are_taken(three_classes, name):
    X, y = three_classes
    model = AROWClassifier().fit(X, LABELS[name](y))
    expected = AROWClassifier().fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    as_integer = lambda label: int(str(label).removeprefix("class "))  # noqa: E731
    assert [as_integer(label) for label in model.predict(X)] == expected.predict(X).tolist()
    assert model.score(X, LABELS[name](y)) == expected.score(X, y)


def test_frames_of_pandas_and_polars_are_the_same(estimator_class, two_classes):
    X, y = two_classes
    names = [f"c{j}" for j in range(X.shape[1])]
    with_pandas = estimator_class().fit(pd.DataFrame(X, columns=names), y)
    with_polars = estimator_class().fit(pl.DataFrame(X, schema=names), y)
    assert_same(learned(with_polars), learned(with_pandas))
    assert with_polars.feature_names_in_.tolist() == names
    frames = pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)
    assert with_pandas.predict(frames[0]).tolist() == with_polars.predict(frames[1]).tolist()
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert with_pandas.predict(X).tolist() == with_pandas.predict(frames[0]).tolist()


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("cls", [AROWClassifier, OGDRegressor])
def test_tables_in_files_are_the_rows_in_memory(three_classes, tmp_path, cls, format):
    X, y = three_classes
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    path = tmp_path / f"rows.{format}"
    write = {
        "csv": lambda table: table.to_csv(path, index=False),
        "jsonl": lambda table: table.to_json(
            path, orient="records", lines=True, double_precision=15
        ),
        "parquet": lambda table: table.to_parquet(path),
    }[format]
    write(frame.assign(label=y))
    model = cls()
    progress = list(learn_stream(model, path, StreamFormat(table={"label": "label"})))[-1]
    assert (progress.rows, progress.done) == (len(X), True)
    exact = json_precision(frame) if format == "jsonl" else frame
    assert_same(learned(model), learned(cls().partial_fit(exact, y)))


def json_precision(frame):
    """Return what the text of a JSON file says, which pandas writes with 15 digits."""
    return frame.map(lambda value: float(f"{value:.15g}") if value else 0.0)
