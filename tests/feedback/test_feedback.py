"""Tickets, asking, and sets: what they promise, by tests that can fail."""

from __future__ import annotations

import copy
import datetime
import json
import pickle

import numpy as np
import pytest
from contract.support import as_dicts, classification, learned

import yarrow
from yarrow import AROWClassifier, ForgettingAROWClassifier, Perceptron, RDAClassifier, model_file
from yarrow.errors import DataError, ModelFileError, ParameterError
from yarrow.feedback import LateLabels, PredictionSetClassifier, SelectiveClassifier
from yarrow.linear_model import CustomClassifier
from yarrow.linear_model.classifier import LinearClassifier

X, Y = classification(300, 6, 3, seed=2)
ROWS = as_dicts(X)
LABELS = Y.tolist()


# -- late labels ---------------------------------------------------------------------------------


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


# -- asking --------------------------------------------------------------------------------------


def test_the_chance_to_be_asked_is_that_of_the_paper():
    learner = AROWClassifier().partial_fit(X, Y == 1)
    row = ROWS[5]
    scores, variances = learner._model.score_one(row)
    margin, deviation = max(scores), np.sqrt(variances[int(np.argmax(scores))])
    for ask, expected in (
        ("margin", 0.2 / (0.2 + margin)),
        ("variance", 0.2 / (0.2 + margin / deviation)),
        ("random", 0.2),
    ):
        model = SelectiveClassifier(ask=ask, b=1e9).partial_fit(X, Y == 1)
        assert model.n_asked_ == len(X)
        model.b = 0.2
        asked = np.mean([model.wants_label(row) for _ in range(4000)])
        assert asked == pytest.approx(expected, abs=0.03), ask


def test_labels_that_are_not_asked_for_are_not_looked_at():
    model = SelectiveClassifier(b=0.05).partial_fit(X[:200], Y[:200])
    watched, twin = (model.clone(include_attributes=True) for _ in range(2))
    before = watched.n_asked_
    kept = np.zeros(100, dtype=bool)
    for i in range(100):
        watched.partial_fit(X[200 + i : 201 + i], Y[200 + i : 201 + i])
        kept[i] = watched.n_asked_ > before
        before = watched.n_asked_
    assert 0 < kept.sum() < 100
    lied = np.where(kept, Y[200:300], (Y[200:300] + 1) % 3)
    twin.partial_fit(X[200:300], lied)
    assert learned(twin.learners_[0]) == learned(watched.learners_[0])


def test_a_service_asks_and_learns_the_answers():
    by_labels = SelectiveClassifier(b=0.1).partial_fit(X, Y)
    service = SelectiveClassifier(b=0.1)
    for row, label in zip(ROWS, LABELS, strict=True):
        if service.wants_label(row):
            service.learn_asked(row, label)
    assert abs(service.n_asked_ - by_labels.n_asked_) < 30
    assert service.n_asked_ < 250
    assert np.mean([service.predict_one(r) == y for r, y in zip(ROWS, LABELS, strict=True)]) > 0.7


@pytest.mark.parametrize("ask", ["margin", "variance"])
def test_asking_where_it_is_unsure_beats_asking_at_random(ask):
    random = np.random.default_rng(1)
    rows = random.normal(size=(4000, 20))
    y = rows @ random.normal(size=20) > 0

    def run(**settings):
        model = SelectiveClassifier(AROWClassifier(), **settings)
        said = model.progressive(rows, y).predictions
        return model.n_asked_, np.mean(said != y)

    asked, error = run(ask=ask, b=0.1)
    same, at_random = run(ask="random", b=asked / 4000)
    assert same > 0.9 * asked
    assert error < 0.8 * at_random


def test_only_linear_classifiers_know_their_margin():
    with pytest.raises(ParameterError, match="a linear classifier of Yarrow"):
        SelectiveClassifier(yarrow.kernel.KernelPerceptron()).fit(X, Y)


@pytest.mark.parametrize("learner", [Perceptron(), yarrow.OGDClassifier(), CustomClassifier()])
def test_a_learner_that_knows_no_variance_is_not_asked_for_it(learner):
    model = SelectiveClassifier(learner, ask="variance")
    expected = f"'margin' or 'random' with {type(learner).__name__}, which knows no variance"
    with pytest.raises(ParameterError, match=expected):
        model.fit(X, Y)
    with pytest.raises(ParameterError, match=expected):
        model.learn_one(ROWS[0], LABELS[0])
    with pytest.raises(ParameterError, match=expected):
        model.learn_asked(ROWS[0], LABELS[0])


def linear_classifiers():
    found = [getattr(yarrow.linear_model, name) for name in yarrow.linear_model.__all__]
    classes = [cls for cls in found if isinstance(cls, type) and issubclass(cls, LinearClassifier)]
    return [cls() for cls in classes] + [CustomClassifier(loop="confidence")]


@pytest.mark.parametrize("learner", linear_classifiers(), ids=repr)
def test_who_knows_a_variance_is_known_beforehand(learner):
    variances = learner.clone().partial_fit(X, Y)._model.score_one(ROWS[0])[1]
    model = SelectiveClassifier(learner, ask="variance", b=1e-3)
    if min(variances) > 0:
        model.partial_fit(X, Y)
    else:
        with pytest.raises(ParameterError, match="knows no variance"):
            model.partial_fit(X, Y)


