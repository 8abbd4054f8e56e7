"""Late labels: tickets, corrections, files."""

from __future__ import annotations

import copy
import datetime
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from contract.support import as_dicts, assert_same, classification, fingerprint, learned

import yarrow
from yarrow import (
    AROWClassifier,
    ForgettingAROWClassifier,
    Perceptron,
    RDAClassifier,
    YarrowClassifier,
)
from yarrow.errors import DataError, ModelFileError, ParameterError
from yarrow.feedback import LateLabels
from yarrow.io.formats import StreamFormat
from yarrow.online.driver import learn_files
from yarrow.saving import model_file

X, Y = classification(300, 6, 3, seed=2)
ROWS = as_dicts(X)
LABELS = Y.tolist()


@pytest.mark.parametrize("model", [AROWClassifier(), RDAClassifier(l1=0.01), Perceptron()])
def test_labels_in_any_order_are_learned_in_the_order_in_which_they_come(model):
    late, expected = LateLabels(model.clone()), model.clone()
    tickets = [late.predict(row) for row in ROWS[:100]]
    order = np.random.default_rng(0).permutation(100).tolist()
    for place in order:
        assert late.learn(tickets[place], LABELS[place])
        expected.learn_one(ROWS[place], LABELS[place])
    assert learned(late.model) == learned(expected)
    assert late.n_waiting == 0


def test_a_row_is_learned_as_it_was_seen():
    late = LateLabels(Perceptron())
    row = {"a": 1.0}
    ticket = late.predict(row)
    row["a"] = -5.0
    late.learn(ticket, "yes")
    expected = Perceptron()
    expected.learn_one({"a": 1.0}, "yes")
    assert learned(late.model) == learned(expected)


def test_rows_that_wait_are_bounded_in_number_and_age():
    now = [0.0]
    late = LateLabels(Perceptron(), max_tickets=3, max_age=10.0, clock=lambda: now[0])
    tickets = [late.predict({"a": float(i)}) for i in range(1, 6)]
    assert (late.n_waiting, late.given_up) == (3, 2)
    assert not late.learn(tickets[0], "x")
    assert late.learn(tickets[3].number, "x")
    now[0] = 10.5
    fresh = late.predict({"b": 1.0})
    assert late.n_waiting == 1
    assert not late.learn(tickets[4], "x")
    assert late.forget(fresh)
    assert not late.forget(fresh)
    assert late.model.t_ == 1


@pytest.mark.parametrize("keep", [1, 20, 1000])
@pytest.mark.parametrize(
    "model", [AROWClassifier(), ForgettingAROWClassifier(), RDAClassifier(l1=0.01)]
)
def test_a_corrected_label_is_as_if_it_had_come_first(model, keep):
    late = LateLabels(model.clone(), keep=keep)
    tickets = [late.predict(row) for row in ROWS[:60]]
    for ticket, label in zip(tickets, LABELS, strict=False):
        late.learn(ticket, label)
    right = LABELS[:60]
    for place in (59, 45, 20):
        corrected = late.correct(tickets[place], (LABELS[place] + 1) % 3)
        assert corrected == (60 - place <= keep)
        if corrected:
            right[place] = (LABELS[place] + 1) % 3
    dropped = late.retract(tickets[58])
    assert dropped == (keep > 1)
    expected = model.clone()
    for place in range(60):
        if not (dropped and place == 58):
            expected.learn_one(ROWS[place], right[place])
    assert learned(late.model) == learned(expected)


def test_late_labels_are_saved_with_the_rows_that_wait(tmp_path):
    late = LateLabels(AROWClassifier(), keep=5)
    tickets = [late.predict(row) for row in ROWS[:30]]
    for place in range(20):
        late.learn(tickets[place], LABELS[place])
    late.save(tmp_path / "late")
    again = yarrow.load(tmp_path / "late")
    for one in (late, again):
        assert one.learn(tickets[25], LABELS[25])
        assert one.correct(tickets[18].number, 0)
    assert learned(again.model) == learned(late.model)
    assert again.n_waiting == late.n_waiting
    content = (tmp_path / "late").read_bytes()
    (tmp_path / "late").write_bytes(content[:-3])
    with pytest.raises(ModelFileError):
        LateLabels.load(tmp_path / "late")


