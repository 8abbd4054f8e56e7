"""scikit-learn's own checks, and life inside its pipelines and searches."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import as_dicts, assert_same, learned
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from yarrow import AROWClassifier, PassiveAggressiveClassifier, PassiveAggressiveRegressor
from yarrow.errors import NotFittedError as YarrowNotFittedError
from yarrow.parameters import parameters

#: checks that are not run where an optional package or a setting is missing
NOT_RUN = {"check_array_api_input"}
#: variants whose step grows with the weight 1000 that this check gives to a class, or not at all
WEIGHTS_TOO_LARGE = {
    "ASGDClassifier-logistic",
    "ASGDClassifier-squared_hinge",
    "CoefficientRoundingClassifier-squared",
    "CumulativePenaltyClassifier-squared",
    "CustomClassifier-adaptive-confidence-False-ovr",
    "CustomClassifier-adaptive-confidence-True-ovr",
    "CustomClassifier-fading-affine-True-ovr",
    "FOBOSClassifier-squared",
    "FrequencyRDAClassifier-squared",
    "FrequencyRDAClassifier-squared_hinge",
    "OGDClassifier-squared",
    "PassiveAggressiveClassifier-pa",
    "PegasosClassifier-True",
    "RDAClassifier-logistic",
    "RDAClassifier-squared",
    "RDAClassifier-squared_hinge",
    "SGFTClassifier-squared",
    "TruncatedGradientClassifier-squared",
}
_failures: dict[str, set[str]] = {}  # of the variants that were checked in this process


def run_checks(make):
    """Return the names of the checks that fail and of those that were not run, with the errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(make(), on_skip=None, on_fail=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert len(results) > 50, "scikit-learn has more checks than this"
    return failed, skipped


def test_all_checks_pass_but_those_declared(few_variants):
    failed, skipped = run_checks(few_variants)
    _failures[str(few_variants)] = set(failed)
    if str(few_variants) in WEIGHTS_TOO_LARGE:
        failed.pop("check_class_weight_classifiers")
    declared = few_variants.cls.expected_failed_checks
    unexpected = {name: repr(error) for name, error in failed.items() if name not in declared}
    assert not unexpected
    assert skipped <= NOT_RUN


def test_every_declared_failure_is_one(estimator_class):
    """A check that all variants pass must not stay on the list."""
    from conftest import few_variants

    declared = estimator_class.expected_failed_checks
    passed = set(declared)
    for variant in few_variants(estimator_class):
        if passed and str(variant) not in _failures:  # run alone, or by another worker
            _failures[str(variant)] = set(run_checks(variant)[0])
        passed -= _failures.get(str(variant), set())
    assert passed == set()
    assert all(len(reason) > 20 for reason in declared.values()), "a failure needs its reason"


def targets(cls, y):
    """Return class labels, or the same as numbers that a regression takes."""
    return y if "classes" in parameters(cls) else y.astype(float)


def test_cloning_gives_the_same_parameters_and_nothing_learned(variant, two_classes):
    X, y = two_classes
    model = variant(fit_intercept=False, random_state=3).fit(X, y)
    twin = clone(model)
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(twin)
    check_is_fitted(model)
    assert_same(learned(twin.fit(X, y)), learned(model))


def test_not_fitted_is_said_in_both_languages(estimator_class, two_classes):
    with pytest.raises(NotFittedError, match=f"{estimator_class.__name__} instance is not fitted"):
        estimator_class().predict(two_classes[0])
    with pytest.raises(YarrowNotFittedError):
        estimator_class().predict(two_classes[0])


def test_estimators_know_what_they_are(estimator_class):
    model = estimator_class()
    assert is_classifier(model) == ("classes" in parameters(estimator_class))
    assert is_classifier(model) != is_regressor(model)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, pd.DataFrame])
def test_pipeline_and_search(estimator_class, two_classes, form):
    X, y = two_classes
    y = targets(estimator_class, y)
    pipeline = make_pipeline(StandardScaler(with_mean=form is not sp.csr_matrix), estimator_class())
    name = estimator_class.__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__fit_intercept": [True, False]}, cv=3)
    search.fit(form(X), y)
    assert search.best_score_ > (0.8 if is_classifier(search) else -1)
    assert search.predict(form(X)).shape == y.shape


def test_search_over_every_choice(estimator_class, two_classes):
    X, y = two_classes
    grid = {n: list(p.choices) for n, p in parameters(estimator_class).items() if p.choices}
    for name, values in grid.items():
        search = GridSearchCV(estimator_class(), {name: values}, cv=2, error_score="raise")
        search.fit(X, targets(estimator_class, y))
        assert len(search.cv_results_["params"]) == len(values)


