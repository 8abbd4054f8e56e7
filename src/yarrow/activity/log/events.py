"""What happens on the desktop. Times are seconds since 1970 in UTC."""

from __future__ import annotations

import dataclasses
import math

from yarrow.activity.log.validation import check_time, whole
from yarrow.errors import DataError, did_you_mean

KINDS = (
    "open",
    "close",
    "save",
    "save_as",
    "focus",
    "selection",
    "copy",
    "paste",
    "navigate",
    "mail_read",
    "mail_send",
    "away",
    "back",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the desktop.

    Half a character in its texts becomes U+FFFD, since it could not be stored; see `outside.whole`.

    >>> Event(1_700_000_000.0, "focus", "/home/ada/budget.ods", "budget.ods - Calc").kind
    'focus'
    >>> Event(1_700_000_000.0, "fokus")
    Traceback (most recent call last):
    yarrow.errors.DataError: field 'kind': there is no kind of event 'fokus' (did you mean focus?)
    """

    time: float
    kind: str
    resource: str = ""
    """A path, an address of a page, `mailto:...`, or nothing where a source knows only titles.
    A focus without resource and title says that something is in front that is nobody's business."""
    title: str = ""
    """Of the window."""
    application: str = ""
    duration: float = 0.0
    """How long it lasted, where the source tells; 0: until something else happens."""

    def __post_init__(self) -> None:
        check_time(self.time, "time")
        if self.kind not in _KNOWN:
            hint = did_you_mean(str(self.kind), KINDS)
            raise DataError(f"there is no kind of event {self.kind!r}{hint}", field="kind")
        for name in _TEXTS:
            text = getattr(self, name)
            if not isinstance(text, str):
                raise DataError(f"must be text, not {text!r}", field=name)
            if text != (stored := whole(text)):
                object.__setattr__(self, name, stored)
        if not isinstance(self.duration, int | float) or not 0 <= self.duration < math.inf:
            raise DataError(
                f"must be a number of seconds >= 0, not {self.duration!r}", field="duration"
            )


_KNOWN = frozenset(KINDS)
_TEXTS = ("resource", "title", "application")
