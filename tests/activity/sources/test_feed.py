"""A file of JSON lines that grows: each line once, and no line can stop the program."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from activity.support import asked_until

from yarrow.activity.log.entries import Event
from yarrow.activity.sources.clock import Clock, FastClock
from yarrow.activity.sources.feed import FileFeed, PipeFeed, read_line
from yarrow.errors import DataError


def line(time: float, title: str) -> str:
    return f'{{"time": {time}, "kind": "focus", "title": "{title}"}}\n'


def titles(feed: FileFeed | PipeFeed) -> list[str]:
    return [change.event.title for change in feed.collect()]


def test_lines_are_taken_when_they_are_complete(tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    feed = FileFeed(str(path), lambda: 0.0)
    assert titles(feed) == []  # it may not be there yet
    with path.open("w") as file:
        file.write(line(1, "a") + '{"kind": "foc')
        file.flush()
        assert titles(feed) == ["a"]
        assert titles(feed) == []
        file.write('us", "title": "b"}\n\n')
        file.flush()
        assert titles(feed) == ["b"]


def test_a_file_that_was_cut_or_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text(line(1, "a") + line(2, "b"))
    feed = FileFeed(str(path), lambda: 0.0)
    first = feed.collect()
    path.write_text(line(3, "c"))
    second = feed.collect()
    path.unlink()
    assert feed.collect() == []
    path.write_text(line(4, "d") + line(5, "e") + line(6, "f"))
    third = feed.collect()
    found = [change.event.title for change in (*first, *second, *third)]
    assert found == ["a", "b", "c", "d", "e", "f"]
    assert len({change.origin for change in (*first, *second, *third)}) == 6
    assert [c.origin for c in FileFeed(str(path), lambda: 0.0).collect()] == [
        c.origin for c in third
    ]  # so a restart adds nothing


def test_a_broken_line_is_told_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text(line(1, "a") + "no json\n" + '{"kind": "safe"}\n' + line(2, "b"))
    feed = FileFeed(str(path), lambda: 0.0)
    assert titles(feed) == ["a", "b"]
    assert f"{path}, line 2: is not JSON" in feed.refused[0]
    assert (
        "line 3: field 'kind': there is no kind of event 'safe' (did you mean save?)"
        in (feed.refused[1])
    )


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    feed = FileFeed(str(tmp_path), lambda: 0.0)
    assert feed.collect() == []
    assert feed.refused == ["Is a directory"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", 'an object with a "kind"'),
        ('{"title": "x"}', 'an object with a "kind"'),
        ('{"kind": "focus", "titel": "x"}', "did you mean title"),
        ('{"kind": "focus", "title": 5}', "field 'title': must be text, not 5"),
        ('{"kind": "focus", "time": "soon"}', "not a date"),
        ('{"kind": "focus", "time": null}', "must be a number of seconds since 1970"),
        ('{"kind": "focus", "time": NaN}', "must be a number of seconds since 1970"),
        ('{"kind": "focus", "duration": "long"}', "must be a number of seconds, from 0"),
        ('{"kind": ["focus"]}', "field 'kind': must be text"),
    ],
)
def test_what_is_wrong_with_a_line_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(DataError, match=r"feed, line 3: ") as error:
        read_line(text, "feed", 3, now=0.0)
    assert said in str(error.value)


def test_dates_are_understood() -> None:
    event = read_line('{"kind": "back", "time": "1970-01-01T00:01:00Z"}', "feed", 1, now=0.0)
    assert event.time == 60.0


def test_standard_input_is_read_beside_everything_else() -> None:
    feed = PipeFeed(lambda: 7.0, io.BytesIO(b'{"kind": "focus", "title": "a"}\nbroken\n'))
    found: list[str] = []
    asked_until(lambda: found.extend(titles(feed)), lambda _: bool(feed.refused))
    assert found == ["a"]
    assert "standard input, line 2" in feed.refused[0]


def test_a_clock_that_is_set_back_is_ahead_until_nobody_is_there() -> None:
    wall = [1000.0]
    clock = Clock(wall=lambda: wall[0])
    assert clock.now() == 1000.0
    wall[0] = 999.0  # the network corrects a little
    assert clock.now() == 1000.0
    assert clock.shift == 0.0
    wall[0] = 401.0  # set back by ten minutes
    assert clock.now() == 1000.0
    wall[0] = 402.0
    assert clock.now() == 1001.0
    assert clock.of_source(402.0) == 1001.0  # what happened after
    assert clock.of_source(300.0) == 300.0  # what happened before
    wall[0] = 702.0
    clock.settle(newest=1001.0)
    assert clock.now() == 1001.0
    wall[0] = 2000.0
    clock.settle(newest=1001.0)
    assert (clock.shift, clock.now()) == (0.0, 2000.0)


def test_a_log_from_the_future_is_not_overtaken_by_the_past() -> None:
    clock = Clock(last=5000.0, wall=lambda: 1000.0)
    assert clock.now() == 5000.0


def test_a_simulated_day_is_fast_and_can_be_stopped() -> None:
    clock = FastClock(100.0, speed=1000.0)
    assert clock.now() == 100.0
    clock.run(True)
    time.sleep(0.05)
    clock.run(False)
    stopped = clock.now()
    assert 150.0 <= stopped < 5000.0
    time.sleep(0.01)
    assert clock.now() == stopped
    clock.run(True)
    time.sleep(0.01)
    assert clock.now() > stopped


def test_of_an_incognito_line_nothing_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    told = '{"time": 1, "kind": "navigate", "resource": "https://%s.example/", "incognito": %s}\n'
    path.write_text(told % ("open", "false") + told % ("secret", "true") + told % ("odd", '"no"'))
    feed = FileFeed(str(path), lambda: 1.0)
    shown, hidden = feed.collect()
    assert shown.event.resource == "https://open.example/"
    assert hidden.event == Event(1.0, "away")
    assert feed.refused == [f"{path}, line 3: field 'incognito': must be true or false, not 'no'"]
    path.write_text(told % ("open", "false") + told % ("other", "true"))
    again = FileFeed(str(path), lambda: 1.0).collect()
    assert again[1].origin.split(":")[-1] == hidden.origin.split(":")[-1]  # it tells nothing
