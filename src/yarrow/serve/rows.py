"""Rows by HTTP: predict, learn, feedback, and streams of lines."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request

from yarrow.online.ledger import COMPLAINTS_KEPT
from yarrow.serve import messages
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import FORMATS, Block, Row, pack, row_for, row_of
from yarrow.serve.models import Model
from yarrow.serve.spec import build, text_column

if TYPE_CHECKING:
    from yarrow.serve.api import Api

_BLOCK = 1 << 18  # bytes of a stream that are one event
_AHEAD = 4  # blocks that may wait for the writer
#: what a stream's content type says
STREAMS = {
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "text/x-svmlight": "svmlight",
    "text/x-vw": "vw",
}

_predict = msgspec.json.Decoder(messages.Predict)
_learn = msgspec.json.Decoder(messages.Learn)
_feedback = msgspec.json.Decoder(messages.Feedback)


async def predict(api: Api, request: Request) -> Any:
    """Predict rows."""
    message = await api.read(request, _predict)
    model = await api.model(request, missing="parent")
    learner = await api.learner(model)
    if api.name(request) != model.name:  # a key without a row so far
        learner, message.ticket = build(model.spec), False
    rows = messages.asked_rows(message, text_column(learner))
    api.limits.check_rows(rows)
    found = [_prediction(api, model, learner, row, message) for row in rows]
    api.metrics.predicted(len(found))
    return found[0] if message.row is not None else messages.Predictions(found)


def _prediction(
    api: Api, model: Model, learner: Any, row: dict[Any, Any], message: messages.Predict
) -> messages.Prediction:
    given, row = row, row_for(learner, row)
    found = messages.Prediction(learner.predict_one(row))
    if hasattr(learner, "predict_proba"):
        likely = learner.predict_proba_one(row)
        found.probabilities = {str(label): value for label, value in likely.items()}
        api.service.watch.predicted(
            model.name, api.service.log.committed, max(likely.values(), default=0.0)
        )
    if message.ticket:
        found.ticket = api.service.tickets.keep(model.number, pack(given))
    if message.explain and found.label is not None:
        why = learner.explain_one(row)
        found.explanation = {
            "score": why.score,
            "adds_up": why.adds_up,
            "parts": [[str(p.feature), p.value, p.weight] for p in why.contributions],
        }
    return found


async def learn(api: Api, request: Request) -> Any:
    """Learn rows, or a stream of lines by its content type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind in STREAMS:
        return await _learn_stream(api, request, STREAMS[kind])
    message = await api.read(request, _learn)
    model = await api.model(request, missing="create")
    rows = messages.learned_rows(message, text_column(await api.learner(model)))
    api.limits.check_rows([row.row for row in rows])
    answers = await api.run(api.service.learning(model.name, rows, message.source))
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
    base, line = whole(query.get("index_base", "1")), whole(query.get("line", "1"))
    if format not in FORMATS or base not in (0, 1) or line < 1:
        raise ServiceError("The index_base must be 0 or 1, and the first line 1 or more.")
    total = messages.Streamed(stream, line - 1)
    waiting: list[asyncio.Task[Any]] = []

    async def settle(most: int) -> None:
        while len(waiting) > most:
            answer = await waiting.pop(0)
            total.line = max(total.line, answer["line"])
            total.learned += answer.get("learned", 0)
            total.skipped += answer.get("skipped", 0)
            total.complaints = [*total.complaints, *answer.get("complaints", [])]
            del total.complaints[COMPLAINTS_KEPT:]

    async def send(text: bytes) -> None:
        nonlocal line
        block = Block(format, base, line, text, stream)
        line += text.count(b"\n") + (not text.endswith(b"\n"))
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
        raise ServiceError(f"{text[:80]!r} should be a whole number.")
    return int(text)


async def stream_position(api: Api, request: Request) -> Any:
    """How far a stream is learned."""
    model, stream = await api.model(request), request.path_params["stream"]
    line = await asyncio.to_thread(api.service.stream_position, model.name, stream)
    return messages.Streamed(stream, line)


async def feedback(api: Api, request: Request) -> Any:
    """A label for a ticket, at most once an id."""
    message = await api.read(request, _feedback)
    model = await api.model(request, missing="refuse" if message.row is None else "create")
    learner = await api.learner(model)
    if message.row is not None:
        row = row_of(message.row, text_column(learner))
    elif message.ticket is not None:
        known = None if message.id is None else await asyncio.to_thread(
            api.service.answer_to, model.name, message.id)  # fmt: skip
        if known is not None:
            return _one(known)
        row = api.service.feedback_row(model.name, message.ticket)
    else:
        raise ServiceError("Send a ticket, or a row.")
    if not 0 <= message.weight < float("inf"):
        raise ServiceError("A weight must be a finite number >= 0.")
    event = Row(row, message.label, message.weight, message.id or message.ticket, message.ticket)
    answers = await api.run(api.service.learning(model.name, [event], message.source))
    return _one(answers[0])
