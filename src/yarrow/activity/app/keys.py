"""Who may ask: the page and the server make sure of each other, and no key is sent to do it.

A page stays open when the program ends, and then another program may listen at the same address.
So before each request the page greets with a number used once, and the server answers with a
proof (HMAC-SHA256 with the key) over its address, that number and the present moment. Only to a
server whose proof is right the page sends a request, with a proof of its own over the same and
over all that it asks. The server takes each request once, within `LASTS` seconds, at the address
and in the run that it was made for: to anybody else it is worth nothing.

There are two keys. The key in the link is made anew at each start: a browser keeps it, and a
program that gets hold of the address could read what the browser keeps, but by then that run is
over. The lasting key is told to a page that has proved itself. It lies in the page's memory alone,
where no other program's page comes, and lets an open page go on after the program was restarted.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import secrets
import threading
import time
import urllib.parse
from typing import Any

from yarrow.activity.log.validation import read_json
from yarrow.errors import ParameterError, YarrowError

LASTS = 30.0  # seconds that a request may take to arrive; the page waits no longer for an answer
_LONGEST = 64  # characters of a greeting's number
_SCHEME = "Yarrow"


def proof(key: str, *parts: str | bytes) -> str:
    """What only those can tell who have the key."""
    said = b"\n".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    return hmac.new(key.encode(), said, hashlib.sha256).hexdigest()


class Keys:
    """The server's side.

    Parameters
    ----------
    address : where the server is, such as http://127.0.0.1:5609
    lasting : the key that outlives this run; a new one by default

    Examples
    --------
    >>> keys = Keys("http://127.0.0.1:5609")
    >>> moment = keys.greeted("1f")["moment"]
    >>> asked = ("GET", "/api/state", b"")
    >>> mine = proof(keys.run, "page", keys.address, "1f", moment, *asked)
    >>> header = f"Yarrow 1f {moment} {mine}"
    >>> keys.opens(header, *asked), keys.opens(header, *asked)  # it is taken once
    (True, False)
    """

    def __init__(self, address: str, lasting: str | None = None) -> None:
        self.address = address
        self.run = secrets.token_urlsafe(24)
        self.lasting = lasting or secrets.token_urlsafe(24)
        self._name = secrets.token_urlsafe(12)  # of this run
        self._used: dict[str, float] = {}  # numbers of requests that were taken, and until when
        self._one_at_a_time = threading.Lock()

    def greeted(self, number: str) -> dict[str, Any]:
        """The answer to a greeting: the present moment, and a proof with each key."""
        if not (number.isalnum() and len(number) <= _LONGEST):
            raise ParameterError("a greeting has a number that is used once.")
        moment = f"{self._name}.{time.monotonic()}"  # all its digits: none is ahead of now
        said = ("server", self.address, number, moment)
        return {"moment": moment, "proofs": [proof(key, *said) for key in (self.run, self.lasting)]}

    def opens(self, header: str, method: str, path: str, body: bytes) -> bool:
        """Whether a request was made here, just now, by one who has a key, and is new."""
        scheme, number, moment, given = [*header.split(" "), "", "", "", ""][:4]
        said = ("page", self.address, number, moment, method, path, body)
        right = [hmac.compare_digest(given.encode(), proof(key, *said).encode())
                 for key in (self.run, self.lasting)]  # fmt: skip
        name, _, at = moment.partition(".")
        if scheme != _SCHEME or not any(right) or name != self._name:
            return False
        now = time.monotonic()  # the key's owner has signed `at`: it is a number of this clock
        with self._one_at_a_time:
            self._used = {one: until for one, until in self._used.items() if until > now}
            if number in self._used or not now - LASTS < float(at) <= now:
                return False
            self._used[number] = now + LASTS
        return True


class Stranger(YarrowError):
    """What answers at the address does not know the key."""


class Guest:
    """The page's side, for programs: makes sure of the server at a link."""

    def __init__(self, link: str) -> None:
        parts = urllib.parse.urlsplit(link)
        self.host, self.port = str(parts.hostname), int(parts.port or 80)
        self.address = f"http://{self.host}:{self.port}"
        self.key = urllib.parse.parse_qs(parts.fragment).get("key", [""])[0]

    def ask(self, path: str, timeout: float = 2.0) -> Any:
        """What the server answers to a question; OSError, ValueError or Stranger if it does not."""
        headers = {"Authorization": self.pass_for("GET", path, timeout=timeout)}
        return self._get(path, headers, timeout)

    def pass_for(self, method: str, path: str, body: bytes = b"", timeout: float = 2.0) -> str:
        """Make sure of the server; return the header that lets one request in."""
        number = secrets.token_hex(16)
        told = self._get(f"/hello?number={number}", {}, timeout)
        try:
            moment, proofs = str(told["moment"]), list(told["proofs"])
        except (KeyError, TypeError):
            moment, proofs = "", []
        if proof(self.key, "server", self.address, number, moment) not in proofs:
            raise Stranger(f"{self.address}: the program that answers there does not know the key.")
        said = ("page", self.address, number, moment, method, path, body)
        return f"{_SCHEME} {number} {moment} {proof(self.key, *said)}"

    def _get(self, path: str, headers: dict[str, str], timeout: float) -> Any:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        with contextlib.closing(connection):
            try:
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                if answer.status != http.client.OK:
                    raise OSError(f"{self.address} answers with {answer.status}")
                return read_json(answer.read())
            except http.client.HTTPException as error:
                raise OSError(str(error)) from None
