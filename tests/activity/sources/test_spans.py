"""From what ActivityWatch saw to what changed: gaps, idle keyboards, pages, doubles."""

from __future__ import annotations

from typing import Any

import pytest
from activity.support import MORNING

from yarrow.activity.sources.spans import Change, Span, changes, read_spans, resource_of
from yarrow.errors import DataError


def span(start: float, end: float, **data: Any) -> Span:
    return Span(MORNING + start, MORNING + end, data)


def window(start: float, end: float, title: str, app: str = "gedit") -> Span:
    return span(start, end, app=app, title=title)


def told(found: list[Change]) -> list[tuple[float, str, str]]:
    return [(one.event.time - MORNING, one.event.kind, one.event.title) for one in found]


def look(*windows: Span, now: float, **more: Any) -> list[Change]:
    more = {"web": [], "afk": [], **more}
    return changes(list(windows), bucket="w", now=MORNING + now, **more)


def test_each_window_is_a_change_of_focus() -> None:
    found = look(window(0, 50, "a"), window(50, 90, "b"), now=90)
    assert told(found) == [(0, "back", ""), (0, "focus", "a"), (50, "focus", "b")]
    assert found[1].event.resource == "window:gedit/a"
    assert found[1].event.application == "gedit"


def test_sleep_is_being_away() -> None:
    found = look(window(0, 50, "a"), window(5000, 5010, "a"), now=5020)
    assert told(found) == [
        (0, "back", ""), (0, "focus", "a"), (50, "away", ""), (5000, "back", ""),
        (5000, "focus", "a"),
    ]  # fmt: skip


def test_a_window_that_was_seen_just_now_is_still_in_front() -> None:
    assert told(look(window(0, 50, "a"), now=160))[-1] == (0, "focus", "a")
    assert told(look(window(0, 50, "a"), now=200))[-1] == (50, "away", "")


def test_who_reads_for_an_hour_has_not_left() -> None:
    times = [
        time for time, kind, _ in told(look(window(0, 1000, "a"), now=1000)) if kind == "focus"
    ]
    assert times == [0, 300, 600, 900]


def test_an_idle_keyboard_is_being_away_until_it_is_touched() -> None:
    afk = [span(0, 100, status="not-afk"), span(100, 700, status="afk"),
           span(700, 800, status="not-afk")]  # fmt: skip
    found = look(window(0, 200, "a"), window(200, 790, "song 2"), now=800, afk=afk)
    assert told(found) == [
        (0, "back", ""), (0, "focus", "a"), (100, "away", ""),
        # a title changed by itself: nobody is there
        (200, "away", ""), (300, "away", ""), (600, "away", ""),
        (700, "back", ""), (700, "focus", "song 2"),
    ]  # fmt: skip


def test_a_keyboard_that_is_idle_now_stays_so() -> None:
    afk = [span(0, 100, status="not-afk"), span(100, 101, status="afk")]
    found = look(window(0, 290, "a"), now=290, afk=afk)
    assert told(found)[-1] == (100, "away", "")


def test_looking_again_tells_the_same_changes_by_the_same_names() -> None:
    afk = [span(0, 100, status="not-afk")]
    first = look(window(0, 50, "a"), window(50, 90, "b"), now=90, afk=afk)
    later = look(window(0, 50, "a"), window(50, 200, "b"), window(200, 210, "c"), now=210, afk=afk)
    assert first == later[: len(first)]
    assert told(later)[len(first) :] == [(200, "focus", "c")]


def test_what_was_cut_where_we_look_from_is_no_change() -> None:
    found = look(window(10, 50, "a"), window(50, 90, "b"), now=90, after=MORNING + 10)
    assert told(found) == [(50, "focus", "b")]


def test_a_browsers_window_is_the_page_in_it() -> None:
    web = [span(5, 40, url="https://a.example/", title="A"),
           span(40, 300, url="https://b.example/", title="B")]  # fmt: skip
    found = look(
        window(0, 100, "A - Firefox", "firefox"), window(100, 150, "notes"),
        window(150, 200, "B - Firefox", "firefox"), now=200, web=web,
    )  # fmt: skip
    shown = [(c.event.time - MORNING, c.event.kind, c.event.resource) for c in found[1:]]
    assert shown == [
        (0, "focus", ""),
        (5, "navigate", "https://a.example/"),
        (40, "navigate", "https://b.example/"),
        (100, "focus", "window:gedit/notes"),
        (150, "navigate", "https://b.example/"),
    ]


