"""History in and knowledge out, in the formats that others read and write."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from activity.support import MORNING, HandClock, session_at, work

from yarrow.activity.app.category_rules import find_rules
from yarrow.activity.app.session import Session
from yarrow.activity.app.transfer import (
    Recording,
    as_bucket,
    import_history,
    read_history,
    written,
)
from yarrow.activity.log.entries import Create, Declare
from yarrow.activity.log.store import Store
from yarrow.errors import DataError, ParameterError

LOG = Path(os.environ.get("YARROW_DATA", "nowhere")) / "desktop-activity" / "mypro-window.csv.gz"


def stamp(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(MORNING + seconds, datetime.UTC).isoformat()


def event(start: float, seconds: float, **data: str) -> dict[str, Any]:
    return {"timestamp": stamp(start), "duration": seconds, "data": data}


def export(tmp_path: Path) -> str:
    """An hour as ActivityWatch exports it: code, mail for a moment, code, then mail."""
    windows = [
        event(0, 900, app="code", title="main.py - yarrow"),
        event(900, 10, app="thunderbird", title="Inbox"),
        event(910, 890, app="code", title="test.py - yarrow"),
        event(1800, 1700, app="thunderbird", title="Re: meeting"),
    ]
    buckets = {
        "aw-watcher-window_desk": {
            "type": "currentwindow", "client": "aw-watcher-window", "hostname": "desk",
            "events": windows,
        },
        "aw-watcher-afk_desk": {
            "type": "afkstatus", "client": "aw-watcher-afk", "hostname": "desk",
            "events": [event(0, 3000, status="not-afk"), event(3000, 500, status="afk")],
        },
    }  # fmt: skip
    path = tmp_path / "aw-buckets-export.json"
    path.write_text(json.dumps({"buckets": buckets}))
    return str(path)


def categories(tmp_path: Path) -> str:
    rules = [
        {"name": ["Work"], "rule": {"type": "regex", "regex": "code|thunderbird"}},
        {"name": ["Work", "Yarrow"], "rule": {"type": "regex", "regex": "YARROW",
                                              "ignore_case": True}},
        {"name": ["Work", "Mail"], "rule": {"type": "regex", "regex": "thunderbird"}},
        {"name": ["Play"], "rule": {"type": "none"}},
    ]  # fmt: skip
    path = tmp_path / "aw-category-export.json"
    path.write_text(json.dumps({"categories": rules}))
    return str(path)


def declared(store: Store) -> list[tuple[float, str]]:
    entries = [entry for _, entry in store.entries()]
    names = {e.activity: e.name for e in entries if isinstance(e, Create)}
    return [(e.time - MORNING, names[e.activity]) for e in entries if isinstance(e, Declare)]


def test_categories_become_activities_and_a_glance_is_no_switch(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    histories = read_history(export(tmp_path), categories=categories(tmp_path))
    done = import_history(store, histories)
    assert declared(store) == [(0.0, "Work > Yarrow"), (1800.0, "Work > Mail")]
    assert done.activities == ["Work > Yarrow", "Work > Mail"]
    session = Session(store, HandClock(MORNING + 3600))
    assert session.refused == ""
    found = {one.resource for one in session.recogniser.resources(0)}
    assert "window:code/main.py" in found
    spent = sum(one.seconds for one in session.recogniser.resources(1))
    assert spent == pytest.approx(1200, abs=1)  # the keyboard was idle afterwards


def test_an_import_repeated_changes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    for expected in (True, False):
        histories = read_history(export(tmp_path), categories=categories(tmp_path))
        assert bool(import_history(store, histories).new) == expected
    assert len(declared(store)) == 2


def test_old_history_comes_before_what_is_there(tmp_path: Path) -> None:
    clock = HandClock(MORNING + 86400)
    session = session_at(clock, tmp_path / "a.sqlite")
    session.declare("Garden")
    session.declare("work > mail")  # known already, by another spelling
    histories = read_history(export(tmp_path), categories=categories(tmp_path))
    done = import_history(Store(tmp_path / "a.sqlite"), histories)
    assert done.activities == ["Work > Yarrow"]
    session.tick()
    assert session.refused == ""
    names = {one.id: one.name for one in session.activities()}
    assert sorted(names.values()) == ["Garden", "Work > Yarrow", "work > mail"]
    thought = session.recogniser.thought()
    assert thought.declared is not None
    assert names[thought.declared] == "work > mail"


def test_two_machines_in_one_export(tmp_path: Path) -> None:
    told = json.loads(Path(export(tmp_path)).read_text())
    other = {
        "type": "currentwindow", "hostname": "lap",
        "events": [event(-9000, 600, app="thunderbird", title="Re: tax"),
                   event(-8000, 600, app="kate", title="notes")],
    }  # fmt: skip
    told["buckets"] = told["buckets"] | {"aw-watcher-window_lap": other}
    path = tmp_path / "two.json"
    path.write_text(json.dumps(told))
    store = Store(tmp_path / "a.sqlite")
    import_history(store, read_history(str(path), categories=categories(tmp_path)))
    assert declared(store) == [
        (-9000.0, "Work > Mail"), (0.0, "Work > Yarrow"), (1800.0, "Work > Mail"),
    ]  # fmt: skip
    assert Session(store, HandClock(MORNING + 3600)).refused == ""


def test_a_table_with_durations_addresses_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "timestamp,duration,app,title,url,project\n"
        f"{stamp(0)},100,Firefox,Soil - Firefox,https://soil.example/,Paper\n"
        f"{stamp(100)},50,kate,plan.txt,,Paper\n"
        f"{stamp(150)},50,kate,plan.txt,,\n"
        f"{stamp(1000)},60,kate,tax.txt,,Tax\n"
    )
    store = Store(tmp_path / "a.sqlite")
    import_history(store, read_history(str(path)))
    assert declared(store) == [(0.0, "Paper"), (1000.0, "Tax")]
    told = [
        (e.time - MORNING, e.kind, e.resource) for _, e in store.entries() if hasattr(e, "kind")
    ]
    assert (0.0, "navigate", "https://soil.example/") in told
    assert (200.0, "away", "") in told
    assert (1000.0, "focus", "window:kate/tax.txt") in told


def test_names_from_files_are_short_enough_to_be_shown(tmp_path: Path) -> None:
    store, long = Store(":memory:"), "y" * 201
    (tmp_path / "a.csv").write_text(
        f"time,title,duration,activity\n2026-03-02T09:00:00Z,tax,60,{long}\n"
    )
    (tmp_path / "b.csv").write_text("time,title,duration\n2026-03-02T09:00:00Z,tax,90\n")
    rule = {"name": [long], "rule": {"type": "regex", "regex": "tax"}}
    (tmp_path / "c.json").write_text(json.dumps({"categories": [rule]}))
    for name, categories in (("a.csv", None), ("b.csv", str(tmp_path / "c.json"))):
        history = read_history(str(tmp_path / name), categories=categories)
        with pytest.raises(DataError, match=f"csv:{name}: a name may have 200 characters"):
            import_history(store, history)
    assert len(store) == 0


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"when,what,on\n{MORNING},a.txt,Paper\n{MORNING + 60},b.txt,Tax\n")
    with pytest.raises(DataError, match=r"log\.csv, line 1: needs a column of times"):
        read_history(str(path))
    with pytest.raises(DataError, match=r"has no column 'wen' \(did you mean when"):
        read_history(str(path), {"time": "wen"})
    with pytest.raises(ParameterError, match="not 'colour'"):
        read_history(str(path), {"time": "when", "title": "what", "colour": "on"})
    store = Store(tmp_path / "a.sqlite")
    columns = {"time": "when", "title": "what", "activity": "on"}
    import_history(store, read_history(str(path), columns))
    assert declared(store) == [(0.0, "Paper"), (60.0, "Tax")]


def hours(history: Recording) -> float:
    return sum(span.end - span.start for span in history.window) / 3600


@pytest.mark.parametrize(
    ("header", "row", "read"),
    [
        ("timestamp,app,window_title,duration_sec,label", "{at},code,main,90,STUDY",
         "duration in seconds from 'duration_sec'"),
        ("timestamp,duration,app,title", "{at},90.0,code,main",
         "duration in seconds from 'duration'"),
        ("start,title,duration_ms", "{at},main,90000",
         "duration in milliseconds from 'duration_ms'"),
        ("start,title,Minutes", "{at},main,1.5", "duration in minutes from 'Minutes'"),
        ("started_at,ended_at,title", "{at},{end},main", "end from 'ended_at'"),
        ("Date,Time Spent (seconds),Name,Category", "{at},90,main,Work",
         "duration in seconds from 'Time Spent (seconds)'"),
        ("Name,Start,End,Duration,Process", "main,{at},{end},0:01:30,code", "end from 'End'"),
        ("Project,Description,Start date,Start time,End date,End time,Duration",
         "P,main,{day},{clock},{day},{endclock},00:01:30",
         "time from 'Start date and Start time', end from 'End date and End time'"),
        ("Project,Description,Start Date,Start Time,Duration (h),Duration (decimal)",
         "P,main,{day},{clock},00:01:30,0.03", "duration in hours from 'Duration (decimal)'"),
        ("date,time,duration,title", "{day},{clock},90,main", "time from 'date and time'"),
    ],
)  # fmt: skip
def test_how_long_rows_last_is_read_as_programs_write_it(
    tmp_path: Path, header: str, row: str, read: str
) -> None:
    begin = datetime.datetime.fromtimestamp(MORNING)
    end = begin + datetime.timedelta(seconds=90)
    told = row.format(
        at=begin.isoformat(),
        end=end.isoformat(),
        day=begin.date(),
        clock=begin.time(),
        endclock=end.time(),
    )
    later = told.replace(str(begin.date()), str(begin.date() + datetime.timedelta(days=1)))
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n{told}\n{later}\n")
    (history,) = read_history(str(path))
    assert [(s.start, s.end - s.start) for s in history.window] == [
        (MORNING, 90.0),
        (MORNING + 86400, 90.0),
    ]
    assert read in history.told


def test_what_is_not_used_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"timestamp,title,Dauer,idle_time_sec\n{stamp(0)},a,9,1\n{stamp(60)},b,9,1\n")
    (history,) = read_history(str(path))
    assert "no column of durations or ends: a row lasts to the next, 300 s at most" in history.told
    assert history.told.endswith("; not used: 'Dauer', 'idle_time_sec'")
    (history,) = read_history(str(path), {"duration_ms": "Dauer"})
    assert "duration in milliseconds from 'Dauer'" in history.told
    assert hours(history) == pytest.approx(0.018 / 3600, rel=1e-4)


def test_a_column_that_was_named_is_believed_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"start,end,title,duration\n{stamp(0)},{stamp(600)},a,1\n")
    assert hours(read_history(str(path), {"duration": "duration"})[0]) == pytest.approx(1 / 3600)
    assert hours(read_history(str(path), {"end": "end"})[0]) == pytest.approx(600 / 3600)


@pytest.mark.skipif(not LOG.exists(), reason="needs desktop-activity in YARROW_DATA")
def test_the_hours_of_a_real_log_are_those_of_its_durations() -> None:
    path = LOG.parent / "focus-tracker.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        told = sum(float(row["duration_sec"]) for row in csv.DictReader(file)) / 3600
    (history,) = read_history(str(path))
    assert hours(history) == pytest.approx(told, rel=0.01)
    assert told == pytest.approx(1.39, abs=0.01)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "{", r"a\.json, line 1: is not JSON"),
        ("a.json", "[]", "it has no buckets of events"),
        ("a.json", '{"buckets": {"x": {}}}', "it has no buckets of events"),
        ("a.json", '{"b": {"type": "afkstatus", "events": []}}', "no bucket of windows"),
        ("a.json", '{"b": {"type": "currentwindow", "events": [{}]}}', "needs a timestamp"),
        ("a.csv", "time,title\n1,2,3\n", r"a\.csv, line 2: has 3 cells, not 2"),
        ("a.csv", "time,title\nsoon,b\n", r"a\.csv, line 2: no time"),
        ("a.csv", "time,title,duration\n5,b,-1\n", r"a\.csv, line 2: .* number of seconds"),
        ("a.csv", "time,title,duration_min\n5,b,1:30\n", r"line 2: .*'1:30' is not a duration"),
        ("a.csv", "time,title,duration\n5,b,soon\n", r"a\.csv, line 2: no time"),
        ("a.csv", "start,end,title\n50,10,b\n", r"line 2: .*ends at '10', before it begins"),
        ("a.csv", "start,end,title,duration\n0,50,b,50\n60,120,b,60000\n",
         r"line 3: lasts 60 s by 'end' and 60000 s by 'duration'; say which one counts"),
        ("a.csv", "date,start time,title\n01/15/2024,09:00 AM,b\n", r"line 2: .*is neither a time"),
        ("a.csv", "time,title,duration\n0,a,9000\n9,b,9000\n18,c,9000\n27,d,9\n",
         r"the rows last 7\.50 hours together, .* --column duration_ms=NAME"),
        ("a.csv", '"time,title\n', "unexpected end of data"),
        ("a.csv", "", "needs a column of times"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_history(str(path))


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    for name, content, said in (
        ("a.csv", b"\xff\xfe\x00", "is not text in UTF-8"),
        ("a.csv.gz", b"\x1f\x8bnot packed", "a.csv.gz"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=said):
            read_history(str(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "said"),
    [('{"categories": 5}', "it has no list"), ('[{"rule": {}}]', "a category needs a name"),
     ('[{"name": ["a"], "rule": {"type": "regex", "regex": "("}}]', "is not a regular expression")],
)  # fmt: skip
def test_broken_categories_are_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(DataError, match=said):
        read_history(export(tmp_path), categories=str(tmp_path / "c.json"))


@pytest.mark.skipif(not LOG.exists(), reason="needs desktop-activity in YARROW_DATA")
def test_a_real_log_with_declared_tasks(tmp_path: Path) -> None:
    with gzip.open(LOG, "rt", encoding="utf-8") as file:
        labels = {line.rsplit(",", 1)[-1].strip() for line in file} - {"task_label"}
    store = Store(tmp_path / "a.sqlite")
    done = import_history(store, read_history(str(LOG)))
    assert set(done.activities) == labels
    session = Session(store, HandClock(store.last()[0]))
    assert session.refused == ""
    assert {one.name for one in session.activities()} == labels
    assert all(session.recogniser.resources(one.id) for one in session.activities())


def trained(tmp_path: Path) -> Session:
    session = session_at(HandClock(), tmp_path / "a.sqlite")
    for name in ("Tax return", "Garden"):
        session.declare(name)
        work(session, name, 20)
    return session


def test_a_bucket_has_the_activity_of_each_stretch(tmp_path: Path) -> None:
    session = trained(tmp_path)
    bucket = as_bucket(session, MORNING, MORNING + 3600)
    told = [(one["data"]["label"], one["duration"]) for one in bucket["events"]]
    assert {name for name, _ in told} == {"Tax return", "Garden"}
    assert sum(seconds for _, seconds in told) == pytest.approx(2400, abs=60)
    assert bucket["type"] == "yarrow.activity"
    json.dumps(bucket)


def test_categories_tell_activities_apart(tmp_path: Path) -> None:
    session = trained(tmp_path)
    told = written(find_rules(session))["categories"]
    rules = {one["name"][0]: re.compile(one["rule"]["regex"], re.IGNORECASE) for one in told}
    assert rules["Tax return"].search("receipts.ods - Tax return")
    assert not rules["Tax return"].search("beds.txt - Garden")
    assert rules["Garden"].search("beds.txt - Garden")
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"categories": told}))
    read_history(export(tmp_path), categories=str(path))  # what we write we read
