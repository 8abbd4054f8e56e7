"""Rows by HTTP: predict, learn, feedback, and streams of lines."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from yarrow.errors import YarrowError
from yarrow.serve import messages
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import (
    Block,
    Learned,
    check_lines,
    n_lines,
    pack,
    rows_of,
)
from yarrow.serve.models import Model
from yarrow.serve.spec import build, text_column
from yarrow.serve.writer import Operation

if TYPE_CHECKING:
    from yarrow.serve.api import Api

T = TypeVar("T")
_QUICK = 5_000  # features of a row, or letters of one that is a text
_BLOCK = 1 << 18  # bytes of a stream that are one event
_AHEAD = 4  # blocks that may wait for the writer
#: what a stream's content type says
STREAMS = {
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "text/x-svmlight": "svmlight",
    "text/x-vw": "vw",
}

_json = msgspec.json.encode


async def predict(api: Api, request: Request) -> Any:
    """Predict rows, or a stream of lines by its content type."""
    format = _format(api, request)
    message = (
        messages.Predict(ticket=False) if format else await api.read(request, messages.Predict)
    )
    model = await api.model(request, missing="parent")
    learner = await api.learner(model)
    if api.name(request) != model.name:  # a key without a row so far
        learner, message.ticket = build(model.spec), False
    if format:
        return await _predict_lines(api, request, model, learner, message, format)

    def answer() -> list[messages.Prediction]:
        rows = messages.asked_rows(message, text_column(learner))
        api.limits.check_rows(rows)
        return [_prediction(api, model, learner, row, message) for row in rows]

    answers = await _aside(message.row, answer)
    api.metrics.predicted(len(answers))
    return answers[0] if message.row is not None else messages.Predictions(answers)


async def _aside(row: Any, act: Callable[[], T]) -> T:
    """Do what takes long in a thread: others need not wait for many rows, or for a large one."""
    is_quick = row is not None and len(row) <= _QUICK
    return act() if is_quick else await asyncio.to_thread(act)


async def _predict_lines(
    api: Api, request: Request, model: Model, learner: Any, message: messages.Predict, format: Any
) -> Response:
    """A line of JSON a row, with the number of its line; at the end what was left out."""
    block = Block(format, _index_base(request), 1, await api.body(request))

    def answer() -> tuple[bytes, int]:
        lines, account = list[bytes](), Learned()
        for number, row in rows_of(block, account, labels_optional=True):
            try:
                api.limits.check_rows([row.row])
                said = _prediction(api, model, learner, row.row, message)
            except YarrowError as error:
                account.also(1, [f"line {number}: {error}"])
                continue
            lines.append(_json({"line": number} | msgspec.to_builtins(said)))
        if account.skipped:
            lines.append(_json({"skipped": account.skipped, "complaints": account.complaints}))
        return b"\n".join([*lines, b""]), len(lines)

    content, n = await asyncio.to_thread(answer)
    api.metrics.predicted(n)
    return Response(content, media_type="application/x-ndjson")


def _prediction(
    api: Api, model: Model, learner: Any, row: dict[Any, Any], message: messages.Predict
) -> messages.Prediction:
    found = messages.Prediction(learner.predict_one(row))
    if hasattr(learner, "predict_proba"):
        likely = learner.predict_proba_one(row)
        found.probabilities = {str(label): value for label, value in likely.items()}
        api.service.watch.predicted(
            model.name, api.service.log.committed, max(likely.values(), default=0.0)
        )
    if message.ticket:
        found.ticket = api.service.tickets.keep(model.number, pack(row))
    if message.explain and not hasattr(learner, "explain_one"):
        found.explanation = {"problem": f"{type(learner).__name__} does not explain itself."}
    elif message.explain and found.label is not None:
        why = learner.explain_one(row)
        found.explanation = {
            "score": why.score,
            "adds_up": why.adds_up,
            "parts": [[str(p.feature), p.value, p.weight] for p in why.contributions],
        }
    return found


def _format(api: Api, request: Request) -> str | None:
    """The format of a stream of lines; None: the request is a message."""
    kind = api.header(request, b"content-type").partition(";")[0].strip()
    return STREAMS.get(kind)


def _index_base(request: Request) -> int:
    base = whole(request.query_params.get("index_base", "1"))
    if base not in (0, 1):
        raise ServiceError("The index_base must be 0 or 1.")
    return base


async def learn(api: Api, request: Request) -> Any:
    """Learn rows, or a stream of lines by its content type."""
    if format := _format(api, request):
        return await _learn_stream(api, request, format)
    message = await api.read(request, messages.Learn)
    model = await api.model(request, missing="create")
    column = text_column(await api.learner(model))

    def operation() -> Operation:
        rows = messages.learned_rows(message, column)
        api.limits.check_rows([row.row for row in rows])
        source: Any = message.source
        if message.rows is not None and any(line.source is not None for line in message.rows):
            source = [line.source or message.source for line in message.rows]
        return api.service.learning(model.name, rows, source)

    answers = await api.run(await _aside(message.row, operation))
    api.metrics.learned(len(answers))
    if message.row is not None:
        return _one(answers[0])
    return messages.Learnts([messages.Learnt(**_known(answer)) for answer in answers])


def _one(answer: dict[str, Any]) -> Any:
    if "error" in answer:
        raise ServiceError(answer["error"], answer["status"])
    return messages.Learnt(**_known(answer))


def _known(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in ("event", "repeated", "error") if name in answer}


async def _learn_stream(api: Api, request: Request, format: Any) -> messages.Streamed:
    """Blocks of whole lines, some of them ahead of the writer."""
    query = request.query_params
    model = await api.model(request, missing="create")
    stream = query.get("stream") or secrets.token_hex(8)
    base, line = _index_base(request), whole(query.get("line", "1"))
    if line < 1:
        raise ServiceError("The first line must be 1 or more.")
    total = messages.Streamed(stream, line - 1)
    waiting: list[asyncio.Task[Any]] = []

    async def settle(most: int) -> None:
        while len(waiting) > most:
            answer = await waiting.pop(0)
            total.line = max(total.line, answer["line"])
            total.learned += answer.get("learned", 0)
            total.also(answer.get("skipped", 0), answer.get("complaints", []))

    async def send(text: bytes) -> None:
        nonlocal line
        block = Block(format, base, line, text, stream)
        check_lines(block)
        line += n_lines(text)
        operation = api.service.learning_block(model.name, block, query.get("source"))
        waiting.append(asyncio.ensure_future(api.run(operation)))
        await settle(_AHEAD)

    try:
        rest = bytearray()
        async for part in api.parts(request):
            rest += part
            if len(rest) >= _BLOCK and (end := rest.rfind(b"\n") + 1):
                await send(bytes(rest[:end]))
                del rest[:end]
            if len(rest) > api.limits.line:
                raise ServiceError(f"A line is longer than {api.limits.line} bytes.", 413)
        if rest:
            await send(bytes(rest))
    finally:
        await settle(0)
    api.metrics.learned(total.learned)
    return total


def whole(text: str) -> int:
    """The number that a path or a query gives."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ServiceError(f"{text[:80]!r} is not a whole number.")
    return int(text)


