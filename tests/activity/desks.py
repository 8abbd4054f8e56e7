"""Small desks for tests: two activities with a document and a page each."""

from __future__ import annotations

from yarrow.activity import Create, Declare, Event, Recogniser
from yarrow.activity.log.entries import Entry

TAX, GARDEN = 0, 1
START = 1_000_000.0
MINUTE = 60.0

_FRONT = {
    TAX: (("/home/ada/tax/return.ods", "Tax return 2026 - Calc"), ("https://tax.gov", "Tax forms")),
    GARDEN: (("/home/ada/garden/beds.txt", "Beds and seeds"), ("https://seeds.org", "Seed shop")),
}


def work(activity: int, begin: float, minutes: int) -> list[Entry]:
    """Work at an activity: turn to its document and its page in turns, twice a minute."""
    return [
        Event(begin + 30 * i, "focus", *_FRONT[activity][i % 2], "app") for i in range(2 * minutes)
    ]


def two_activities(time: float = START) -> list[Entry]:
    return [Create(time, TAX, "Tax return"), Create(time, GARDEN, "Garden")]


def declared_morning(turns: int = 6, minutes: int = 10) -> tuple[list[Entry], float]:
    """Turns at the two activities, all declared; and when they end."""
    entries, time = two_activities(), START
    for turn in range(turns):
        activity = (TAX, GARDEN)[turn % 2]
        entries += [Declare(time, activity), *work(activity, time, minutes)]
        time += minutes * MINUTE
    return entries, time


def fed(entries: list[Entry], **parameters: object) -> Recogniser:
    recogniser = Recogniser(**parameters)  # type: ignore[arg-type]
    for entry in entries:
        recogniser.feed(entry)
    return recogniser
