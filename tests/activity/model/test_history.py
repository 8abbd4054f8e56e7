"""Whatever happens and is said: what is known is what the settled lines of the diary say."""

from __future__ import annotations

import json
import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from yarrow.activity.log.entries import (
    Archive,
    Associate,
    Confirm,
    Correct,
    Create,
    Declare,
    Event,
    Merge,
    Rename,
)
from yarrow.activity.model.activities import NOTHING
from yarrow.activity.model.features import HALF_KNOWN, SCALE, WORD_SCALE
from yarrow.activity.model.recogniser import Recogniser
from yarrow.activity.model.vectors import InformationVector

START = 1_700_000_000.0
KINDS = ("open", "focus", "navigate", "save", "close", "focus", "focus")


class Counted:
    """The knowledge of a recogniser, counted anew from its diary; owners are what was said last."""

    def __init__(self, recogniser: Recogniser, owners: dict[str, int]) -> None:
        self.owners = owners
        self.activities = recogniser._history.knowledge.activities
        self.words: Counter[tuple[str, int]] = Counter()
        self.vectors: Counter[int] = Counter()
        self.seconds: defaultdict[tuple[str, int], float] = defaultdict(float)
        past = recogniser._history
        for line, vector in enumerate(past.vectors):
            activity = past.diary.activity[line]
            if activity != NOTHING and line not in past.held:
                self.vectors[activity] += 1
                self.words.update((word, activity) for word in vector.words)
                for resource, spent in vector.active.items():
                    self.seconds[resource, activity] += spent

    def belongs(self, resource: str, activity: int) -> float:
        if resource in self.owners:
            return float(self.owners[resource] == activity)
        total = sum(self.seconds[resource, other] for other in range(self.activities))
        return self.seconds[resource, activity] / (total + HALF_KNOWN)

    def rare(self, word: str, activity: int) -> float:
        others = [other for other in range(self.activities) if other != activity]
        vectors = sum(self.vectors[other] for other in others)
        return math.log((vectors + 1) / (sum(self.words[word, other] for other in others) + 1))

    def features(self, vector: InformationVector, activity: int) -> list[float]:
        spent = sum(vector.active.values()) or 1.0
        known = {True: 0.0, False: 0.0}
        for resource, seconds in vector.active.items():
            share = seconds / spent * self.belongs(resource, activity)
            known[resource in self.owners] += share
        opened = sum(self.belongs(resource, activity) for resource in vector.open)
        words = sum(times * self.rare(word, activity) for word, times in vector.words.items())
        return [
            SCALE * known[True],
            SCALE * known[False],
            SCALE * opened / max(len(vector.open), 1),
            WORD_SCALE * words,
        ]


def check(recogniser: Recogniser, owners: dict[str, int]) -> None:
    past, counted = recogniser._history, Counted(recogniser, owners)
    for activity in range(counted.activities):
        assert past.knowledge.vectors(activity) == counted.vectors[activity]
        for word in past.knowledge.words.rows:
            if word:
                assert past.knowledge.words.at(word, activity) == counted.words[word, activity]
        for resource in past.knowledge.seconds.rows:  # to the bit: no sum drifts
            spent = past.knowledge.seconds.at(resource, activity)
            assert spent == counted.seconds[resource, activity]
    if past.vectors:
        vector = past.vectors[-1]
        found = past.knowledge.features(vector).of_activities[:4]
        wanted = np.array([counted.features(vector, y) for y in range(counted.activities)]).T
        wanted[3] -= wanted[3, -1]  # up to what is common to all activities
        found[3] -= found[3, -1]
        np.testing.assert_allclose(found, wanted, atol=1e-15, rtol=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_known_is_what_the_diary_says(seed: int) -> None:
    chance = random.Random(seed)
    recogniser = Recogniser(threshold=0.0, without_feedback="bandit")
    now, names, owners = START, 0, dict[str, int]()
    alive: list[int] = []

    def create() -> Create:
        nonlocal names
        names += 1
        alive.append(names - 1)
        return Create(now, names - 1, f"activity {names}")

    recogniser.feed(create())
    recogniser.feed(Declare(now, 0))
    for step in range(1500):
        now += chance.expovariate(1 / 25)
        what = chance.random()
        activity = chance.choice(alive)
        resource = f"/r{int(chance.paretovariate(0.7)) % 60}"
        if what < 0.80:
            title = " ".join(f"word{'abcdefghijkl'[chance.randrange(12)]}" for _ in range(3))
            recogniser.feed(Event(now, chance.choice(KINDS), resource, title))
        elif what < 0.85:
            recogniser.feed(Declare(now, activity))
        elif what < 0.88:  # a late switch, or a stretch of the past
            since = max(now - chance.expovariate(1 / 900), START)
            until = None if chance.random() < 0.5 else chance.uniform(since, now)
            recogniser.feed(Correct(now, activity, since, until))
        elif what < 0.90:
            recogniser.feed(Confirm(now))
        elif what < 0.93:
            given = None if chance.random() < 0.3 else activity
            recogniser.feed(Associate(now, resource, given))
            owners.pop(resource, None)
            if given is not None:
                owners[resource] = given
        elif what < 0.95:
            recogniser.feed(create())
        elif what < 0.96 and len(alive) > 3:
            into = chance.choice([other for other in alive if other != activity])
            recogniser.feed(Merge(now, activity, into))
            alive.remove(activity)
            owners = {one: into if of == activity else of for one, of in owners.items()}
        elif what < 0.97:
            recogniser.feed(Rename(now, activity, f"other name {step}"))
        elif what < 0.98:
            recogniser.feed(Archive(now, activity, chance.random() < 0.5))
        elif what < 0.985:  # the program is started again
            state = json.loads(json.dumps(recogniser.state_dict()))
            recogniser = Recogniser(threshold=0.0, without_feedback="bandit")
            recogniser.load_state_dict(state)
        if step % 25 == 0:
            check(recogniser, owners)
    check(recogniser, owners)
