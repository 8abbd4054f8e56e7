"""The generator keeps the published figures, and stays as it was before the tuning."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from reproduction.activity_lab.generator import Life, desktop_life
from yarrow.activity.model.vectors import VectorBuilder
from yarrow.errors import ParameterError


@pytest.fixture(scope="module")
def life() -> Life:
    return desktop_life(0)


def count_vectors(life: Life) -> int:
    """Vectors of 60 seconds, or up to a declared switch."""
    builder, vectors = VectorBuilder(), 0
    entries = sorted((*life.switches, *life.events), key=lambda entry: entry.time)
    for entry in entries:
        while builder.due(entry.time) is not None:
            vectors += 1
        if hasattr(entry, "kind"):
            vectors += builder.tell(entry) is not None
        else:
            vectors += builder.cut(entry.time) is not None
    return vectors


def test_it_has_the_published_figures(life: Life) -> None:
    assert len(life.names) == len(set(life.names)) == 299
    assert {switch.actual for switch in life.switches} == set(range(299))
    assert len(life.switches) == 3657 + 1
    assert count_vectors(life) == pytest.approx(65_049, rel=0.06)
    days = (life.events[-1].time - life.events[0].time) / 86400
    assert 115 < days < 135


def test_switches_are_in_order_and_change_something(life: Life) -> None:
    for one, other in zip(life.switches, life.switches[1:], strict=False):
        assert one.time < other.time
        assert one.activity != other.activity
        assert one.actual != other.actual
    assert all(a.time <= b.time for a, b in zip(life.events, life.events[1:], strict=False))


def test_activities_are_zipfian_and_some_labels_are_wrong(life: Life) -> None:
    counts = sorted(Counter(switch.actual for switch in life.switches).values(), reverse=True)
    assert sum(counts[:30]) > 0.4 * sum(counts)
    assert counts[150] <= 8
    wrong = sum(switch.activity != switch.actual for switch in life.switches)
    assert 0.01 < wrong / len(life.switches) < 0.03


def test_resources_are_shared_and_titles_have_words(life: Life) -> None:
    looks = Counter(event.resource for event in life.events if event.kind == "focus")
    shared = sum(looks[r] for r in ("mail:inbox", "https://search.example"))
    assert shared > 0.03 * looks.total()
    assert sum(len(event.title.split()) > 2 for event in life.events) > 0.7 * len(life.events)
    assert {event.kind for event in life.events} >= {"open", "close", "navigate", "mail_read"}


def test_it_is_frozen() -> None:
    small = desktop_life(7, activities=20, switches=100)
    text = repr((small.names, small.switches, small.events))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "12f0139f8af0f2f4"


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ParameterError, match="'activities' must be from 2 to switches"):
        desktop_life(0, activities=50, switches=10)
