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
    as_given,
    check_race,
    report_left_out,
    show_results,
    source_of,
    width,
    write_json,
)
from yarrow.cli.options import DATA, FILE, OUTPUT, Command, option, reading_options, scaling_options
from yarrow.cli.progress import RaceDisplay
from yarrow.errors import counted


@click.command(cls=Command, name="tune", short_help="Tune the hyper-parameters of one learner.")
@click.argument("data", nargs=-1, required=True, type=DATA)
@option(RACE, "--learner", default="arow", metavar="NAME", show_default=True,
        help="The learner to tune.")  # fmt: skip
@GRID
@PASSES
@REGRESSION
@SEED
@option(OUTPUT, "--model", type=FILE, metavar="FILE",
        help="Train the best setting on all rows, and save the model.")  # fmt: skip
@JSON
@QUIET
@scaling_options
@reading_options
def command(
    data: tuple[str, ...],
    stream_format: Any,
    learner: str,
    grid: str,
    passes: int,
    scale: bool,
    normalize: bool,
    regression: bool | None,
    seed: int,
    model: str | None,
    json_file: str | None,
    quiet: bool,
) -> None:
    """Tune the hyper-parameters of one learner on DATA, and save a model with the best ones.

    The best setting has the lowest error over all rows by progressive validation. It is then
    trained on DATA anew, as yarrow train does.

      yarrow tune mail.svm.gz --learner scw --model mail.yarrow
      yarrow tune a9a --learner pa --grid grid.json
    """
    from yarrow.compare.tune import tune
    from yarrow.report import tables

    if regression is None and "regressor" in learner.lower():
        regression = True
    source = source_of(data, stream_format, regression, scaled=scale or normalize)
    check_race(source, grid, model, json_file)
    with RaceDisplay(source, passes, quiet) as display:
        found = tune(
            source, learner, grid, scale=scale, normalize=normalize, passes=passes, seed=seed,
            threads=stream_format.threads or None, keep_model=model is not None,
            command=as_given(), on_progress=display.show,
        )  # fmt: skip
    if model is not None:
        found.model.save(model)
    write_json(json_file, found.comparison, best=found.best.name)
    if json_file == "-":
        return
    show_results(found.comparison, tables.all_settings(found.comparison).short())
    kept = f", learned anew and saved to {model}" if model is not None else ""
    equals = f" (no better than {counted(found.equals, 'other')})" if found.equals else ""
    click.echo(f"Best: {found.best.name}{equals}{kept}.")
    click.echo(textwrap.fill(" ".join(found.evidence), min(width(), 99)))
    report_left_out(source)
