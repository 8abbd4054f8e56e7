"""`yarrow evaluate`: predict each row, then learn it, and keep the score."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from yarrow.cli.learners import LearnerCommand, learning_options
from yarrow.cli.options import (
    DATA,
    FILE,
    OUTPUT,
    check_inputs,
    check_output,
    option,
    parse_label,
    reading_options,
)
from yarrow.cli.progress import (
    Display,
    learned_words,
    learns_labels,
    rate,
    wrong_of,
)
from yarrow.cli.results import Confusion, Residuals, share_of_wrong, summary_lines
from yarrow.cli.train import classes_named, report_skipped, report_unseen, warn_if_sorted
from yarrow.errors import DataError, ParameterError, counted
from yarrow.online.learners import check_tells
from yarrow.online.ledger import Ledger, Progress
from yarrow.online.results import ProgressiveResult

SCORING = "Scoring"
_SIZES = (("updates", "n_updates_"), ("nonzero_weights", "n_nonzero_"), ("rows_kept", "n_support_"))
_MOST_COLUMNS = 3  # of metrics in the table; the summary has them all


@click.command(
    cls=LearnerCommand,
    name="evaluate",
    short_help="Progressive validation: predict each row, then learn it.",
)
@click.argument("data", nargs=-1, required=True, type=DATA)
@learning_options
@option(SCORING, "--metrics", metavar="NAMES",
        help="Further metrics, comma-separated: accuracy, balanced_accuracy, f1, f1_macro, "
        "f1_micro, roc_auc, log_loss, brier_score, calibration_error; for a regression mse, mae, "
        "r2.")  # fmt: skip
@option(SCORING, "--window", type=click.IntRange(min=1), metavar="N",
        help="Also the metrics (by default the error) of a sliding window of N rows.")  # fmt: skip
@option(SCORING, "--fading", type=click.FloatRange(min=1e-9, max=1, max_open=True), metavar="M",
        help="Also the metrics with a fading factor M, by which each row counts less than the "
        "next.")  # fmt: skip
@option(SCORING, "--positive", metavar="CLASS",
        help="The positive class of f1, roc_auc and metrics of probabilities.")  # fmt: skip
@option(SCORING, "--delay", type=click.IntRange(min=0), default=0, metavar="N",
        help="Delay of the labels: each arrives when N more rows have been predicted.")  # fmt: skip
@option(SCORING, "--watch", is_flag=True, help="Also tell when the error or the share of a class "
        "has changed.")  # fmt: skip
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@option(OUTPUT, "--certificate", is_flag=True, help="Also print the bound that a theorem "
        "gives for this run, and its assumptions. Reads the data again, into memory.")  # fmt: skip
@option(OUTPUT, "--model", type=FILE, metavar="FILE", help="Also save the model.")
@option(OUTPUT, "--quiet", is_flag=True, help="Print only the summary.")
@reading_options
def command(
    data: tuple[str, ...],
    estimator: Any,
    stream_format: Any,
    metrics: str | None,
    window: int | None,
    fading: float | None,
    positive: str | None,
    delay: int,
    watch: bool,
    as_json: bool,
    certificate: bool,
    model: str | None,
    quiet: bool,
) -> None:
    """Progressive validation: each row is predicted before it is learned.

    So every row counts, and no prediction has seen its label. A line is printed at rows 1, 2, 4,
    8... with the error so far and since the previous line, and with further metrics if they are
    requested. A ranker is scored by the pairs of rows of a query that it puts in the wrong order, a
    one-class learner by the rows outside its ball.

      yarrow evaluate spam.svm.gz
      yarrow evaluate prices.csv --label price --regression
      yarrow evaluate spam.svm.gz --metrics f1,roc_auc --window 1000 --delay 50
      yarrow evaluate electricity.csv --label class --learner pa --json
      yarrow evaluate mail.svm.gz --learner fixedshare --experts arow,pa:C=0.1
      yarrow evaluate a9a.svm.gz --learner perceptron --certificate
    """
    from yarrow.online.driver import learn_files

    check_inputs(data)
    check_output(model, data)
    wrong = wrong_of(estimator)
    is_regression = wrong == "RMSE"
    results: Confusion | Residuals = Residuals() if is_regression else Confusion()
    keeper = _Keeper(is_regression, metrics, window, fading, positive)
    table = _Table(wrong, list(keeper.metrics), shown=not (as_json or quiet))
    display = Display(data, wrong=wrong, quiet=True)
    has_labels = learns_labels(estimator)
    is_fresh = not estimator.__sklearn_is_fitted__()
    if not has_labels and (delay or keeper.metrics):
        raise ParameterError(
            f"{type(estimator).__name__} learns without labels, so it has no metrics."
        )
    check_tells(estimator, keeper.wanted)
    if watch and (is_regression or not has_labels):
        raise ParameterError(f"{type(estimator).__name__} has no classes to --watch.")
    monitor: Any = None
    if watch:
        from yarrow.evaluate.monitor import Monitor  # which loads more than most runs need

        monitor = Monitor()
    stream = learn_files(
        estimator, data, stream_format, delay=delay, wanted=keeper.wanted, keep_results=has_labels
    )
    names: list[Any] = []
    for progress in stream:
        if progress.results is not None:
            results.add(*progress.results)
            names = progress.classes
            keeper.take(progress)
            for label, said in zip(*progress.results, strict=True) if monitor else ():
                monitor.update(label=names[int(label)], wrong=float(label != said))
        for checkpoint in progress.checkpoints:
            table.add(checkpoint, keeper.at(checkpoint.rows))
    keeper.at(progress.rows)
    seconds = display.seconds
    if model is not None:
        estimator.save(model)
    if not progress.rows:
        raise click.UsageError("there is no row to learn from")
    summary = results.summary(names) if has_labels else share_of_wrong(wrong, progress)
    found = certified(estimator, data, stream_format, is_fresh) if certificate else None
    if as_json:
        document = {
            "learner": type(estimator).__name__,
            "parameters": estimator.get_params(deep=False),
            "rows": progress.rows,
            "skipped": progress.skipped,
            **summary,
            **({"delay": delay} if delay else {}),
            **({"metrics": keeper.values()} if keeper.metrics else {}),
            **({"alarms": [dataclasses.asdict(a) for a in monitor.alarms]} if monitor else {}),
            **{name: getattr(estimator, of) for name, of in _SIZES if hasattr(estimator, of)},
            "seconds": round(seconds, 3),
            "checkpoints": table.rows,
        }
        if found is not None:
            is_reason = isinstance(found, str)
            document["certificate"] = {"reason": found} if is_reason else found.to_dict()
        click.echo(json.dumps(document, indent=2, ensure_ascii=False, default=str))
    else:
        if table.shown:
            click.echo()
        click.echo(repr(estimator))
        click.echo(
            f"{counted(progress.rows, 'row')} in {seconds:.2f} s "
            f"({rate(progress.rows, seconds)} rows/s), {learned_words(estimator)}"
        )
        for line in [*summary_lines(summary), *keeper.lines(delay)]:
            click.echo(line)
        if monitor is not None:
            alarms = [str(alarm) for alarm in monitor.alarms]
            click.echo("\n".join(alarms) or "no change in the error or the classes")
        if found is not None:
            click.echo(f"\n{'no certificate: ' * isinstance(found, str)}{found}")
    if not is_regression and has_labels:
        asked = {} if positive is None else {"--positive": [parse_label(positive)]}
        report_unseen(classes_named(estimator) | asked, names)
    warn_if_sorted(progress, 1, names)
    report_skipped(progress)


class _Keeper(Ledger):
    """The metrics that were asked for, read at any row."""

    def __init__(
        self,
        is_regression: bool,
        asked: str | None,
        window: int | None,
        fading: float | None,
        positive: str | None,
    ) -> None:
        from yarrow.metrics import Fading, Metric, Windowed, chosen

        names = None if asked is None else [name.strip() for name in asked.split(",")]
        label = None if positive is None else parse_label(positive)
        plain = chosen(names, is_regression, label)
        found: list[Metric] = [] if asked is None else list(plain)
        found += [Windowed(metric, window) for metric in plain if window is not None]
        found += [Fading(metric, fading) for metric in plain if fading is not None]
        super().__init__(found, positive=label)

    def take(self, progress: Progress) -> None:
        """Some more rows of a stream, to be counted when their turn comes."""
        if not self.metrics:
            return
        from yarrow.lazy import np

        assert progress.results is not None
        labels, predictions = progress.results
        if progress.classes:
            named = np.empty(len(progress.classes) + 1, dtype=object)
            named[:-1] = progress.classes  # and at place -1 None
            labels = named[np.asarray(labels, dtype=np.int64)]
            predictions = named[np.asarray(predictions, dtype=np.int64)]
        nothing = np.full((len(labels), 0), np.nan)
        said = progress.told or ProgressiveResult(predictions, nothing)
        self.add(labels, dataclasses.replace(said, predictions=predictions))

    def values(self) -> dict[str, float | None]:
        """The metrics at the end; None where the rows do not say."""
        return {n: None if m.value != m.value else m.value for n, m in self.metrics.items()}

    def lines(self, delay: int) -> list[str]:
        """The metrics in words."""
        lines = [
            f"{name} {metric.value:.6g}{_left_out(metric)}" for name, metric in self.metrics.items()
        ]
        late = [f"labels were delayed by {counted(delay, 'row')}"] if delay else []
        return ["", *lines, *late] if lines or late else []


def _left_out(metric: Any) -> str:
    """How many rows a metric could not count."""
    rows = getattr(metric, "left_out", 0)
    return f" ({counted(rows, 'row')} left out, before two classes were known)" if rows else ""


class _Table:
    """The error so far at rows 1, 2, 4, 8..., as Vowpal Wabbit shows it.

    Metrics take the place of the current row.
    """

    def __init__(self, wrong: str, metrics: list[str], shown: bool) -> None:
        self.what = wrong if len(wrong) <= 8 else "wrong"
        self.shown = shown
        self.metrics = metrics[:_MOST_COLUMNS]
        self.rows: list[dict[str, Any]] = []
        self._last = (0, 0.0)

    def add(self, checkpoint: Any, values: dict[str, float]) -> None:
        """Keep the line of a row, and print it."""
        c, what = checkpoint, self.what
        is_regression = what == "RMSE"
        loss = c.squared_error if is_regression else c.mistakes
        judged_before, loss_before = self._last
        self._last = (c.judged, loss)
        so_far = loss / c.judged
        since = (loss - loss_before) / max(1, c.judged - judged_before)
        if is_regression:
            so_far, since = so_far**0.5, since**0.5
        if self.shown:
            widths = (
                10,
                12,
                15,
                *(
                    [max(14, *(len(line) + 2 for line in _two_lines(n))) for n in self.metrics]
                    or (14, 14, 11)
                ),
            )
            heads = [_two_lines(name) for name in self.metrics] or [
                ("current", "label"),
                ("current", "prediction"),
                ("current", "features"),
            ]
            if not self.rows:
                _print(what, what, "", *(head for head, _ in heads), widths=widths)
                _print("so far", "since last", "rows", *(foot for _, foot in heads), widths=widths)
            cells: list[Any] = [values[name] for name in self.metrics] or [
                c.label,
                c.prediction,
                f"{c.features:,}",
            ]
            _print(so_far, since, f"{c.rows:,}", *cells, widths=widths)
        self.rows.append(
            {"rows": c.rows, what.lower(): so_far, "since_last": since}
            | {"label": c.label, "prediction": c.prediction, "features": c.features}
            | ({"metrics": {n: None if v != v else v for n, v in values.items()}} if values else {})
        )


def _two_lines(name: str) -> tuple[str, str]:
    """`macro F1` over `last 1,000`, so that columns are narrow."""
    for inside, short in ((" of the last ", "last "), (", fading by ", "fading ")):
        if inside in name:
            head, _, rest = name.partition(inside)
            return head, short + rest.removesuffix(" rows")
    return name, "so far"


def _print(*cells: Any, widths: Sequence[int]) -> None:
    click.echo("".join(_cell(cell, width) for cell, width in zip(cells, widths, strict=True)))


def _cell(value: Any, width: int) -> str:
    if value is None or value != value:
        text = "-"
    elif isinstance(value, float):
        text = f"{value:.6f}" if len(f"{value:.6f}") <= width - 2 else f"{value:.4g}"
    else:
        text = str(value)
    return f"{text if len(text) <= width - 2 else text[: width - 3] + '…':>{width}}"


#: numbers that a run may hold: the rows' values, or the weights before every row
MOST_NUMBERS = 50_000_000


def certified(estimator: Any, data: tuple[str, ...], stream_format: Any, is_fresh: bool) -> Any:
    """Read the files again, make the run once more row by row, and ask its theorem.

    A certificate, or the reason why there is none.
    """
    from yarrow.evaluate.certificate import THEOREMS

    name = type(estimator).__name__
    if name not in THEOREMS:
        return f"there is no theorem for {name}"
    if not is_fresh:
        return "a theorem is about a run from its first row, not one that was resumed"
    piped = [path for path in data if not os.path.isfile(path)]
    if piped:
        return f"{piped[0]} cannot be read a second time"
    if sys.stderr.isatty():
        click.echo("repeating the run row by row for its certificate ...", err=True)
    try:
        return _certificate(estimator, data, stream_format.remembering(estimator._stream))
    except (DataError, ParameterError) as error:
        return str(error).rstrip(".")


def _certificate(estimator: Any, data: tuple[str, ...], stream_format: Any) -> Any:
    from yarrow.evaluate import certificate, record
    from yarrow.evaluate.certificate import NEED_WEIGHTS
    from yarrow.lazy import np
    from yarrow.online.file_batches import read_whole

    name = type(estimator).__name__
    whole = read_whole(data, stream_format, most_values=MOST_NUMBERS)
    if np.any(whole.weights != 1):
        raise DataError("the rows have weights, which the theorems do not cover")
    n_rows, n_features = len(whole), whole.n_columns
    keep_weights = name in NEED_WEIGHTS
    if keep_weights and n_rows * n_features > MOST_NUMBERS:
        gigabytes = 8 * n_rows * n_features / 1e9
        raise DataError(
            f"the theorem of {name} looks at all weights before every row, "
            f"which would take {gigabytes:.1f} GB"
        )
    return certificate(record(estimator, whole.matrix, whole.truth, keep_weights=keep_weights))
