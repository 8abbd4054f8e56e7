"""`yarrow activity`: knows what you are working on, and tells when you forgot to say."""

from __future__ import annotations

import contextlib
import datetime
import signal
import sys
import threading
from typing import Any

import click

from yarrow.cli.options import Command, Page
from yarrow.cli.progress import counted
from yarrow.errors import ParameterError, did_you_mean

_DATABASE = click.option(
    "--database",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    show_default="activity.sqlite in $XDG_DATA_HOME/yarrow or ~/.local/share/yarrow",
    help="The log of what happened and what you said.",
)
_PORT = 5601


class Group(Page, click.Group):
    """The commands of the activity recogniser."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not args[0].startswith("-"):
            alike = did_you_mean(args[0], self.commands)
            raise click.UsageError(f"There is no command {args[0]!r}{alike}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Group,
    name="activity",
    short_help="Know what you work on, and notice switches you did not declare.",
)
def command() -> None:
    """Recognise what you are working on.

    It watches what happens on the desktop through ActivityWatch, keeps the documents and pages of
    each activity together, notices when you have switched to another activity without saying so,
    and learns from one key. Nothing leaves this machine.

      yarrow activity demo
      yarrow activity run
      yarrow activity import aw-buckets-export.json --categories categories.json
      yarrow activity forget --resource https://example.org/secret
      cd "$(yarrow activity folder --first)"
    """


def _path(database: str | None) -> str:
    from yarrow.activity.store import default_path

    return database or str(default_path())


@command.command(cls=Command, short_help="Collect, recognise, and serve the page.")
@_DATABASE
@click.option("--activitywatch", "address", metavar="ADDRESS", default="http://localhost:5600",
              show_default=True, help="Where ActivityWatch runs.")  # fmt: skip
@click.option("--no-activitywatch", is_flag=True, help="Read only what --feed names.")
@click.option("--feed", "feeds", multiple=True, metavar="FILE",
              help="A file of JSON lines that grows, an event a line; '-' is standard input. "
              "Repeatable.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True,
              metavar="N", help="Of the page, on 127.0.0.1; 0 takes a free one.")  # fmt: skip
@click.option("--browser/--no-browser", default=False, help="Open the page in a browser.")
@click.option("--notify/--no-notify", default=True, show_default=True,
              help="Ask by a notice of the desktop too (notify-send).")  # fmt: skip
def run(
    database: str | None,
    address: str,
    no_activitywatch: bool,
    feeds: tuple[str, ...],
    port: int,
    browser: bool,
    notify: bool,
) -> None:
    """Collect what happens, recognise activities, and serve the page, until Ctrl-C.

    It may be stopped at any moment and in any way: what you declared or corrected is on the disk
    before the page shows it. The address it prints holds the page's key; keep it to yourself.

      yarrow activity run
      yarrow activity run --no-activitywatch --feed events.jsonl
    """
    from yarrow.activity.activitywatch import ActivityWatch, Collector
    from yarrow.activity.clock import Clock
    from yarrow.activity.feed import FileFeed, PipeFeed
    from yarrow.activity.requests import Requests
    from yarrow.activity.runner import Runner, newest_seen, token_of
    from yarrow.activity.session import Session
    from yarrow.activity.store import Store

    if no_activitywatch and not feeds:
        raise click.UsageError("Without ActivityWatch, say by --feed where events come from")
    source = None if no_activitywatch else ActivityWatch(address)
    store = Store(_path(database))
    clock = Clock(last=store.last()[0])
    session = Session(store, clock, lag=0.0 if source is None else 20.0)
    collector = None if source is None else Collector(source, clock, newest_seen(store))
    runner = Runner(
        session,
        collector,
        {name: PipeFeed(clock.now) if name == "-" else FileFeed(name, clock.now) for name in feeds},
    )
    runner.notify = notify
    requests = Requests(session, sources=runner.sources)
    _serve(requests, runner, _path(database), token_of(store), port, browser)


@command.command(cls=Command, short_help="A simulated working day, to see how it works.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="a free one",
              metavar="N", help="Of the page, on 127.0.0.1.")  # fmt: skip
@click.option("--speed", type=click.FloatRange(1, 2000), default=200.0, show_default=True,
              metavar="X", help="How many times as fast as a real day.")  # fmt: skip
@click.option("--browser/--no-browser", default=False, help="Open the page in a browser.")
def demo(port: int, speed: float, browser: bool) -> None:
    """Show a simulated working day on the page; nothing of yours is read or kept.

    Ada works on five things and does not always say when she switches. Answer for her when the
    page asks, or watch her answer.

      yarrow activity demo
    """
    import tempfile

    from yarrow.activity import demo as day
    from yarrow.activity.clock import FastClock
    from yarrow.activity.requests import Requests
    from yarrow.activity.session import Session
    from yarrow.activity.store import Store

    today = datetime.date.today()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/demo.sqlite"
        store = Store(path)
        store.append(day.last_week(today))
        clock = FastClock(day.DemoDay.starts(today), speed)
        session = Session(store, clock, checkpoint_after=float("inf"))  # nothing comes late
        ada = day.DemoDay(session, clock, today)
        requests = Requests(session, day.nothing_is_opened, ada.sources, ada.pause)
        _serve(requests, ada, path, None, port, browser)


def _serve(
    requests: Any, runner: Any, database: str, token: str | None, port: int, browser: bool
) -> None:
    """Serve the page until somebody ends it."""
    from yarrow.activity.runner import alone
    from yarrow.activity.server import PageServer

    server = PageServer(requests, token, port)
    ended = threading.Event()
    with contextlib.ExitStack() as stack:
        stack.callback(requests.session.close)
        stack.callback(server.server_close)
        stack.enter_context(alone(database, server.link))
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.signal(number, lambda *_: ended.set())
            stack.callback(signal.signal, number, before)
        server.start()
        stack.callback(server.close)
        runner.start()
        stack.callback(runner.stop)
        click.echo(f"The page is at {server.link}")
        click.echo("Ctrl-C ends it.", err=True)
        sys.stdout.flush()
        if browser:
            click.launch(server.link)
        ended.wait()


@command.command("import", cls=Command, short_help="Start with years of history.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@_DATABASE
@click.option("--categories", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
              help="ActivityWatch's exported categories; each becomes an activity.")  # fmt: skip
@click.option("--column", "columns", multiple=True, metavar="ROLE=NAME",
              help="CSV: the column of the time, duration, application, title, url or activity, if "
              "its name does not tell. Repeatable.")  # fmt: skip
def import_(
    file: str, database: str | None, categories: str | None, columns: tuple[str, ...]
) -> None:
    """Read an export of ActivityWatch (JSON) or a table (CSV, also .gz) into the log.

    With categories, or a column of activities, the recogniser is trained when it starts. What is in
    the log already does not enter twice. A program that runs on the log takes it up by itself.

      yarrow activity import aw-buckets-export.json --categories categories.json
      yarrow activity import windows.csv --column activity=project
    """
    from yarrow.activity.runner import running_at
    from yarrow.activity.store import Store
    from yarrow.activity.transfer import import_history, read_history

    roles = {}
    for text in columns:
        role, sign, name = text.partition("=")
        if not sign:
            raise click.UsageError(f"--column is ROLE=NAME, not {text!r}")
        roles[role] = name
    histories = read_history(file, roles, categories)
    path = _path(database)
    with Store(path) as store:
        done = import_history(store, histories)
    click.echo(
        f"{counted(done.new, 'new entry').replace('entrys', 'entries')} of {done.entries:,}, "
        f"{counted(done.switches, 'switch').replace('switchs', 'switches')} between activities"
        + (f"; new activities: {', '.join(done.activities)}" if done.activities else "")
    )
    if done.new and running_at(path) is None:
        click.echo("Learning from it ...", err=True)
        with _opened(path):  # and a snapshot is left, so that the program starts quickly
            pass


@command.command(cls=Command, short_help="Give to ActivityWatch what was learned.")
@click.argument("what", type=click.Choice(["categories", "bucket"]))
@_DATABASE
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
    in ActivityWatch's settings. A bucket has the activity of each stretch of time.

      yarrow activity export categories --output aw-category-export.json
      yarrow activity export bucket --activitywatch http://localhost:5600
    """
    import json

    from yarrow.activity.activitywatch import ActivityWatch
    from yarrow.activity.transfer import as_bucket, as_categories
    from yarrow.cli.options import check_output, opened_for_writing

    if what == "categories" and (address or since or until):
        raise click.UsageError("Categories have no times, and are imported in the settings")
    check_output(output)
    with _opened(_path(database)) as session:
        if what == "categories":
            told = as_categories(session)
        else:
            span = (_moment(since) if since else 0.0, _moment(until) if until else session.now())
            bucket = as_bucket(session, *span)
            told = {"buckets": {bucket["id"]: bucket}}
    if address is not None:
        ActivityWatch(address).write(bucket["id"], bucket["type"], bucket["events"])
        click.echo(f"{counted(len(bucket['events']), 'event')} written to {bucket['id']}")
        return
    with opened_for_writing(output) as file:
        file.write(json.dumps(told, indent=2, ensure_ascii=False).encode() + b"\n")


