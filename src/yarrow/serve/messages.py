"""What requests and answers look like; the OpenAPI document is made of it."""

from __future__ import annotations

from typing import Any

import msgspec

from yarrow.online.ledger import Skipping
from yarrow.serve.errors import ServiceError
from yarrow.serve.history import Selection
from yarrow.serve.learning import Line, Row, row_of

Label = str | int | float | bool
Values = dict[str, float | int | str | bool | None]


class Frame(msgspec.Struct, forbid_unknown_fields=True):
    """A table, as pandas writes it with orient="split"."""

    columns: list[str]
    data: list[list[float | int | str | bool | None]]
    index: list[Any] = []

    def rows(self) -> list[Values]:
        """Its rows by name."""
        if any(len(row) != len(self.columns) for row in self.data):
            raise ServiceError(f"A row of the frame does not have its {len(self.columns)} columns.")
        return [dict(zip(self.columns, row, strict=True)) for row in self.data]


class Predict(msgspec.Struct, forbid_unknown_fields=True):
    """One row, several, or a frame."""

    row: Values | str | None = None
    rows: list[Values | str] | None = None
    frame: Frame | None = None
    ticket: bool = True
    explain: bool = False


class Prediction(msgspec.Struct, omit_defaults=True):
    """What a model thinks of a row."""

    label: Label | None
    probabilities: dict[str, float] | None = None
    ticket: str | None = None
    explanation: dict[str, Any] | None = None


class Predictions(msgspec.Struct):
    """What a model thinks of several rows."""

    predictions: list[Prediction]


class PredictedLine(Prediction, omit_defaults=True):
    """What a model thinks of a line of text."""

    line: int = 0


class PredictedLines(msgspec.Struct):
    """What a model thinks of lines of text, and how many were broken."""

    predictions: list[PredictedLine]
    skipped: int = 0
    complaints: list[str] = []


class Learn(msgspec.Struct, forbid_unknown_fields=True):
    """A row with its label, several, or a frame with a label for each row."""

    row: Values | str | None = None
    label: Label | None = None
    weight: float = 1.0
    id: str | None = None
    rows: list[Line] | None = None
    frame: Frame | None = None
    labels: list[Label] = []
    source: str | None = None


class Feedback(msgspec.Struct, forbid_unknown_fields=True):
    """A label for a ticket, or for a row; the ticket is the event's id if none is given."""

    label: Label
    ticket: str | None = None
    row: Values | str | None = None
    weight: float = 1.0
    id: str | None = None
    source: str | None = None


class Learnt(msgspec.Struct, omit_defaults=True):
    """The number of an event; `repeated` if its id was known, and then nothing has changed."""

    event: int
    repeated: bool = False
    error: str | None = None


class Learnts(msgspec.Struct):
    """The events of several rows."""

    events: list[Learnt]


class Streamed(Skipping, msgspec.Struct, omit_defaults=True):
    """How far a stream is learned: send what comes behind `line`."""

    stream: str
    line: int
    learned: int = 0
    skipped: int = 0
    complaints: list[str] = []


class Undo(Selection, forbid_unknown_fields=True):
    """Labels to retract; with `label` they get another one, with `erase` no byte of them stays."""

    label: Label | None = None
    erase: bool = False
    id: str | None = None


class Undone(msgspec.Struct, omit_defaults=True):
    """How many labels were taken back; the model is replayed in the background."""

    event: int
    labels: int = 0
    before: str | None = None
    repeated: bool = False


class Challenge(msgspec.Struct, forbid_unknown_fields=True):
    """Another learner for the same events: all there are, or those to come.

    With `promote` it becomes the champion when the evidence that it is better is 1000 to 1.
    """

    spec: dict[str, Any]
    replay: bool = True
    promote: bool = False


class Champion(msgspec.Struct, forbid_unknown_fields=True):
    """The version that shall answer."""

    version: int


class Copy(msgspec.Struct, forbid_unknown_fields=True):
    """The name of the copy."""

    to: str


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    """A token's name and rights: read, learn or admin, each of which has those before."""

    name: str
    rights: str


class Token(msgspec.Struct):
    """A new token, told once: only its hash is kept."""

    name: str
    rights: str
    token: str


class VersionState(msgspec.Struct):
    """A learner of a model, and how it does: `loss` is mistakes, or squared errors."""

    version: int
    learner: str
    rows: int
    loss: float
    progress: float
    champion: bool


class ModelState(msgspec.Struct):
    """A model and its versions."""

    name: str
    spec: dict[str, Any]
    versions: list[VersionState]


class AlarmState(msgspec.Struct):
    """Something has changed at a model, with its mean before and after if the detector knows it."""

    model: str
    event: int
    time: float
    what: str
    before: float | None
    after: float | None


class Alarms(msgspec.Struct):
    """The last alarms."""

    alarms: list[AlarmState]


class Models(msgspec.Struct):
    """All models."""

    models: list[str]


class Problem(msgspec.Struct):
    """One sentence that says what is wrong and what to do."""

    error: str


def _check_one(message: Learn | Predict) -> None:
    if [message.row, message.rows, message.frame].count(None) != 2:
        raise ServiceError("Send one of row, rows and frame.")


def learned_rows(message: Learn, column: str | None) -> list[Row]:
    """The rows of a message that is to be learned."""
    _check_one(message)
    if message.row is not None:
        return [checked_row(message.row, message.label, message.weight, message.id, column)]
    if message.label is not None or message.id is not None or message.weight != 1.0:
        raise ServiceError("With rows or a frame, each row has its own label, id and weight.")
    if message.rows is not None:
        return [checked_row(x.row, x.label, x.weight, x.id, column) for x in message.rows]
    assert message.frame is not None
    rows = message.frame.rows()
    if len(message.labels) != len(rows):
        raise ServiceError(f"The frame has {len(rows)} rows, but {len(message.labels)} labels.")
    return [checked_row(x, y, 1.0, None, column) for x, y in zip(rows, message.labels, strict=True)]


def asked_rows(message: Predict, column: str | None) -> list[dict[Any, Any]]:
    """The rows of a message that asks."""
    _check_one(message)
    if message.row is not None:
        return [row_of(message.row, column)]
    rows = message.rows if message.rows is not None else message.frame.rows()  # type: ignore[union-attr]
    return [row_of(row, column) for row in rows]


def checked_row(row: Any, label: Any, weight: float, id: str | None, column: str | None) -> Row:
    """A row to be learned; `column` is where one that is a text stands."""
    if not 0 <= weight < float("inf"):
        raise ServiceError(f"A weight must be a finite number >= 0. Got {weight!r} instead.")
    return Row(row_of(row, column), label, weight, id)
