"""What a minute was: time spent, words, what is open, what was closed."""

from __future__ import annotations

import pytest

from yarrow.activity.log.entries import Event
from yarrow.activity.model.vectors import (
    FORGOTTEN_AFTER,
    IDLE_AFTER,
    OPEN_FOR,
    InformationVector,
    VectorBuilder,
)


def built(events: list[Event], end: float) -> list[InformationVector]:
    builder, vectors = VectorBuilder(), []
    for event in events:
        while (vector := builder.due(event.time)) is not None:
            vectors.append(vector)
        if (vector := builder.tell(event)) is not None:
            vectors.append(vector)
    while (vector := builder.due(end)) is not None:
        vectors.append(vector)
    return vectors


def test_time_goes_to_the_resource_in_front() -> None:
    events = [Event(0, "focus", "/a", "Alpha"), Event(45, "focus", "/b", "Beta beta")]
    (vector,) = built(events, 60)
    assert vector.active == {"/a": 45, "/b": 15}
    assert vector.words == {"alpha": 0.75, "beta": 0.5}
    assert (vector.start, vector.end, vector.used, vector.closed) == (0, 60, 2, 0)


def test_a_duration_ends_the_time_spent() -> None:
    (vector,) = built([Event(0, "focus", "/a", "A", duration=20)], 60)
    assert vector.active == {"/a": 20}


def test_time_away_is_not_spent() -> None:
    events = [Event(0, "focus", "/a", "A"), Event(30, "away"), Event(7200, "back")]
    vectors = built(events, 7260)
    assert [(v.start, v.end, v.active) for v in vectors] == [
        (0, 30, {"/a": 30}),
        (7200, 7260, {"/a": 60}),
    ]


def test_a_silent_source_means_that_nobody_is_there() -> None:
    vectors = built([Event(0, "focus", "/a", "A"), Event(86400, "focus", "/a", "A")], 86460)
    assert sum(v.active["/a"] for v in vectors) == IDLE_AFTER + 60
    assert len(vectors) == IDLE_AFTER / 60 + 1


def test_what_is_private_is_nobodys_time() -> None:
    events = [Event(0, "focus", "/a", "A"), Event(10, "focus"), Event(50, "focus", "/a", "A")]
    (vector,) = built(events, 60)
    assert vector.active == {"/a": 20}


def test_a_source_that_tells_of_open_and_close() -> None:
    events = [
        Event(0, "open", "/a", "A"),
        Event(1, "open", "/b", "B"),
        Event(2, "open", "/c", "C"),
        Event(70, "close", "/b"),
        Event(71, "close", "/unknown"),
    ]
    first, second = built(events, 120)
    assert set(first.open) == {"/a", "/b", "/c"}
    assert first.used == 3
    assert set(second.open) == {"/a", "/c"}
    assert (second.closed, second.used) == (1, 1)
    late = built([*events, Event(OPEN_FOR + 300, "selection", "/c", "C")], OPEN_FOR + 400)[-1]
    assert set(late.open) == {"/a", "/c"}  # /a was not seen for long, but nobody closed it


def test_an_opening_whose_close_was_lost_ends_some_day() -> None:
    later = FORGOTTEN_AFTER + IDLE_AFTER + 100
    vectors = built([Event(0, "open", "/a", "A"), Event(later, "focus", "/b", "B")], later + 60)
    assert vectors[-1].open == ["/b"]


def test_a_source_that_tells_only_what_is_in_front() -> None:
    events = [
        Event(30.0 * i, "focus", "/a" if i == 0 else "/b", "x") for i in range(int(OPEN_FOR / 20))
    ]
    vectors = built(events, events[-1].time + 30)
    with_a = [v for v in vectors if "/a" in v.open]
    assert with_a[-1].end <= 30 + OPEN_FOR < with_a[-1].end + 60
    assert [v.closed for v in vectors if v.closed] == [1]  # when it was not seen for long enough
    assert all(v.used == 1 for v in vectors[1:])


def test_cuts_do_not_depend_on_how_often_somebody_asks() -> None:
    events = [Event(7.0 * i, "focus", f"/{i % 5}", f"title {i % 3}") for i in range(200)]
    whole = built(events, 1500)
    asked: list[InformationVector] = []
    builder = VectorBuilder()
    time = 0.0
    for event in events:
        while time < event.time:
            time = min(time + 0.9, event.time)
            if (vector := builder.due(time)) is not None:
                asked.append(vector)
        builder.tell(event)
    while (vector := builder.due(1500)) is not None:
        asked.append(vector)
    assert asked == whole


@pytest.mark.parametrize("kind", ["copy", "paste", "selection", "save"])
def test_what_one_does_one_does_in_front(kind: str) -> None:
    events = [Event(0, "focus", "/a", "A"), Event(20, kind, "/b", "B")]
    assert built(events, 60)[0].active == {"/a": 20, "/b": 40}


def test_folders_of_files_that_were_opened_or_saved() -> None:
    events = [
        Event(0, "open", "/docs/a.txt", "a"),
        Event(1, "save_as", "/new/a.txt", "a"),
        Event(2, "navigate", "https://example.org/x", "x"),
    ]
    assert built(events, 60)[0].folders == ["/docs", "/new"]
