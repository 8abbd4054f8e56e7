"""`yarrow activity`: its commands, as a person types them."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from activity.support import MORNING, Client, HandClock, asked_until, program, session_at, work
from cli.support import Run

from yarrow.activity.app.runner import way_to
from yarrow.activity.log.entries import Event
from yarrow.activity.log.store import Store, default_path

COMMANDS = ("run", "demo", "import", "export", "forget", "never", "folder", "status", "open")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A log with two activities and their folders."""
    path = tmp_path / "activity.sqlite"
    session = session_at(HandClock(), path)
    for name in ("Tax return", "Garden"):
        session.declare(name)
        work(session, name, 20)
    session.close()
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_page_fits_and_has_an_example(run: Run, command: str) -> None:
    page = run("activity", command, "--help").stdout
    assert max(map(len, page.splitlines())) <= 80
    assert f"yarrow activity {command}" in page.split("Options", 1)[0]
    assert "\\b" not in page


def test_the_first_page_lists_the_commands(run: Run) -> None:
    page = run("activity", "--help").stdout
    assert all(f"\n  {command} " in page for command in COMMANDS)
    assert "did you mean folder" in run("activity", "folders", code=2).stderr


def test_the_log_is_in_the_users_data_folder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_path() == Path("/data/yarrow/activity.sqlite")
    said = run("activity", "status", code=2).stderr
    assert said.startswith("yarrow: /data/yarrow/activity.sqlite: there is no log yet")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert default_path() == Path("/home/me/.local/share/yarrow/activity.sqlite")


def test_status_tells_what_is_there(run: Run, database: Path) -> None:
    told = run("activity", "status", "--database", database).stdout
    assert f"Log: {database}, 44 entries since 2026-03-02" in told
    assert "Page: not running" in told
    assert "Declared: Garden" in told
    assert "0.3 h  Tax return" in told


