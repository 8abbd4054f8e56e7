"""`yarrow reproduce`: the papers' tables and figures, measured again."""

from __future__ import annotations

from pathlib import Path

import click

from yarrow.checkout import load
from yarrow.cli.options import OUTPUT, Command, option


@click.command(cls=Command, name="reproduce", short_help="Measure the papers' experiments again.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="All of them, and a page that lists them.")
@click.option("--list", "listed", is_flag=True, help="List the experiments with their time "
              "budgets.")  # fmt: skip
@click.option("--reduced", is_flag=True, help="A reduced run of a few minutes, as a test.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N",
              show_default="one for each core", help="Number of worker processes.")  # fmt: skip
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              show_default="$YARROW_CACHE or ~/.cache/yarrow/reproduce",
              help="Where results are cached, so that nothing is measured twice.")  # fmt: skip
@option(OUTPUT, "--output", type=click.Path(path_type=Path, file_okay=False),
        default=Path("reproduction-results"), show_default=True, metavar="DIR",
        help="Where to write pages and figures.")  # fmt: skip
@option(OUTPUT, "--quiet", is_flag=True, help="Do not show progress.")
def command(
    names: tuple[str, ...],
    everything: bool,
    listed: bool,
    reduced: bool,
    workers: int | None,
    cache: Path | None,
    output: Path,
    quiet: bool,
) -> int:
    """Run the experiments of the papers behind the learners, and write a page for each.

    A page has the paper's numbers beside ours and says where they differ. Results are cached: a run
    that was interrupted goes on where it stopped. Real data is read from $YARROW_DATA. The
    experiments stand beside the package, in a checkout of Yarrow. Seven are no paper's:
    "evidence" is Yarrow beside scikit-learn, river and Vowpal Wabbit, "yarrow-learner" and
    "keel" are YarrowClassifier beside them, "yarrow-regressor" is YarrowRegressor, "experts"
    measures learning from several learners, "bandit" and "feedback" learning where labels are
    not simply there.

      yarrow reproduce --list
      yarrow reproduce arow-synthetic
      yarrow reproduce --all --output docs/reproduction
    """
    reproduce = load("reproduction.command")
    if listed:
        reproduce.show_list()
        return 0
    if everything == bool(names):
        raise click.UsageError("Missing argument: NAME, --all or --list")
    settings = {"reduced": reduced, "cache": cache, "workers": workers}
    failed: bool = reproduce.run(names, output=output, quiet=quiet, **settings)
    return int(failed)
