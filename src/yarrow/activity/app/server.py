"""The page's server: on this machine only, for those who have a key.

Other programs and web pages on the same machine are strangers. So the address is 127.0.0.1, and
each request about data carries a proof in a header that its sender has a key (see `keys`; a cookie
would be sent to every other port of this machine too). Its `Host` must be ours, since a stranger's
name may be made to point to 127.0.0.1, and `localhost` may be another program's ::1; and if a
browser says where a request comes from, it must come from our page. The page itself holds no data
and may load nothing from elsewhere.
"""

from __future__ import annotations

import http.server
import importlib.resources
import json
import socketserver
import sqlite3
import threading
import urllib.parse
from importlib.resources.abc import Traversable
from typing import Any

from yarrow.activity.app.keys import Keys
from yarrow.activity.app.requests import Requests
from yarrow.activity.log.validation import read_json
from yarrow.errors import ParameterError, YarrowError

HOST = "127.0.0.1"
_LARGEST = 1 << 20  # bytes of a request's body
_ALIVE = 15.0  # seconds between signs of life to a page that listens
_OFTEN = 0.2  # seconds: not more than so often is a page told
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_FILES = {
    f"/{file.name}": file
    for file in (importlib.resources.files("yarrow.activity.app") / "page").iterdir()
}
_FILES["/"] = _FILES.pop("/index.html")
_ALWAYS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class PageServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Serves the page of a session until `close`.

    Parameters
    ----------
    requests : what can be asked and said
    token : the key that outlives this run; a new one by default
    port : 0 takes a free one
    """

    daemon_threads = True
    request_queue_size = 64
    allow_reuse_address = True
    block_on_close = False

    def __init__(self, requests: Requests, token: str | None = None, port: int = 0) -> None:
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise ParameterError(
                f"port {port} of this machine cannot be used ({error.strerror}); "
                "choose another by --port."
            ) from None
        self.requests = requests
        self.keys = Keys(self.address.rstrip("/"), token)
        self.stopping = threading.Event()

    @property
    def address(self) -> str:
        """Where the page is, without the key."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def link(self) -> str:
        """The address with the key of this run, for the person whose desk it is."""
        return f"{self.address}#key={self.keys.run}"

    def start(self) -> None:
        """Serve in a thread of its own."""
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def close(self) -> None:
        """Stop listening, and let go of pages that listen."""
        self.stopping.set()
        with self.requests.session.changed:
            self.requests.session.changed.notify_all()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that goes away in the middle is no error."""
        import sys

        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Refused(Exception):
    """A request that is not answered, with the number that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _Handler(http.server.BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    timeout = 60
    _begun = False  # to answer
    server_version = "yarrow"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def log_message(self, *_: Any) -> None:
        """Say nothing: titles of windows do not belong on a terminal."""

    def _answer(self, method: str) -> None:
        self._begun = False
        if self.server.stopping.is_set():  # a connection that was kept open
            self.close_connection = True
            return
        try:
            self._check_host()
            try:
                parts = urllib.parse.urlsplit(self.path)
                asked = dict(urllib.parse.parse_qsl(parts.query))
            except ValueError:
                raise _Refused(404, "There is no such page.") from None
            if method == "GET" and parts.path in _FILES:
                return self._send_file(_FILES[parts.path])
            self._check_origin()
            if method == "GET" and parts.path == "/hello":
                return self._send_json(200, self.server.keys.greeted(asked.get("number", "")))
            if not parts.path.startswith("/api/"):
                raise _Refused(404, "There is no such page.")
            body = self._body() if method == "POST" else b""
            if not self.server.keys.opens(
                self.headers.get("Authorization", ""), method, self.path, body
            ):
                raise _Refused(401, "The key is missing or wrong, or the request has expired.")
            what = parts.path.removeprefix("/api/")
            if method == "GET" and what == "live":
                return self._send_live()
            if method == "GET" and what == "keys":
                keys = self.server.keys
                return self._send_json(200, {"run": keys.run, "lasting": keys.lasting})
            if method == "POST":
                asked = _read(body)
            told = self.server.requests.answer(method, what, asked)
            if told is None:
                raise _Refused(404, f"There is no request {what!r}.")
            self._send_json(200, told)
        except _Refused as refused:
            self.close_connection = True  # the body may not have been read
            self._send_json(refused.status, {"error": str(refused)})
        except YarrowError as error:
            self._send_json(400, {"error": str(error)})
        except sqlite3.Error as error:
            self._send_json(500, {"error": f"the log cannot be written ({error})."})
        except OSError:  # the page went away
            raise
        except Exception as error:
            self.close_connection = True
            if not self._begun:
                told = f"Unexpected error ({type(error).__name__})."
                self._send_json(500, {"error": told})
            raise

    def _check_host(self) -> None:
        if self.headers.get("Host", "").lower() != f"{HOST}:{self.server.server_port}":
            raise _Refused(403, f"Unexpected Host header; the page is at {self.server.address}")

    def _check_origin(self) -> None:
        origin = self.headers.get("Origin", self.server.keys.address)
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        if origin != self.server.keys.address or site not in ("same-origin", "none"):
            raise _Refused(403, "Requests from other pages are refused.")

    def _body(self) -> bytes:
        if self.headers.get_content_type() != "application/json":
            raise _Refused(415, "The request body must be JSON.")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _LARGEST:
            raise _Refused(413, "The request body needs a Content-Length of at most 1 MiB.")
        return self.rfile.read(int(length))

    def _send_file(self, file: Traversable) -> None:
        kind = _KINDS[file.name.rpartition(".")[2]]
        self._send(200, f"{kind}; charset=utf-8", file.read_bytes())

    def _send_json(self, status: int, told: Any) -> None:
        self._send(status, "application/json", json.dumps(told).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self._start(status, kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _start(self, status: int, kind: str) -> None:
        self._begun = True
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in _ALWAYS.items():
            self.send_header(name, value)

    def _send_live(self) -> None:
        """A line whenever the state has changed, and now and then as a sign of life."""
        self.close_connection = True
        session = self.server.requests.session
        self._start(200, "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        while not self.server.stopping.is_set():
            seen = session.version
            self.wfile.write(f"data: {seen}\n\n".encode())
            self.server.stopping.wait(_OFTEN)
            with session.changed:
                if session.version == seen and not self.server.stopping.is_set():
                    session.changed.wait(_ALIVE)


def _read(body: bytes) -> dict[str, Any]:
    try:
        told = read_json(body)
    except ValueError as error:
        raise _Refused(400, f"The request body must be JSON ({error}).") from None
    if not isinstance(told, dict):
        raise _Refused(400, "The request body must be a JSON object.")
    return told