def test_tickets_that_cannot_be_are_refused():
    late = LateLabels(Perceptron(), keep=2)
    ticket = late.predict({"a": 1.0})
    with pytest.raises(DataError, match="no ticket 7"):
        late.learn(7, "x")
    with pytest.raises(ParameterError, match="Got 'first' instead"):
        late.learn("first", "x")
    with pytest.raises(DataError, match="not been learned yet"):
        late.correct(ticket, "y")
    with pytest.raises(DataError):
        late.learn(ticket, None)
    assert late.n_waiting == 1, "a label that is refused costs nothing"
    late.learn(ticket, "x")
    with pytest.raises(DataError, match="use correct"):
        late.learn(ticket, "x")
    plain = LateLabels(Perceptron())
    plain.learn(plain.predict({"a": 1.0}), "x")
    with pytest.raises(ParameterError, match=r"keep=\.\.\."):
        plain.correct(ticket, "y")
    with pytest.raises(ParameterError, match="no learn_one"):
        LateLabels(object())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tickets", 0), ("max_tickets", True), ("max_tickets", 1.5), ("keep", -1),
        ("max_age", 0.0), ("max_age", "day"), ("max_age", datetime.timedelta(days=1)),
        ("max_age", True), ("max_age", float("nan")),
    ],
)  # fmt: skip
def test_limits_that_are_none_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter must be .* Got "):
        LateLabels(Perceptron(), **{name: value})


def test_limits_may_be_numbers_of_numpy(tmp_path):
    settings = {"max_tickets": np.int64(2), "keep": np.int32(1), "max_age": np.float32(8)}
    late = LateLabels(Perceptron(), **settings)
    late.predict({"a": 1.0})
    late.save(tmp_path / "late")
    again = LateLabels.load(tmp_path / "late")
    assert (again.max_tickets, again.keep, again.max_age) == (2, 1, 8.0)


@pytest.mark.parametrize("weight", ["x", None, float("nan"), -1.0])
def test_weights_that_are_none_are_refused(weight):
    late = LateLabels(Perceptron())
    ticket = late.predict({"a": 1.0})
    with pytest.raises((DataError, ParameterError), match="weight"):
        late.learn(ticket, "x", weight=weight)
    assert late.learn(ticket, "x", weight=np.float32(2.0))


def kept_by_file(late, path):
    late.save(path)
    return lambda: LateLabels.load(path)


def kept_by_pickle(late, path):
    content = pickle.dumps(late)
    return lambda: pickle.loads(content)


def kept_by_copy(late, path):
    twin = copy.deepcopy(late)
    return lambda: twin


@pytest.mark.parametrize("kept", [kept_by_file, kept_by_pickle, kept_by_copy])
@pytest.mark.parametrize("keep", [0, 3])
def test_a_ticket_that_a_crash_has_lost_is_not_taken_for_another(kept, keep, tmp_path):
    late = LateLabels(AROWClassifier(), keep=keep)
    late.learn(late.predict({"lunch": 1.0}), "ham")
    waiting = late.predict({"pills": 1.0})
    again = kept(late, tmp_path / "late")
    lost = [late.predict({"mail-A": 1.0}) for _ in range(5)]
    loaded = again()
    found = [loaded.predict({"mail-B": 1.0}) for _ in range(5)]
    before = learned(loaded.model)
    for ticket in lost:
        assert not loaded.learn(ticket, "spam")
        assert not loaded.learn(ticket.number, "spam")
        assert not loaded.forget(ticket)
        if keep:
            assert not loaded.correct(ticket, "spam")
    assert learned(loaded.model) == before
    assert loaded.n_waiting == 6
    assert all(loaded.learn(ticket, "spam") for ticket in [waiting, *found])
    assert late.learn(lost[0], "spam"), "the other goes on"


