"""What the page can ask and say, as plain data: what each request means, without the network."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import urllib.parse
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Archive, Associate, Merge, Rename
from yarrow.activity.log.validation import check_moment, typed
from yarrow.activity.model.explain import certainty
from yarrow.activity.model.history import Stretch
from yarrow.activity.sources.spans import is_web_address
from yarrow.errors import ParameterError

_DAY = 86400.0
_MOST_OPENED = 12  # resources at once
_MOST_FOLDERS = 6
_MOST_RESOURCES = 200
_UNSURE = 0.5  # stretches that are less certain are marked for review
_WORTH_A_REVIEW = 120.0  # seconds
_TOUCHING = 90.0  # seconds between stretches that look like one
_LONGEST_NUMBER = 20  # digits


class Requests:
    """Answers requests about a session.

    Parameters
    ----------
    session : whose state is told and changed
    opener : opens a resource on the desktop
    sources : tells what is known about the sources, for the page's first line
    pause : stops a demo, or lets it go on; None where the day is real
    """

    def __init__(
        self,
        session: Session,
        opener: Callable[[str], None] | None = None,
        sources: Callable[[], list[dict[str, Any]]] = list,
        pause: Callable[[], None] | None = None,
    ) -> None:
        self.session = session
        self._open = opener or open_resource
        self._sources = sources
        self._pause = pause
        self._asks: dict[str, Callable[[dict[str, Any]], Any]] = {
            "state": self.state,
            "resources": self._resources,
            "folders": self._folders,
        }
        self._says: dict[str, Callable[[dict[str, Any]], Any]] = {
            "declare": lambda asked: session.declare(_which(asked)),
            "correct": lambda asked: session.correct(
                _which(asked), self._moment(asked, "since"), self._moment(asked, "until")
            ),
            "accept": lambda asked: session.answer(_number(asked, "alarm"), right=True),
            "refuse": lambda asked: session.answer(_number(asked, "alarm"), right=False),
            "associate": self._associate,
            "rename": lambda asked: session.say(
                Rename, _number(asked, "activity"), _text(asked, "name")
            ),
            "merge": lambda asked: session.say(
                Merge, _number(asked, "activity"), _number(asked, "into")
            ),
            "archive": lambda asked: session.say(Archive, _number(asked, "activity")),
            "forget": self._forget,
            "open": lambda asked: self._open_known(_text(asked, "resource")),
            "open-all": self._open_all,
            "pause": lambda _: self._pause() if self._pause else None,
        }

    def answer(self, method: str, what: str, asked: dict[str, Any]) -> Any:
        """The answer to a request; None if there is no such request."""
        if method == "GET":
            ask = self._asks.get(what)
            return None if ask is None else ask(asked)
        act = self._says.get(what)
        if act is None:
            return None
        told = act(asked)
        return told if isinstance(told, dict) else {"version": self.session.version}

    # -- questions ------------------------------------------------------------------------------

    def state(self, asked: dict[str, Any]) -> dict[str, Any]:
        """All that the page shows of a day, but for the resources."""
        session = self.session
        with session.changed:
            now = session.now()
            start = _time(asked, "start", optional=True)
            start = now - now % _DAY if start is None else start
            end = _time(asked, "end", optional=True) or start + _DAY
            thought, alarm = session.recogniser.thought(), session.alarm()
            ranked = _shares(thought.ranked)
            declared_since = session.recogniser.declared_since()
            since = (declared_since or now) if alarm is None else alarm.since
            shares = {one["activity"]: one["certainty"] for one in ranked}
            return {
                "version": session.version,
                "now": now,
                "start": start,
                "end": end,
                "demo": self._pause is not None,
                "paused": getattr(session.clock, "paused", False),
                "declared": {"activity": thought.declared, "since": declared_since},
                "thought": None if thought.activity is None else asdict(thought) | {
                    "ranked": ranked,
                },
                "alarm": None if alarm is None else asdict(alarm) | {
                    "certainty": shares.get(alarm.activity, alarm.certainty),
                },
                "correction": {  # what a correction of the present is about
                    "since": since,
                    "ranked": _ranked(session.recogniser.stretches(max(since, now - _DAY), now)),
                    "refused": session.recogniser.refused,
                },
                "activities": [asdict(one) for one in session.activities()],
                "stretches": _joined(session.recogniser.stretches(start, end)),
                "folders": self._folders({}),
                "sources": self._sources(),
            }  # fmt: skip

    def _folders(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        with self.session.changed:
            found = self.session.recogniser.folders()[:_MOST_FOLDERS]
        return [{"folder": folder, "probability": share} for folder, share in found]

    def _resources(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        with self.session.changed:
            number = self.session.activity(_number(asked, "activity"))
            found = self.session.recogniser.resources(number)[:_MOST_RESOURCES]
        return [asdict(one) | {"openable": openable(one.resource) is not None} for one in found]

    # -- what is said ---------------------------------------------------------------------------

    def _associate(self, asked: dict[str, Any]) -> None:
        resource = _text(asked, "resource")
        with self.session.changed:
            self._check_known(resource)
            self.session.say(Associate, resource, self.session.activity(_which(asked)))

    def _forget(self, asked: dict[str, Any]) -> dict[str, int]:
        if "resource" in asked:
            return {"forgotten": self.session.forget(resource=_text(asked, "resource"))}
        span = {"start": _time(asked, "start"), "end": _time(asked, "end")}
        return {"forgotten": self.session.forget(**span)}

    def _moment(self, asked: dict[str, Any], name: str) -> Any:
        """A time that can have been; only the end of a span may be left out."""
        time = _time(asked, name, optional=name == "until")
        return None if time is None else check_moment(time, self.session.now(), name)

    def _check_known(self, resource: str) -> None:
        with self.session.changed:
            if not self.session.store.knows(resource):
                raise ParameterError(f"nothing is recorded about {resource!r}.")

    def _open_known(self, resource: str) -> None:
        self._check_known(resource)
        place = openable(resource)
        if place is None:
            raise ParameterError(f"{resource}: only existing files and web pages can be opened.")
        self._open(place)

    def _open_all(self, asked: dict[str, Any]) -> dict[str, int]:
        found = [one["resource"] for one in self._resources(asked) if one["openable"]]
        for resource in found[:_MOST_OPENED]:
            self._open_known(resource)
        return {"opened": len(found[:_MOST_OPENED])}


def openable(resource: str) -> str | None:
    """What to hand to the desktop: a web page, or a file that exists; None for anything else."""
    if is_web_address(resource):
        return resource if _parts(resource).hostname else None
    path = resource
    if resource.startswith("file://"):
        path = urllib.parse.unquote(_parts(resource).path)
    path = os.path.expanduser(path) if path.startswith("~/") else path
    return path if path.startswith("/") and os.path.exists(path) else None


def _parts(address: str) -> urllib.parse.SplitResult:
    try:
        return urllib.parse.urlsplit(address)
    except ValueError:  # such as http://[
        return urllib.parse.SplitResult("", "", "", "", "")


def open_resource(place: str) -> None:
    """Let the desktop open a page or a file, as a double click would."""
    program = "open" if sys.platform == "darwin" else "xdg-open"
    if shutil.which(program) is None:
        raise ParameterError(f"there is no program {program!r} to open it.")
    start(program, place)


def start(*words: str) -> None:
    """Run a program of the desktop, beside this one and without a word from it."""
    silent = subprocess.DEVNULL
    subprocess.Popen(words, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)


def _shares(ranked: tuple[tuple[int, float], ...]) -> list[dict[str, Any]]:
    """Scores as shares of one: of two activities, the certainty of the better."""
    best = max((score for _, score in ranked), default=0.0)
    sure = [certainty(score - best) for _, score in ranked]  # 1/2 for the best, less for others
    weights = [share / (1.0 - share) for share in sure]
    return [
        {"activity": activity, "certainty": weight / sum(weights)}
        for (activity, _), weight in zip(ranked, weights, strict=True)
    ]


def _ranked(stretches: list[Stretch]) -> list[dict[str, Any]]:
    """What a time is taken for, the likeliest first: of each activity, the share of the time."""
    sums: dict[int, float] = {}
    total = 1e-9
    for one in stretches:
        length = one.end - one.start
        total += length
        doubt = 0.0 if one.thought == one.activity else 1.0 - one.certainty
        for activity, share in ((one.activity, one.certainty), (one.thought, doubt)):
            if activity is not None and share > 0.0:
                sums[activity] = sums.get(activity, 0.0) + share * length
    order = sorted(sums, key=lambda activity: -sums[activity])
    return [{"activity": one, "certainty": sums[one] / total} for one in order]


def _joined(stretches: list[Stretch]) -> list[dict[str, Any]]:
    """Stretches as a page shows them: short changes of thought make no stretch of their own."""
    groups: list[tuple[bool, list[Stretch]]] = []
    for one in stretches:
        unsure = (
            one.source != "corrected" and one.activity is not None
            and one.certainty < _UNSURE and one.end - one.start >= _WORTH_A_REVIEW
        )  # fmt: skip
        last = groups[-1] if groups else None
        if (
            last is not None
            and one.start - last[1][-1].end <= _TOUCHING
            and (last[1][-1].activity, last[0]) == (one.activity, unsure)
        ):
            last[1].append(one)
        else:
            groups.append((unsure, [one]))
    return [_told(unsure, group) for unsure, group in groups]


def _told(unsure: bool, group: list[Stretch]) -> dict[str, Any]:
    """A stretch of the page; what it is taken for is said and offered in the same order."""
    ranked, first = _ranked(group), group[0]
    shares = {one["activity"]: one["certainty"] for one in ranked}
    return {
        "start": first.start,
        "end": group[-1].end,
        "activity": first.activity,
        "certainty": shares.get(first.activity, 0.0),
        "source": first.source,
        "ranked": ranked,
        "unsure": unsure,
    }


def _which(asked: dict[str, Any]) -> int | str:
    """An activity by number, or by the name that was typed."""
    return _text(asked, "name") if "name" in asked else _number(asked, "activity")


def _text(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{name!r} must be a text.")
    return typed(value, repr(name))


def _number(asked: dict[str, Any], name: str) -> int:
    value = asked.get(name)
    if isinstance(value, str) and value.isdecimal() and len(value) < _LONGEST_NUMBER:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(f"{name!r} must be a whole number.")
    return value


def _time(asked: dict[str, Any], name: str, *, optional: bool = False) -> Any:
    value = asked.get(name)
    if value is None and optional:
        return None
    try:
        time = math.nan if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        time = math.nan
    if not math.isfinite(time):
        raise ParameterError(f"{name!r} must be a number of seconds since 1970.")
    return time
