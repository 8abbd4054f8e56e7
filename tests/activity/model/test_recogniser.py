"""A person declares, forgets to declare, is told, answers; the log is all there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from activity.desks import GARDEN, MINUTE, START, TAX, declared_morning, fed, two_activities, work

from yarrow.activity import (
    Alarm,
    Archive,
    Associate,
    Confirm,
    Correct,
    Create,
    Declare,
    Event,
    Merge,
    Recogniser,
    Rename,
)
from yarrow.activity.log.entries import Entry
from yarrow.activity.model.activities import LATEST
from yarrow.activity.model.recogniser import HIGHEST_SCORE, JUST_SAID, PATIENCE
from yarrow.errors import DataError, ParameterError


def same(one: Recogniser, other: Recogniser) -> bool:
    return json.dumps(one.state_dict()) == json.dumps(other.state_dict())


def forgotten_switch(**parameters: Any) -> tuple[Recogniser, Alarm, float]:
    """The garden is declared last; then the tax return begins, and nothing is said."""
    entries, end = declared_morning()
    recogniser = fed(entries, **parameters)
    alarms: list[Alarm] = []
    for entry in work(TAX, end, 3):
        alarms += recogniser.feed(entry)
    alarms += recogniser.tick(end + 3 * MINUTE)
    return recogniser, alarms[0], end


def test_a_forgotten_switch_is_noticed() -> None:
    recogniser, alarm, end = forgotten_switch()
    assert (alarm.activity, alarm.declared) == (TAX, GARDEN)
    assert abs(alarm.since - end) <= MINUTE
    assert end < alarm.time <= end + 2 * MINUTE
    assert 0.5 < alarm.certainty <= 1
    assert {"tax"} <= {reason.what for reason in alarm.reasons if reason.kind == "word"}
    thought = recogniser.thought()
    assert (thought.activity, thought.declared) == (TAX, GARDEN)
    assert thought.ranked[0][0] == TAX
    told = sum(reason.amount for reason in thought.reasons)
    evidence = recogniser._scorer.weights.scores(recogniser._present, 2)
    assert told == pytest.approx(float(evidence[TAX]), abs=0.5)  # but for what speaks against it


def test_nothing_is_said_while_all_is_declared() -> None:
    entries, end = declared_morning()
    recogniser = Recogniser()
    assert not [alarm for entry in entries for alarm in recogniser.feed(entry)]
    assert not recogniser.tick(end)


def test_late_recognition_moves_associations() -> None:
    recogniser, _, end = forgotten_switch()
    page = "https://tax.gov"
    new = Event(end + 3 * MINUTE, "focus", "/new.ods", "New", "app")
    recogniser.feed(new)
    recogniser.tick(end + 5 * MINUTE)
    assert "/new.ods" in {r.resource for r in recogniser.resources(GARDEN)}
    assert page in {r.resource for r in recogniser.resources(GARDEN)}
    recogniser.feed(Correct(end + 5 * MINUTE, TAX, end))
    assert recogniser.resources(TAX)[0].resource == "/new.ods"
    assert not {"/new.ods", page} & {r.resource for r in recogniser.resources(GARDEN)}
    last = recogniser.stretches(end, end + 5 * MINUTE)[-1]
    assert (last.activity, last.source, last.certainty) == (TAX, "corrected", 1)
    assert recogniser.thought().declared == TAX


def test_it_is_as_if_the_switch_had_been_declared() -> None:
    """Words, time at resources and counts; the weights have learned one lesson more."""
    recogniser, _, end = forgotten_switch()
    recogniser.feed(Correct(end + 3 * MINUTE, TAX, end))
    entries, _ = declared_morning()
    declared = fed([*entries, Declare(end, TAX), *work(TAX, end, 3)])
    declared.tick(end + 3 * MINUTE)
    declared.feed(Confirm(end + 3 * MINUTE))  # as the correction does, it settles the last minute
    for activity in (TAX, GARDEN):
        assert [(r.resource, pytest.approx(r.seconds)) for r in recogniser.resources(activity)] == [
            (r.resource, r.seconds) for r in declared.resources(activity)
        ]
    assert (
        recogniser._history.knowledge.words.state_dict()
        == declared._history.knowledge.words.state_dict()
    )


def counted(recogniser: Recogniser, activity: int) -> int:
    """How many minutes of an activity are learned from."""
    return recogniser._history.knowledge.vectors(activity)


def silent_minutes(minutes: int) -> tuple[Recogniser, float, int]:
    """The tax return is declared; then so many minutes pass, and nothing is said."""
    entries, end = declared_morning(turns=2)
    recogniser = fed([*entries, Declare(end, TAX), *work(TAX, end, minutes)])
    before = counted(fed([*entries, Declare(end, TAX)]), TAX)
    recogniser.tick(end + minutes * MINUTE)
    return recogniser, end, before


def test_a_minute_counts_when_it_was_just_declared_or_is_some_minutes_old() -> None:
    for minutes in range(1, 12):
        recogniser, end, before = silent_minutes(minutes)
        told = min(minutes, JUST_SAID / MINUTE)
        old = minutes - Recogniser().hold / MINUTE
        assert counted(recogniser, TAX) - before == max(told, old)
        spent = sum(one.seconds for one in recogniser.resources(TAX))  # which the page shows
        assert spent == 10 * MINUTE + minutes * MINUTE
        stretches = recogniser.stretches(end, end + minutes * MINUTE)
        assert {one.activity for one in stretches} == {TAX}


@pytest.mark.parametrize(
    "say",
    [
        lambda now: Confirm(now),
        lambda now: Declare(now, TAX),
        lambda now: Declare(now, GARDEN),
        lambda now: Correct(now, TAX, now - 60.0),
        lambda now: Correct(now, TAX, now - 60.0, now),
    ],
)
def test_a_minute_counts_when_something_is_said(say: Callable[[float], Entry]) -> None:
    recogniser, end, before = silent_minutes(7)
    assert counted(recogniser, TAX) < before + 7
    recogniser.feed(say(end + 7 * MINUTE))
    assert counted(recogniser, TAX) == before + 7


def test_what_is_said_about_the_past_settles_nothing_later() -> None:
    recogniser, end, before = silent_minutes(7)
    recogniser.feed(Correct(end + 7 * MINUTE, GARDEN, end + 4 * MINUTE, end + 5 * MINUTE))
    assert counted(recogniser, TAX) == before + 4
    recogniser.tick(end + 30 * MINUTE)
    assert counted(recogniser, TAX) > before + 6


def test_what_is_asked_about_waits_for_the_answer() -> None:
    recogniser, alarm, end = forgotten_switch()
    before = counted(recogniser, GARDEN)
    for entry in work(TAX, end + 3 * MINUTE, 4):
        recogniser.feed(entry)
    assert recogniser.unanswered() == alarm
    assert counted(recogniser, GARDEN) <= before + (alarm.since > end)
    for entry in work(TAX, end + 7 * MINUTE, 5):
        recogniser.feed(entry)
    assert recogniser.unanswered() != alarm  # nobody has answered it
    assert counted(recogniser, GARDEN) >= before + 3


def test_without_holding_each_minute_counts_at_once() -> None:
    entries, end = declared_morning()
    recogniser = fed([*entries, *work(TAX, end, 5)], hold=0.0)
    assert not recogniser._history.held


def test_what_is_held_is_not_lost_in_a_long_absence() -> None:
    recogniser, end, before = silent_minutes(7)
    recogniser.feed(Event(end + 7 * MINUTE, "away"))
    recogniser.feed(Event(end + 30 * 86400.0, "focus", "/home/ada/tax/return.ods", "Tax", "app"))
    recogniser.tick(end + 30 * 86400.0 + MINUTE)
    assert counted(recogniser, TAX) == before + 7


def test_a_wrong_alarm_is_not_repeated_after_one_answer() -> None:
    """The garden's person looks at the tax page, again and again, and stays with the garden."""
    entries, end = declared_morning()
    recogniser = fed(entries)
    told = 0
    for minute in range(10):
        time = end + minute * MINUTE
        alarms = recogniser.feed(Event(time, "focus", "https://tax.gov", "Tax forms", "app"))
        told += len(alarms)
        for alarm in alarms:
            recogniser.feed(Confirm(alarm.time))
    assert told == 1


