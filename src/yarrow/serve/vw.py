"""The lines of `vw --daemon`: a client of Vowpal Wabbit connects unchanged.

Each line is an example in VW's text. One with a label is learned after it was predicted, one
without is predicted; either way the answer is a line: the prediction and, where there is one, the
tag, as vw writes to a client. Classes are written by their names, and values of a regression as
numbers. For two classes named -1 and 1 it is vw's --binary.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import socket
from typing import Any, NamedTuple

from yarrow._core import Names
from yarrow.data.labels import kept
from yarrow.errors import YarrowError
from yarrow.io.formats import StreamFormat, text_reader
from yarrow.serve.api import Api
from yarrow.serve.learning import Row
from yarrow.serve.service import Service
from yarrow.serve.writer import Operation

_LONGEST = 1 << 20
_AT_ONCE = 1 << 16
_REQUEST = re.compile(rb"[A-Z]+ /.* HTTP/1\.[01]\r?")
_FORMAT = StreamFormat(format="vw", threads=1)


async def listen(api: Api, model: str, listening: socket.socket) -> asyncio.Server:
    """Answer lines; the model is made, as YarrowClassifier, if there is none."""
    if model not in api.service.models:
        await api.run(api.service.creating(model, {"learner": "yarrow"}))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await _talk(api, model, reader, writer)
        writer.close()

    return await asyncio.start_server(talk, sock=listening)


async def _talk(
    api: Api, model: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """What came at once is answered at once: its labels share a sync."""
    rest, open = b"", True
    while open:
        part = await reader.read(_AT_ONCE)
        open = bool(part)
        *lines, rest = (rest + part).split(b"\n")
        if not open and rest:
            lines.append(rest)
        if lines and _REQUEST.fullmatch(lines[0]):  # of a stranger's page, open in a browser here
            writer.write(b"error: the lines of vw come here, no HTTP\n")
            return
        if len(rest) > _LONGEST:  # there is no telling where the next one begins
            writer.write(f"error: a line is longer than {_LONGEST} bytes\n".encode())
            return
        try:
            answers = await _answer(api, model, lines) if lines else []
        except YarrowError as error:
            answers = [_problem(error)] * len(lines)
        writer.write("".join(answer + "\n" for answer in answers).encode())
        await writer.drain()


async def _answer(api: Api, name: str, lines: list[bytes]) -> list[str]:
    """Predict each line, then learn it if it has a label, before the next one."""
    service = api.service
    learner = await api.learner(service.model(name))
    steps = [_step(service, name, line) for line in lines]

    def write() -> list[Any]:
        return [None if step.learning is None else step.learning.write() for step in steps]

    def apply(found: list[Any]) -> list[str]:
        # After an undo another learner may have taken its place.
        now = service.model(name).champion.learner or learner
        return [step.act(now, written) for step, written in zip(steps, found, strict=True)]

    if all(step.learning is None for step in steps):
        return [step.act(learner, None) for step in steps]
    size = sum(map(len, lines))
    return await api.run(Operation(write, apply, size))  # type: ignore[no-any-return]


class _Step(NamedTuple):
    """A line, and how it is learned if it has a label."""

    line: bytes
    row: dict[Any, float] | None
    problem: str
    learning: Operation | None

    def act(self, learner: Any, written: Any) -> str:
        """The answer to the line."""
        if self.row is None:
            return self.problem
        try:
            said = learner.predict_one(self.row)
            if self.learning is not None:
                (answer,) = self.learning.apply(written)
                if "error" in answer:
                    return _problem(answer["error"])
        except YarrowError as error:
            return _problem(error)
        tag = _tag(self.line)
        shown = "0" if said is None else f"{said:.6f}" if isinstance(said, float) else str(said)
        return f"{shown} {tag}" if tag else shown


def _step(service: Service, name: str, line: bytes) -> _Step:
    if not line.strip():
        return _Step(line, None, "", None)
    try:
        row, label, weight = parse(line)
    except YarrowError as error:
        return _Step(line, None, _problem(error), None)
    event = Row(row, label, weight)
    return _Step(line, row, "", None if label is None else service.learning(name, [event], "vw"))


def _problem(error: object) -> str:
    return "error: " + " ".join(str(error).split())


def parse(line: bytes) -> tuple[dict[Any, float], Any, float]:
    """The features of a line, its label (None: it has none) and its weight."""
    names = Names()
    reader = text_reader(io.BytesIO(line), "vw", _FORMAT, labels_optional=True)
    rows = reader.next_rows(names)
    if rows is None:
        return {}, None, 1.0
    label = kept(rows["labels"][0])
    listed = names.since(0)
    row = {listed[j]: value for j, value in zip(
        rows["indices"].tolist(), rows["values"].tolist(), strict=True)}  # fmt: skip
    is_missing = label is None or label != label
    return row, None if is_missing else label, float(rows["weights"][0])


def _tag(line: bytes) -> str:
    """What stands before the first bar without a space, or behind a quote."""
    head = line.partition(b"|")[0]
    words = head.split()
    if not words or head[-1:].isspace():
        word = words[-1] if words and words[-1].startswith(b"'") else b""
    else:
        word = words[-1]
    return word.lstrip(b"'").decode("utf-8", "replace")
