"""river's own checks, and life inside its pipelines."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest
from contract.support import as_dicts, assert_same, failed_checks, learned, with_rows
from river import base as river_base
from river import (
    checks,
    compose,
    ensemble,
    evaluate,
    feature_extraction,
    metrics,
    multiclass,
    preprocessing,
    stream,
)

from yarrow import AROWClassifier, OGDRegressor, PassiveAggressiveClassifier

#: margins of 0, on which rounding decides, are common on rows of -1, 0 and 1 without any rate
ROUNDING_DECIDES = {
    "NHERDClassifier-full": {"check_shuffle_features_no_impact"},
    "PegasosClassifier-top1": {"check_shuffle_features_no_impact"},
    "RDAClassifier-top1": {"check_shuffle_features_no_impact"},
}
#: with partial inputs the learner looks at random places of a row
ORDER_DECIDES = {"OFSClassifier-3-partial-ovr": {"check_shuffle_features_no_impact"}}


@pytest.mark.filterwarnings("ignore:The predictions of most rows")  # raw columns: some diverge
def test_all_checks_pass(few_variants):
    """All of them: none is skipped."""
    model = few_variants()
    assert model._unit_test_skips() == set()
    found = list(checks.yield_checks(model))
    assert len(found) > 25, "river has more checks than this"
    # This one takes as long as all others, and no choice changes what is kept.
    left_out = {"check_bounded_memory_growth"} if few_variants.chosen else set()
    expected = (ROUNDING_DECIDES | ORDER_DECIDES).get(str(few_variants), set())
    if few_variants.chosen and not expected:  # 200 rows for each learner, 60 for each choice of one
        found = [with_rows(check, 60) for check in found]
    failed = failed_checks((c for c in found if c.__name__ not in left_out), model.clone)
    assert failed.keys() == expected, failed


def test_estimators_count_as_rivers(estimator_class):
    model = estimator_class()
    is_classifier = hasattr(estimator_class, "classes_")
    assert isinstance(model, river_base.Estimator)
    assert isinstance(model, river_base.Classifier) == is_classifier
    assert isinstance(model, river_base.MiniBatchClassifier) == is_classifier
    assert isinstance(model, river_base.Regressor) != is_classifier
    assert not isinstance(model, river_base.Transformer)


def rows_of(cls, data):
    X, y = data
    labels = y.tolist() if hasattr(cls, "classes_") else (y - 0.5).tolist()
    return list(zip(as_dicts(X, [f"c{j}" for j in range(X.shape[1])]), labels, strict=True))


def test_progressive_validation_in_a_pipeline(estimator_class, two_classes):
    rows = rows_of(estimator_class, two_classes)
    pipeline = preprocessing.StandardScaler() | estimator_class()
    is_classifier = hasattr(estimator_class, "classes_")
    metric = metrics.Accuracy() if is_classifier else metrics.MAE()
    evaluate.progressive_val_score(iter(rows), pipeline, metric)
    assert metric.get() > 0.6 if is_classifier else metric.get() < 0.5
    assert len(list(evaluate.iter_progressive_val_score(iter(rows), pipeline, metric, step=50))) > 3


def test_a_pipeline_learns_what_the_model_alone_learns(estimator_class, two_classes):
    rows = rows_of(estimator_class, two_classes)
    pipeline, alone = compose.FuncTransformer(dict) | estimator_class(), estimator_class()
    for x, y in rows:
        pipeline.learn_one(x, y)
        alone.learn_one(x, y)
    assert_same(learned(pipeline[-1]), learned(alone))
    assert pipeline.predict_one(rows[0][0]) == alone.predict_one(rows[0][0])


def test_bags_of_words_beside_numbers():
    texts = feature_extraction.BagOfWords(on="text", ngram_range=(1, 1))
    model = (texts + compose.Select("length")) | AROWClassifier()
    rows = [
        ({"text": "cheap pills", "length": 2.0}, "spam"),
        ({"text": "lunch at noon", "length": 3.0}, "ham"),
    ] * 10
    for x, y in rows:
        model.learn_one(x, y)
    assert model.predict_one({"text": "pills", "length": 1.0}) == "spam"
    assert {"cheap", "pills", "lunch", "at", "noon", "length"} == set(model[-1].feature_names_)


def test_minibatches_in_a_pipeline(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    pipeline = preprocessing.StandardScaler() | PassiveAggressiveClassifier()
    for at in range(0, len(X), 50):
        pipeline.learn_many(frame[at : at + 50], pd.Series(y[at : at + 50]))
    predicted = pipeline.predict_many(frame)
    assert predicted.index.equals(frame.index)
    assert (predicted.to_numpy() == y).mean() > 0.8


@pytest.mark.parametrize("estimator_class", [AROWClassifier, OGDRegressor])
def test_frames_with_integer_columns_name_features_by_them(estimator_class):
    frame = pd.DataFrame({5: [1.0, 0.0, 2.0], -7: [0.5, 1.0, 0.0]})
    many, one = estimator_class(), estimator_class()
    many.learn_many(frame, pd.Series([0, 1, 0]))
    for x, y in zip(frame.to_dict("records"), [0, 1, 0], strict=True):
        one.learn_one(x, y)
    assert_same(learned(many), learned(one))
    assert many.predict_many(frame).tolist() == [
        one.predict_one(x) for x in frame.to_dict("records")
    ]


def test_frames_may_bring_other_columns_each_time(estimator_class):
    first = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 2.0]})
    second = pd.DataFrame({"c": [1.0, 3.0], "a": [0.5, 0.0]}, index=[7, 3])
    model = estimator_class()
    for frame in (first, second):
        model.learn_many(frame, pd.Series([0, 1]))
    assert set(model.feature_names_) == {"a", "b", "c"}
    assert list(model.predict_many(second).index) == [7, 3]
    one = estimator_class()
    for x, y in [({"a": 1.0}, 0), ({"b": 2.0}, 1), ({"c": 1.0, "a": 0.5}, 0), ({"c": 3.0}, 1)]:
        one.learn_one(x, y)
    assert_same(learned(model), learned(one))


def test_ensembles_of_river(two_classes):
    rows = rows_of(AROWClassifier, two_classes)
    for wrapped in (
        ensemble.BaggingClassifier(AROWClassifier(), n_models=3, seed=1),
        ensemble.ADWINBaggingClassifier(AROWClassifier(), n_models=3, seed=1),
        multiclass.OneVsRestClassifier(AROWClassifier()),
    ):
        metric = evaluate.progressive_val_score(iter(rows), wrapped, metrics.Accuracy())
        assert metric.get() > 0.7, wrapped


def test_streams_of_arrays(two_classes):
    X, y = two_classes
    model = OGDRegressor()
    for x, target in stream.iter_array(X, y):
        model.learn_one(x, target)
    assert set(model.feature_names_) == set(range(X.shape[1]))


@pytest.mark.parametrize("first", ["yarrow", "river"])
def test_the_order_of_imports_does_not_matter(first):
    second = {"yarrow": "river", "river": "yarrow"}[first]
    program = f"""
import {first}, {second}
from river import base, compose, metrics, preprocessing, evaluate
from yarrow import AROWClassifier
model = AROWClassifier()
pipeline = preprocessing.StandardScaler() | model
assert isinstance(model, base.Classifier) and not isinstance(model, base.Regressor)
rows = [({{"x": float(i), "z": 1.0}}, i % 2 == 0) for i in range(20)]
print(evaluate.progressive_val_score(rows, pipeline, metrics.Accuracy()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Accuracy" in done.stdout


def test_probabilities_are_absent_or_sum_to_one(variant, three_classes):
    if not variant.is_classifier:
        pytest.skip("a regression has no probabilities")
    model = variant()
    rows = rows_of(variant.cls, three_classes)
    if not hasattr(model, "predict_proba"):
        with pytest.raises(NotImplementedError, match="does not predict probabilities"):
            model.predict_proba_one(rows[0][0])
        return
    assert model.predict_proba_one(rows[0][0]) == {}
    for x, y in rows:
        model.learn_one(x, y)
        probabilities = model.predict_proba_one(x)
        assert sum(probabilities.values()) == pytest.approx(1)
        assert set(probabilities) == set(model.classes_.tolist())
        assert probabilities[model.predict_one(x)] == max(probabilities.values())
