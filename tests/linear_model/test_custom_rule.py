"""A user's own rule: bit-identical to the built-in one, and harmless when it fails."""

import copy
import ctypes

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import EXACT, assert_same, binary_stream, class_stream

import yarrow
from yarrow.errors import DataError, ParameterError
from yarrow.linear_model import (
    AROWClassifier,
    CustomClassifier,
    PassiveAggressiveClassifier,
)

SIGNATURE = "void (double *, double *, double *)"
C, R = 0.3, 0.7


def python_pa1(s):
    loss = s.target - s.margin
    return 1.0, min(C * s.weight, loss / s.zz if loss > 0 and s.zz > 0 else 0.0)


def python_arow(s):
    r = R / s.weight
    loss = s.target - s.margin
    return (loss / (s.v + r), 1 / r) if loss > 0 and s.v > 0 else (0.0, 0.0)


def plain_pa1(situation, parameters, step):
    loss = situation[1] - situation[0]
    b = loss / situation[2] if loss > 0 and situation[2] > 0 else 0.0
    step[0], step[1] = 1.0, min(parameters[0] * situation[5], b)


def plain_arow(situation, parameters, step):
    r = parameters[0] / situation[5]
    loss = situation[1] - situation[0]
    updates = loss > 0 and situation[4] > 0
    step[0], step[1] = (loss / (situation[4] + r), 1 / r) if updates else (0.0, 0.0)


def in_numba(function):
    numba = pytest.importorskip("numba")
    double = numba.types.CPointer(numba.types.float64)
    return numba.cfunc(numba.types.void(double, double, double))(function)


def in_capsule(function):
    """A LowLevelCallable, here around the code that numba compiled."""
    compiled = in_numba(function)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
    name = SIGNATURE.encode()
    capsule = new(compiled.address, name, None)
    keep_alive.extend([compiled, name])
    return scipy.LowLevelCallable(capsule, signature=SIGNATURE)


keep_alive = []
BUILT_IN = {
    "affine": PassiveAggressiveClassifier(C),
    "confidence": AROWClassifier(R),
}


def own_rule(kind, loop):
    if kind == "python":
        return {"affine": python_pa1, "confidence": python_arow}[loop]
    compiler = {"numba": in_numba, "capsule": in_capsule}[kind]
    return compiler({"affine": plain_pa1, "confidence": plain_arow}[loop])


@pytest.mark.parametrize("kind", ["python", "numba", "capsule"])
@pytest.mark.parametrize("loop", BUILT_IN)
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_a_rule_of_your_own_gives_the_same_bits(kind, loop, multiclass):
    X, y = class_stream(71, rows=150, density=0.6)
    sample_weight = np.random.default_rng(71).choice([0.5, 1.0, 3.0], len(y))
    settings = {"multiclass": multiclass, "average": True, "class_weight": {10: 2.0}}
    own = CustomClassifier(own_rule(kind, loop), loop, (C if loop == "affine" else R,), **settings)
    built_in = BUILT_IN[loop].clone(settings)
    for part in (slice(0, 1), slice(1, 80), slice(80, 150)):
        for model in (own, built_in):
            model.partial_fit(X[part], y[part], sample_weight=sample_weight[part])
    for x, label in zip(X[:10], y[:10], strict=True):
        for model in (own, built_in):
            model.learn_one(dict(enumerate(x.tolist())), int(label), 0.7)
    assert_same(own, built_in)
    np.testing.assert_array_equal(own.decision_function(X), built_in.decision_function(X))


def test_the_situation_tells_the_truth():
    """Each scalar against its definition, for a rule that shrinks, on two classes."""
    X, y = binary_stream(72, rows=50)
    seen = []

    def rule(s):
        seen.append((s.margin, s.target, s.zz, s.ww, s.weight, s.t, s.updates))
        return (0.9, 0.5) if s.margin < 1 else (1.0, 0.0)

    model = CustomClassifier(rule, classes=[-1, 1], intercept_scaling=2.0, dtype="float64")
    model.partial_fit(X, y, sample_weight=np.full(len(y), 0.5))
    w, updates = np.zeros(X.shape[1] + 1), 0
    rows = np.hstack([np.full((len(X), 1), 2.0), X])
    for t, (z, told) in enumerate(zip(y[:, None] * rows, seen, strict=True), start=1):
        expected = (z @ w, 1.0, z @ z, w @ w, 0.5, t, updates)
        np.testing.assert_allclose(told, expected, rtol=1e-9, atol=1e-9)
        if z @ w < 1:
            w, updates = 0.9 * w + 0.5 * z, updates + 1
    assert 10 < updates < 50


def test_the_situation_of_a_signed_pair():
    """Top-1: |z|^2 and z'Sigma z count both blocks, |w|^2 all of them."""
    told = []

    def rule(s):
        told.append((s.margin, s.zz, s.v, s.ww))
        return (1.0, 0.5) if len(told) % 2 else (0.0, 0.25)

    affine = CustomClassifier(rule, multiclass="top1", fit_intercept=False)
    affine.learn_one({"a": 3.0}, "x")
    affine.learn_one({"a": 2.0}, "y")  # y += 0.5*2, x -= 0.5*2
    affine.learn_one({"a": 1.0}, "z")  # shrinks all by 0, then z += 0.25, y -= 0.25
    affine.learn_one({"a": 4.0}, "z")
    assert told == [(0, 8, 0, 0), (-1, 2, 0, 2), (1, 32, 0, 0.125)]
    told.clear()
    confidence = CustomClassifier(
        lambda s: told.append((s.margin, s.v)) or (0.5, 0.75),
        "confidence",
        multiclass="top1",
        fit_intercept=False,
    )
    confidence.learn_one({"a": 3.0}, "x")
    confidence.learn_one({"a": 2.0}, "y")  # both variances: 1/(1 + 0.75*4) = 1/4, means +-1
    confidence.learn_one({"a": 2.0}, "y")
    assert told == [(0, 8), (4, 2)]


