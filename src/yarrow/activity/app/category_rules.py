"""Regular expressions that tell activities apart, as far as words of titles can.

A rule is judged by the person's own history: of all the time it would have matched, how much was
its activity's. But what nobody has done so far is in no history, and a rule will meet it. So a word
has to raise the odds of its activity whatever the activity's share of the time is, words that any
text has are left out, and so are short ones, which mean too many things.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Event
from yarrow.activity.model.function_words import FUNCTION_WORDS
from yarrow.activity.model.vectors import IDLE_AFTER, IN_FRONT
from yarrow.activity.sources.categories import Category
from yarrow.activity.sources.spans import is_browser

PRECISION = 0.95
"""A rule is given away only if so much of the time that it matches is its activity's."""
LEVELS = " > "
"""Between the names of a category and of what it is a part of."""
_RAISES = 0.9  # the same for each word, if all activities had had the same time
_UNSEEN = 30.0  # seconds that a word is taken to have had elsewhere besides
_LEAST = 60.0  # seconds of its activity that a word must have
_ADDS = 0.02  # share of its activity's time that a word must add to the words before it
_WIDTH = 4  # letters of a word; characters of Chinese, Japanese and Korean are as wide as two
_WORD = re.compile(r"\b[^\W\d_]\w+")  # a regular expression finds it between two \b

Text = tuple[str, str]  # title and application


class Rule(NamedTuple):
    """What words can say about an activity."""

    activity: str
    category: Category | None
    """None if no word tells it from the others."""
    matched: float = 0.0
    """The share of its own time that it matches,"""
    mistaken: float = 0.0
    """and of the time at other activities."""
    precision: float = 0.0

    def __str__(self) -> str:
        if self.category is None:
            return f"{self.activity}: no rule, since no word tells it from the others"
        return (
            f"{self.activity}: matches {self.matched:.0%} of its time and {self.mistaken:.1%} of "
            f"the time at others (precision {self.precision:.1%})"
        )


def find_rules(session: Session, most: int = 12) -> list[Rule]:
    """A rule of at most so many words for each activity that is not archived."""
    history = _History(session)
    return [
        history.rule(one.id, one.name, most) for one in session.activities() if not one.archived
    ]


class _History:
    """Seconds by title, word and activity."""

    def __init__(self, session: Session) -> None:
        self.texts: dict[Text, Counter[int]] = defaultdict(Counter)
        for activity, text, seconds in _looks(session):
            self.texts[text][activity] += seconds  # type: ignore[assignment]
        self.words: dict[str, Counter[int]] = defaultdict(Counter)
        self.total: Counter[int] = Counter()
        self.general = set(FUNCTION_WORDS)
        for text, spent in self.texts.items():
            if is_browser(text[1]):
                self.general |= _words(("", text[1]))  # it shows anything
            self.total.update(spent)
            for word in _words(text):
                self.words[word].update(spent)

    def rule(self, activity: int, name: str, most: int) -> Rule:
        words = self._cover(activity, self._telling(activity, name), most)
        if not words:
            return Rule(name, None)
        pattern = re.compile(rf"\b({'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
        matched: Counter[int] = Counter()
        for text, spent in self.texts.items():
            if any(map(pattern.search, text)):
                matched.update(spent)
        own, every = matched[activity], sum(matched.values())
        if own < PRECISION * every or not own:
            return Rule(name, None)
        others = sum(self.total.values()) - self.total[activity]
        category = Category(tuple(name.split(LEVELS)), pattern)
        shares = own / self.total[activity], (every - own) / others, own / every
        return Rule(name, category, *shares)

    def _telling(self, activity: int, name: str) -> Iterator[str]:
        """Words that raise the odds of an activity."""
        others = sum(self.total.values()) - self.total[activity]
        if not others:
            return  # there is nothing to tell it from
        own_name = set(_words((name, "")))
        for word, spent in self.words.items():
            own = spent[activity]
            if own < _LEAST or own < PRECISION * sum(spent.values()) or word in self.general:
                continue
            if _width(word) < _WIDTH and word not in own_name:
                continue
            rate = own / self.total[activity]
            elsewhere = sum(s / self.total[a] for a, s in spent.items() if a != activity)
            if rate >= _RAISES * (rate + elsewhere + _UNSEEN / others):
                yield word

    def _cover(self, activity: int, words: Iterable[str], most: int) -> list[str]:
        """The words that together match most of an activity's time, each adding a share of it."""
        candidates = set(words)
        seen: dict[str, list[tuple[Text, float]]] = {word: [] for word in candidates}
        for text, spent in self.texts.items():
            if spent[activity]:
                for word in candidates.intersection(_words(text)):
                    seen[word].append((text, spent[activity]))
        chosen: list[str] = []
        covered: set[Text] = set()
        while len(chosen) < most and seen:
            gains = {
                word: sum(seconds for text, seconds in texts if text not in covered)
                for word, texts in seen.items()
            }
            best = min(gains, key=lambda word: (-gains[word], -len(word), word))
            if gains[best] < max(_LEAST, _ADDS * self.total[activity]):
                break
            chosen.append(best)
            covered.update(text for text, _ in seen.pop(best))
        return chosen


def _words(text: Text) -> set[str]:
    """Words in small letters, but as they are written: a rule does not know that ß is ss."""
    return set(_WORD.findall(" ".join(text).lower()))


def _width(word: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in word)


def _looks(session: Session) -> Iterator[tuple[int, Text, float]]:
    """What was in front at each activity, by the corrected diary, and for how long."""
    stretches = session.recogniser.stretches(0.0, session.now())
    place = 0
    for start, end, text in _fronts(session):
        while place < len(stretches) and stretches[place].end <= start:
            place += 1
        for stretch in stretches[place:]:
            if stretch.start >= end:
                break
            if stretch.activity is not None:
                yield stretch.activity, text, min(end, stretch.end) - max(start, stretch.start)


def _fronts(session: Session) -> Iterator[tuple[float, float, Text]]:
    """From when to when a title was in front; after so long without an event, nobody is there."""
    last: Event | None = None
    for _, entry in session.store.entries(refused=lambda _: None):  # the session has told of it
        if isinstance(entry, Event) and entry.kind in (*IN_FRONT, "away"):
            if last is not None and last.title:
                until = min(entry.time, last.time + (last.duration or IDLE_AFTER))
                yield last.time, until, (last.title, last.application)
            last = None if entry.kind == "away" else entry
    if last is not None and last.title:
        until = min(session.now(), last.time + (last.duration or IDLE_AFTER))
        yield last.time, until, (last.title, last.application)
