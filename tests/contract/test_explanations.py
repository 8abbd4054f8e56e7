"""What `explain_one` says of a row adds up to what the model decides about it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from contract.support import INTERRUPTIONS, as_dicts, classification

import yarrow
from conftest import ALL_CLASSES, CLASSES
from yarrow import AROWClassifier, VotedPerceptron, YarrowClassifier, linear_model
from yarrow.base.core_estimator import CoreEstimator
from yarrow.errors import YarrowError

LABELS = {1: ["only"], 2: ["spam", "ham"], 3: [7, 3, 5]}
ASKED = 4  # rows

ROUTES = ("dicts", "arrays", "frames")


def decisions(model, X):
    """What the model says for each class of some rows: of two the decision, for and against."""
    if not hasattr(model, "classes_"):
        return {None: np.ravel(model.predict(X))}
    scores = model.decision_function(X)
    names = model.classes_.tolist()
    if scores.ndim == 1:
        scores = np.stack([-scores, scores][-len(names) :], axis=1)
    return dict(zip(names, scores.T, strict=True))


def check(model, rows, said):
    """Compare the explanation of each row, for each class, with what the model says."""
    for label, scores in said.items():
        for row, score in zip(rows, scores.tolist(), strict=True):
            of_class = {} if label is None else {"label": label}
            found = model.explain_one(row, **of_class)
            assert found.label == label
            if len(said) == 1 and label is not None:  # no score is above 0 while one is known
                found = abs_explanation(found)
                score = abs(score)
            parts = [part.amount for part in found.contributions]
            size = max(1e-3, abs(score), sum(map(abs, parts)))
            assert abs(found.score - score) <= 1e-6 * size
            is_mixture = "experts" in getattr(model, "metadata", {})  # exported, without its parts
            assert found.adds_up is not (isinstance(model, VotedPerceptron) or is_mixture)
            if found.adds_up:
                assert abs(sum(parts) - score) <= 1e-6 * size
            assert parts == sorted(parts, key=lambda part: -abs(part))
            assert all(parts)


def abs_explanation(found):
    if found.score >= 0:
        return found
    parts = [type(p)(p.feature, p.value, -p.weight) for p in found.contributions]
    return type(found)(found.label, -found.score, parts, found.adds_up)


def taught(model, X, y, route):
    """A model, and its rows in the two forms in which it is asked about them."""
    names = list(range(X.shape[1])) if route == "arrays" else [f"c{j}" for j in range(X.shape[1])]
    rows = as_dicts(X, names)
    frame = X if route == "arrays" else pd.DataFrame(X, columns=names)
    if route == "dicts":
        for x, label in zip(rows, y.tolist(), strict=True):
            model.learn_one(x, label)
    else:
        model.partial_fit(frame, y)
    return rows[-ASKED:], frame[-ASKED:]


def stream(classes, columns=8, rows=60):
    X, y = classification(rows, columns, max(classes, 2))
    X *= np.linspace(0.5, 40, columns)  # as unequal as columns of tables are
    return X, y % classes


def targets(variant, y, classes):
    return np.array(LABELS[classes])[y] if variant.is_classifier else y * 1.5 - 1


@pytest.mark.parametrize("route", ROUTES)
def test_the_parts_add_up_to_the_decision(variant, route):
    for classes in LABELS if variant.is_classifier else [2]:
        X, y = stream(classes)
        model = variant()
        rows, asked = taught(model, X, targets(variant, y, classes), route)
        check(model, rows, decisions(model, asked))


@pytest.mark.parametrize("way", [name for name in INTERRUPTIONS if name != "nothing"])
def test_copies_explain_as_the_model_does(few_variants, way):
    X, y = stream(3)
    model = few_variants()
    rows, asked = taught(model, X, targets(few_variants, y, 3), "dicts")
    twin = INTERRUPTIONS[way](model)
    check(twin, rows, decisions(model, asked))
    assert [twin.explain_one(x) for x in rows] == [model.explain_one(x) for x in rows]


@pytest.mark.parametrize("classes", [2, 3])
def test_hashed_features_are_explained(few_variants, classes):
    if "groups" in few_variants.chosen:
        pytest.skip("groups go by name")
    X, y = stream(classes, columns=30)
    model = few_variants(hash_bits=4)  # names share places
    rows, _ = taught(model, X, targets(few_variants, y, classes), "dicts")
    for row in rows:
        found = model.explain_one(row)
        score = model._score_of(row, found.label)
        assert found.score == score
        if found.adds_up:
            size = max([1, *(abs(part.amount) for part in found.contributions)])
            assert total(found) == pytest.approx(score, rel=1e-6, abs=1e-6 * size)


@pytest.mark.parametrize("classes", [2, 3])
def test_exports_are_explained_as_their_models_are(few_variants, classes, tmp_path):
    X, y = stream(classes)
    model = few_variants(dtype="float64")
    rows, asked = taught(model, X, targets(few_variants, y, classes), "frames")
    if not model.is_exportable:
        return
    names = ["export.safetensors", "export.json", "export.txt"]
    for name in names if model.has_weight_table else names[:2]:  # text is a table of weights
        model.export(tmp_path / name)
        exported = yarrow.load(tmp_path / name)
        said = decisions(model, asked)
        check(exported, rows, decisions(exported, asked))
        for label, scores in said.items():
            of_class = {} if label is None else {"label": label}
            found = [exported.explain_one(row, **of_class).score for row in rows]
            np.testing.assert_allclose(found, scores, rtol=1e-5, atol=1e-5)


def test_a_class_declared_beforehand_changes_no_explanation(few_variants):
    if not few_variants.is_classifier:
        return
    X, y = stream(2)
    y = np.array(LABELS[2])[y]
    model = few_variants(classes=LABELS[2])
    rows, asked = taught(model, X, y, "dicts")
    check(model, rows, decisions(model, asked))


def test_a_model_that_has_learned_is_explained_with_what_it_was_learned_with(estimator_class):
    if "groups" in estimator_class().get_params() or estimator_class.__name__ == "CustomClassifier":
        pytest.skip("needs settings")
    X, y = stream(2)
    model = estimator_class()
    rows, asked = taught(model, X, y, "dicts")
    before = decisions(model, asked), [model.explain_one(x) for x in rows]
    model.set_params(intercept_scaling=3.0, fit_intercept=False)
    assert [model.explain_one(x) for x in rows] == before[1]
    check(model, rows, before[0])


def test_categories_that_are_also_names_are_counted_twice(estimator_class):
    if "groups" in estimator_class().get_params() or estimator_class.__name__ == "CustomClassifier":
        pytest.skip("needs settings")
    model = estimator_class()
    for i in range(20):
        model.learn_one({"a": "b" if i % 2 else "c", "x": float(i % 3)}, i % 2)
    row = {"a": "b", "a=b": 2.0, "x": 1.0, "never": 5.0, "zero": 0.0}
    found = model.explain_one(row)
    assert found.score == model._score_of(row, found.label)
    assert {part.feature for part in found.contributions} <= {"a=b", "x", "(intercept)"}
    if found.adds_up:
        assert total(found) == pytest.approx(found.score, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("columns", [3, 20, 100, 300])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_experts_that_shout_are_explained_as_they_are_heard(columns, classes, intercept):
    """With three columns, some shout: what they say beyond 3 is more than 0.01 of the sums."""
    X, y = stream(classes, columns, rows=200)
    model = YarrowClassifier(dtype="float64", fit_intercept=intercept)
    rows, asked = taught(model, X, y, "arrays")
    said = decisions(model, asked)
    pairs = [(label, row, said[label][i]) for label in said for i, row in enumerate(rows)]
    for label, row, score in pairs:
        assert total(model.explain_one(row, label)) == pytest.approx(score, rel=1e-9, abs=1e-9)


def total(explanation):
    return sum(part.amount for part in explanation.contributions)


def test_votes_say_what_would_be_lost_without_a_feature():
    X, y = stream(2)
    model = VotedPerceptron()
    rows, _ = taught(model, X, y, "dicts")
    for row in rows:
        found = model.explain_one(row)
        assert not found.adds_up
        assert "no sum" in str(found)
        sign = 1 if found.label == model.classes_[1] else -1
        score = model.decision_function(pd.DataFrame([row]).reindex(columns=names_of(X)).fillna(0))
        assert found.score == sign * score[0]
        for part in found.contributions:
            less = {name: value for name, value in row.items() if name != part.feature}
            frame = pd.DataFrame([less]).reindex(columns=names_of(X)).fillna(0)
            without = sign * model.decision_function(frame)[0]
            assert part.amount == pytest.approx(found.score - without)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [3, 100, 300])
def test_names_that_share_a_place_share_what_it_adds(dtype, columns):
    X, y = stream(2, columns)
    model = YarrowClassifier(hash_bits=3, dtype=dtype)
    rows, _ = taught(model, X, y, "dicts")
    for row in rows:
        found = model.explain_one(row)
        size = max(abs(part.amount) for part in found.contributions)
        assert total(found) == pytest.approx(found.score, rel=1e-5, abs=1e-5 * size)
        weights = {}
        for part in found.contributions:
            if part.feature != "(intercept)":
                (place,) = model._model.place([part.feature])
                weights.setdefault(place, set()).add(part.weight)
        assert all(len(found) == 1 for found in weights.values())
        assert len(weights) < columns


def names_of(X):
    return [f"c{j}" for j in range(X.shape[1])]


def test_a_distance_says_what_would_be_lost_without_a_feature():
    model = yarrow.OneClassPassiveAggressive()
    for x in (3.0, 3.5, 2.5):
        model.learn_one({"x": x, "y": 1.0})
    found = model.explain_one({"x": 9.0, "y": 4.0})
    assert found.score == model.score_one({"x": 9.0, "y": 4.0})
    assert not found.adds_up
    lost = {part.feature: part.amount for part in found.contributions}
    assert lost["y"] == pytest.approx(found.score - model.score_one({"x": 9.0}))


def test_a_ranking_is_explained():
    model = yarrow.PassiveAggressiveRanker()
    for i in range(20):
        model.learn_pair({"a": 1.0 + i % 3, "b": 1.0}, {"a": 0.5, "c": "red"})
    row = {"a": 2.0, "b": -1.0, "c": "red"}
    found = model.explain_one(row)
    assert found.score == model.predict_one(row)
    assert total(found) == pytest.approx(found.score, rel=1e-6)


@pytest.mark.parametrize("row", [{"a": float("nan")}, [1.0], {"a": 1e999}, {1.5: 1.0}], ids=str)
@pytest.mark.parametrize("label", [None, "ham"])
def test_what_is_no_row_is_refused(row, label):
    model = AROWClassifier()
    for i in range(4):
        model.learn_one({"a": 1.0 - i % 2, "b": 1.0}, ["ham", "spam"][i % 2])
    with pytest.raises(YarrowError):
        model.explain_one(row, label)


def test_all_that_own_a_model_are_under_this_contract():
    """A learner of another kind would need a look at what its explanation adds up to."""
    items = (getattr(linear_model, name) for name in linear_model.__all__)
    owners = {item for item in items if isinstance(item, type) and issubclass(item, CoreEstimator)}
    assert owners - set(ALL_CLASSES) == {linear_model.StructuredClassifier}
    assert {item.__name__ for item in set(ALL_CLASSES) - set(CLASSES)} == {
        "OneClassPassiveAggressive", "PassiveAggressiveRanker",
    }  # fmt: skip


def test_the_largest_weights_of_two_classes_are_each_others_negatives():
    model = AROWClassifier()
    for _ in range(3):
        model.learn_one({"cheap": 1.0}, "spam")
        model.learn_one({"lunch": 1.0}, "ham")
    spam, ham = (dict(model.top_features(label=label)) for label in ("spam", "ham"))
    assert spam["cheap"] > 0 > spam["lunch"]
    assert ham == {name: -weight for name, weight in spam.items()}
    assert dict(model.top_features()) == spam  # the last class in their order
