"""`yarrow predict`: a line for each row, its class or value."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import click

from yarrow.cli.options import (
    DATA,
    FILE,
    OUTPUT,
    Command,
    check_inputs,
    check_output,
    columns_in,
    columns_option,
    opened_for_writing,
    option,
    reading_options,
)
from yarrow.cli.progress import learns_labels
from yarrow.cli.results import Confusion, Residuals, summary_lines
from yarrow.cli.train import report_skipped
from yarrow.data.labels import Codes, kept, number_of
from yarrow.errors import ParameterError, counted


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
@columns_option(OUTPUT, "--keep", "Tables: columns to write before the prediction, as they are.")
@option(OUTPUT, "--interval", type=float, metavar="P",
        help="Add the ends of an interval, tab-separated, that holds the value with the "
        "frequency P, from 0.5 to 0.99, as long as rows are like those of training "
        "(YarrowRegressor only).")  # fmt: skip
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
    keep: tuple[str, ...],
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
      yarrow predict sales.yarrow july.csv --keep id,date --header
      yarrow predict prices.yarrow new.csv --interval 0.9
    """
    from yarrow.online.learners import classes_of
    from yarrow.online.ledger import Progress
    from yarrow.online.prediction import predict_files
    from yarrow.saving.export_file import load

    if scores and proba:
        raise click.UsageError("--scores and --proba cannot be used together")
    check_inputs([model, data])
    check_output(output, [model, data])
    estimator = load(model)
    if not hasattr(estimator, "predict"):
        raise ParameterError(
            f"{model}: holds a {type(estimator).__name__}, which cannot predict rows."
        )
    names = classes_of(estimator)
    if threshold is not None and (names is None or len(names) != 2):
        known = f"the classes {', '.join(map(str, names))}" if names else "none: it is a regression"
        raise ParameterError(f"--threshold is for two classes, and {model} has {known}.")
    if threshold is not None:
        by_score = scores or not hasattr(estimator, "predict_proba")
        if not (math.isfinite(threshold) if by_score else 0 <= threshold <= 1):
            what = "score" if by_score else "probability"
            raise ParameterError(f"--threshold {threshold} is not a {what}.")
    radius = None if interval is None else _radius(estimator, interval)
    compares = learns_labels(estimator) and not quiet
    tally = _Tally(is_regression=names is None) if compares else None
    progress = Progress()
    kept_columns = columns_in(keep)
    columns = names if names is not None and (scores or proba) else []
    columns = columns if radius is None else ["low", "high"]
    answers = ["prediction", *columns] if header else []
    for name in kept_columns:
        if name in map(str, answers):
            raise ParameterError(
                f"--keep {name}: the predictions have a column of this name as well; rename it, or "
                "leave out --header."
            )
    if kept_columns:
        asked = {**stream_format.table, "passed": kept_columns}
        stream_format = dataclasses.replace(stream_format, table=asked)
    with opened_for_writing(output) as file:
        if header:
            file.write(_line([*kept_columns, *answers]))
        wanted: Any = "probabilities" if proba else "scores" if scores else "predictions"
        if threshold is not None and not scores:
            wanted = "probabilities" if hasattr(estimator, "predict_proba") else "scores"
        for part in predict_files(estimator, data, stream_format, wanted=wanted, progress=progress):
            chosen = part.predictions
            if threshold is not None and names is not None and part.table is not None:
                chosen = [names[row[1] >= threshold] for row in part.table]
            table = part.table if scores or proba else None
            if radius is not None:
                table = [[value - radius, value + radius] for value in chosen]
            file.write(_lines(chosen, table, part.passed))
            if tally is not None:
                tally.add(part.labels, chosen)
    if tally is not None:
        tally.report(progress.rows)
    report_skipped(progress)


def _radius(estimator: Any, coverage: float) -> float:
    """Half the width of all intervals of this coverage."""
    if not hasattr(estimator, "predict_interval_one"):
        name = getattr(estimator, "metadata", {}).get("estimator") or type(estimator).__name__
        raise ParameterError(f"{name} predicts no intervals: --interval is for YarrowRegressor.")
    try:
        low, high = estimator.predict_interval_one({}, coverage)
    except ParameterError as error:
        raise ParameterError(str(error).replace("'coverage'", "--interval")) from None
    return float(high - low) / 2


#: what would end a line or a cell, and the sign that says so
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _cell(value: Any) -> str:
    if isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False, default=str)
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value)


def _kept_cell(value: Any) -> str:
    """A cell that is passed through: nothing where it is missing, true and false as in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else _cell(value)


def _line(cells: list[Any]) -> bytes:
    return ("\t".join(map(_cell, cells)) + "\n").encode()


def _lines(
    chosen: list[Any],
    table: list[list[float]] | None,
    passed: list[tuple[Any, ...]] | None,
) -> bytes:
    cells: Iterable[str]
    if chosen and isinstance(chosen[0], float):
        cells = map(repr, chosen)
    else:  # few classes, many rows
        cells = map({value: _cell(value) for value in set(chosen)}.__getitem__, chosen)
    if passed is not None:
        before = ("\t".join(map(_kept_cell, row)) for row in passed)
        cells = map("\t".join, zip(before, cells, strict=True))
    if table is None:
        return ("\n".join(cells) + "\n").encode() if chosen else b""
    rows = ("\t".join(f"{value:.9g}" for value in row) for row in table)
    return "".join(f"{cell}\t{row}\n" for cell, row in zip(cells, rows, strict=True)).encode()


class _Tally:
    """Compares predictions with labels, as far as there are any."""

    def __init__(self, is_regression: bool) -> None:
        self.is_regression = is_regression
        self.labelled = 0
        self._pairs: Counter[tuple[Any, Any]] = Counter()  # few classes, many rows
        self._residuals = Residuals()

    def add(self, labels: list[Any], predictions: list[Any]) -> None:
        both = zip(labels, predictions, strict=True)
        if self.is_regression:
            pairs = [pair for pair in both if isinstance(pair[0], float | int)]
            self.labelled += len(pairs)
            if pairs:
                self._residuals.add(*map(list, zip(*pairs, strict=True)))
            return
        self._pairs.update(both)

    def _summary(self) -> dict[str, Any]:
        if self.is_regression:
            return self._residuals.summary()
        confusion = Confusion()
        codes: Codes = {}
        for (label, prediction), rows in self._pairs.items():
            line = number_of(kept(label), codes)
            confusion.add_rows(line, number_of(kept(prediction), codes), rows)
        return confusion.summary(list(codes))

    def report(self, rows: int) -> None:
        for pair in [pair for pair in self._pairs if pair[0] is None]:
            del self._pairs[pair]
        self.labelled += self._pairs.total()
        if not self.labelled:
            return
        some = "" if self.labelled == rows else f", {self.labelled:,} with a label"
        click.echo(f"{counted(rows, 'row')} predicted{some}", err=True)
        for line in summary_lines(self._summary(), baselines=False):
            click.echo(line, err=True)
