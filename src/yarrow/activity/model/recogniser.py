"""The recogniser: what it knows is a fold over the log, entry by entry, and nothing else."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Literal

from yarrow.activity.log import entries
from yarrow.activity.log.entries import Entry, Event
from yarrow.activity.log.plain import Stateful
from yarrow.activity.model import explain
from yarrow.activity.model.activities import (
    FARTHEST,
    NOTHING,
    Activity,
    check_late,
    check_said,
    final,
)
from yarrow.activity.model.explain import Alarm, Setting, Thought, Unanswered, certainty
from yarrow.activity.model.features import Features, no_features
from yarrow.activity.model.history import History, Resource, Source, Stretch
from yarrow.activity.model.learning import Learner, Scorer, SoftMargin, Weights
from yarrow.activity.model.vectors import InformationVector, VectorBuilder
from yarrow.errors import DataError, check_choice, check_value
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATIENCE = 300.0
"""Seconds after which an alarm counts as unanswered."""

JUST_SAID = 120.0
"""Seconds that a declaration vouches for: minutes that end by then count at once."""

HIGHEST_SCORE = 100.0
"""What a lead counts if there is nothing else to lead."""

FORMAT = 7
"""Of snapshots: raise it whenever the state or what is learned from the same log changes."""


@dataclasses.dataclass(slots=True)
class Question:
    """An alarm and the two vectors that raised it, until it is answered."""

    alarm: Alarm
    before: Features
    now: Features
    line: int
    """Of the diary, of the second vector."""


class Recogniser(Stateful):
    """Recognises which activity a person works at, and learns from what they say.

    Parameters
    ----------
    interval : seconds of an information vector
    C : price of an example that misses its margin
    alpha : how much each lesson lets older ones fade
    threshold : an alarm needs a score above this
    words : one weight for the sum over all words, or besides it one for each word
    without_feedback : what an alarm means that nobody answered for five minutes
    silence : seconds after an alarm without another; what it would have said, it learns from
    repeat : whether an alarm may come again that was wrong, while it is still the same thought
    learner : another way to change the weights than Lemma 5.1
    hold : seconds until a minute counts for the declared activity, if nobody says anything before;
        with 0 it counts at once, and then a switch that was missed at first is hardly found later

    Examples
    --------
    >>> from yarrow.activity import Create, Declare, Event, Recogniser
    >>> r = Recogniser()
    >>> for entry in (
    ...     Create(0.0, 0, "Tax return"), Create(0.0, 1, "Garden"),
    ...     Declare(0.0, 0), Event(0.0, "focus", "/tax.ods", "Tax 2026 - Calc"),
    ...     Declare(900.0, 1), Event(900.0, "focus", "/beds.txt", "beds.txt - Editor"),
    ... ):
    ...     alarms = r.feed(entry)
    >>> alarms = r.feed(Event(1800.0, "focus", "/tax.ods", "Tax 2026 - Calc"))
    >>> alarms = r.tick(1860.0)
    >>> [(alarm.activity, alarm.since) for alarm in alarms]
    [(0, 1800.0)]
    """

    _builder: VectorBuilder
    _scorer: Scorer
    _answers: Unanswered
    _activities: dict[int, Activity]
    _history: History
    _now: float = 0.0
    _declared: int = NOTHING
    _declared_at: float = 0.0
    _told_before: float = 0.0
    _source: Source = "unknown"
    _switched: bool = False  # since the last vector
    _before: Features
    _present: Features
    _ending: NDArray[np.float64]
    _question: Question | None = None
    _refused: int = NOTHING  # an activity that was asked about in vain
    _alarms: int = 0
    _quiet_until: float = 0.0

    def __init__(
        self,
        *,
        interval: float = 60.0,
        C: float = 10.0,
        alpha: float = 0.001,
        threshold: float = 0.2,
        words: Literal["sum", "each"] = "sum",
        without_feedback: Setting = "ignore",
        silence: float = 0.0,
        repeat: bool = False,
        learner: Learner | None = None,
        hold: float = 180.0,
    ) -> None:
        check_value(interval > 0, "interval", interval, "a number of seconds > 0")
        check_value(hold >= 0, "hold", hold, "a number of seconds >= 0")
        check_value(C > 0, "C", C, "> 0")
        check_value(alpha > 0, "alpha", alpha, "> 0")
        check_choice("words", words, ("sum", "each"))
        self.threshold = threshold
        self.silence = silence
        self.repeat = repeat
        self.hold = hold
        self._builder = VectorBuilder(interval)
        self._scorer = Scorer(Weights(words == "each"), learner or SoftMargin(C, alpha))
        self._answers = Unanswered(without_feedback)
        self._activities = {}
        self._history = History()
        self._before = self._present = no_features()
        self._ending = np.zeros(0)

    # -- time ------------------------------------------------------------------------------------

    def feed(self, entry: Entry) -> list[Alarm]:
        """Take the next entry of the log; return the alarms raised on the way to it.

        Time passes up to the entry first. An entry that is older than the newest by up to `LATEST`
        seconds is taken as happening now; an older one, or one that names an unknown activity, is
        refused and changes nothing.
        """
        self.check(entry)
        time = max(entry.time, self._now)
        alarms = self.tick(time)
        if isinstance(entry, Event):
            if entry.time < time:
                entry = dataclasses.replace(entry, time=time)
            vector = self._builder.tell(entry)
            if vector is not None:
                alarms += self._take(vector)
        else:
            self._hear(entry, time)
            self._leave_out()
        return alarms

    def tick(self, now: float) -> list[Alarm]:
        """Let time pass. It changes nothing that the next entry would not change as well."""
        alarms: list[Alarm] = []
        if now > self._now:
            while (vector := self._builder.due(now)) is not None:
                alarms += self._take(vector)
            self._now = now
        return alarms

    def check(self, entry: Entry) -> None:
        """Raise an error if the entry cannot be taken now."""
        if isinstance(entry, Event):  # which has looked at its time itself
            check_late(entry.time, self._now)
        else:
            check_said(entry, self._now, self._activities, self._history.knowledge.activities)

    def _take(self, vector: InformationVector, *, ask: bool = True) -> list[Alarm]:
        """Judge a vector, write it down and learn from what was declared."""
        if self._question is not None and vector.end > self._question.alarm.time + PATIENCE:
            self._unanswered(self._question)
        # What is asked about waits for the answer.
        asked = math.inf if self._question is None else self._question.alarm.since
        self._history.settle(min(vector.end - self.hold, asked))
        self._before = self._present
        if self._switched:
            self._switched = False
            self._teach_switch(vector)
        since = vector.end - self._declared_at if self._declared_at else 0.0
        self._present = self._history.knowledge.features(
            vector, since, self._declared, self._before
        )
        if not self._activities:
            return []
        self._ending, best, lead = self._scorer.best_pairs(self._before, self._present)
        sure = certainty(lead)
        hold = self.hold > 0 and since > JUST_SAID
        self._history.write(vector, self._declared, self._source, best, sure, hold=hold)
        if best != self._refused:
            self._refused = NOTHING
        score = self._score_to_ask(best, lead) if ask else None
        if score is None:
            return []
        if vector.end < self._quiet_until:  # it was told what is right, and should know by now
            self._teach(self._before, self._present, self._last_line())
            return []
        return [self._ask(vector, best, score, sure)]

    def _score_to_ask(self, best: int, lead: float) -> float | None:
        """How far the best activity is ahead of the declared one, if that is worth a question."""
        # Of a pair on both sides of a declared switch it is known what it was.
        line = self._last_line()
        told = line < 1 or self._history.diary.activity[line - 1] != self._declared
        again = self._question is not None and self._question.alarm.activity == best
        if told or again or best in (self._declared, self._refused):
            return None
        if self._declared != NOTHING:
            lead = float(self._ending[best] - self._ending[self._declared])
        score = min(lead, HIGHEST_SCORE)
        return score if score > self.threshold else None

    def _ask(self, vector: InformationVector, best: int, score: float, sure: float) -> Alarm:
        alarm = Alarm(
            self._alarms,
            vector.end,
            self._history.since_when(self._declared, best),
            best,
            _or_none(self._declared),
            score,
            sure,
            explain.reasons(
                vector, self._present, self._history.knowledge, self._scorer.weights, best
            ),
        )
        self._alarms += 1
        self._question = Question(alarm, self._before, self._present, self._last_line())
        self._quiet_until = vector.end + self.silence
        return alarm

    # -- what a person says ----------------------------------------------------------------------

    def _leave_out(self) -> None:
        """Take note of numbers that are archived or were never given; not of the declared one."""
        self._scorer.count = self._history.knowledge.activities
        known, declared = self._activities, self._declared
        out = [one.id for one in known.values() if one.archived and one.id != declared]
        if len(known) < self._scorer.count:
            out += [number for number in range(self._scorer.count) if number not in known]
        self._scorer.out = out

    def _hear(self, entry: entries.Said, time: float) -> None:
        match entry:
            case entries.Declare():
                self._declare(self._find(entry.activity), time)
            case entries.Correct():
                self._correct(entry, time)
            case entries.Confirm():
                self._answer(right=False)
                self._history.settle(time)
            case entries.Associate(resource=resource, activity=None):
                self._history.knowledge.give(resource, None)
            case entries.Associate(resource=resource, activity=int(activity)):
                self._history.knowledge.give(resource, self._find(activity))
            case entries.Create(activity=number, name=name):
                self._history.knowledge.activities = number + 1
                self._activities[number] = Activity(number, name)
            case entries.Rename():
                self._activities[self._find(entry.activity)].name = entry.name
            case entries.Archive():
                self._activities[self._find(entry.activity)].archived = entry.archived
            case entries.Merge():
                self._merge(self._find(entry.activity), self._find(entry.into))

    def _declare(self, activity: int, time: float) -> None:
        """A switch cuts the vector under way; the next one teaches where the switch was."""
        vector = self._builder.cut(time)
        if vector is not None:
            self._take(vector, ask=False)
        if activity != self._declared:  # until now there was no switch
            self._teach(self._before, self._present, self._last_line())
        if self._question is not None:
            self._answers.heard(self._question.alarm, activity == self._question.alarm.activity)
            self._question = None
        self._history.settle(time)
        self._activities[activity].archived = False
        self._switched = activity != self._declared
        self._set(activity, time, "declared")

    def _set(self, activity: int, time: float, source: Source) -> None:
        if activity != self._declared:
            self._told_before, self._declared_at = self._declared_at, time
        self._declared, self._source = activity, source

    def _correct(self, entry: entries.Correct, time: float) -> None:
        activity = self._find(entry.activity)
        self._activities[activity].archived = False
        until = time if entry.until is None else min(entry.until, time)
        self._history.relabel(entry.since, until, activity, "corrected")
        self._history.settle(until)
        if entry.until is None:
            question = self._question
            right = question is not None and question.alarm.activity == activity
            self._set(activity, min(entry.since, time), "declared")
            self._answer(right=right)

    def _answer(self, *, right: bool) -> None:
        """The diary is right now: learn from the vectors that were asked about, or the last."""
        question, self._question = self._question, None
        if question is None:
            self._teach(self._before, self._present, self._last_line())
        else:
            self._answers.heard(question.alarm, right)
            self._refused = NOTHING if right or self.repeat else question.alarm.activity
            self._teach(question.before, question.now, question.line)

    def _merge(self, activity: int, into: int) -> None:
        self._history.merge(activity, into)
        self._activities[activity].archived = True
        self._activities[activity].merged_into = into
        if self._declared == activity:
            self._declared = into
        self._question = None

    def _unanswered(self, question: Question) -> None:
        """Nobody answered: do as the setting says."""
        self._question = None
        alarm = question.alarm
        belief = self._answers.belief(alarm)
        if belief is None:
            return
        if belief > 0.5 and self._declared == (
            NOTHING if alarm.declared is None else alarm.declared
        ):
            self._history.relabel(alarm.since, math.inf, alarm.activity, "recognised")
            self._set(alarm.activity, alarm.since, "recognised")
            self._teach(question.before, question.now, question.line, belief)
        else:
            self._teach(question.before, question.now, question.line, 1 - belief)

    # -- learning --------------------------------------------------------------------------------

    def _teach_switch(self, vector: InformationVector) -> None:
        """Learn from the first vector after a declared switch what an undeclared one looks like.

        The features are those that there would be if nobody had told, and so is the rival: the
        belief that there was no switch. An activity without a past cannot be recognised, so its
        first switch teaches nothing.
        """
        if not len(self._history.diary) or not self._history.knowledge.vectors(self._declared):
            return
        old = self._history.diary.activity[-1]
        if old not in (NOTHING, self._declared):
            since = vector.end - self._told_before if self._told_before else 0.0
            untold = self._history.knowledge.features(vector, since, old, self._before)
            right, wrong = (old, self._declared), (old, old)
            self._scorer.teach(self._before, untold, right, vector.end, wrong=wrong)

    def _teach(self, before: Features, now: Features, line: int, importance: float = 1.0) -> None:
        """Learn that the diary is right about two vectors."""
        if line >= 1:
            right = (self._history.diary.activity[line - 1], self._history.diary.activity[line])
            time = self._history.diary.end[line]
            self._scorer.teach(before, now, right, time, importance=importance)

    # -- what can be asked -----------------------------------------------------------------------

    def thought(self) -> Thought:
        """What the recogniser takes the present activity for, and why."""
        declared = _or_none(self._declared)
        if not len(self._ending) or not np.isfinite(self._ending).any():
            return Thought(self._now, declared, None, 0.0, (), ())
        best, sure = int(self._ending.argmax()), self._history.diary.certainty[-1]
        vector, knowledge = self._history.vectors[-1], self._history.knowledge
        why = explain.reasons(vector, self._present, knowledge, self._scorer.weights, best)
        return Thought(self._now, declared, best, sure, explain.ranking(self._ending), why)

    @property
    def declared(self) -> int | None:
        """The declared activity, or what a correction or a recognition put in its place."""
        return _or_none(self._declared)

    @property
    def refused(self) -> int | None:
        """What the person said no to, while it is still what the recogniser thinks."""
        return _or_none(self._refused)

    def declared_since(self) -> float | None:
        """Since when the declared activity is."""
        return self._declared_at or None

    def unanswered(self) -> Alarm | None:
        """The alarm that nobody has answered yet."""
        return None if self._question is None else self._question.alarm

    def minutes(self) -> list[tuple[float, int]]:
        """When each information vector ended, and its activity (-1: none)."""
        return list(zip(self._history.diary.end, self._history.diary.activity, strict=True))

    def stretches(self, start: float, end: float) -> list[Stretch]:
        """What was done from `start` to `end`."""
        return self._history.diary.stretches(start, end, 2 * self._builder.interval)

    def activities(self) -> list[Activity]:
        """All activities, archived and merged ones too."""
        return [dataclasses.replace(activity) for activity in self._activities.values()]

    def resources(self, activity: int) -> list[Resource]:
        """The resources of an activity, the last used first."""
        return self._history.resources(self._find(activity))

    def folders(self, activity: int | None = None) -> list[tuple[str, float]]:
        """Folders that are likely next, with their probabilities.

        Without an activity, the declared and the recognised one both speak.
        """
        if activity is not None:
            return self._history.knowledge.folders.likely({self._find(activity): 1.0})
        return self._history.knowledge.folders.likely(explain.beliefs(self.thought()))

    def _last_line(self) -> int:
        return len(self._history.diary) - 1

    def _find(self, activity: int) -> int:
        return final(activity, self._activities)

    def state_dict(self) -> dict[str, Any]:
        """Return everything as plain data, which JSON keeps to the last bit."""
        return {"format": FORMAT, **super().state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from plain data, with the parameters that this recogniser has."""
        if state.get("format") != FORMAT:
            raise DataError(
                f"the snapshot has format {state.get('format')!r}, and this version reads {FORMAT}"
            )
        super().load_state_dict(state)
        if self._history.knowledge.activities > (FARTHEST + 1) * len(self._activities):
            raise DataError("the snapshot has more numbers of activities than can have been given")
        self._leave_out()


def _or_none(activity: int) -> int | None:
    return None if activity == NOTHING else activity