def test_an_alarm_is_told_once() -> None:
    recogniser, _, end = forgotten_switch()
    again = [a for entry in work(TAX, end + 3 * MINUTE, 2) for a in recogniser.feed(entry)]
    assert not again


def test_a_stretch_of_the_past_is_corrected_and_the_present_stays() -> None:
    entries, end = declared_morning()
    recogniser = fed(entries)
    recogniser.tick(end)
    recogniser.feed(Correct(end, GARDEN, START, START + 10 * MINUTE))
    assert recogniser.thought().declared == GARDEN
    first, second, *_ = recogniser.stretches(START, end)
    assert (first.activity, first.source) == (GARDEN, "corrected")
    assert (first.start, first.end) == (START, START + 10 * MINUTE)
    assert (second.activity, second.source) == (GARDEN, "declared")


def test_explicit_beats_implicit() -> None:
    entries, end = declared_morning()
    recogniser = fed([*entries, Associate(end, "https://tax.gov", GARDEN)])
    assert "https://tax.gov" not in {r.resource for r in recogniser.resources(TAX)}
    (mine,) = [r for r in recogniser.resources(GARDEN) if r.resource == "https://tax.gov"]
    assert mine.explicit
    recogniser.feed(Associate(end, "https://tax.gov", None))
    assert "https://tax.gov" in {r.resource for r in recogniser.resources(TAX)}


