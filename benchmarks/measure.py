"""Fair timing: contenders take turns, the best of several runs counts, results go to RESULTS.md.

Run as a program it starts another one and reports its time and peak memory. A small process has to
do that: on Linux a child inherits the peak of the process that starts it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).with_name("RESULTS.md")

HEADER = """# Results

Written by `make bench`; what is measured, and how, is in `sections.py` and `measure.py`.
Contenders take turns within one run and the best run of each counts, so read the ratios first.
"""

Best = Mapping[str, float]  # the best time of each contender, in seconds


def race(contenders: Mapping[str, Callable[[], Any]], repeat: int = 5) -> dict[str, float]:
    """The best time of each contender in seconds.

    They run in turns (A B C A B C ...), so that a busy minute of the machine slows all of them and
    the ratios stand. A contender that returns a ``float`` has measured itself.
    """
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeat):
        for name, run in contenders.items():
            started = time.perf_counter()
            own = run()
            seconds = own if isinstance(own, float) else time.perf_counter() - started
            best[name] = min(best[name], seconds)
    return best


@dataclass
class Comparison:
    """Contenders by name, and what to say about their best times."""

    title: str
    contenders: Mapping[str, Callable[[], Any]]
    unit: str = "ms"
    scale: float = 1e3  # from seconds to units
    bars: Callable[[Best], list[Bar]] = lambda best: []
    notes: Callable[[Best], list[str]] = lambda best: []


class Process(NamedTuple):
    seconds: float
    peak_bytes: int


def process(command: Sequence[str]) -> Process:
    """Time and peak memory of a whole process, output thrown away."""
    answer = subprocess.run(
        [sys.executable, __file__, *command], capture_output=True, text=True, check=True
    )
    seconds, peak_bytes, status = json.loads(answer.stdout)
    if status:
        raise RuntimeError(f"Exit code {status}: {' '.join(command)}\n{answer.stderr}")
    return Process(seconds, peak_bytes)


def _launch(command: list[str]) -> None:
    silence = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    started = time.perf_counter()
    # An installed program has its bytecode, whatever the shell says of writing some.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    child = os.posix_spawnp(command[0], command, environment, file_actions=[silence])
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    print(json.dumps([seconds, usage.ru_maxrss * unit, os.waitstatus_to_exitcode(status)]))


def timed_processes(
    commands: Mapping[str, list[str]],
) -> tuple[dict[str, Callable[[], float]], dict[str, int]]:
    """A contender for each command, and their peak memory in bytes, filled in as they run."""
    peak: dict[str, int] = {}

    def run(name: str, command: list[str]) -> float:
        seconds, used = process(command)
        peak[name] = max(used, peak.get(name, 0))
        return seconds

    return {name: partial(run, name, command) for name, command in commands.items()}, peak


def processor_time(run: Callable[[], Any]) -> Callable[[], float]:
    """A contender that counts the seconds that it computes, not those in which others do.

    Of one thread: those of BLAS burn time while they wait.
    """

    def seconds() -> float:
        started = time.thread_time()
        run()
        return time.thread_time() - started

    return seconds


def _tree() -> Iterator[tuple[Path, str, list[str]]]:
    """This process and all that it started: its folder in /proc, its name, what it counts."""
    children: dict[int, list[int]] = {}
    found: dict[int, tuple[Path, str, list[str]]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, numbers = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended meanwhile; its parent has its time
            continue
        pid, fields = int(stat.parent.name), numbers.split()
        children.setdefault(int(fields[1]), []).append(pid)
        found[pid] = stat.parent, name, fields
    left = [os.getpid()]
    while left:
        pid = left.pop()
        left += children.get(pid, [])
        if pid in found:
            yield found[pid]


def tree_time() -> float:
    """Processor seconds so far of this process and of all that it started, on Linux."""
    ticks = sum(sum(map(int, fields[11:15])) for _, _, fields in _tree())
    return ticks / os.sysconf("SC_CLK_TCK")


def forget_peaks() -> None:
    """Count peaks of memory of processes that this one started from now on."""
    for folder, _, _ in _tree():
        (folder / "clear_refs").write_text("5")


def tree_peak(name: str) -> int:
    """The peak memory in bytes of the largest process of that name that this one started."""
    peaks = [0]
    for folder, found, _ in _tree():
        if found.startswith(name) and int(folder.name) != os.getpid():
            status = (folder / "status").read_text()
            peaks += [1024 * int(kb) for kb in re.findall(r"VmHWM:\s+(\d+)", status)]
    return max(peaks)


def python_seconds(statement: str) -> float:
    """The time of one statement in a fresh interpreter, without the interpreter's own start."""
    code = f"from time import perf_counter as now; t = now(); {statement}; print(now() - t)"
    return float(subprocess.check_output([sys.executable, "-c", code]))


@dataclass(frozen=True)
class Bar:
    """A measured figure and what was asked of it (nothing: it is there to be compared)."""

    what: str
    measured: float
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"

    def row(self) -> list[str]:
        asked, verdict = "", ""
        if self.at_least is not None:
            asked, met = f">= {self.at_least:g} {self.unit}", self.measured >= self.at_least
            verdict = "met" if met else "**missed**"
        if self.at_most is not None:
            asked, met = f"<= {self.at_most:g} {self.unit}", self.measured <= self.at_most
            verdict = "met" if met else "**missed**"
        return [self.what, asked, f"{self.measured:.2f} {self.unit}", verdict]


def speed(best: Best, our: str, peer: str, asked: float | None = None) -> Bar:
    """How many times the speed of a peer."""
    return Bar(f"{our}: speed of {peer}", best[peer] / best[our], at_least=asked)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, aligned so that it is readable in a terminal as well."""
    cells = [list(header), *map(list, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = [" | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, " | ".join("-" * w for w in widths))
    return "\n".join(f"| {line} |" for line in lines)


def machine() -> str:
    """Cores, processor and versions, in one line."""
    cpu = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpu.read_text()) if cpu.exists() else None
    names = ["yarrow-learn", "numpy", "scipy", "scikit-learn", "river", "vowpalwabbit"]
    versions = [f"Python {sys.version.split()[0]}"]
    for name in names:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"{os.cpu_count()} cores, {model[1] if model else 'unknown'}; {', '.join(versions)}."


def publish(section: str, text: str) -> None:
    """Prints the text and puts it between the markers of its section in RESULTS.md."""
    print(text, flush=True)
    first, last = f"<!-- {section} -->", f"<!-- end of {section} -->"
    page = RESULTS.read_text() if RESULTS.exists() else HEADER
    block = f"{first}\n{text}\n{last}\n"
    known = re.compile(f"{re.escape(first)}.*{re.escape(last)}\n", re.DOTALL)
    page = known.sub(lambda _: block, page) if known.search(page) else f"{page}\n{block}"
    RESULTS.write_text(page)


if __name__ == "__main__":
    _launch(sys.argv[1:])
