"""A real ActivityWatch server, and watchers that send it recorded heartbeats."""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from activity.support import asked_until

from yarrow.activity.sources.activitywatch import ActivityWatch, Unreachable

SERVER = shutil.which(
    "aw-server", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
)
HERE = socket.gethostname()
WINDOW, WEB, AFK = f"aw-watcher-window_{HERE}", "aw-watcher-web-firefox", f"aw-watcher-afk_{HERE}"
_KINDS = {WINDOW: "currentwindow", WEB: "web.tab.current", AFK: "afkstatus"}


def free_port() -> int:
    """A port that nobody uses just now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Watched:
    """An ActivityWatch server on a port, and what its watchers do."""

    def __init__(self, port: int) -> None:
        self.server = ActivityWatch(f"http://127.0.0.1:{port}")

    def create(self, bucket: str) -> None:
        """What a watcher does first."""
        about = {"client": "test", "type": _KINDS[bucket], "hostname": HERE}
        self.server._ask(f"buckets/{bucket}", about)

    def beat(self, bucket: str, at: float, pulse: float = 60.0, **data: Any) -> None:
        """One heartbeat: so it was at this time."""
        stamp = datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat()
        body = {"timestamp": stamp, "duration": 0, "data": data}
        self.server._ask(f"buckets/{bucket}/heartbeat?pulsetime={pulse}", body)

    def beats(
        self, bucket: str, start: float, end: float, every: float = 10.0, **data: Any
    ) -> None:
        """A heartbeat every few seconds."""
        at = start
        while at < end:
            self.beat(bucket, at, **data)
            at += every
        self.beat(bucket, end, **data)


@contextlib.contextmanager
def activitywatch(folder: Path, port: int | None = None) -> Iterator[Watched]:
    """Start a server that keeps nothing, and stop it."""
    port = port or free_port()
    homes = {f"XDG_{name}_HOME": str(folder) for name in ("DATA", "CONFIG", "CACHE", "STATE")}
    process = subprocess.Popen(
        [
            str(SERVER),
            "--testing",
            "--storage",
            "memory",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | homes,
    )
    try:
        watched = Watched(port)

        def answers() -> bool:
            assert process.poll() is None, "aw-server ended"
            with contextlib.suppress(Unreachable):
                watched.server.buckets()
                return True
            return False

        assert asked_until(answers, bool), "aw-server does not answer"
        yield watched
    finally:
        process.kill()
        process.wait(20)
