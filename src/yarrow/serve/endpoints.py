"""What each endpoint does, and the table of them all: routes, rights and OpenAPI are made of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from yarrow.serve import history, messages
from yarrow.serve.dashboard import page, state
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import FORMATS, Block, Row, pack, row_of
from yarrow.serve.models import Model
from yarrow.serve.openapi import document
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


class Endpoint(NamedTuple):
    """One line of the table."""

    method: str
    path: str
    right: str | None  # None: everybody
    act: Callable[[Api, Request], Awaitable[Any]]
    takes: Any
    gives: Any  # a type, several, or None
    says: str


def name_of(request: Request) -> str:
    """The model's name in a path, with its key."""
    path = request.path_params
    return f"{path['name']}/{path['key']}" if "key" in path else str(path["name"])


_predict = msgspec.json.Decoder(messages.Predict)
_learn = msgspec.json.Decoder(messages.Learn)
_feedback = msgspec.json.Decoder(messages.Feedback)
_undo = msgspec.json.Decoder(messages.Undo)
_spec = msgspec.json.Decoder(dict[str, Any])
_challenge = msgspec.json.Decoder(messages.Challenge)
_champion = msgspec.json.Decoder(messages.Champion)
_copy = msgspec.json.Decoder(messages.Copy)
_token = msgspec.json.Decoder(messages.NewToken)


async def predict(api: Api, request: Request) -> Any:
    """Predict rows."""
    message = await api.read(request, _predict)
    model = await api.model(request)
    learner = await api.learner(model)
    if name_of(request) != model.name:  # a key without a row so far
        learner, message.ticket = build(model.spec), False
    rows = messages.asked_rows(message, text_column(learner))
    api.limits.check_rows(rows)
    found = [_prediction(api, model, learner, row, message) for row in rows]
    api.metrics.predicted(len(found))
    return found[0] if message.row is not None else messages.Predictions(found)


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
    model = await api.model(request, create=True)
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
    model = await api.model(request, create=True)
    stream = query.get("stream") or secrets.token_hex(8)
    base, line = _whole(query.get("index_base", "1")), _whole(query.get("line", "1"))
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
            total.complaints = (total.complaints + answer.get("complaints", []))[:5]

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


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1


async def stream_position(api: Api, request: Request) -> Any:
    """How far a stream is learned."""
    model, stream = await api.model(request), request.path_params["stream"]
    line = await asyncio.to_thread(api.service.stream_position, model.name, stream)
    return messages.Streamed(stream, line)


async def feedback(api: Api, request: Request) -> Any:
    """A label for a ticket, at most once an id."""
    message = await api.read(request, _feedback)
    model = await api.model(request, create=message.row is not None)
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


async def undo(api: Api, request: Request) -> Any:
    """Retract, correct or erase labels."""
    message = await api.read(request, _undo)
    model = await api.model(request)
    selection = history.Selection(
        **{name: getattr(message, name) for name in history.Selection.__struct_fields__}
    )
    label = history._RETRACT if message.label is None else message.label
    answer = await api.run(
        history.undoing(
            api.service, model.name, selection, label=label, id=message.id, erase=message.erase
        )
    )
    return messages.Undone(**answer)


async def proof(api: Api, request: Request) -> Any:
    """That an erasure is one."""
    model, event = await api.model(request), _whole(request.path_params["event"])
    return await asyncio.to_thread(history.proof, api.service, model.name, event)


async def difference(api: Api, request: Request) -> Any:
    """What changed between two events, and which labels did it."""
    model, query = await api.model(request), request.query_params
    since, until = _whole(query.get("since", "0")), query.get("until")
    found, labels = await asyncio.to_thread(
        history.difference, api.service, model.name, since, None if until is None else _whole(until)
    )
    return {
        "rows": found.rows,
        "new_features": found.new_features,
        "weights": [[str(c.feature), c.label, c.before, c.after] for c in found.weights],
        "rates": [[str(c.feature), c.label, c.before, c.after] for c in found.rates],
        "labels": labels,
    }


async def list_models(api: Api, request: Request) -> Any:
    """All models."""
    return messages.Models(sorted(api.service.models))


async def create(api: Api, request: Request) -> Any:
    """A model of a spec, or of a model file."""
    name = name_of(request)
    if request.headers.get("content-type", "").startswith("application/octet-stream"):
        with tempfile.NamedTemporaryFile(suffix=".yarrow") as file:
            file.write(await api.body(request))
            file.flush()
            operation = await asyncio.to_thread(api.service.creating, name, {}, file.name)
            await api.run(operation)
    else:
        spec = await api.read(request, _spec)
        known = api.service.models.get(name)
        if known is None or known.spec != spec:  # else the answer was lost, and it is asked again
            await api.run(api.service.creating(name, spec))
    return _state(api.service.model(name))


async def about(api: Api, request: Request) -> Any:
    """A model and its versions."""
    return _state(await api.model(request))


def _state(model: Model) -> messages.ModelState:
    return messages.ModelState(
        model.name,
        model.spec,
        [
            messages.VersionState(
                v.number, type(v.learner).__name__ if v.learner else v.spec.get("learner", ""),
                v.rows, v.loss, v.progress, v is model.champion,
            )
            for v in model.versions.values()
        ],
    )  # fmt: skip


async def delete(api: Api, request: Request) -> Any:
    """Remove a model with all that it has learned."""
    return await api.run(api.service.deleting(name_of(request)))


async def copy(api: Api, request: Request) -> Any:
    """A copy that goes on by itself."""
    message = await api.read(request, _copy)
    model = await api.model(request)
    learner = await api.learner(model)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        await asyncio.to_thread(learner.save, path)
        await api.run(api.service.creating(message.to, {}, path))
    return _state(api.service.model(message.to))


