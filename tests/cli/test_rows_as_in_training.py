"""A model that a command made is asked in Python, and by `inspect`, as it was taught."""

from __future__ import annotations

import csv
import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.support import Run, rows_of_text

import yarrow
from yarrow.errors import ReadingWarning, YarrowError
from yarrow.io.formats import StreamFormat

TABLE = """label,age,zip,town,member,weight,text
spam,31,0150,Oslo,true,1.5,"Cheap pills, cheap"
ham,40.5,1204,Rome,false,1,lunch today?
spam,33,0150,Oslo,true,2,cheap cheap watches
ham,,0150,Oslo,false,1,"Lunch, or dinner"
ham,52,1204,Rome,true,0.5,dinner today
spam,-18,77,Oslo,,1,pills and watches
other,1e1,77,Bern,false,1,nothing of this
"""
ASKED = """age,zip,town,member,text
31,0150,Oslo,true,cheap dinner
,77,Rome,,
 12 ,99,Bern,false,"Lunch, cheap, nothing"
-3.5,1204,Paris,true,Watches today
"""


def table(times: int) -> str:
    """The rows, several times, below one header."""
    header, rows = TABLE.split("\n", 1)
    return f"{header}\n{rows * times}"


def test_files_of_other_formats_are_read_as_the_csv_file_was(run: Run, tmp_path: Path) -> None:
    """Texts of JSON and Parquet as the dates and numbers that the CSV file had, codes as codes."""
    day = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(60)]
    table = {"y": [i % 2 for i in range(60)], "day": day, "n": [*map(str, range(59)), "NA"]}
    frame = pd.DataFrame(table | {"code": [str(i % 5) if i % 7 else "x" for i in range(60)]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = tmp_path / "m"
    run("train", tmp_path / "rows.csv", "--label", "y", "--learner", "arow", "--model", model)
    frame.to_json(tmp_path / "texts.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "texts.parquet")
    typed = frame.assign(n=pd.to_numeric(frame.n, errors="coerce"), code=frame.code)
    typed.assign(day=pd.to_datetime(frame.day)).to_parquet(tmp_path / "typed.parquet")
    codes = frame.assign(code=[int(c) if c != "x" else c for c in frame.code]).to_dict("records")
    (tmp_path / "codes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in codes))
    expected = run("predict", model, tmp_path / "rows.csv", "--scores", "--quiet").stdout
    for name in ("texts.jsonl", "texts.parquet", "typed.parquet", "codes.jsonl"):
        assert run("predict", model, tmp_path / name, "--scores", "--quiet").stdout == expected
    assert [yarrow.load(model).predict_one(row) for row in codes] == [
        int(line.split("\t")[0]) for line in expected.splitlines()
    ]
    (tmp_path / "bad.jsonl").write_text('{"n": 1}\n{"n": "ten"}\n')
    told = run("predict", model, tmp_path / "bad.jsonl", code=2).stderr
    assert "bad.jsonl, line 2, field 'n': 'ten' is not a number" in told


OPTIONS = ("--label", "label", "--text", "text", "--weight", "weight", "--category", "zip")
LEARNERS = ["arow", "yarrow", "pa", "votedperceptron", "hedge", "kernelperceptron", "sop"]


@pytest.fixture
def rows(tmp_path: Path) -> tuple[Path, list[dict[str, str]]]:
    (tmp_path / "train.csv").write_text(table(4))
    (tmp_path / "asked.csv").write_text(ASKED)
    return tmp_path, list(csv.DictReader(io.StringIO(ASKED)))


def typed(row: dict[str, str]) -> dict[str, Any]:
    """A row as JSON, or a program, would have it: numbers are numbers, nothing is None."""
    found: dict[str, Any] = dict(row)
    found["age"] = float(row["age"]) if row["age"] else None
    found["member"] = {"true": True, "false": False, "": None}[row["member"]]
    found["text"] = row["text"] or None
    return found


def predicted(run: Run, model: Path, data: Path, *options: str) -> list[list[str]]:
    text = run("predict", model, data, "--quiet", *options).stdout
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize("learner", LEARNERS)
def test_raw_rows_in_python_give_what_predict_gives(run: Run, rows: Any, learner: str) -> None:
    folder, raw = rows
    run("train", folder / "train.csv", *OPTIONS, "--learner", learner, "--model", folder / "m")
    model = yarrow.load(folder / "m")
    expected = predicted(run, folder / "m", folder / "asked.csv")
    assert len({one[0] for one in expected}) > 1
    for form in (raw, [typed(row) for row in raw]):
        assert [[model.predict_one(row)] for row in form] == expected
        labelled = [row | {"label": "spam", "weight": 3.0} for row in form]
        assert [[model.predict_one(row)] for row in labelled] == expected
    copied = pickle.loads(pickle.dumps(model))
    assert [[copied.predict_one(row)] for row in raw] == expected


@pytest.mark.parametrize("learner", ["arow", "yarrow", "votedperceptron"])
def test_scores_and_probabilities_are_the_same_to_the_last_digit(
    run: Run, rows: Any, learner: str
) -> None:
    folder, raw = rows
    run("train", folder / "train.csv", *OPTIONS, "--learner", learner, "--model", folder / "m")
    model = yarrow.load(folder / "m")
    scores = predicted(run, folder / "m", folder / "asked.csv", "--scores")
    for row, (chosen, *texts) in zip(raw, scores, strict=True):
        for name, text in zip(model.classes_.tolist(), texts, strict=True):
            assert f"{model.explain_one(row, name).score:.9g}" == text
        assert model.explain_one(row).label == chosen
    if hasattr(model, "predict_proba"):
        likely = predicted(run, folder / "m", folder / "asked.csv", "--proba")
        for row, (_, *texts) in zip(raw, likely, strict=True):
            found = model.predict_proba_one(row)
            assert [f"{found[name]:.9g}" for name in model.classes_.tolist()] == texts


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_exports_and_regressions_are_asked_as_they_were_taught(
    run: Run, tmp_path: Path, format: str
) -> None:
    table = [
        {"y": i % 5, "n": i % 3, "kind": "abc"[i % 3], "words": f"w{i % 4} and w{i % 5}"}
        for i in range(40)
    ]
    path = tmp_path / f"rows.{format}"
    if format == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
    else:
        pd.DataFrame(table).to_csv(path, sep="\t" if format == "tsv" else ",", index=False)
    run(
        "train", path, "--label", "y", "--text", "words", "--learner", "pa-regressor",
        "--model", tmp_path / "m", "--export", tmp_path / "e", "--export", tmp_path / "e.json",
    )  # fmt: skip
    for name in ("m", "e.json"):
        model = yarrow.load(tmp_path / name)
        told = [float(line) for (line,) in predicted(run, tmp_path / name, path)]
        assert len(set(told)) > 5
        for row, value in zip(table, told, strict=True):
            assert model.predict_one(row) == pytest.approx(value, rel=1e-9)
            assert model.explain_one(row).score == pytest.approx(value, rel=1e-9)


def test_raw_rows_are_learned_as_the_files_were(run: Run, rows: Any) -> None:
    folder, _ = rows
    run("train", folder / "train.csv", *OPTIONS, "--model", folder / "once")
    (folder / "twice.csv").write_text(table(5))
    run("train", folder / "twice.csv", *OPTIONS, "--model", folder / "twice")
    model = yarrow.load(folder / "once")
    for row in csv.DictReader(io.StringIO(TABLE)):
        model.learn_one(row, row["label"], float(row["weight"]))
    expected = yarrow.load(folder / "twice")
    assert model.feature_names_ == expected.feature_names_
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_features_made_of_columns_stay_as_they_are(run: Run, rows: Any) -> None:
    folder, _ = rows
    chosen = ("--only", "text", "--only", "zip")
    run("train", folder / "train.csv", *OPTIONS, *chosen, "--model", folder / "m")
    model = yarrow.load(folder / "m")
    raw = {"text": "cheap pills", "zip": "0150", "age": 3.0}
    made = {"text=cheap": 1.0, "text=pills": 1.0, "zip=0150": 1.0}
    assert model.explain_one(raw) == model.explain_one(made)
    assert len(model.explain_one(raw).contributions) == 4


def test_what_does_not_fit_a_column_is_refused(run: Run, rows: Any) -> None:
    folder, _ = rows
    run("train", folder / "train.csv", *OPTIONS, "--model", folder / "m")
    model = yarrow.load(folder / "m")
    for row, says in (
        ({"age": "old"}, "field 'age': 'old' is not a number"),
        ({"age": "1_0"}, "'1_0' is not a number"),
        ({"member": "perhaps"}, "'perhaps' is not true or false"),
        ({"text": 5}, "5 is not text"),
        ({"age": float("inf")}, "inf is not a finite number"),
        (["cheap"], "must be a dict"),
    ):
        with pytest.raises(YarrowError, match=says):
            model.predict_one(row)
        with pytest.raises(YarrowError, match=says):
            model.learn_one(row, "spam")
    assert model.t_ == 28


def test_fit_forgets_how_files_were_read(run: Run, rows: Any) -> None:
    folder, _ = rows
    run("train", folder / "train.csv", *OPTIONS, "--model", folder / "m")
    model = yarrow.load(folder / "m")
    model.fit(pd.DataFrame({"a": [1.0, 2.0], "text=free now": [0.0, 1.0]}), [0, 1])
    assert model.explain_one({"text": "free now"}).contributions[0].feature == "text=free now"


# -- inspect -------------------------------------------------------------------------------------


def told(run: Run, *args: Any) -> tuple[Any, float, dict[Any, float]]:
    found = json.loads(run("inspect", *args, "--json").stdout)
    parts = {str(p["feature"]): p["value"] * p["weight"] for p in found["contributions"]}
    assert found["adds_up"] is (sum(parts.values()) == pytest.approx(found["score"], abs=1e-5))
    return found["label"], found["score"], parts


@pytest.mark.parametrize("learner", ["arow", "yarrow", "sop", "perceptron"])
@pytest.mark.parametrize("classes", [("-1", "+1"), ("a", "b", "c")], ids=len)
@pytest.mark.parametrize("hashed", [(), ("--hash-bits", "6")], ids=["named", "hashed"])
@pytest.mark.parametrize("format", ["svmlight", "vw"])
def test_inspect_explains_as_predict_scores(
    run: Run, tmp_path: Path, learner: str, classes: Any, hashed: Any, format: str
) -> None:
    lines = rows_of_text(200, 0, classes)
    asked = [line.split(" ", 1)[1].strip() for line in rows_of_text(3, 1, classes)]
    if format == "vw":
        numbers = {name: str(i + 1) for i, name in enumerate(classes)}
        lines = [
            f"{numbers[label]} |n {rest}" for label, rest in (line.split(" ", 1) for line in lines)
        ]
        asked = [f"|n {row}" for row in asked]
    data, rows = tmp_path / f"rows.{format}", tmp_path / f"asked.{format}"
    data.write_text("".join(lines))
    rows.write_text("".join(f"{row}\n" for row in asked))
    run("train", data, "--learner", learner, "--model", tmp_path / "m", *hashed)
    model = yarrow.load(tmp_path / "m")
    names = model.classes_.tolist()
    for row, (chosen, *scores) in zip(
        asked, predicted(run, tmp_path / "m", rows, "--scores"), strict=True
    ):
        label, score, parts = told(run, tmp_path / "m", "--explain", row)
        assert str(label) == chosen
        assert score == pytest.approx(float(scores[names.index(label)]), rel=1e-6)
        shown = {item.split(":")[0] for item in row.replace("|n ", "").split()}
        prefix = "n^" if format == "vw" else ""
        assert {p.removeprefix(prefix) for p in parts} <= shown | {"(intercept)"}
        for name, value in zip(names, scores, strict=True):
            other = told(run, tmp_path / "m", "--explain", row, "--label", name)
            assert other[1] == pytest.approx(float(value), rel=1e-6)


@pytest.mark.parametrize("learner", ["arow", "yarrow", "votedperceptron"])
def test_inspect_says_what_explain_one_says(run: Run, rows: Any, learner: str) -> None:
    folder, raw = rows
    run("train", folder / "train.csv", *OPTIONS, "--learner", learner, "--model", folder / "m")
    model = yarrow.load(folder / "m")
    for row in raw:
        found = model.explain_one(row)
        label, score, parts = told(run, folder / "m", "--explain", json.dumps(row))
        assert (label, score) == (found.label, found.score)
        assert parts == {p.feature: p.amount for p in found.contributions}
    text = run("inspect", folder / "m", "--explain", json.dumps(raw[0])).stdout
    assert ("it is no sum" in text) is (learner == "votedperceptron")


def test_a_row_of_a_table_is_a_json_object(run: Run, rows: Any) -> None:
    folder, _ = rows
    run("train", folder / "train.csv", *OPTIONS, "--model", folder / "m")
    said = run("inspect", folder / "m", "--explain", "31,0150,Oslo,true,cheap", code=2).stderr
    assert (
        "the row to explain: none of its features is known; write columns as a JSON object" in said
    )
    said = run("inspect", folder / "m", "--explain", '{"age": "old"}', code=2).stderr
    assert "the row to explain, field 'age': 'old' is not a number" in said


# -- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_frame_of_raw_columns_is_read_as_the_files_were(
    run: Run, rows: Any, learner: str
) -> None:
    folder, raw = rows
    experts = ("--experts", "arow,pa") if learner == "hedge" else ()
    run("train", folder / "train.csv", *OPTIONS, "--learner", learner, *experts,
        "--model", folder / "m")  # fmt: skip
    model = yarrow.load(folder / "m")
    expected = [one for (one,) in predicted(run, folder / "m", folder / "asked.csv")]
    for form in (pd.DataFrame(raw), pd.DataFrame([typed(row) for row in raw]), raw):
        assert model.predict(form).tolist() == expected
    assert model.predict_many(pd.DataFrame(raw)).tolist() == expected
    zips = pd.DataFrame({"age": [31.0, 40.5], "zip": [1204.0, 77.0]})  # numbers, but names there
    with pytest.warns(ReadingWarning, match="'town': the model has learned this column"):
        of_zips = model.predict(zips).tolist()
    assert of_zips == [model.predict_one(row) for row in zips.to_dict("records")]
    before = model.predict_one({"town": "Oslo"}), model.predict_one({"town": "Rome"})
    made = pd.DataFrame({"town=Oslo": [1.0, 0.0], "town=Rome": [0.0, 1.0]})
    assert tuple(model.predict(made)) == before
    model.partial_fit(pd.DataFrame(raw), ["spam", "ham", "ham", "spam"])
    twin = yarrow.load(folder / "m")
    for row, label in zip(raw, ["spam", "ham", "ham", "spam"], strict=True):
        twin.learn_one(row, label)
    assert [model.predict_one(row) for row in raw] == [twin.predict_one(row) for row in raw]


def test_a_bare_array_is_no_question_for_a_model_of_named_features(run: Run, rows: Any) -> None:
    folder, _ = rows
    for hashed in ((), ("--hash-bits", "8")):
        run("train", folder / "train.csv", *OPTIONS, *hashed, "--model", folder / "m")
        model = yarrow.load(folder / "m")
        for ask in (model.predict, model.decision_function, model.predict_proba):
            with pytest.raises(
                YarrowError, match="have no names, and YarrowClassifier was trained"
            ):
                ask(np.ones((2, 5)))


def test_a_model_of_numbered_features_takes_arrays(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("".join(rows_of_text(100)))
    for hashed in ((), ("--hash-bits", "8")):
        run("train", tmp_path / "rows.svm", *hashed, "--model", tmp_path / "m")
        model = yarrow.load(tmp_path / "m")
        X = np.eye(30)
        assert model.predict(X).tolist() == [model.predict_one({i: 1.0}) for i in range(30)]


def test_a_table_read_in_python_is_remembered_too(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text(TABLE)
    model = yarrow.AROWClassifier()
    stream_format = StreamFormat(table={"label": "label", "text": ["text"], "drop": ["weight"]})
    for _ in yarrow.online.core_stream.learn_stream(model, tmp_path / "train.csv", stream_format):
        pass
    assert model.explain_one({"text": "Cheap"}).contributions[0].feature in (
        "text=cheap",
        "(intercept)",
    )
    assert any(
        p.feature == "text=cheap" for p in model.explain_one({"text": "Cheap"}).contributions
    )
