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

Arrays = tuple[Any, Any, Any, Any]  # labels, predictions, scores, weights


def two_classes(n: int = 300, seed: int = 0) -> Arrays:
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, n)
    scores = np.round(np.clip(chance.normal(0.4 + 0.2 * labels, 0.2), 0.01, 0.99), 2)  # with ties
    return labels, (scores > 0.5).astype(int), scores, chance.integers(1, 4, n) * 0.5


def many_classes(n: int = 300, seed: int = 0) -> Arrays:
    chance = np.random.default_rng(seed)
    names = np.array(["dog", "cat", "eel", "fox"])
    labels = names[chance.integers(0, 4, n)]
    guesses = np.where(chance.random(n) < 0.6, labels, names[chance.integers(0, 4, n)])
    return labels, guesses, None, chance.integers(1, 4, n) * 0.5


def values(n: int = 300, seed: int = 0) -> Arrays:
    chance = np.random.default_rng(seed)
    labels = chance.normal(1e3, 1, n)
    return labels, labels + chance.normal(0.1, 0.5, n), None, chance.integers(1, 4, n) * 0.5


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


def test_the_confusion_matrix_has_a_column_for_each_true_class() -> None:
    y, p, _, w = many_classes()
    metric = ConfusionMatrix()
    metric.update_many(y, p, weights=w)
    names = metric.labels
    assert names == ["cat", "dog", "eel", "fox"]
    for i, predicted in enumerate(names):
        for j, true in enumerate(names):
            share = w[(y == true) & (p == predicted)].sum() / w[y == true].sum()
            assert metric.matrix[i, j] == pytest.approx(share)
    assert metric.matrix.sum(axis=0) == pytest.approx(np.ones(4))
    assert pytest.approx(reference.confusion_matrix(y, p, sample_weight=w)) == metric.counts.T


def test_classes_that_are_only_predicted_or_not_predicted_at_all() -> None:
    metric = ConfusionMatrix()
    metric.update_many(["a", "b", "b"], ["new", None, "b"])
    assert metric.labels == ["a", "b", "new"]
    assert metric.counts.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert metric.unpredicted.tolist() == [0, 1, 0]
    assert metric.matrix[:, 0].tolist() == [0, 0, 1]
    assert metric.matrix[:, 1].tolist() == [0, 0.5, 0]
    assert np.isnan(metric.matrix[:, 2]).all()
    assert metric.value == pytest.approx(1 / 3)
    balanced = BalancedAccuracy()
    balanced.update_many(["a", "b", "b"], ["new", None, "b"])
    assert balanced.value == pytest.approx(0.25)  # "new" has no rows


@pytest.mark.parametrize("kind", [int, float, str, bool, object, "large"])
def test_labels_of_any_type_are_counted(kind: Any) -> None:
    chance = np.random.default_rng(3)
    y, p = chance.integers(0, 2, (2, 200))
    expected = reference.f1_score(y, p, average="macro")
    if kind == "large":  # too far apart for a table
        y, p = y * 10**12 - 5, p * 10**12 - 5
    else:
        y, p = y.astype(kind), p.astype(kind)
    metric = F1("macro")
    metric.update_many(y, p)
    metric.update_many(y.tolist(), p.tolist())
    assert metric.value == pytest.approx(expected)
    assert len(metric.labels) == 2


def test_more_classes_than_a_table_would_hold() -> None:
    chance = np.random.default_rng(4)
    y, p = chance.integers(0, 3000, (2, 500))
    p[::2] = y[::2]
    metric = F1("macro")
    metric.update_many(y, p)
    assert metric.value == pytest.approx(reference.f1_score(y, p, average="macro"))


def test_numbers_and_words_are_different_labels() -> None:
    metric = Error()
    metric.update_many([1, "1", 1], ["1", "1", 1])
    assert metric.value == pytest.approx(1 / 3)
    metric = Error()
    metric.update_many(np.array([1, 2]), np.array(["1", "2"]))
    assert metric.value == 1


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("resolution", [0.1, 0.001])
def test_auc_by_bins_is_as_exact_as_its_resolution(scale: float, resolution: float) -> None:
    chance = np.random.default_rng(5)
    y = chance.integers(0, 2, 5000)
    s = chance.normal(y - 0.5, 1.5) * scale
    metric = RocAuc(resolution)
    metric.update_many(y, scores=s)
    exact = reference.roc_auc_score(y, s)
    assert metric.value == pytest.approx(exact, abs=resolution / 5)
    apart = RocAuc(resolution)
    apart.update_many([0, 1, 0, 1], scores=np.array([-2.0, -1.0, 1.0, 2.0]) * scale)
    assert apart.value == 0.75
    near = RocAuc(resolution)
    near.update_many([0, 1, 0, 1], scores=np.array([0.0, -0.0, 1.0, 1.0]) * scale)
    assert near.value == 0.5


