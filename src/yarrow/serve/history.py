"""Looking back and taking back: undo, correct, erase, the model as of an event, what changed.

A label is taken back by a note in the log, in the transaction that also makes all later snapshots
void. So whatever happens next, a model that is loaded is the one that never saw it; those in memory
are replayed in the background and swapped.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from yarrow.evaluate.difference import Difference, diff
from yarrow.online.learners import is_regression
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import (
    Block,
    Learned,
    content_of,
    pack,
    relabelled,
    rows_of,
    unpack_block,
    unpack_row,
)
from yarrow.serve.log import BLOCK, LEARN, UNDO, hashed
from yarrow.serve.models import Model
from yarrow.serve.service import Service
from yarrow.serve.writer import Operation

_RETRACT = object()
Target = tuple[int, int]
"""An event, and a line of a block or -1."""


Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Selection(msgspec.Struct, forbid_unknown_fields=True):
    """Which labels: by event, by id, by lines of a stream, or all of a source or of a time."""

    events: list[Number] = []
    ids: list[str] = []
    stream: str | None = None
    lines: list[Number] = []
    source: str | None = None
    since: float | None = None
    until: float | None = None


def undoing(
    service: Service,
    name: str,
    selection: Selection,
    *,
    label: Any = _RETRACT,
    id: str | None = None,
    erase: bool = False,
) -> Operation:
    """Retract labels, or give them another one; `erase` leaves no byte of them, either."""
    key = None if id is None else hashed(id)

    def write() -> tuple[Model, int, list[Target]] | int:
        model = service.model(name)
        known = None if key is None else service.log.known(model.number, key)
        if known is not None:
            return known
        targets = _targets(service, model, selection)
        oldest = min(event for event, _ in targets)
        if model.champion.since >= oldest:
            raise ServiceError(
                f"Event {oldest} came before the model file that {name} started from, so it "
                "cannot be undone.",
                409,
            )
        new = None if label is _RETRACT else pack(label)
        _check_label(service, model, targets, label)
        answer: dict[str, Any] = {"labels": len(targets)}
        if erase:
            answer["before"] = _digest(service.live(model.champion))
        for event, line in targets:
            service.log.change(event, line, new)
            if erase:
                _blank(service, model, event, line)
        for version in model.versions.values():
            service.log.remove_snapshots(version.number, max(oldest, version.since + 1))
        content = pack({"targets": targets if not erase else len(targets), "label": new})
        number = service.log.append(model.number, UNDO, content, id=key, lines=len(targets))
        service.log.keep_answer(number, pack(answer), refused=False)
        return model, number, targets

    def apply(found: Any) -> dict[str, Any]:
        if isinstance(found, int):
            return service.repeated(found)
        model, number, targets = found
        if erase:  # before it is acknowledged, and before a replay reads
            service.purge()
        oldest = min(event for event, _ in targets)
        for version in model.versions.values():
            version.snapshots.remove_unlisted()
            if version.since < oldest and (version.learner is not None or version.rebuilding):
                service.rebuilder.request(version)
        service.watch.corrected(name, {event for event, _ in targets})
        return service.answer(number)

    return Operation(write, apply)


def as_of(
    service: Service,
    name: str,
    *,
    event: int | None = None,
    time: float | None = None,
    version: int | None = None,
    from_start: bool = False,
) -> Any:
    """A model as it was after an event or at a time, with the labels that are known today."""
    model = service.model(name)
    of = model.versions.get(model.champion_number if version is None else version)
    if of is None:
        raise ServiceError(f"{name} has no version {version}.", 404)
    if event is None:
        event = event_at(service, name, time)
    upto = service.log.committed if event is None else min(event, service.log.committed)
    if upto < of.since:
        raise ServiceError(f"{name} began after event {of.since}.", 404)
    twin = of.begun(service.reader, of.since if from_start else upto)
    twin.fold(service.reader, upto)
    return twin.learner


def event_at(service: Service, name: str, when: float | None) -> int | None:
    """The last event of a model at a time; None without a time."""
    if when is None:
        return None
    return service.reader.last_event_at(service.model(name).number, when)


def proof(service: Service, name: str, event: int) -> dict[str, Any]:
    """That an erasure is one: hashes of the model before, after, and of one that never saw it."""
    stored = service.answer(event)
    if "before" not in stored:
        raise ServiceError(f"Event {event} of {name} is not an erasure.", 404)
    after = _digest(as_of(service, name, event=event))
    never = _digest(as_of(service, name, event=event, from_start=True))
    return {"before": stored["before"], "after": after, "never_saw": never, "equal": after == never}


def difference(
    service: Service, name: str, since: int | None = None, until: int | None = None, n: int = 20
) -> tuple[Difference, list[dict[str, Any]]]:
    """What changed between two events, and the labels that brought the features that changed most.

    A label's part is how much of the change its row could bring: the values of those features.
    """
    since = service.model(name).champion.since if since is None else since
    until = service.log.committed if until is None else until
    if until < since:
        raise ServiceError(f"Event {until} comes before event {since}.")
    before, after = (as_of(service, name, event=event) for event in (since, until))
    found = diff(before, after, n)
    moved = {change.feature: abs(change.amount) for change in found.weights}
    labels: list[dict[str, Any]] = []
    for event, line, row, _ in rows(service, name, since, until):
        share = sum(
            moved.get(name, 0.0) * abs(value) if not isinstance(value, str)
            else moved.get(f"{name}={value}", 0.0)
            for name, value in row.row.items() if value is not None
        )  # fmt: skip
        if share:
            labels.append({"event": event, "line": line, "label": row.label, "share": share})
    return found, sorted(labels, key=lambda item: -item["share"])[:n]


def rows(service: Service, name: str, after: int, upto: int) -> Any:
    """The rows of a model's events with event, line (-1: it is the event) and time."""
    reader = service.reader
    found = reader.chunks(service.model(name).number, after, upto)
    for event in itertools.chain.from_iterable(found):
        content = content_of(event, reader.changes(event.number) if event.has_changes else None)
        if isinstance(content, Block):
            for line, row in rows_of(content, Learned()):
                yield event.number, line, row, event.time
        elif content is not None:
            yield event.number, -1, content, event.time