def test_time_away_is_not_time_spent() -> None:
    entries = [*two_activities(), Declare(START, TAX), *work(TAX, START, 2)]
    away = START + 2 * MINUTE
    recogniser = fed([*entries, Event(away, "away"), Event(away + 9000, "back")])
    recogniser.feed(Event(away + 9000 + 2 * MINUTE, "away"))
    assert sum(r.seconds for r in recogniser.resources(TAX)) == 4 * MINUTE
    stretches = recogniser.stretches(START, away + 10000)
    assert [(s.start, s.end) for s in stretches] == [
        (START, away),
        (away + 9000, away + 9000 + 2 * MINUTE),
    ]


# -- activities come and go ----------------------------------------------------------------------


def test_rename() -> None:
    entries, end = declared_morning()
    recogniser = fed([*entries, Rename(end, TAX, "Taxes")])
    assert [a.name for a in recogniser.activities()] == ["Taxes", "Garden"]


def test_archived_activities_are_not_recognised_until_they_are_declared_again() -> None:
    entries, end = declared_morning()
    recogniser = fed([*entries, Archive(end, TAX), *work(TAX, end, 3)])
    recogniser.tick(end + 3 * MINUTE)
    assert recogniser.thought().activity == GARDEN
    recogniser.feed(Declare(end + 3 * MINUTE, TAX))
    assert not recogniser.activities()[TAX].archived


def test_the_declared_activity_is_judged_even_if_it_is_archived() -> None:
    entries, end = declared_morning()
    recogniser = fed([*entries, Archive(end, GARDEN), *work(GARDEN, end, 3)])
    recogniser.tick(end + 3 * MINUTE)
    assert recogniser.thought().activity == GARDEN


def test_before_anything_is_declared_there_is_an_alarm_with_a_finite_score() -> None:
    recogniser = fed([Create(START, 0, "Only"), Event(START, "focus", "/a", "A")])
    alarms = recogniser.tick(START + 180)
    assert all(alarm.score <= HIGHEST_SCORE for alarm in alarms)
    assert recogniser.thought().activity == 0


def test_merged_activities_are_one() -> None:
    entries, end = declared_morning()
    later = [Create(end, 2, "Taxes"), Declare(end, 2), *work(TAX, end, 10)]
    recogniser = fed([*entries, *later])
    seconds = sum(r.seconds for a in (TAX, 2) for r in recogniser.resources(a))
    recogniser.feed(Merge(end + 10 * MINUTE, 2, TAX))
    assert recogniser.thought().declared == TAX
    assert recogniser.resources(2) == recogniser.resources(TAX)
    spent = sum(r.seconds for r in recogniser.resources(TAX))
    assert spent == pytest.approx(seconds + 60)  # and what was under way
    assert {s.activity for s in recogniser.stretches(START, end + 600)} == {TAX, GARDEN}
    assert recogniser.activities()[2].merged_into == TAX
    recogniser.feed(Declare(end + 10 * MINUTE, 2))  # its number still works
    assert recogniser.thought().declared == TAX


