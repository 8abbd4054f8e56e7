"""`yarrow activity import`, `export`, `forget`, `never`: what goes into the log and out of it."""

from __future__ import annotations

import contextlib
import datetime
from typing import Any

import click

from yarrow.cli.options import Command
from yarrow.errors import DataError, ParameterError, counted

DATABASE = click.option(
    "--database",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    show_default="activity.sqlite in $XDG_DATA_HOME/yarrow or ~/.local/share/yarrow",
    help="The log of events and of what you said.",
)


class LogCommand(Command):
    """A command on the log: what SQLite cannot do is one sentence, as all that goes wrong is."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            import sqlite3  # loaded only where something went wrong: a shell asks for folders often

            if isinstance(error, sqlite3.Error | UnicodeDecodeError):  # also of its own words
                path = path_of(ctx.params.get("database"))
                raise DataError(f"cannot be read or written ({error})", source=path) from None
            raise


def path_of(database: str | None) -> str:
    """The log that a command means."""
    from yarrow.activity.log.store import default_path

    return database or str(default_path())


@contextlib.contextmanager
def opened(path: str) -> Any:
    """A session on a log that exists, for a question."""
    import os

    from yarrow.activity.app.session import Session
    from yarrow.activity.log.store import Store
    from yarrow.activity.sources.clock import Clock

    if not os.path.exists(path):
        raise ParameterError(f"{path}: there is no log yet; 'yarrow activity run' creates one.")
    store = Store(path)
    session = Session(store, Clock(last=store.last()[0]))
    try:
        yield session
    finally:
        session.close()


@click.command("import", cls=LogCommand, short_help="Import existing history.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@DATABASE
@click.option("--categories", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
              help="ActivityWatch's exported categories; each becomes an activity.")  # fmt: skip
@click.option("--column", "columns", multiple=True, metavar="ROLE=NAME",
              help="CSV: which column has the time, end, duration (in seconds; also duration_ms, "
              "duration_min, duration_h), application, title, url or activity, if its name does "
              "not say so. Repeatable.")  # fmt: skip
def import_(
    file: str, database: str | None, categories: str | None, columns: tuple[str, ...]
) -> None:
    """Read an export of ActivityWatch (JSON) or a table (CSV, also .gz) into the log.

    Categories, or a column of activities, train the recogniser. Importing the same file again adds
    nothing. If Yarrow is running on the log, it takes up the new entries by itself.

      yarrow activity import aw-buckets-export.json --categories categories.json
      yarrow activity import windows.csv --column activity=project
    """
    from yarrow.activity.app.runner import running_at
    from yarrow.activity.app.transfer import import_history, read_history
    from yarrow.activity.log.store import Store

    roles = {}
    for text in columns:
        role, sign, name = text.partition("=")
        if not sign:
            raise click.UsageError(f"--column is ROLE=NAME, not {text!r}")
        roles[role] = name
    histories = read_history(file, roles, categories)
    for history in histories:
        if history.told:
            click.echo(history.told, err=True)
    path = path_of(database)
    with Store(path) as store:
        done = import_history(store, histories)
    click.echo(
        f"{counted(done.new, 'new entry', 'new entries')} of {done.entries:,}, "
        f"{counted(done.switches, 'switch', 'switches')} between activities"
        + (f"; new activities: {', '.join(done.activities)}" if done.activities else "")
    )
    if done.new and running_at(path) is None:
        click.echo("Learning from it ...", err=True)
        with opened(path):  # and a snapshot is left, so that the program starts quickly
            pass


@click.command(cls=LogCommand, short_help="Export what was learned to ActivityWatch.")
@click.argument("what", type=click.Choice(["categories", "bucket"]))
@DATABASE
@click.option("--output", type=click.Path(), default="-", metavar="FILE",
              help="Where to write; by default to standard output.")  # fmt: skip
@click.option("--since", metavar="TIME", help="A bucket: from this time on.")
@click.option("--until", metavar="TIME", help="A bucket: up to this time.")
@click.option("--activitywatch", "address", metavar="ADDRESS",
              help="Write a bucket to ActivityWatch that runs there, not to a file.")  # fmt: skip
def export(
    what: str,
    database: str | None,
    output: str,
    since: str | None,
    until: str | None,
    address: str | None,
) -> None:
    """Write what was learned as ActivityWatch's categories, or as events in a bucket of its own.

    Categories are regular expressions made of the words that speak for each activity; import them
    in ActivityWatch's settings. A bucket has the activity of each stretch of time; written to
    ActivityWatch with --since or --until, what it holds outside of that time stays as it was.

      yarrow activity export categories --output aw-category-export.json
      yarrow activity export bucket --activitywatch http://localhost:5600
    """
    import json
    import math

    from yarrow.activity.app.category_rules import find_rules
    from yarrow.activity.app.transfer import as_bucket, written
    from yarrow.activity.sources.activitywatch import ActivityWatch
    from yarrow.cli.options import check_output, opened_for_writing

    if what == "categories" and (address or since or until):
        raise click.UsageError(
            "Categories take no --since, --until or --activitywatch; import them in "
            "ActivityWatch's settings"
        )
    check_output(output)
    with opened(path_of(database)) as session:
        if what == "categories":
            rules = find_rules(session)
            told = written(rules)
            for rule in rules:
                click.echo(rule, err=True)
        else:
            start = _moment(since) if since else 0.0
            end = _moment(until) if until else math.inf
            if start > end:
                raise click.UsageError("--since is later than --until")
            bucket = as_bucket(session, start, min(end, session.now()))
            told = {"buckets": {bucket["id"]: bucket}}
    if address is not None:
        left = ActivityWatch(address).write(
            bucket["id"], bucket["type"], bucket["events"], start, end
        )
        click.echo(
            f"{counted(len(bucket['events']), 'event')} written to {bucket['id']}"
            + (f"; {left:,} outside of that time left as they were" if left else "")
        )
        return
    with opened_for_writing(output) as file:
        file.write(json.dumps(told, indent=2, ensure_ascii=False).encode() + b"\n")


@click.command(cls=LogCommand, short_help="Remove something from the log and the model.")
@DATABASE
@click.option("--resource", metavar="NAME", help="A document or page, as the page shows it.")
@click.option("--since", metavar="TIME", help="Everything from this time on ...")
@click.option("--until", metavar="TIME", help="... or before this time, or between the two.")
@click.option("--matching", metavar="PATTERN",
              help="Whatever has this pattern in its title, name or application.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(
    database: str | None,
    resource: str | None,
    since: str | None,
    until: str | None,
    matching: str | None,
    yes: bool,
) -> None:
    """Remove a resource, a span of time, or what a pattern matches.

    It is overwritten in the file, and the model is learned again without it, at once if Yarrow is
    running. TIME is a date, a date and time, or a time of today.

      yarrow activity forget --resource https://example.org/secret
      yarrow activity forget --since 13:00 --until 14:30
      yarrow activity forget --since 2026-03-02 --until 2026-03-03
    """
    import os
    import time

    from yarrow.activity.log.store import Store

    if sum(one is not None for one in (resource, since or until, matching)) != 1:
        raise click.UsageError("Give exactly one of --resource, --since/--until and --matching")
    path = path_of(database)
    if not os.path.exists(path):
        raise ParameterError(f"{path}: there is no log.")
    if resource is not None:
        what: dict[str, Any] = {"resource": resource}
        told = repr(resource)
    elif matching is not None:
        what, told = {"matching": matching}, f"all that {matching!r} matches"
    else:
        start, end = (_moment(text) if text else None for text in (since, until))
        what = {"start": start, "end": end, "now": time.time()}
        told = " ".join([
            "all",
            *([] if start is None else [f"from {shown(start)} on"]),
            *([] if end is None else [f"before {shown(end)}"]),
        ])  # fmt: skip
    if not yes:
        click.confirm(f"Permanently forget {told}?", abort=True, err=True)
    with Store(path) as store:
        removed = store.forget(**what)
    click.echo(f"{counted(removed, 'entry', 'entries')} removed")


@click.command(cls=LogCommand, short_help="Choose what is never stored.")
@click.argument("pattern", required=False)
@DATABASE
@click.option("--remove", is_flag=True, help="Remove the pattern.")
def never(pattern: str | None, database: str | None, remove: bool) -> None:
    """Never store what PATTERN matches by title, name or application; without it, list patterns.

    A pattern is a regular expression; case is ignored. It holds from now on, also if Yarrow is
    running. 'yarrow activity forget' removes what is already in the log.

      yarrow activity never 'bank|private browsing'
      yarrow activity never 'bank|private browsing' --remove
    """
    from yarrow.activity.log.store import Store

    with Store(path_of(database)) as store:
        if pattern is None:
            if remove:
                raise click.UsageError("Give the pattern to remove")
            for one in store.never():
                click.echo(one)
        elif remove:
            store.remove_never(pattern)
        else:
            store.add_never(pattern)


def _moment(text: str) -> float:
    """A date, a date and time, or a time of today, as seconds since 1970."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.datetime.fromisoformat(text).timestamp()
    with contextlib.suppress(ValueError):
        time = datetime.time.fromisoformat(text)
        return datetime.datetime.combine(datetime.date.today(), time).timestamp()
    raise ParameterError(f"{text!r} is not a time such as 14:30, 2026-03-02 or 2026-03-02T14:30.")


def shown(time: float) -> str:
    return datetime.datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M")
