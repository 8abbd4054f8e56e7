"""Forge files of every kind for a long time, on all cores (`make fuzz` does so).

    PYTHONPATH=tests python -m forging --seconds 3600 --files 100000

Every file follows from its kind and its number, so that a run goes on where it was stopped, and a
finding is made again by `--kinds KIND --number NUMBER`. A file that ends the process, or that
nothing can interrupt, is found by the note that was made before it was tried.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

from forging import KINDS, files_of, forged, judge

SECONDS_A_FILE = 20
SECONDS_WITHOUT_NOTE = 300  # a process that says nothing for so long is ended
MEMORY = 8 << 30
FILES_A_TURN = 200  # of one kind, before it is the next kind's turn
FINE = ("refused", "refuses rows", "works")


class TooLong(BaseException):
    """A file has taken too long."""


def _too_long(*_: Any) -> None:
    raise TooLong


def try_number(number: int, files: list[tuple[str, bytes]]) -> tuple[str, str]:
    """What comes of the file of a number: whose it was, and the verdict."""
    name, content = files[number % len(files)]
    rng = random.Random(number)
    changed = forged(content, rng)
    signal.setitimer(signal.ITIMER_REAL, SECONDS_A_FILE)
    try:
        return name, judge(changed, rng)
    except TooLong:
        return name, f"takes more than {SECONDS_A_FILE} s"
    except Exception as error:
        return name, f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Notes:
    """What one of several processes has done of one kind: numbers part, part + parts, ..."""

    def __init__(self, folder: Path, kind: str, part: int, parts: int) -> None:
        self.path = folder / f"{kind}-{part}-of-{parts}.json"
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.next, self.step = known.get("next", part), parts
        self.counts: Counter[str] = Counter(known.get("counts", {}))

    def add(self, verdict: str) -> None:
        """The file of the next number has been tried."""
        self.counts[verdict if verdict in FINE else "findings"] += 1
        self.next += self.step

    def keep(self) -> None:
        """Write them down."""
        self.path.write_text(json.dumps({"next": self.next, "counts": self.counts}))


def _note_finding(folder: Path, kind: str, number: int, words: str) -> None:
    with (folder / "findings.txt").open("a") as file:
        file.write(f"{kind}\t{number}\t{words}\n")


def _work(part: int, options: argparse.Namespace, end: float) -> None:
    signal.signal(signal.SIGALRM, _too_long)
    if "san" not in os.environ.get("LD_PRELOAD", ""):  # sanitizers reserve all there is
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    at = os.open(options.folder / f"at-{part}", os.O_RDWR | os.O_CREAT)
    folder, parts = options.folder, options.processes
    notes = {kind: Notes(folder, kind, part, parts) for kind in options.kinds}
    while time.time() < end:
        going = [k for k in options.kinds if sum(notes[k].counts.values()) * parts < options.files]
        if not going:
            return
        for kind in going:
            own = notes[kind]
            for _ in range(FILES_A_TURN):
                os.pwrite(at, f"{kind} {own.next}".ljust(40).encode(), 0)
                name, verdict = try_number(own.next, files_of(kind))
                if verdict not in FINE:
                    _note_finding(folder, kind, own.next, f"{name}\t{verdict}")
                own.add(verdict)
                if time.time() >= end:
                    break
            own.keep()


def _replace_ended(workers: dict[int, Any], part: int, options: argparse.Namespace) -> bool:
    """Whether a process must be started, after one that has ended with a finding perhaps."""
    worker, at = workers.get(part), options.folder / f"at-{part}"
    if worker is None:
        return True
    if worker.is_alive():
        if time.time() - at.stat().st_mtime < SECONDS_WITHOUT_NOTE:
            return False
        worker.kill()
        worker.join()
    if worker.exitcode == 0:
        return False
    if not at.stat().st_size:
        raise SystemExit("A process has ended before its first file.")
    kind, number = at.read_text().split()
    _note_finding(options.folder, kind, int(number), f"ended the process ({worker.exitcode})")
    notes = Notes(options.folder, kind, part, options.processes)
    notes.next = int(number)
    notes.add("ended the process")
    notes.keep()
    return True


def run(options: argparse.Namespace) -> int:
    """Try files until the time is over, or as many are done as were asked for."""
    end = time.time() + options.seconds
    workers: dict[int, Any] = {}
    context = multiprocessing.get_context("spawn")
    while True:
        for part in range(options.processes):
            if _replace_ended(workers, part, options) and time.time() < end - 1:
                (options.folder / f"at-{part}").touch()
                workers[part] = context.Process(target=_work, args=(part, options, end))
                workers[part].start()
        if not any(worker.is_alive() for worker in workers.values()):
            break
        time.sleep(0.5)
    return _report(options.folder)


def _report(folder: Path) -> int:
    for kind in KINDS:
        counts: Counter[str] = Counter()
        for path in folder.glob(f"{kind}-*-of-*.json"):
            counts.update(json.loads(path.read_text())["counts"])
        if counts:
            words = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
            print(f"{kind}: {sum(counts.values()):,} files in all runs: {words}")
    findings = folder / "findings.txt"
    if findings.exists():
        print(f"See {findings}.")
    return 1 if findings.exists() else 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="forging", description="Forge model files and see what comes of it."
    )
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: %(default)s)")
    parser.add_argument("--files", type=float, default=float("inf"), help="of each kind, at most")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz/files"), help="for notes")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="only these")
    parser.add_argument("--number", type=int, help="only this one, with its traceback")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.number is None:
        return run(options)
    for kind in options.kinds:
        files = files_of(kind)
        name, content = files[options.number % len(files)]
        rng = random.Random(options.number)
        changed = forged(content, rng)
        (options.folder / f"{kind}-{options.number}").write_bytes(changed)
        print(kind, name, judge(changed, rng))
    return 0
