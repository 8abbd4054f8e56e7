"""A client of the service, typed; it needs nothing but msgspec.

    client = Client("http://127.0.0.1:8787", token="...")
    client.create("spam", {"learner": "arow"})
    found = client.predict("spam", {"cheap": 1, "pills": 1})
    client.feedback("spam", found.ticket, "spam")

What fails on its way is sent again: an event without an id is given one, so that it counts once
whatever arrives twice. `AsyncClient` has the same methods to await.
"""

from __future__ import annotations

import asyncio
import functools
import http.client
import queue
import random
import time
import uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from yarrow.serve import messages as m
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import Line

T = TypeVar("T")
P = ParamSpec("P")
Features = Mapping[str, float | int | str | bool | None] | str
"""A row: values by name, or a text."""
_AGAIN = (429, 502, 503, 504)
_TYPES = {"jsonl": "application/x-ndjson", "svmlight": "text/x-svmlight", "vw": "text/x-vw"}


class Client:
    """A client that threads may share: each request takes a connection of its own."""

    def __init__(
        self, url: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 5
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServiceError(
                f"{url!r} is not the address of a service, such as http://127.0.0.1:8787."
            )
        self._made = functools.partial(
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection,
            parts.hostname, parts.port, timeout=timeout,
        )  # fmt: skip
        self._base, self._token, self._retries = parts.path.rstrip("/"), token, retries
        self._idle: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue()

    def close(self) -> None:
        """Close all connections."""
        while not self._idle.empty():
            self._idle.get().close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- models ----------------------------------------------------------------------------------

    def models(self) -> list[str]:
        """The names of all models."""
        return self._ask("GET", "/models", None, m.Models).models

    def create(self, name: str, spec: Mapping[str, Any]) -> m.ModelState:
        """A new model of a spec."""
        return self._ask("PUT", _path(name), spec, m.ModelState)

    def about(self, name: str) -> m.ModelState:
        """A model and its versions."""
        return self._ask("GET", _path(name), None, m.ModelState)

    def delete(self, name: str) -> None:
        """Remove a model with all that it has learned."""
        self._ask("DELETE", _path(name), None, dict)

    def copy(self, name: str, to: str) -> m.ModelState:
        """A copy that goes on by itself."""
        return self._ask("POST", _path(name, "copy"), m.Copy(to), m.ModelState)

    def upload(self, name: str, content: bytes) -> m.ModelState:
        """A new model of the content of a model file."""
        return self._ask("PUT", _path(name), content, m.ModelState)

    def download(self, name: str, *, event: int | None = None, time: float | None = None) -> bytes:
        """The content of a model file, now or as of an event or a time."""
        given = {"event": event, "time": time}
        return self._send("GET", _path(name, "file", **given), None)

    def challenge(
        self, name: str, spec: dict[str, Any], *, replay: bool = True, promote: bool = False
    ) -> m.ModelState:
        """A challenger of another spec; it learns all events, or those to come."""
        message = m.Challenge(spec, replay, promote)
        return self._ask("POST", _path(name, "versions"), message, m.ModelState)

    def alarms(self) -> list[m.AlarmState]:
        """What has changed: error, confidence, classes, features."""
        return self._ask("GET", "/alarms", None, m.Alarms).alarms

    def promote(self, name: str, version: int) -> m.ModelState:
        """Let another version answer."""
        return self._ask("POST", _path(name, "champion"), m.Champion(version), m.ModelState)

    # -- rows ------------------------------------------------------------------------------------

    def predict(
        self, name: str, row: Features, *, ticket: bool = True, explain: bool = False
    ) -> m.Prediction:
        """What a model thinks of a row."""
        message = m.Predict(_values(row), ticket=ticket, explain=explain)
        return self._ask("POST", _path(name, "predict"), message, m.Prediction)

    def predict_many(
        self, name: str, rows: Iterable[Features], *, ticket: bool = True
    ) -> list[m.Prediction]:
        """What a model thinks of several rows."""
        message = m.Predict(rows=list(map(_values, rows)), ticket=ticket)
        return self._ask("POST", _path(name, "predict"), message, m.Predictions).predictions

    def predict_lines(
        self, name: str, text: bytes, format: str, *, index_base: int = 1
    ) -> m.PredictedLines:
        """What a model thinks of lines of JSON, svmlight or VW."""
        path = _path(name, "predict", index_base=index_base)
        lines = self._send("POST", path, text, _TYPES[format]).splitlines()
        skipped: dict[str, Any] = {}
        if lines and lines[-1].startswith(b'{"skipped"'):
            skipped = msgspec.json.decode(lines.pop())
        read = msgspec.json.Decoder(m.PredictedLine).decode
        return m.PredictedLines([read(line) for line in lines], **skipped)

    def learn(
        self,
        name: str,
        row: Features,
        label: m.Label | None,
        *,
        weight: float = 1.0,
        id: str | None = None,
        source: str | None = None,
    ) -> m.Learnt:
        """Let a model learn a row."""
        message = m.Learn(_values(row), label, weight, id or _new_id(), source=source)
        return self._ask("POST", _path(name, "learn"), message, m.Learnt)

    def learn_many(
        self, name: str, rows: Iterable[tuple[Features, m.Label]], *, source: str | None = None
    ) -> list[m.Learnt]:
        """Let a model learn several rows, each its own event."""
        listed = [Line(_values(row), label, id=_new_id()) for row, label in rows]
        message = m.Learn(rows=listed, source=source)
        return self._ask("POST", _path(name, "learn"), message, m.Learnts).events

    def learn_lines(
        self, name: str, text: bytes, format: str, *, stream: str | None = None,
        index_base: int = 1, source: str | None = None,
    ) -> m.Streamed:  # fmt: skip
        """Let a model learn lines of JSON, svmlight or VW; those of a stream count once."""
        given = {"stream": stream or _new_id(), "index_base": index_base, "source": source}
        path = _path(name, "learn", **given)
        return msgspec.json.decode(self._send("POST", path, text, _TYPES[format]), type=m.Streamed)

    def feedback(
        self,
        name: str,
        ticket: str | None,
        label: m.Label,
        *,
        row: Features | None = None,
        id: str | None = None,
        source: str | None = None,
    ) -> m.Learnt:
        """A label for a prediction's ticket, or for the row that is sent with it."""
        values = None if row is None else _values(row)
        message = m.Feedback(label, ticket, values, id=id or ticket or _new_id(), source=source)
        return self._ask("POST", _path(name, "feedback"), message, m.Learnt)

    def undo(
        self, name: str, *, events: Sequence[int] = (), ids: Sequence[str] = (),
        stream: str | None = None, lines: Sequence[int] = (), source: str | None = None,
        since: float | None = None, until: float | None = None,
        label: m.Label | None = None, erase: bool = False, id: str | None = None,
    ) -> m.Undone:  # fmt: skip
        """Take labels back: by event, by id, by lines of a stream, or all of a source or a time.

        With a label they get another one, with `erase` no byte of them stays.
        """
        message = m.Undo(
            list(events), list(ids), stream, list(lines), source, since, until,
            label=label, erase=erase, id=id or _new_id(),
        )  # fmt: skip
        return self._ask("POST", _path(name, "undo"), message, m.Undone)

    # -- the way ---------------------------------------------------------------------------------

    def _ask(self, method: str, path: str, message: Any, answer: type[T]) -> T:
        return msgspec.json.decode(self._send(method, path, message), type=answer)

    def _send(self, method: str, path: str, message: Any, kind: str | None = None) -> bytes:
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        body = None
        if isinstance(message, bytes):
            body, headers["Content-Type"] = message, kind or "application/octet-stream"
        elif message is not None:
            body, headers["Content-Type"] = msgspec.json.encode(message), "application/json"
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                status, content = self._once(method, self._base + path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                if last:
                    raise ServiceError(f"The service cannot be reached: {error}.", 503) from error
            else:
                if status < 400:
                    return content
                if status not in _AGAIN or last:
                    raise ServiceError(_sentence(content), status)
            time.sleep(min(2.0, 0.05 * 2**attempt) * random.uniform(0.5, 1.0))
        raise AssertionError

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = self._made()
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        self._idle.put(connection)
        return response.status, content


def _awaited(
    method: Callable[Concatenate[Client, P], T],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """A method of the client, in a thread that waits."""

    @functools.wraps(method)
    async def call(self: AsyncClient, /, *args: P.args, **options: P.kwargs) -> T:
        return await asyncio.to_thread(method, self._client, *args, **options)

    return call


class AsyncClient:
    """The same methods to await."""

    def __init__(
        self, url: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 5
    ) -> None:
        self._client = Client(url, token=token, timeout=timeout, retries=retries)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._client.close()

    close = _awaited(Client.close)
    models = _awaited(Client.models)
    create = _awaited(Client.create)
    about = _awaited(Client.about)
    delete = _awaited(Client.delete)
    copy = _awaited(Client.copy)
    upload = _awaited(Client.upload)
    download = _awaited(Client.download)
    challenge = _awaited(Client.challenge)
    alarms = _awaited(Client.alarms)
    promote = _awaited(Client.promote)
    predict = _awaited(Client.predict)
    predict_many = _awaited(Client.predict_many)
    predict_lines = _awaited(Client.predict_lines)
    learn = _awaited(Client.learn)
    learn_many = _awaited(Client.learn_many)
    learn_lines = _awaited(Client.learn_lines)
    feedback = _awaited(Client.feedback)
    undo = _awaited(Client.undo)


def _values(row: Features) -> m.Values | str:
    return row if isinstance(row, str) else dict(row)


def _path(name: str, *verbs: str, **query: Any) -> str:
    given = {key: value for key, value in query.items() if value is not None}
    path = "/".join(["", "models", *(quote(part, safe="") for part in name.split("/")), *verbs])
    return f"{path}?{urlencode(given)}" if given else path


def _new_id() -> str:
    return uuid.uuid4().hex


def _sentence(content: bytes) -> str:
    try:
        return msgspec.json.decode(content, type=m.Problem).error
    except (msgspec.DecodeError, msgspec.ValidationError):
        return content[:200].decode("utf-8", "replace")