def test_auc_of_one_class_and_of_unscored_rows() -> None:
    for metric in (RocAuc(), RocAuc(0.01)):
        metric.update_many([1, 1], scores=[0.3, 0.4])
        assert math.isnan(metric.value)
        metric.update(0, score=math.nan)
        assert math.isnan(metric.value)
        assert metric.left_out == 1
        metric.update(0, score=0.1)
        assert metric.value == 1
        metric.update(2, score=0.1)
        with pytest.raises(DataError, match="more than two classes"):
            _ = metric.value
    metric = RocAuc(positive="b")
    metric.update_many(
        ["a", "b", "c"], scores=[[0, 1, 5], [1, 3, 0], [0, 0, 9]], classes=["a", "b", "c"]
    )
    assert metric.value == 1
    with pytest.raises(DataError, match="no column"):
        RocAuc(positive="x").update_many(["a"], scores=[[0, 1]], classes=["a", "b"])


def test_scores_of_two_classes_may_be_two_columns_or_a_dict() -> None:
    y, _, s, _ = two_classes()
    names = np.array(["no", "yes"])
    one, table, rows = RocAuc(), RocAuc(), RocAuc()
    one.update_many(names[y], scores=s)
    table.update_many(names[y], scores=np.column_stack([s, 1 - s]), classes=["yes", "no"])
    for label, score in zip(names[y].tolist(), s.tolist(), strict=True):
        rows.update(label, score={"yes": score, "no": 1 - score})
    assert one.value == pytest.approx(table.value) == pytest.approx(rows.value)


def test_log_loss_of_many_classes() -> None:
    chance = np.random.default_rng(6)
    names = np.array(["a", "b", "c"])
    y = chance.integers(0, 3, 100)
    table = chance.dirichlet(np.ones(3), 100)
    metric, rows = LogLoss(), LogLoss()
    metric.update_many(names[y], scores=table, classes=names)
    for label, line in zip(names[y], table, strict=True):
        rows.update(label, score=dict(zip(names, line, strict=True)))
    goal = reference.log_loss(y, table)
    assert metric.value == pytest.approx(goal)
    assert rows.value == pytest.approx(goal)
    rows = LogLoss()
    rows.update("unseen", score={"a": 1.0})
    assert rows.value == pytest.approx(-math.log(1e-15))
    rows.update("unseen", score={})
    assert rows.left_out == 1
    unknown = LogLoss()
    unknown.update_many(["a", "b"], scores=[[np.nan, np.nan], [0.5, np.nan]], classes=["a", "b"])
    assert unknown.left_out == 1
    assert unknown.value == pytest.approx(-math.log(1e-15))


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda: Error().update_many([1, 2], [1]), "There are 2 labels, but the predictions have"),
        (lambda: Error().update_many([1, 2]), "error needs predictions"),
        (lambda: Error().update_many([[1, 2]], [1]), "The labels must be one a row"),
        (lambda: Error().update_many([1, None], [1, 1]), "row 2: There is no label"),
        (lambda: Error().update_many([1], [1], weights=[-1]), "row 1: A weight must be finite"),
        (lambda: Error().update(1, 1, weight=math.inf), "A weight must be a finite number"),
        (lambda: RocAuc().update(1), "ROC AUC needs scores"),
        (lambda: RocAuc().update_many([1], [1]), "ROC AUC needs scores"),
        (lambda: RocAuc().update_many([1], scores=[[1, 2]]), "need the names of as many classes"),
        (lambda: LogLoss().update_many([0, 1], scores=[0.5, 2]), "2.0 is not a probability|-1"),
        (lambda: LogLoss().update("a", score=0.5), "Say which class"),
        (lambda: MSE().update_many([1.0], [math.nan]), "row 1: The prediction is nan"),
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
        "error", "log_loss", "mse", "rmse", "mae",
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
        begin = time.perf_counter()
        metric.update_many(y, p, s)
        assert metric.value > 0
        assert time.perf_counter() - begin < 1.0  # 10 to 100 ns a row; leaves room for others
