"""Blocks of a stream give what row by row gives: late labels, scores, probabilities, errors."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.support import by_name, rows_of_text

import yarrow
from yarrow.errors import DataError
from yarrow.io.formats import StreamFormat
from yarrow.online import file_batches
from yarrow.online.batch_stream import BatchStream

Row = tuple[dict[Any, float], Any, float]


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of some ten rows, so that a delay is longer and shorter than a block."""
    monkeypatch.setattr(file_batches, "BLOCK_BYTES", 600)


def row_by_row(model: Any, rows: list[Row], delay: int, wanted: str) -> tuple[list[Any], list[Any]]:
    """Predictions and scores by class: the definition."""
    waiting: deque[Row] = deque()
    predictions, scores = [], []
    for features, label, weight in rows:
        predictions.append(model.predict_one(features))
        core = model.__dict__.get("_model")
        if core is None or wanted == "predictions" or len(core.classes) < 2:
            scores.append({})
        elif wanted == "probabilities":
            scores.append(model.predict_proba_one(features))
        else:
            scores.append(dict(zip(core.classes, core.score_one(features)[0], strict=False)))
        waiting.append((features, label, weight))
        if len(waiting) > delay:
            model.learn_one(*waiting.popleft())
    for row in waiting:
        model.learn_one(*row)
    return predictions, scores


def by_blocks(
    model: Any, path: Path, delay: int, wanted: str, **how: Any
) -> tuple[list[Any], list[Any], Any]:
    predictions, scores = [], []
    last = None
    for last in BatchStream(model, StreamFormat(**how), delay=delay, wanted=wanted).run(
        [str(path)]
    ):
        if last.told is None:
            continue
        predictions += last.told.predictions.tolist()
        table = last.told.table(wanted)
        if table is None:
            scores += [{}] * len(last.told)
            continue
        for line in table.tolist():
            named = zip(last.told.classes.tolist(), line, strict=True)
            known = {name: score for name, score in named if not np.isnan(score)}
            scores.append(known if len(known) > 1 else {})
    return predictions, scores, last


def svm_rows(lines: list[str], kind: type) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        label, *cells = line.split()
        pairs = (cell.split(":") for cell in cells)
        rows.append(({int(i) - 1: float(v) for i, v in pairs}, kind(label), 1.0))
    return rows


@pytest.mark.parametrize("wanted", ["predictions", "scores", "probabilities"])
@pytest.mark.parametrize("delay", [0, 1, 5, 40, 1000])
@pytest.mark.parametrize(
    "make",
    [
        yarrow.AROWClassifier,
        lambda: yarrow.YarrowClassifier(dtype="float64"),
        lambda: yarrow.AROWClassifier(max_features=12, when_full="prune"),
        lambda: yarrow.AROWClassifier(hash_bits=3),
    ],
    ids=["arow", "yarrow", "prune", "hash"],
)
def test_blocks_say_what_row_by_row_says(
    tmp_path: Path, make: Any, delay: int, wanted: str
) -> None:
    lines = rows_of_text(120, 3, ("a", "b", "c"))
    path = tmp_path / "rows.svm"
    path.write_text("".join(lines))
    one, other = make(), make()
    predictions, scores = row_by_row(one, svm_rows(lines, str), delay, wanted)
    found, told, last = by_blocks(other, path, delay, wanted)
    assert found == predictions
    assert last.rows == 120
    assert last.mistakes == sum(p != line.split()[0] for p, line in zip(found, lines, strict=True))
    for t, (expected, said) in enumerate(zip(scores, told, strict=True)):
        # Probabilities go through sums of numpy, which may add in another order.
        precise = 0 if wanted == "scores" else 1e-12
        assert said == pytest.approx(expected, rel=precise, abs=precise), t
    assert by_name(one) == by_name(other)


@pytest.mark.parametrize("delay", [0, 7])
def test_names_weights_and_values(tmp_path: Path, delay: int) -> None:
    chance = np.random.default_rng(0)
    rows: list[Row] = []
    text = []
    for _ in range(90):
        names = chance.choice(list("abcdefghij"), 3, replace=False).tolist()
        weight, label = float(chance.integers(0, 3)), round(float(chance.normal()), 2)
        text.append(f"{label} {weight} | {' '.join(names)}\n")
        if weight:
            rows.append((dict.fromkeys(names, 1.0), label, weight))
    path = tmp_path / "rows.vw"
    path.write_text("".join(text))
    one, other = yarrow.AROWRegressor(), yarrow.AROWRegressor()
    predictions, _ = row_by_row(one, rows, delay, "predictions")
    found, _, last = by_blocks(other, path, delay, "predictions")
    assert found == predictions
    assert last.rows == len(rows)
    losses = (np.array(predictions) - [label for _, label, _ in rows]) ** 2
    assert last.squared_error == pytest.approx(losses.sum())
    assert by_name(one) == by_name(other)


@pytest.mark.parametrize("delay", [0, 9])
@pytest.mark.parametrize("wanted", ["predictions", "probabilities"])
def test_a_model_goes_on_with_what_it_knows(tmp_path: Path, delay: int, wanted: str) -> None:
    lines = rows_of_text(80)
    path = tmp_path / "rows.svm"
    path.write_text("".join(lines[40:]))
    one, other = yarrow.AROWClassifier(), yarrow.AROWClassifier()
    for model in (one, other):
        for row in svm_rows(lines[:40], int):
            model.learn_one(*row)
    predictions, scores = row_by_row(one, svm_rows(lines[40:], int), delay, wanted)
    found, told, _ = by_blocks(other, path, delay, wanted)
    assert found == predictions
    for expected, said in zip(scores, told, strict=True):
        assert said == pytest.approx(expected, rel=1e-12)
    assert by_name(one) == by_name(other)


@pytest.mark.parametrize("delay", [0, 3])
def test_a_row_that_the_model_refuses_is_named_or_left_out(tmp_path: Path, delay: int) -> None:
    lines = rows_of_text(60)
    lines[30] = lines[30].replace(lines[30].split()[0], "7")
    path = tmp_path / "rows.svm"
    path.write_text("".join(lines))
    with pytest.raises(DataError, match=r"rows\.svm, line 31: .*7"):
        by_blocks(yarrow.AROWClassifier(classes=[-1, 1]), path, delay, "scores")
    model = yarrow.AROWClassifier(classes=[-1, 1])
    found, _, last = by_blocks(model, path, delay, "scores", on_error="skip")
    assert last.skipped == 1
    assert "line 31" in last.complaints[0]
    # With late labels it has been predicted when it turns out to have none that may be.
    assert last.rows == len(found) == (60 if delay else 59)
    expected = yarrow.AROWClassifier(classes=[-1, 1])
    rows = svm_rows(lines[:30] + lines[31:], int)
    for row in rows:
        expected.learn_one(*row)
    assert by_name(model) == by_name(expected)


def test_a_row_with_more_features_than_allowed_is_still_predicted(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("1 | a b\n-1 | c\n1 | a d\n-1 | c\n")
    model = yarrow.AROWClassifier(max_features=3)
    found, _, last = by_blocks(model, path, 1, "predictions", on_error="skip")
    assert found == [None, None, 1, -1]
    assert last.skipped == 1
    assert model.feature_names_ == ["a", "b", "c"]