def test_numbers_may_begin_at_one() -> None:
    recogniser = fed([Create(0, 1, "One"), Declare(0, 1), Event(0, "focus", "/a", "A")])
    recogniser.tick(120)
    assert recogniser.thought().activity == 1


# -- the state is a fold over the log ------------------------------------------------------------


def talkative_log() -> list[Entry]:
    entries, end = declared_morning()
    return [
        *entries,
        Associate(end, "https://tax.gov", TAX),
        *work(TAX, end, 5),
        Correct(end + 5 * MINUTE, TAX, end),
        Create(end + 5 * MINUTE, 2, "Mail"),
        Event(end + 5 * MINUTE, "mail_read", "mailto:bo@example.org", "Re: beds", "mail"),
        Declare(end + 6 * MINUTE, 2),
        Event(end + 6.5 * MINUTE, "open", "/home/ada/tax/letter.odt", "letter"),
        *work(GARDEN, end + 7 * MINUTE, 5),
    ]


@pytest.mark.parametrize("words", ["sum", "each"])
def test_the_same_log_gives_the_same_state(words: str) -> None:
    assert same(fed(talkative_log(), words=words), fed(talkative_log(), words=words))


@pytest.mark.parametrize("words", ["sum", "each"])
def test_a_snapshot_and_the_rest_equal_the_whole(words: str) -> None:
    log = talkative_log()
    whole = fed(log, words=words)
    for cut in range(0, len(log), 7):
        state = json.loads(json.dumps(fed(log[:cut], words=words).state_dict()))
        rest = Recogniser(words=words)  # type: ignore[arg-type]
        rest.load_state_dict(state)
        for entry in log[cut:]:
            rest.feed(entry)
        assert same(rest, whole), cut


def test_a_snapshot_has_all_plain_attributes() -> None:
    recogniser = fed(talkative_log())
    for part in (recogniser, recogniser._history, recogniser._builder, recogniser._scorer.weights):
        own = {name for name in vars(part) if name.startswith("_")}
        derived = {"_features", "_l1", "_l2_l3", "_unit", "_scored", "_scores"}
        kept = {f"_{name.lstrip('_')}" for name in part.state_dict()}
        assert own - derived <= kept


def test_ticks_change_nothing_that_entries_would_not() -> None:
    log = talkative_log()
    ticked = Recogniser()
    time = START
    for entry in log:
        while time < entry.time:
            ticked.tick(time)
            time += 7
        ticked.feed(entry)
    assert same(ticked, fed(log))


def test_a_snapshot_of_another_format_is_refused() -> None:
    with pytest.raises(DataError, match="the snapshot has format 0"):
        Recogniser().load_state_dict({"format": 0})


@pytest.mark.parametrize("count", [10**30, 10**9])
def test_a_snapshot_of_more_activities_than_were_given_is_refused(count: int) -> None:
    """One by one it would look for those that are archived."""
    one = Recogniser()
    one.feed(Create(START, 0, "Garden"))
    state = one.state_dict()
    state["_history"]["knowledge"]["activities"] = count
    with pytest.raises(DataError, match="more numbers of activities"):
        Recogniser().load_state_dict(state)


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (Declare(START, 7), "field 'activity': there is no activity 7"),
        (Create(START, 0, "again"), "field 'activity': a new activity needs a name and the next"),
        (Create(START, 2, " "), "field 'activity': a new activity needs a name and the next"),
        (Merge(START, 1, 1), "field 'into': activity 1 cannot be merged into itself"),
        (Correct(START, 0, START + 1), "field 'since': a correction must not end before"),
        (Correct(START, 0, float("nan")), "field 'since': must be a number of seconds"),
        (Confirm(float("inf")), "field 'time': must be a number of seconds"),
        (Confirm(START - LATEST - 1), "field 'time': the entry is 301 seconds older"),
    ],
)
def test_bad_entries_are_refused_and_change_nothing(entry: Entry, sentence: str) -> None:
    recogniser = fed(two_activities())
    recogniser.tick(START)
    before = json.dumps(recogniser.state_dict())
    with pytest.raises(DataError) as error:
        recogniser.feed(entry)
    assert str(error.value).startswith(sentence)
    assert json.dumps(recogniser.state_dict()) == before


