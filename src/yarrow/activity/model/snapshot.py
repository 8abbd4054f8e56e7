"""The state of a recogniser as plain data: a long log need not be replayed from its start."""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import TYPE_CHECKING, Any

from yarrow.activity.model.explain import Alarm, Reason
from yarrow.activity.model.features import Features
from yarrow.activity.model.records import Activity, Question
from yarrow.activity.model.vectors import InformationVector
from yarrow.errors import DataError
from yarrow.lazy import np

if TYPE_CHECKING:
    from yarrow.activity.model.recogniser import Recogniser

FORMAT = 5
"""Raise it whenever the state or what is learned from the same log changes."""

_PLAIN = (
    "_now",
    "_declared",
    "_declared_at",
    "_told_before",
    "_source",
    "_switched",
    "_refused",
    "_alarms",
    "_quiet_until",
)


def take(recogniser: Recogniser) -> dict[str, Any]:
    """Return the state; see `Recogniser.state_dict`."""
    r = recogniser
    return {
        "format": FORMAT,
        "builder": r._builder.state_dict(),
        "knowledge": r._history.knowledge.state_dict(),
        "weights": r._scorer.weights.state_dict(),
        "answers": r._answers.state_dict(),
        "activities": [dataclasses.asdict(activity) for activity in r._activities.values()],
        "diary": r._history.diary.state_dict(),
        "vectors": [_vector(vector) for vector in r._history.vectors],
        "held": list(r._history.held),
        "titles": [[resource, *title] for resource, title in r._history.titles.items()],
        "plain": {name: getattr(r, name) for name in _PLAIN},
        "before": _features(r._before),
        "present": _features(r._present),
        "ending": r._ending.tolist(),
        "question": _question(r._question),
    }


def restore(recogniser: Recogniser, state: dict[str, Any]) -> None:
    """Put the state back; see `Recogniser.load_state_dict`."""
    if state.get("format") != FORMAT:
        raise DataError(
            f"the snapshot has format {state.get('format')!r}, and this version reads {FORMAT}"
        )
    r = recogniser
    r._builder.load_state_dict(state["builder"])
    r._history.knowledge.load_state_dict(state["knowledge"])
    r._scorer.weights.load_state_dict(state["weights"])
    r._answers.load_state_dict(state["answers"])
    r._activities = {fields["id"]: Activity(**fields) for fields in state["activities"]}
    r._history.diary.load_state_dict(state["diary"])
    r._history.vectors = deque(InformationVector(*fields) for fields in state["vectors"])
    r._history.held = deque(state["held"])
    r._history.titles = {resource: (title, used) for resource, title, used in state["titles"]}
    for name in _PLAIN:
        setattr(r, name, state["plain"][name])
    r._before, r._present = _features_back(state["before"]), _features_back(state["present"])
    r._ending = np.array(state["ending"], float)
    r._question = _question_back(state["question"])
    r._leave_out()


def _vector(vector: InformationVector) -> list[Any]:
    return [getattr(vector, field.name) for field in dataclasses.fields(vector)]


def _features(features: Features) -> dict[str, Any]:
    return {
        "of_activities": features.of_activities.tolist(),
        "of_switch": features.of_switch,
        "words": list(features.words.items()),
        "of_words": features.of_words.tolist(),
    }


def _features_back(state: dict[str, Any]) -> Features:
    return Features(
        np.array(state["of_activities"], float),
        list(state["of_switch"]),
        dict(state["words"]),
        np.array(state["of_words"], float),
    )


def _question(question: Question | None) -> dict[str, Any] | None:
    if question is None:
        return None
    return {
        "alarm": dataclasses.asdict(question.alarm),
        "before": _features(question.before),
        "now": _features(question.now),
        "line": question.line,
    }


def _question_back(state: dict[str, Any] | None) -> Question | None:
    if state is None:
        return None
    fields = dict(state["alarm"])
    fields["reasons"] = tuple(Reason(**reason) for reason in fields["reasons"])
    return Question(
        Alarm(**fields),
        _features_back(state["before"]),
        _features_back(state["now"]),
        state["line"],
    )