def seconds(text: str | None) -> float | None:
    """The time that a query gives."""
    try:
        found = None if text is None else float(text)
        if found is None or math.isfinite(found):
            return found
    except ValueError:
        pass
    raise ServiceError("The time must be a number of seconds since 1970.")


async def stream_position(api: Api, request: Request) -> Any:
    """How far a stream is learned."""
    model, stream = await api.model(request), request.path_params["stream"]
    line = await asyncio.to_thread(api.service.stream_position, model.name, stream)
    return messages.Streamed(stream, line)


async def feedback(api: Api, request: Request) -> Any:
    """A label for a ticket, at most once an id."""
    message = await api.read(request, messages.Feedback)
    model = await api.model(request, missing="refuse" if message.row is None else "create")
    learner = await api.learner(model)
    if message.row is not None:
        row: Any = message.row
    elif message.ticket is not None:
        known = None if message.id is None else await asyncio.to_thread(
            api.service.answer_to, model.name, message.id)  # fmt: skip
        if known is not None:
            return _one(known)
        row = api.service.feedback_row(model.name, message.ticket)
    else:
        raise ServiceError("Send a ticket, or a row.")
    id, column = message.id or message.ticket, text_column(learner)
    event = messages.checked_row(row, message.label, message.weight, id, column)
    event.ticket = message.ticket
    answers = await api.run(
        await _aside(row, lambda: api.service.learning(model.name, [event], message.source))
    )
    return _one(answers[0])
