"""The service by HTTP: requests, rights, limits and errors, the same for all endpoints.

Predictions are answered in the event loop, past the writer: they never wait for a disk. What
changes something goes to the writer, and its answers come back a batch at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from yarrow.errors import YarrowError
from yarrow.serve import messages
from yarrow.serve.endpoints import ENDPOINTS, Endpoint
from yarrow.serve.errors import ServiceError
from yarrow.serve.limits import Limits, Rates, check_host
from yarrow.serve.metrics import Metrics
from yarrow.serve.models import Model
from yarrow.serve.openapi import check_query
from yarrow.serve.service import Service
from yarrow.serve.tokens import Tokens
from yarrow.serve.writer import Operation

Handler = Callable[[Request], Awaitable[Response]]
_OFTEN = ("predict", "learn", "feedback")
_LARGE = 1 << 18  # bytes of a message that others need not wait for
_BODIES = 8  # of the largest size, that may be in memory at once
_logger = logging.getLogger("yarrow.serve")


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


class Api:
    """The application around a service."""

    def __init__(
        self, service: Service, limits: Limits | None = None, hosts: tuple[str, ...] = ()
    ) -> None:
        self.service, self.limits = service, limits or Limits()
        self.hosts = hosts  # names of this machine, beside localhost, while there are no tokens
        self.tokens = Tokens(service)
        self.metrics = Metrics(service)
        self.rates = Rates(self.limits.rate)
        self.stopping = False
        self._held = 0  # bytes of all bodies that are read and not answered
        self.loading: str | None = "models are being loaded"
        self._answers: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        handlers = [(endpoint, self._handler(endpoint)) for endpoint in ENDPOINTS]
        self._often = {
            (e.method, e.operation): handle for e, handle in handlers if e.operation in _OFTEN
        }
        self.app = Starlette(
            routes=[Route(e.path, handle, methods=[e.method]) for e, handle in handlers],
            lifespan=self._lifespan,
            exception_handlers={HTTPException: _no_such},
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        self.service.writer.answered = self._deliver_soon
        loading = asyncio.create_task(asyncio.to_thread(self._load))
        yield
        self.stopping = True
        await loading
        await asyncio.to_thread(self.service.close)

    def _load(self) -> None:
        """Load the models, but for those of keys, so that the first who asks need not wait."""
        problems = []
        for model in list(self.service.models.values()):
            full = self.service.used_memory > self.service.memory
            if self.stopping or full or "/" in model.name:
                continue
            try:
                self.service.live(model.champion)
            except (YarrowError, sqlite3.Error, OSError) as error:
                problems.append(f"{model.name}: {error}")
        self.loading = "; ".join(problems) or None

    # -- operations ------------------------------------------------------------------------------

    async def run(self, operation: Operation) -> Any:
        """Let the writer carry out an operation; answers come a batch at a time."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        answers = self._answers
        self.service.writer.submit(
            operation, lambda result, error: answers.append((future, result, error))
        )
        return await future

    def _deliver_soon(self) -> None:
        if self._loop is not None and self._answers:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        answers = self._answers
        while answers:
            future, result, error = answers.popleft()
            if future.done():
                continue
            future.set_result(result) if error is None else future.set_exception(error)

    # -- requests --------------------------------------------------------------------------------

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Starlette's application, but for what is asked most, past its layers and patterns."""
        path: list[str] = scope["path"].split("/") if scope["type"] == "http" else []
        if len(path) not in (4, 5) or path[1] != "models" or "" in path[2:]:
            return await self.app(scope, receive, send)
        handle = self._often.get((scope["method"], path[-1]))
        if handle is None:
            return await self.app(scope, receive, send)
        scope["path_params"] = {"name": path[2]} | ({"key": path[3]} if len(path) == 5 else {})
        response = await handle(Request(scope, receive, send))
        await response(scope, receive, send)

    def _handler(self, endpoint: Endpoint) -> Handler:
        async def handle(request: Request) -> Response:
            began = time.perf_counter()
            try:
                response = await self._answer(endpoint, request)
            except ClientDisconnect:
                response = _problem("The connection was closed.", 400)
            except ServiceError as error:
                response = _problem(str(error), error.status)
            except (msgspec.ValidationError, msgspec.DecodeError) as error:
                response = _problem(f"Invalid request body: {error}.", 400)
            except (UnicodeError, RecursionError):
                response = _problem("The request body must be JSON in UTF-8, not too deep.", 400)
            except YarrowError as error:
                response = _problem(str(error), 422)
            except Exception as error:  # a defect: one request's, not the service's
                _logger.exception("defect")
                response = _problem(f"Internal error: {type(error).__name__}.", 500)
            self._held -= request.scope.pop("yarrow.held", 0)
            self.metrics.count(
                endpoint.operation, response.status_code, time.perf_counter() - began
            )
            return response

        return handle

    async def _answer(self, endpoint: Endpoint, request: Request) -> Response:
        if endpoint.right is not None:
            if not self.tokens:
                check_host(self.header(request, b"host"), self.hosts)
            client = self.tokens.check(self.header(request, b"authorization"), endpoint.right)
            self.rates.check(client or (request.client.host if request.client else ""))
            if request.scope["query_string"]:
                check_query(endpoint.operation, request.query_params)
        found = await endpoint.act(self, request)
        if endpoint.right == "admin" and endpoint.method != "GET":
            fields = {"path": request.url.path, "token": client or None}
            _logger.info(endpoint.operation, extra={"fields": fields})
        if isinstance(found, Response):
            return found
        return Response(msgspec.json.encode(found), media_type="application/json")

    @staticmethod
    def header(request: Request, name: bytes) -> str:
        """A header of a request, empty without it; looked up by hash, as many are asked for."""
        known = request.scope.get("yarrow.headers")
        if known is None:
            known = request.scope["yarrow.headers"] = dict(request.scope["headers"])
        return str(known.get(name, b""), "latin-1")

    async def body(self, request: Request) -> bytes:
        """The body of a request, no larger than allowed."""
        length = self.header(request, b"content-length")
        if length.isdigit() and int(length) > self.limits.body:
            self._too_large()
        parts, size, more = [], 0, True
        try:
            async with asyncio.timeout(self.limits.seconds):
                while more:
                    message = await request.receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    part, more = message.get("body", b""), message.get("more_body", False)
                    size += len(part)
                    if size > self.limits.body:
                        self._too_large()
                    self._hold(request, len(part))
                    parts.append(part)
        except TimeoutError:
            raise ServiceError("The request body did not arrive in time.", 408) from None
        return b"".join(parts)

    def _hold(self, request: Request, size: int) -> None:
        """Count bytes of a body until it is answered: many large ones must not fill the memory."""
        self._held += size
        request.scope["yarrow.held"] = request.scope.get("yarrow.held", 0) + size
        if self._held > _BODIES * self.limits.body:
            raise ServiceError("Too many large bodies at once: try again soon.", 503)

    def _too_large(self) -> None:
        raise ServiceError(f"The body is larger than {self.limits.body} bytes.", 413)

    async def parts(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a stream as it comes; a client that hangs is left alone."""
        stream = request.stream().__aiter__()
        while True:
            try:
                async with asyncio.timeout(self.limits.seconds):
                    part = await anext(stream)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise ServiceError("The request body did not arrive in time.", 408) from None
            if part:
                yield part

    async def read(self, request: Request, kind: Any) -> Any:
        """The message of a request."""
        if not self.header(request, b"content-type").startswith("application/json"):
            raise ServiceError("Send JSON, with 'Content-Type: application/json'.", 415)
        body, decode = await self.body(request), _decoder(kind).decode
        return decode(body) if len(body) < _LARGE else await asyncio.to_thread(decode, body)

    # -- models ----------------------------------------------------------------------------------

    def name(self, request: Request) -> str:
        """The model's name in a path, with its key."""
        path = request.path_params
        return f"{path['name']}/{path['key']}" if "key" in path else str(path["name"])

    async def model(
        self, request: Request, missing: Literal["refuse", "create", "parent"] = "refuse"
    ) -> Model:
        """The model that a path names; one per key begins with its first row."""
        name = self.name(request)
        found = self.service.models.get(name)
        if found is not None:
            return found
        parent = self.service.models.get(name.partition("/")[0])
        if missing == "refuse" or parent is None or not parent.spec.get("per_key"):
            raise ServiceError(f"There is no model {name!r}.", 404)
        if missing == "parent":
            return parent
        spec = {key: value for key, value in parent.spec.items() if key != "per_key"}
        try:
            await self.run(self.service.creating(name, spec))
        except ServiceError as error:
            if error.status != 409:  # another request was first
                raise
        return self.service.model(name)

    async def learner(self, model: Model) -> Any:
        """What answers for a model, from the disk if it rested."""
        version = model.champion
        if version.learner is not None:
            return version.learner
        return await asyncio.to_thread(self.service.live, version)


async def _no_such(request: Request, error: Exception) -> Response:
    """What Starlette refuses: a path, or a method of it."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    path = repr(request.url.path[:200])
    if status == 405:
        return _problem(f"{path} does not accept {request.method}.", status)
    return _problem(f"There is no path {path}.", status)


def _problem(sentence: str, status: int) -> Response:
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    content = msgspec.json.encode(messages.Problem(sentence))
    return Response(content, status, headers, media_type="application/json")
