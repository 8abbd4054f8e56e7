"""`yarrow train`."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import zstandard
from cli.support import Run, by_name, rows_of_text

import yarrow
from yarrow.base.linear import LinearModel
from yarrow.cli.learners import ONLY_FIT, hyper_parameters, learner_options, learners
from yarrow.parameters import parameters


def learned_in_python(model: Any, lines: list[str], base: int = 1) -> Any:
    """The same rows by `learn_one`, parsed without Yarrow's parser."""
    for line in lines:
        label, *cells = line.split()
        pairs = (cell.split(":") for cell in cells)
        row = {int(index) - base: float(value) for index, value in pairs}
        model.learn_one(row, float(label) if hasattr(model, "epsilon") else int(label))
    return model


LABELLED = [
    name for name, cls in learners().items() if issubclass(cls, LinearModel) and cls.learns_labels
]


@pytest.mark.parametrize("name", LABELLED)
def test_every_learner_learns_as_in_python(run: Run, svm: Path, tmp_path: Path, name: str) -> None:
    run("train", svm, "--learner", name, "--model", tmp_path / "m")
    expected = learned_in_python(learners()[name](), svm.read_text().splitlines())
    found = yarrow.load(tmp_path / "m")
    assert type(found) is learners()[name]
    assert by_name(found) == by_name(expected)
    assert found.intercept_.tolist() == expected.intercept_.tolist()
    assert found.n_updates_ == expected.n_updates_ > 0


@pytest.mark.parametrize("name", ["AROWClassifier", "arowclassifier", "AROW", "arow"])
def test_a_learner_has_a_long_and_a_short_name_in_any_case(
    run: Run, svm: Path, tmp_path: Path, name: str
) -> None:
    run("train", svm, "--learner", name, "--model", tmp_path / "m")
    assert isinstance(yarrow.load(tmp_path / "m"), yarrow.AROWClassifier)


@pytest.mark.parametrize("name", learners())
def test_every_hyper_parameter_is_an_option_with_its_default(run: Run, name: str) -> None:
    cls = learners()[name]
    options = {option.name.removesuffix("_inside"): option for option in learner_options(cls)}
    assert options.keys() == parameters(cls).keys() - {*ONLY_FIT, "n_jobs"}  # that is for arrays
    page = " ".join(run("train", "--learner", name, "--help").stdout.split())
    for parameter, option in options.items():
        declared = parameters(cls)[parameter]
        assert option.opts[0] in page
        assert declared.doc.replace("`", "'") in page
        for choice in declared.choices:
            assert choice in page


def test_options_reach_the_learner(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--learner", "pa", "--C", "0.25", "--variant", "pa2", "--average",
        "--no-fit-intercept", "--class-weight", "-1=2,1=0.5", "--classes", "1,-1",
        "--dtype", "float64", "--set", "max_iter=7", "--set", "shuffle=no",
        "--model", tmp_path / "m")  # fmt: skip
    model = yarrow.load(tmp_path / "m")
    found = model.get_params()
    assert found["class_weight"] == {-1: 2.0, 1: 0.5}
    assert list(found["classes"]) == [1, -1]
    expected = {"C": 0.25, "variant": "pa2", "average": True, "fit_intercept": False,
                "dtype": "float64", "max_iter": 7, "shuffle": False}  # fmt: skip
    assert expected.items() <= found.items()


def test_costs_of_pairs_reach_the_learner(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--learner", "arow", "--multiclass", "max_loss", "--cost",
        "-1:1=2,1:-1=0.5", "--model", tmp_path / "m")  # fmt: skip
    assert yarrow.load(tmp_path / "m").cost == {(-1, 1): 2.0, (1, -1): 0.5}
    done = run("train", svm, "--learner", "arow", "--cost", "spam=2", code=2)
    assert "'cost' must be like" in done.stderr


def test_every_parameter_can_be_set_by_name(run: Run, svm: Path, tmp_path: Path) -> None:
    assert set(ONLY_FIT) <= hyper_parameters(yarrow.AROWClassifier).keys()
    run("train", svm, "--learner", "arow", "--set", "r=0.5", "--set", "average=true",
        "--set", "hash_bits=None", "--set", "classes=-1,1", "--model", tmp_path / "m")  # fmt: skip
    model = yarrow.load(tmp_path / "m")
    assert (model.r, model.average, model.hash_bits, list(model.classes)) == (
        0.5,
        True,
        None,
        [-1, 1],
    )


