"""Recognises which activity a person works at, from what happens on the desktop.

The model is that of Shen & Dietterich (2009), section 5; docs/activity.md tells how it works.
"""

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
from yarrow.activity.model.explain import Alarm, Thought
from yarrow.activity.model.recogniser import Recogniser

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
