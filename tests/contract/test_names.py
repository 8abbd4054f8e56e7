"""Features and classes have names of any kind, appear at any time, and can be bounded."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import (
    INTERRUPTIONS,
    as_dicts,
    assert_same,
    classification,
    fingerprint,
    learned,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from yarrow import (
    AROWClassifier,
    CustomClassifier,
    FOBOSClassifier,
    OGDRegressor,
    PassiveAggressiveClassifier,
    Perceptron,
)
from yarrow.errors import UnknownFeaturesWarning, YarrowError
from yarrow.io.formats import StreamFormat
from yarrow.online.core_stream import learn_stream

names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.integers(-(2**63), 2**63 - 1)
)


def weights(model):
    """Return the weight of each feature by name."""
    return dict(zip(model.feature_names_, np.atleast_2d(model.coef_)[0].tolist(), strict=True))


@given(st.lists(names, min_size=2, max_size=30, unique=True))
def test_any_text_and_any_integer_is_a_name(chosen):
    """Each name has a weight of its own; an alternating Perceptron adds every row."""
    model = Perceptron(fit_intercept=False)
    for i, name in enumerate(chosen):
        model.learn_one({name: 1.0 + i}, i % 2)
    assert model.feature_names_ == chosen
    assert [type(name) for name in model.feature_names_] == [type(name) for name in chosen]
    assert weights(model) == {name: (1.0 + i) * (-1) ** (i + 1) for i, name in enumerate(chosen)}
    assert [model.explain_one({name: 1.0}).contributions[0].feature for name in chosen] == chosen


def test_a_text_is_never_the_integer_that_it_spells():
    model = Perceptron(fit_intercept=False)
    model.learn_one({5: 1.0}, 0)
    model.learn_one({"5": 1.0}, 1)
    assert weights(model) == {5: -1.0, "5": 1.0}
    assert model.predict_one({5: 1.0}) == 0
    assert model.predict_one({"5": 1.0}) == 1


def test_names_of_numpy_and_booleans_are_those_of_python():
    model = Perceptron(fit_intercept=False)
    model.learn_one({np.int8(5): 1.0, np.str_("a"): 2.0, True: 3.0}, 0)
    model.learn_one({5: 4.0, "a": 5.0, 1: 6.0}, 1)
    assert model.feature_names_ == [5, "a", 1]


def test_values_may_be_numbers_of_any_kind():
    row = {"f": np.float32(0.5), "i": np.int64(3), "b": True, "n": np.bool_(True), "l": 2**40}
    row |= {"0-d": np.array(1.5), "z": np.float64(0), "F": np.False_}
    model, plain = Perceptron(), Perceptron()
    model.learn_one(row, 1)
    plain.learn_one({"f": 0.5, "i": 3.0, "b": 1.0, "n": 1.0, "l": 2.0**40, "0-d": 1.5}, 1)
    assert_same(learned(model), learned(plain))


def test_a_text_as_value_is_a_category():
    model, plain = Perceptron(), Perceptron()
    for row, spelled, label in [
        ({"colour": "red", "size": 2.0}, {"colour=red": 1.0, "size": 2.0}, "ripe"),
        ({"colour": "grün", 5: "x"}, {"colour=grün": 1.0, "5=x": 1.0}, "raw"),
        ({"colour": ""}, {"colour=": 1.0}, "ripe"),
        ({"colour": "red", "colour=red": 0.5}, {"colour=red": 1.5}, "raw"),
    ]:
        model.learn_one(row, label)
        plain.learn_one(spelled, label)
        assert model.predict_one(row) == plain.predict_one(spelled)
    assert_same(learned(model), learned(plain))


def test_features_and_classes_may_appear_at_any_time(variant):
    """A model that meets them late is the one that was shown all of them with the first row."""
    every = pd.DataFrame(ROWS).fillna(0.0)
    targets = LABELS if variant.is_classifier else list(range(len(ROWS)))
    early = variant().partial_fit(every, targets)
    late = variant()
    for row, target in zip(every.to_dict("records"), targets, strict=True):
        late.learn_one({name: value for name, value in row.items() if value}, target)
    assert late.feature_names_ == list(every.columns)
    assert_same(learned(early), learned(late))
    with pytest.warns(UnknownFeaturesWarning):
        assert late.predict_one({"never seen": 1.0}) == late.predict_one({})


LABELS = ["a", "a", "b", "a", "c", "b", "d"] * 6
ROWS = [{f"f{(i * j) % 17}": 1.0 + j for j in range(1, 2 + i % 4)} for i in range(len(LABELS))]


# -- hashing -------------------------------------------------------------------------------------


def fold(a, b):
    product = a * b
    return (product ^ (product >> 64) ^ a ^ b) & (2**64 - 1)


def hash_of(name):
    """Return the 64 bits that stand for a name in every hashed model ever saved."""
    length_key, text_key = 0x6A09E667F3BCC909, 0xBB67AE8584CAA73B
    long_key, integer_key = 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1
    if isinstance(name, int):
        return fold(fold(name % 2**64 ^ integer_key, long_key), integer_key)
    text, state = name.encode(), text_key
    word = lambda piece: int.from_bytes(piece, "little")  # noqa: E731
    first = last = 0
    if len(text) >= 8:
        rest = text
        while len(rest) > 16:
            state = fold(word(rest[:8]) ^ long_key, word(rest[8:16]) ^ state)
            rest = rest[16:]
        first, last = word((text[-16:] if len(text) > 16 else text)[:8]), word(text[-8:])
    elif len(text) >= 4:
        first, last = word(text[:4]), word(text[-4:])
    elif text:
        first, last = text[0], text[len(text) // 2] << 8 | text[-1]
    return fold(fold(first ^ long_key, last ^ state), len(text) ^ length_key)


def hashed_by_hand(row, bits, dtype):
    """Return a row named by places; values that meet are summed in the model's own precision."""
    places = {}
    for name, value in row.items():
        if dtype(value) == 0:  # is absent, and so has no place in the order of the row
            continue
        place = hash_of(name) % 2**bits
        places[place] = places.get(place, dtype(0)) + dtype(value)
    return {place: float(value) for place, value in places.items()}


