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
from typing import Any

from yarrow._core import Names
from yarrow.data.labels import kept
from yarrow.errors import YarrowError
from yarrow.io.formats import StreamFormat, text_reader
from yarrow.serve.api import Api
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import Row

_LONGEST = 1 << 20
_FORMAT = StreamFormat(format="vw", threads=1)


async def listen(api: Api, model: str, host: str, port: int) -> asyncio.Server:
    """Answer lines at a port; the model is made, as YarrowClassifier, if there is none."""
    if model not in api.service.models:
        await api.run(api.service.creating(model, {"learner": "yarrow"}))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await _talk(api, model, reader, writer)
        writer.close()

    return await asyncio.start_server(talk, host, port, limit=_LONGEST)


async def _talk(
    api: Api, model: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # too long: there is no telling where the next one begins
            writer.write(f"error: a line is longer than {_LONGEST} bytes\n".encode())
            return
        if not line:
            return
        if not line.strip():
            writer.write(b"\n")
            continue
        try:
            answer = await _answer(api, model, line)
        except YarrowError as error:
            answer = "error: " + " ".join(str(error).split())
        writer.write(answer.encode() + b"\n")
        await writer.drain()


async def _answer(api: Api, name: str, line: bytes) -> str:
    """Predict a line, then learn it if it has a label."""
    row, label, weight = parse(line)
    learner = await api.learner(api.service.model(name))
    said = learner.predict_one(row)
    if label is not None:
        event = Row(row, label, weight)
        (answer,) = await api.run(api.service.learning(name, [event], "vw"))
        if "error" in answer:
            raise ServiceError(answer["error"], answer["status"])
    tag = _tag(line)
    shown = "0" if said is None else f"{said:.6f}" if isinstance(said, float) else str(said)
    return f"{shown} {tag}" if tag else shown


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
