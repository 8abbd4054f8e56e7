"""A generator of desktop life, frozen before the recogniser was tuned.

It is calibrated to the figures that Shen & Dietterich (2009) give of their user: 299 activities,
65,049 information vectors and 3,657 switches in four months. docs/activity-generator.md has its
assumptions on one page. Whatever is measured with it says how a method copes with these
assumptions and not how it copes with people.
"""

from __future__ import annotations

import dataclasses
import random

from reproduction.activity_lab import generator_words as lexicon
from yarrow.activity.log.entries import Event
from yarrow.errors import ParameterError

START = 1_767_571_200.0
"""The midnight before Monday, 5 January 2026, in UTC."""
HOME = "/home/ada"

# How a day passes.
WEEKDAY_MINUTES = (650.0, 60.0)  # at the computer: mean and deviation
WEEKEND_MINUTES = (240.0, 60.0)
WEEKEND_WORKED = 0.6
BREAK_EVERY = 75.0  # minutes of work
BREAK_MINUTES = (7.0, 0.8)  # median, and deviation of the logarithm

# How one activity follows another.
MAIN_MINUTES = (14.3, 0.85)
INTERRUPTION_MINUTES = (3.5, 0.7)
INTERRUPTED = 0.3  # a stretch of main work ends in an interruption
RETURNS = 0.85  # after an interruption, to what was interrupted
RECURRING = 0.03  # of all activities: mail, chat, small requests
TO_RECURRING = 0.5  # of interruptions
RECENT = 0.55  # of main work: one of the last activities again
RECENT_MOST = 12
ZIPF = 1.0
BIRTHS = 1.4  # activity j of n begins at (j/n)**1.4 of all switches
SAME_PROJECT = 0.7  # a new activity belongs to a project that is there already

# What is in front.
DWELL_SECONDS = (24.0, 1.0)
GLOBAL, OF_PROJECT, NEW, STRAY = 0.16, 0.12, 0.17, 0.04  # the rest: its own, known resources
NEW_KINDS = {"document": 0.25, "page": 0.5, "message": 0.25}
FORGET_OWN = 0.75  # the i-th last resource of an activity is used with weight 0.75**i
SAVES, EDITS, CLOSES = 0.15, 0.25, 0.1  # after a look at a resource
CLOSES_AT_SWITCH = 0.35
CLOSES_AT_NIGHT = 0.6
WRONG_WORD = 0.1  # a title has a word of another project

# How switches are declared.
PROMPT = 0.5
DELAY_SECONDS = 25.0  # of the rest, exponential
LONGEST_DELAY = 120.0
MISLABELLED = 0.02


@dataclasses.dataclass(frozen=True, slots=True)
class Switch:
    """A declared switch."""

    time: float
    activity: int
    """What was declared."""
    actual: int
    """What it really was."""


@dataclasses.dataclass(frozen=True, slots=True)
class Life:
    """What happened on a desktop, and what was declared."""

    names: tuple[str, ...]
    """Of the activities."""
    events: tuple[Event, ...]
    switches: tuple[Switch, ...]
    """The first entry declares the activity at the beginning; the others are switches."""


def desktop_life(seed: int, *, activities: int = 299, switches: int = 3657) -> Life:
    """Generate a life with so many activities and switches, and as many days as they take.

    >>> life = desktop_life(0, activities=10, switches=30)
    >>> len(life.names), len(life.switches)
    (10, 31)
    """
    if not 2 <= activities <= switches + 1:
        raise ParameterError(
            f"'activities' must be from 2 to switches + 1 ({switches + 1}), not {activities!r}."
        )
    return _Person(seed, activities, switches).live()


@dataclasses.dataclass(slots=True, eq=False)
class _Resource:
    address: str
    title: str
    application: str
    kind: str


@dataclasses.dataclass(slots=True, eq=False)
class _Project:
    words: list[str]
    folder: str
    shared: list[_Resource]
    size: int = 0


@dataclasses.dataclass(slots=True, eq=False)
class _Activity:
    name: str
    words: list[str]
    project: _Project
    popularity: float
    own: list[_Resource]  # the last used at the end


