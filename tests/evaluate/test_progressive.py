"""Progressive validation of any learner, with labels at once, late, by time, or never."""

from __future__ import annotations

import datetime
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
from contract import support
from river import evaluate as river_evaluate
from river import linear_model as river_linear
from river import metrics as river_metrics
from river import naive_bayes, stream
from scipy import sparse
from sklearn.linear_model import SGDClassifier, SGDRegressor

import yarrow
from yarrow import metrics
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import nonzeros, online_curve, progressive, sparseness
from yarrow.experts import HedgeClassifier
from yarrow.kernel import KernelPerceptron
from yarrow.online.delay import steps

X2, Y2 = support.classification(200, 12, 2)
X3, Y3 = support.classification(300, 12, 3)


def by_hand(model: Any, X: Any, y: Any, delay: int = 0, **learn: Any) -> list[Any]:
    """Row by row in plain Python."""
    predictions = []
    for t in range(len(y) + delay):
        if t < len(y):
            known = hasattr(model, "classes_") or hasattr(model, "coef_")
            predictions.append(model.predict(X[t : t + 1])[0] if known else None)
        if t >= delay:
            model.partial_fit(X[t - delay : t - delay + 1], y[t - delay : t - delay + 1], **learn)
    return predictions


def test_a_model_that_cannot_predict_is_not_taken_for_one_that_has_learned_nothing() -> None:
    class Broken(SGDClassifier):
        def predict(self, X: Any) -> Any:
            if not hasattr(self, "coef_"):
                raise ValueError("the disk is gone")
            return super().predict(X)

    with pytest.raises(ValueError, match="the disk is gone"):
        progressive(Broken(), X2, Y2)


@pytest.mark.parametrize("delay", [0, 1, 17, 500])
@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_matrix, sparse.coo_array, "frame", "polars", "list"]
)
def test_rows_are_predicted_and_then_learned(delay: int, kind: Any) -> None:
    import pandas as pd
    import polars as pl

    X: Any = X3
    if kind == "frame":
        X = pd.DataFrame(X3, columns=[f"c{i}" for i in range(X3.shape[1])])
    elif kind == "polars":
        X = pl.DataFrame(X3, schema=[f"c{i}" for i in range(X3.shape[1])])
    elif kind == "list":
        X = X3.tolist()
    else:
        X = kind(X3)
    expected = by_hand(yarrow.AROWClassifier(), sparse.csr_matrix(X3), Y3, delay)
    model = yarrow.AROWClassifier()
    found = progressive(model, X, Y3, delay=delay)
    assert found.predictions.tolist() == expected
    wrong = [a != b for a, b in zip(Y3.tolist(), expected, strict=True)]
    assert found.wrong.tolist() == wrong
    assert found.error == found.metrics["error"].value == pytest.approx(np.mean(wrong))
    assert found.model is model
    assert model.t_ == len(Y3)  # late labels too are learned in the end
    assert found.curves["error"][-1] == (300, pytest.approx(np.mean(wrong)))
    assert [rows for rows, _ in found.curves["error"]] == [*(1 << i for i in range(9)), 300]
    for rows, value in found.curves["error"]:
        assert value == pytest.approx(np.mean(wrong[:rows]))


@pytest.mark.parametrize("delay", [0, 5])
def test_scikit_learn_is_told_the_classes_and_predicts_nothing_before_it_learned(
    delay: int,
) -> None:
    X, y = X3[:60], Y3[:60]
    expected = by_hand(SGDClassifier(random_state=0), X, y, delay, classes=np.unique(y))
    found = progressive(SGDClassifier(random_state=0), X, y, delay=delay)
    assert found.predictions.tolist() == expected
    assert found.predictions[: delay + 1].tolist() == [None] * (delay + 1)


def test_a_block_is_predicted_before_any_of_it_is_learned() -> None:
    model = SGDClassifier(random_state=0)
    expected: list[Any] = [None] * 64
    for begin in range(0, 200, 64):
        part = slice(begin, begin + 64)
        if begin:
            expected += model.predict(X2[part]).tolist()
        model.partial_fit(X2[part], Y2[part], classes=np.unique(Y2))
    found = progressive(SGDClassifier(random_state=0), X2, Y2, block=64)
    assert found.predictions.tolist() == expected