@command.command(cls=Command, short_help="Remove something from the log and the model.")
@_DATABASE
@click.option("--resource", metavar="NAME", help="A document or page, as the page shows it.")
@click.option("--since", metavar="TIME", help="All that happened from this time ...")
@click.option("--until", metavar="TIME", help="... to this time; by default to now.")
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

    It is overwritten in the file, and the model is learned anew without it. A program that runs on
    the log does so at once. TIME is a date, a date and time, or a time of today.

      yarrow activity forget --resource https://example.org/secret
      yarrow activity forget --since 13:00 --until 14:30
      yarrow activity forget --since 2026-03-02 --until 2026-03-03
    """
    import os
    import time

    from yarrow.activity.store import Store

    if sum(one is not None for one in (resource, since, matching)) != 1:
        raise click.UsageError("Say one of --resource, --since and --matching")
    path = _path(database)
    if not os.path.exists(path):
        raise ParameterError(f"{path}: there is no log.")
    if resource is not None:
        what: dict[str, Any] = {"resource": resource}
        told = repr(resource)
    elif matching is not None:
        what, told = {"matching": matching}, f"all that {matching!r} matches"
    else:
        start, end = _moment(str(since)), _moment(until) if until else time.time() + 1.0
        what, told = {"start": start, "end": end}, f"all from {_shown(start)} to {_shown(end)}"
    if not yes:
        click.confirm(f"Forget {told} for ever?", abort=True, err=True)
    with Store(path) as store:
        removed = store.forget(**what)
    click.echo(f"{removed:,} {'entry' if removed == 1 else 'entries'} removed")


@command.command(cls=Command, short_help="Say what is never to be stored.")
@click.argument("pattern", required=False)
@_DATABASE
@click.option("--remove", is_flag=True, help="Take the pattern back.")
def never(pattern: str | None, database: str | None, remove: bool) -> None:
    """Never store what has PATTERN in its title, name or application; without PATTERN, list them.

    A pattern is a regular expression; case does not matter. It holds from now on, also for a
    program that is running; what is in the log already goes by 'yarrow activity forget'.

      yarrow activity never 'bank|private browsing'
      yarrow activity never 'bank|private browsing' --remove
    """
    from yarrow.activity.store import Store

    with Store(_path(database)) as store:
        if pattern is None:
            if remove:
                raise click.UsageError("Say which pattern to take back")
            for one in store.never():
                click.echo(one)
        elif remove:
            store.remove_never(pattern)
        else:
            store.add_never(pattern)


@command.command(cls=Command, short_help="What is in the log, and what runs on it.")
@_DATABASE
def status(database: str | None) -> None:
    """Tell what is in the log, what you are working on, and where the page is.

    yarrow activity status
    """
    from yarrow.activity.runner import running_at

    path = _path(database)
    with _opened(path) as session:
        entries = len(session.store)
        first = next(iter(session.store.entries()), None)
        thought = session.recogniser.thought()
        names = {one.id: one.name for one in session.activities() if not one.archived}
        spent = {n: sum(r.seconds for r in session.recogniser.resources(n)) for n in names}
    click.echo(f"Log: {path}, {entries:,} entries" + (
        f" since {_shown(first.place[0])}" if first else ""))  # fmt: skip
    running = running_at(path)
    click.echo(f"Page: {running['link']}" if running else "Page: no program runs on this log")
    click.echo(f"Declared: {names.get(thought.declared, 'nothing')}")
    if thought.activity is not None:
        sure = f"{100 * thought.certainty:.0f} % sure"
        click.echo(f"Recognised: {names.get(thought.activity, 'nothing')}, {sure}")
    for number in sorted(names, key=lambda one: -spent[one]):
        click.echo(f"  {spent[number] / 3600:7.1f} h  {names[number]}")


def _moment(text: str) -> float:
    """A date, a date and time, or a time of today, as seconds since 1970."""
    with contextlib.suppress(ValueError):
        return datetime.datetime.fromisoformat(text).timestamp()
    with contextlib.suppress(ValueError):
        time = datetime.time.fromisoformat(text)
        return datetime.datetime.combine(datetime.date.today(), time).timestamp()
    raise ParameterError(f"{text!r} is no time, such as 14:30, 2026-03-02 or 2026-03-02T14:30.")


def _shown(time: float) -> str:
    return datetime.datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M")


@command.command(cls=Command, short_help="Print the folders you are likely to need next.")
@_DATABASE
@click.option("--first", is_flag=True, help="Only the likeliest.")
@click.option("--existing", is_flag=True, help="Only folders that exist.")
def folder(database: str | None, first: bool, existing: bool) -> None:
    """Print the folders you are likely to need next, the likeliest first, a line each.

    For shells and file dialogs. It asks the running program, or reads the log if none runs.

      cd "$(yarrow activity folder --first)"
    """
    import os

    from yarrow.activity.runner import ask_running

    path = _path(database)
    told = ask_running(path, "folders")
    if told is None:
        from yarrow.activity.requests import Requests

        with _opened(path) as session:
            told = Requests(session).answer("GET", "folders", {})
    found = [one["folder"] for one in told if not existing or os.path.isdir(one["folder"])]
    for name in found[:1] if first else found:
        click.echo(name)


@contextlib.contextmanager
def _opened(path: str) -> Any:
    """A session on a log that exists, for a question."""
    import os

    from yarrow.activity.clock import Clock
    from yarrow.activity.session import Session
    from yarrow.activity.store import Store

    if not os.path.exists(path):
        raise ParameterError(f"{path}: there is no log yet; 'yarrow activity run' begins one.")
    store = Store(path)
    session = Session(store, Clock(last=store.last()[0]))
    try:
        yield session
    finally:
        session.close()
