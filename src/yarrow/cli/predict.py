"""`yarrow predict`: a line for each row, its class or value."""

from __future__ import annotations

from typing import Any

import click

from yarrow.cli.options import (
    DATA,
    FILE,
    OUTPUT,
    Command,
    check_inputs,
    check_output,
    opened_for_writing,
    option,
    reading_options,
)
from yarrow.cli.progress import counted, learns_labels
from yarrow.cli.results import Confusion, Residuals, summary_lines
from yarrow.cli.train import report_skipped
from yarrow.data.labels import Codes, kept, number_of
from yarrow.errors import ParameterError
from yarrow.lazy import np


@click.command(cls=Command, name="predict", short_help="Predict the rows of a file.")
@click.argument("model", type=FILE)
@click.argument("data", type=DATA)
@option(OUTPUT, "--output", type=DATA, default="-", metavar="FILE", show_default="standard output",
        help="Where to write the predictions: a whole file or none.")  # fmt: skip
@option(OUTPUT, "--scores", is_flag=True, help="Add the score of each class, tab-separated.")
@option(OUTPUT, "--proba", is_flag=True, help="Add the probability of each class, tab-separated.")
@option(OUTPUT, "--threshold", type=float, metavar="T",
        help="Predict the second of two classes where its probability (its score, for learners "
        "without probabilities) is at least T.")  # fmt: skip
@option(OUTPUT, "--interval", type=float, metavar="P",
        help="Add the ends of an interval, tab-separated, that holds the value with the "
        "frequency P, from 0.5 to 0.99: of YarrowRegressor.")  # fmt: skip
@option(OUTPUT, "--header", is_flag=True, help="Start with a header line.")
@option(OUTPUT, "--quiet", is_flag=True, help="Do not report the accuracy where there are labels.")
@reading_options
def command(
    model: str,
    data: str,
    stream_format: Any,
    output: str,
    scores: bool,
    proba: bool,
    threshold: float | None,
    interval: float | None,
    header: bool,
    quiet: bool,
) -> None:
    r"""Predict the rows of DATA ('-' is standard input) with a saved or an exported MODEL.

    Each row gives a line: its class, or its value in a regression. The data is read as in
    training, so options need not be repeated. Where rows have labels, the accuracy is printed on
    standard error; for a table, --label says which column they are in. A newline, carriage
    return, tab or backslash in the name of a class is written \n, \r, \t or \\.

      yarrow predict a9a.yarrow a9a.t.svm.gz --output labels.txt
      yarrow predict sms.yarrow new.tsv --proba --header
      yarrow predict prices.yarrow new.csv --interval 0.9
    """
    from yarrow.online.ledger import Progress
    from yarrow.online.prediction import predict_files
    from yarrow.saving.export_file import load

    if scores and proba:
        raise click.UsageError("--scores and --proba exclude each other")
    check_inputs([model, data])
    check_output(output, [model, data])
    estimator = load(model)
    if not hasattr(estimator, "predict"):
        raise ParameterError(
            f"{model}: holds a {type(estimator).__name__}, which cannot predict rows."
        )
    classes = getattr(estimator, "classes_", None)
    names = None if classes is None else classes.tolist()
    if threshold is not None and (names is None or len(names) != 2):
        raise ParameterError(f"--threshold is for two classes, and {model} has {names}.")
    radius = None if interval is None else _radius(estimator, interval)
    compares = learns_labels(estimator) and not quiet
    tally = _Tally(is_regression=names is None) if compares else None
    progress = Progress()
    with opened_for_writing(output) as file:
        if header:
            columns = names if names is not None and (scores or proba) else []
            columns = columns if radius is None else ["low", "high"]
            file.write(_line(["prediction", *columns]))
        wanted: Any = "probabilities" if proba else "scores" if scores else "predictions"
        if threshold is not None and not scores:
            wanted = "probabilities" if hasattr(estimator, "predict_proba") else "scores"
        for part in predict_files(estimator, data, stream_format, wanted=wanted, progress=progress):
            chosen = part.predictions.tolist()
            if threshold is not None and names is not None:
                told = part.scores if part.probabilities is None else part.probabilities
                chosen = [names[int(second)] for second in told[:, 1] >= threshold]
            table = part.probabilities if proba else part.scores if scores else None
            table = None if names is None else table
            if radius is not None:
                ends = [part.predictions - radius, part.predictions + radius]
                table = np.stack(ends, axis=1)
            file.write(_lines(chosen, table))
            if tally is not None:
                tally.add(part.labels or [], chosen)
    if tally is not None:
        tally.report(progress.rows)
    report_skipped(progress)


def _radius(estimator: Any, coverage: float) -> float:
    """Half the width of all intervals of this coverage."""
    if not hasattr(estimator, "predict_interval_one"):
        name = getattr(estimator, "metadata", {}).get("estimator") or type(estimator).__name__
        raise ParameterError(f"{name} predicts no intervals: --interval is for YarrowRegressor.")
    low, high = estimator.predict_interval_one({}, coverage)
    return float(high - low) / 2


#: what would end a line or a cell, and the sign that says so
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _cell(value: Any) -> str:
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value)


def _line(cells: list[Any]) -> bytes:
    return ("\t".join(map(_cell, cells)) + "\n").encode()


def _lines(chosen: list[Any], table: Any) -> bytes:
    if chosen and isinstance(chosen[0], float):
        cells = map(repr, chosen)
    else:  # few classes, many rows
        cells = map({value: _cell(value) for value in set(chosen)}.__getitem__, chosen)
    if table is None:
        return ("\n".join(cells) + "\n").encode() if chosen else b""
    rows = ("\t".join(f"{value:.9g}" for value in row) for row in table.tolist())
    return "".join(f"{cell}\t{row}\n" for cell, row in zip(cells, rows, strict=True)).encode()


class _Tally:
    """Compares predictions with labels, as far as there are any."""

    def __init__(self, is_regression: bool) -> None:
        self.is_regression = is_regression
        self.labelled = 0
        self._waiting: tuple[list[Any], list[Any]] = [], []  # to be counted many at a time
        self._codes: Codes = {}
        self._results: Confusion | Residuals = Residuals() if is_regression else Confusion()

    def add(self, labels: list[Any], predictions: list[Any]) -> None:
        for side, more in zip(self._waiting, (labels, predictions), strict=True):
            side.extend(more)
        if len(self._waiting[0]) >= 10_000:
            self._count()

    def _count(self) -> None:
        labels, predictions = self._waiting
        self._waiting = [], []
        known = set(labels)
        if None in known or (self.is_regression and any(isinstance(y, str) for y in known)):
            both = zip(labels, predictions, strict=True)
            pairs = [pair for pair in both if self._counts(pair[0])]
            labels, predictions = [list(side) for side in zip(*pairs, strict=True)] or ([], [])
        if not labels:
            return
        self.labelled += len(labels)
        if not self.is_regression:  # few classes, many rows
            names = dict.fromkeys([*labels, *predictions])
            code_of = {name: number_of(kept(name), self._codes) for name in names}
            self._results.add(*([code_of[name] for name in side] for side in (labels, predictions)))
        else:
            self._results.add(labels, predictions)

    def _counts(self, label: Any) -> bool:
        return isinstance(label, float | int) if self.is_regression else label is not None

    def report(self, rows: int) -> None:
        self._count()
        if not self.labelled:
            return
        some = "" if self.labelled == rows else f", {self.labelled:,} with a label"
        click.echo(f"{counted(rows, 'row')} predicted{some}", err=True)
        for line in summary_lines(self._results.summary(list(self._codes)), baselines=False):
            click.echo(line, err=True)
