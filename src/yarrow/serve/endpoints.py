"""What each endpoint does, and the table of them all: routes, rights and OpenAPI are made of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from yarrow.serve import catalogue, history, messages, rows
from yarrow.serve.dashboard import page, state
from yarrow.serve.errors import ServiceError
from yarrow.serve.openapi import document
from yarrow.serve.rows import seconds, whole

if TYPE_CHECKING:
    from yarrow.serve.api import Api


class Endpoint(NamedTuple):
    """One line of the table."""

    method: str
    path: str
    right: str | None  # None: everybody
    act: Callable[[Api, Request], Awaitable[Any]]
    takes: Any
    gives: Any  # a type, several, or None
    operation: str  # its name in OpenAPI and in metrics


async def undo(api: Api, request: Request) -> Any:
    """Retract, correct or erase labels."""
    message = await api.read(request, messages.Undo)
    model = await api.model(request)
    label = history._RETRACT if message.label is None else message.label
    answer = await api.run(
        history.undoing(
            api.service, model.name, message, label=label, id=message.id, erase=message.erase
        )
    )
    return messages.Undone(**answer)


async def proof(api: Api, request: Request) -> Any:
    """That an erasure is one."""
    model, event = await api.model(request), whole(request.path_params["event"])
    return await asyncio.to_thread(history.proof, api.service, model.name, event)


async def difference(api: Api, request: Request) -> Any:
    """What changed between two events or times, and which labels did it."""
    model, query = await api.model(request), request.query_params

    def difference() -> Any:
        ends = [
            whole(query[name]) if name in query
            else history.event_at(api.service, model.name, seconds(query.get(f"{name}_time")))
            for name in ("since", "until")
        ]  # fmt: skip
        return history.difference(api.service, model.name, ends[0], ends[1])

    found, labels = await asyncio.to_thread(difference)
    return {
        "rows": found.rows,
        "new_features": found.new_features,
        "weights": [[str(c.feature), c.label, c.before, c.after] for c in found.weights],
        "rates": [[str(c.feature), c.label, c.before, c.after] for c in found.rates],
        "labels": labels,
    }


async def alarms(api: Api, request: Request) -> Any:
    """What has changed: error, confidence, classes, features."""
    found = list(api.service.watch.alarms)
    return messages.Alarms([messages.AlarmState(**alarm) for alarm in found])


async def list_tokens(api: Api, request: Request) -> Any:
    """The names and rights of tokens."""
    return api.tokens.names()


async def add_token(api: Api, request: Request) -> Any:
    """A new token; one of the same name is replaced."""
    message = await api.read(request, messages.NewToken)
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
        ("POST", "/predict", "read", rows.predict, m.Predict, (m.Prediction, m.Predictions)),
        ("POST", "/learn", "learn", rows.learn, m.Learn, (m.Learnt, m.Learnts, m.Streamed)),
        ("POST", "/feedback", "learn", rows.feedback, m.Feedback, m.Learnt),
        ("POST", "/undo", "admin", undo, m.Undo, m.Undone),
        ("GET", "/erasures/{event}", "admin", proof, None, None),
        ("GET", "/diff", "read", difference, None, None),
        ("GET", "/streams/{stream}", "learn", rows.stream_position, None, m.Streamed),
        ("GET", "/file", "read", catalogue.download, None, None),
        ("POST", "/copy", "admin", catalogue.copy, m.Copy, m.ModelState),
        ("POST", "/versions", "admin", catalogue.challenge, m.Challenge, m.ModelState),
        ("POST", "/champion", "admin", catalogue.promote, m.Champion, m.ModelState),
        ("PUT", "", "admin", catalogue.create, dict[str, Any], m.ModelState),
        ("GET", "", "read", catalogue.about, None, m.ModelState),
        ("DELETE", "", "admin", catalogue.delete, None, None),
    ),
    Endpoint("GET", "/models", "read", catalogue.list_models, None, m.Models, "list_models"),
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