def fails(how):
    """A rule that is fine until it meets a large row."""

    def rule(s):
        if s.zz > 1e4:
            return how()
        return python_arow(s)

    return rule


def raises():
    raise LookupError("the rule's own error")


FAILURES = {
    "raises": (raises, LookupError),
    "nan": (lambda: (float("nan"), 1.0), DataError),
    "infinity": (lambda: (1.0, float("inf")), DataError),
    "one number": (lambda: 1.0, TypeError),
    "one in a tuple": (lambda: (1.0,), TypeError),
    "a memory of nan": (lambda: (1.0, 2.0, float("nan")), DataError),
    "four": (lambda: (1.0, 2.0, 3.0, 4.0), TypeError),
    "words": (lambda: ("one", "two"), TypeError),
    "nothing": (lambda: None, TypeError),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("loop", ["affine", "confidence"])
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_a_failing_rule_leaves_the_model_as_it_was(failure, loop, multiclass):
    how, error = FAILURES[failure]
    X, y = class_stream(73, rows=60)
    model = CustomClassifier(fails(how), loop, multiclass=multiclass).partial_fit(X, y)
    before = copy.deepcopy(model)
    X[40, 2] = 1e3
    for label in (0, 77):  # a class known, a class that would be new
        with pytest.raises(error):
            model.learn_one({"new": 1e3}, label)
        assert_same(model, before)
    for rows in (slice(40, 41), slice(38, 60)):
        with pytest.raises(error):
            model.partial_fit(X[rows], y[rows])
        assert_same(model, before)
    X[40, 2] = 1.0
    assert_same(model.partial_fit(X, y), before.partial_fit(X, y))  # it goes on unharmed


def test_a_failing_first_row_leaves_an_unfitted_model():
    model = CustomClassifier(fails(raises))
    with pytest.raises(LookupError):
        model.learn_one({"a": 1e3}, 1)
    assert model.predict_one({"a": 1.0}) is None
    assert not model.__sklearn_is_fitted__()


def test_a_wrong_signature_is_a_clear_error():
    numba = pytest.importorskip("numba")

    def identity(x):
        return x

    wrong = [
        numba.cfunc("float64(float64)")(identity),
        scipy.LowLevelCallable(
            ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(identity),
            signature="double (double)",
        ),
    ]
    for rule in wrong:
        with pytest.raises(ParameterError, match=r"must have the signature .*double \*"):
            CustomClassifier(rule).learn_one({"a": 1.0}, 1)


def test_a_compiled_rule_that_says_nothing_is_refused():
    silent = in_numba(lambda situation, parameters, step: None)
    model = CustomClassifier(silent)
    with pytest.raises(DataError, match="not finite"):
        model.learn_one({"a": 1.0}, 1)


@pytest.mark.parametrize("rule", [5, "perceptron", [1.0]])
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(ParameterError, match="'rule'"):
        CustomClassifier(rule).learn_one({"a": 1.0}, 1)


def test_without_a_rule_it_is_the_perceptron():
    X, y = binary_stream(74)
    model = CustomClassifier().partial_fit(X, y)
    assert model.n_updates_ > 0
    assert set(np.unique(model.predict(X))) == {-1, 1}


def counting(s):
    """A Perceptron whose step falls with the mistakes that it has counted itself."""
    mistakes = s.memory + (s.margin <= 0)
    return 1.0, (s.margin <= 0) / max(1.0, mistakes), mistakes


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_a_rule_may_keep_a_number(multiclass):
    """One a column, or one for all in top1, copied with the column that a new class copies."""
    X, y = class_stream(74, rows=120)
    model = CustomClassifier(counting, multiclass=multiclass, **EXACT).partial_fit(X, y)
    one_by_one = CustomClassifier(counting, multiclass=multiclass, **EXACT)
    for i in range(len(y)):
        one_by_one.partial_fit(X[i : i + 1], y[i : i + 1])
        one_by_one = copy.deepcopy(one_by_one)
    assert_same(model, one_by_one)
    memory = model._model.get_state()["column_memory"]
    assert memory.max() > 5
    assert multiclass == "ovr" or memory[0] == model.n_updates_


def test_memory_counts_also_where_no_weight_moves():
    seen = []

    def watching(s):
        seen.append(s.memory)
        return 1.0, 0.0, s.memory + 1

    model = CustomClassifier(watching, classes=[0, 1]).partial_fit(np.eye(3), [0, 1, 0])
    assert seen == [0, 1, 2]
    assert model.n_updates_ == 0


def test_a_rule_input_has_its_old_name_for_a_while():
    with pytest.warns(DeprecationWarning, match="is now yarrow.RuleInput"):
        assert yarrow.Situation is yarrow.RuleInput
    assert "Situation" not in dir(yarrow)
