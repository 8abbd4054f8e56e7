"""Learners of one class and of rankings, from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.support import CSV, Run, rows_of_text

import yarrow


def ranked_rows(queries: int = 30, seed: int = 0) -> tuple[list[str], list[Any]]:
    """Lines of svmlight text with a qid, and the same as (rows, relevance) by query."""
    random = np.random.default_rng(seed)
    good = random.normal(size=8)
    lines, parts = [], []
    for query in range(queries):
        X = np.round(random.normal(size=(int(random.integers(1, 9)), 8)), 3)
        X[random.random(X.shape) < 0.4] = 0
        relevance = np.clip(np.round(X @ good + random.normal(size=len(X))), -1, 2)
        for x, grade in zip(X, relevance, strict=True):
            cells = " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v)
            lines.append(f"{grade:g} qid:{9999 - query} {cells}\n")
        parts.append((X, relevance))
    return lines, parts


def wrong_pairs(model: Any, X: Any, relevance: Any) -> tuple[float, int]:
    """Pairs of which the better row does not score higher, ties half; and all pairs."""
    scores = [model.predict_one(dict(enumerate(x))) for x in X]
    wrong, pairs = 0.0, 0
    for i in range(len(X)):
        for j in range(i):
            if relevance[i] == relevance[j]:
                continue
            pairs += 1
            ahead = (scores[i] - scores[j]) * np.sign(relevance[i] - relevance[j])
            wrong += 1 if ahead < 0 else 0.5 if ahead == 0 else 0
    return wrong, pairs


@pytest.fixture
def ranked(tmp_path: Path) -> Path:
    path = tmp_path / "ranked.svm"
    path.write_text("".join(ranked_rows()[0]))
    return path


def test_a_ranking_is_learned_query_by_query(run: Run, ranked: Path, tmp_path: Path) -> None:
    model = yarrow.PassiveAggressiveRanker()
    wrong = pairs = 0.0
    for X, relevance in ranked_rows()[1]:
        more = wrong_pairs(model, X, relevance)
        wrong, pairs = wrong + more[0], pairs + more[1]
        if more[1]:
            model.partial_fit(X, relevance)
    args = ("evaluate", ranked, "--learner", "pa-ranker", "--model", tmp_path / "m")
    found = json.loads(run(*args, "--json").stdout)
    assert (found["wrong"], found["judged"]) == ("pairs in the wrong order", pairs)
    assert found["share"] == pytest.approx(wrong / pairs)
    assert found["rows"] == sum(len(X) for X, _ in ranked_rows()[1])
    assert 0.1 < found["share"] < 0.4
    assert found["checkpoints"][-1]["rows"] <= found["rows"]
    loaded = yarrow.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    assert f"pairs in the wrong order {100 * wrong / pairs:.2f} %" in run(*args).stdout


def test_blocks_do_not_cut_queries(run: Run, tmp_path: Path) -> None:
    """The text is read in blocks of 256 kB, by several threads."""
    lines, parts = ranked_rows(5000, seed=1)
    (tmp_path / "long.svm").write_text("".join(lines))
    assert (tmp_path / "long.svm").stat().st_size > 2**20
    out = tmp_path / "m"
    run("train", tmp_path / "long.svm", "--learner", "pa-ranker", "--threads", 3, "--model", out)
    model = yarrow.PassiveAggressiveRanker()
    for X, relevance in parts:
        if len(np.unique(relevance)) > 1:
            model.partial_fit(X, relevance)
    np.testing.assert_array_equal(yarrow.load(out).coef_, model.coef_)


def test_ranks_are_predicted_and_training_goes_on(run: Run, ranked: Path, tmp_path: Path) -> None:
    lines = ranked.read_text().splitlines(keepends=True)
    first = next(i for i in range(60, 200) if lines[i].split()[1] != lines[i - 1].split()[1])
    parts = [tmp_path / "a.svm", tmp_path / "b.svm"]
    parts[0].write_text("".join(lines[:first]))
    parts[1].write_text("".join(lines[first:]))
    said = run("train", parts[0], "--learner", "pa-ranker", "--model", tmp_path / "m").stdout
    assert "pairs in the wrong order" in said
    run("train", parts[1], "--resume", tmp_path / "m", "--model", tmp_path / "m")
    run("train", *parts, "--learner", "pa-ranker", "--model", tmp_path / "n")
    once, twice = yarrow.load(tmp_path / "n"), yarrow.load(tmp_path / "m")
    np.testing.assert_array_equal(once.coef_, twice.coef_)
    done = run("predict", tmp_path / "m", ranked)
    assert done.stderr == ""  # scores are not to be compared with grades
    scores = [float(s) for s in done.stdout.split()]
    X = np.vstack([X for X, _ in ranked_rows()[1]])
    np.testing.assert_allclose(scores, once.predict(X), atol=1e-5)
    once.export(tmp_path / "export")
    exported = run("predict", tmp_path / "export", ranked)
    assert exported.stderr == ""
    np.testing.assert_allclose([float(s) for s in exported.stdout.split()], scores, atol=1e-5)


def test_names_and_tags_of_vw_text(run: Run, tmp_path: Path) -> None:
    text = "2 'q1| fresh price:2\n1 'q1| price:3\n1 'q2| price:1\n2 'q2| fresh\n"
    (tmp_path / "r.vw").write_text(text)
    run("train", tmp_path / "r.vw", "--learner", "pa-ranker", "--model", tmp_path / "m")
    model = yarrow.load(tmp_path / "m")
    expected = yarrow.PassiveAggressiveRanker()
    expected.learn_pair({"fresh": 1.0, "price": 2.0}, {"price": 3.0})
    expected.learn_pair({"fresh": 1.0}, {"price": 1.0})
    assert dict(model.top_features()) == pytest.approx(dict(expected.top_features()))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("2 1:1", "no qid"),
        ("qid:3 1:1", "no label"),
        ("good qid:3 1:1", "'good' is not a number"),
        ("2 qid:x 1:1", "qid is not a whole number"),
    ],
)
def test_rows_that_cannot_be_ranked(
    run: Run, ranked: Path, tmp_path: Path, line: str, complaint: str
) -> None:
    lines = ranked.read_text().splitlines()
    broken = tmp_path / "broken.svm"
    broken.write_text("\n".join([*lines[:7], line, *lines[7:]]) + "\n")
    args = ("--learner", "pa-ranker", "--model", tmp_path / "m")
    error = run("train", broken, *args, code=2).stderr
    assert "line 8" in error
    assert complaint in error
    skipped = run("train", broken, *args, "--on-error", "skip").stderr
    assert "1 row skipped" in skipped
    run("train", ranked, "--learner", "pa-ranker", "--model", tmp_path / "n")
    whole, part = yarrow.load(tmp_path / "n"), yarrow.load(tmp_path / "m")
    np.testing.assert_array_equal(part.coef_, whole.coef_)


def test_a_table_has_no_queries(run: Run, table: Path, tmp_path: Path) -> None:
    args = ("--label", "label", "--learner", "pa-ranker", "--model", tmp_path / "m")
    assert "a table has neither" in run("train", table, *args, code=2).stderr


def features(line: str) -> dict[int, float]:
    cells = (cell.split(":") for cell in line.split() if ":" in cell)
    return {int(index) - 1: float(value) for index, value in cells}


def distance(model: Any, row: dict[int, float]) -> float:
    """From the centre, in all features, also those that the model has not met."""
    known = "_model" in model.__dict__
    centre = dict(zip(model.feature_names_, model.coef_.tolist(), strict=True)) if known else {}
    names = row.keys() | centre.keys()
    return float(np.sqrt(sum((row.get(n, 0.0) - centre.get(n, 0.0)) ** 2 for n in names)))


@pytest.mark.parametrize("labels", [("-1", "+1"), ("spam", "ham"), ("", "")])
def test_one_class_ignores_labels(run: Run, tmp_path: Path, labels: tuple[str, str]) -> None:
    lines = rows_of_text(300, classes=labels)
    (tmp_path / "r.svm").write_text("".join(line.lstrip() for line in lines))
    args = ("evaluate", tmp_path / "r.svm", "--learner", "oneclass-pa", "--radius", 0.9)
    found = json.loads(run(*args, "--model", tmp_path / "m", "--json").stdout)
    model, outside = yarrow.OneClassPassiveAggressive(radius=0.9), []
    for line in lines:
        row = features(line)
        outside.append(distance(model, row) > 0.9)
        model.learn_one(row)
    assert (found["wrong"], found["judged"]) == ("outside", 300)
    assert found["share"] == pytest.approx(np.mean(outside))
    assert 0.05 < found["share"] < 1
    assert [c["outside"] for c in found["checkpoints"]] == pytest.approx(
        [np.mean(outside[: c["rows"]]) for c in found["checkpoints"]]
    )
    loaded = yarrow.load(tmp_path / "m")
    np.testing.assert_array_equal(sorted(loaded.coef_), sorted(model.coef_))
    assert loaded.n_updates_ == model.n_updates_
    said = run("predict", tmp_path / "m", tmp_path / "r.svm").stdout.split()
    assert set(said) == {"1", "-1"}
    rows = [features(line) for line in lines]
    assert [int(word) for word in said] == [model.predict_one(row) for row in rows]


def test_one_class_of_a_table(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mail.csv"
    path.write_text(CSV)
    args = ("--learner", "oneclass-pa", "--radius", 20, "--drop", "label", "--drop", "text")
    said = run("train", path, *args, "--model", tmp_path / "m").stdout
    assert "outside" in said
    assert yarrow.load(tmp_path / "m").t_ == 6
    assert len(run("predict", tmp_path / "m", path).stdout.split()) == 6
    table = run("evaluate", path, *args).stdout
    assert "outside" in table.splitlines()[0]
