"""Options in named sections, and those that say how to read a stream."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import click
from click.core import ParameterSource

from yarrow.data.labels import kept
from yarrow.errors import ParameterError, did_you_mean
from yarrow.io.formats import FORMATS

F = TypeVar("F", bound=Callable[..., Any])

SCALING = "Scaling"
INPUT, TABLES, OUTPUT, OTHER = "Input", "Tables (CSV, JSON lines, Parquet)", "Output", "Other"
ENGINE = "Engine"
FORMAT = click.Choice(FORMATS)
DATA = click.Path(allow_dash=True, path_type=str)
FILE = click.Path(path_type=str)


class Option(click.Option):
    """An option that belongs to a section of the help page, which also shows its default."""

    def __init__(self, *args: Any, section: str = OTHER, **settings: Any) -> None:
        super().__init__(*args, **{"show_default": bool(settings.get("default"))} | settings)
        self.section = section


class Page(click.Command):
    """A command whose help page shows commands to try as they are, a line each."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):
            formatter.write_paragraph()
            with formatter.indentation():
                lines = paragraph.splitlines()
                if all("yarrow " in line for line in lines):
                    indent = " " * (formatter.current_indent + 2)
                    formatter.write("".join(f"{indent}{line.strip()}\n" for line in lines))
                else:
                    formatter.write_text(paragraph)


