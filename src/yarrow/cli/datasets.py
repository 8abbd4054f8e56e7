"""`yarrow datasets`: the sets that have a name, and their rows as a file."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from yarrow.cli.options import FILE, OUTPUT, Command, check_output, opened_for_writing, option
from yarrow.errors import ParameterError, counted

_WHAT_TO_DO = (
    "name the folder with its files in the environment variable YARROW_DATA; docs/datasets.md "
    "says where they come from"
)


@click.command(
    cls=Command, name="datasets", short_help="List, describe or write the named data sets."
)
@click.argument("name", required=False)
@click.argument("settings", metavar="[OPTION=VALUE]...", nargs=-1)
@option(OUTPUT, "--output", type=FILE, metavar="FILE",
        help="Write the rows: svmlight, or VW text if FILE ends in .vw ('-' is standard output). "
        "FILE is compressed if it ends in .gz, .zst, .xz or .bz2.")  # fmt: skip
@option(OUTPUT, "--to", type=click.Choice(["svmlight", "vw"]), help="Default: by the suffix of "
        "FILE.")  # fmt: skip
@option(OUTPUT, "--quiet", is_flag=True, help="Print only errors and warnings.")
def command(
    name: str | None, settings: tuple[str, ...], output: str | None, to: str | None, quiet: bool
) -> None:
    """List all data sets, describe the one called NAME, or write its rows in their stated order.

    Sets are read from the folder that the environment variable YARROW_DATA names; some are
    fetched if they are not there. In Python: yarrow.datasets.load("mnist classes=3,5").

    For other programs labels must be numbers: classes that are words are written as 1, 2, ... in
    their alphabetical order, two classes as -1 and 1.

      yarrow datasets
      yarrow datasets mnist
      yarrow datasets mnist classes=3,5 noise=0.1 --output noisy.svm.gz
      yarrow datasets usenet1 --output - | yarrow evaluate - --learner arow
    """
    from yarrow.datasets import describe
    from yarrow.datasets.catalogue import SETS, declared

    if name is None:
        if output is not None:
            raise click.UsageError("Missing argument: the NAME of the data set to write")
        click.echo(_table(SETS))
        if not all(source().is_here() for source in SETS.values()):
            click.echo(f"\nTo add a set that is not here, {_WHAT_TO_DO}.", err=True)
            click.echo("Sets that were loaded before may still be in the cache.", err=True)
        return
    source = declared(" ".join([name, *settings]))
    if output is not None:
        check_output(output)
        said = _write(source, output, to)
        if not quiet:
            click.echo(said, err=True)
        return
    width = min(100, click.HelpFormatter(max_width=100).width)
    for line in describe(source.title()).splitlines():
        indent = "    " if line.startswith("  ") else ""
        wrapped = textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
        click.echo("\n".join(wrapped))
    here = _whether_here(source)
    if here == "no":
        here = "yes, as a copy kept in the cache" if source.is_kept() else f"no; {_WHAT_TO_DO}"
    click.echo(f"\nOn this machine: {'when it is loaded' if here == 'fetched' else here}.")


def _table(sets: dict[str, Any]) -> str:
    """A line a set."""
    from yarrow.report.tables import Cell, Table

    rows = []
    for source in sets.values():
        order = re.sub(r"( with seed|[,:;]).*", "", source.order)
        sizes = [Cell(f"{size:,}" if size else "numbers", size) for size in source.size]
        rows.append([Cell(source.name), *sizes, Cell(order), Cell(_whether_here(source()))])
    return Table(["name", "rows", "features", "classes", "order", "here"], rows).text()


def _whether_here(source: Any) -> str:
    if source.is_here():
        return "yes" if source.files else "generated"
    return "fetched" if source.can_be_fetched() else "no"


def _write(source: Any, path: str, to: str | None) -> str:
    """Write all rows, and return what there is to say about it."""
    from yarrow.cli.writers import SvmlightWriter, VwWriter
    from yarrow.io.compressed import compressing
    from yarrow.io.formats import format_of_name

    to = to or (None if path == "-" else format_of_name(path)) or "svmlight"
    if to not in ("svmlight", "vw"):
        raise ParameterError(f"{path}: rows are written as svmlight or vw, not {to}; see --to.")
    data = source.load()
    labels, numbers = _numbered(data)
    with opened_for_writing(path) as file, compressing(file, path) as packed:
        writer: Any = VwWriter(packed) if to == "vw" else SvmlightWriter(packed, [])
        for row in _rows(data, labels, data.feature_names if to == "vw" else None):
            writer.write(row)
    classes = ", ".join(f"{number} {label}" for label, number in numbers.items())
    return f"{counted(len(data), 'row')} of {data.name} written to {path}; {data.order}" + (
        f"; classes: {classes}" if classes else ""
    )


def _numbered(data: Any) -> tuple[list[Any], dict[str, int]]:
    """The labels as numbers, and which number a word became."""
    if data.y.dtype.kind != "U":
        return data.y.tolist(), {}
    if data.task == "binary":
        numbers = dict(zip(data.classes, (-1, 1), strict=False))
    else:
        numbers = {label: number for number, label in enumerate(data.classes, 1)}
    return [numbers[label] for label in data.y.tolist()], numbers


def _rows(data: Any, labels: list[Any], names: list[str] | None) -> Iterator[Any]:
    from yarrow.cli.writers import rows_of

    left = iter(labels)
    for block in data.blocks():
        columns, values = block.X.indices.tolist(), block.X.data.astype(float)
        words = [column + 1 if names is None else names[column] for column in columns]
        some = itertools.islice(left, len(block))
        yield from rows_of(words, values, block.X.indptr, some, itertools.repeat(1.0))