@pytest.mark.parametrize("mark", [True, 1, "true", "yes"])
def test_of_an_incognito_page_nothing_is_told(mark: Any) -> None:
    pages = [
        event(5, 35, url="https://a.example/", title="A", incognito=False),
        event(41, 59, url="https://secret.example/", title="Secret", incognito=mark),
        event(150, 40, url="https://b.example/", title="B"),
    ]
    web = read_spans(pages, "pages")
    assert "ecret" not in repr(web)
    found = look(
        window(0, 40, "A - Firefox", "firefox"),
        window(40, 100, "Secret - Firefox", "firefox"),  # before its page is known, too
        window(100, 110, "notes"),
        window(110, 130, "Secret - Firefox", "firefox"),  # and when its watcher was silent
        window(130, 140, "notes"), window(148, 190, "B - Firefox", "firefox"), now=190, web=web,
    )  # fmt: skip
    assert "ecret" not in repr(found)
    shown = [(c.event.time - MORNING, c.event.kind, c.event.title) for c in found]
    assert shown == [
        (0, "back", ""), (0, "focus", "A - Firefox"), (5, "navigate", "A"),
        (40, "away", ""), (41, "away", ""), (100, "focus", "notes"),
        (110, "away", ""), (130, "focus", "notes"), (148, "away", ""), (150, "navigate", "B"),
    ]  # fmt: skip


def test_a_browsers_new_window_is_told_when_its_page_can_be_known() -> None:
    seen = window(0, 40, "notes"), window(40, 43, "Perhaps - Firefox", "firefox")
    web = [span(5, 8, url="https://a.example/", title="A")]
    assert told(look(*seen, now=43, web=web, late=10.0))[-1] == (0, "focus", "notes")
    later = (*seen[:1], window(40, 52, "Perhaps - Firefox", "firefox"))
    assert told(look(*later, now=52, web=web, late=10.0))[-1] == (40, "focus", "Perhaps - Firefox")
    page = span(41, 50, url="https://b.example/", title="B")
    assert told(look(*seen, now=43, web=[page], late=10.0))[-1] == (41, "navigate", "B")


def test_without_a_watcher_of_pages_a_browsers_title_must_do() -> None:
    found = look(window(0, 10, "A - Mozilla Firefox", "firefox"), now=10)
    assert found[1].event.resource == "window:firefox/A"


def event(start: float, seconds: float, **data: Any) -> dict[str, Any]:
    import datetime

    at = datetime.datetime.fromtimestamp(MORNING + start, datetime.UTC).isoformat()
    return {"timestamp": at, "duration": seconds, "data": data}


def test_doubles_and_overlaps_become_one_line_of_time() -> None:
    spans = read_spans(
        [
            event(30, 40, title="b"),
            event(0, 60, title="a"),  # it ended when b began
            event(0, 60, title="a"),  # told twice
            event(72, 10, title="b"),  # the same heartbeat went on
            event(82, 0, title="c"),  # only one heartbeat
        ],
        "w",
    )
    shown = [(s.start - MORNING, s.end - MORNING, s.data["title"]) for s in spans]
    assert shown == [(0, 30, "a"), (30, 82, "b"), (82, 82, "c")]


@pytest.mark.parametrize(
    "broken",
    [{}, {"timestamp": "soon", "data": {}},
     {"timestamp": "2026-01-01", "duration": "x", "data": {}},
     {"timestamp": "2026-01-01", "duration": 1, "data": None}, {"timestamp": 5, "data": {}}],
)  # fmt: skip
def test_a_broken_event_is_named(broken: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="bucket-7: an event needs a timestamp"):
        read_spans([broken], "bucket-7")


@pytest.mark.parametrize(
    ("application", "title", "resource"),
    [
        ("code", "main.py - yarrow - Visual Studio Code", "window:code/main.py - yarrow"),
        ("code", "● main.py - yarrow - Visual Studio Code", "window:code/main.py - yarrow"),
        ("gvim", "notes.md (~/letters) - GVIM1", "~/letters/notes.md"),
        ("emacs", "/home/me/a.org", "/home/me/a.org"),
        ("xterm", "me@host: /srv/www", "/srv/www"),
        ("kate", "a/b testing", "window:kate/a/b testing"),
        ("Slack", "(3) general | Team - Slack", "window:Slack/general - Team"),
        ("", "untitled", "window:unknown/untitled"),
        ("x", "  ", ""),
    ],
)
def test_one_document_has_one_name(application: str, title: str, resource: str) -> None:
    assert resource_of(application, title) == resource
