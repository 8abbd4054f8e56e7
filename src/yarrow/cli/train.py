"""`yarrow train`: learn rows in order, once or in several passes, and save the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

import click

from yarrow.cli.learners import LEARNER, LearnerCommand, learning_options
from yarrow.cli.options import (
    DATA,
    ENGINE,
    FILE,
    OUTPUT,
    check_inputs,
    check_output,
    option,
    reading_options,
)
from yarrow.cli.progress import Display, learned_words, rate, wrong_of
from yarrow.data.labels import in_order
from yarrow.errors import counted

#: with fewer, classes may come one after the other by chance
_ROWS_A_CLASS = 20


@click.command(cls=LearnerCommand, name="train", short_help="Learn from files and save a model.")
@click.argument("data", nargs=-1, required=True, type=DATA)
@learning_options
@option(LEARNER, "--passes", type=click.IntRange(min=1), default=1, metavar="N",
        show_default=True, help="Number of epochs: passes over the data, in order.")  # fmt: skip
@option(
    ENGINE,
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Learn here, or on a cluster of Apache Spark: each partition by "
    "itself, merged after each pass (docs/spark.md).",
)
@option(ENGINE, "--master", metavar="URL", default="local[*]", show_default=True,
        help="Where Spark runs, with --engine spark.")  # fmt: skip
@option(OUTPUT, "--model", type=FILE, metavar="FILE",
        help="Where to save the model: its exact state, to predict with and to --resume. Written "
        "when all rows are learned; after an error an old file is unchanged.")  # fmt: skip
@option(OUTPUT, "--export", type=FILE, metavar="FILE",
        help="Also, or only, write what prediction needs, for other programs: JSON or text if the "
        "suffix is .json or .txt, otherwise a smaller binary file with checksums.")  # fmt: skip
@option(OUTPUT, "--quiet", is_flag=True, help="Print only errors and warnings.")
@reading_options
def command(
    data: tuple[str, ...],
    estimator: Any,
    stream_format: Any,
    passes: int,
    engine: str,
    master: str,
    model: str | None,
    export: str | None,
    quiet: bool,
) -> None:
    """Learn the rows of files in order ('-' is standard input) and save the model.

    yarrow train sms.tsv --label label --text text --model sms.yarrow
    yarrow train prices.csv --label price --regression --model prices.yarrow
    yarrow train a9a.svm.gz --learner arow --r 0.1 --model a9a.yarrow
    yarrow train a9a.svm --learner hedge --experts arow:r=0.1,pa --model a9a
    zcat new.svm.gz | yarrow train - --resume a9a.yarrow --model a9a.yarrow
    yarrow train a9a.svm --engine spark --passes 5 --model a9a.yarrow
    """
    from yarrow.online.driver import learn_files
    from yarrow.online.learners import classes_of

    if model is None and export is None:
        raise click.UsageError("Missing option: --model FILE says where to save the model")
    if engine == "local":
        check_inputs(data)
    for output in (model, export):
        check_output(output, data)
    if export is not None:
        check_exportable(estimator, export)
    progress = None
    if engine == "spark":
        from yarrow.cli import spark

        shown = spark.SparkDisplay(estimator, wrong_of(estimator), passes, quiet)
        estimator = spark.train(estimator, data, stream_format, passes, master, shown)
        said = spark.summary(shown, learned_words(estimator))
    else:
        display = Display(data, wrong=wrong_of(estimator), passes=passes, quiet=quiet)
        progress = display.watch(learn_files(estimator, data, stream_format, passes=passes))
        seconds = display.seconds
        said = (
            f"{counted(progress.rows, 'row')}, {display.errors()}, {learned_words(estimator)}, "
            f"{seconds:.2f} s ({rate(progress.rows, seconds)} rows/s)"
        )
    if export is not None:
        estimator.export(export)
    if model is not None:
        estimator.save(model)
    if named := classes_named(estimator):
        report_unseen(named, in_order(estimator._fitted.classes))
    meta = click.get_current_context().meta
    if meta["learner"] is not None and not meta["chosen"]:
        said += f"; by {meta['learner'].__name__}, as no --learner was named"
    if not quiet:
        click.echo(said)
    if len(classes := classes_of(estimator) or []) == 1:
        click.echo(
            f"yarrow: all rows had the label {classes[0]!s}, so the model predicts no other.",
            err=True,
        )
    last = getattr(estimator, "_share_of_last_target", 0.0)
    if last > 0.5:
        click.echo(
            f"yarrow: {100 * min(last, 1):.0f} % of a prediction is the last target learned, since "
            "each target was close to the one before it. For rows that come much later, or in "
            "another order, shuffle the rows and train again.",
            err=True,
        )
    if progress is not None:
        warn_if_sorted(progress, passes, classes)
        report_skipped(progress)


def check_exportable(estimator: Any, path: str) -> None:
    """Refuse before training what cannot be exported after it."""
    from yarrow.errors import ParameterError
    from yarrow.saving.export_file import checked_format

    if not hasattr(estimator, "export"):
        raise ParameterError(f"{type(estimator).__name__} has no weights to export: use --model.")
    if not getattr(estimator, "is_exportable", True) or estimator.hash_bits:
        why = "hashes its features" if estimator.hash_bits else "has no fixed weights"
        raise ParameterError(
            f"{type(estimator).__name__} {why} and cannot be exported: use --model."
        )
    checked_format(estimator, path)


def warn_if_sorted(progress: Any, passes: int, classes: Sized) -> None:
    """Say on standard error that the rows came sorted by class, if they did."""
    n = len(classes)
    if n > 1 and progress.rows >= _ROWS_A_CLASS * n and progress.returns == (passes - 1) * n:
        click.echo(
            "yarrow: the rows are sorted by class, so that the error, counted before each row is "
            "learned, says little, and what came last counts most: shuffle them.",
            err=True,
        )


def report_skipped(progress: Any) -> None:
    """Say on standard error which rows were left out."""
    if not progress.skipped:
        return
    click.echo(f"{counted(progress.skipped, 'row')} skipped; the first:", err=True)
    for complaint in progress.complaints:
        click.echo(f"  {complaint}", err=True)


def classes_named(estimator: Any) -> dict[str, list[Any]]:
    """The classes that a learner's options say something about."""
    named = estimator._classes_named() if hasattr(estimator, "_classes_named") else {}
    return {"--" + name.replace("_", "-"): names for name, names in named.items() if names}


def report_unseen(named: Mapping[str, Iterable[Any]], seen: Iterable[Any]) -> None:
    """Say on standard error which classes an option named that never came."""
    known = getattr(seen, "tolist", lambda: list(seen))()
    for flag, names in named.items():
        unseen = [name for name in names if name not in known]
        if unseen:
            from yarrow.base.classifier import shown_names

            problem = f"{shown_names(unseen)} did not occur; the classes are {shown_names(known)}."
            click.echo(f"{flag}: {problem}", err=True)