def test_without_a_log_there_is_a_sentence(run: Run, tmp_path: Path) -> None:
    for command in ("status", "folder", "forget --since 10:00", "export bucket"):
        arguments = [*command.split(), "--database", tmp_path / "none.sqlite"]
        assert "there is no log" in run("activity", *arguments, code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_forget_asks_and_removes(run: Run, database: Path) -> None:
    arguments = ("activity", "forget", "--database", database)
    resource = ("--resource", "/home/me/garden/beds.txt")
    asked = run(*arguments, *resource, stdin="n\n", code=130)
    assert "Permanently forget '/home/me/garden/beds.txt'?" in asked.stderr
    assert len(Store(database)) == 44
    assert run(*arguments, *resource, stdin="y\n").stdout == "10 entries removed\n"
    removed = run(*arguments, "--matching", "seeds", "--yes").stdout
    assert removed == "10 entries removed\n"
    assert run(*arguments, "--since", "2026-03-01", "--until", "2026-03-03", "--yes").stdout == (
        "22 entries removed\n"
    )
    assert [type(entry).__name__ for _, entry in Store(database).entries()] == ["Create"] * 2


def test_forget_needs_to_know_what(run: Run, database: Path) -> None:
    arguments = ("activity", "forget", "--database", database, "--yes")
    assert "Give exactly one of --resource" in run(*arguments, code=2).stderr
    assert (
        "Give exactly one of"
        in run(*arguments, "--since", "9:00", "--resource", "x", code=2).stderr
    )
    assert "'noon' is not a time such as 14:30" in run(*arguments, "--since", "noon", code=2).stderr
    assert "is not a regular expression" in run(*arguments, "--matching", "(", code=2).stderr


def test_one_side_of_a_span_may_be_open(run: Run, database: Path) -> None:
    arguments = ("activity", "forget", "--database", database, "--yes")
    store = Store(database)
    store.append([Event(1794834939055.0, "focus", "/f"), Event(-1e300, "focus", "/g")])
    store.close()
    told = run("activity", "status", "--database", database)
    assert "since 2026-03-02" in told.stdout
    assert "before 1970 (1) or from the future (1)" in told.stderr
    assert run(*arguments, "--since", "2100-01-01").stdout == "1 entry removed\n"
    assert run(*arguments, "--until", "1970-01-02").stdout == "1 entry removed\n"
    assert run("activity", "status", "--database", database).stderr == ""
    assert (
        "Give exactly one of"
        in run(*arguments, "--until", "9:00", "--resource", "x", code=2).stderr
    )


def test_never_lists_adds_and_removes(run: Run, database: Path) -> None:
    arguments = ("activity", "never", "--database", database)
    run(*arguments, "bank")
    run(*arguments, "private browsing")
    assert run(*arguments).stdout == "bank\nprivate browsing\n"
    run(*arguments, "bank", "--remove")
    assert run(*arguments).stdout == "private browsing\n"
    assert "no pattern 'bank'" in run(*arguments, "bank", "--remove", code=2).stderr
    assert "is not a regular expression" in run(*arguments, "(", code=2).stderr


def test_import_then_status(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    table.write_text(f"time,title,project\n{MORNING},a.txt,Paper\n{MORNING + 60},b.txt,Tax\n")
    database = tmp_path / "new.sqlite"
    command = ("activity", "import", table, "--database", database)
    told = run(*command).stdout
    assert told == "9 new entries of 9, 2 switches between activities; new activities: Paper, Tax\n"
    assert run(*command).stdout == "0 new entries of 7, 2 switches between activities\n"
    assert "Tax" in run("activity", "status", "--database", database).stdout
    assert "--column is ROLE=NAME" in run(*command, "--column", "x", code=2).stderr
    assert (
        "log.csv, line 1: has no column 'x'" in run(*command, "--column", "time=x", code=2).stderr
    )


def test_export_writes_a_bucket(run: Run, database: Path, tmp_path: Path) -> None:
    command = ("activity", "export", "bucket", "--database", database)
    told = json.loads(run(*command).stdout)
    (bucket,) = told["buckets"].values()
    assert {one["data"]["label"] for one in bucket["events"]} == {"Tax return", "Garden"}
    output = tmp_path / "out.json"
    run(*command, "--output", output, "--since", "2026-03-03")
    (bucket,) = json.loads(output.read_text())["buckets"].values()
    assert bucket["events"] == []
    assert (
        "does not answer" in run(*command, "--activitywatch", "http://127.0.0.1:1", code=2).stderr
    )
    assert (
        "take no --since"
        in run(
            "activity", "export", "categories", "--since", "9:00", "--database", database, code=2
        ).stderr
    )


def test_folders_for_shells_and_dialogs(run: Run, tmp_path: Path) -> None:
    from activity.support import focus

    from yarrow.activity.log.entries import Event
    from yarrow.activity.sources.spans import Change

    database = tmp_path / "a.sqlite"
    session = session_at(HandClock(), database)
    session.declare("Tax return")
    for minute in range(5):
        at = MORNING + 60.0 * minute
        session.record([Change(focus(at, f"{tmp_path}/return.pdf"), "")])
        session.record([Change(Event(at + 30, "save", f"{tmp_path}/return.pdf"), "")])
    session.record([Change(Event(MORNING + 400, "save", "/nowhere/x"), "")])
    session.record([Change(Event(MORNING + 900, "away"), "")])
    session.close()
    command = ("activity", "folder", "--database", database)
    assert run(*command).stdout == f"{tmp_path}\n/nowhere\n"
    assert run(*command, "--first").stdout == f"{tmp_path}\n"
    assert run(*command, "--existing").stdout == f"{tmp_path}\n"


def test_a_feed_is_needed_without_activitywatch(run: Run, tmp_path: Path) -> None:
    said = run("activity", "run", "--no-activitywatch", "--database", tmp_path / "a", code=2).stderr
    assert "use --feed to say where events come from" in said


@pytest.mark.slow
def test_the_program_and_the_commands_beside_it(run: Run, database: Path, tmp_path: Path) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.touch()
    command = ("run", "--no-activitywatch", "--feed", feed, "--database", database, "--port", "0")
    with program(*command) as (process, link):
        client = Client(link)
        told = run("activity", "status", "--database", database).stdout
        assert f"Page: {link.partition('#')[0]} ('yarrow activity open' opens it)" in told
        again = run("activity", *command, code=2).stderr  # not two programs on one log
        assert "Yarrow already runs on it; 'yarrow activity open' opens its page" in again
        assert client.guest.key not in told + again
        with feed.open("a") as file:
            file.write('{"kind": "save", "resource": "/srv/www/index.html"}\n' + "broken\n")
        told = asked_until(
            lambda: client.ask("/api/state").body,
            lambda told: any(not one["ok"] for one in told["sources"]),
        )
        assert "line 2: is not JSON" in told["sources"][0]["sentence"]
        resource = "/home/me/garden/beds.txt"
        run("activity", "forget", "--resource", resource, "--database", database, "--yes")
        found = asked_until(
            lambda: [one["resource"] for one in client.ask("/api/resources?activity=1").body],
            lambda found: resource not in found,
        )
        assert resource not in found
        process.terminate()
        assert process.wait(20) == 0
    assert not Path(f"{database}.running").exists()


def test_the_way_to_the_page_is_the_owners_alone(tmp_path: Path) -> None:
    with way_to(str(tmp_path / "a.sqlite"), "http://127.0.0.1:1/#key=x") as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert 'content="0; url=http://127.0.0.1:1/#key=x"' in path.read_text()
    assert not path.exists()


@pytest.mark.slow
def test_the_demo_asks_within_a_minute() -> None:
    with program("demo", "--speed", "1000") as (_, link):
        client = Client(link)
        state = asked_until(lambda: client.ask("/api/state").body, lambda state: state["alarm"])
        assert state["alarm"] is not None
        assert state["demo"]
        sentence = state["sources"][0]["sentence"]
        assert "simulated day" in sentence or "Answer the question" in sentence
        assert client.ask("/api/open", {"resource": "https://search.example.com/"}).body == {
            "error": "nothing is opened in the demo."
        }


def test_the_help_stays_instant() -> None:
    """No numpy, no sqlite, no server for a page of help."""
    code = (
        "import sys; from yarrow.cli import main\n"
        "try: main(['activity', 'run', '--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'sqlite3', 'http.server') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
