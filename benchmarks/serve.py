"""Measures `yarrow serve` on this machine, with its client beside it: needs wrk (Debian: wrk).

    python -m benchmarks.serve                  all parts, into RESULTS.md
    python -m benchmarks.serve requests undo    some of them

AROW, rows of 67 features. `cpu` is what the service's process itself used, all threads together,
a row: it says what a machine without other work would do. Where others work on it, too, put
`nice -n -19` before it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import machine, publish, table
from yarrow.serve.client import Client

FEATURES, NAMES = 67, 20_000
PORT = 8790
TURNS = 3
Result = tuple[str, str, str]  # what, asked, measured


def rows(n: int, seed: int = 1) -> list[tuple[dict[int, float], int]]:
    """Rows of numbered features, with a label that depends on some."""
    source = random.Random(seed)
    found = []
    for _ in range(n):
        row = {source.randrange(NAMES): round(source.random(), 4) for _ in range(FEATURES)}
        label = sum(value if name % 2 else -value for name, value in row.items()) > 0
        found.append((row, int(label)))
    return found


def line(format: str, row: dict[int, float], label: int) -> bytes:
    if format == "jsonl":
        named = {f"f{name}": value for name, value in row.items()}
        return json.dumps({"row": named, "label": label}, separators=(",", ":")).encode() + b"\n"
    if format == "vw":
        cells = " ".join(f"f{name}:{value}" for name, value in row.items())
        return f"{label or -1} | {cells}\n".encode()
    cells = " ".join(f"{name + 1}:{value}" for name, value in sorted(row.items()))
    return f"{label or -1} {cells}\n".encode()


def cpu_of(process: int) -> float:
    """Seconds that a process and its children have used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_of(int(child)) for child in children)