def test_scores_and_curves(estimator_class, two_classes):
    X, y = two_classes
    y = targets(estimator_class, y)
    assert cross_val_score(estimator_class(), X, y, cv=3).shape == (3,)
    assert cross_val_predict(estimator_class(), X, y, cv=3).shape == y.shape
    sizes, *_ = learning_curve(
        estimator_class(), X, y, cv=2, exploit_incremental_learning=True, train_sizes=[0.5, 1.0]
    )
    assert len(sizes) == 2
    model = estimator_class().fit(X, y)
    assert permutation_importance(model, X, y, n_repeats=1).importances.shape == (X.shape[1], 1)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(estimator_class, three_classes, method):
    X, y = three_classes
    if not is_classifier(estimator_class()):
        pytest.skip("a regression has no probabilities")
    for multiclass in parameters(estimator_class)["multiclass"].choices:
        model = estimator_class(multiclass=multiclass)
        calibrated = CalibratedClassifierCV(model, method=method, cv=2).fit(X, y)
        probabilities = calibrated.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert np.mean(calibrated.predict(X) == y) > 0.6


def test_ensembles_and_wrappers(two_classes, three_classes):
    X, y = three_classes
    for wrapped in (
        BaggingClassifier(AROWClassifier(), n_estimators=3, random_state=0),
        OneVsOneClassifier(PassiveAggressiveClassifier()),
        StackingClassifier([("a", AROWClassifier()), ("p", PassiveAggressiveClassifier())], cv=2),
        make_pipeline(SelectFromModel(AROWClassifier(), max_features=9), AROWClassifier()),
    ):
        assert wrapped.fit(X, y).score(X, y) > 0.7, wrapped
    labels = np.column_stack([y, y > 0])
    assert MultiOutputClassifier(AROWClassifier()).fit(X, labels).predict(X).shape == labels.shape
    regressor = PassiveAggressiveRegressor()
    assert MultiOutputRegressor(regressor).fit(X, X[:, :2]).predict(X).shape == (len(X), 2)
    assert BaggingRegressor(regressor, 3).fit(*two_classes).predict(X).shape == (len(X),)


def test_text_pipeline_learns_incrementally():
    texts = ["cheap pills now", "lunch at noon", "cheap cheap pills", "noon meeting"] * 5
    labels = ["spam", "ham"] * 10
    vectorizer = HashingVectorizer(n_features=2**10)
    model = AROWClassifier()
    for at in range(0, 20, 4):
        model.partial_fit(vectorizer.transform(texts[at : at + 4]), labels[at : at + 4])
    assert model.predict(vectorizer.transform(["cheap pills"])).tolist() == ["spam"]


def test_columns_of_frames_keep_their_names(estimator_class, two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    y = targets(estimator_class, y)
    scaler = ColumnTransformer([("all", StandardScaler(), list(frame.columns))])
    pipeline = make_pipeline(scaler, estimator_class()).set_output(transform="pandas")
    pipeline.fit(frame, y)
    names = [f"all__{name}" for name in frame.columns]
    assert pipeline[-1].feature_names_in_.tolist() == names == pipeline[-1].feature_names_
    assert pickle.loads(pickle.dumps(pipeline)).predict(frame).tolist() == (
        pipeline.predict(frame).tolist()
    )


def test_a_model_of_dicts_also_takes_arrays(variant, two_classes):
    X, y = two_classes
    model = variant()
    for row, label in zip(as_dicts(X), y.tolist(), strict=True):
        model.learn_one(row, label)
    assert_same(learned(model), learned(variant().partial_fit(X, y)))
    assert np.isfinite(model.score(X, y))


def test_balanced_class_weights_are_those_of_scikit_learn(two_classes):
    X, y = two_classes
    few = np.flatnonzero((y == 0) | (np.arange(len(y)) % 5 == 0))
    X, y = X[few], y[few]
    weights = compute_class_weight("balanced", classes=np.unique(y), y=y)
    named = dict(enumerate(weights.tolist()))
    balanced = AROWClassifier(class_weight="balanced").fit(X, y)
    assert_same(learned(balanced), learned(AROWClassifier(class_weight=named).fit(X, y)))
    weighted = AROWClassifier().fit(X, y, sample_weight=weights[y])
    np.testing.assert_array_equal(balanced.coef_, weighted.coef_)
