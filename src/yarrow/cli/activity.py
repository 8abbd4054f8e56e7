"""`yarrow activity`: knows what you are working on, and tells when you forgot to say."""

from __future__ import annotations

import contextlib
import datetime
import signal
import sys
import threading
from typing import Any

import click

from yarrow.cli.activity_log import (
    DATABASE,
    LogCommand,
    export,
    forget,
    import_,
    never,
    opened,
    path_of,
    shown,
)
from yarrow.cli.options import Commands, option

SOURCES, PAGE = "Sources", "Page"
_PORT = 5609
_MOST_SHOWN = 20  # activities


@click.group(
    cls=Commands,
    name="activity",
    short_help="Know what you work on, and notice switches you did not declare.",
)
def command() -> None:
    """Recognise what you are working on.

    It watches what happens on the desktop through ActivityWatch, keeps the documents and pages of
    each activity together, notices when you have switched to another activity without saying so,
    and learns from answers of one key. Nothing leaves this machine.

      yarrow activity demo
      yarrow activity run
      yarrow activity open
      yarrow activity import aw-buckets-export.json --categories categories.json
      yarrow activity forget --resource https://example.org/secret
      cd "$(yarrow activity folder --first)"
    """


@command.command(cls=LogCommand, short_help="Collect, recognise, and serve the page.")
@DATABASE
@option(
    SOURCES,
    "--activitywatch", "address", metavar="ADDRESS", default="http://localhost:5600",
              show_default=True, help="Where ActivityWatch runs.")  # fmt: skip
@option(SOURCES, "--no-activitywatch", is_flag=True, help="Read only what --feed names.")
@option(
    SOURCES,
    "--feed", "feeds", multiple=True, metavar="FILE",
              help="A growing file of JSON lines, one event per line; '-' is standard input. "
              "Repeatable.")  # fmt: skip
@option(
    PAGE,
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True,
              metavar="N", help="Port of the page on 127.0.0.1; 0 picks a free one.")  # fmt: skip
@option(PAGE, "--browser/--no-browser", default=False, help="Open the page in a browser.")
@option(
    PAGE,
    "--notify/--no-notify", default=True, show_default=True,
              help="Also ask with a desktop notification (notify-send).")  # fmt: skip
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

    You can stop it at any moment: what you declared or corrected is on the disk before the page
    shows it. 'yarrow activity open' opens the page. The address shown on a terminal contains the
    page's key; keep it to yourself.

      yarrow activity run
      yarrow activity run --no-activitywatch --feed events.jsonl
    """
    from yarrow.activity.app.requests import Requests
    from yarrow.activity.app.runner import Runner, newest_seen, token_of
    from yarrow.activity.app.session import Session
    from yarrow.activity.log.store import Store
    from yarrow.activity.sources.activitywatch import ActivityWatch, Collector, Unreachable
    from yarrow.activity.sources.clock import Clock
    from yarrow.activity.sources.feed import FileFeed, PipeFeed

    if no_activitywatch and not feeds:
        raise click.UsageError("Without ActivityWatch, use --feed to say where events come from")
    source = None if no_activitywatch else ActivityWatch(address)
    if source is not None:
        try:
            source.buckets()
        except Unreachable as error:
            click.echo(f"{error} Retrying.", err=True)
    store = Store(path_of(database))
    store.check()
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
    _serve(requests, runner, path_of(database), token_of(store), port, browser)


@command.command(cls=LogCommand, short_help="A simulated working day, to see how it works.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="a free one",
              metavar="N", help="Port of the page on 127.0.0.1.")  # fmt: skip
@click.option("--speed", type=click.FloatRange(1, 2000), default=200.0, show_default=True,
              metavar="X", help="How many times as fast as a real day.")  # fmt: skip
@click.option("--browser/--no-browser", default=False, help="Open the page in a browser.")
def demo(port: int, speed: float, browser: bool) -> None:
    """Show a simulated working day on the page; nothing of yours is read or kept.

    A simulated user works on five things and does not always say when they change. Answer when the
    page asks, or watch the simulated user answer.

      yarrow activity demo
    """
    import tempfile

    from yarrow.activity.app import demo as day
    from yarrow.activity.app.requests import Requests
    from yarrow.activity.app.session import Session
    from yarrow.activity.log.store import Store
    from yarrow.activity.sources.clock import FastClock

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
    """Serve the page until somebody ends it; without a token, of a log that is nobody's."""
    from yarrow.activity.app.runner import alone, way_to
    from yarrow.activity.app.server import PageServer

    server, private = PageServer(requests, token, port), token is not None
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
        way = stack.enter_context(way_to(database, server.link))
        if private and not sys.stdout.isatty():  # a journal or a file has other readers
            click.echo(f"The page is at {server.address}; 'yarrow activity open' opens it.")
        else:
            click.echo(f"The page is at {server.link}")
        click.echo("Press Ctrl-C to stop.", err=True)
        sys.stdout.flush()
        if browser:
            click.launch(way.as_uri())
        ended.wait()


