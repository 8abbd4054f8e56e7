"""What is shown while rows are learned: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import pty
import re
import select
import time
from pathlib import Path

import pytest
from cli.support import Run, rows_of_text, start

from yarrow.cli import progress as showing
from yarrow.cli.progress import Display, rate
from yarrow.errors import counted
from yarrow.online.ledger import Progress

LIVE = re.compile(r"standard input.*[\d,]+ rows .* rows/s .* MB/s .*error [\d.]+ %")


def test_a_terminal_sees_a_live_line_that_goes_away(tmp_path: Path) -> None:
    terminal, screen = pty.openpty()
    arguments = ["train", "-", "--index-base", 1, "--model", tmp_path / "m"]
    with start(*arguments, stdin=-1, stderr=screen) as process:
        os.close(screen)
        assert process.stdin is not None
        shown, blocks, end = b"", 0, time.monotonic() + 60
        while not LIVE.search(shown.decode()) and time.monotonic() < end:
            process.stdin.write("".join(rows_of_text(500)).encode())
            process.stdin.flush()
            blocks += 1
            if select.select([terminal], [], [], 0.1)[0]:
                shown += _read(terminal)
        process.stdin.close()
        assert process.stdout is not None
        summary = process.stdout.read().decode()
        while chunk := _read(terminal):
            shown += chunk
    os.close(terminal)
    text = shown.decode()
    assert LIVE.search(text)
    assert text.rstrip().endswith("\x1b[2K")  # the line is erased
    assert summary.startswith(f"{500 * blocks:,} rows, error ")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other side is closed
        return b""


def test_elsewhere_a_plain_line_now_and_then(
    svm: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(showing, "_PATIENCE", 0.0)
    display = Display([str(svm)], wrong="error", passes=2)
    steps = [
        Progress("dir/rows.svm", n, 100 * n, 100 * n, 10 * n, bytes=10**6, done=True)
        for n in (1, 2)
    ]
    display.watch(steps)
    assert capsys.readouterr().err == ""  # ten seconds have not passed
    display._next_line = 0.0
    display.watch(steps[:1])
    line = capsys.readouterr().err
    assert re.fullmatch(
        r"rows.svm, pass 1: 100 rows, [\d,]+ rows/s, [\d,]+ MB/s, error 10.00 %\n", line
    )


def test_passes_have_an_error_each(svm: Path) -> None:
    display = Display([str(svm)], wrong="error", passes=2, quiet=True)
    display.watch(
        [Progress("x", 1, 100, 100, 50, done=True), Progress("x", 2, 200, 200, 60, done=True)]
    )
    assert display.errors() == "error 50.00 %, then 10.00 %"
    display = Display([str(svm)], wrong="RMSE", quiet=True)
    display.watch([Progress("x", 1, 100, 100, 0, 400.0, done=True)])
    assert display.errors() == "RMSE 2"


def test_quiet_is_quiet(
    run: Run, svm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "_PATIENCE", 0.0)
    monkeypatch.setattr(showing, "_PLAIN_EVERY", 0.0)
    assert run("train", svm, "--model", tmp_path / "m").stderr.startswith("rows.svm: 400 rows, ")
    assert run("train", svm, "--model", tmp_path / "m", "--quiet").stderr == ""


def test_numbers_are_easy_to_read() -> None:
    assert (counted(1, "row"), counted(1000, "row")) == ("1 row", "1,000 rows")
    assert (rate(5, 2), rate(30_000, 2), rate(1, 0)) == ("2.5", "15,000", "1,000,000,000")