def test_bad_events_are_refused() -> None:
    with pytest.raises(DataError, match="field 'duration'"):
        Event(0, "focus", duration=-1)
    with pytest.raises(DataError, match="field 'time'"):
        Event("noon", "focus")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "parameters",
    [{"interval": 0}, {"C": -1}, {"hold": -1}, {"words": "all"}, {"without_feedback": "guess"}],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        Recogniser(**parameters)


def test_a_late_event_happens_now() -> None:
    late = fed([*two_activities(), Event(START + 100, "focus", "/a"), Event(START, "focus", "/b")])
    now = fed(
        [*two_activities(), Event(START + 100, "focus", "/a"), Event(START + 100, "focus", "/b")]
    )
    assert same(late, now)


def test_a_threshold_means_the_same_after_thousands_of_lessons() -> None:
    entries, end = declared_morning()
    alarms = []
    for shrunk in (1.0, 0.01):
        recogniser = fed(entries)
        weights = recogniser._scorer.weights
        weights.features = shrunk * weights.features
        alarms += [a for entry in work(TAX, end, 3) for a in recogniser.feed(entry)]
    fresh, old = alarms
    assert (fresh.time, fresh.score) == (old.time, pytest.approx(old.score))
    assert fresh.reasons[0].amount == pytest.approx(old.reasons[0].amount)


# -- no answer -----------------------------------------------------------------------------------


def test_with_repeat_only_learning_keeps_it_silent() -> None:
    entries, end = declared_morning()
    recogniser = fed(entries, repeat=True)
    told = []
    for minute in range(10):
        look = Event(end + minute * MINUTE, "focus", "https://tax.gov", "Tax forms", "app")
        for alarm in recogniser.feed(look):
            told.append(minute)
            recogniser.feed(Confirm(alarm.time))
    assert told == list(range(1, 1 + len(told)))
    assert 1 <= len(told) <= 8


@pytest.mark.parametrize(
    ("setting", "declared"), [("ignore", GARDEN), ("wrong", GARDEN), ("right", TAX)]
)
def test_what_an_unanswered_alarm_means(setting: str, declared: int) -> None:
    recogniser, alarm, end = forgotten_switch(without_feedback=setting)
    before = recogniser._scorer.weights.features.copy()
    for entry in work(TAX, end + 3 * MINUTE, 5):
        recogniser.feed(entry)
    recogniser.tick(alarm.time + PATIENCE + 2 * MINUTE)
    assert recogniser.thought().declared == declared
    moved = (recogniser._scorer.weights.features != before).any()
    assert moved == (setting == "wrong")  # a right alarm with its margin teaches nothing
    if setting == "right":
        assert {s.source for s in recogniser.stretches(end, end + 600)} == {"recognised"}


def test_the_bandit_goes_by_what_answered_alarms_were() -> None:
    recogniser, alarm, end = forgotten_switch(without_feedback="bandit")
    for _ in range(3):
        recogniser._answers.heard(alarm, True)
    for entry in work(TAX, end + 3 * MINUTE, 5):
        recogniser.feed(entry)
    recogniser.tick(alarm.time + PATIENCE + 2 * MINUTE)
    assert recogniser.thought().declared == TAX


def test_folders_by_activity() -> None:
    entries = two_activities()
    time = START
    for _ in range(4):
        for activity, folder in ((TAX, "/tax"), (GARDEN, "/garden")):
            entries += [Declare(time, activity), Event(time, "open", f"{folder}/a", folder)]
            time += 5 * MINUTE
    recogniser = fed(entries)
    recogniser.tick(time)
    assert [folder for folder, _ in recogniser.folders(TAX)] == ["/tax", "/garden"]
    assert recogniser.folders()[0][0] == "/garden"
    assert sum(p for _, p in recogniser.folders()) == pytest.approx(1)
