"""`yarrow evaluate`: predict each row, then learn it, and keep the score."""

from __future__ import annotations

import json
from typing import Any

import click

from yarrow.cli.certified import Certified
from yarrow.cli.learners import LearnerCommand, learning_options
from yarrow.cli.options import (
    DATA,
    FILE,
    OUTPUT,
    check_inputs,
    check_output,
    option,
    reading_options,
)
from yarrow.cli.progress import Display, counted, rate, wrong_of
from yarrow.cli.results import Confusion, Residuals, share_of_wrong, summary_lines
from yarrow.cli.train import report_skipped


@click.command(
    cls=LearnerCommand, name="evaluate", short_help="Predict each row before it is learned; score."
)
@click.argument("data", nargs=-1, required=True, type=DATA)
@learning_options
@option(OUTPUT, "--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
@option(OUTPUT, "--certificate", is_flag=True, help="Also say what a theorem promised of this run: "
        "mistakes, bound, assumptions. Reads the data once more, into memory.")  # fmt: skip
@option(OUTPUT, "--model", type=FILE, metavar="FILE", help="Also save what was learned.")
@option(OUTPUT, "--quiet", is_flag=True, help="Only the summary, not the table of the way there.")
@reading_options
def command(
    data: tuple[str, ...],
    estimator: Any,
    how: Any,
    as_json: bool,
    certificate: bool,
    model: str | None,
    quiet: bool,
) -> None:
    """Progressive validation: each row is predicted before it is learned.

    So every row counts, and no prediction has seen its label. A line is printed at rows 1, 2, 4,
    8... with the error so far and since the line before. A ranker is scored by the pairs of rows of
    a query that it has in the wrong order, a learner of one class by the rows outside its ball.

      yarrow evaluate spam.svm.gz --learner cw
      yarrow evaluate electricity.csv --label class --learner pa --json
      yarrow evaluate a9a.svm.gz --learner perceptron --certificate
    """
    from yarrow.linear_model.streaming import learn_stream

    check_inputs(data)
    check_output(model, data)
    wrong = wrong_of(estimator)
    results: Confusion | Residuals = Residuals() if wrong == "RMSE" else Confusion()
    table = _Table(wrong, shown=not (as_json or quiet))
    display = Display(data, wrong=wrong, quiet=True)
    has_labels = estimator.learns_labels
    is_fresh = "_model" not in estimator.__dict__
    for progress in learn_stream(estimator, data, how, keep_results=has_labels):
        if progress.results is not None:
            results.add(*progress.results)
        for checkpoint in progress.checkpoints:
            table.add(checkpoint)
    seconds = display.seconds
    if model is not None:
        estimator.save(model)
    if not progress.rows:
        raise click.UsageError("there is no row to learn from")
    names = estimator._fitted.classes if hasattr(type(estimator), "classes_") else []
    summary = results.summary(names) if has_labels else share_of_wrong(wrong, progress)
    found = Certified.of(estimator, data, how, is_fresh) if certificate else None
    if as_json:
        document = {
            "learner": type(estimator).__name__,
            "parameters": estimator.get_params(),
            "rows": progress.rows,
            "skipped": progress.skipped,
            **summary,
            "updates": estimator.n_updates_,
            "nonzero_weights": estimator.n_nonzero_,
            "seconds": round(seconds, 3),
            "checkpoints": table.rows,
        }
        if found is not None:
            document["certificate"] = found.to_dict()
        click.echo(json.dumps(document, indent=2, ensure_ascii=False, default=str))
    else:
        if table.shown:
            click.echo()
        click.echo(repr(estimator))
        click.echo(
            f"{counted(progress.rows, 'row')} in {seconds:.2f} s "
            f"({rate(progress.rows, seconds)} rows/s), {counted(estimator.n_updates_, 'update')}, "
            f"{counted(estimator.n_nonzero_, 'nonzero')}"
        )
        for line in summary_lines(summary):
            click.echo(line)
        if found is not None:
            click.echo(f"\n{found}")
    report_skipped(progress)


class _Table:
    """The error so far at rows 1, 2, 4, 8..., as Vowpal Wabbit shows it."""

    def __init__(self, wrong: str, shown: bool) -> None:
        self.what = wrong if len(wrong) <= 8 else "wrong"
        self.shown = shown
        self.rows: list[dict[str, Any]] = []
        self._last = (0, 0.0)

    def add(self, checkpoint: Any) -> None:
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
            if not self.rows:
                _print(what, what, "", "current", "current", "current")
                _print("so far", "since last", "rows", "label", "prediction", "features")
            _print(so_far, since, f"{c.rows:,}", c.label, c.prediction, f"{c.features:,}")
        self.rows.append(
            {"rows": c.rows, what.lower(): so_far, "since_last": since}
            | {"label": c.label, "prediction": c.prediction, "features": c.features}
        )


def _print(*cells: Any) -> None:
    widths = (10, 12, 15, 14, 14, 11)
    click.echo("".join(_cell(cell, width) for cell, width in zip(cells, widths, strict=True)))


def _cell(value: Any, width: int) -> str:
    text = "-" if value is None else f"{value:.6f}" if isinstance(value, float) else str(value)
    if isinstance(value, float) and len(text) > width - 2:
        text = f"{value:.4g}"
    return f"{text if len(text) <= width - 2 else text[: width - 3] + '…':>{width}}"
