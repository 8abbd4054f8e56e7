"""Frames of every library, lists of dicts and of texts: the same weights by every route."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import click.testing
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.support import by_name

import yarrow
from yarrow import AROWClassifier, PassiveAggressiveRegressor
from yarrow.cli import main
from yarrow.errors import DataError, ReadingWarning, UnknownFeaturesWarning, YarrowError
from yarrow.experts import HedgeClassifier
from yarrow.features import Columns
from yarrow.kernel import KernelPerceptron

RECORDS: list[dict[str, Any]] = [
    {
        "age": None if i % 7 == 3 else (i * 37 % 50) / 4,
        "count": i * 13 % 11,
        "town": None if i % 5 == 4 else ["Oslo", "Rome", "Bern"][i * 7 % 3],
        "member": None if i % 11 == 10 else i % 2 == 0,
        "when": None if i % 13 == 5 else pd.Timestamp("2024-01-01") + pd.Timedelta(hours=i * 1000),
        "words": f"the w{i % 4} and the w{i * 3 % 5}",
    }
    for i in range(60)
]
LABELS = [["a", "b", "c"][(i * i) % 3 if i % 7 else 2] for i in range(60)]
TEXT = ["words"]


def frame() -> pd.DataFrame:
    made = pd.DataFrame(RECORDS, index=np.arange(100, 160))  # which is no column
    return made.astype({"member": "boolean"})


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"rows.{suffix}"
    table = frame().assign(y=LABELS)
    if suffix == "csv":
        table["member"] = table["member"].map({True: "true", False: "false"})
        table.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    return path


def trained(path: Path, *options: str) -> Any:
    model = path.with_suffix(".yarrow")
    found = click.testing.CliRunner().invoke(
        main, ["train", str(path), "--label", "y", "--model", str(model), *options]
    )
    assert found.exit_code == 0, found.output
    return yarrow.load(model)


FRAMES = {
    "pandas": frame,
    "polars": lambda: pl.from_pandas(frame()),
    "pyarrow": lambda: pa.Table.from_pandas(frame(), preserve_index=False),
    "a reader of batches": lambda: pa.Table.from_pandas(frame(), preserve_index=False).to_reader(),
    "DuckDB": lambda: duckdb.from_arrow(pa.Table.from_pandas(frame(), preserve_index=False)),
    "dicts": lambda: RECORDS,
}
SAME_KIND = {"pandas": pd.Series, "polars": pl.Series}


@pytest.mark.parametrize("text", [(), TEXT], ids=["categories", "words"])
def test_the_same_weights_by_every_route(tmp_path: Path, text: Any) -> None:
    options = [part for name in text for part in ("--text", name)] + ["--learner", "arow"]
    model = trained(written(tmp_path, "csv"), *options)
    expected = by_name(model)
    assert {
        "age",
        "count",
        "member",
        "town=Oslo",
        "when.month=1",
        "when.hour=16",
    } <= expected.keys()
    assert ("words=the" in expected) is bool(text)
    assert by_name(trained(written(tmp_path, "parquet"), *options)) == expected
    for name, make in FRAMES.items():
        columns = Columns(text=list(text))
        matrix = columns.fit(RECORDS if name.startswith("a reader") else make()).transform(make())
        in_steps = AROWClassifier().partial_fit(matrix, LABELS)
        weights = dict(zip(columns.get_feature_names_out(), in_steps.coef_.T.tolist(), strict=True))
        assert {k: w for k, w in weights.items() if any(w)} == expected, name
        if not text:
            assert by_name(AROWClassifier().partial_fit(make(), LABELS)) == expected, name
            many = AROWClassifier()
            many.learn_many(make(), LABELS)
            assert by_name(many) == expected, name


def test_a_real_table_gives_the_same_weights_by_every_route(tmp_path: Path) -> None:
    source = Path(os.environ.get("YARROW_DATA", "")) / "kddcup99/nsl-kdd-train-20percent.csv.gz"
    if not source.exists():
        pytest.skip("kddcup99 is not in YARROW_DATA")
    with gzip.open(source, "rt") as file:
        lines = list(itertools.islice(file, 3000))
    names = [*(f"c{n}" for n in range(41)), "y", "difficulty"]
    (tmp_path / "rows.csv").write_text(",".join(names) + "\n" + "".join(lines))
    expected = by_name(trained(tmp_path / "rows.csv", "--learner", "pa", "--drop", "difficulty"))
    table = pd.read_csv(tmp_path / "rows.csv")
    y, X = table.pop("y"), table.drop(columns="difficulty")
    for given in (X, pl.from_pandas(X), pa.Table.from_pandas(X), X.to_dict("records")):
        model = yarrow.PassiveAggressiveClassifier().partial_fit(given, y)
        assert by_name(model) == expected


@pytest.mark.parametrize("kind", FRAMES)
def test_answers_are_of_the_kind_that_was_asked(kind: str) -> None:
    make = FRAMES[kind]
    model = AROWClassifier().fit(make(), LABELS)
    regressor = PassiveAggressiveRegressor().fit(make(), np.arange(60.0))
    hedge = HedgeClassifier([AROWClassifier(), yarrow.Perceptron()]).fit(make(), LABELS)
    kernel = KernelPerceptron().fit(make(), LABELS)
    for one in (model, regressor, hedge, kernel):
        expected = one.predict(make()).tolist()
        found = one.predict_many(make())
        assert isinstance(found, SAME_KIND.get(kind, pa.Array))
        assert (found.to_pylist() if isinstance(found, pa.Array) else found.to_list()) == expected
        fresh = type(one)([AROWClassifier()]) if one is hedge else type(one)()
        assert len(fresh.predict_many(FRAMES["pandas"]())) == 60
    table = model.predict_proba_many(make())
    assert isinstance(table, {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(kind, pa.Table))
    seen = list(dict.fromkeys(LABELS))
    shares = table.to_pandas() if isinstance(table, pa.Table) else table
    likely = model.predict_proba(make())
    for name in seen:
        place = model.classes_.tolist().index(name)
        assert np.asarray(shares[name]).tolist() == likely[:, place].tolist()
    if kind == "pandas":
        moved = frame().set_index(np.arange(100, 160))
        assert model.predict_many(moved).index.tolist() == list(range(100, 160))


def test_texts_are_their_words() -> None:
    texts = [record["words"] for record in RECORDS]
    one_by_one = AROWClassifier()
    from yarrow.features import TextFeatures

    for text, label in zip(texts, LABELS, strict=True):
        one_by_one.learn_one(TextFeatures().transform_one(text), label)
    for form in (texts, tuple(texts), pd.Series(texts), pl.Series(texts)):
        model = AROWClassifier().partial_fit(form, LABELS)
        assert by_name(model) == by_name(one_by_one)
        assert model.predict(form).tolist() == [
            one_by_one.predict_one(TextFeatures().transform_one(text)) for text in texts
        ]


def test_a_model_of_files_reads_frames_dicts_and_cells_as_files(tmp_path: Path) -> None:
    path = written(tmp_path, "csv")
    model = trained(path, "--text", "words", "--category", "count", "--when-missing", "indicate")
    assert "age is missing" in model.feature_names_
    found = click.testing.CliRunner().invoke(
        main, ["predict", str(path.with_suffix(".yarrow")), str(path), "--scores", "--quiet"]
    )
    expected = [line.split("\t")[0] for line in found.stdout.splitlines()]
    scores = [list(map(float, line.split("\t")[1:])) for line in found.stdout.splitlines()]
    cells = list(csv.DictReader(io.StringIO(path.read_text())))
    for form in (frame(), FRAMES["polars"](), FRAMES["pyarrow"](), RECORDS, cells,
                 pd.DataFrame(cells)):  # fmt: skip
        assert model.predict(form).tolist() == expected
        np.testing.assert_allclose(model.decision_function(form), scores, rtol=1e-8)
    assert [model.predict_one(row) for row in cells] == expected
    assert list(model.feature_names_in_) == list(frame().columns)


def test_a_model_of_a_frame_reads_files_dicts_and_other_frames_alike(tmp_path: Path) -> None:
    model = AROWClassifier().fit(frame(), LABELS)
    expected = model.predict(frame()).tolist()
    assert list(model.feature_names_in_) == list(frame().columns)
    assert model.n_features_in_ == 6
    model.save(tmp_path / "m")
    for one in (model, yarrow.load(tmp_path / "m")):
        assert one.predict(FRAMES["polars"]()).tolist() == expected
        assert one.predict(RECORDS).tolist() == expected
        assert [one.predict_one(record) for record in RECORDS] == expected
        with pytest.raises(DataError, match="seen at fit time, yet now missing:\n- town"):
            one.predict(frame().drop(columns="town"))
        with pytest.raises(DataError, match="on a frame with named columns, such as 'age'"):
            one.predict(np.ones((3, 6)))
    path = written(tmp_path, "csv")
    found = click.testing.CliRunner().invoke(
        main, ["predict", str(tmp_path / "m"), str(path), "--quiet"]
    )
    assert found.stdout.split() == expected


@pytest.mark.parametrize(
    "form", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_missing_numbers_are_no_features(form: Any) -> None:
    X = np.random.default_rng(1).normal(size=(60, 3))
    X[::7, 1] = np.nan
    given = form({name: X[:, j] for j, name in enumerate("abc")})
    model = AROWClassifier().partial_fit(given, LABELS)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    by_dicts = AROWClassifier()
    for row, label in zip(X, LABELS, strict=True):
        x = {name: value for name, value in zip("abc", row.tolist(), strict=True) if value == value}
        by_dicts.learn_one(x, label)
    assert by_name(model) == by_name(by_dicts)
    for how in ("indicate", "error"):
        columns = Columns(when_missing=how)
        if how == "error":
            with pytest.raises(DataError, match="row 0, field 'b': the value is missing"):
                columns.fit(given)
        else:
            names = columns.fit(given).get_feature_names_out().tolist()
            assert sorted(names) == ["a", "b", "b is missing", "c"]
            indicated = columns.transform(given).toarray()[:, names.index("b is missing")]
            assert indicated.tolist() == np.isnan(X[:, 1]).astype(float).tolist()


def test_record_batches_of_pyarrow_are_frames() -> None:
    """So a Parquet file is learned batch by batch."""
    table = pa.table({"km": [1.0, 2.0, None, 4.0], "town": ["Oslo", "Rome", "Rome", None]})
    whole, batched = AROWClassifier(), AROWClassifier()
    for batch in table.to_batches(max_chunksize=2):
        whole.partial_fit(pa.Table.from_batches([batch]), ["a", "b"])
        batched.partial_fit(batch, ["a", "b"])
    assert batched.feature_names_ == whole.feature_names_
    assert np.array_equal(batched.coef_, whole.coef_)
    assert batched.predict(table.to_batches()[0]).tolist() == whole.predict(table).tolist()


def test_numbers_of_other_types_in_dicts_are_the_numbers_that_they_are() -> None:
    """To a model that knows no table, and to one that does."""
    frame = pd.DataFrame({"km": [1.5, 2.5], "town": ["Oslo", "Rome"]})
    plain, taught = AROWClassifier(), AROWClassifier().fit(frame, ["a", "b"])
    for row in frame.to_dict("records"):
        plain.learn_one(row, "a" if row["town"] == "Oslo" else "b")
    for model in (plain, taught):
        for number in (Decimal("1.5"), Fraction(3, 2), np.float16(1.5)):
            said = model.predict_proba_one({"km": number})
            assert said == model.predict_proba_one({"km": 1.5})
        with pytest.raises(DataError, match="'km'"):
            model.learn_one({"km": 1j}, "a")


def test_errors_name_the_column_and_the_way_out() -> None:
    model = AROWClassifier()
    for X, says in (
        (pl.LazyFrame({"a": [1.0]}), r"LazyFrame.*X\.collect\(\)"),
        (pd.DataFrame({"a": [1.0, 2], "city": [1, "Oslo"]}), "row 1, field 'city': .*'Oslo' among"),
        (pd.DataFrame({"a": [1.0, np.inf], "city": ["x", "y"]}), "row 1, field 'a': inf is not"),
        ([{"a": 1.0}, {"a": np.inf}], "row 1, field 'a': inf"),
        ([{"a": 1.0}, {"a": 1j}], "row 1, field 'a': 1j"),
        ([{"a": 1.0}, 5], "row 1: 5 is not a dict"),
        (["a", None], "row 1: None is not a text"),
        (pd.DataFrame({"a": [1.0, 2], "city": [1.0, np.inf]}), "infinity at row 1, column 'city'"),
        ({"a": [1.0, 2.0]}, "X is a dict: give a list of dicts"),
        (
            [["a", 1.0], ["b", 2.0]],
            "X: 'a' at row 0, column 0 is not a number: give a frame whose",
        ),
        ([[b"a", 1.0]] * 2, "X: b'a' at row 0, column 0 is not a number: give a frame whose"),
        ([[1.0, 2.0], [3.0, [4.0]]], r"^Input X: \[4.0\] at row 1, column 1 is not a number.$"),
        ([[1.0], [np.nan]], "NaN at row 1, column 0: give a frame, in which it means a missing"),
        ("one text", "X is one text, 'one text': give a list of texts"),
        (iter([{"a": 1.0}, {"a": 2.0}]), r"read only once: give list\(X\)"),
        (pd.DataFrame([[1, "x"], [2, "y"]], columns=["a", "a"]), "'a': two .* rename one of them"),
        (pd.DataFrame({"a": ["x"]}).iloc[:0], "0 sample"),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2])}), "field 'a': a column of type duration"),
    ):
        with pytest.raises(YarrowError, match=says) as caught:
            model.fit(X, ["a", "b"])
        assert not str(caught.value).startswith(",")
        with pytest.raises(YarrowError, match=says):
            model.partial_fit(X, ["a", "b"])


def test_errors_of_transformers_and_options_name_the_way_out(tmp_path: Path) -> None:
    from yarrow.features import OnlineStandardScaler

    for values, says in ((["x", "y"], "'x' at row 0, column 'city'.*features.Columns"),
                         ([1.0, np.nan], "NaN at row 1, column 'city'")):  # fmt: skip
        with pytest.raises(DataError, match=says):
            OnlineStandardScaler().fit(pd.DataFrame({"a": [1.0, 2.0], "city": values}))
    with pytest.raises(DataError, match="feature 'a' is NaN; say None where a value is missing"):
        AROWClassifier().learn_one({"a": np.nan}, 1)
    (tmp_path / "rows.svm").write_text("1 1:1\n")
    for options, says in (
        (["--class-weight", "balanced"], "a stream has no end at which classes could be balanced"),
        (["--learner", "perceptron", "--loss", "hinge"], "; --loss is for a"),
    ):
        command = ["train", str(tmp_path / "rows.svm"), *options, "--model", str(tmp_path / "m")]
        found = click.testing.CliRunner().invoke(main, command)
        assert found.exit_code == 2
        assert says in found.stderr


def test_a_column_of_numbers_stays_one() -> None:
    model = AROWClassifier().partial_fit(pd.DataFrame({"a": [1.0, 2.0]}), [0, 1])
    model.partial_fit(pd.DataFrame({"a": ["3", "NA"]}), [0, 1])
    assert model.feature_names_ == ["a"]
    with pytest.raises(DataError, match="row 1, field 'a': 'x' is not a number"):
        model.partial_fit(pd.DataFrame({"a": ["3", "x"]}), [0, 1])
    assert model.t_ == 4


def test_narwhals_comes_with_a_frame_only() -> None:
    program = (
        "import sys, yarrow, numpy as np\n"
        "m = yarrow.AROWClassifier().fit(np.eye(2), [0, 1]); m.predict(np.eye(2))\n"
        "m.learn_one({0: 1.0}, 1)\n"
        "print({'narwhals', 'pandas', 'polars', 'pyarrow'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


def test_a_pipeline_learns_a_table() -> None:
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(Columns(text=TEXT), AROWClassifier()).fit(frame(), LABELS)
    assert pipeline.predict(FRAMES["polars"]()).tolist() == pipeline.predict(RECORDS).tolist()
    assert len(set(pipeline.predict(frame()))) > 1
    with pytest.raises(DataError, match="field 'body': no such column; it has age, count"):
        Columns(text=["body"]).fit(frame())


def test_texts_that_are_missing_are_refused_with_a_way_out() -> None:
    for texts in (["a b", None, "a"], [None, "a b", "a"], pd.Series(["a", None, "b"])):
        for rows in (texts, pa.array(list(texts), pa.string(), from_pandas=True)):
            with pytest.raises(DataError, match=r"row [01]: .* as other rows are; say ''"):
                AROWClassifier().fit(rows, [0, 1, 0])
    model = AROWClassifier().fit(pa.array(["a b", "c", "a"]), [0, 1, 0])
    assert model.predict(pa.chunked_array([["a b"], ["c"]])).tolist() == [0, 1]
    with pytest.raises(DataError, match="row 0: None is not a dict, though other rows are dicts"):
        AROWClassifier().fit([None, {"a": 1}], [0, 1])
    with pytest.raises(DataError, match="field 'c': a column of type complex128 makes no features"):
        AROWClassifier().fit(pd.DataFrame({"c": [1j, 2]}), [0, 1])


def test_columns_that_a_file_had_and_a_frame_has_not_are_told(tmp_path: Path) -> None:
    """As of the next file. A model of a frame refuses other columns."""
    rows = pd.DataFrame({"y": [0, 1] * 10, "n": range(20), "note": ["a", "b"] * 10, "w": 1.5})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    table = str(tmp_path / "rows.csv"), "--label", "y", "--weight", "w"
    args = ["train", *table, "--learner", "arow", "--model", str(tmp_path / "m")]
    assert click.testing.CliRunner().invoke(main, args).exit_code == 0
    model = yarrow.load(tmp_path / "m")
    model.predict(rows)  # a warning would be an error
    model.predict(rows[["n", "note"]])
    for frame in (rows[["n"]], pl.from_pandas(rows[["n", "y"]])):
        with pytest.warns(ReadingWarning, match="'note': the model has learned this colu") as told:
            model.predict(frame)
        assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(UnknownFeaturesWarning) as told:
        model.predict(rows[["w"]].rename(columns={"w": "v"}))
    assert [warning.filename for warning in told] == [__file__]


def test_sequences_of_words_are_counted_as_by_the_command_line(tmp_path: Path) -> None:
    rows = pd.DataFrame({"y": [0, 1], "note": ["buy cheap now", "see you now"], "n": [1, 2]})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    table = str(tmp_path / "rows.csv"), "--label", "y", "--text", "note", "--ngrams", "2"
    args = ["train", *table, "--learner", "arow", "--model", str(tmp_path / "m")]
    assert click.testing.CliRunner().invoke(main, args).exit_code == 0
    columns = Columns(text=["note"], ngrams=2).fit(rows[["note", "n"]])
    model = yarrow.load(tmp_path / "m")
    assert set(columns.get_feature_names_out()) == set(model.feature_names_)
    assert "note=cheap now" in columns.transform_one({"note": "cheap now"})