def test_an_answer_that_is_none_is_refused():
    model = SelectiveClassifier()
    for _ in range(2):
        with pytest.raises(DataError, match="no label"):
            model.learn_asked(ROWS[0], None)
        model.learn_asked(ROWS[0], LABELS[0])
    assert model.n_asked_ == 2


# -- sets ----------------------------------------------------------------------------------------


def streams():
    random = np.random.default_rng(3)
    rows, rule = random.normal(size=(1500, 8)), random.normal(size=(8, 4))
    y = np.argmax(rows @ rule, axis=1)
    yield "calm", rows, y
    yield "noise", rows, np.where(random.random(1500) < 0.3, random.integers(4, size=1500), y)
    later = np.argmax(rows @ random.normal(size=(8, 4)), axis=1)
    yield "drift", rows, np.where(np.arange(1500) < 700, y, later)
    yield "chance", rows, random.integers(4, size=1500)
    yield "adversary", rows, np.arange(1500) % 4


@pytest.mark.parametrize("rate", [0.02, 0.2])
@pytest.mark.parametrize("stream", streams(), ids=lambda stream: stream[0])
def test_coverage_is_never_below_its_guarantee(stream, rate):
    _, rows, y = stream
    model = PredictionSetClassifier(AROWClassifier(), coverage=0.9, rate=rate)
    said, sets = model.progressive_sets(rows, y)
    held = np.array([label in one for label, one in zip(y.tolist(), sets, strict=True)])
    assert model.coverage_ == pytest.approx(held.mean(), abs=0.003)  # four rows were new classes
    misses = np.cumsum(~held[4:])
    rows_so_far = np.arange(1, len(misses) + 1)
    assert (misses <= 0.1 * rows_so_far + (1 + rate) / rate + 4).all(), "at every moment"
    assert model.coverage_ >= model.guaranteed_coverage_ > 0.8
    assert all(sets[1:]), "a set is never empty"
    singles = np.array([len(one) == 1 for one in sets])
    assert np.sum(said[singles] != y[singles]) <= np.sum(~held)


@pytest.mark.parametrize("name", ["noise", "drift"])
def test_belief_alone_does_not_cover(name):
    _, rows, y = next(stream for stream in streams() if stream[0] == name)
    believing = PredictionSetClassifier(AROWClassifier(), adapt=False).partial_fit(rows, y)
    adaptive = PredictionSetClassifier(AROWClassifier()).partial_fit(rows, y)
    assert believing.coverage_ < 0.89 < 0.9 <= adaptive.coverage_
    assert believing.guaranteed_coverage_ == 0.0


def test_sets_are_those_of_the_definition():
    model = PredictionSetClassifier(AROWClassifier(), coverage=0.8).partial_fit(X, Y)
    likely = AROWClassifier().partial_fit(X, Y).predict_proba(X)
    threshold = 1 - model._fitted.notes["threshold"]
    for row, found, best in zip(likely, model.predict_set(X), model.predict(X), strict=True):
        expected = {j for j in range(3) if row[j] >= threshold} | {int(np.argmax(row))}
        assert set(found) == expected
        assert best == np.argmax(row)
    answers = model.predict_or_abstain(X)
    sets = model.predict_set(X)
    assert [a is not None for a in answers] == [len(one) == 1 for one in sets]
    assert model.predict_set_one(ROWS[0]) == sets[0]
    believing = PredictionSetClassifier(AROWClassifier(), coverage=0.8, adapt=False)
    for row, found in zip(likely, believing.partial_fit(X, Y).predict_set(X), strict=True):
        ranked = np.argsort(-row, kind="stable")
        needed = int(np.searchsorted(np.cumsum(row[ranked]), 0.8 - 1e-12)) + 1
        assert set(found) == set(ranked[:needed].tolist())


def test_a_learner_without_probabilities_is_refused():
    with pytest.raises(ParameterError, match="Perceptron does not predict probabilities"):
        PredictionSetClassifier(Perceptron()).fit(X, Y)
    assert PredictionSetClassifier().predict_set_one({"a": 1.0}) == []


def test_sets_of_a_learner_of_scikit_learn():
    sklearn = pytest.importorskip("sklearn.linear_model")
    learner = sklearn.SGDClassifier(loss="log_loss", random_state=0)
    model = PredictionSetClassifier(learner)
    with pytest.raises(DataError, match="told all classes"):
        model.progressive_sets(X, Y)
    said, sets = model.progressive_sets(X, Y, classes=[0, 1, 2])
    twin = PredictionSetClassifier(learner)
    assert said.tolist() == twin.progressive(X, Y, classes=[0, 1, 2]).predictions.tolist()
    assert model._fitted.notes == twin._fitted.notes
    assert all(label in one for label, one in zip(said[1:], sets[1:], strict=True))
    assert np.mean([label in one for label, one in zip(LABELS, sets, strict=True)]) > 0.8
    with pytest.raises(DataError, match="target y is None"):
        model.progressive_sets(X, None)