@settings(max_examples=20)
@given(
    rows=st.lists(
        st.dictionaries(names, st.floats(-4, 4, width=32), min_size=1, max_size=8), min_size=1
    ),
    bits=st.integers(1, 6),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_hashing_is_merging_by_hand(rows, bits, dtype):
    hashed = AROWClassifier(hash_bits=bits, dtype=dtype.__name__)
    plain = AROWClassifier(dtype=dtype.__name__)
    for i, row in enumerate(rows):
        hashed.learn_one(row, i % 3)
        plain.learn_one(hashed_by_hand(row, bits, dtype), i % 3)
    found = learned(hashed)
    found.pop("hashed_kinds", None)  # a sign of the names, where the other keeps names
    assert_same(found, learned(plain))
    assert len(hashed.feature_names_) == 2**bits


def test_columns_are_hashed_like_the_integers_that_name_them(three_classes):
    X, y = three_classes
    models = [AROWClassifier(hash_bits=3) for _ in range(4)]
    models[0].partial_fit(X, y)
    models[1].partial_fit(sp.csr_matrix(X), y)
    text = ""
    for row, label in zip(as_dicts(X), y.tolist(), strict=True):
        models[2].learn_one(row, label)
        text += f"{label} " + " ".join(f"{j}:{v!r}" for j, v in row.items()) + "\n"
    stream_format = StreamFormat("svmlight", index_base=0)
    assert [p.rows for p in learn_stream(models[3], io.BytesIO(text.encode()), stream_format)][
        -1
    ] == 300
    for model in models[1:]:
        assert_same(learned(model), learned(models[0]))
    expected = models[0].predict(X).tolist()
    assert [models[0].predict_one(row) for row in as_dicts(X)] == expected


def test_a_hashed_model_has_a_size_that_no_stream_changes():
    model = PassiveAggressiveClassifier(hash_bits=10)
    model.learn_one({"first": 1.0}, 0)
    model.learn_one({"second": 1.0}, 1)
    before = model._raw_memory_usage
    for i in range(5000):
        model.learn_one({f"name {i}": 1.0, i: 1.0}, i % 2)
    assert model._raw_memory_usage == before
    assert model.coef_.shape == (1, 1024)


# -- a bounded vocabulary ------------------------------------------------------------------------


def grown(**parameters):
    """Return a model with ten features, whose weights are 1 to 10."""
    model = Perceptron(fit_intercept=False, **parameters)
    for i in range(10):
        model.learn_one({f"f{i}": 1.0 + (3 * i) % 10}, i % 2)
    return model


def test_beyond_the_limit_a_row_is_refused():
    model = Perceptron(max_features=3)
    model.learn_one({"a": 1.0, "b": 1.0}, 0)
    model.learn_one({"c": 1.0}, 1)
    before = fingerprint(model)
    says = "feature 'd' is one too many: there may be 3 features"
    for learn in (
        lambda: model.learn_one({"a": 2.0, "d": 1.0}, 1),
        lambda: model.learn_many(pd.DataFrame({"a": [1.0], "d": [1.0]}), [1]),
        lambda: list(learn_stream(model, io.BytesIO(b"1 | a d\n"), StreamFormat("vw"))),
    ):
        with pytest.raises(YarrowError, match=says):
            learn()
        assert_same(fingerprint(model), before)
    assert model.predict_one({"d": 1.0, "a": 1.0}) in (0, 1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_beyond_the_limit_an_array_is_refused(two_classes, form):
    X, y = two_classes
    model = Perceptron(max_features=11)
    with pytest.raises(YarrowError, match="feature 11 is one too many: there may be 11"):
        model.partial_fit(form(X), y)
    assert model.partial_fit(form(X[:, :11]), y).n_features_in_ == 11


def test_beyond_the_limit_features_are_ignored():
    model, plain = Perceptron(max_features=2, when_full="drop"), Perceptron()
    for i in range(20):
        row = {"a": 1.0 + i, "b": 2.0}
        model.learn_one(row | {f"c{i}": 5.0}, i % 2)
        plain.learn_one(row, i % 2)
    assert_same(learned(model), learned(plain))
    assert model.feature_names_ == ["a", "b"]


def test_beyond_the_limit_the_smallest_weights_are_forgotten():
    """A quarter of the room is made free, so that pruning is rare."""
    full = weights(grown())
    model = grown(max_features=8, when_full="prune")
    assert len(model.feature_names_) <= 8
    sizes = sorted(map(abs, full.values()))
    assert weights(model).items() <= full.items()
    kept = Perceptron(fit_intercept=False, max_features=8, when_full="prune")
    for i in range(9):  # the ninth is one too many
        kept.learn_one({f"f{i}": 1.0 + (3 * i) % 10}, i % 2)
    largest = sorted(map(abs, list(full.values())[:9]))[-6:]
    assert sorted(map(abs, weights(kept).values())) == largest
    assert sizes[-1] == max(map(abs, weights(kept).values()))


@pytest.mark.parametrize("cls", [AROWClassifier, FOBOSClassifier, OGDRegressor, Perceptron])
def test_memory_is_bounded_by_pruning(cls):
    model = cls(max_features=50, when_full="prune")
    sizes = []
    for i in range(3000):
        model.learn_one({f"name {i}": 1.0, f"often {i % 20}": 1.0 + i % 3}, i % 2)
        assert len(model.feature_names_) <= 50
        sizes.append(model._raw_memory_usage)
    assert max(sizes[1000:]) <= max(sizes[:1000])
    often = sum(name.startswith("often") for name in model.feature_names_)
    assert often >= 10 or cls is OGDRegressor


@pytest.mark.parametrize("name", INTERRUPTIONS)
def test_a_pruned_model_is_a_model_like_any_other(variant, name):
    X, y = classification(120, 12, 2)
    model = variant(max_features=8, when_full="prune", hash_bits=None)
    for row, label in zip(as_dicts(X), y.tolist(), strict=True):
        model.learn_one(row, label)
    model = INTERRUPTIONS[name](model)
    assert len(model.feature_names_) <= 8
    assert model.coef_.shape[-1] == len(model.feature_names_)
    for form in (np.asarray, sp.csr_matrix):
        model.partial_fit(form(X[:10]), y[:10])
        assert len(model.feature_names_) <= 8
        expected = [model.predict_one(row) for row in as_dicts(X)]
        assert model.predict(form(X)).tolist() == expected
    text = "".join(f"{label} 3:1.5 11:-2\n" for label in (0, 1))
    list(learn_stream(model, io.BytesIO(text.encode()), StreamFormat("svmlight", index_base=0)))
    model.learn_one({"text": 1.0, 5: 2.0}, 1)
    assert np.isfinite(model.coef_).all()
    model.top_features(label=1) if variant.is_classifier else model.top_features()


def test_pruning_keeps_the_norm_of_the_weights_right():
    """A rule may ask for it."""
    norms = []

    def perceptron(s):
        norms.append(s.ww)
        return 1.0, float(s.margin <= 0)

    model = CustomClassifier(perceptron, max_features=8, when_full="prune", fit_intercept=False)
    for i in range(30):
        model.learn_one({f"f{i}": 1.0 + (3 * i) % 10}, i % 2)
        expected = float(np.sum(model.coef_.astype(float) ** 2))
        model.learn_one({"other": 0.0}, 0)
        assert norms[-1] == pytest.approx(expected)


def test_classes_have_names_of_every_kind():
    labels = ["a", "ü", "", 0, -7, 2**60, True, "True", "0"]
    model = Perceptron()
    for i, label in enumerate(labels):
        model.learn_one({i: 1.0}, label)
    predicted = [model.predict_one({i: 5.0}) for i in range(len(labels))]
    assert predicted == labels
    assert [type(label) for label in predicted] == [type(label) for label in labels]
    assert set(model.classes_.tolist()) == set(labels)


def test_one_and_true_are_one_class_as_in_python():
    model = Perceptron()
    for label in (1, True, 1.0, np.int64(1), np.bool_(True), np.float32(1)):
        model.learn_one({"a": 1.0}, label)
    assert model.classes_.tolist() == [1]


def test_declared_classes_may_be_of_several_kinds():
    model = AROWClassifier(classes=["a", 1])
    model.learn_one({"x": 1.0}, "a")
    model.learn_one({"y": 1.0}, 1)
    assert model.predict_one({"y": 1.0}) == 1
