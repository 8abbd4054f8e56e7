"""`yarrow serve`: the process around the service."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import sys
import tempfile
import time
import warnings
from ipaddress import ip_address
from typing import Any

import msgspec
import uvicorn

from yarrow.errors import ParameterError, UnknownFeaturesWarning
from yarrow.serve.api import Api
from yarrow.serve.connection import Connection, most_connections
from yarrow.serve.limits import Limits
from yarrow.serve.service import Service
from yarrow.serve.tokens import Tokens

_logger = logging.getLogger("yarrow.serve")
_SECONDS_TO_SPEAK = 0.25
_SECONDS_TO_STOP = 20  # for requests that are under way


def serve(
    data: str | None,
    host: str,
    port: int,
    fd: int | None,
    vw_port: int | None,
    vw_model: str,
    level: Any,
    ticket_hours: float,
    ticket_mb: int,
    memory_mb: int,
    models: int,
    body_mb: int,
    rate: float,
    webhook: str | None,
    demo: bool,
    new_token: str | None,
) -> None:
    """Serve until the process is told to stop (SIGTERM, Ctrl-C), then carry out what waits."""
    if data is None and not demo:
        raise ParameterError(
            "Missing option: --data DIR says where models are kept (--demo is for a first look)."
        )
    service = Service(
        data if data is not None else tempfile.mkdtemp(prefix="yarrow-demo-"),
        level=level,
        ticket_seconds=ticket_hours * 3600,
        ticket_bytes=ticket_mb << 20,
        memory=memory_mb << 20,
        most_models=models,
        webhook=webhook,
    )
    if new_token is not None:
        with service:
            name, _, rights = new_token.partition(":")
            print(service.run(Tokens(service).adding(name, rights))["token"])
        return
    api = Api(service, Limits(body=body_mb << 20, rate=rate), hosts=(host,))
    listening = socket.socket(fileno=fd) if fd is not None else _listen(host, port)
    lines = None if vw_port is None else _listen("127.0.0.1", vw_port)  # they carry no token
    if not api.tokens and _lets_others_in(listening):
        service.close()
        raise ParameterError(
            "Other machines could read and train these models: create a token first, with "
            "--new-token NAME:admin."
        )
    if demo:
        from yarrow.serve.demo import begin

        begin(service)
    # A thread that replays gives the others their turn after a millisecond, not after five.
    sys.setswitchinterval(0.001)
    _log_as_json()
    Connection.most = most_connections()
    gc.collect()
    gc.freeze()  # what is there by now stays: to look through it stops all clients for 50 ms
    _logger.info("serving", extra={"fields": {"models": len(service.models)}})
    config = uvicorn.Config(
        api,
        http=Connection,
        ws="none",
        proxy_headers=False,
        loop="uvloop",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_STOP,
        timeout_keep_alive=30,
        backlog=1024,
    )
    server = _Server(config, api, lines, vw_model)
    server.run(sockets=[listening])
    if fd is None:
        listening.close()


class _Lines(logging.Formatter):
    """What is told, a line of JSON each."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(told).decode()


def _log_as_json() -> None:
    to_stderr = logging.StreamHandler(sys.stderr)
    to_stderr.setFormatter(_Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[to_stderr])
    logging.getLogger("yarrow.serve").setLevel(logging.INFO)
    warnings.showwarning = lambda message, *_, **__: _logger.warning(str(message))
    warnings.simplefilter("ignore", UnknownFeaturesWarning)  # it quotes rows, which may be erased


class _Server(uvicorn.Server):
    """uvicorn's, with the lines of vw beside it."""

    def __init__(
        self, config: uvicorn.Config, api: Api, vw: socket.socket | None, vw_model: str
    ) -> None:
        super().__init__(config)
        self._api, self._vw, self._vw_model = api, vw, vw_model
        self._lines: asyncio.Server | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._vw is not None:
            from yarrow.serve.vw import listen

            self._lines = await listen(self._api, self._vw_model, self._vw)
        for place in [listening.getsockname() for listening in sockets or []]:
            if isinstance(place, tuple):
                print(f"http://{place[0]}:{place[1]}", flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._api.stopping = True
        for server in [*self.servers, *([self._lines] if self._lines else [])]:
            server.close()
        # Who was accepted and has not yet said what it wants must not be cut off.
        await asyncio.sleep(_SECONDS_TO_SPEAK)
        await super().shutdown(sockets)
        _logger.info("stopped")


def _lets_others_in(listening: socket.socket) -> bool:
    """Whether others than this machine reach a socket, which may have been handed over."""
    place = listening.getsockname()
    return isinstance(place, tuple) and not ip_address(place[0].partition("%")[0]).is_loopback


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ParameterError(f"Cannot listen on {host}:{port}: {error.strerror}.") from None
    listening.listen(1024)
    return listening
