"""One result by every route: the same rows give the same bits, however they come in."""

from __future__ import annotations

import io
import itertools
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from contract.support import INTERRUPTIONS, as_dicts, assert_same, learned
from hypothesis import given, settings
from hypothesis import strategies as st

from yarrow import AROWClassifier, Perceptron, _core
from yarrow.io.formats import StreamFormat
from yarrow.online.core_stream import learn_stream
from yarrow.online.prediction import predict_files

COLUMNS = 9
NAMES = [f"c{j}" for j in range(COLUMNS)]
LABELS = {
    "integers": [3, -1, 2],
    "texts": ["b", "a", "ü"],
    "booleans": [True, False, True],
    "floats": [1.0, 7.0, 0.0],
    "NumPy integers": [np.int8(5), np.int8(-3), np.int8(0)],
    "NumPy texts": [np.str_("y"), np.str_("x"), np.str_("z")],
    "texts and integers": ["1", 1, 0],
}


def from_text(model, text, stream_format):
    """Learn text in blocks of a few lines, so that threads have something to do."""
    name = "TextReaderF32" if model.dtype == "float32" else "TextReaderF64"
    reader = getattr(_core, name)
    tiny = lambda *args, **rest: reader(*args, **rest | {"block_bytes": 64})  # noqa: E731
    with mock.patch.object(_core, name, tiny):
        for _ in learn_stream(model, io.BytesIO(text.encode()), stream_format):
            pass


def svmlight(X, y, base=0):
    rows = (" ".join(f"{j + base}:{v!r}" for j, v in x.items()) for x in as_dicts(X))
    return "".join(f"{label} {row}\n" for label, row in zip(y, rows, strict=True))


def as_svmlight(threads, base):
    def learn(model, X, y, w):
        if w is not None:  # svmlight text has no weights
            return one_by_one(model, X, y, w)
        stream_format = StreamFormat("svmlight", threads=threads, index_base=base)
        return from_text(model, svmlight(X, y, base), stream_format)

    return learn


def as_vw(threads):
    def learn(model, X, y, w):
        rows = (" ".join(f"{name}:{v!r}" for name, v in x.items()) for x in as_dicts(X, NAMES))
        weights = np.ones(len(X)) if w is None else w
        lines = (f"{a} {b} | {c}\n" for a, b, c in zip(y, weights, rows, strict=True))
        return from_text(model, "".join(lines), StreamFormat("vw", threads=threads))

    return learn


def one_by_one(model, X, y, w, names=None, zeros=False):
    for i, row in enumerate(as_dicts(X, names)):
        row = {j: row.get(j, 0) for j in names or range(COLUMNS)} if zeros else row
        model.learn_one(row, y[i], **({} if w is None else {"w": w[i]}))


def with_zeros(X, index, value):
    """Return a CSR matrix that states some zeros."""
    matrix = sp.csr_array(np.where((X == 0) & (np.arange(X.size).reshape(X.shape) % 3 == 0), 1, X))
    matrix.data[:] = X[np.repeat(np.arange(len(X)), np.diff(matrix.indptr)), matrix.indices]
    return sparse(matrix, index, value)


def sparse(X, index, value):
    matrix = sp.csr_array(X)
    matrix.data = matrix.data.astype(value)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def arrays(convert):
    return lambda model, X, y, w: model.partial_fit(convert(X), y, sample_weight=w)


NUMBERED = {
    "dicts": one_by_one,
    "dicts with zeros": lambda model, X, y, w: one_by_one(model, X, y, w, zeros=True),
    "dense": arrays(lambda X: X),
    "Fortran order": arrays(np.asfortranarray),
    "float32": arrays(lambda X: X.astype(np.float32)),
    "lists": arrays(lambda X: X.tolist()),
    "every other column": arrays(lambda X: np.repeat(X, 2, axis=1)[:, ::2]),
    "backwards in memory": arrays(lambda X: X[::-1, ::-1].copy()[::-1, ::-1]),
    "CSR int32 float32": arrays(lambda X: sparse(X, np.int32, np.float32)),
    "CSR int32 float64": arrays(lambda X: sparse(X, np.int32, np.float64)),
    "CSR int64 float32": arrays(lambda X: sparse(X, np.int64, np.float32)),
    "CSR int64 float64": arrays(lambda X: sparse(X, np.int64, np.float64)),
    "CSR with zeros": arrays(lambda X: with_zeros(X, np.int32, np.float32)),
    "CSC": arrays(sp.csc_matrix),
    "svmlight 1 thread": as_svmlight(1, 0),
    "svmlight 2 threads": as_svmlight(2, 1),
    "svmlight 3 threads": as_svmlight(3, 0),
}
NAMED = {
    "dicts": lambda model, X, y, w: one_by_one(model, X, y, w, NAMES),
    "dicts with zeros": lambda model, X, y, w: one_by_one(model, X, y, w, NAMES, True),
    "pandas": arrays(lambda X: pd.DataFrame(X, columns=NAMES)),
    "pandas float32": arrays(lambda X: pd.DataFrame(X, columns=NAMES, dtype=np.float32)),
    "polars": arrays(lambda X: pl.DataFrame(X, schema=NAMES)),
    "learn_many": lambda model, X, y, w: model.learn_many(
        pd.DataFrame(X, columns=NAMES), pd.Series(list(y)), w
    ),
    "VW text": as_vw(2),
}
TEXT_ROUTES = {name for name in (*NUMBERED, *NAMED) if name.startswith(("svmlight", "VW"))}


