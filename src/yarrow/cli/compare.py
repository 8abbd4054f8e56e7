"""`yarrow compare`: which learner, with which settings, and how sure is that?"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
from typing import Any

import click

from yarrow.cli.options import (
    DATA,
    FILE,
    INPUT,
    OUTPUT,
    SCALING,
    TABLES,
    Command,
    check_inputs,
    check_output,
    given_options,
    opened_for_writing,
    option,
    reading_options,
    scaling_options,
)
from yarrow.cli.progress import RaceDisplay
from yarrow.errors import ParameterError, counted
from yarrow.parameters import PREFERENCES
from yarrow.saving.registry import short_name

RACE = "Comparison"

GRID = option(
    RACE, "--grid", default="default", metavar="default|FILE",
    help="Hyper-parameters to try: a small grid for each learner, or a JSON or TOML file such as "
    '{"arow": {"r": [0.1, 1, 10]}}.',
)  # fmt: skip
PASSES = option(
    RACE, "--passes", type=click.IntRange(min=1), default=1, metavar="N",
    help="Number of epochs (passes over the data); the errors of later ones are shown separately.",
)  # fmt: skip
REGRESSION = option(
    RACE, "--regression/--classes", "regression", default=None,
    help="Treat labels as numbers or as classes; by default as numbers if those of the first rows "
    "have fractions.",
)  # fmt: skip
SEED = option(RACE, "--seed", type=click.IntRange(min=0), default=0, show_default=True,
              metavar="S", help="Random seed of noise, folds and bootstrap.")  # fmt: skip
JSON = option(OUTPUT, "--json", "json_file", type=FILE, metavar="FILE",
              help="Also write the results as JSON; '-' prints nothing but them.")  # fmt: skip
QUIET = option(OUTPUT, "--quiet", is_flag=True, help="Do not show progress.")


@click.command(
    cls=Command, name="compare", short_help="Compare learners and hyper-parameters; recommend one."
)
@click.argument("data", nargs=-1, required=True, type=DATA)
@option(RACE, "--learners", default="all", metavar="all|FAMILY|NAMES",
        help="Comma-separated names or families; 'all' leaves out learners whose cost per row "
        "grows with the stream.")  # fmt: skip
@GRID
@PASSES
@option(RACE, "--noise", type=click.FloatRange(0, 1), default=0.0, metavar="P",
        help="Replace this share of the labels; errors count against the true ones.")  # fmt: skip
@option(RACE, "--folds", type=click.IntRange(min=2), metavar="K",
        help="Also cross-validate the chosen settings; ranks are over the folds.")  # fmt: skip
@option(RACE, "--prefer", type=click.Choice(PREFERENCES), default=PREFERENCES[0], show_default=True,
        help="Of learners that the rows cannot tell apart, recommend the usually most accurate, "
        "one that does less work for a row, or one with fewer weights.")  # fmt: skip
@REGRESSION
@SEED
@option(OUTPUT, "--report", type=FILE, metavar="FILE", help="Write a report as an HTML page.")
@JSON
@QUIET
@scaling_options
@reading_options
def command(
    data: tuple[str, ...],
    stream_format: Any,
    learners: str,
    grid: str,
    passes: int,
    scale: bool,
    normalize: bool,
    noise: float,
    folds: int | None,
    prefer: str,
    regression: bool | None,
    seed: int,
    report: str | None,
    json_file: str | None,
    quiet: bool,
) -> None:
    """Compare learners and hyper-parameters on DATA by progressive validation; recommend one.

    DATA are files, or the name of a data set (see yarrow datasets). They are read once, and every
    setting predicts each row before it learns it, on all cores. The setting of each learner is
    chosen on the first half of the rows; the second half estimates its error, with an interval.

      yarrow compare mail.svm.gz
      yarrow compare a9a --learners arow,pa,confidence --report a9a.html
    """
    from yarrow.compare.compare import compare
    from yarrow.report import tables

    scaled = scale or normalize
    source = source_of(data, stream_format, regression, noise, seed, scaled)
    check_race(source, grid, report, json_file)
    with RaceDisplay(source, passes, quiet) as display:
        comparison = compare(
            source, learners, grid, scale=scale, normalize=normalize, passes=passes,
            folds=folds or 0, noise=noise, seed=seed, prefer=prefer,
            threads=stream_format.threads or None, command=as_given(),
            on_progress=display.show, on_slow=report_slow,
        )  # fmt: skip
    comparison.recommendation |= next_command(comparison)
    if report is not None:
        from yarrow.report import page

        html = page(comparison)
        with opened_for_writing(report) as file:
            file.write(html.encode())
    write_json(json_file, comparison)
    if json_file == "-":
        return
    show_results(comparison, tables.learners(comparison).short())
    show_recommendation(comparison)
    report_left_out(source)


def source_of(
    data: tuple[str, ...],
    stream_format: Any,
    regression: bool | None,
    noise: float = 0.0,
    seed: int = 0,
    scaled: bool = False,
) -> Any:
    """Files, or a set of that name where there is no file; values to be scaled are not rounded."""
    from yarrow import datasets
    from yarrow.compare.sources import Files, Named

    if len(data) == 1 and not os.path.exists(data[0]) and datasets.is_name(data[0]):
        return Named(datasets.load(data[0]), noise, seed)
    for path in data:
        if path != "-" and not os.path.exists(path):
            raise ParameterError(
                f"{path}: there is no such file, and no data set of that name; see yarrow datasets."
            )
    check_inputs(data)
    dtype = "float64" if scaled else "float32"
    return Files(data, stream_format, regression=regression, dtype=dtype, noise=noise, seed=seed)


def check_race(source: Any, grid: str, *outputs: str | None) -> None:
    """Complain about other files than the data before the race starts."""
    for output in outputs:
        check_output(output, getattr(source, "paths", ()))
    if grid != "default":
        check_inputs([grid])


def as_given() -> str:
    """The command as it was given."""
    return shlex.join(["yarrow", *sys.argv[1:]])


def next_command(comparison: Any) -> dict[str, str]:
    """The command that trains the recommended learner on the same files, read the same way."""
    found = comparison.recommendation
    context = click.get_current_context()
    data = context.params["data"]
    if found["learner"] is None or "-" in data or not all(map(os.path.exists, data)):
        return {}
    words = ["yarrow", "train", *data, *given_options(context, (INPUT, TABLES, SCALING))]
    words += ["--learner", short_name(found["learner"])]
    for name, value in found["parameters"].items():
        words += ["--set", f"{name}={value}"]
    return {"command": shlex.join([*words, "--model", "model.yarrow"])}


def report_slow(names: list[str]) -> None:
    """Say which learners are left out."""
    verb = "are" if len(names) > 1 else "is"
    click.echo(
        f"{', '.join(names)} {verb} left out: their cost per row grows with the stream; name them "
        "with --learners to include them.",
        err=True,
    )


def report_left_out(source: Any) -> None:
    """Say which rows were skipped."""
    if source.skipped:
        click.echo(f"{counted(source.skipped, 'row')} skipped: {source.complaints[0]}", err=True)


def width() -> int:
    """Of the terminal; 100 in a pipe."""
    return (shutil.get_terminal_size().columns if sys.stdout.isatty() else 100) - 1


def show_results(comparison: Any, table: Any) -> None:
    """What was compared, how each did, and what failed."""
    data = comparison.data
    n = sum(o.family != "baseline" for o in comparison.outcomes)
    k = data["classes"] and len(data["classes"])
    classes = counted(k, "class", "classes") if k else "a regression"
    click.echo(
        f"{data['name']}: {counted(data['rows'], 'row')}, {counted(data['features'], 'feature')}, "
        f"{classes}; {counted(n, 'setting')} in {comparison.seconds:.2f} s\n\n"
        f"{table.text(width())}\n"
    )
    for outcome in comparison.outcomes:
        if outcome.failure:
            click.echo(f"{outcome.name} is out: {outcome.failure}", err=True)


def show_recommendation(comparison: Any) -> None:
    """The sentence, and what it rests on."""
    found = comparison.recommendation
    wrap = textwrap.TextWrapper(min(width(), 99), subsequent_indent="  ")
    click.echo(wrap.fill(found["sentence"]))
    for sentence in found["evidence"]:
        click.echo(wrap.fill(f"- {sentence}"))
    ranks = comparison.ranks
    if ranks is not None:
        shown = [
            f"{name} {rank:.1f}"
            for name, rank in zip(ranks["learners"][:5], ranks["mean_ranks"], strict=False)
        ]
        sentence = (
            f"- Mean ranks over {ranks['over']}: {', '.join(shown)}; "
            f"they differ if {ranks['critical_difference']:.2f} apart."
        )
        click.echo(wrap.fill(sentence))
    steps = [found[key] for key in ("command", "python") if key in found]
    if steps:
        click.echo("\n".join(["Next:", *(f"  {step}" for step in steps)]))


def write_json(path: str | None, comparison: Any, **more: Any) -> None:
    """All of a comparison, as one JSON object."""
    import json

    if path is not None:
        text = json.dumps(comparison.to_json() | more, indent=1, ensure_ascii=False, default=str)
        with opened_for_writing(path) as file:
            file.write(text.encode() + b"\n")
