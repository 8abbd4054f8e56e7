"""Run pip and show how far it is: python tools/progress.py install --editable .

pip is silent while the core is compiled, for minutes, or tells everything. This shows one line that
changes (on a terminal) or a line for each file compiled (in a pipe). If pip fails, the end of what
it told is shown, and all of it stands in build/pip.log.
"""

from __future__ import annotations

import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

LOG = Path("build/pip.log")
STEP = re.compile(r"\s*(\[\d+/\d+\] .*)")  # as ninja counts the files
NEWS = re.compile(r"\s*((Collecting|Downloading|Installing|Preparing|Building) .*)")


def show(lines: queue.Queue[str | None]) -> None:
    """Show what is news, until the end (None); the time runs on while nothing is told."""
    terminal, start, news = sys.stdout.isatty(), time.monotonic(), "starting pip"
    while True:
        try:
            line = lines.get(timeout=1)
        except queue.Empty:
            line = ""
        if line is None:
            break
        step = STEP.match(line)
        if found := step or NEWS.match(line):
            news = found[1]
        if terminal:
            minutes, seconds = divmod(int(time.monotonic() - start), 60)
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{f'{minutes}:{seconds:02} {news}'[:width]}", end="", flush=True)
        elif step:
            print(news, flush=True)
    if terminal:
        print("\r\x1b[K", end="", flush=True)


def main(arguments: list[str]) -> int:
    """Run pip with these arguments; return its exit code."""
    pip = subprocess.Popen(
        [sys.executable, "-m", "pip", *arguments, "--verbose"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines: queue.Queue[str | None] = queue.Queue()
    told = []

    def listen(output: Iterable[str]) -> None:
        for line in output:
            told.append(line)
            lines.put(line)
        lines.put(None)

    threading.Thread(target=listen, args=[pip.stdout], daemon=True).start()
    show(lines)
    code = pip.wait()
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("".join(told), encoding="utf-8")
    if code:
        sys.stdout.writelines(told[-80:])
        print(f"pip failed; all that it told stands in {LOG}.", file=sys.stderr)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
