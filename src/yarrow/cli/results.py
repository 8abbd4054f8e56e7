"""Labels against predictions: what `evaluate` and `predict` say at the end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from yarrow.data.labels import places_in_order
from yarrow.lazy import np
from yarrow.metrics import MAE, R2, RMSE, BalancedAccuracy
from yarrow.report.numbers import percent

_MOST_CLASSES = 12  # with a line each


class Confusion:
    """How often each class was predicted as which, and two predictors that need no model."""

    def __init__(self) -> None:
        self.metric = BalancedAccuracy()  # of class numbers; -1: nothing was predicted
        self.changes = 0  # rows whose label is not that of the row before
        self._last: float | None = None

    def add(self, labels: Any, predictions: Any) -> None:
        """Count some more rows, in order."""
        labels, predictions = np.asarray(labels, np.int64), np.asarray(predictions, np.int64)
        if not len(labels):
            return
        self.metric.update_many(labels, predictions)
        before = labels[0] - 1 if self._last is None else self._last
        self.changes += int(np.sum(np.diff(labels, prepend=before) != 0))
        self._last = int(labels[-1])

    def add_rows(self, label: int, prediction: int, rows: int) -> None:
        """Count so many rows of one label and one prediction, in whatever order."""
        self.metric.update_pair(label, prediction, rows)

    def summary(self, names: Sequence[Any]) -> dict[str, Any]:
        """All that can be said, with the names of the classes."""
        cells = {key: round(count) for key, count in sorted(self.metric.cells.items())}
        rows = sum(cells.values())
        of_label: Counter[int] = Counter()
        of_prediction: Counter[int] = Counter()
        for (label, prediction), count in cells.items():
            of_label[label] += count
            of_prediction[prediction] += count
        classes = []
        for number in [n for n in places_in_order(names) if n in of_label]:
            right, predicted = cells.get((number, number), 0), of_prediction[number]
            classes.append(
                {
                    "class": names[number],
                    "rows": of_label[number],
                    "recall": right / of_label[number],
                    "precision": right / predicted if predicted else None,
                }
            )
        right = sum(count for (label, guess), count in cells.items() if label == guess)
        return {
            "error": (rows - right) / rows,
            "accuracy": right / rows,
            "balanced_accuracy": self.metric.value,
            "error_of_most_frequent_class": 1 - max(of_label.values()) / rows,
            "error_of_last_label_repeated": self.changes / rows,
            "classes": classes,
            "confusion": [
                [names[label], names[guess] if guess >= 0 else None, count]
                for (label, guess), count in cells.items()
            ],
        }


class Residuals:
    """The errors of a regression, and that of a predictor who knows the mean."""

    def __init__(self) -> None:
        self.rmse, self.mae, self.r2, self.repeated = RMSE(), MAE(), R2(), RMSE()
        self._last: list[float] = []

    def add(self, labels: Any, predictions: Any) -> None:
        """Count some more rows."""
        for metric in (self.rmse, self.mae, self.r2):
            metric.update_many(labels, predictions)
        targets = [*self._last, *np.asarray(labels).tolist()]
        self.repeated.update_many(targets[1:], targets[:-1])
        self._last = targets[-1:]

    def summary(self, names: Sequence[Any] = ()) -> dict[str, Any]:
        """All that can be said."""
        r2 = self.r2.value
        return {
            "rmse": self.rmse.value,
            "mae": self.mae.value,
            "r2": None if math.isnan(r2) else r2,
            "rmse_of_mean": self.r2.spread,
            "rmse_of_last_target_repeated": None
            if math.isnan(self.repeated.value)
            else self.repeated.value,
        }


def share_of_wrong(wrong: str, progress: Any) -> dict[str, Any]:
    """The summary of a learner without labels: how much of what it judged was wrong."""
    judged = int(progress.judged)
    return {"wrong": wrong, "judged": judged, "share": progress.mistakes / max(1, judged)}


def summary_lines(summary: dict[str, Any], *, baselines: bool = True) -> list[str]:
    """A summary in words."""
    if "wrong" in summary:
        return [f"{summary['wrong']} {percent(summary['share'])} of {summary['judged']:,}"]
    if "rmse" in summary:
        r2 = "" if summary["r2"] is None else f", R² {summary['r2']:.4f}"
        lines = [f"RMSE {summary['rmse']:.6g}, MAE {summary['mae']:.6g}{r2}"]
        if baselines:
            repeated = summary["rmse_of_last_target_repeated"]
            lines.append(
                f"baselines: RMSE of the mean in hindsight {summary['rmse_of_mean']:.6g}"
                + ("" if repeated is None else f", of repeating the last target {repeated:.6g}")
            )
        return lines
    lines = [
        f"error {percent(summary['error'])}, accuracy {percent(summary['accuracy'])}, "
        f"balanced accuracy {percent(summary['balanced_accuracy'])}"
    ]
    if baselines:
        frequent, repeated = (
            percent(summary[f"error_of_{name}"])
            for name in ("most_frequent_class", "last_label_repeated")
        )
        lines.append(
            f"baselines: error of the most frequent class in hindsight {frequent}, "
            f"of repeating the last label {repeated}"
        )
    if len(summary["classes"]) <= _MOST_CLASSES:
        lines += ["", _class_table(summary["classes"])]
    return lines


def _class_table(classes: list[dict[str, Any]]) -> str:
    from yarrow.report.tables import Cell, Table

    rows = []
    for c in classes:
        shares = [Cell("-" if c[x] is None else percent(c[x]), 0) for x in ("recall", "precision")]
        rows.append([Cell(str(c["class"])), Cell(f"{c['rows']:,}", 0), *shares])
    return Table(["class", "rows", "recall", "precision"], rows).text()
