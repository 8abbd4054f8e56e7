"""`yarrow datasets`: the table, a description, rows for other programs."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from cli.support import Run

from yarrow.datasets import load, names


def test_all_sets_are_listed(run: Run) -> None:
    lines = run("datasets").stdout.splitlines()
    assert lines[0].split() == ["name", "rows", "features", "classes", "order", "here"]
    assert [line.split()[0] for line in lines[1:]] == names()
    assert max(map(len, lines)) <= 80


def test_whether_a_set_is_here(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YARROW_DATA", str(tmp_path))
    ends = {line.split()[0]: line for line in run("datasets").stdout.splitlines()}
    assert ends["heart"].endswith(" no")
    assert ends["mnist"].endswith(" fetched")
    assert ends["nsl-kdd"].endswith(" fetched")
    assert ends["synthetic/text"].endswith(" generated")


def test_what_is_not_here_is_explained(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("YARROW_DATA", raising=False)
    monkeypatch.setenv("YARROW_CACHE", str(tmp_path))
    assert "environment variable YARROW_DATA" in run("datasets").stderr
    page = " ".join(run("datasets", "sms-spam").stdout.split())
    assert "On this machine: no; name the folder with its files in" in page
    says = run("compare", "a9a", code=2).stderr
    assert says.startswith("yarrow: a9a: libsvm-classics is not on this machine")


def test_a_set_is_described(run: Run) -> None:
    page = run("datasets", "synthetic/gaussian").stdout
    assert "5,000 rows, 20 features, 2 classes." in page
    assert "  elongation=10.0: Length of the ellipse by its width. (>= 1)" in page
    assert page.endswith("On this machine: generated.\n")
    assert max(map(len, page.splitlines())) <= 80


def test_rows_are_written_for_other_programs(run: Run, tmp_path: Path) -> None:
    from sklearn.datasets import load_svmlight_file

    path = tmp_path / "rows.svm.gz"
    said = run("datasets", "synthetic/gaussian", "rows=50", "noise=0.2", "--output", path).stderr
    assert said.startswith("50 rows of synthetic/gaussian noise=0.2 rows=50 written to")
    data = load("synthetic/gaussian rows=50 noise=0.2")
    with gzip.open(path) as file:
        X, y = load_svmlight_file(file, n_features=20)
    assert np.allclose(X.toarray(), data.X.toarray())
    assert y.tolist() == data.y.tolist()


def test_vw_text_has_names_and_numbered_classes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from yarrow.datasets.catalogue import SETS
    from yarrow.datasets.files import File

    content = gzip.compress(b"label\ttext\nham\tsee you\nspam\tbuy buy now\n")
    (tmp_path / "sms-spam").mkdir()
    (tmp_path / "sms-spam" / "x.tsv.gz").write_bytes(content)
    monkeypatch.setenv("YARROW_DATA", str(tmp_path))
    monkeypatch.setenv("YARROW_CACHE", str(tmp_path / "cache"))
    import hashlib

    file = File("sms-spam/x.tsv.gz", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(SETS["sms-spam"], "files", (file,))
    done = run("datasets", "sms-spam", "features=counts", "--output", tmp_path / "sms.vw")
    assert (tmp_path / "sms.vw").read_text() == "-1 | see you\n1 | buy:2 now\n"
    assert done.stderr.endswith("classes: -1 ham, 1 spam\n")
    (tmp_path / "sms-spam" / "x.tsv.gz").unlink()
    said = run("datasets", "sms-spam", "features=counts").stdout
    assert said.endswith("On this machine: yes, as a copy kept in the cache.\n")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nothing"], "There is no set named 'nothing'"),
        (["usps", "classes"], "not of the form OPTION=VALUE"),
        (["synthetic/text", "rows=0"], "The 'rows' parameter must be an integer >= 1"),
        (["synthetic/text", "--output", "x.parquet"], "written as svmlight or vw, not parquet"),
        (["synthetic/text", "--output", "no/folder/x.svm"], "there is no folder"),
        (["--output", "x.svm"], "Missing argument: the NAME of the data set"),
    ],
)
def test_a_mistake_is_one_sentence(run: Run, args: list[str], sentence: str) -> None:
    assert sentence in run("datasets", *args, code=2).stderr