class Served:
    """A service in a process of its own."""

    def __init__(self, folder: Path, level: str, *options: str) -> None:
        self.folder, self.level, self.options = folder, level, options
        self.url = f"http://127.0.0.1:{PORT}"
        self.start()

    def start(self) -> float:
        """Start it; the seconds until it answers."""
        began = time.perf_counter()
        command = [sys.executable, "-m", "yarrow", "serve", "--data", str(self.folder)]
        self.process = subprocess.Popen(
            [*command, "--port", str(PORT), "--level", self.level, *self.options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            with contextlib.suppress(OSError):
                connection = http.client.HTTPConnection("127.0.0.1", PORT)
                connection.request("GET", "/ready")
                if connection.getresponse().status == 200:
                    return time.perf_counter() - began
            time.sleep(0.02)

    def cpu(self) -> float:
        """Seconds that the process has used."""
        return cpu_of(self.process.pid)

    def stop(self, how: int = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait()


@contextlib.contextmanager
def served(level: str = "always") -> Iterator[tuple[Served, Client]]:
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("YARROW_BENCH_DATA")))
    service = Served(folder, level)
    try:
        with Client(service.url, timeout=600) as client:
            yield service, client
    finally:
        service.stop(signal.SIGKILL)
        shutil.rmtree(folder)


class Load(NamedTuple):
    """What a service did under load: answers a second, the slowest of a hundred in ms, its time."""

    rate: float
    late: float
    cpu: float  # seconds an answer

    def __str__(self) -> str:
        return f"{self.rate:,.0f} (p99 {self.late:.1f} ms, cpu {self.cpu * 1e6:.0f} us each)"


def loads(process: int, path: str) -> dict[str, Load]:
    """Labels, then predictions."""
    return {
        "learn": wrk(process, f"{path}/learn", bodies(2000, True), 32),
        "predict": wrk(process, f"{path}/predict", bodies(2000, False), 16),
    }


def wrk(process: int, path: str, bodies: list[bytes], clients: int, seconds: int = 4) -> Load:
    """The load of clients that ask again as soon as they are answered."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "load.lua"
        Path(folder, "bodies").write_bytes(b"\n".join(bodies))
        script.write_text(
            f"""bodies = {{}}
for line in io.lines("{folder}/bodies") do bodies[#bodies + 1] = line end
wrk.headers["Content-Type"] = "application/json"
local i = 0
request = function()
  i = i % #bodies + 1
  return wrk.format("POST", "{path}", nil, bodies[i])
end
"""
        )
        command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}", "--latency", "-s", str(script)]
        began = cpu_of(process)
        done = subprocess.run(
            [*command, f"http://127.0.0.1:{PORT}"], capture_output=True, text=True, check=True
        ).stdout
        cpu = cpu_of(process) - began
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done)[1])  # type: ignore[index]
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", done).groups()  # type: ignore[union-attr]
    assert "Non-2xx" not in done, done
    return Load(rate, float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit], cpu / rate / seconds)


def bodies(n: int, label: bool) -> list[bytes]:
    found = []
    for row, y in rows(n):
        named = {f"f{name}": value for name, value in row.items()}
        message: dict[str, Any] = {"row": named} | ({"label": y} if label else {})
        found.append(json.dumps(message, separators=(",", ":")).encode())
    return found


def taught(client: Client, spec: str = "arow", n: int = 20_000) -> None:
    client.create("m", {"learner": spec})
    text = b"".join(line("jsonl", *row) for row in rows(n, seed=2))
    client.learn_lines("m", text, "jsonl")


def disk() -> list[Result]:
    with tempfile.NamedTemporaryFile(dir=os.environ.get("YARROW_BENCH_DATA")) as file:
        times = []
        for _ in range(200):
            began = time.perf_counter()
            file.write(bytes(1100))
            file.flush()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
        began = time.perf_counter()
        for _ in range(64):
            file.write(bytes(1 << 20))
        file.flush()
        os.fdatasync(file.fileno())
        rate = 64 / (time.perf_counter() - began)
    return [("the disk: median sync, MB/s", "", f"{sorted(times)[100] * 1e3:.2f} ms, {rate:.0f}")]


def ours() -> dict[str, Load]:
    """A sync before each answer."""
    with served() as (service, client):
        taught(client)
        return loads(service.process.pid, "/models/m")


def river(keeps: bool) -> dict[str, Load]:
    """Behind FastAPI, keeping nothing, or syncing each label."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("YARROW_BENCH_DATA")) as folder:
        env = os.environ | ({"YARROW_BENCH_LOG": f"{folder}/log"} if keeps else {})
        command = [sys.executable, "-m", "uvicorn", "benchmarks.serve_peers:app"]
        how = ["--port", str(PORT), "--log-level", "warning", "--loop", "uvloop"]
        process = subprocess.Popen([*command, *how], env=env)
        try:
            _until_open()
            return loads(process.pid, "")
        finally:
            process.kill()
            process.wait()


def requests() -> list[Result]:
    """Single labels and predictions: ours and river's take turns, the best of each counts."""
    contenders = {
        "": ours,
        "nothing kept": partial(river, keeps=False),
        "each label synced": partial(river, keeps=True),
    }
    best: dict[str, dict[str, Load]] = {who: {} for who in contenders}
    for _ in range(TURNS):
        for who, run in contenders.items():
            for what, load in run().items():
                best[who][what] = max(load, best[who].get(what, load))
    mine = best.pop("")
    found = [
        ("learn a second, 32 clients, synced before each answer", ">= 1,500", str(mine["learn"])),
        ("predictions a second, 16 clients", ">= 4,000", str(mine["predict"])),
        ("their 99th percentile", "< 15 ms", f"{mine['predict'].late:.1f} ms"),
    ]
    for kind, others in best.items():
        for what, load in others.items():
            asked = 3 if kind == "each label synced" and what == "learn" else 1
            measured = f"{load}: ours {mine[what].rate / load.rate:.1f} times"
            found.append(
                (f"river behind FastAPI, {kind}: {what}", f"ours >= {asked} times", measured)
            )
    return found


def streams() -> list[Result]:
    found = []
    given = rows(20_000)
    for format, asked in (("jsonl", 50_000), ("svmlight", 150_000), ("vw", 150_000)):
        text = b"".join(line(format, *row) for row in given) * 10
        with served("everysec") as (service, client):
            client.create("m", {"learner": "arow"})
            client.learn_lines("m", text[: text.index(b"\n") + 1], format)
            cpu, began = service.cpu(), time.perf_counter()
            learned = client.learn_lines("m", text, format).learned
            seconds = time.perf_counter() - began
            cpu = (service.cpu() - cpu) / learned
        measured = f"{learned / seconds:,.0f} (cpu {cpu * 1e6:.1f} us each)"
        found.append((f"streamed rows a second, {format}, everysec", f">= {asked:,}", measured))
    return found


def start() -> list[Result]:
    """A crash a million events after the last snapshot: all there were are taken away."""
    with served("os") as (service, client):
        client.create("m", {"learner": "arow"})
        part = [({f"f{name}": value for name, value in row.items()}, y) for row, y in rows(10_000)]
        for _ in range(100):
            client.learn_many("m", part)
        service.stop(signal.SIGKILL)
        shutil.rmtree(service.folder / "snapshots", ignore_errors=True)
        began = time.perf_counter()
        service.start()
        client.predict("m", part[0][0])
        measured = f"{time.perf_counter() - began:.1f} s (cpu {service.cpu():.1f} s)"
    return [("start after kill -9, a million events since the snapshot", "< 10 s", measured)]


def undo() -> list[Result]:
    found = []
    for learner, asked in (("arow", 2), ("yarrow", 6)):
        with served("os") as (service, client):
            client.create("m", {"learner": learner})
            part = [
                ({f"f{name}": value for name, value in row.items()}, y) for row, y in rows(5_000)
            ]
            for _ in range(60):
                last = client.learn_many("m", part)[-1].event
            cpu, began = service.cpu(), time.perf_counter()
            client.undo("m", events=[last - 100_000])
            while client.about("m").versions[0].progress < 1:
                time.sleep(0.01)
            seconds, cpu = time.perf_counter() - began, service.cpu() - cpu
        measured = f"{seconds:.2f} s (cpu {cpu:.2f} s)"
        found.append((f"undo 100,000 events back, {learner}", f"< {asked} s", measured))
    return found


def daemon() -> list[Result]:
    """Lines to `vw --daemon`, and to ours: single ones from one client, which waits for each."""
    lines = [line("vw", *row) for row in rows(2000)]
    found = []
    command = [sys.executable, "-m", "vowpalwabbit", "--daemon", "--foreground", "--quiet"]
    # Without --passes or -d the command of vowpalwabbit's package accepts and reads nothing.
    how = ["--num_children", "1", "--passes", "1", "--port", str(PORT + 1)]
    process = subprocess.Popen([*command, *how], start_new_session=True)
    try:
        time.sleep(3)  # a connection that only looks whether it is there would be its first client
        found.append(("vw --daemon: lines learned a second, one client", "", _talk(process, lines)))
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with the child that answers
        process.wait()
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("YARROW_BENCH_DATA")))
    for level in ("os", "always"):
        service = Served(folder, level, "--vw-port", str(PORT + 1))
        try:
            measured = _talk(service.process, lines)
        finally:
            service.stop(signal.SIGKILL)
        found.append((f"yarrow serve --vw-port: the same, logged, {level}", "", measured))
    shutil.rmtree(folder)
    return found


