"""Running metrics against scikit-learn's on whole arrays, and river's row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import river.metrics
import river.utils
import sklearn.metrics as reference
from metrics.data import Arrays, many_classes, two_classes, values

from yarrow import metrics
from yarrow.errors import DataError, ParameterError
from yarrow.metrics import (
    F1,
    MAE,
    MSE,
    R2,
    RMSE,
    Accuracy,
    BalancedAccuracy,
    ConfusionMatrix,
    Error,
    Fading,
    LogLoss,
    Metric,
    RocAuc,
    Windowed,
)


def root(y: Any, p: Any, sample_weight: Any) -> float:
    return math.sqrt(reference.mean_squared_error(y, p, sample_weight=sample_weight))


CASES: dict[str, tuple[Callable[[], Metric], Callable[..., Arrays], Callable[..., Any]]] = {
    "error": (
        Error,
        many_classes,
        lambda y, p, s, w: 1 - reference.accuracy_score(y, p, sample_weight=w),
    ),
    "accuracy": (
        Accuracy,
        many_classes,
        lambda y, p, s, w: reference.accuracy_score(y, p, sample_weight=w),
    ),
    "confusion": (
        ConfusionMatrix,
        many_classes,
        lambda y, p, s, w: reference.accuracy_score(y, p, sample_weight=w),
    ),
    "balanced": (
        BalancedAccuracy,
        many_classes,
        lambda y, p, s, w: reference.balanced_accuracy_score(y, p, sample_weight=w),
    ),
    "f1": (F1, two_classes, lambda y, p, s, w: reference.f1_score(y, p, sample_weight=w)),
    "f1 of a class": (
        lambda: F1(positive="cat"),
        many_classes,
        lambda y, p, s, w: reference.f1_score(y == "cat", p == "cat", sample_weight=w),
    ),
    "macro": (
        lambda: F1("macro"),
        many_classes,
        lambda y, p, s, w: reference.f1_score(y, p, average="macro", sample_weight=w),
    ),
    "micro": (
        lambda: F1("micro"),
        many_classes,
        lambda y, p, s, w: reference.f1_score(y, p, average="micro", sample_weight=w),
    ),
    "auc": (
        RocAuc,
        two_classes,
        lambda y, p, s, w: reference.roc_auc_score(y, s, sample_weight=w),
    ),
    "log loss": (
        LogLoss,
        two_classes,
        lambda y, p, s, w: reference.log_loss(y, s, sample_weight=w, labels=[0, 1]),
    ),
    "mse": (
        MSE,
        values,
        lambda y, p, s, w: reference.mean_squared_error(y, p, sample_weight=w),
    ),
    "rmse": (RMSE, values, lambda y, p, s, w: root(y, p, w)),
    "mae": (
        MAE,
        values,
        lambda y, p, s, w: reference.mean_absolute_error(y, p, sample_weight=w),
    ),
    "r2": (R2, values, lambda y, p, s, w: reference.r2_score(y, p, sample_weight=w)),
}


@pytest.mark.parametrize("case", CASES)
def test_whole_arrays_agree_with_scikit_learn(case: str) -> None:
    make, data, expected = CASES[case]
    y, p, s, w = data()
    for weights in (w, None):
        metric = make()
        metric.update_many(y, p, s, weights)
        assert metric.value == pytest.approx(expected(y, p, s, weights), rel=1e-9)
        assert metric.rows == len(y)


@pytest.mark.parametrize("case", CASES)
def test_rows_arrays_and_any_mixture_give_the_same(case: str) -> None:
    make, data, _ = CASES[case]
    y, p, s, w = data()
    whole, single, mixed = make(), make(), make()
    whole.update_many(y, p, s, w)
    for i in range(len(y)):
        single.update(y[i], p[i], None if s is None else s[i], w[i])
    for part in (slice(0, 7), slice(7, 8), slice(8, 150), slice(150, 150), slice(150, None)):
        if part.start == 7:
            mixed.update(y[7], p[7], None if s is None else s[7], w[7])
        else:
            mixed.update_many(y[part], p[part], None if s is None else s[part], w[part])
    assert single.value == pytest.approx(whole.value, rel=1e-12)
    assert mixed.value == pytest.approx(whole.value, rel=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("chunk", [1, 17, 300])
def test_a_window_counts_the_last_rows_only(case: str, chunk: int) -> None:
    make, data, expected = CASES[case]
    y, p, s, w = data()
    metric = Windowed(make(), 50)
    for begin in range(0, len(y), chunk):
        part = slice(begin, begin + chunk)
        metric.update_many(y[part], p[part], None if s is None else s[part], w[part])
    last = slice(-50, None)
    goal = expected(y[last], p[last], None if s is None else s[last], w[last])
    assert metric.value == pytest.approx(goal, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("memory", [0.3, 0.97])  # the first one must be brought down to size often
@pytest.mark.parametrize("chunk", [1, 70, 300])
def test_rows_fade(case: str, memory: float, chunk: int) -> None:
    make, data, expected = CASES[case]
    y, p, s, w = data(900)
    metric = Fading(make(), memory)
    for begin in range(0, len(y), chunk):
        part = slice(begin, begin + chunk)
        metric.update_many(y[part], p[part], None if s is None else s[part], w[part])
    faded = w * memory ** np.arange(len(y) - 1.0, -1, -1)
    assert metric.value == pytest.approx(expected(y, p, s, faded), rel=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_a_fresh_metric_is_apart_and_weight_zero_is_absence(case: str) -> None:
    make, data, _ = CASES[case]
    y, p, s, w = data()
    for metric in (
        make(),
        Windowed(make(), 40),
        Fading(make(), 0.9),
        Windowed(Fading(make(), 0.9), 9),
    ):
        metric.update_many(y, p, s, w)
        before = metric.value
        twin = metric.fresh()
        assert math.isnan(twin.value)
        assert twin.rows == 0
        twin.update_many(y[:100], p[:100], None if s is None else s[:100])
        assert metric.value == before
        metric.update_many(y[:30], p[:30], None if s is None else s[:30], np.zeros(30))
        metric.update(y[0], p[0], None if s is None else s[0], 0.0)
        metric.update_many(y[:0], p[:0], None if s is None else s[:0])
        assert metric.value == before
        assert metric.rows == len(y)


@pytest.mark.parametrize(
    ("ours", "theirs", "data"),
    [
        (Accuracy, river.metrics.Accuracy, many_classes),
        (BalancedAccuracy, river.metrics.BalancedAccuracy, many_classes),
        (lambda: F1("macro"), river.metrics.MacroF1, many_classes),
        (lambda: F1("micro"), river.metrics.MicroF1, many_classes),
        (F1, river.metrics.F1, two_classes),
        (LogLoss, river.metrics.LogLoss, two_classes),
        (RMSE, river.metrics.RMSE, values),
        (MAE, river.metrics.MAE, values),
    ],
)
@pytest.mark.parametrize("window", [None, 20])
def test_every_row_agrees_with_river(ours: Any, theirs: Any, data: Any, window: Any) -> None:
    y, p, s, _ = data(100)
    one = ours() if window is None else Windowed(ours(), window)
    other = theirs() if window is None else river.utils.Rolling(theirs(), window)
    for i in range(len(y)):
        one.update(y[i], p[i], None if s is None else s[i])
        other.update(y[i], p[i] if s is None or ours is F1 else s[i])
        if i > 20:  # river knows classes from the beginning that its window has lost
            assert one.value == pytest.approx(other.get(), rel=1e-9)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda: Error().update_many([1, 2], [1]), "There are 2 labels, but the predictions have"),
        (lambda: Error().update_many([1, 2]), "error needs predictions"),
        (lambda: Error().update_many([[1, 2]], [1]), "The labels must be one a row"),
        (lambda: Error().update_many([1, None], [1, 1]), "row 1: There is no label"),
        (lambda: Error().update_many([1], [1], weights=[-1]), "row 0: A weight must be finite"),
        (lambda: Error().update(1, 1, weight=math.inf), "A weight must be a finite number"),
        (lambda: RocAuc().update(1), "ROC AUC needs scores"),
        (lambda: RocAuc().update_many([1], [1]), "ROC AUC needs scores"),
        (lambda: RocAuc().update_many([1], scores=[[1, 2]]), "need the names of as many classes"),
        (lambda: LogLoss().update_many([0, 1], scores=[0.5, 2]), "2.0 is not a probability|-1"),
        (lambda: LogLoss().update("a", score=0.5), "Say which class"),
        (lambda: MSE().update_many([1.0], [math.nan]), "row 0: The prediction is nan"),
        (lambda: MSE().update_many([1.0], ["x"]), "A prediction of a regression must be a number"),
        (lambda: F1("weighted"), "'average' parameter"),  # type: ignore[arg-type]
        (lambda: Windowed(Error(), 0), "'size' parameter"),
        (lambda: Fading(Error(), 1.0), "'memory' parameter"),
        (lambda: Fading("error", 0.5), "A metric is needed"),  # type: ignore[arg-type]
        (lambda: RocAuc(2.0), "'resolution' parameter"),
        (lambda: metrics.named("auc"), "The metrics are error, accuracy"),
    ],
)
def test_bad_input_gets_a_sentence(act: Callable[[], Any], sentence: str) -> None:
    with pytest.raises((DataError, ParameterError), match=sentence):
        act()


def test_a_refused_call_leaves_no_trace() -> None:
    metric = LogLoss()
    metric.update_many([0, 1], scores=[0.2, 0.9])
    before = metric.value
    with pytest.raises(DataError):
        metric.update_many([0, 1], scores=[0.5, 7])
    assert metric.value == before
    assert metric.rows == 2


@pytest.mark.parametrize("case", CASES)
def test_a_caller_may_use_its_arrays_again(case: str) -> None:
    make, data, _ = CASES[case]
    y, p, s, w = (None if a is None else a.copy() for a in data())
    for metric in (make(), Windowed(make(), 40), Fading(make(), 0.99)):
        metric.update_many(y, p, s, w)
        before = metric.value
        kept = [None if a is None else a.copy() for a in (y, p, s, w)]
        for array in (y, p, s, w):
            if array is not None:
                array[:] = array[0]
        assert metric.value == before
        y, p, s, w = kept


def test_names_make_metrics() -> None:
    for name in metrics.NAMES:
        metric = metrics.named(name)
        assert math.isnan(metric.value)
        assert metric.name.lower().replace(" ", "_") in {name, "f1_macro", "macro_f1", "micro_f1"}
    assert metrics.named("f1", positive="x").positive == "x"  # type: ignore[attr-defined]
    assert repr(Windowed(Error(), 2000)) == "error of the last 2,000 rows: nan"
    assert [m for m in metrics.NAMES if not metrics.named(m).higher_is_better] == [
        "error", "log_loss", "brier_score", "calibration_error", "mse", "rmse", "mae",
    ]  # fmt: skip


@pytest.mark.slow
def test_arrays_are_counted_fast() -> None:
    import time

    y, p, s, _ = two_classes(1_000_000)
    for metric in (
        Error(),
        F1(),
        RocAuc(0.001),
        LogLoss(),
        Windowed(Error(), 1000),
        Fading(Error(), 0.999),
    ):
        begin = time.process_time()
        metric.update_many(y, p, s)
        assert metric.value > 0
        assert time.process_time() - begin < 1.0  # 10 to 100 ns a row
