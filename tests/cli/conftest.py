"""Fixtures of the command line: a runner, and small files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click.testing
import pytest
from cli.support import CSV, Run, rows_of_text

from yarrow.cli import main


@pytest.fixture
def run() -> Run:
    """Run a command and check its exit code; a user's error is one sentence on standard error."""

    def run(*args: Any, stdin: str | bytes | None = None, code: int = 0) -> click.testing.Result:
        result = click.testing.CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        if code == 2:
            assert result.stdout == ""
            assert result.stderr.startswith("yarrow: ")
            assert result.stderr.count("\n") == 1
        return result

    return run


@pytest.fixture
def svm(tmp_path: Path) -> Path:
    """A file of 400 rows with two classes."""
    path = tmp_path / "rows.svm"
    path.write_text("".join(rows_of_text(400)))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A CSV file with a number, a category and a text."""
    path = tmp_path / "mail.csv"
    path.write_text(CSV)
    return path