async def download(api: Api, request: Request) -> Any:
    """The model file, now or as of an event or a time."""
    model, query = await api.model(request), request.query_params
    event, when = query.get("event"), query.get("time")
    try:
        moment = None if when is None else float(when)
    except ValueError:
        raise ServiceError("The time must be a number of seconds since 1970.") from None
    if event is not None or moment is not None:
        number = None if event is None else _whole(event)
        learner = await asyncio.to_thread(
            lambda: history.as_of(api.service, model.name, event=number, time=moment)
        )
    else:
        learner = await api.learner(model)
    descriptor, path = tempfile.mkstemp(suffix=".yarrow")
    os.close(descriptor)
    try:
        await asyncio.to_thread(learner.save, path)
    except BaseException:
        os.unlink(path)
        raise
    return _Once(path, media_type="application/octet-stream", filename="model.yarrow")


class _Once(FileResponse):
    """A file that is gone when it was sent."""

    async def __call__(self, *args: Any) -> None:
        try:
            await super().__call__(*args)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(self.path)


async def challenge(api: Api, request: Request) -> Any:
    """A challenger of another spec."""
    message = await api.read(request, _challenge)
    model = await api.model(request)
    spec = message.spec | ({"promote": True} if message.promote else {})
    await api.run(api.service.challenging(model.name, spec, message.replay))
    return _state(model)


async def promote(api: Api, request: Request) -> Any:
    """Let another version answer."""
    message = await api.read(request, _champion)
    model = await api.model(request)
    await api.run(api.service.promoting(model.name, message.version))
    return _state(model)


async def alarms(api: Api, request: Request) -> Any:
    """What has changed: error, confidence, classes, features."""
    found = list(api.service.watch.alarms)
    return messages.Alarms([messages.AlarmState(**alarm) for alarm in found])


async def list_tokens(api: Api, request: Request) -> Any:
    """The names and rights of tokens."""
    return api.tokens.names()


async def add_token(api: Api, request: Request) -> Any:
    """A new token; one of the same name is replaced."""
    message = await api.read(request, _token)
    return await api.run(api.tokens.adding(message.name, message.rights))


async def remove_token(api: Api, request: Request) -> Any:
    """Take a token back."""
    return await api.run(api.tokens.removing(request.path_params["token"]))


async def health(api: Api, request: Request) -> Any:
    """Whether the process lives."""
    return {"status": "alive"}


async def ready(api: Api, request: Request) -> Any:
    """Whether it can take labels: models are loaded, the disk works, it is not stopping."""
    problem = "it is stopping" if api.stopping else api.service.writer.failure or api.loading
    if problem:
        raise ServiceError(f"Not ready: {problem}.", 503)
    return {"status": "ready"}


async def metrics(api: Api, request: Request) -> Any:
    """Metrics for Prometheus."""
    content, kind = api.metrics.page()
    return Response(content, media_type=kind)


async def openapi(api: Api, request: Request) -> Any:
    """This interface."""
    return document(ENDPOINTS)


def _of_model(*lines: tuple[str, str, str, Any, Any, Any]) -> list[Endpoint]:
    """Endpoints of a model, and of one per key."""
    return [
        Endpoint(method, base + path, right, act, takes, gives, act.__name__)
        for method, path, right, act, takes, gives in lines
        for base in ("/models/{name}", "/models/{name}/{key}")
    ]


m = messages
ENDPOINTS: list[Endpoint] = [
    *_of_model(
        ("POST", "/predict", "read", predict, m.Predict, (m.Prediction, m.Predictions)),
        ("POST", "/learn", "learn", learn, m.Learn, (m.Learnt, m.Learnts, m.Streamed)),
        ("POST", "/feedback", "learn", feedback, m.Feedback, m.Learnt),
        ("POST", "/undo", "admin", undo, m.Undo, m.Undone),
        ("GET", "/erasures/{event}", "admin", proof, None, None),
        ("GET", "/diff", "read", difference, None, None),
        ("GET", "/streams/{stream}", "learn", stream_position, None, m.Streamed),
        ("GET", "/file", "read", download, None, None),
        ("POST", "/copy", "admin", copy, m.Copy, m.ModelState),
        ("POST", "/versions", "admin", challenge, m.Challenge, m.ModelState),
        ("POST", "/champion", "admin", promote, m.Champion, m.ModelState),
        ("PUT", "", "admin", create, dict[str, Any], m.ModelState),
        ("GET", "", "read", about, None, m.ModelState),
        ("DELETE", "", "admin", delete, None, None),
    ),
    Endpoint("GET", "/models", "read", list_models, None, m.Models, "list_models"),
    Endpoint("GET", "/", None, page, None, None, "page"),
    Endpoint("GET", "/page/{file}", None, page, None, None, "page_file"),
    Endpoint("GET", "/state", "read", state, None, dict[str, Any], "state"),
    Endpoint("GET", "/alarms", "read", alarms, None, m.Alarms, "alarms"),
    Endpoint("GET", "/tokens", "admin", list_tokens, None, dict[str, str], "list_tokens"),
    Endpoint("POST", "/tokens", "admin", add_token, m.NewToken, m.Token, "add_token"),
    Endpoint("DELETE", "/tokens/{token}", "admin", remove_token, None, None, "remove_token"),
    Endpoint("GET", "/health", None, health, None, dict[str, str], "health"),
    Endpoint("GET", "/ready", None, ready, None, dict[str, str], "ready"),
    Endpoint("GET", "/metrics", "read", metrics, None, None, "metrics"),
    Endpoint("GET", "/openapi.json", None, openapi, None, None, "openapi"),
]
