"""`yarrow convert`: the same rows in another format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click

from yarrow.cli.options import (
    DATA,
    FILE,
    FORMAT,
    OUTPUT,
    Command,
    check_inputs,
    check_output,
    opened_for_writing,
    option,
    reading_options,
)
from yarrow.cli.train import report_skipped
from yarrow.errors import ParameterError, counted


@click.command(
    cls=Command, name="convert", short_help="Write the rows of a file in another format."
)
@click.argument("source", metavar="IN", type=DATA)
@click.argument("target", metavar="OUT", type=DATA)
@option(OUTPUT, "--to", type=FORMAT, help="Default: by the suffix of OUT.")
@option(OUTPUT, "--names", type=FILE, metavar="FILE", show_default="OUT.names",
        help="svmlight from named features: line k has the name of index k. An existing FILE is "
        "extended, so that several files share their indices.")  # fmt: skip
@option(OUTPUT, "--quiet", is_flag=True, help="Print only errors and warnings.")
@reading_options
def command(
    source: str, target: str, stream_format: Any, to: str | None, names: str | None, quiet: bool
) -> None:
    """Convert IN to OUT ('-' is standard input or output).

    OUT is compressed if it ends in .gz, .zst, .xz or .bz2. --format is that of IN, where its
    suffix does not tell it.

    Features keep their names. svmlight has indices instead, which are assigned from 1 and
    listed in a file of names; conversely an index becomes a name of digits. CSV and Parquet have a
    column for each feature, which takes two passes over IN; for many features use jsonl. Other
    programs read VW text and svmlight only if labels are numbers.

      yarrow convert mail.tsv mail.svm.gz --label label --text text
      yarrow convert a9a.svm.gz a9a.vw
    """
    from yarrow.cli.writers import Layout
    from yarrow.io.compressed import compressing
    from yarrow.io.formats import errors_named, format_of_name
    from yarrow.online.ledger import Progress

    to = to or (None if target == "-" else format_of_name(target))
    if to is None:
        raise click.UsageError("Missing option: --to says in which format OUT is written")
    if to == "svmlight" and stream_format.of(source) != "svmlight":
        if names is None and target == "-":
            raise click.UsageError(
                "Missing option: --names says where to write the names of the features"
            )
    else:
        names = None
    check_inputs([source])
    for output in (target, names):
        check_output(output, [source])
    layout = Layout(
        stream_format.table.get("label", "label"), stream_format.table.get("weight", "weight")
    )
    is_wide = to in ("csv", "tsv", "parquet")
    if is_wide and (source == "-" or not os.path.isfile(source)):
        raise ParameterError(f"{to} takes two passes over the rows and needs a file to read.")
    progress, tagged = Progress(), list[str]()
    with errors_named(source, stream_format.of(source)):  # also those of what cannot be written
        for row in _rows(source, stream_format, Progress(), []) if is_wide else ():
            layout.see(row)
        with opened_for_writing(target) as file, compressing(file, target) as packed:
            writer = _writer(to, packed, layout, names)
            for row in _rows(source, stream_format, progress, tagged):
                writer.write(row)
            if hasattr(writer, "close"):
                writer.close()
    list_of_names = _write_names(writer, names or f"{target}.names")
    if not quiet:
        click.echo(f"{counted(progress.rows, 'row')} written to {target}{list_of_names}", err=True)
    if writer.replaced:
        click.echo(
            f"{counted(writer.replaced, 'word')} had blanks, ':' or '|', replaced by '_'", err=True
        )
    if tagged:
        what = "qid" if stream_format.of(source) == "svmlight" else "tag"
        click.echo(f"{counted(len(tagged), 'row')} had a {what}, which is left out", err=True)
    report_skipped(progress)


def _writer(to: str, file: Any, layout: Any, names: str | None) -> Any:
    from yarrow.cli import writers

    if to == "svmlight":
        known = []
        if names is not None and os.path.exists(names):
            with open(names, encoding="utf-8", newline="\n") as lines:
                known = [line.removesuffix("\n") for line in lines]
        return writers.SvmlightWriter(file, known)
    if to == "vw":
        return writers.VwWriter(file)
    if to == "jsonl":
        return writers.JsonWriter(file, layout)
    if to == "parquet":
        return writers.ParquetWriter(file, layout)
    return writers.CsvWriter(file, layout, "\t" if to == "tsv" else ",")


def _write_names(writer: Any, path: str) -> str:
    """List the names that were numbered, one a line."""
    from yarrow.io.replacing import replacing

    names = getattr(writer, "numbers", {})
    if not names:
        return ""
    with replacing(path) as file:
        file.write("".join(f"{name.replace(chr(10), ' ')}\n" for name in names).encode())
    return f", {counted(len(names), 'name')} to {path}"


def _rows(source: str, stream_format: Any, progress: Any, tagged: list[str]) -> Iterator[Any]:
    """The rows of a file in any format; `tagged` gets the tags (svmlight: qids) of the rows."""
    from yarrow.io.formats import reading
    from yarrow.online.ledger import Progress

    progress.source = source
    labels = bool(stream_format.table.get("label"))
    with reading(source, stream_format, labels=labels) as opened:
        reader = opened.reader
        for row in _text_rows(reader, tagged) if opened.is_text else _table_rows(reader):
            progress.rows += 1
            yield row
        progress.read(opened, Progress())


def _text_rows(reader: Any, tagged: list[str]) -> Iterator[Any]:
    from yarrow.cli.writers import rows_of

    while (block := reader.next_arrays()) is not None:
        named = "names" in block
        tagged += filter(None, block["tags"])
        names = block["names"] if named else (block["indices"] + reader.index_base).tolist()
        weights = block["weights"].tolist()
        yield from rows_of(names, block["values"], block["begins"], block["labels"], weights)


def _table_rows(reader: Any) -> Iterator[Any]:
    from yarrow.cli.writers import rows_of

    for block in reader:
        names = [block.names[index] for index in block.indices.tolist()]
        labels = block.labels or [None] * len(block)
        weights = [1.0] * len(block) if block.weights is None else block.weights.tolist()
        yield from rows_of(names, block.values, block.indptr, labels, weights)