def make_rows(seed, n, labels, weights):
    """Return rows whose classes appear one after the other, or real targets without labels."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, COLUMNS)) * (random.random((n, COLUMNS)) < random.random())
    X = X.astype(np.float32).astype(np.float64)
    if labels is None:
        y = random.normal(size=n).tolist()
    else:
        y = [labels[random.integers(0, 1 + min(2, 4 * i // n))] for i in range(n)]
    choices = {"none": None, "some": [0.5, 1.0, 3.0], "with zeros": [0.0, 1.0, 2.0]}[weights]
    if choices is None:
        return X, y, None
    w = random.choice(choices, n)
    w[0] = 1.0  # without any row there is no model to look at
    return X, y, w


def routes_and_interruptions(routes):
    return st.lists(
        st.tuples(
            st.integers(1, 20), st.sampled_from(list(routes)), st.sampled_from(list(INTERRUPTIONS))
        ),
        min_size=1,
        max_size=5,
    )


def as_column(y):
    """Return labels as users have them: an array if they are of one kind, else objects."""
    return np.array(y) if len({type(label) for label in y}) == 1 else np.array(y, dtype=object)


def follow(plan, routes, model, X, y, w, text=True):
    """Learn the rows in parts, each by the route and with the interruption that the plan says."""
    start = 0
    for size, route, interruption in plan:
        part = slice(start, start + size)
        start += size
        if not text and route in TEXT_ROUTES:
            route = "dicts"
        routes[route](model, X[part], as_column(y[part]), None if w is None else w[part])
        model = INTERRUPTIONS[interruption](model)
    return model


def check(make, routes, names, plan, seed, kind, weights, **parameters):
    n = sum(size for size, *_ in plan)
    X, y, w = make_rows(seed, n, kind and LABELS[kind], weights)
    plain = make(**parameters)
    one_by_one(plain, X, y, w, names)
    text = kind not in ("booleans", "texts and integers")  # text cannot tell these from others
    model = follow(plan, routes, make(**parameters), X, y, w, text)
    assert_same(learned(model), learned(plain))
    rows = as_dicts(X, names)
    assert [model.predict_one(row) for row in rows] == [plain.predict_one(row) for row in rows]


@settings(max_examples=10)
@given(
    plan=routes_and_interruptions(NUMBERED),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(list(LABELS)),
    weights=st.sampled_from(["none", "none", "some", "with zeros"]),
    dtype=st.sampled_from(["float32", "float64"]),
    hash_bits=st.sampled_from([None, None, 2]),
    fit_intercept=st.booleans(),
)
def test_numbered_rows_give_one_result(variant, plan, seed, kind, weights, **parameters):
    kind = kind if variant.is_classifier else None
    check(variant, NUMBERED, None, plan, seed, kind, weights, **parameters)


@settings(max_examples=5)
@given(
    plan=routes_and_interruptions(NAMED),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(list(LABELS)),
    weights=st.sampled_from(["none", "some", "with zeros"]),
    dtype=st.sampled_from(["float32", "float64"]),
    hash_bits=st.sampled_from([None, None, 2]),
)
def test_named_rows_give_one_result(variant, plan, seed, kind, weights, **parameters):
    kind = kind if variant.is_classifier else None
    check(variant, NAMED, NAMES, plan, seed, kind, weights, **parameters)


def declared_or_not(make, labels, chunk, seed):
    """Return three models of the same rows: classes unknown, given to partial_fit, a parameter."""
    X, y, _ = make_rows(seed, 60, (labels * 3)[:3], "none")
    models = make(), make(), make(classes=labels)
    for at in range(0, len(X), chunk):
        part = slice(at, at + chunk)
        models[0].partial_fit(X[part], y[part])
        models[1].partial_fit(X[part], y[part], classes=labels)
        models[2].partial_fit(X[part], y[part])
    return X, models


def assert_alike(models, names, *args):
    for name in names:
        if hasattr(models[0], name):
            found = [getattr(model, name) for model in models]
            first, *others = [np.asarray(f(*args) if callable(f) else f).tolist() for f in found]
            assert all(other == first for other in others), name


@settings(max_examples=5)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["integers", "texts", "NumPy integers"]),
    chunk=st.integers(1, 30),
    classes=st.integers(1, 3),
)
def test_declared_classes_change_no_weight(variant, seed, kind, chunk, classes):
    """Not even with two of them, which share one column of weights if they are declared."""
    if not variant.is_classifier:
        pytest.skip("a regression has no classes")
    X, models = declared_or_not(variant, LABELS[kind][:classes], chunk, seed)
    assert_alike(models, ["coef_", "intercept_", "variance_", "n_mistakes_", "t_", "classes_"])
    assert_alike(models, ["predict", "decision_function"], X)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_declared_classes_change_no_count_and_no_probability(estimator_class, classes):
    if not hasattr(estimator_class, "classes_"):
        pytest.skip("a regression has no classes")
    X, models = declared_or_not(estimator_class, [0, 1, 2][:classes], 60, seed=1)
    assert_alike(models, ["n_updates_"])
    assert_alike(models, ["predict_proba"], X)


def test_predictions_agree_in_every_form(variant, three_classes):
    X, y = three_classes
    model = variant().partial_fit(X, y)
    forms = [X, X.astype(np.float32), np.asfortranarray(X), sp.csr_matrix(X), X.tolist()]
    forms += [sparse(X, np.int64, np.float64), with_zeros(X, np.int64, np.float32)]
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            first, *others = [getattr(model, method)(form).tolist() for form in forms]
            assert all(other == first for other in others), method
    expected = model.predict(X).tolist()
    assert [model.predict_one(row) for row in as_dicts(X)] == expected
    stream_format = StreamFormat("svmlight", index_base=0)
    source, wanted = io.BytesIO(svmlight(X, y).encode()), "scores"
    blocks = list(predict_files(model, source, stream_format, wanted=wanted))
    assert [label for block in blocks for label in block.predictions] == expected
    if hasattr(model, "decision_function"):
        scores = [row for block in blocks for row in block.table]
        assert scores == model.decision_function(X).tolist()


def test_fit_on_rows_in_order_is_partial_fit_again_and_again(variant, three_classes):
    X, y = three_classes
    fitted = variant(shuffle=False, max_iter=3).fit(X, y)
    again = variant()
    for _ in range(3):
        again.partial_fit(X, y)
    assert_same(learned(fitted), learned(again))


def test_fit_is_repeatable_and_forgets(variant, two_classes):
    X, y = two_classes
    fitted = variant().fit(X, y)
    used = variant().partial_fit(X[:, :5], y + 7).fit(X, y)
    assert_same(learned(used), learned(fitted))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_order_of_values_is_kept_and_duplicates_are_summed(dtype):
    index, value = [4, 1, 4, 0, 1], [0.1, 0.2, 0.3, 0.4, -0.2]
    twice = sp.csr_matrix((value, index, [0, 5]), shape=(1, 5))
    sparse_model = Perceptron(dtype=dtype).partial_fit(twice, ["a"])
    real = np.dtype(dtype).type
    dict_model = Perceptron(dtype=dtype)
    dict_model.learn_one({4: float(real(0.1) + real(0.3)), 0: 0.4}, "a")
    for row, label in [({0: 1.0, 4: 0.5}, "b"), ({4: 1e-3, 0: 2.0}, "a")]:
        sparse_model.learn_one(row, label)
        dict_model.learn_one(row, label)
    assert_same(learned(sparse_model), learned(dict_model))


@pytest.mark.parametrize("what", ["values", "indices", "both"])
def test_a_sparse_matrix_need_not_be_contiguous(three_classes, what):
    X, y = three_classes
    plain, spread = sparse(X, np.int32, np.float32), sparse(X, np.int32, np.float32)
    if what in ("values", "both"):
        spread.data = np.repeat(plain.data, 2)[::2]
    if what in ("indices", "both"):
        spread.indices = np.repeat(plain.indices, 2)[::2]
    models = [AROWClassifier().partial_fit(matrix, y) for matrix in (plain, spread)]
    assert_same(learned(models[1]), learned(models[0]))
    assert models[0].predict(spread).tolist() == models[0].predict(plain).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_that_round_to_zero_are_absent_everywhere(dtype):
    X = np.array([[1e-60, 2.0], [0.5, 1e-60]])
    models = [Perceptron(dtype=dtype) for _ in range(4)]
    one_by_one(models[0], X, [0, 1], None)
    models[1].partial_fit(X, [0, 1])
    models[2].partial_fit(sp.csr_matrix(X), [0, 1])
    from_text(models[3], svmlight(X, [0, 1]), StreamFormat("svmlight", index_base=0))
    for model in models[1:]:
        assert_same(learned(model), learned(models[0]))


@pytest.mark.parametrize("when_full", ["drop", "prune"])
def test_a_full_vocabulary_gives_one_result_in_any_chunking(when_full):
    X, y, _ = make_rows(1, 40, ["a", "b", "a"], "none")
    results = []
    for chunk, route in itertools.product((1, 7, 40), ("dicts", "CSR int32 float32", "dense")):
        model = AROWClassifier(max_features=4, when_full=when_full)
        for at in range(0, len(X), chunk):
            NUMBERED[route](model, X[at : at + chunk], y[at : at + chunk], None)
        results.append(learned(model))
    for result in results[1:]:
        assert_same(result, results[0])
