"""Why it thinks so: words by what they add to the score."""

from __future__ import annotations

import pytest

from yarrow.activity.log.entries import Create, Declare, Event
from yarrow.activity.model.features import ACTIVITY_FEATURES, WORD_SCALE
from yarrow.activity.model.recogniser import Recogniser

TITLES = ("Terms of the contract - Editor", "Growing beans in the garden - Editor")


def thinking() -> Recogniser:
    recogniser = Recogniser()
    now = 1_700_000_000.0
    for activity in (0, 1):
        recogniser.feed(Create(now, activity, f"activity {activity}"))
    for turn in range(8):
        activity = turn % 2
        recogniser.feed(Declare(now, activity))
        recogniser.feed(Event(now, "focus", f"/{activity}", TITLES[activity]))
        now += 300.0
    recogniser.tick(now)
    return recogniser


def test_reasons_are_words_that_distinguish() -> None:
    words = [reason.what for reason in thinking().thought().reasons if reason.kind == "word"]
    assert set(words) == {"growing", "beans", "garden"}  # not "the", not "in", not "editor"


def test_what_the_minutes_before_said_is_a_reason() -> None:
    recogniser = thinking()
    reasons = {reason.kind: reason.amount for reason in recogniser.thought().reasons}
    weights = recogniser._scorer.weights
    lately = ACTIVITY_FEATURES.index("lately")
    said = weights.features[lately] / weights.unit() * recogniser._present.of_activities[lately, 1]
    assert reasons["lately"] == pytest.approx(said)
    assert said > 0


def test_contributions_of_words_add_up_to_the_feature() -> None:
    recogniser = thinking()
    present = recogniser._present
    for activity in (0, 1):
        words = dict(present.contributions(activity))
        assert words["editor"] == pytest.approx(0.0, abs=0.05 * WORD_SCALE)
        assert sum(words.values()) == pytest.approx(present.of_activities[3, activity])
    assert present.contributions(2) == []
