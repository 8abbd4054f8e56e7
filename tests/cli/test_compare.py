"""`yarrow compare` and `yarrow tune`."""

from __future__ import annotations

import json
import random
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.support import Run, by_name, rows_of_text, start

import yarrow
from yarrow.cli.learners import learners
from yarrow.compare.grids import GRIDS, comparable, default_grid, entrants_of, settings
from yarrow.saving.registry import short_name


def compared(run: Run, *args: Any, **more: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("compare", *args, "--json", "-", **more).stdout)
    return document


def by_setting(document: dict[str, Any]) -> dict[str, Any]:
    return {outcome["name"]: outcome for outcome in document["outcomes"]}


def as_vw(svm: Path, path: Path) -> Path:
    lines = [line.split() for line in svm.read_text().splitlines()]
    names = ["|", *[f"word{cell}" for cell in "x"]][:1]
    path.write_text(
        "".join(
            f"{label} {names[0]} {' '.join('w' + cell for cell in reversed(cells))}\n"
            for label, *cells in lines
        )
    )
    return path


@pytest.mark.parametrize("format", ["svm", "vw", "csv"])
def test_a_setting_does_what_evaluate_says_of_it(
    run: Run, svm: Path, tmp_path: Path, format: str
) -> None:
    more: list[Any] = []
    path = svm
    if format == "vw":
        path = as_vw(svm, tmp_path / "rows.vw")
    if format == "csv":
        path = tmp_path / "rows.csv"
        random = np.random.default_rng(0)
        lines = [
            f"{random.choice(['a', 'b', 'c'])},{random.integers(9)},t{i % 7}" for i in range(200)
        ]
        path.write_text("\n".join(["label,number,town", *lines]) + "\n")
        more = ["--label", "label"]
    grid = tmp_path / "grid.json"
    grid.write_text(
        json.dumps({"arow": {"r": [0.5]}, "pa": {"C": [0.1]}, "perceptron": {"average": [True]},
                    "votedperceptron": [{}], "ogd": {"eta0": [1], "hash_bits": [3]}})
    )  # fmt: skip
    names = "arow,pa,perceptron,votedperceptron,ogd"
    found = by_setting(compared(run, path, "--learners", names, "--grid", grid, *more))
    for outcome, options in {
        "AROWClassifier(r=0.5)": ["arow", "--r", 0.5],
        "PassiveAggressiveClassifier(C=0.1)": ["pa", "--C", 0.1],
        "Perceptron(average=True)": ["perceptron", "--average"],
        "VotedPerceptron()": ["votedperceptron"],
        "OGDClassifier(eta0=1.0, hash_bits=3)": ["ogd", "--eta0", 1, "--hash-bits", 3],
    }.items():
        alone = json.loads(run("evaluate", path, "--learner", *options, "--json", *more).stdout)
        assert found[outcome]["mistakes"] == round(alone["error"] * alone["rows"])
        assert found[outcome]["rows"] == alone["rows"]
        assert found[outcome]["updates"] == alone["updates"]
        assert found[outcome]["nonzeros"] == alone["nonzero_weights"]


