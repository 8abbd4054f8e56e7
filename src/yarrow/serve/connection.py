"""Connections: what is written in one turn of the event loop goes to the system at once.

uvicorn writes the head and the body of an answer one after the other, and uvloop sends each: of
the time of a prediction a quarter went into the first of two system calls (py-spy).
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Connection(HttpToolsProtocol):
    """uvicorn's, with such a transport."""

    def connection_made(self, transport: Any) -> None:
        together: Any = _Together(transport, self.loop)
        super().connection_made(together)


class _Together:
    """A transport that writes at the end of a turn."""

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
