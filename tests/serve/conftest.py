"""A service by HTTP, in a thread of the tests."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn

from yarrow.serve.api import Api
from yarrow.serve.client import Client
from yarrow.serve.connection import Connection
from yarrow.serve.limits import Limits
from yarrow.serve.service import Service


@contextmanager
def served(folder, limits=None, **options):
    """An application that is served, and where."""
    api = Api(Service(folder, **{"level": "os"} | options), limits or Limits())
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    server = uvicorn.Server(uvicorn.Config(api, http=Connection, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield api, f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture
def api(tmp_path):
    with served(tmp_path / "data") as (found, url):
        found.url = url
        yield found


@pytest.fixture
def client(api):
    with Client(api.url, retries=0) as found:
        yield found