class Commands(Page, click.Group):
    """A group of commands, which suggests one where there is none of a name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            alike = did_you_mean(args[0], known)
            raise click.UsageError(f"There is no command {args[0]!r}{alike}", ctx)
        return super().resolve_command(ctx, args)


class Command(Page):
    """A command whose help page has its options in sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise click.UsageError(self.no_such_option(ctx, error.option_name), ctx) from None

    def no_such_option(self, ctx: click.Context, name: str) -> str:
        """What to say about an option that there is not."""
        known = {
            text.lstrip("-"): text
            for parameter in self.get_params(ctx)
            for text in [*parameter.opts, *parameter.secondary_opts]
            if text.startswith("--")
        }
        alike = did_you_mean(name.lstrip("-"), known)
        return f"There is no option {name}{alike.replace('mean ', 'mean --')}"

    def shown_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters on the help page."""
        return self.get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.shown_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", OTHER), []).append(record)
        other = sections.pop(OTHER, [])
        for title, records in itertools.chain(sections.items(), [(OTHER, other)] * bool(other)):
            with formatter.section(title):
                formatter.write_dl(records)


def option(section: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """`click.option` in a section."""
    return click.option(*names, cls=Option, section=section, **settings)


def repeatable(section: str, name: str, metavar: str, help: str) -> Callable[[F], F]:
    """An option that may be given several times."""
    return option(section, name, multiple=True, metavar=metavar, help=f"{help} Repeatable.")


def columns_option(section: str, name: str, help: str) -> Callable[[F], F]:
    """An option that names columns, which `columns_in` finds."""
    return repeatable(section, name, "A,B,...", help)


def columns_in(texts: Iterable[str]) -> list[str]:
    """The columns of such options, as the header of a CSV file has them: "a,b",c are two."""
    import csv

    try:
        # An empty text is the column without a name.
        found = [next(csv.reader([text], strict=True)) or [""] for text in texts]
    except csv.Error as error:
        raise ParameterError(f"A list of columns cannot be read: {error}.") from None
    return list(itertools.chain(*found))


_READING = [
    option(INPUT, "--format", type=FORMAT, help="Default: by the suffix (.svm .vw .csv .tsv "
           ".jsonl .parquet, each perhaps followed by .gz .zst .xz or .bz2), otherwise svmlight."),
    option(INPUT, "--threads", type=click.IntRange(min=1), metavar="N",
           show_default="one for each core", help="Number of threads that parse text; the result "
           "does not depend on it."),
    option(INPUT, "--index-base", type=click.Choice(["auto", "0", "1"]), default="auto",
           help="Smallest index of svmlight files. auto: 0 if it occurs in the first 4 MB, "
           "otherwise 1; set it for a live pipe, which would have to deliver 4 MB first."),
    option(INPUT, "-q", "--interactions", multiple=True, metavar="AB",
           help="VW text: add the products of the features of namespaces A and B (first letters, "
           "or whole names separated by a comma). Repeatable."),
    option(INPUT, "--on-error", type=click.Choice(["raise", "skip"]), default="raise",
           help="An invalid row: stop with an error, or skip and count it."),
    option(INPUT, "--longest-line", type=click.IntRange(min=1), metavar="BYTES",
           show_default="64 MiB", help="Maximum length of a line, or of a row of a CSV file: a "
           "longer one is an error."),
    option(TABLES, "--label", metavar="COLUMN", help="Column with the labels."),
    option(TABLES, "--weight", metavar="COLUMN", help="Column with the sample weights."),
    columns_option(TABLES, "--text", "Columns of text, split into words."),
    option(TABLES, "--ngrams", type=click.IntRange(min=1), metavar="N",
           help="Also count n-grams of up to N words in columns of text."),
    columns_option(TABLES, "--category", "Categorical columns, even if they have numbers."),
    columns_option(TABLES, "--numeric",
                   "CSV: numeric columns, whatever their first rows look like."),
    columns_option(TABLES, "--drop", "Columns to ignore; one with a comma in its name stands in "
                   "double quotes, as in a CSV file."),
    columns_option(TABLES, "--only", "Use only these columns as features."),
    option(TABLES, "--delimiter", metavar="CHARACTER", show_default="a comma; a tab in tsv",
           help="CSV: the character that separates cells, or 'tab'."),
    repeatable(TABLES, "--missing", "MARK",
               "How a missing value is written; in numeric columns NA, null, ? and the like are."),
    option(TABLES, "--when-missing", type=click.Choice(["ignore", "indicate", "error"]),
           show_default="ignore", help="A missing value gives no feature, the feature 'COLUMN is "
           "missing', or an error."),
    option(TABLES, "--describe", is_flag=True, help="Report how each column was read."),
    option(TABLES, "--no-quotes", is_flag=True, help="CSV: double quotes are ordinary "
           "characters, as in most tab-separated files."),
    option(TABLES, "--columns", metavar="A,B,...", help="CSV without a header line: the names of "
           "its columns."),
    option(TABLES, "--no-header", is_flag=True, help="CSV without a header line: its columns are "
           "named 1, 2, 3..."),
]  # fmt: skip


_SCALING = [
    option(SCALING, "--scale", is_flag=True, help="Divide each column by its standard deviation "
           "so far. The model keeps it, and predicts raw rows. 'yarrow', the learner where none is "
           "named, does so by itself."),
    option(SCALING, "--normalize", is_flag=True, help="Divide each row by its length, after "
           "--scale: long texts count no more than short ones."),
]  # fmt: skip


def scaling_options(command: F) -> F:
    """Add the options that bring rows to one scale; the command gets `scale` and `normalize`."""
    return functools.reduce(lambda f, add: add(f), reversed(_SCALING), command)


def reading_options(command: F) -> F:
    """Add the options that say how to read a stream; the command gets them as `stream_format`."""

    @functools.wraps(command)
    def read(**values: Any) -> Any:
        stream_format = _stream_format(values)
        data = values.get("data") or values.get("source") or ()
        _check_tables(stream_format, [data] if isinstance(data, str) else data)
        return command(stream_format=stream_format, **values)

    return functools.reduce(lambda f, add: add(f), reversed(_READING), read)  # type: ignore[return-value]


def _stream_format(values: dict[str, Any]) -> Any:
    """Take the options of reading out of `values`."""
    from yarrow._core import LONGEST_LINE
    from yarrow.io.formats import StreamFormat, parse_interactions

    base = values.pop("index_base")
    delimiter, columns = values.pop("delimiter"), values.pop("columns")
    marks = values.pop("missing")
    table = {
        "label": values.pop("label"),
        "weight": values.pop("weight"),
        "text": columns_in(values.pop("text")),
        "ngrams": values.pop("ngrams"),
        "categories": columns_in(values.pop("category")),
        "numeric": columns_in(values.pop("numeric")),
        "drop": columns_in(values.pop("drop")),
        "features": columns_in(values.pop("only")),
        "delimiter": "\t" if delimiter in ("tab", "\\t") else delimiter,
        "missing": ["", *marks] if marks else None,
        "when_missing": values.pop("when_missing"),
        "columns": columns_in([columns]) if columns else None,
    }
    said = {name: value for name, value in table.items() if value}
    if values.pop("no_header"):
        said["header"] = False
    if values.pop("no_quotes"):
        said["quotes"] = False
    return StreamFormat(
        format=values.pop("format"),
        otherwise="csv" if said else "svmlight",  # of standard input: what has columns is a table
        on_columns=_describing() if values.pop("describe") else None,
        threads=values.pop("threads") or 0,
        index_base={"0": 0, "1": 1}.get(base, "auto"),
        interactions=parse_interactions(values.pop("interactions")),
        on_error=values.pop("on_error"),
        longest_line=values.pop("longest_line") or LONGEST_LINE,
        table=said,
    )


def _check_tables(stream_format: Any, data: Iterable[str]) -> None:
    """Warn where options speak of columns, and the data has none."""
    from yarrow.io.formats import TEXT_FORMATS, format_of_name

    formats = {stream_format.format or format_of_name(path) for path in data}
    if not formats or not formats <= set(TEXT_FORMATS):
        return
    words = given_options(click.get_current_context(), [TABLES])
    if said := dict.fromkeys(word for word in words if word.startswith("--")):
        click.echo(
            f"yarrow: {' and '.join(sorted(map(str, formats)))} text has no columns, so "
            f"{', '.join(said)} {'has' if len(said) == 1 else 'have'} no effect.",
            err=True,
        )


def _describing() -> Callable[[str, Mapping[str, str]], None]:
    """What tells how each column of a table was read, once however often it is read."""
    told = set()

    def describe(source: str, columns: Mapping[str, str]) -> None:
        if source in told:
            return
        told.add(source)
        width = max(map(len, columns), default=0)
        lines = (f"  {name:<{width}}  {how}" for name, how in columns.items())
        click.echo("\n".join([f"{source}:", *lines]), err=True)

    return describe


def given_options(ctx: click.Context, sections: Iterable[str]) -> list[str]:
    """The words of a command that gave it its options of these sections."""
    words = []
    for parameter in ctx.command.params:
        given = ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if not (given and isinstance(parameter, Option) and parameter.section in sections):
            continue
        if parameter.name in ("threads", "describe"):  # the result does not depend on them
            continue
        value = ctx.params[parameter.name]
        if parameter.is_flag:
            words.append(parameter.opts[-1])
        else:
            for one in value if parameter.multiple else [value]:
                words += [parameter.opts[-1], str(one)]
    return words


def check_inputs(paths: Iterable[str]) -> None:
    """Complain about all files before work starts on the first."""
    for path in paths:
        if path == "-":
            continue
        if os.path.isdir(path):
            raise ParameterError(f"{path}: is a folder; name the files in it.")
        if not os.path.exists(path):
            _check_no_set(path)
        os.stat(path)
        if not os.access(path, os.R_OK):
            raise ParameterError(f"{path}: there is no permission to read it.")


def _check_no_set(name: str) -> None:
    """Say what to do with the name of a set where a file is wanted."""
    from yarrow.datasets import is_name

    if is_name(name):
        word = name.split()[0]
        raise ParameterError(
            f"{name}: there is no such file. It is a set: write its rows with 'yarrow datasets "
            f"{name} --output {word.replace('/', '-')}.svm.gz', or let learners race over it with "
            f"'yarrow compare {name}'."
        )


def check_output(path: str | None, inputs: Iterable[str] = ()) -> None:
    """Complain about a place where nothing can be written before hours of work, not after."""
    if path is None or path == "-":
        return
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ParameterError(f"{path}: there is no folder {folder}.")
    if os.path.isdir(path):
        raise ParameterError(f"{path}: is a folder; name a file in it.")
    if not os.access(folder, os.W_OK):
        raise ParameterError(f"{path}: there is no permission to write to the folder {folder}.")
    for source in inputs:
        if source != "-" and os.path.exists(path) and os.path.samefile(source, path):
            raise ParameterError(f"{path}: is an input file and would be overwritten.")


@contextlib.contextmanager
def opened_for_writing(path: str) -> Iterator[BinaryIO]:
    """Standard output, a device or a pipe as it is; a file that is replaced when all went well."""
    from yarrow.io.replacing import replacing

    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
    else:
        with replacing(path) as file:
            yield file


def parse_label(text: str) -> int | float | str:
    """A class as files spell it: a number where it looks like one."""
    try:
        return kept(float(text))  # type: ignore[no-any-return]
    except ValueError:
        return text


def shortened_list(items: Sequence[Any], most: int = 20) -> str:
    """The first items of a list, and how many there are if that is not all."""
    shown = ", ".join(map(str, items[:most]))
    return shown if len(items) <= most else f"{shown}, ... ({len(items):,} in all)"