class _Person:
    def __init__(self, seed: int, activities: int, switches: int) -> None:
        self.random = random.Random(f"yarrow desktop life {seed}")
        self.most = activities
        self.switches = switches
        self.people = [self._made_up().title() for _ in range(40)]
        self.projects: list[_Project] = []
        self.activities: list[_Activity] = []
        ranks = list(range(activities))
        self.random.shuffle(ranks)
        self.popularity = [1.0 / (rank + 2) ** ZIPF for rank in ranks]
        self.births = [int(switches * (j / activities) ** BIRTHS) for j in range(activities)]
        self.recurring = max(2, round(RECURRING * activities))
        self.global_resources = [
            _Resource("mail:inbox", "Inbox - Thunderbird", "Thunderbird", "message"),
            _Resource("https://calendar.example", "Calendar", "Firefox", "page"),
            _Resource("https://search.example", "Search", "Firefox", "page"),
            _Resource("https://chat.example", "Chat", "Firefox", "page"),
            _Resource(HOME, "Home - Files", "Files", "folder"),
        ]
        self.count = 0
        self.time = START
        self.day = -1
        self.left = 0.0  # minutes of this day
        self.until_break = 0.0
        self.events: list[Event] = []
        self.open: dict[str, _Resource] = {}

    # -- which activity --------------------------------------------------------------------------

    def live(self) -> Life:
        """Go through all switches."""
        declared: list[Switch] = []
        recent: list[int] = []
        interrupted: int | None = None
        current = -1
        self._new_day()
        for n in range(self.switches + 1):
            short = False
            if len(self.activities) < self.most and n >= self.births[len(self.activities)]:
                self._begin_activity()
                following = len(self.activities) - 1
                interrupted = None
            elif interrupted is not None and self.random.random() < RETURNS:
                following, interrupted = interrupted, None
            elif interrupted is None and self.random.random() < INTERRUPTED:
                following, interrupted, short = self._interruption(current), current, True
            else:
                following, interrupted = self._another(current, recent), None
            if current >= 0:
                self._leave()
            declared.append(self._declare(declared, following, recent))
            current = following
            if current in recent:
                recent.remove(current)
            recent.insert(0, current)
            self._work(current, INTERRUPTION_MINUTES if short else MAIN_MINUTES)
        self.events.append(Event(self.time, "away"))
        names = tuple(activity.name for activity in self.activities)
        return Life(names, tuple(sorted(self.events, key=lambda e: e.time)), tuple(declared))

    def _begin_activity(self) -> None:
        number = len(self.activities)
        if self.projects and self.random.random() < SAME_PROJECT:
            sizes = [project.size + 1 for project in self.projects]
            project = self.random.choices(self.projects, sizes)[0]
        else:
            project = self._begin_project()
        project.size += 1
        thing = self.random.choice(lexicon.OBJECTS)
        words = [thing, self.random.choice(lexicon.OBJECTS), self._made_up()]
        if self.random.random() < 0.5:
            words.append(self._made_up())
        name = f"{self.random.choice(lexicon.VERBS)} {project.words[0]} {thing}"
        known = {activity.name for activity in self.activities}
        while name in known:
            name += f" {words[-1]}" if words[-1] not in name else " again"
        self.activities.append(_Activity(name, words, project, self.popularity[number], []))

    def _begin_project(self) -> _Project:
        number = len(self.projects)
        names = lexicon.PROJECTS
        first = names[number] if number < len(names) else self._made_up()
        project = _Project([first, self._made_up()], f"{HOME}/{first}", [])
        self.projects.append(project)
        for kind in ("document", "document", "page", "page"):
            project.shared.append(self._make(kind, project, []))
        return project

    def _interruption(self, current: int) -> int:
        if self.random.random() < TO_RECURRING:
            choice = self.random.randrange(min(self.recurring, len(self.activities)))
            if choice != current:
                return choice
        return self._by_popularity(current)

    def _another(self, current: int, recent: list[int]) -> int:
        known = [a for a in recent[:RECENT_MOST] if a != current]
        if known and self.random.random() < RECENT:
            return self.random.choices(known, [1.0 / (i + 1) for i in range(len(known))])[0]
        return self._by_popularity(current)

    def _by_popularity(self, current: int) -> int:
        """Any other activity; before there are two, a new one."""
        if len(self.activities) < 2:
            self._begin_activity()
            return len(self.activities) - 1
        weights = [0.0 if a == current else p.popularity for a, p in enumerate(self.activities)]
        return self.random.choices(range(len(weights)), weights)[0]

    def _declare(self, before: list[Switch], actual: int, recent: list[int]) -> Switch:
        said = actual
        last = before[-1] if before else None
        if last is not None and self.random.random() < MISLABELLED:
            project = self.activities[actual].project
            alike = [
                a for a in range(len(self.activities)) if self.activities[a].project is project
            ]
            wrong = [a for a in (*alike, *recent[:5]) if a not in (actual, last.activity)]
            said = self.random.choice(wrong) if wrong else actual
        if last is not None:
            # A switch is declared before the next one, and as something else than that.
            label = last.actual if said == last.activity else last.activity
            before[-1] = Switch(min(last.time, self.time - 1), label, last.actual)
        delay = 0.0
        if self.random.random() >= PROMPT:
            delay = min(self.random.expovariate(1 / DELAY_SECONDS), LONGEST_DELAY)
        return Switch(self.time + delay, said, actual)

    # -- how time passes -------------------------------------------------------------------------

    def _new_day(self) -> None:
        while True:
            self.day += 1
            weekday = self.day % 7 < 5
            if weekday or self.random.random() < WEEKEND_WORKED:
                break
        self.left = max(60.0, self.random.gauss(*(WEEKDAY_MINUTES if weekday else WEEKEND_MINUTES)))
        if self.events:
            for resource in list(self.open.values()):
                if self.random.random() < CLOSES_AT_NIGHT:
                    self._close(resource)
            self.events.append(Event(self.time, "away"))
        hours = 8.0 if weekday else 10.0
        morning = START + self.day * 86400 + (hours + self.random.uniform(0, 1)) * 3600
        self.time = max(morning, self.time + 4 * 3600)
        self.until_break = self.random.expovariate(1 / BREAK_EVERY)
        self.events.append(Event(self.time, "back"))

    def _work(self, activity: int, minutes: tuple[float, float]) -> None:
        left = max(0.7, self._lognormal(minutes))
        while left > 0:
            if self.left <= 0:
                self._new_day()
            elif self.until_break <= 0:
                self._take_break()
            seconds = min(max(2.0, self._lognormal(DWELL_SECONDS)), 600.0, 60 * left)
            self._look(self._choose(activity), seconds)
            left -= seconds / 60
            self.left -= seconds / 60
            self.until_break -= seconds / 60

    def _take_break(self) -> None:
        self.events.append(Event(self.time, "away"))
        self.time += 60 * self._lognormal(BREAK_MINUTES)
        self.events.append(Event(self.time, "back"))
        self.until_break = self.random.expovariate(1 / BREAK_EVERY)

    def _leave(self) -> None:
        """Some documents are closed at a switch."""
        for resource in list(self.open.values()):
            if self.random.random() < CLOSES_AT_SWITCH:
                self._close(resource)

    def _look(self, resource: _Resource, seconds: float) -> None:
        """Turn to a resource, do something there, and perhaps close it."""
        title = self._title_now(resource)
        kind = "focus"
        if resource.address not in self.open:
            kind = {"document": "open", "page": "navigate", "message": "mail_read"}.get(
                resource.kind, "focus"
            )
            if resource.kind in ("document", "message"):
                self.open[resource.address] = resource
                if resource.kind == "message":
                    self._event(0.0, "open", resource, title)
        self._event(0.0, kind, resource, title)
        if self.random.random() < EDITS:
            edit = self.random.choice(("selection", "copy", "paste"))
            self._event(seconds * self.random.random(), edit, resource, title)
        if resource.kind == "document" and self.random.random() < SAVES:
            self._event(seconds * 0.99, "save", resource, title)
        if resource.kind == "message" and self.random.random() < SAVES:
            self._event(seconds * 0.99, "mail_send", resource, title)
        self.time += seconds
        if resource.address in self.open and self.random.random() < CLOSES:
            self._close(resource)

    def _event(self, later: float, kind: str, resource: _Resource, title: str) -> None:
        self.events.append(
            Event(self.time + later, kind, resource.address, title, resource.application)
        )

    def _close(self, resource: _Resource) -> None:
        del self.open[resource.address]
        self._event(0.0, "close", resource, resource.title)

    # -- what is in front ------------------------------------------------------------------------

    def _choose(self, number: int) -> _Resource:
        activity = self.activities[number]
        chance = self.random.random()
        if chance < GLOBAL:
            return self.random.choice(self.global_resources)
        if chance < GLOBAL + OF_PROJECT:
            return self.random.choice(activity.project.shared)
        if chance < GLOBAL + OF_PROJECT + STRAY:
            other = self.activities[self._by_popularity(number)]
            return self._known(other) or self.random.choice(self.global_resources)
        known = self._known(activity)
        if known is None or chance < GLOBAL + OF_PROJECT + STRAY + NEW:
            kind = self.random.choices(list(NEW_KINDS), list(NEW_KINDS.values()))[0]
            new = self._make(kind, activity.project, activity.words)
            activity.own.append(new)
            return new
        activity.own.remove(known)
        activity.own.append(known)
        return known

    def _known(self, activity: _Activity) -> _Resource | None:
        if not activity.own:
            return None
        place = len(activity.own)
        while place == len(activity.own):  # geometric, and again if that is too far back
            place = 0
            while place < len(activity.own) and self.random.random() < FORGET_OWN:
                place += 1
        return activity.own[-1 - place]

    def _make(self, kind: str, project: _Project, words: list[str]) -> _Resource:
        self.count += 1
        general = self.random.choice
        some = [project.words[0]] if self.random.random() < 0.5 else []
        if words:
            some += self.random.sample(words, self.random.choice((1, 1, 2)))
        if self.random.random() < 0.2:
            some.append(project.words[1])
        if self.random.random() < WRONG_WORD:
            some.append(self.random.choice(self.projects).words[0])
        if kind == "document":
            name = " ".join((*some, general(lexicon.GENERAL)))
            address = f"{project.folder}/{'-'.join(name.split())}-{self.count}.odt"
            return _Resource(address, f"{name}.odt - LibreOffice Writer", "soffice", kind)
        if kind == "message":
            subject = " ".join((*some, general(lexicon.GENERAL)))
            sender = general(self.people)
            title = f"Re: {subject} - {sender} - Thunderbird"
            return _Resource(f"mail:{self.count}", title, "Thunderbird", kind)
        # Pages of the world know less of a person's words.
        some = [word for word in some if self.random.random() < 0.7]
        some += self.random.choices(lexicon.GENERAL, k=self.random.choice((2, 3, 4)))
        self.random.shuffle(some)
        site = general(lexicon.SITES)
        address = f"https://{site.lower()}.example/{self.count}"
        return _Resource(address, f"{' '.join(some)} - {site} - Firefox", "Firefox", kind)

    def _title_now(self, resource: _Resource) -> str:
        """The title of a search or of the inbox changes."""
        if resource.address == "https://search.example":
            asked = " ".join(self.random.choices(lexicon.GENERAL, k=2))
            return f"{asked} - Search - Firefox"
        if resource.address == "mail:inbox":
            return f"Inbox ({self.random.randrange(30)}) - Thunderbird"
        return resource.title

    # -- numbers and words -----------------------------------------------------------------------

    def _lognormal(self, median_and_deviation: tuple[float, float]) -> float:
        median, deviation = median_and_deviation
        return median * self.random.lognormvariate(0.0, deviation)

    def _made_up(self) -> str:
        return "".join(self.random.choices(lexicon.SYLLABLES, k=self.random.choice((2, 3))))