@pytest.mark.parametrize("model", [river_linear.LogisticRegression(), naive_bayes.BernoulliNB()])
def test_river_agrees_with_its_own_progressive_validation(model: Any) -> None:
    y = Y2[0] == Y2
    rows = list(stream.iter_array(X2, y))
    theirs = river_metrics.ROCAUC(n_thresholds=2000)
    accuracy = river_metrics.Accuracy()
    river_evaluate.progressive_val_score(rows, model.clone(), accuracy)
    river_evaluate.progressive_val_score(rows, model.clone(), theirs)
    for X in (X2, [x for x, _ in rows]):
        found = progressive(model.clone(), X, y, metrics=["accuracy", "roc_auc", "log_loss"])
        assert found.metrics["accuracy"].value == pytest.approx(accuracy.get(), abs=0.006)
        assert found.metrics["ROC AUC"].value == pytest.approx(theirs.get(), abs=0.02)


def test_river_delays_agree() -> None:
    y = Y2[0] == Y2
    made = []
    model = river_linear.Perceptron()
    for moment in stream.simulate_qa(stream.iter_array(X2, y), None, 7):
        if moment[2] is None:
            made.append(model.predict_one(moment[1]))
        else:
            model.learn_one(moment[1], moment[2])
    # river learns a label that is due before the next question, as we do after the last answer.
    found = progressive(river_linear.Perceptron(), X2, y, delay=6)
    assert found.predictions.tolist() == made


def test_a_pipeline_of_river_is_what_its_last_step_is() -> None:
    from river import preprocessing

    y = X2 @ np.arange(12.0)
    regression = preprocessing.StandardScaler() | river_linear.LinearRegression()
    assert progressive(regression, X2, y).regression
    classifier = preprocessing.StandardScaler() | river_linear.LogisticRegression()
    assert progressive(classifier, X2, Y2[0] == Y2).error < 0.3


def test_our_learners_take_dicts_too() -> None:
    rows = [dict(enumerate(row)) for row in X3.tolist()]
    one, other = yarrow.AROWClassifier(), yarrow.AROWClassifier()
    found = progressive(one, rows, Y3, delay=3, metrics=["error", "log_loss"])
    assert found.predictions.tolist() == progressive(other, X3, Y3, delay=3).predictions.tolist()
    array = progressive(yarrow.AROWClassifier(), X3, Y3, delay=3, metrics=["log_loss"])
    assert found.metrics["log loss"].value == pytest.approx(array.metrics["log loss"].value)
    for table in (rows, X3):
        with pytest.raises(ParameterError, match="has no probabilities"):
            progressive(yarrow.Perceptron(), table, Y3, metrics=["log_loss"])
        with pytest.raises(DataError, match="With more than two classes"):
            progressive(yarrow.Perceptron(), table, Y3, metrics=["roc_auc"])


@pytest.mark.parametrize("make", [yarrow.AROWClassifier, HedgeClassifier, KernelPerceptron])
@pytest.mark.parametrize("how", [{}, {"delay": 3}, {"block": 4}, {"sample_weight": Y3[:60] % 2}])
def test_dicts_are_read_as_the_frame_of_them(make: Any, how: dict[str, Any]) -> None:
    """Also what a single dict may not hold before its columns are known: NaN, dates."""
    day = pd.date_range("2024-01-01", periods=60, freq="7D")
    numbers = np.where(np.arange(60) % 7, X3[:60, 0], np.nan)
    frame = pd.DataFrame({"n": numbers, "day": day, "kind": [f"k{i % 3}" for i in range(60)]})
    of_dicts = progressive(make(), frame.to_dict("records"), Y3[:60], **how)
    of_frame = progressive(make(), frame, Y3[:60], **how)
    assert of_dicts.predictions.tolist() == of_frame.predictions.tolist()


@pytest.mark.parametrize(
    "model", [yarrow.PassiveAggressiveRegressor(), SGDRegressor(random_state=0)]
)
def test_a_regression_says_zero_before_it_has_learned(model: Any) -> None:
    y = X2 @ np.arange(12.0) + 1
    found = progressive(model, X2, y, delay=2, metrics=["rmse", "mae", "r2"])
    assert found.regression
    assert found.predictions[:3].tolist() == [0, 0, 0]
    assert found.metrics["RMSE"].value == pytest.approx(np.sqrt(found.wrong.mean()))
    assert found.error == pytest.approx(np.mean((y - found.predictions.astype(float)) ** 2))
    with pytest.raises(ParameterError, match="no classes to confuse"):
        _ = found.confusion


