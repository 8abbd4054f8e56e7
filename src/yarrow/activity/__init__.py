"""Recognises which activity a person works at, from what happens on the desktop.

The model is that of Shen & Dietterich (2009), section 5; docs/activity.md tells how it works.
"""

from yarrow.activity.events import Event
from yarrow.activity.recogniser import Recogniser
from yarrow.activity.said import (
    Archive,
    Associate,
    Confirm,
    Correct,
    Create,
    Declare,
    Merge,
    Rename,
)
from yarrow.activity.thoughts import Alarm, Thought

__all__ = [
    "Alarm",
    "Archive",
    "Associate",
    "Confirm",
    "Correct",
    "Create",
    "Declare",
    "Event",
    "Merge",
    "Recogniser",
    "Rename",
    "Thought",
]