def test_threads_compression_and_pipes_give_the_same_file(
    run: Run, svm: Path, tmp_path: Path
) -> None:
    text = ("".join(rows_of_text(20_000))).encode()  # several blocks
    svm.write_bytes(text)
    models = []

    def train(data: Any, *options: Any, stdin: bytes | None = None) -> None:
        model = tmp_path / f"model{len(models)}"
        run("train", data, *options, "--model", model, stdin=stdin)
        models.append(model.read_bytes())

    for threads in (1, 2, 3):
        train(svm, "--threads", threads)
    train("-", "--threads", 2, stdin=text)
    train("-", stdin=gzip.compress(text))
    for suffix, compress in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress),
                             ("zst", zstandard.ZstdCompressor().compress)):  # fmt: skip
        packed = tmp_path / f"rows.svm.{suffix}"
        packed.write_bytes(compress(text))
        train(packed)
    assert len(models) == 9
    assert set(models) == {models[0]}


def test_a_named_pipe_is_read_once(run: Run, svm: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(svm.read_bytes()))
    writer.start()  # and is gone before anything could open the pipe a second time
    run("train", pipe, "--model", tmp_path / "m")
    writer.join()
    run("train", svm, "--model", tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("name", LABELLED)
def test_resuming_is_one_long_run(run: Run, tmp_path: Path, name: str) -> None:
    lines = rows_of_text(300)
    halves = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for path, part in zip(halves, (lines[:130], lines[130:]), strict=True):
        path.write_text("".join(part))
    run("train", *halves, "--learner", name, "--model", tmp_path / "whole")
    run("train", halves[0], "--learner", name, "--model", tmp_path / "half")
    run("train", halves[1], "--resume", tmp_path / "half", "--model", tmp_path / "half")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "half").read_bytes()
    assert yarrow.load(tmp_path / "whole").t_ == 300


def test_passes_read_all_files_again(run: Run, tmp_path: Path) -> None:
    lines = rows_of_text(200)
    files = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for path, part in zip(files, (lines[:50], lines[50:]), strict=True):
        path.write_text("".join(part))
    said = run("train", *files, "--passes", 2, "--model", tmp_path / "m").stdout
    assert said.startswith("400 rows, error ")
    assert ", then " in said
    (tmp_path / "twice.svm").write_text("".join(lines * 2))
    run("train", tmp_path / "twice.svm", "--model", tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_the_summary_is_one_line_with_what_happened(run: Run, svm: Path, tmp_path: Path) -> None:
    result = run("train", svm, "--learner", "perceptron", "--model", tmp_path / "m")
    model = yarrow.load(tmp_path / "m")
    error = 100 * model.n_mistakes_ / 400
    assert result.stdout.startswith(
        f"400 rows, error {error:.2f} %, {model.n_updates_} updates, {model.n_nonzero_} nonzeros, "
    )
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""
    assert run("train", svm, "--model", tmp_path / "m", "--quiet").output == ""


def test_a_table_is_read_by_its_columns(run: Run, table: Path, tmp_path: Path) -> None:
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:3]))
    options = ["--label", "label", "--text", "text", "--drop", "age"]
    run("train", table, *options, "--model", tmp_path / "m")
    expected = yarrow.YarrowClassifier()
    expected.learn_one({"town=Oslo": 1, "text=cheap": 1, "text=pills": 1}, "spam")
    expected.learn_one({"town=Rome": 1, "text=lunch": 1, "text=today": 1}, "ham")
    assert by_name(yarrow.load(tmp_path / "m")) == by_name(expected)