@pytest.mark.parametrize(
    "learner", [yarrow.AROWClassifier, yarrow.Perceptron, yarrow.PassiveAggressiveClassifier]
)
@pytest.mark.parametrize("classes", [None, "declared"])
def test_scores_by_the_core_are_those_row_by_row(learner: Any, classes: Any) -> None:
    for X, y in ((X2[:60], Y2[:60]), (X3[:90], Y3[:90])):
        declared = None if classes is None else np.unique(y)
        fast, slow = learner(), learner()
        one = progressive(
            fast, X, y, classes=declared, metrics=["error", metrics.RocAuc(positive=y[0])]
        )
        told = []
        for t in range(len(y)):
            if t and len(slow._fitted.classes) > 1:  # declared ones that came
                decision = slow.decision_function(X[t : t + 1])[0]
                told.append(
                    dict(zip(slow.classes_.tolist(), np.atleast_1d(decision), strict=False))
                )
                if np.ndim(decision) == 0:
                    told[-1] = dict(zip(slow.classes_.tolist(), [-decision, decision], strict=True))
            else:
                told.append({})
            slow.partial_fit(X[t : t + 1], y[t : t + 1], classes=declared)
        assert one.scores is not None
        for t, line in enumerate(told):
            for name, score in line.items():
                if score == -np.inf:  # not come yet
                    assert np.isnan(one.scores[t, one.classes.index(name)])
                    continue
                assert one.scores[t, one.classes.index(name)] == pytest.approx(score, rel=1e-12)
            if not line:
                assert np.isnan(one.scores[t]).all()
        positive = [line.get(y[0], np.nan) for line in told]  # the first to come
        expected = metrics.RocAuc(positive=y[0])
        expected.update_many(y, scores=positive)
        assert one.metrics["ROC AUC"].value == pytest.approx(expected.value)


@pytest.mark.parametrize("learner", [yarrow.AROWClassifier, yarrow.YarrowClassifier])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("plan", ["count", "times", "never", "block"])
def test_probabilities_by_the_core_are_those_row_by_row(
    learner: Any, classes: int, plan: str
) -> None:
    X, y = (X2, Y2) if classes == 2 else (X3, Y3)
    times = np.cumsum(np.random.default_rng(0).integers(0, 3, len(y))).astype(float)
    late = np.where(np.arange(len(y)) % 7 == 3, np.nan, times + np.arange(len(y)) % 5)
    how: dict[str, Any] = {
        "count": {"delay": 9},
        "times": {"delay": 4.0, "times": times},
        "never": {"times": times, "arrives": late},
        "block": {"block": 16},
    }[plan]
    expected = np.full((len(y), classes), np.nan)
    model = learner()
    for begin, end, rows in steps(len(y), **how):
        if model.__sklearn_is_fitted__() and len(model.classes_) > 1:
            places = np.searchsorted(np.unique(y), model.classes_)
            expected[begin:end, places] = model.predict_proba(X[begin:end])
        if len(rows):
            model.partial_fit(X[rows], y[rows])
    found = progressive(learner(), X, y, metrics=["log_loss"], **how)
    assert found.scores is not None
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12)
    np.testing.assert_array_equal(found.model.coef_, model.coef_)


def test_metrics_count_by_weight_and_against_clean_labels() -> None:
    weights = np.random.default_rng(0).integers(0, 3, len(Y3)).astype(float)
    clean = np.roll(Y3, 1)
    asked = [metrics.Error(), metrics.Windowed(metrics.Error(), 50), "f1_macro"]
    found = progressive(
        yarrow.AROWClassifier(), X3, Y3, sample_weight=weights, clean=clean, metrics=asked
    )
    wrong = np.array([a != b for a, b in zip(clean, found.predictions, strict=True)])
    assert found.metrics["error"].value == pytest.approx(np.average(wrong, weights=weights))
    assert np.isnan(asked[0].value)  # type: ignore[union-attr]
    counted = wrong[weights > 0][-50:]
    last = found.metrics["error of the last 50 rows"].value
    assert last == pytest.approx(np.average(counted, weights=weights[weights > 0][-50:]))
    by_hand = yarrow.AROWClassifier().partial_fit(X3, Y3, sample_weight=weights)
    assert np.array_equal(found.model.coef_, by_hand.coef_)
    data = types.SimpleNamespace(X=X3, y=Y3, clean=clean)
    again = progressive(yarrow.AROWClassifier(), data, sample_weight=weights)
    assert again.metrics["error"].value == found.metrics["error"].value


