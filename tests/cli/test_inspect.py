"""`yarrow inspect`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli.support import Run, rows_of_text

import yarrow


@pytest.fixture
def model(run: Run, svm: Path, tmp_path: Path) -> Path:
    options = ["--learner", "arow", "--r", 0.5]
    run("train", svm, *options, "--model", tmp_path / "m", "--export", tmp_path / "e")
    return tmp_path / "m"


def test_settings_sizes_and_the_largest_weights(run: Run, model: Path) -> None:
    document = json.loads(run("inspect", model, "--json").stdout)
    known = yarrow.load(model)
    assert document["learner"] == "AROWClassifier"
    assert document["parameters"]["r"] == 0.5
    assert document["rows"] == known.t_ == 400
    assert document["updates"] == known.n_updates_
    assert document["mistakes"] == known.n_mistakes_
    assert document["classes"] == [-1, 1]
    assert document["features"] == document["weights"] == 30
    assert document["nonzero"] == known.n_nonzero_
    assert document["bytes"] == model.stat().st_size
    [top] = document["top_features"]
    assert top["class"] == 1
    weights = [weight for _, weight in top["features"]]
    assert weights == sorted(known.coef_[0].tolist(), key=lambda w: -abs(w))[:20]
    assert {index for index, _ in top["features"][:2]} == {1, 2}  # numbered as in the file
    text = run("inspect", model, "--top", 3).stdout
    assert "r=0.5, covariance=diagonal" in text
    assert "400 rows, " in text
    assert "index_base=1" in text
    assert text.count("▇  ") + text.count("▇ ") >= 1
    assert len(text.split("largest weights for 1\n")[1].splitlines()) == 3


def test_the_other_class_is_the_mirror(run: Run, model: Path) -> None:
    def features(*options: str) -> dict[int, float]:
        document = json.loads(run("inspect", model, "--json", *options).stdout)
        return dict(document["top_features"][0]["features"])

    mine, other = features("--label", "1"), features("--label", "-1")
    assert mine == {name: -weight for name, weight in other.items()}
    assert features() == mine


def test_many_classes_have_weights_each(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("".join(rows_of_text(200, 0, ("a", "b", "c"))))
    run("train", path, "--model", tmp_path / "m")
    document = json.loads(run("inspect", tmp_path / "m", "--json").stdout)
    assert [top["class"] for top in document["top_features"]] == ["a", "b", "c"]
    for number, top in enumerate(document["top_features"], 1):
        assert len(top["features"]) == 5
        assert max(top["features"], key=lambda pair: pair[1])[0] == number
    text = run("inspect", tmp_path / "m", "--label", "b", "--top", 1).stdout
    assert text.count("largest weights") == 1


@pytest.mark.parametrize("name", ["m", "e"])
@pytest.mark.parametrize(
    "row", ["1:1 5:0.5 9:-2", '{"1": 1, "5": 0.5, "9": -2}', "+1 1:1 5:0.5 9:-2"]
)
def test_the_parts_of_a_score_add_up(
    run: Run, model: Path, tmp_path: Path, name: str, row: str
) -> None:
    known = yarrow.load(model)
    for label, sign in (("1", 1), ("-1", -1)):
        options = ["--explain", row, "--label", label, "--json"]
        found = json.loads(run("inspect", tmp_path / name, *options).stdout)
        parts = {part["feature"]: part["value"] * part["weight"] for part in found["contributions"]}
        w = sign * known.coef_[0]
        expected = {1: w[0], 5: 0.5 * w[4], 9: -2 * w[8], "(intercept)": sign * known.intercept_[0]}
        assert parts == pytest.approx(expected, rel=1e-6)
        assert found["score"] == pytest.approx(sum(expected.values()), rel=1e-5)
    X = np.zeros((1, 30))
    X[0, [0, 4, 8]] = 1, 0.5, -2
    best = json.loads(run("inspect", tmp_path / name, "--explain", row, "--json").stdout)
    assert best["label"] == known.predict(X)[0]
    assert best["score"] == pytest.approx(abs(known.decision_function(X)[0]), rel=1e-5)


def test_a_row_of_a_table_is_explained_as_it_was_learned(
    run: Run, table: Path, tmp_path: Path
) -> None:
    run(
        "train",
        table,
        "--label",
        "label",
        "--text",
        "text",
        "--drop",
        "age",
        "--model",
        tmp_path / "m",
    )
    record = json.dumps({"town": "Oslo", "text": "Cheap lunch", "age": 3, "label": "ham"})
    text = run("inspect", tmp_path / "m", "--explain", record, "--label", "spam").stdout
    assert text.startswith("score ")
    for name in ("town=Oslo", "text=cheap", "text=lunch", "(intercept)"):
        assert name in text
    assert "age" not in text
    assert "label" not in text
    plain = run("inspect", tmp_path / "m", "--explain", "text=cheap:2 town=Oslo").stdout
    assert "= 2 x " in plain


def test_vw_text_is_explained_with_its_interactions(run: Run, tmp_path: Path) -> None:
    lines = "1 |a x |b y\n-1 |a x |b z\n"
    run("train", "-", "--format", "vw", "-q", "ab", "--model", tmp_path / "m", stdin=lines)
    text = run("inspect", tmp_path / "m", "--explain", "|a x |b y").stdout
    assert "a^x*b^y" in text


def test_hashed_models_and_regressions(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--hash-bits", 5, "--model", tmp_path / "m")
    assert "32 features" in run("inspect", tmp_path / "m").stdout
    assert run("inspect", tmp_path / "m", "--explain", "1:1").stdout.startswith("score ")
    run(
        "train",
        svm,
        "--learner",
        "ogd-regressor",
        "--model",
        tmp_path / "m",
        "--export",
        tmp_path / "e",
    )
    for name in ("m", "e"):
        assert "largest weights\n" in run("inspect", tmp_path / name).stdout
        result = run("inspect", tmp_path / name, "--explain", "1:1 2:1", "--json")
        known = yarrow.load(tmp_path / "m")
        score = known.predict_one({0: 1, 1: 1})
        assert json.loads(result.stdout)["score"] == pytest.approx(score, rel=1e-5)


ERRORS = {
    "none": "none: No such file",
    "rows.svm": "rows.svm: not a Yarrow model",
    "m --label 7": "The model has no class '7'; it has -1, 1",
    "m --explain 1:x": "the row to explain, line 1, column 1, '1:x': the value is not a number",
    "m --explain {": "the row to explain",
}


@pytest.mark.parametrize("line", ERRORS)
def test_a_users_error_is_one_sentence(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(model.parent)
    assert ERRORS[line] in run("inspect", *line.split(), code=2).stderr


def test_a_damaged_file_is_told_from_a_whole_one(run: Run, model: Path) -> None:
    content = model.read_bytes()
    for damaged, sentence in (
        (content[:50], "truncated"),
        (content[:-1], "truncated"),
        (content[:-1] + bytes([content[-1] ^ 1]), "damaged: tensor"),
        (b"", "only 0 bytes"),
    ):
        model.write_bytes(damaged)
        assert sentence in run("inspect", model, code=2).stderr