def test_json_lines_parquet_and_csv_give_the_same_model(
    run: Run, table: Path, tmp_path: Path
) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    rows = pyarrow.csv.read_csv(table)
    pyarrow.parquet.write_table(rows, tmp_path / "mail.parquet")
    (tmp_path / "mail.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows.to_pylist()))
    weights = []
    options = ["--label", "label", "--text", "text", "--model", tmp_path / "m"]
    for name in ("mail.csv", "mail.jsonl", "mail.parquet"):
        run("train", tmp_path / name, *options)
        weights.append(by_name(yarrow.load(tmp_path / "m")))
    assert weights[0] == weights[1] == weights[2]


def test_a_table_without_header_has_numbered_columns(run: Run, tmp_path: Path) -> None:
    data = "1.5,x,a\n2.5,y,b\n0.5,x,a\n"
    for options, names in (
        (["--no-header", "--label", "3"], {"1", "2=x", "2=y"}),
        (["--columns", "n,c,l", "--label", "l"], {"n", "c=x", "c=y"}),
    ):
        run("train", "-", "--format", "csv", *options, "--model", tmp_path / "m", stdin=data)
        assert set(yarrow.load(tmp_path / "m").feature_names_) == names


TABLE = "y;w;zip;n;m\n1;1;0150;3;XX\n0;2;0150;4;7\n1;0;9999;!;8\n"


@pytest.mark.parametrize(
    ("options", "names", "rows"),
    [
        (["--category", "zip", "--missing", "XX", "--missing", "!"],
         {"w", "zip=0150", "zip=9999", "n", "m"}, 3),
        (["--weight", "w", "--drop", "m", "--drop", "n"], {"zip"}, 2),  # no row has weight 0
        (["--weight", "w", "--drop", "m,n"], {"zip"}, 2),
        (["--only", "m", "--only", "zip"], {"zip", "m=XX", "m=7", "m=8"}, 3),
        (["--only", "m,zip", "--category", "zip,m"],
         {"zip=0150", "zip=9999", "m=XX", "m=7", "m=8"}, 3),
        (["--only", "n", "--numeric", "n", "--missing", "!"], {"n"}, 3),
    ],
)  # fmt: skip
def test_columns_have_the_roles_that_options_give_them(
    run: Run, tmp_path: Path, options: list[str], names: set[str], rows: int
) -> None:
    command = ["train", "-", "--format", "csv", "--delimiter", ";", "--label", "y", *options]
    run(*command, "--model", tmp_path / "m", stdin=TABLE)
    model = yarrow.load(tmp_path / "m")
    assert set(model.feature_names_) == names
    assert model.t_ == rows


def test_a_column_with_a_comma_in_its_name_stands_in_quotes(run: Run, tmp_path: Path) -> None:
    """As in the header of the file; and so a warning names it."""
    rows = "".join(f"{i % 2},{i},note {i},{i}\n" for i in range(40))
    command = ["train", "-", "--label", "y", "--model", tmp_path / "m"]
    data = f'y,a,"b,c",d\n{rows}'
    told = run(*command, "--drop", "a,d", stdin=data).stderr
    assert """column 'b,c': 40 of 40 values are different""" in told
    assert """say --text '"b,c"' or --drop '"b,c"'.""" in told
    run(*command, "--drop", '"b,c",a', stdin=data)
    assert set(yarrow.load(tmp_path / "m").feature_names_) == {"d"}
    assert "cannot be read" in run(*command, "--drop", '"b,c', stdin=data, code=2).stderr


def test_vw_text_with_interactions(run: Run, tmp_path: Path) -> None:
    lines = "1 |a x y |b z\n-1 2 |a x |b w:0.5\n"
    run("train", "-", "--format", "vw", "-q", "ab", "--model", tmp_path / "m", stdin=lines)
    names = set(yarrow.load(tmp_path / "m").feature_names_)
    assert {"a^x", "b^z", "a^x*b^z", "a^y*b^z", "a^x*b^w"} <= names


def test_hashing_needs_no_names(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--hash-bits", 6, "--model", tmp_path / "m")
    model = yarrow.load(tmp_path / "m")
    assert model.coef_.shape == (1, 64)


def test_broken_rows_are_skipped_and_counted(run: Run, tmp_path: Path) -> None:
    lines = rows_of_text(20)
    data = tmp_path / "rows.svm"
    data.write_text("".join([*lines[:5], "1 2:nan\n", *lines[5:], "x:1\n", "1 3:zero\n"]))
    result = run("train", data, "--on-error", "skip", "--model", tmp_path / "m")
    assert result.stdout.startswith("20 rows, ")
    assert result.stderr.startswith("3 rows skipped; the first:\n")
    assert f"{data}, line 6, column 3, '2:nan': the value is NaN" in result.stderr
    data.write_text("".join(lines))
    run("train", data, "--model", tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_values_too_large_for_the_model_are_skipped_in_tables(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("y,a\n1,2\n0,1e39\n0,3\n")
    options = ["train", data, "--label", "y", "--model", tmp_path / "m"]
    assert "rows.csv, line 3, field 'a': 1e+39 is too large" in run(*options, code=2).stderr
    result = run(*options, "--on-error", "skip")
    assert result.stdout.startswith("2 rows, ")
    assert result.stderr.startswith("1 row skipped")
    assert run(*options, "--dtype", "float64").stdout.startswith("3 rows, ")


def test_export_beside_or_instead_of_the_model(run: Run, svm: Path, tmp_path: Path) -> None:
    arow = ["--learner", "arow"]
    run("train", svm, *arow, "--model", tmp_path / "m", "--export", tmp_path / "e")
    model, exported = yarrow.load(tmp_path / "m"), yarrow.load(tmp_path / "e")
    assert by_name(exported) == by_name(model)
    run("train", svm, "--export", tmp_path / "e.json")
    assert json.loads((tmp_path / "e.json").read_text())["kind"] == "export"


def test_where_nobody_chooses_yarrow_is_taken_and_said(run: Run, svm: Path, tmp_path: Path) -> None:
    said = run("train", svm, "--model", tmp_path / "m").stdout
    assert "; by YarrowClassifier, as no --learner was named\n" in said
    assert type(yarrow.load(tmp_path / "m")) is yarrow.YarrowClassifier
    said = run("train", svm, "--regression", "--model", tmp_path / "m").stdout
    assert "; by YarrowRegressor, as no --learner was named\n" in said
    assert type(yarrow.load(tmp_path / "m")) is yarrow.YarrowRegressor
    assert "YarrowRegressor()" in run("evaluate", svm, "--regression").stdout
    assert "YarrowClassifier()" in run("evaluate", svm).stdout
    for named in (["--learner", "arow"], ["--learner", "arow-regressor", "--regression"]):
        assert "no --learner" not in run("train", svm, *named, "--model", tmp_path / "m").stdout
    resumed = run("train", svm, "--resume", tmp_path / "m", "--model", tmp_path / "m").stdout
    assert "no --learner" not in resumed


def test_real_targets_ask_for_a_regression(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n1,2.5\n2,4.5\n3,6.25\n")
    options = ["train", tmp_path / "rows.csv", "--label", "y", "--model", tmp_path / "m"]
    assert "regressors (--regression) take real targets" in run(*options, code=2).stderr
    assert run(*options, "--regression").stdout.startswith("3 rows, RMSE ")


@pytest.mark.parametrize("regression", [[], ["--regression"]])
def test_what_nobody_chose_is_exported(
    run: Run, svm: Path, tmp_path: Path, regression: list[str]
) -> None:
    run("train", svm, *regression, "--model", tmp_path / "m", "--export", tmp_path / "e.json")
    told = [run("predict", tmp_path / name, svm).stdout.split() for name in ("m", "e.json")]
    assert [float(x) for x in told[0]] == pytest.approx([float(x) for x in told[1]], abs=1e-4)


@pytest.mark.parametrize("learner", ["yarrow", "arow", "kernelperceptron"])
def test_rows_that_are_sorted_by_class_are_told(run: Run, tmp_path: Path, learner: str) -> None:
    """By `train`, in any number of passes, and by `evaluate`; not where one class comes again."""
    rows = [f"{label} {1 + place % 7}:{1 + place % 3}\n" for label in "321" for place in range(30)]
    (tmp_path / "sorted.svm").write_text("".join(rows))
    (tmp_path / "nearly.svm").write_text("".join([*rows, rows[0]]))
    for name, times in (("sorted", 1), ("nearly", 0)):
        path, model = tmp_path / f"{name}.svm", tmp_path / "m"
        for command in (
            ["train", path, "--model", model],
            ["train", path, "--model", model, "--passes", 3],
            ["train", path, "--model", model, "--quiet"],
            ["evaluate", path],
            ["evaluate", path, "--delay", 2],
        ):
            told = run(*command, "--learner", learner).stderr
            assert told.count("the rows are sorted by class") == times, command


def test_what_options_and_labels_cannot_mean_is_told(run: Run, svm: Path, tmp_path: Path) -> None:
    """Options of columns where there are none, and a model that can say but one thing."""
    (tmp_path / "one.csv").write_text("y,a\nspam,2\nspam,3\n")
    model = tmp_path / "m"
    told = run(
        "train", svm, "--text", "note", "--ngrams", 2, "--threads", 1, "--model", model
    ).stderr
    assert told == ("yarrow: svmlight text has no columns, so --text, --ngrams have no effect.\n")
    assert run("train", svm, "--model", model).stderr == ""
    told = run("train", tmp_path / "one.csv", "--label", "y", "--model", model).stderr
    assert told == "yarrow: all rows had the label spam, so the model predicts no other.\n"