@pytest.mark.parametrize("delay", [0, 3])
def test_nonzeros_over_time(delay: int) -> None:
    model = yarrow.RDAClassifier(l1=0.05)
    found = progressive(model, X2, Y2, delay=delay, checkpoints=[50, 100], watch_nonzeros=True)
    assert found.nonzeros[-1] == (200, model.n_nonzero_) == (200, nonzeros(model))
    assert sparseness(model) == model.sparsity_ > 0
    assert [rows for rows, _ in found.nonzeros] == [50, 100, 200]
    learned = 100 - delay
    half = yarrow.RDAClassifier(l1=0.05).partial_fit(X2[:learned], Y2[:learned])
    assert found.nonzeros[1] == (100, half.n_nonzero_)
    other = SGDClassifier(penalty="l1", alpha=0.02, random_state=0)
    theirs = progressive(other, X2, Y2, checkpoints=[50, 100], watch_nonzeros=True)
    assert theirs.nonzeros[-1] == (200, np.count_nonzero(other.coef_))
    assert sparseness(other) == pytest.approx(1 - np.count_nonzero(other.coef_) / other.coef_.size)
    assert [rows for rows, _ in theirs.nonzeros] == [50, 100, 200]


def test_the_confusion_matrix_and_curves_are_those_of_the_predictions() -> None:
    found = progressive(yarrow.AROWClassifier(), X3, Y3)
    assert found.confusion.counts.sum() + found.confusion.unpredicted.sum() == 300
    assert found.confusion.value == pytest.approx(1 - found.error)
    assert found.error_curve(window=40) == online_curve(found.wrong, window=40)
    assert found.error_curve()[-1] == (300, pytest.approx(found.error))


# -- when labels arrive ------------------------------------------------------------------------


def simulated(times: Any, arrives: Any) -> list[list[int]]:
    """Which rows were learned before each row, by looking at all of them every time."""
    known = []
    for t, now in enumerate(times):
        known.append([i for i in range(t) if arrives[i] <= now])
    return known


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("by_date", [False, True])
def test_labels_are_known_from_the_time_they_arrive(seed: int, by_date: bool) -> None:
    chance = np.random.default_rng(seed)
    n = 40
    times = np.sort(chance.integers(0, 30, n))
    arrives = times + chance.integers(0, 10, n)
    known = simulated(times, arrives)
    if by_date:
        day = np.datetime64("2024-01-01")
        plan = list(steps(n, times=day + times, arrives=day + arrives))
    else:
        plan = list(steps(n, times=times, arrives=arrives))
    learned: list[int] = []
    predicted = 0
    for begin, end, rows in plan:
        assert begin == predicted
        for t in range(begin, end):
            assert sorted(learned) == known[t]
        predicted = end
        learned += rows.tolist()
    assert predicted == n
    assert sorted(learned) == list(range(n))
    assert [arrives[i] for i in learned] == sorted(arrives)  # in the order of their arrival


def test_a_delay_in_time_may_be_a_number_or_a_timedelta() -> None:
    days = np.array(["2024-01-01", "2024-01-01", "2024-01-03", "2024-01-09"], dtype="datetime64[D]")
    plans = [
        list(steps(4, times=days, delay=wait))
        for wait in (np.timedelta64(2, "D"), datetime.timedelta(days=2), 2)
    ]
    plans.append(list(steps(4, times=days.astype(datetime.datetime), delay=np.timedelta64(2, "D"))))
    plans.append(list(steps(4, times=[0, 0, 2, 8], delay=2)))
    for plan in plans:
        shown = [(begin, end, rows.tolist()) for begin, end, rows in plan]
        assert shown == [(0, 2, [0, 1]), (2, 3, [2]), (3, 4, [3])]


