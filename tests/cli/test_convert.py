"""`yarrow convert`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from cli.support import Run, by_name

import yarrow

FORMATS = ["svm", "vw", "jsonl", "csv", "tsv", "parquet"]
AS_TABLE = ["--label", "label"]


def reading(suffix: str) -> list[str]:
    return [] if suffix in ("svm", "vw") else AS_TABLE


def weights(run: Run, path: Path, *options: str) -> dict[str, list[float]]:
    """What a model learns from a file, by the names of features as texts."""
    run("train", path, *options, "--model", path.parent / "m", "--quiet")
    model = yarrow.load(path.parent / "m")
    base = 1 if path.name.endswith(".svm") else 0
    return {str(n + base if isinstance(n, int) else n): w for n, w in by_name(model).items()}


@pytest.mark.parametrize("suffix", FORMATS)
def test_numbered_features_teach_the_same_in_every_format(
    run: Run, svm: Path, tmp_path: Path, suffix: str
) -> None:
    expected = weights(run, svm)
    target = tmp_path / f"other.{suffix}"
    run("convert", svm, target)
    found = weights(run, target, *reading(suffix))
    if suffix in ("csv", "tsv", "parquet"):  # columns are in one order for all: sums may round
        assert found.keys() == expected.keys()
        assert {name: pytest.approx(w, rel=1e-3) for name, w in expected.items()} == found
    else:
        assert found == expected
    assert not (tmp_path / f"other.{suffix}.names").exists()


@pytest.mark.parametrize("first", FORMATS[1:])
@pytest.mark.parametrize("second", FORMATS)
def test_named_features_keep_their_names(
    run: Run, table: Path, tmp_path: Path, first: str, second: str
) -> None:
    options = ["--label", "label", "--text", "text", "--drop", "age"]
    expected = weights(run, table, *options)
    run("convert", table, tmp_path / f"a.{first}", *options)
    run("convert", tmp_path / f"a.{first}", tmp_path / f"b.{second}", *reading(first))
    found = weights(run, tmp_path / f"b.{second}", *reading(second))
    if second == "svm":
        names = (tmp_path / "b.svm.names").read_text().splitlines()
        found = {names[int(index) - 1]: w for index, w in found.items()}
    assert {k: pytest.approx(w, rel=1e-4) for k, w in expected.items()} == found


def test_svmlight_is_written_for_other_programs(run: Run, tmp_path: Path) -> None:
    lines = "spam |f b a:0.5\nham 1 |f c a b:1e-7\n"
    run("convert", "-", tmp_path / "x.svm", "--format", "vw", stdin=lines)
    assert (tmp_path / "x.svm").read_text() == "spam 1:1 2:0.5\nham 1:1e-07 2:1 3:1\n"
    assert (tmp_path / "x.svm.names").read_text() == "f^b\nf^a\nf^c\n"


def test_several_files_share_their_numbers(run: Run, tmp_path: Path) -> None:
    names = tmp_path / "names"
    for number, line in enumerate(["1 | a b\n", "1 | c b\n"]):
        options = ["--format", "vw", "--names", names]
        run("convert", "-", tmp_path / f"{number}.svm", *options, stdin=line)
    assert (tmp_path / "0.svm").read_text() == "1 1:1 2:1\n"
    assert (tmp_path / "1.svm").read_text() == "1 2:1 3:1\n"
    assert names.read_text() == "a\nb\nc\n"


def test_indices_stay_as_they_are(run: Run, tmp_path: Path) -> None:
    for text in ("1 5:1 3:2.5\n", "1 0:1 3:2\n"):
        assert run("convert", "-", "-", "--to", "svmlight", stdin=text).stdout == text
    assert run("convert", "-", "-", "--to", "vw", stdin="2 0:1 3:2\n").stdout == "2 | 0 3:2\n"


def test_vw_text_comes_back_whole(run: Run, tmp_path: Path) -> None:
    text = "1 2.5 |a x y:0.5 |b z |a w\n-1 | p q:3\n| p\n1 |\n"
    options = ["--format", "vw", "--to", "vw"]
    assert run("convert", "-", "-", *options, stdin=text).stdout == text
    result = run("convert", "-", "-", "--format", "vw", "--to", "jsonl", stdin=text)
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert records[0] == {"label": 1, "weight": 2.5, "a^x": 1, "a^y": 0.5, "b^z": 1, "a^w": 1}
    assert records[2] == {"p": 1}


def test_signs_that_mean_something_are_replaced_and_counted(run: Run, tmp_path: Path) -> None:
    text = json.dumps({"label": "very bad", "a b": 1, "c:d|e": 2})
    options = ["--format", "jsonl", "--to", "vw", *AS_TABLE]
    result = run("convert", "-", "-", *options, stdin=text)
    assert result.stdout == "very_bad | a_b c_d_e:2\n"
    assert "3 words had blanks" in result.stderr
    lines = text + "\n{\n"
    quiet = run("convert", "-", "-", *options, "--on-error", "skip", "--quiet", stdin=lines).stderr
    assert quiet.startswith("3 words had blanks")
    assert "1 row skipped; the first:" in quiet


def test_the_columns_of_a_table_keep_their_names(run: Run, tmp_path: Path) -> None:
    text = "kind,n,w\na,2,3\nb,,1\n"
    options = ["--format", "csv", "--label", "kind", "--weight", "w", "--to", "jsonl"]
    result = run("convert", "-", "-", *options, stdin=text)
    assert result.stdout == '{"kind": "a", "w": 3, "n": 2}\n{"kind": "b"}\n'


def test_compressed_by_the_suffix_and_the_same_each_time(
    run: Run, svm: Path, tmp_path: Path
) -> None:
    for suffix in ("gz", "xz", "bz2", "zst"):
        target = tmp_path / f"x.svm.{suffix}"
        run("convert", svm, target)
        before = target.read_bytes()
        assert len(before) < len(svm.read_bytes())
        run("convert", svm, target)
        assert target.read_bytes() == before
        run("convert", target, tmp_path / "back.vw")
        run("convert", svm, tmp_path / "x.vw")
        assert (tmp_path / "back.vw").read_bytes() == (tmp_path / "x.vw").read_bytes()
    rows = gzip.decompress((tmp_path / "x.svm.gz").read_bytes()).decode().splitlines()
    assert len(rows) == 400


def test_labels_of_any_kind_in_parquet(run: Run, tmp_path: Path) -> None:
    import pyarrow.parquet

    for labels, kind in ((["1", "2"], "int64"), (["1", "0.5"], "double"), (["1", "x"], "string")):
        path = tmp_path / "x.vw"
        path.write_text("".join(f"{label} | a\n" for label in labels))
        run("convert", path, tmp_path / "x.parquet")
        schema = pyarrow.parquet.read_schema(tmp_path / "x.parquet")
        assert str(schema.field("label").type) == kind


def test_a_failure_leaves_the_old_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.vw").write_text("1 | a\n1 | b:x\n")
    for name in ("y.svm", "y.svm.names"):
        (tmp_path / name).write_text("old")
    assert "x.vw, line 2, " in run("convert", tmp_path / "x.vw", tmp_path / "y.svm", code=2).stderr
    assert (tmp_path / "y.svm").read_text() == "old"
    assert (tmp_path / "y.svm.names").read_text() == "old"
    result = run("convert", tmp_path / "x.vw", tmp_path / "y.svm", "--on-error", "skip")
    assert "1 row skipped" in result.stderr
    assert (tmp_path / "y.svm").read_text() == "1 1:1\n"


ERRORS = {
    "rows.svm out": "--to",
    "rows.svm -": "--to",
    "none.svm out.vw": "none.svm: No such file",
    "rows.svm no/out.vw": "there is no folder no",
    "rows.svm rows.svm": "would be overwritten",
    "- out.csv --format vw": "two passes",
    "x.vw - --to svmlight": "--names",
    "weights.vw out.svm": "weights.vw: svmlight has no place for a weight (2): use vw or jsonl",
    "label.vw out.jsonl": "label.vw, field 'label': a feature has the name of the label's",
}


@pytest.mark.parametrize("line", ERRORS)
def test_a_users_error_is_one_sentence(
    run: Run, svm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.vw").write_text("1 | a\n")
    Path("weights.vw").write_text("1 2 | a\n")
    Path("label.vw").write_text("1 | label\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert ERRORS[line] in run("convert", *line.split(), code=2).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_too_many_columns_are_refused(run: Run, tmp_path: Path) -> None:
    line = "1 " + " ".join(f"{i}:1" for i in range(1, 10_002)) + "\n"
    (tmp_path / "wide.svm").write_text(line)
    assert (
        "convert to jsonl"
        in run("convert", tmp_path / "wide.svm", tmp_path / "x.csv", code=2).stderr
    )


def test_qids_and_tags_are_left_out_and_counted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("1 qid:3 1:2\n0 qid:3 2:1\n1 1:1\n")
    (tmp_path / "b.vw").write_text("1 'first|a b\n-1 |a c\n")
    for name, sentence in (("a.svm", "2 rows had a qid"), ("b.vw", "1 row had a tag")):
        said = run("convert", tmp_path / name, tmp_path / f"{name}.jsonl").stderr
        assert f"{sentence}, which is left out" in said
    assert "left out" not in run("convert", tmp_path / "a.svm.jsonl", tmp_path / "c.vw").stderr


def test_what_two_passes_find_is_told_once(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{i % 2},note {i}\n" for i in range(40))
    (tmp_path / "notes.csv").write_text(f"y,note\n{rows}")
    told = run("convert", tmp_path / "notes.csv", tmp_path / "o.parquet", "--label", "y").stderr
    assert told.count("40 of 40 values are different") == 1