@command.command("open", cls=LogCommand, short_help="Open the page in a browser.")
@DATABASE
def open_page(database: str | None) -> None:
    """Open the page of the running program in a browser, with its key.

    yarrow activity open
    """
    from yarrow.activity.app.runner import running_at, way_of
    from yarrow.errors import ParameterError

    path = path_of(database)
    if running_at(path) is None:
        raise ParameterError(f"Yarrow is not running on {path}; 'yarrow activity run' starts it.")
    way = way_of(path)
    if click.launch(way.as_uri()):
        raise ParameterError(f"no browser could be started; open {way} yourself.")


@command.command(
    cls=LogCommand, short_help="Show what is in the log, and whether Yarrow is running."
)
@DATABASE
def status(database: str | None) -> None:
    """Tell what is in the log, what you are working on, and where the page is.

    yarrow activity status
    """
    from yarrow.activity.app.runner import running_at

    path = path_of(database)
    with opened(path) as session:
        entries = len(session.store)
        first = session.store.first()[0]
        thought = session.recogniser.thought()
        names = {one.id: one.name for one in session.activities() if not one.archived}
        spent = {n: sum(r.seconds for r in session.recogniser.resources(n)) for n in names}
        wrong = [session.refused, session.store.out_of_time(session.clock.wall())]
    click.echo(f"Log: {path}, {entries:,} entries" + (
        f" since {shown(first)}" if first >= 0 else ""))  # fmt: skip
    running = running_at(path)
    if running is None:
        click.echo("Page: not running")
    else:  # its key is for the eyes of whoever sits here alone
        link = running["link"] if sys.stdout.isatty() else running["link"].partition("#")[0]
        click.echo(f"Page: {link} ('yarrow activity open' opens it)")
    click.echo(f"Declared: {names.get(thought.declared, 'nothing')}")
    if thought.activity is not None:
        sure = f"{100 * thought.certainty:.0f} % sure"
        click.echo(f"Recognised: {names.get(thought.activity, 'nothing')}, {sure}")
    longest = sorted(names, key=lambda one: -spent[one])
    for number in longest[:_MOST_SHOWN]:
        click.echo(f"  {spent[number] / 3600:7.1f} h  {names[number]}")
    if longest[_MOST_SHOWN:]:
        click.echo(f"  and {len(longest) - _MOST_SHOWN:,} more")
    for sentence in filter(None, wrong):
        click.echo(f"yarrow: {sentence}.", err=True)


@command.command(cls=LogCommand, short_help="Print the folders you are likely to need next.")
@DATABASE
@click.option("--first", is_flag=True, help="Only the most likely one.")
@click.option("--existing", is_flag=True, help="Only folders that exist.")
def folder(database: str | None, first: bool, existing: bool) -> None:
    """Print the folders you are likely to need next, most likely first, one per line.

    For shells and file dialogs. It asks the running program, or reads the log if none runs.

      cd "$(yarrow activity folder --first)"
    """
    import os

    from yarrow.activity.app.runner import ask_running

    path = path_of(database)
    told = ask_running(path, "folders")
    if told is None:
        from yarrow.activity.app.requests import Requests

        with opened(path) as session:
            told = Requests(session).answer("GET", "folders", {})
    found = [one["folder"] for one in told if not existing or os.path.isdir(one["folder"])]
    for name in found[:1] if first else found:
        click.echo(name)


for one in (import_, export, forget, never):
    command.add_command(one)
