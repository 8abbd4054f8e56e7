"""One order of labels, one form in which they are kept, one numbering: for every learner alike."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import as_dicts, classification
from sklearn.linear_model import SGDClassifier

import yarrow
from yarrow import (
    bandit,
    compare,
    datasets,
    evaluate,
    experts,
    feature_selection,
    kernel,
    metrics,
)
from yarrow.data.labels import (
    array_of,
    class_labels,
    distinct,
    in_order,
    kept,
    named,
    numbered,
    order_of,
)
from yarrow.errors import DataError, ParameterError

X, CODES = classification(90, 6, 3, seed=2)
LEARNERS = [
    yarrow.AROWClassifier(),
    yarrow.PassiveAggressiveClassifier(multiclass="top1"),
    yarrow.YarrowClassifier(),
    kernel.KernelPerceptron(budget=10),
    experts.HedgeClassifier([yarrow.AROWClassifier(), yarrow.Perceptron()]),
    bandit.BanditPAClassifier(),
]
#: three classes as they may come, and as they are kept
AS_THEY_COME = {
    "integers": ([0, 1, 2], [0, 1, 2]),
    "floats": ([0.0, 1.0, 2.0], [0, 1, 2]),
    "numpy": ([np.int8(0), np.float32(1), np.uint64(2)], [0, 1, 2]),
    "texts": (["a", "b", "c"], ["a", "b", "c"]),
    "numpy's texts": ([np.str_("a"), np.str_("b"), np.str_("c")], ["a", "b", "c"]),
    "mixed": ([1, "1", "x"], [1, "1", "x"]),
    "mixed floats": ([1.0, "1", np.float64(2)], [1, "1", 2]),
    "a truth value": ([True, "True", "x"], [True, "True", "x"]),
    "64 bits": ([2**60, 2**60 + 1, -(2**63)], [2**60, 2**60 + 1, -(2**63)]),
    "beyond floats": ([2**53, 2**53 + 1, "x"], [2**53, 2**53 + 1, "x"]),
    "floats that are no integer's name": ([1e17, 0.0, 1.0], [1e17, 0, 1]),
}


def exactly(labels):
    """Labels with their types: 1, 1.0, True and '1' are four."""
    return [(type(label), label) for label in labels]


def learned(model):
    return [type(model.classes_), exactly(model.classes_.tolist()), model.predict(X).tolist()]


@pytest.mark.parametrize("model", LEARNERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("how", AS_THEY_COME)
def test_labels_are_kept_alike_by_every_learner_and_route(model, how):
    came, keep = AS_THEY_COME[how]
    y = [came[code] for code in CODES]
    by_array = model.clone().partial_fit(X, y)
    by_row = model.clone()
    for x, label in zip(as_dicts(X), y, strict=True):
        by_row.learn_one(x, label)
    for one in (by_array, by_row):
        assert exactly(one.classes_.tolist()) == exactly(in_order(keep))
    expected = model.clone().partial_fit(X, CODES).predict(X).tolist()
    assert exactly(by_array.predict(X).tolist()) == exactly(keep[code] for code in expected)


def test_what_is_no_label_is_refused():
    for bad, says in (
        ([0.5, 1.0], "continuous, 0.5 at row 0"),
        (["a", None], "NaN at row 1"),
        ([b"a", b"b"], "Classes must be strings or integers"),
        (["a", b"b"], "Classes must be|must be a string"),
        (["a", 2**63], "64 bits"),
        (["a", -(2**63) - 1], "64 bits"),
        (["\ud800", "a"], "valid Unicode"),
    ):
        with pytest.raises(DataError, match=says):
            class_labels(bad, len(bad))
    assert class_labels(["a", 2**63 - 1, -(2**63)], 3) == ["a", 2**63 - 1, -(2**63)]
    with pytest.raises(ParameterError, match="None or a list of classes"):
        yarrow.Perceptron(classes=[]).fit([[1.0], [2.0]], [0, 1])


def test_texts_of_any_length_stand_beside_numbers():
    assert class_labels([1, "1", "a long one", 1], 4) == [1, "1", "a long one", 1]
    with pytest.raises(DataError, match="row 2 has 1 values, but row 0 has 2"):
        yarrow.Perceptron().fit([[1.0, 2.0], [3.0, 4.0], [5.0]], [0, 1, 0])


def test_one_order():
    labels = ["b", 10, "a", 9, -1, True]
    expected = [-1, True, 9, 10, "a", "b"]
    for some in itertools.islice(itertools.permutations(labels), 0, None, 37):
        assert in_order(some) == expected
        assert [some[place] for place in order_of(some)] == expected
        listed, first, places = distinct(list(some))
        assert listed == expected
        assert [some[row] for row in first] == expected
        assert [listed[place] for place in places] == list(some)


@pytest.mark.parametrize("y", [[3, 1, 3, 2], [2.0, 1.0, 2.0], ["b", "a", "b"], [True, False]])
def test_distinct_is_unique_where_that_can_be(y):
    names, first, places = np.unique(y, return_index=True, return_inverse=True)
    found = distinct(y)
    assert found[0] == names.tolist()
    assert found[1].tolist() == first.tolist()
    assert found[2].tolist() == places.tolist()


def test_arrays_keep_labels_apart():
    assert array_of([1, 2]).dtype.kind == "i"
    assert array_of(["a", "b"]).dtype.kind == "U"
    for labels in ([1, "1"], [True, 2], [1e17, 1]):
        assert exactly(array_of(labels).tolist()) == exactly(labels)


def test_numbers_of_classes():
    codes = {}
    assert numbered(["b", None, "a", "b"], codes, add=True).tolist() == [0, -1, 1, 0]
    assert numbered(["c", "a"], codes, unknown=-2).tolist() == [-2, 1]
    assert list(codes) == ["b", "a"]
    assert named(np.array([1, -1]), list(codes)).tolist() == ["a", None]
    assert named(np.array([], dtype=np.int64), []).tolist() == []


def test_kept_once_is_kept():
    for label in (3.0, np.float32(3), "3", True, np.True_, 1e17, 2**60, np.str_("x"), None):
        assert exactly([kept(kept(label))]) == exactly([kept(label)])


# -- texts that look like numbers ------------------------------------------------------------------


MIXED = [[1, "1", "x"][code] for code in CODES]
TEXTS = [["a", "b", "c"][code] for code in CODES]


@pytest.mark.parametrize("model", LEARNERS[:4], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("y", [MIXED, np.array(MIXED, dtype=object), pd.Series(MIXED)])
def test_evaluating_does_not_merge_1_and_its_text(model, y):
    """The same rows with three texts as labels are the same problem."""

    def results(labels):
        told = evaluate.progressive(model.clone(), X, labels, metrics=["error", "f1_macro"])
        late = evaluate.progressive(model.clone(), X, labels, delay=3, block=2)
        folds = evaluate.cross_validate(model, X, labels, folds=3, stratified=True)
        held = evaluate.tune([model], X, labels, by="validation", stratified=True)
        first = evaluate.tune([model], X, labels, by="first_half")
        return (
            [metric.value for metric in told.metrics.values()],
            late.metrics["error"].value,
            folds.values,
            held.values,
            first.values,
        )

    assert results(y) == results(TEXTS)
    told = evaluate.progressive(model.clone(), X, y)
    known = [label for label in told.predictions.tolist() if label is not None]
    assert {*exactly(known)} <= {*exactly([1, "1", "x"])}


def test_scores_and_records_do_not_merge_them():
    told = evaluate.progressive(yarrow.AROWClassifier(), X, MIXED, metrics=["log_loss"])
    assert exactly(told.classes) == exactly([1, "1", "x"])
    record = evaluate.record(yarrow.Perceptron(multiclass="top1"), X, MIXED)
    assert record.labels.tolist() == CODES.tolist()
    two = [[1, "1"][code % 2] for code in CODES]
    signs = np.where(CODES % 2, 1, -1)
    assert evaluate.record(yarrow.Perceptron(), X, two).labels.tolist() == signs.tolist()
    assert evaluate.regret(X, two, X[:, 0], loss="hinge").average == pytest.approx(
        evaluate.regret(X, signs, X[:, 0], loss="hinge").average
    )


def test_metrics_do_not_merge_them():
    metric = metrics.ConfusionMatrix()
    metric.update_many(MIXED, TEXTS)
    assert metric.labels == [1, "1", "a", "b", "c", "x"]
    f1 = metrics.F1()
    f1.update_many([1, "1"], ["1", "1"])  # the last in order is positive
    assert f1.value == pytest.approx(2 / 3)


def test_comparing_does_not_merge_them():
    rows = sp.csr_array(X.astype(np.float32))

    def wrong(y):
        data = datasets.Dataset("it", rows, np.array(y, dtype=object), "multiclass", "", "")
        models = yarrow.AROWClassifier(), kernel.KernelPerceptron()
        learners = [compare.Entrant(type(model).__name__, model) for model in models]
        return [one.wrong.tolist() for one in compare.compare(data, learners).outcomes]

    assert wrong(MIXED) == wrong(TEXTS)


def test_features_are_selected_alike():
    for y in (MIXED, TEXTS, CODES.astype(float)):
        selector = feature_selection.InformationGain(k=2).fit(X, y)
        by_row = feature_selection.InformationGain(k=2)
        for x, label in zip(as_dicts(X), list(y), strict=True):
            by_row.learn_one(x, label)
        expected = feature_selection.InformationGain(k=2).fit(X, CODES)
        assert selector.scores_.tolist() == pytest.approx(expected.scores_.tolist())
        named_scores = dict(zip(by_row.feature_names_, by_row.scores_.tolist(), strict=True))
        assert [named_scores[j] for j in range(6)] == pytest.approx(expected.scores_.tolist())


def test_scikit_learn_cannot_order_them_and_says_so():
    with pytest.raises(DataError, match="SGDClassifier cannot learn texts and numbers"):
        evaluate.progressive(SGDClassifier(), X, MIXED)
    model = experts.HedgeClassifier([SGDClassifier()])
    with pytest.raises(DataError, match="SGDClassifier cannot learn texts and numbers"):
        model.fit(X, MIXED)


@pytest.mark.parametrize("route", ["learn_one", "partial_fit", "load"])
def test_classes_that_end_in_nul_are_other_classes(route, tmp_path):
    """NumPy's texts lose what they end in."""
    model, classes = yarrow.AROWClassifier(), ["a", "a\0", "\0"]
    if route == "partial_fit":
        model.partial_fit(np.eye(3), classes)
    else:
        for place, label in enumerate(classes):
            model.learn_one({place: 1.0}, label)
    if route == "load":
        model.save(tmp_path / "model")
        model = yarrow.load(tmp_path / "model")
    assert model.classes_.tolist() == in_order(classes)
    for place, label in enumerate(classes):
        assert model.predict_one({place: 1.0}) == label
        assert model.explain_one({place: 1.0}).label == label
