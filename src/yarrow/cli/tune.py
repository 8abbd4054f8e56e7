"""`yarrow tune`: try the settings of one learner, and keep the best model."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from yarrow.cli.compare import (
    GRID,
    JSON,
    PASSES,
    QUIET,
    RACE,
    REGRESSION,
    SEED,
    about,
    is_files,
    report_left_out,
    said,
    source_of,
    write_json,
)
from yarrow.cli.options import (
    DATA,
    FILE,
    OUTPUT,
    Command,
    check_inputs,
    check_output,
    option,
    reading_options,
)


@click.command(cls=Command, name="tune", short_help="Try one learner's settings; keep the best.")
@click.argument("data", nargs=-1, required=True, type=DATA)
@option(RACE, "--learner", default="arow", metavar="NAME", show_default=True,
        help="The learner to tune.")  # fmt: skip
@GRID
@PASSES
@REGRESSION
@SEED
@option(OUTPUT, "--model", type=FILE, metavar="FILE",
        help="Learn all rows with the best setting, and save that.")  # fmt: skip
@JSON
@QUIET
@reading_options
def command(
    data: tuple[str, ...],
    stream_format: Any,
    learner: str,
    grid: str,
    passes: int,
    regression: bool | None,
    seed: int,
    model: str | None,
    json_file: str | None,
    quiet: bool,
) -> None:
    """Let the settings of one learner race over DATA, and keep a model with the best.

    The best setting has the lowest error over all rows, each predicted before it was learned. It
    then learns DATA anew, as yarrow train does.

      yarrow tune mail.svm.gz --learner scw --model mail.yarrow
      yarrow tune a9a --learner pa --grid grid.json
    """
    from yarrow.cli.race_display import RaceDisplay
    from yarrow.cli.race_table import failure_lines, setting_table, width
    from yarrow.compare.tune import tune

    if regression is None and "regressor" in learner.lower():
        regression = True
    source = source_of(data, stream_format, regression)
    for output in (model, json_file):
        check_output(output, [path for path in data if path != "-"] if is_files(source) else [])
    if grid != "default":
        check_inputs([grid])
    with RaceDisplay(source, passes, quiet) as display:
        found = tune(
            source, learner, grid, passes=passes, seed=seed, threads=stream_format.threads or None,
            keep_model=model is not None, command=said(), on_progress=display.show,
        )  # fmt: skip
    if model is not None:
        found.model.save(model)
    write_json(json_file, found.comparison, best=found.best.name)
    if json_file == "-":
        return
    click.echo(about(found.comparison))
    click.echo()
    for line in setting_table(found.comparison):
        click.echo(line)
    click.echo()
    for line in failure_lines(found.comparison):
        click.echo(line, err=True)
    kept = f", learned anew and saved to {model}" if model is not None else ""
    others = f"{found.equals} other{'s' if found.equals > 1 else ''}"
    equals = f" (no better than {others})" if found.equals else ""
    click.echo(f"Best: {found.best.name}{equals}{kept}.")
    click.echo(textwrap.fill(" ".join(found.evidence), min(width(), 100) - 1))
    report_left_out(source)