def test_files_whose_tickets_are_counted_from_zero_are_read(tmp_path):
    late = LateLabels(AROWClassifier())
    late.predict({"pills": 1.0})
    late.save(tmp_path / "late")
    tensors, metadata = model_file.read(tmp_path / "late")
    del metadata["clock"]
    metadata |= {"next": 1, "waiting": [[0, *metadata["waiting"][0][1:]]]}
    model_file.write(tmp_path / "late", tensors, metadata)
    assert LateLabels.load(tmp_path / "late").learn(0, "spam")


def test_numbers_of_tickets_are_plain_and_leave_seeds_alone():
    np.random.seed(5)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    late = LateLabels(Perceptron())
    numbers = [late.predict({"a": 1.0}).number for _ in range(1000)]
    assert len(set(numbers)) == 1000
    assert all(type(number) is int and float(number) == number for number in numbers)
    assert late.learn(json.loads(json.dumps(numbers))[7], "x")
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_late_labels_of_a_model_that_no_file_holds_are_pickled(tmp_path):
    river = pytest.importorskip("river.linear_model")
    late = LateLabels(river.LogisticRegression(), keep=2)
    first, second = (late.predict(row) for row in ROWS[:2])
    late.learn(first, True)
    with pytest.raises(ParameterError, match="use pickle"):
        late.save(tmp_path / "late")
    again = pickle.loads(pickle.dumps(late))
    for one in (late, again):
        assert one.learn(second, False)
        assert one.correct(first, False)
    assert again.model.weights == late.model.weights


def test_tickets_grow_old_when_the_clock_steps_back(tmp_path):
    now = [1000.0]
    late = LateLabels(Perceptron(), max_age=10.0, clock=lambda: now[0])
    old = late.predict({"a": 1.0})
    now[0] = 1006.0
    young = late.predict({"b": 1.0})
    now[0] = 500.0
    assert late.n_waiting == 2
    late.save(tmp_path / "late")
    now[0] = 400.0
    again = LateLabels.load(tmp_path / "late", clock=lambda: now[0])
    assert again.n_waiting == 2
    now[0] = 405.0
    assert not again.learn(old, "x"), "six seconds before the step, five after it"
    assert again.learn(young, "x")


def test_rows_too_old_are_not_counted_as_waiting():
    now = [0.0]
    late = LateLabels(Perceptron(), max_age=10.0, clock=lambda: now[0])
    ticket = late.predict({"a": 1.0})
    now[0] = 11.0
    assert not late.forget(ticket)
    assert (late.n_waiting, late.given_up) == (0, 1)
    late.predict({"a": 1.0})
    now[0] = 22.0
    assert (late.n_waiting, late.given_up) == (0, 2)


def test_rows_that_wait_are_read_as_their_model_has_learned(tmp_path):
    """Their columns become words, dates and categories, and what is missing stays that."""
    rows = pd.DataFrame(
        {"note": ["buy now", "see you"] * 30, "day": pd.date_range("2024-05-06", periods=60)}
    )
    rows["size"] = [1.0, None, 3.0] * 20
    X = rows.to_dict("records")
    path = tmp_path / "rows.parquet"
    rows.assign(y=["spam", "ham"] * 30).to_parquet(path)
    model = YarrowClassifier()
    for _ in learn_files(model, [str(path)], StreamFormat(table={"label": "y", "text": ["note"]})):
        pass
    late, plain = LateLabels(copy.deepcopy(model)), copy.deepcopy(model)
    asked = [{"note": "now or never", "size": None, "day": datetime.date(2024, 5, 6)}, X[1]]
    tickets = [late.predict(x) for x in asked]
    assert [ticket.prediction for ticket in tickets] == [plain.predict_one(x) for x in asked]
    late.save(tmp_path / "late.yarrow")
    late = LateLabels.load(tmp_path / "late.yarrow")
    for ticket, x in zip(tickets, asked, strict=True):
        late.learn(ticket, "ham")
        plain.learn_one(x, "ham")
    assert_same(fingerprint(late.model), fingerprint(plain))
