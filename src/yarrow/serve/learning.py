"""What an event does to a model: its rows, learned in order, one way for the writer and for replay.

A row that a model refuses is refused always, as its state is a function of the events before it:
a call that fails leaves no trace. So an event is written first and learned then.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
import numpy as np

from yarrow._core import Account, Names, StreamLearnerF32, StreamLearnerF64
from yarrow.base.linear import SupervisedModel
from yarrow.data.labels import kept
from yarrow.errors import DataError, YarrowError
from yarrow.io.formats import StreamFormat, text_reader
from yarrow.online.core_stream import learn_stream
from yarrow.online.learners import is_core, is_regression
from yarrow.online.ledger import Skipping
from yarrow.serve.errors import ServiceError
from yarrow.serve.log import BLOCK, Event

_logger = logging.getLogger("yarrow.serve")

Format = Literal["jsonl", "svmlight", "vw"]
FORMATS: tuple[Format, ...] = ("jsonl", "svmlight", "vw")

#: the label of a line, and what comes behind it
_FIRST = {
    "svmlight": re.compile(rb"\s*(\S*)(.*)", re.DOTALL),
    "vw": re.compile(rb"\s*([^\s|]*)(.*)", re.DOTALL),
}
_NOT_IN_STREAMS = (b"id", b"ticket", b"source")
_UNUSUAL = "not a plain row"  # what the core says where it leaves a row to Python
_PLAIN = StreamFormat(format="jsonl", threads=1)


class Row(msgspec.Struct, array_like=True, gc=False):
    """A row with its label, as the log holds it."""

    row: dict[str | int, Any]
    label: Any
    weight: float = 1.0
    id: str | None = None
    ticket: str | None = None


class Block(msgspec.Struct, array_like=True, gc=False):
    """Lines of a stream as they came, as the log holds them."""

    format: Format
    index_base: int
    first_line: int
    text: bytes
    stream: str = ""


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """A row of a request that learns several, and of JSON lines, which have no id and source."""

    row: dict[str, float | int | str | bool | None] | str
    label: str | int | float | bool | None = None
    weight: float = 1.0
    id: str | None = None
    source: str | None = None


class Learned(Skipping, msgspec.Struct):
    """What became of the rows of an event."""

    rows: int = 0
    loss: float = 0.0  # mistakes, or squared errors in a regression
    skipped: int = 0
    complaints: list[str] = []


def pack(content: Any) -> bytes:
    """Anything as the log holds it."""
    try:
        return msgspec.msgpack.encode(content)
    except OverflowError:
        raise ServiceError("An integer does not fit into 64 bits.", 422) from None


unpack = msgspec.msgpack.decode
unpack_row = msgspec.msgpack.Decoder(Row).decode
unpack_block = msgspec.msgpack.Decoder(Block).decode
read_line = msgspec.json.Decoder(Line).decode


def row_of(row: Mapping[str, Any] | str, column: str | None = None) -> dict[Any, Any]:
    """A row as the log holds it; a text alone fills its column."""
    if not isinstance(row, str):
        return row  # type: ignore[return-value]
    if column is None:
        raise ServiceError("A row given as a text needs a spec with exactly one text column.")
    return {column: row}


def learn(model: Any, event: Event, changes: Mapping[int, bytes | None] | None = None) -> Learned:
    """Let a model learn an event; `changes` are labels that were retracted or corrected since.

    What the model refuses raises a `YarrowError`, and then it is as it was; broken lines of a
    block are left out, counted and named.
    """
    content = content_of(event, changes)
    if content is None:
        return Learned()
    if isinstance(content, Block):
        return learn_block(model, content)
    return Learned(rows=1, loss=learn_one(model, content.row, content.label, content.weight))


def content_of(
    event: Event, changes: Mapping[int, bytes | None] | None = None
) -> Row | Block | None:
    """What an event holds, by the labels that are known today; None: its label was retracted."""
    if event.kind == BLOCK:
        return changed_block(unpack_block(event.content), changes or {})
    row = unpack_row(event.content)
    if changes:
        label = changes[-1]
        if label is None:
            return None
        row.label = unpack(label)
    return row


@contextlib.contextmanager
def _defects_refuse() -> Iterator[None]:
    """A defect that a row finds is a refusal: else no replay, so no start, would get past it."""
    try:
        yield
    except (YarrowError, MemoryError):
        raise
    except Exception as error:
        _logger.exception("defect")
        problem = f"The learner failed ({type(error).__name__}: {error}): leave this out."
        raise ServiceError(problem, 422) from error


@_defects_refuse()
def learn_one(model: Any, x: dict[Any, Any], label: Any, weight: float) -> float:
    """Learn a row; the loss of the prediction before."""
    if not getattr(model, "learns_labels", True):
        model.learn_one(x, weight)
        return 0.0
    before = getattr(model, "n_mistakes_", None)  # many count their mistakes themselves
    said = model.predict_one(x) if before is None else None
    model.learn_one(x, label, weight)
    if before is not None:
        return float(model.n_mistakes_ - before)
    if is_regression(model):
        missed = float(said - label)
        return missed * missed  # `**` would raise where this is infinite
    return float(said != label)


def n_lines(text: bytes) -> int:
    """How many lines a text has; five times as fast as `bytes.count`."""
    found = np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return int(found) + (not text.endswith(b"\n"))


def changed_block(block: Block, changes: Mapping[int, bytes | None]) -> Block:
    """A block without retracted lines, and with corrected labels."""
    if not changes:
        return block
    kept = []
    for number, line in enumerate(block.text.split(b"\n"), block.first_line):
        place = number if number in changes else -1  # what is said of a line is said of it
        if place not in changes:
            kept.append(line)
        elif (label := changes[place]) is not None:
            kept.append(relabelled(block.format, line, unpack(label)))
    return msgspec.structs.replace(block, text=b"\n".join(kept))


def relabelled(format: Format, line: bytes, label: Any) -> bytes:
    """A line of a stream with another label; one that has no row is as it was."""
    if format == "jsonl":
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, TypeError):
            return msgspec.json.encode({**msgspec.json.decode(line), "label": label})
        return line
    text = str(int(label) if isinstance(label, bool) else label)
    if not text or any(c.isspace() or c in "|:'#" for c in text):
        raise ServiceError(f"{label!r} cannot be a label in {format} text.")
    first, rest = _FIRST[format].fullmatch(line).groups()  # type: ignore[union-attr]
    if not first + rest or (first.startswith(b"#") if format == "svmlight" else b"|" not in rest):
        return line
    if first.startswith(b"'") or (rest.startswith(b"|") and not first):  # a tag, or no label so far
        return text.encode() + b" " + first + rest
    return text.encode() + rest


def learn_block(model: Any, block: Block) -> Learned:
    """Learn lines of a stream; broken ones are left out, counted and named."""
    if not block.text.strip():
        return Learned()
    if is_core(model) and block.format != "jsonl":
        return _learn_text(model, block)
    found = Learned()
    if block.format == "jsonl":
        block = _learn_plain_lines(model, block, found)
    for number, row in rows_of(block, found, getattr(model, "dtype", "float32")):
        try:
            found.loss += learn_one(model, row.row, row.label, row.weight)
            found.rows += 1
        except YarrowError as error:
            found.also(1, [f"line {number}: {error}"])
    return found


def _learn_plain_lines(model: Any, block: Block, found: Learned) -> Block:
    """Let the core read lines of JSON up to the first that is unusual; the rest of the block."""
    if not reads_plain_rows(model):
        return block
    reader = text_reader(io.BytesIO(block.text), "json", _PLAIN, dtype=model.dtype)
    with _plain_rows(model, found, block.first_line) as (learner, account):
        try:
            while not model._model.learn_from(reader, learner, account, 60.0):
                pass
        except YarrowError as error:
            if _UNUSUAL not in str(error):
                raise
    rest = block.text.split(b"\n", reader.lines)[reader.lines :]
    line = block.first_line + reader.lines
    return msgspec.structs.replace(block, first_line=line, text=b"".join(rest))


def learn_run(model: Any, rows: list[bytes]) -> Learned:
    """Let the core learn rows of events, up to the first that is unusual or refused."""
    found = Learned()
    if reads_plain_rows(model):
        with (
            _plain_rows(model, found, 1, skips=False) as (learner, account),
            contextlib.suppress(YarrowError),  # which the caller meets again at that row
        ):
            model._model.learn_packed(learner, account, rows)
    return found


def reads_plain_rows(model: Any) -> bool:
    """Whether the core can read a model's rows by itself: names and values, as `learn_one` would.

    A model begins with its first row by `learn_one`, which says what it is made with.
    """
    return (
        getattr(type(model), "learn_one", None) is SupervisedModel.learn_one
        and "_model" in model.__dict__
        and model._stream is None
        and not model.hash_bits
    )


@contextlib.contextmanager
def _plain_rows(
    model: Any, found: Learned, first_line: int, skips: bool = True
) -> Iterator[tuple[Any, Account]]:
    """What learns rows in the core, and what it has learned when that is done."""
    single = model.dtype == "float32"
    account, before = Account(), getattr(model, "n_mistakes_", None)
    learner = (StreamLearnerF32 if single else StreamLearnerF64)(model._model, skips, False)
    yield learner, account
    found.rows += int(account.rows)
    found.loss += account.squared_error if before is None else float(model.n_mistakes_ - before)
    found.also(account.skipped, _placed(account.complaints, first_line))


def _placed(complaints: list[str], first_line: int) -> list[str]:
    """Complaints with the numbers that lines have in their stream."""

    def shift(found: re.Match[str]) -> str:
        return f"line {int(found[1]) + first_line - 1}"

    return [re.sub(r"\bline (\d+)", shift, complaint, count=1) for complaint in complaints]


def _learn_text(model: Any, block: Block) -> Learned:
    """By the parser itself."""
    progress = None
    try:
        for step in learn_stream(model, io.BytesIO(block.text), _stream_format(block)):
            progress = step
    except DataError as error:
        if progress is None or progress.rows:  # else there was no row that could be learned
            raise
        lines = n_lines(block.text.rstrip(b"\n"))
        return Learned(skipped=lines, complaints=_placed([str(error)], block.first_line))
    assert progress is not None
    loss = progress.squared_error if is_regression(model) else float(progress.mistakes)
    complaints = _placed(progress.complaints, block.first_line)
    return Learned(progress.rows, loss, progress.skipped, complaints)


def check_lines(block: Block) -> None:
    """Refuse JSON lines that ask to be known by more than their number in the stream."""
    if block.format != "jsonl" or not any(b'"%b"' % name in block.text for name in _NOT_IN_STREAMS):
        return
    for number, text in enumerate(block.text.split(b"\n"), block.first_line):
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            line = msgspec.json.decode(text)
            for name in _NOT_IN_STREAMS:
                if isinstance(line, dict) and line.get(name.decode()) is not None:
                    raise ServiceError(
                        f"Line {number} has {name.decode()!r}, but lines of a stream are known by "
                        "its name and their number, and their source stands in the address: "
                        "'/learn?stream=june&source=import'. Or send them as 'rows'."
                    )


def rows_of(
    block: Block, account: Learned, dtype: str = "float64", labels_optional: bool = False
) -> Iterator[tuple[int, Row]]:
    """The rows of a block with the numbers of their lines; broken ones go to the account."""
    if block.format == "jsonl":
        for number, text in enumerate(block.text.split(b"\n"), block.first_line):
            if not text.strip():
                continue
            try:
                line = read_line(text)
                yield number, Row(row_of(line.row), line.label, line.weight, line.id)
            except (msgspec.DecodeError, UnicodeDecodeError, YarrowError) as error:
                account.also(1, [f"line {number}: {error}"])
        return
    names, listed = Names(), list[Any]()
    reader = text_reader(
        io.BytesIO(block.text), block.format, _stream_format(block),
        labels_optional=labels_optional, dtype=dtype,
    )  # fmt: skip
    while (rows := reader.next_rows(names)) is not None:
        if not names.are_numbers:
            listed += names.since(len(listed))
        labels, weights, begins = rows["labels"], rows["weights"], rows["begins"]
        for i, line in enumerate(rows["lines"].tolist()):
            part = slice(int(begins[i]), int(begins[i + 1]))
            indices, values = rows["indices"][part].tolist(), rows["values"][part].tolist()
            keys = [listed[j] for j in indices] if listed else indices
            label, number = kept(labels[i]), block.first_line + line - 1
            is_missing = label is None or label != label or not weights[i] >= 0
            if is_missing and not labels_optional:
                account.also(1, [f"line {number}: the row has no label"])
            else:
                yield number, Row(dict(zip(keys, values, strict=True)), label, float(weights[i]))
    account.also(reader.skipped, _placed(reader.complaints, block.first_line))


def _stream_format(block: Block) -> StreamFormat:
    return StreamFormat(
        format=block.format, index_base=block.index_base, on_error="skip", threads=1
    )
