"""Parameters are declared once: defaults, ranges, sentences and checks all come from that."""

from __future__ import annotations

import dataclasses
import inspect
import math

import numpy as np
import pytest

from yarrow import AROWClassifier, OGDClassifier, PassiveAggressiveClassifier, Perceptron
from yarrow.errors import ParameterError, YarrowError
from yarrow.parameters import (
    anything,
    check_parameters,
    choice,
    flag,
    integer,
    number,
    parameters,
)


@dataclasses.dataclass
class Everything:
    """One parameter of each kind."""

    free: float = number(0.0, "Any.")
    positive: float = number(1.0, "Above.", above=0)
    share: float = number(0.5, "Between.", at_least=0, at_most=1)
    inside: float = number(0.9, "Inside.", above=0.5, below=1)
    maybe: float | None = number(None, "May be absent.", at_least=0)
    far: float = number(2.0, "May be infinite.", at_least=1, or_infinite=True)
    count: int = integer(1, "Counted.", at_least=1, at_most=9)
    whole: int = integer(0, "Any integer.")
    maybe_count: int | None = integer(None, "May be absent.", at_least=1)
    switch: bool = flag(False, "Switched.")
    word: str = choice("a", ("a", "b"), "Chosen.")
    own: object = anything(
        None, "None or a list", lambda v: v is None or isinstance(v, list), "Own."
    )
    not_declared: int = 3
    _: dataclasses.KW_ONLY
    last: float = number(1.0, "Last.")