# -- which ones ------------------------------------------------------------------------------------


def _targets(service: Service, model: Model, selection: Selection) -> list[Target]:
    found: list[Target] = []
    if selection.events or selection.ids:
        numbers = list(selection.events)
        for id in selection.ids:
            known = service.log.known(model.number, hashed(id))
            if known is None:
                raise ServiceError(f"{model.name} has no event with the id {id!r}.", 404)
            numbers.append(known)
        found += [(_event_of(service, model, number), -1) for number in numbers]
    if selection.stream is not None:
        found += _lines(service, model, selection.stream, selection.lines)
    if selection.source is not None or selection.since is not None or selection.until is not None:
        span = selection.since, selection.until
        chosen = service.log.labelled(model.number, selection.source, *span)
        found += [(event, -1) for event in chosen]
    if not found:
        raise ServiceError(f"{model.name} has no such label.", 404)
    return found


def _event_of(service: Service, model: Model, number: int) -> int:
    of, kind, content = service.log.event(number)
    if of != model.number or kind not in (LEARN, BLOCK):
        raise ServiceError(f"{model.name} has no label with the number {number}.", 404)
    if content is None:
        raise ServiceError(f"Event {number} of {model.name} was erased.", 410)
    return number


def _lines(service: Service, model: Model, stream: str, lines: Sequence[int]) -> list[Target]:
    """The lines of a stream, each with its event; all of them if none is named."""
    key = hashed(stream)
    if not lines:
        return [(event, -1) for event in service.log.stream_events(model.number, key)]
    found = []
    for line in lines:
        event = service.log.event_of_line(model.number, key, line)
        if event is None or line < 1:
            raise ServiceError(f"The stream {stream!r} has no line {line}.", 404)
        found.append((event, line))
    for event in {event for event, _ in found}:
        _event_of(service, model, event)
    return found


def _check_label(service: Service, model: Model, targets: Sequence[Target], label: Any) -> None:
    """Refuse a label that the model would refuse at each replay, or that a text could not have."""
    if label is _RETRACT:
        return
    learner = service.live(model.champion)
    if is_regression(learner):
        if not isinstance(label, (int, float)) or isinstance(label, bool):
            raise ServiceError(f"{model.name} learns numbers: {label!r} is none.", 422)
    elif isinstance(label, float):
        raise ServiceError("A class must be a string, an integer or a boolean.", 422)
    for event in {event for event, _ in targets}:
        _, kind, content = service.log.event(event)
        if kind == BLOCK:
            relabelled(unpack_block(content).format, b"{}", label)


def _blank(service: Service, model: Model, event: int, line: int) -> None:
    """Take the bytes of a label out of the log, and those of the ticket that its row had.

    Those of the ticket first: after a crash in between, the label can still be erased.
    """
    _, kind, content = service.log.event(event)
    if kind == LEARN or line < 0:
        service.log.erase(event)
        if kind == LEARN:
            row = unpack_row(content)
            for ticket in {row.ticket, row.id} - {None}:
                service.tickets.erase(model.number, str(ticket))
        return
    block = unpack_block(content)
    texts = block.text.split(b"\n")
    texts[line - block.first_line] = b""
    service.log.replace(event, pack(msgspec.structs.replace(block, text=b"\n".join(texts))))


def _digest(learner: Any) -> str | None:
    """The hash of a model's file; None before it has learned anything."""
    from yarrow.errors import NotFittedError

    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(NotFittedError):
        path = Path(folder) / "model"
        learner.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return None
