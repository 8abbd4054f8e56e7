"""What one client may cost: bytes of a body, features of a row, requests a second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from yarrow.serve.errors import ServiceError

_LOCAL = ("localhost", "127.0.0.1", "[::1]", "testserver")


class Limits(NamedTuple):
    """Limits of all requests."""

    body: int = 64 << 20  # bytes, but for streams
    line: int = 16 << 20  # bytes of a line of a stream
    features: int = 1_000_000  # of a row
    rate: float = 0.0  # requests a second of a client; 0: as many as it can
    seconds: float = 30.0  # that the next bytes of a body may take

    def check_rows(self, rows: Sequence[dict[Any, Any]]) -> None:
        """Refuse a row with too many features."""
        for place, row in enumerate(rows):
            if len(row) > self.features:
                raise ServiceError(f"Row {place} has more than {self.features} features.", 413)


class Rates:
    """A bucket of one second's requests for each client, filled as time goes by."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._left: dict[str, tuple[float, float]] = {}

    def check(self, client: str) -> None:
        """Refuse a client that asks too often."""
        if not self.rate:
            return
        now = time.monotonic()
        left, when = self._left.get(client, (self.rate, now))
        left = min(self.rate, left + (now - when) * self.rate)
        if left < 1:
            raise ServiceError(f"More than {self.rate:g} requests a second: slow down.", 429)
        if len(self._left) > 10_000:
            self._left.clear()
        self._left[client] = left - 1, now


def check_host(host: str, known: Sequence[str]) -> None:
    """Without tokens only who asks for this machine by its own name is heard.

    Else a page of a stranger, open in a browser here, could ask by a name that it leads here.
    """
    name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    if name not in _LOCAL and name not in known:
        raise ServiceError(f"Unexpected Host header {host[:100]!r}.", 403)