def test_a_regression_is_told_by_fractions(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "values.svm"
    random = np.random.default_rng(0)
    rows = random.normal(size=(300, 3)).round(4)
    path.write_text(
        "".join(f"{r[0] - r[1]:.4f} 1:{r[0]} 2:{r[1]} 3:{r[2]}\n" for r in rows.tolist())
    )
    document = compared(run, path, "--learners", "pa-regressor,arow-regressor")
    assert document["data"]["classes"] is None
    alone = json.loads(
        run("evaluate", path, "--learner", "pa-regressor", "--C", 0.1, "--json").stdout
    )
    outcome = by_setting(document)["PassiveAggressiveRegressor(C=0.1, variant='pa1')"]
    assert (outcome["squared_error"] / 300) ** 0.5 == pytest.approx(alone["rmse"])
    assert "AROWRegressor" in run("compare", path, "--quiet").stdout


@pytest.mark.parametrize("threads", [1, 3])
def test_the_seed_decides_and_threads_do_not(run: Run, svm: Path, threads: int) -> None:
    options = ["--learners", "arow,pa", "--noise", 0.1, "--folds", 3]
    one = compared(run, svm, *options, "--seed", 5, "--threads", threads)
    two = compared(run, svm, *options, "--seed", 5, "--threads", 2)
    other = compared(run, svm, *options, "--seed", 6, "--threads", 2)
    for document in (one, two, other):
        del document["seconds"], document["command"]
        for outcome in document["outcomes"]:
            del outcome["seconds"]
    assert one == two
    assert one["outcomes"] != other["outcomes"]
    assert one["folds"] != other["folds"]


def test_folds_are_what_they_say(run: Run, svm: Path) -> None:
    document = compared(run, svm, "--learners", "arow,pa", "--folds", 4)
    assert document["ranks"]["over"] == "4 folds"
    assert {(f["fold"], f["learner"]) for f in document["folds"]} == {
        (fold, learner)
        for fold in (1, 2, 3, 4)
        for learner in ("AROWClassifier", "PassiveAggressiveClassifier")
    }
    lines = svm.read_text().splitlines()
    fold_of = np.random.default_rng((0, 2)).integers(0, 4, len(lines))
    (chosen,) = [o for o in document["outcomes"] if o["best"] and o["learner"].startswith("AROW")]
    model, held = yarrow.AROWClassifier(**chosen["parameters"]), []
    for line, fold in zip(lines, fold_of, strict=True):
        label, *cells = line.split()
        row = {int(c.split(":")[0]) - 1: float(c.split(":")[1]) for c in cells}
        if fold == 0:
            held.append((row, int(label)))
        else:
            model.learn_one(row, int(label))
    error = np.mean([model.predict_one(row) != label for row, label in held])
    found = [f["error"] for f in document["folds"] if f["learner"].startswith("AROW")]
    assert found[0] == pytest.approx(error)


def test_the_table_and_the_recommendation(run: Run, svm: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    shown = run("compare", svm, "--learners", "arow,perceptron", "--passes", 2, "--report", page)
    assert "rows.svm: 400 rows, 30 features, 2 classes; 10 settings" in shown.stdout
    assert "pass 2" in shown.stdout
    assert "majority class" in shown.stdout
    assert "Take " in shown.stdout
    assert "In hindsight, of all 10 settings" in shown.stdout
    assert "AROWClassifier" in page.read_text()


def test_settings_are_chosen_on_the_first_half(run: Run, svm: Path) -> None:
    document = compared(run, svm, "--learners", "arow")
    from yarrow.compare import Comparison

    outcomes = Comparison.from_json(document).outcomes
    halves = {o.name: np.mean(o.wrong[:200]) for o in outcomes if o.family != "baseline"}
    (chosen,) = [o for o in outcomes if o.best and o.family != "baseline"]
    assert halves[chosen.name] == min(halves.values())
    found = document["recommendation"]
    assert found["error"] == pytest.approx(np.mean(chosen.wrong[200:]))
    assert found["low"] <= found["error"] <= found["high"]


def test_tune_keeps_the_model_that_train_would_make(run: Run, svm: Path, tmp_path: Path) -> None:
    tuned, trained = tmp_path / "tuned", tmp_path / "trained"
    for path in (svm, as_vw(svm, tmp_path / "rows.vw")):
        shown = run("tune", path, "--learner", "arow", "--model", tuned).stdout
        best = next(line for line in shown.splitlines() if line.startswith("Best: "))
        r = best.partition("r=")[2].partition(")")[0]
        run("train", path, "--learner", "arow", "--r", r, "--model", trained)
        one, other = yarrow.load(tuned), yarrow.load(trained)
        assert by_name(one) == by_name(other)
        assert one.get_params() == other.get_params()


def test_tune_says_how_many_settings_are_as_good(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.vw"
    path.write_text("a | x\nb | y\n" * 3)
    shown = run("tune", path, "--learner", "arow").stdout
    assert "Best: AROWClassifier(r=1.0) (no better than 5 others)." in shown
    assert "6 rows are too few to trust it" in " ".join(shown.split())


def test_an_entrant_that_fails_is_named(run: Run, svm: Path, tmp_path: Path) -> None:
    grid = tmp_path / "grid.json"
    grid.write_text('{"arow": {"r": [1, -1]}}')
    result = run("compare", svm, "--learners", "arow", "--grid", grid)
    assert "AROWClassifier(r=-1.0) is out: The 'r' parameter must be > 0" in result.stderr
    assert "Take AROWClassifier(r=1.0)" in result.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--learners", "aroww"], "no learner or family 'aroww' (did you mean arow?); there are"),
        (["--learner", "arow"], "There is no option --learner (did you mean --learners?); see"),
        (["--learners", "pa-regressor"], "is not for classes"),
        (["--learners", ""], "at least one learner"),
        (["--grid", "nowhere.json"], "nowhere.json"),
        (["--report", "nowhere/page.html"], "no folder nowhere"),
        (["nowhere.svm"], "no such file, and no data set of that name"),
    ],
)
def test_errors_are_one_sentence(run: Run, svm: Path, options: list[str], says: str) -> None:
    assert says in run("compare", svm, *options, code=2).stderr


def test_the_next_command_reads_the_rows_as_they_were_read(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "rows of a table.csv"
    table.write_text("y;x;word\n" + "a;1;hot\nb;2;cold\n" * 40)
    options = ("--label", "y", "--delimiter", ";", "--category", "x", "--category", "word")
    out = run("compare", table, *options, "--learners", "arow", "--threads", "2")
    command, python = (line.strip() for line in out.stdout.splitlines()[-2:])
    assert python.startswith("model = yarrow.AROWClassifier(")
    *words, model = shlex.split(command)
    assert words[:3] == ["yarrow", "train", str(table)]
    assert model == "model.yarrow"
    run(*words[1:], tmp_path / model)
    trained = yarrow.load(tmp_path / model)
    assert f"model = yarrow.{trained!r}".split("(")[0] == python.split("(")[0]
    assert trained.predict_one({"x": "1", "word": "hot"}) == "a"


def test_a_file_without_rows_is_named(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.vw"
    empty.touch()
    says = run("compare", empty, code=2).stderr
    assert says == f"yarrow: {empty}: there is no row to learn from.\n"
    few = tmp_path / "few.vw"
    few.write_text("a | x\nb | y\n")
    assert "are left out: their cost" in run("compare", few, "--quiet").stderr
    shown = run("compare", few)
    assert "votedperceptron are left out: their cost per row grows with the stream" in shown.stderr
    assert "2 rows are too few to choose a learner by: take YarrowClassifier" in shown.stdout
    assert "(95 %)" not in shown.stdout


def test_the_page_and_the_terminal_agree(run: Run, svm: Path, tmp_path: Path) -> None:
    from yarrow.compare import Comparison
    from yarrow.report import tables

    path = tmp_path / "all.json"
    options = ["--learners", "arow,pa,perceptron,ogd", "--json", path]
    table = run("compare", svm, *options).stdout.split("\n\n")[1].splitlines()[1:]
    shown = tables.learners(Comparison.from_json(json.loads(path.read_text()))).rows
    assert len(table) == len(shown) == 6
    for line, (_, learner, setting, _, error, half, *_) in zip(table, shown, strict=True):
        assert line.startswith(f"{learner.text} {setting.text}".rstrip() + "  ")
        assert f"  {error.text}  " in line
        assert half.text in line


def test_broken_rows_stop_or_are_counted(run: Run, svm: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.svm"
    bad.write_text(svm.read_text() + "1 2:x\n")
    assert "line 401" in run("compare", bad, "--learners", "arow", code=2).stderr
    shown = run("compare", bad, "--learners", "arow", "--on-error", "skip")
    assert "1 row skipped" in shown.stderr
    unlabelled = tmp_path / "bad.vw"
    unlabelled.write_text("1 | a b\n | a\n-1 | b\n")
    says = run("compare", unlabelled, "--learners", "arow", code=2).stderr
    assert "line 2: the row has no label" in says


def test_standard_input_is_read_once(run: Run, svm: Path) -> None:
    text = svm.read_text()
    document = compared(run, "-", "--learners", "arow", stdin=text)
    again = compared(run, svm, "--learners", "arow")
    assert [o["mistakes"] for o in document["outcomes"]] == [
        o["mistakes"] for o in again["outcomes"]
    ]
    says = run("compare", "-", "--passes", 2, stdin=text, code=2).stderr
    assert "can be read only once" in says
    assert "only once" in run("tune", "-", "--model", "x", stdin=text, code=2).stderr


def test_an_interrupted_run_leaves_no_file(tmp_path: Path) -> None:
    page, table = tmp_path / "page.html", tmp_path / "all.json"
    rows = "".join(rows_of_text(20_000)).encode() * 4
    options = ["--learners", "arow,pa", "--report", page, "--json", table]
    process = start("compare", "-", *options, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(rows)  # it has been read when this returns, all but a little
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == b"yarrow: interrupted."
    assert list(tmp_path.iterdir()) == []


def test_every_default_grid_is_small_and_allowed() -> None:
    assert all(name == short_name(cls.__name__) for name, cls in learners().items())
    for cls in comparable():
        tried = settings(default_grid(cls), cls.__name__)
        assert 1 <= len(tried) <= 8
        for setting in tried:
            cls(**setting)._check_parameters()
    assert set(GRIDS) <= {cls.__name__ for cls in comparable()}


def test_all_leaves_out_what_gets_slower_and_a_name_brings_it_back() -> None:
    made, slow = entrants_of("all")
    names = {type(entrant.model).__name__ for entrant in made}
    assert "votedperceptron" in slow
    assert "VotedPerceptron" not in names
    assert "AROWClassifier" in names
    assert "AROWRegressor" not in names
    made, slow = entrants_of("votedperceptron,confidence")
    assert {"VotedPerceptron", "CWClassifier"} <= {type(e.model).__name__ for e in made}
    assert slow == []


def test_a_set_is_compared_by_its_name(run: Run) -> None:
    document = compared(run, "synthetic/gaussian", "--learners", "arow,pa")
    assert document["data"]["name"].startswith("synthetic/gaussian")
    assert document["data"]["rows"] == 5000


def test_a_third_class_may_come_late(run: Run, tmp_path: Path) -> None:
    """The first block has two classes, and is believed until a third one comes."""
    path = tmp_path / "late.svm"
    few, many = rows_of_text(26_000), rows_of_text(300, classes=("-1", "+1", "2"))
    path.write_text("".join(few * 2 + many))
    found = by_setting(compared(run, path, "--learners", "pa"))
    alone = json.loads(run("evaluate", path, "--learner", "pa", "--C", 0.1, "--json").stdout)
    outcome = found["PassiveAggressiveClassifier(C=0.1, variant='pa1')"]
    assert outcome["failure"] is None
    assert outcome["mistakes"] == round(alone["error"] * alone["rows"])
    assert sorted(outcome["confusion"]["labels"]) == ["-1", "1", "2"]


@pytest.mark.parametrize("passes", [1, 2])
def test_tune_tells_the_evidence_of_its_best(run: Run, tmp_path: Path, passes: int) -> None:
    """One setting is best on the first half of the rows, another over all of them."""
    chance = random.Random(0)
    signs = [-1 if chance.random() < 0.3 else 1 for _ in range(600)]  # noise: be cautious
    signs += [1 if i // 12 % 2 else -1 for i in range(600)]  # turns: be quick
    lines = [f"{sign * (-1) ** i} 1:{(-1) ** i}\n" for i, sign in enumerate(signs)]
    path = tmp_path / "turn.svm"
    path.write_text("".join(lines))
    options = ("--learner", "pa", "--passes", passes)
    document = json.loads(run("tune", path, *options, "--json", "-").stdout)
    errors = {one["name"]: one["mistakes"] for one in document["outcomes"] if one["rows"]}
    best = document["best"]
    assert errors[best] == min(errors.values()) < max(errors.values())
    text = " ".join(run("tune", path, *options).stdout.split())
    told = text.split("Best: ")[1]
    assert told.startswith(best)
    share = 100 * errors[best] / 1200
    assert f"{best} has error {share:.2f} % over all 1,200 rows, each predicted before" in told
    [chosen] = [
        one["name"] for one in document["outcomes"] if one["best"] and one["family"] != "baseline"
    ]
    if chosen != best:
        assert f"the best of the first half of the rows, {chosen}, has error" in told
    assert chosen != best, "the stream should tell them apart"


def test_tune_of_few_rows_says_so(run: Run, svm: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.svm"
    short.write_text("".join(svm.read_text().splitlines(keepends=True)[:30]))
    text = " ".join(run("tune", short, "--learner", "pa").stdout.split())
    best = text.split("Best: ")[1].split(" (no better")[0].rstrip(".")
    assert f"{best} has error" in text
    assert "30 rows are too few to trust it." in text


def test_columns_are_described_once_however_often_a_file_is_read(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{i % 2},{i % 3},{i}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text(f"y,a,b\n{rows}")
    table = "--label", "y", "--drop", "a", "--describe"
    told = run("compare", tmp_path / "rows.csv", *table, "--learners", "arow,pa", "--passes", 2)
    assert told.stderr.count("rows.csv:") == 1
    assert "y  the label" in told.stderr