def _talk(process: Any, lines: list[bytes], seconds: float = 5.0) -> str:
    with socket.create_connection(("127.0.0.1", PORT + 1)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        file, n = connection.makefile("rb"), 0
        cpu, began = cpu_of(process.pid), time.perf_counter()
        while time.perf_counter() - began < seconds:
            connection.sendall(lines[n % len(lines)])
            if not file.readline():
                return "it closes the connection without an answer"
            n += 1
        rate, cpu = n / (time.perf_counter() - began), (cpu_of(process.pid) - cpu) / n
    return f"{rate:,.0f} (cpu {cpu * 1e6:.0f} us each)"


def _until_open(port: int = PORT) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise RuntimeError("it does not listen")


PARTS: dict[str, Callable[[], list[Result]]] = {
    part.__name__: part for part in (disk, requests, daemon, streams, start, undo)
}


def main() -> None:
    """Measure parts; each has its own section of RESULTS.md, and takes less than four minutes."""
    for name in sys.argv[1:] or PARTS:
        results = [list(result) for result in PARTS[name]()]
        load = f"Load {os.getloadavg()[0]:.1f} (above 3 others worked, too), niceness {os.nice(0)}."
        head = f"## serve: {name}\n\n`python -m benchmarks.serve {name}`. {machine()} {load}"
        publish(f"serve {name}", f"{head}\n\n{table(['', 'asked', 'measured'], results)}")


if __name__ == "__main__":
    main()