ALLOWED = {
    "free": ([0, -1.5, 10**20, np.float32(1), np.int8(3)], "a finite number"),
    "positive": ([1e-300, 5, np.float64(2)], "> 0"),
    "share": ([0, 1, 0.5, np.float32(0.25)], ">= 0 and <= 1"),
    "inside": ([0.500001, 0.999], "> 0.5 and < 1"),
    "maybe": ([None, 0, 2.5], "None or >= 0"),
    "far": ([1, 2.5, math.inf, np.float64(math.inf)], ">= 1, or inf"),
    "count": ([1, 9, np.int64(4)], "an integer >= 1 and <= 9"),
    "whole": ([-5, 0, 10**30], "an integer"),
    "maybe_count": ([None, 1, 10**6], "None or an integer >= 1"),
    "switch": ([True, False], "True or False"),
    "word": (["a", "b"], "one of 'a', 'b'"),
    "own": ([None, [1]], "None or a list"),
}
REFUSED = {
    "free": [math.nan, math.inf, "1", None, True, 1j, [1.0]],
    "positive": [0, -1, math.inf, None],
    "share": [-0.001, 1.001, math.nan],
    "inside": [0.5, 1, 0],
    "maybe": [-1, "none", math.nan],
    "far": [0.5, -math.inf, math.nan, "inf", None],
    "count": [0, 10, 1.0, True, "3", None],
    "whole": [0.5, math.inf, None],
    "maybe_count": [0, 1.5, True],
    "switch": [0, 1, "yes", None],
    "word": ["c", "", None, 1, ["a"]],
    "own": [(1,), "x"],
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed_values_are_accepted(name):
    values, words = ALLOWED[name]
    assert parameters(Everything)[name].allowed == words
    for value in values:
        check_parameters(Everything(**{name: value}))


@pytest.mark.parametrize("name", REFUSED)
def test_other_values_are_refused_in_one_sentence(name):
    for value in REFUSED[name]:
        with pytest.raises(ParameterError) as caught:
            check_parameters(Everything(**{name: value}))
        words = ALLOWED[name][1]
        assert (
            str(caught.value) == f"The {name!r} parameter must be {words}. Got {value!r} instead."
        )


def test_a_refused_parameter_is_a_value_error_and_a_type_error():
    """Libraries ask for one or the other."""
    for kind in (ValueError, TypeError, YarrowError):
        with pytest.raises(kind):
            check_parameters(Everything(count=0))


def test_only_declared_fields_are_parameters_in_the_order_of_the_signature():
    assert list(parameters(Everything)) == [*ALLOWED, "last"]
    assert parameters(Everything) == parameters(Everything())
    assert list(parameters(AROWClassifier))[:3] == ["r", "covariance", "loss"]


def test_the_command_line_knows_how_to_read_them():
    kinds = {name: parameter.kind for name, parameter in parameters(Everything).items()}
    assert kinds == {
        "free": float, "positive": float, "share": float, "inside": float, "maybe": float,
        "far": float,
        "count": int, "whole": int, "maybe_count": int, "switch": bool, "word": str,
        "own": None, "last": float,
    }  # fmt: skip
    assert parameters(Everything)["word"].choices == ("a", "b")


# -- the parameters of every estimator -----------------------------------------------------------


def test_defaults_are_allowed_and_every_parameter_is_explained(estimator_class):
    check_parameters(estimator_class())
    for name, parameter in parameters(estimator_class).items():
        assert parameter.doc.endswith("."), name
        assert parameter.doc[0].isupper(), name
        assert len(parameter.doc) < 120, name
        assert parameter.allowed, name


def test_the_signature_is_the_declaration(estimator_class):
    signature = inspect.signature(estimator_class)
    assert list(signature.parameters) == list(parameters(estimator_class))
    defaults = {name: p.default for name, p in signature.parameters.items()}
    assert estimator_class().get_params() == defaults
    shared = ["fit_intercept", "max_iter", "shuffle", "random_state", "dtype", "hash_bits"]
    for name in shared:
        assert signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY


def wrong_values(parameter):
    """Return values that a parameter must refuse, by what it says of itself."""
    yield object()
    if parameter.kind is float:
        yield from (math.nan, -math.inf, "1", True)
        if not parameter.allowed.endswith("or inf"):
            yield math.inf
    if parameter.kind is int:
        yield from (1.5, "1", -(10**9), math.nan)
    if parameter.kind is bool:
        yield from (1, None, "True")
    if parameter.choices:
        yield from ("nothing like it", 0)
        if not parameter.allowed.startswith("None or"):
            yield None


@pytest.mark.parametrize("learn", ["fit", "partial_fit", "learn_one"])
def test_parameters_are_checked_when_learning_starts(estimator_class, learn):
    """Not before, as scikit-learn wants it, and before anything is learned."""
    for name, parameter in parameters(estimator_class).items():
        for value in wrong_values(parameter):
            model = estimator_class(**{name: value})
            row = ({"a": 1.0}, 1) if learn == "learn_one" else (np.eye(2), [0, 1])
            with pytest.raises(ParameterError, match=f"The '{name}' parameter must be"):
                getattr(model, learn)(*row)
            assert not model.__sklearn_is_fitted__()


def test_parameters_are_set_by_name_or_not_at_all(estimator_class):
    model = estimator_class()
    assert model.set_params(max_iter=7, shuffle=False) is model
    assert (model.max_iter, model.shuffle) == (7, False)
    with pytest.raises(ValueError, match=r"Invalid parameter 'colour' .*Valid parameters are"):
        model.set_params(max_iter=9, colour="red")
    assert model.max_iter == 7


def test_what_is_shown_makes_the_same_model(few_variants):
    model = few_variants(max_iter=3)
    if getattr(model, "rule", None):
        pytest.skip("a function cannot be written down")
    again = eval(repr(model), {type(model).__name__: type(model)})
    assert again.get_params() == model.get_params()
    assert "max_iter=3" in repr(model)
    assert "shuffle" not in repr(model)


@pytest.mark.parametrize(
    "value", [{"a": 0}, {"a": -1.0}, {"a": math.inf}, {"a": "x"}, "equal", 3, [1, 2]]
)
def test_class_weights_are_positive_numbers(value):
    with pytest.raises(ParameterError, match="class_weight"):
        Perceptron(class_weight=value).learn_one({"x": 1.0}, "a")


@pytest.mark.parametrize("weight", [2, 0.5, np.float32(0.5), np.float64(2), np.int64(3)])
def test_class_weights_may_be_numbers_of_numpy(weight):
    model = Perceptron(class_weight={"a": weight}, fit_intercept=False)
    model.learn_one({"x": 1.0}, "a")
    assert abs(model.coef_).item() == weight


def test_class_weights_that_are_arrays_are_refused_in_one_sentence():
    with pytest.raises(ParameterError, match="The 'class_weight' parameter must be"):
        Perceptron(class_weight=np.array([1.0, 2.0])).learn_one({"x": 1.0}, "a")


def test_balanced_weights_need_all_labels_at_once():
    with pytest.raises(ParameterError, match="use `fit`, or give a dict"):
        Perceptron(class_weight="balanced").learn_one({"x": 1.0}, "a")


@pytest.mark.parametrize("value", [[], "ab", 3, [[1, 2]]])
def test_classes_are_a_list(value):
    with pytest.raises(ParameterError, match="classes"):
        Perceptron(classes=value).learn_one({"x": 1.0}, "a")


def test_numpy_numbers_are_numbers():
    X, y = np.eye(4), [0, 1, 0, 1]
    plain = PassiveAggressiveClassifier(C=0.5, max_iter=2).fit(X, y)
    model = PassiveAggressiveClassifier(C=np.float32(0.5), max_iter=np.int64(2)).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_probabilities_follow_the_parameters():
    model = OGDClassifier()
    assert not hasattr(model, "predict_proba")
    assert hasattr(model.set_params(loss="logistic"), "predict_proba")
