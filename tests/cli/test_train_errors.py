"""What `yarrow train` refuses, and what an error or a signal leaves behind."""

from __future__ import annotations

import gzip
import re
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from cli.support import Run, rows_of_text, start

ERRORS = {
    "nowhere.svm --model m": "nowhere.svm: No such file",
    ". --model m": "is a folder",
    "rows.svm": "--model FILE",
    "rows.svm --model no/m": "there is no folder no",
    "rows.svm --model .": "is a folder",
    "rows.svm --model rows.svm": "would be overwritten",
    "rows.svm --learner svm --model m": "There is no learner 'svm'; there are adagrad, ",
    "rows.svm --r 1 --model m": "YarrowClassifier, taken without --learner, has no option --r",
    "rows.svm --learner cw --regression --model m": "where none is named; here it is CWClassifier",
    "rows.svm --export m.txt": "export it as json or safetensors",
    "rows.svm --learner arow --C 1 --model m": "it has --r,",
    "rows.svm --modle m": "no option --modle (did you mean --model?)",
    "rows.svm --learner arow --r -1 --model m": "'r' parameter must be > 0. Got -1.0 instead",
    "rows.svm --learner arow --r x --model m": "'x' is not a valid float",
    "rows.svm --learner arow --r nan --model m": "must be > 0. Got nan",
    "rows.svm --learner arow --loss x --model m": "squared_hinge",
    "rows.svm --learner arow --set C=1 --model m": "covariance",
    "rows.svm --set max_iter=x --model m": "must be an integer >= 1",
    "rows.svm --class-weight a --model m": "spam=2,ham=1",
    "rows.svm --learner pa --resume old --model m": "leave out --learner",
    "rows.svm --resume old --r 1 --model m": "--r cannot be used with --resume",
    "rows.svm --resume old --set r=1 --model m": "--set cannot be used with --resume",
    "rows.svm --resume none --model m": "none: No such file",
    "rows.svm --resume rows.svm --model m": "not a Yarrow model",
    "rows.svm --resume export --model m": "only predicts",
    "- --passes 2 --model m": "several passes need files",
    "rows.svm -q a --model m": "two letters",
    "t.csv --model m": "which column of t.csv is the label (--label COLUMN): it has y, a.",
    "t.csv --no-header --model m": "is the label (--label COLUMN): it has 1, 2.",
    "rows.svm --learner aroww --model m": "no learner 'aroww' (did you mean arow?); there are",
    "rows.svm --foo 1 --model m": "There is no option --foo;",
    "synthetic/text --model m": "yarrow datasets synthetic/text --output synthetic-text.svm.gz",
    "t.csv --label z --model m": "field 'z': no such column",
    "semi.csv --label y --model m": "it has y;a; if ';' separates its cells, say --delimiter ';'.",
    "rows.svm --hash-bits 4 --export e": "cannot be exported",
}


@pytest.mark.parametrize("line", ERRORS)
def test_a_users_error_is_one_sentence(
    run: Run, svm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run("train", svm.name, "--model", "old", "--export", "export")
    (tmp_path / "t.csv").write_text("y,a\n1,2\n")
    (tmp_path / "semi.csv").write_text("y;a\n1;2\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert ERRORS[line] in run("train", *line.split(), code=2).stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


BROKEN = {
    "spam |words a b": "line 3, column 6, '|words': expected index:value; if this is VW text, say "
    "--format vw",
    "1 2:x": "line 3, column 3, '2:x': the value is not a number",
    "1 2:nan": "line 3, column 3, '2:nan': the value is NaN",
    "1 2:inf": "line 3, column 3, '2:inf': the value is infinite",
    "1 2:1e39": "line 3, column 3, '2:1e39': the value is too large",
    "1 0:1": "line 3, column 3, '0:1': index 0",
    "1 9999999999:1": "line 3, column 3, '9999999999:1': the index is beyond the limit",
    "1 2000000000:1": "line 3, column 3, '2000000000:1': the index is beyond the limit "
    "of 67108864; max_features sets another, hash_bits allows any",
    "7 2:1": "line 3: the class 7 is not one of the declared classes -1, 1",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_row_names_its_place_and_leaves_the_old_model(
    run: Run, tmp_path: Path, line: str
) -> None:
    data, model = tmp_path / "rows.svm", tmp_path / "m"
    data.write_text("".join(rows_of_text(2)) + line + "\n")
    model.write_bytes(b"old")
    options = ["--index-base", "1", "--classes", "-1,1", "--model", model]
    assert f"{data}, {BROKEN[line]}" in run("train", data, *options, code=2).stderr
    assert model.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "rows.svm"]


@pytest.mark.slow  # a sanitizer needs more memory than this allows
def test_a_hostile_index_takes_no_memory(tmp_path: Path) -> None:
    data = tmp_path / "rows.svm"
    data.write_text("".join(rows_of_text(20)) + "1 2000000000:1\n")

    def result(*options: Any) -> tuple[int, bytes]:
        process = start(
            "train", data, "--model", tmp_path / "m", "--threads", 1, *options,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)),
        )  # fmt: skip
        errors = process.communicate()[1]
        return process.returncode, errors

    code, errors = result("--on-error", "skip")
    assert (code, errors[:14]) == (0, b"1 row skipped;")
    assert result("--hash-bits", 18) == (0, b"")
    assert result("--max-features", 9, "--when-full", "drop") == (0, b"")
    assert result("--max-features", 2**31 - 1) == (0, b"")  # it takes the room of one


@pytest.mark.parametrize("content", [b"", b"# nothing\n\n", gzip.compress(b"", mtime=0)])
def test_nothing_to_learn_is_an_error(run: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rows.svm").write_bytes(content)
    result = run("train", tmp_path / "rows.svm", "--model", tmp_path / "m", code=2)
    assert "there is no row to learn" in result.stderr


def test_damaged_compression_is_an_error(run: Run, svm: Path, tmp_path: Path) -> None:
    packed = tmp_path / "rows.svm.gz"
    packed.write_bytes(gzip.compress(svm.read_bytes())[:-20])
    result = run("train", packed, "--model", tmp_path / "m", code=2)
    assert "rows.svm.gz: the compressed data ends too early" in result.stderr


def fed_forever(process: Any) -> None:
    """Write rows until the process has begun to read them: more than a pipe holds."""
    process.stdin.write("".join(rows_of_text(5000)).encode())
    process.stdin.flush()
    assert process.poll() is None


def test_a_killed_command_leaves_the_old_model(svm: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    model.write_bytes(b"old")
    process = start("train", "-", "--index-base", 1, "--model", model, stdin=-1)
    fed_forever(process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert model.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "rows.svm"]


def test_an_interrupted_command_says_so_and_leaves_the_old_model(tmp_path: Path) -> None:
    model = tmp_path / "m"
    model.write_bytes(b"old")
    process = start("train", "-", "--index-base", 1, "--model", model, stdin=-1)
    fed_forever(process)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)  # while the pipe is still open
    assert process.communicate()[1].strip() == b"yarrow: interrupted."
    assert process.returncode == 130
    assert model.read_bytes() == b"old"


def test_an_option_of_other_learners_names_them(run: Run, svm: Path, tmp_path: Path) -> None:
    options = ["--learner", "perceptron", "--loss", "hinge", "--model", tmp_path / "m"]
    told = run("train", svm, *options, code=2).stderr
    assert "Perceptron has no option --loss; it has --margin" in told
    assert re.search(r"--loss is for adagrad, .* and \d+ more; see 'yarrow train --help'", told)
