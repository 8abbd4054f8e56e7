"""One connection: uvicorn's, with bounds on what a client may cost before it has asked anything."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = 64 << 10  # bytes of a request's first line and headers
_SECONDS_TO_ASK = 30.0  # that a request may take to say what it wants
_SPARED = 200  # open files that are not for connections
_MOST = 8192


def most_connections() -> int:
    """How many connections there may be, after asking the system for as many as it gives."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST + _SPARED if hard == resource.RLIM_INFINITY else min(hard, _MOST + _SPARED)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(16, min(_MOST, max(soft, wanted) - _SPARED))


class Connection(HttpToolsProtocol):
    """uvicorn's; it is cut off if it does not say in time, or in few words, what it wants."""

    head, seconds, most = _HEAD, _SECONDS_TO_ASK, _MOST
    _patience: asyncio.TimerHandle | None = None
    _heading = 0  # bytes of a head that has not ended
    _in_body = False

    def connection_made(self, transport: Any) -> None:
        together: Any = _Together(transport, self.loop)
        super().connection_made(together)
        if len(self.connections) > self.most:  # the files that are left are the service's own
            transport.abort()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing() or not (
            self.cycle is None or self.cycle.response_complete
        ):  # a request is under way, or waits behind one
            return
        if not self._in_body:
            self._heading += len(data)
        if self._heading > self.head:
            self.send_400_response(f"The head of a request has more than {self.head} bytes.")
        elif self._patience is None:
            self._wait()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._in_body, self._heading = True, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        pass  # there are no WebSockets: the request is answered as it is

    def _wait(self) -> None:
        self._patience = self.loop.call_later(self.seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class _Together:
    """A transport that writes at the end of a turn: headers and body in one packet."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            self._transport.write(b"".join(self._parts))
            self._parts = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
