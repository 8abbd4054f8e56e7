"""F_A for all activities at once, against the formulas taken one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from yarrow.activity.model.features import (
    ACTIVITY_FEATURES,
    HALF_KNOWN,
    LATELY,
    SCALE,
    WORD_SCALE,
    Features,
    Knowledge,
    no_features,
)
from yarrow.activity.model.vectors import InformationVector


def vector(
    words: dict[str, float] | None = None,
    active: dict[str, float] | None = None,
    opened: list[str] | None = None,
) -> InformationVector:
    return InformationVector(0, 60, active or {}, words or {}, opened or [], 0, 0, {}, [])


def known(labels: list[tuple[int, InformationVector]], count: int) -> Knowledge:
    knowledge = Knowledge()
    knowledge.activities = count
    for label, one in labels:
        knowledge.credit(one, label)
    return knowledge


def test_words_are_weighed_by_the_vectors_of_all_other_activities() -> None:
    random = np.random.default_rng(0)
    labels = [
        (int(random.integers(5)), vector({f"w{w}": 1.0 for w in random.integers(8, size=3)}))
        for _ in range(60)
    ]
    knowledge = known(labels, 6)
    asked = {"w1": 2.0, "w3": 0.5, "w5": 1.0, "never seen": 1.0}
    found = knowledge.features(vector(asked), 0.0).of_activities[3] / WORD_SCALE

    def by_the_formula(y: int) -> float:
        others = [one for label, one in labels if label != y]
        return sum(
            frequency * math.log((len(others) + 1) / (1 + sum(word in one.words for one in others)))
            for word, frequency in asked.items()
        )

    expected = np.array([by_the_formula(y) for y in range(6)])
    # a common part is left out, which is the value of an activity without any vector
    np.testing.assert_allclose(found, expected - expected[5], atol=1e-12)


def test_a_word_that_no_other_activity_has_is_worth_most_and_finite() -> None:
    knowledge = known([(0, vector({"own": 1.0, "both": 1.0})), (1, vector({"both": 1.0}))], 2)
    own = knowledge.features(vector({"own": 1.0}), 0.0).of_activities[3]
    both = knowledge.features(vector({"both": 1.0}), 0.0).of_activities[3]
    assert np.isfinite(own).all()
    assert own[0] > own[1]
    assert both[0] == both[1]


def test_association_by_time_spent_and_share_of_open_resources() -> None:
    labels = [(0, vector(active={"/a": 120.0})), (1, vector(active={"/a": 60.0, "/b": 60.0}))]
    asked = vector(active={"/a": 45.0, "/new": 15.0}, opened=["/a", "/b", "/c", "/new"])
    values = known(labels, 2).features(asked, 0.0).of_activities / SCALE
    a, b = 180 + HALF_KNOWN, 60 + HALF_KNOWN
    np.testing.assert_allclose(values[0], 0)
    np.testing.assert_allclose(values[1], [0.75 * 120 / a, 0.75 * 60 / a])
    np.testing.assert_allclose(values[2], [120 / a / 4, (60 / a + 60 / b) / 4])


def test_explicit_beats_implicit() -> None:
    knowledge = known([(0, vector(active={"/a": 36000.0}))], 2)
    knowledge.give("/a", 1)
    asked = vector(active={"/a": 60.0}, opened=["/a"])
    values = knowledge.features(asked, 0.0).of_activities / SCALE
    np.testing.assert_allclose(values[:3], [[0, 1], [0, 0], [0, 1]])


@pytest.mark.parametrize("closed", [0, 2, 1000])
def test_switch_features_are_bounded(closed: int) -> None:
    knowledge = known([], 1)
    asked = InformationVector(0, 60, {}, {}, ["/a", "/b"], 1, closed, {}, [])
    constant, shut, used, since = np.array(knowledge.features(asked, 1e9).of_switch) / SCALE
    assert (constant, used, since) == pytest.approx((1, 0.5, 1))
    assert shut == pytest.approx(min(closed / 5, 1))


def test_the_declared_activity_is_one_of_the_features() -> None:
    knowledge = known([], 3)
    assert (knowledge.features(vector(), 0.0, 1).of_activities[4] / SCALE).tolist() == [0, 1, 0]
    assert not knowledge.features(vector()).of_activities.any()


def row(features: Features, name: str) -> list[float]:
    values: list[float] = features.of_activities[ACTIVITY_FEATURES.index(name)].tolist()
    return values


def test_resources_of_the_minutes_before_still_speak_and_fade() -> None:
    knowledge = known([(0, vector(active={"/a": 60.0}))], 2)
    knowledge.give("/b", 1)
    seen = [no_features()]
    for resource in ("/a", "/b", "/new"):
        asked = vector(active={resource: 60.0})
        seen.append(knowledge.features(asked, before=seen[-1]))
    strength = SCALE * 60 / (60 + HALF_KNOWN)  # of /a for the first activity
    assert row(seen[1], "lately") == [0, 0]
    assert row(seen[2], "lately") == pytest.approx([LATELY * strength, 0])
    assert row(seen[3], "lately") == pytest.approx([LATELY**2 * strength, LATELY * SCALE])


def test_an_activity_that_is_new_had_no_minutes_before() -> None:
    knowledge = known([(0, vector(active={"/a": 60.0}))], 1)
    first = knowledge.features(vector(active={"/a": 60.0}))
    knowledge.activities = 3
    lately = row(knowledge.features(vector(), before=first), "lately")
    assert lately[0] > 0
    assert lately[1:] == [0, 0]


def test_taking_back_leaves_nothing() -> None:
    first, second = vector({"w": 1.0}, {"/a": 60.0}), vector({"w": 1.0, "x": 1.0}, {"/a": 5.0})
    knowledge = known([(0, first), (1, second)], 2)
    knowledge.credit(second, 1, -1)
    knowledge.credit(second, 0)
    once = known([(0, first), (0, second)], 2)
    asked = vector({"w": 1.0, "x": 1.0}, {"/a": 60.0}, ["/a"])
    np.testing.assert_array_equal(
        knowledge.features(asked, 0.0).of_activities, once.features(asked, 0.0).of_activities
    )