def test_a_label_that_never_arrives_is_never_learned() -> None:
    times = np.arange(len(Y3), dtype=float)
    arrives = np.where(np.arange(len(Y3)) % 3 == 0, np.nan, times + 2)
    model = yarrow.AROWClassifier()
    found = progressive(model, X3, Y3, times=times, arrives=arrives)
    kept = ~np.isnan(arrives)
    expected = yarrow.AROWClassifier().partial_fit(X3[kept], Y3[kept])
    assert np.array_equal(model.coef_, expected.coef_)
    assert found.rows == 300  # all are predicted


def test_a_delay_by_count_is_one_by_times_of_a_row_each() -> None:
    slow = progressive(yarrow.AROWClassifier(), X3, Y3, times=np.arange(300), delay=6)
    assert (
        slow.predictions.tolist()
        == progressive(yarrow.AROWClassifier(), X3, Y3, delay=5).predictions.tolist()
    )


# -- what cannot be done -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"delay": -1}, "number of rows|integer"),
        ({"delay": 1.5}, "number of rows|integer"),
        ({"delay": np.timedelta64(1, "D")}, "number of rows|integer"),
        ({"delay": "soon", "times": np.arange(200)}, "a number or a timedelta"),
        ({"arrives": np.zeros(200)}, "needs times"),
        ({"times": np.zeros(3)}, "times must be 200 numbers"),
        ({"times": [object()] * 200}, "times must be 200 numbers or dates"),
        (
            {"times": np.arange(200), "arrives": np.full(200, np.datetime64("2026-01-01"))},
            "both be numbers, or both dates",
        ),
        ({"times": np.arange(200)[::-1]}, "row 1: The time is earlier"),
        (
            {"times": np.arange(200), "arrives": np.arange(200) - 1},
            "row 0: The label arrives before",
        ),
        ({"times": np.arange(200), "arrives": np.arange(200), "delay": 1}, "not both"),
        ({"times": np.full(200, np.nan)}, "row 0: There is no time"),
        ({"times": np.arange(200), "delay": datetime.timedelta(1)}, "cannot be added"),
        ({"block": 0}, "'block' parameter"),
        ({"checkpoints": [500]}, "from 1 to 200"),
        ({"metrics": ["auc"]}, "The metrics are"),
        ({"sample_weight": [1.0]}, "sample_weight has the shape"),
    ],
)
def test_bad_settings_get_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ParameterError, DataError), match=sentence):
        progressive(yarrow.AROWClassifier(), X2, Y2, **settings)


def test_bad_models_and_data_get_a_sentence() -> None:
    with pytest.raises(ParameterError, match="neither partial_fit"):
        progressive(object(), X2, Y2)
    with pytest.raises(ParameterError, match="Give X and y"):
        progressive(yarrow.Perceptron(), X2)
    with pytest.raises(DataError, match="X has 200 rows, but y has"):
        progressive(yarrow.Perceptron(), X2, Y2[:5])
    with pytest.raises(ParameterError, match="has no probabilities"):
        progressive(yarrow.Perceptron(), X2, Y2, metrics=["log_loss"])
    with pytest.raises(ParameterError, match="no weights that could be counted"):
        nonzeros(naive_bayes.BernoulliNB())


def test_one_class_and_no_rows() -> None:
    found = progressive(
        yarrow.AROWClassifier(), X2[:10], ["a"] * 10, metrics=["error", "roc_auc", "f1_macro"]
    )
    assert found.error == 0.1  # only the first one, when nothing was known
    assert np.isnan(found.metrics["ROC AUC"].value)
    empty = progressive(yarrow.AROWClassifier(), np.zeros((0, 3)), np.zeros(0, int))
    assert empty.rows == 0
    assert np.isnan(empty.error)
    assert empty.error_curve() == []


def test_a_block_of_two_rows_is_predicted_before_either_is_learned() -> None:
    chance = np.random.default_rng(3)
    X, y = chance.normal(size=(40, 3)), chance.choice(["a", "b"], 40)
    told = progressive(yarrow.AROWClassifier(), X, y, block=2).predictions
    model = yarrow.AROWClassifier()
    expected: list[Any] = [None, None]
    for at in range(0, 40, 2):
        if at:
            expected += model.predict(X[at : at + 2]).tolist()
        model.partial_fit(X[at : at + 2], y[at : at + 2])
    assert told.tolist() == expected
    assert told.tolist() != progressive(yarrow.AROWClassifier(), X, y).predictions.tolist()
