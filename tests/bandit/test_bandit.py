"""Updates of the bandit learners against the papers' definitions, and what they may look at."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from scipy.optimize import minimize

import yarrow
from yarrow.bandit import BanditPAClassifier, BanditronClassifier, Choice
from yarrow.bandit.base import uniform
from yarrow.errors import DataError, ModelFileError, ParameterError
from yarrow.io.formats import StreamFormat
from yarrow.online.prediction import predict_files
from yarrow.saving import model_file

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(400, 6))
Y = np.argmax(X @ RANDOM.normal(size=(6, 4)), axis=1)
CLASSES = [0, 1, 2, 3]
BANDITS = [BanditronClassifier, BanditPAClassifier]


def weights(model):
    """Return classes x (features, intercept), by feature names 0, 1, 2..."""
    table = model._fitted.table
    lines = [table.places[j] for j in range(6)] + [0]
    return table.scale * table.weights[lines].T


def saved(model, folder):
    """Return the file of a model; None where there is nothing to save."""
    if not model.__sklearn_is_fitted__():
        return None
    model.save(folder / "model")
    return (folder / "model").read_bytes()


def as_dict(row):
    return dict(enumerate(row.tolist()))


def learned(model_class, rows=60, **settings):
    model = model_class(classes=CLASSES, gamma=0.5, **settings)
    return model.partial_fit(X[:rows], Y[:rows])


@pytest.mark.parametrize("truth", CLASSES)
def test_the_mean_of_banditrons_update_is_the_perceptrons(truth):
    """Kakade et al., Lemma 4: E[U~] = U, the multiclass Perceptron's step, right or wrong."""
    model = learned(BanditronClassifier)
    x = X[70]
    before = weights(model)
    scores = before @ np.append(x, 1.0)
    best = int(np.argmax(scores))
    gamma, mean = 0.5, np.zeros_like(before)
    for drawn in CLASSES:
        probability = gamma / 4 + (1 - gamma) * (drawn == best)
        twin = model.clone(include_attributes=True)
        twin.learn(Choice(drawn, as_dict(x), best, probability), right=drawn == truth)
        mean += probability * (weights(twin) - before)
    step = np.zeros_like(before)
    step[truth] += np.append(x, 1.0)
    step[best] -= np.append(x, 1.0)
    np.testing.assert_allclose(mean, step, atol=1e-12)


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("C", [np.inf, 0.3])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_the_pa_update_solves_its_problem(right, C, alpha):
    """Shen & Dietterich (3.1) and (5.27) for the class that was shown."""
    model = learned(BanditPAClassifier, alpha=alpha, C=C)
    before = weights(model)
    x = np.append(X[71], 1.0)
    drawn = int(np.argmin(np.abs(before @ x)))
    sign = 1.0 if right else -1.0
    assert sign * before[drawn] @ x < 1
    model.learn(Choice(drawn, as_dict(X[71]), 0, 0.5), right=right)

    def objective(flat):
        w = flat.reshape(before.shape)
        slack = 0.0 if np.inf == C else C * max(0.0, 1 - sign * w[drawn] @ x) ** 2
        return 0.5 * np.sum((w - before) ** 2) + alpha / 2 * np.sum(w**2) + slack

    hard = {"type": "ineq", "fun": lambda f: sign * f.reshape(before.shape)[drawn] @ x - 1}
    solved = minimize(
        objective,
        before.ravel(),
        method="SLSQP",
        constraints=[hard] if np.inf == C else [],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(weights(model).ravel(), solved.x, atol=1e-5)


def test_a_margin_that_is_reached_changes_nothing():
    model = learned(BanditPAClassifier, C=np.inf, alpha=0.1)
    model.learn(Choice(1, as_dict(X[72]), 1, 0.9), right=True)
    before = weights(model)
    assert before[1] @ np.append(2 * X[72], 1.0) > 1
    model.learn(Choice(1, as_dict(2 * X[72]), 1, 0.9), right=True)
    np.testing.assert_array_equal(weights(model), before)


@pytest.mark.parametrize("cls", BANDITS)
def test_of_a_label_only_right_or_wrong_is_used(cls):
    """Labels that differ only where the class drawn was wrong anyway teach the same."""
    model = cls(classes=CLASSES, gamma=0.3)
    drawn = model.progressive(X, Y).predictions
    wrong = drawn != Y
    other = np.where(wrong, (Y + 1) % 4, Y)
    other = np.where(wrong & (other == drawn), (other + 1) % 4, other)
    assert (other != Y)[wrong].any()
    twin = cls(classes=CLASSES, gamma=0.3)
    assert (twin.progressive(X, other).predictions == drawn).all()
    np.testing.assert_array_equal(weights(twin), weights(model))


@pytest.mark.parametrize("cls", BANDITS)
def test_choosing_and_answering_is_learning_with_labels(cls):
    by_labels = cls(classes=CLASSES, gamma=0.3).partial_fit(X, Y)
    by_answers = cls(classes=CLASSES, gamma=0.3)
    for row, truth in zip(X, Y, strict=True):
        choice = by_answers.choose_one(as_dict(row))
        by_answers.learn(choice, choice.label == truth)
    np.testing.assert_array_equal(weights(by_answers), weights(by_labels))
    assert by_answers.n_mistakes_ == by_labels.n_mistakes_


@pytest.mark.parametrize("cls", BANDITS)
def test_answers_may_come_late_in_any_order_and_through_json(cls):
    model = cls(classes=["a", "b"]).partial_fit(X, np.array(["a", "b"])[Y % 2])
    choices = model.choose(X[:20])
    for choice in reversed(choices):
        model.learn(through_json(choice), right=choice.label == "a")
    assert model.t_ == 420


def through_json(choice):
    return Choice(**json.loads(json.dumps(dataclasses.asdict(choice))))


@pytest.mark.parametrize("cls", BANDITS)
@pytest.mark.parametrize("names", [range(6), "abcdef", ["0", 0, -1, 1, "1", 2**60]])
def test_a_choice_survives_json_whatever_features_are_called(cls, names, tmp_path):
    model, twin = cls(classes=CLASSES), cls(classes=CLASSES)
    for row, truth in zip(X[:50], Y[:50], strict=True):
        x = dict(zip(names, row.tolist(), strict=True))
        choice, other = model.choose_one(x), through_json(twin.choose_one(x))
        assert other == choice
        model.learn(choice, choice.label == truth)
        twin.learn(other, other.label == truth)
    assert saved(twin, tmp_path) == saved(model, tmp_path)


def test_a_choice_of_a_row_of_an_array_survives_json(tmp_path):
    model = learned(BanditronClassifier)
    twin = model.clone(include_attributes=True)
    for choice in model.choose(X[:20]):
        model.learn(choice, choice.label == 1)
    for choice in map(through_json, twin.choose(X[:20])):
        twin.learn(choice, choice.label == 1)
    assert saved(twin, tmp_path) == saved(model, tmp_path)


def test_exploring_is_as_frequent_as_told_and_fades():
    model = BanditronClassifier(classes=CLASSES, gamma=0.4)
    choices = [model.choose_one(as_dict(X[0])) for _ in range(2000)]
    explored = np.mean([choice.label != choice.best for choice in choices])
    assert explored == pytest.approx(0.4 * 3 / 4, abs=0.04)
    shares = {choice.probability for choice in choices}
    assert shares == {0.1, 0.1 + 0.6}
    fading = BanditronClassifier(classes=CLASSES, gamma=1.0, decay=0.5)
    fading.choose(X[:399])
    assert fading.gamma_ == pytest.approx(1 / 20)


def test_draws_are_even_and_differ_by_seed():
    draws = np.array([[uniform(seed, i) for i in range(5000)] for seed in (0, 1)])
    assert draws.min() >= 0
    assert draws.max() < 1
    counts = np.histogram(draws[0], 10, (0, 1))[0]
    assert abs(counts - 500).max() < 100
    assert abs(np.corrcoef(draws[0], draws[1])[0, 1]) < 0.05
    assert abs(np.corrcoef(draws[0][1:], draws[0][:-1])[0, 1]) < 0.05


@pytest.mark.parametrize("cls", BANDITS)
def test_it_learns(cls):
    said = cls(gamma=0.1).progressive(np.tile(X, (8, 1)), np.tile(Y, 8)).predictions
    wrong = said != np.tile(Y, 8)
    assert wrong[-800:].mean() < 0.45
    assert wrong[-800:].mean() < wrong[:400].mean()


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(ParameterError, match="no class to choose from"):
        BanditronClassifier().choose_one({"a": 1.0})
    model = BanditronClassifier(classes=["a", "b"])
    choice = model.choose_one({"x": 1.0})
    with pytest.raises(ParameterError, match="True or False"):
        model.learn(choice, "yes")
    with pytest.raises(DataError, match="'c' is not one that can be shown"):
        model.learn(dataclasses.replace(choice, label="c"), True)
    with pytest.raises(DataError, match="'c' is not one of the declared"):
        model.learn_one({"x": 1.0}, "c")
    with pytest.raises(DataError, match="too large"):
        model.learn(Choice("a", {"x": 1e308}, "b", 1e-9), True)


def some_of(cls, **settings):
    """Return a model that has learned a little, and a choice of it."""
    model = cls(classes=["a", "b"], **settings)
    for truth in "abba":
        choice = model.choose_one({"x": 1.0, truth: 2.0})
        model.learn(choice, choice.label == truth)
    return model, model.choose_one({"x": 1.0, "new": 3.0})


@pytest.mark.parametrize("cls", BANDITS)
@pytest.mark.parametrize(
    "weight", [np.nan, np.inf, -1, "x", None, [1.0], {}, 10**400], ids=lambda w: str(w)[:4]
)
def test_a_weight_that_is_none_is_refused(cls, weight, tmp_path):
    model, choice = some_of(cls)
    fresh = cls(classes=["a", "b"])
    before = saved(model, tmp_path)
    for one in (model, fresh):
        with pytest.raises(ParameterError, match="The 'weight' parameter must be finite and >= 0"):
            one.learn(choice, True, weight)
    assert saved(model, tmp_path) == before
    assert saved(fresh, tmp_path) is None


@pytest.mark.parametrize("cls", BANDITS)
def test_an_answer_of_no_weight_is_absent(cls, tmp_path):
    model, choice = some_of(cls)
    fresh = cls(classes=["a", "b"])
    before = saved(model, tmp_path)
    for one in (model, fresh):
        one.learn(choice, True, 0)
    assert saved(model, tmp_path) == before
    assert saved(fresh, tmp_path) is None
    model.learn(choice, False, 5e-324)  # too small to be divided by
    assert model.t_ == 5


@pytest.mark.parametrize("cls", BANDITS)
@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"probability": np.nan}, "The probability of a choice must be > 0 and <= 1. Got nan"),
        ({"probability": 0.0}, "> 0 and <= 1. Got 0.0"),
        ({"probability": 1.5}, "> 0 and <= 1. Got 1.5"),
        ({"probability": "1"}, "> 0 and <= 1. Got '1'"),
        ({"label": "c"}, "The class 'c' is not one that can be shown"),
        ({"label": ["a"]}, "The class \\['a'\\] is not one that can be shown"),
        ({"best": None}, "The class None is not one that can be shown"),
        ({"x": 1.0}, "A row must be a dict of features, not 1.0"),
        ({"x": [["new", np.nan]]}, "The value of feature 'new' is NaN"),
    ],
)
def test_a_choice_that_is_none_is_refused(cls, changes, complaint, tmp_path):
    model, choice = some_of(cls)
    fresh = cls(classes=["a", "b"])
    before = saved(model, tmp_path)
    bad = dataclasses.replace(choice, **changes)
    for one in (model, fresh):
        with pytest.raises(DataError, match=complaint):
            one.learn(bad, True)
        with pytest.raises(ParameterError, match="A choice that `choose` has made is needed"):
            one.learn(dataclasses.asdict(choice), True)
    assert saved(model, tmp_path) == before
    assert saved(fresh, tmp_path) is None


@pytest.mark.parametrize("cls", BANDITS)
def test_a_row_that_is_refused_leaves_no_trace(cls, tmp_path):
    model, choice = some_of(cls, C=np.inf) if cls is BanditPAClassifier else some_of(cls)
    before = saved(model, tmp_path)
    large = {"new": 1e200, "x": 1.0}
    with pytest.raises(DataError, match="too large"):
        model.learn(dataclasses.replace(choice, x=large), True)
    with pytest.raises(DataError, match="too large"):
        model.learn_one(large, "a")
    with pytest.raises(DataError, match="'c' is not one of the declared"):
        model.learn_one({"newer": 1.0}, "c")
    assert saved(model, tmp_path) == before


@pytest.mark.parametrize(
    ("model", "value", "weight"),
    [
        (BanditronClassifier(classes=["a", "b"]), 1e90, 1e300),
        (BanditPAClassifier(classes=["a", "b"], C=np.inf, fit_intercept=False), 2e-162, 1.0),
    ],
)
def test_a_step_that_is_not_finite_is_refused(model, value, weight, tmp_path):
    for right in (True, False):
        with pytest.raises(DataError, match="step for this row is too large"):
            model.learn(Choice("a", {"x": value}, "b", 0.1), right, weight)
    assert saved(model, tmp_path) is None


@pytest.mark.parametrize("cls", BANDITS)
@pytest.mark.parametrize(
    "classes",
    [[[1], [2]], [None], ["a", None], [np.nan], [1.5, 2], [(1, 2), (3, 4)], [2**70], ["\ud800"],
     np.array([1.5]), np.array([[1], [2]]), np.array(3), {"a"}, "ab", 3, []],
    ids=ascii,
)  # fmt: skip
def test_classes_that_cannot_be_labels_are_refused(cls, classes):
    complaint = "The 'classes' parameter must be None or a list of strings, integers or booleans"
    with pytest.raises(ParameterError, match=complaint):
        cls(classes=classes).choose_one({"x": 1.0})
    with pytest.raises(ParameterError, match=complaint):
        cls(classes=classes).partial_fit(X, Y)


@pytest.mark.parametrize(
    "classes", [np.array([2, 1]), np.array(["b", "a"]), (True, False), [1, "1"], np.array([2.0, 1])]
)
def test_classes_may_be_an_array_and_are_saved(classes, tmp_path):
    model = BanditronClassifier(classes=classes)
    choice = model.choose_one({"x": 1.0})
    assert choice.label in list(classes)
    assert type(choice.label) in (int, str, bool)
    model.learn(through_json(choice), True)
    model.save(tmp_path / "model")
    loaded = yarrow.load(tmp_path / "model")
    assert loaded.classes_.tolist() == model.classes_.tolist() == sorted(classes, key=str)
    assert loaded.choose_one({"x": 1.0}) == model.choose_one({"x": 1.0})


@pytest.mark.parametrize("cls", BANDITS)
def test_classes_of_a_call_agree_with_those_known(cls, tmp_path):
    declared, open_ = learned(cls), cls().partial_fit(X, Y, classes=CLASSES)
    for model in (declared, open_):
        before = saved(model, tmp_path)
        with pytest.raises(ParameterError, match=r"classes=.* (declared|known)"):
            model.partial_fit(X[:1], Y[:1], classes=[7, 8])
        with pytest.raises(ParameterError, match="must be None or a list of strings"):
            model.partial_fit(X[:1], Y[:1], classes=[None])
        with pytest.raises(DataError, match="The class 9 is not one of the declared"):
            model.partial_fit(1.0 + X[:1], [9], classes=CLASSES)
        assert saved(model, tmp_path) == before
        model.partial_fit(X, Y, classes=np.array(CLASSES))
    assert declared.partial_fit(X[:1], Y[:1], classes=[Y[0]]).classes_.tolist() == CLASSES
    with pytest.raises(DataError, match="The class 3 is not one of the declared"):
        cls().partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(DataError, match="The class 9 is not one of the declared"):
        open_.partial_fit(X[:1], [9], classes=[*CLASSES, 8])
    assert open_.classes_.tolist() == CLASSES
    mixed = cls().partial_fit(X[:2], np.array([1, "a"], dtype=object), classes=[1, "a"])
    assert mixed.classes_.tolist() == [1, "a"]


def test_a_model_of_choices_is_saved(tmp_path):
    model = BanditPAClassifier(classes=["a", "b"], alpha=0.5)
    for i in range(200):  # the scale is folded in more than once
        choice = model.choose_one({"x": 1.0, i: 0.5})
        model.learn(choice, choice.label == "ab"[i % 2])
    model.save(tmp_path / "model")
    loaded = yarrow.load(tmp_path / "model")
    for i in range(50):
        one, other = (m.choose_one({"x": 1.0, i: 0.5}) for m in (model, loaded))
        assert one == other
        model.learn(one, i % 3 == 0)
        loaded.learn(other, i % 3 == 0)
    assert loaded.n_mistakes_ == model.n_mistakes_


@pytest.mark.parametrize("cls", BANDITS)
def test_files_get_the_scores_of_arrays(cls, tmp_path):
    rows = np.random.default_rng(0).normal(size=(30, 3))
    model = cls().partial_fit(rows, ["c", "a", "b"] * 10)
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"0 0:{x!r} 1:{y!r} 2:{z!r}\n" for x, y, z in rows.tolist()))
    (told,) = predict_files(model, str(path), StreamFormat(index_base=0), wanted="scores")
    assert told.predictions == model.predict(rows).tolist()
    np.testing.assert_array_equal(told.table, model.decision_function(rows))


@pytest.mark.parametrize("cls", BANDITS)
def test_an_error_names_the_row_though_fit_shuffles(cls):
    labels = ["a", "b"] * 20
    labels[7] = "z"
    with pytest.raises(DataError, match=r"^row 7: The class 'z'"):
        cls(classes=["a", "b"]).fit(np.eye(40), labels)


@pytest.mark.parametrize("cls", BANDITS)
@pytest.mark.parametrize("weight", [1.7e308, -1e250])
def test_weights_that_no_steps_lead_to_are_refused(cls, weight, tmp_path):
    """Their sums would not be finite, nor would scores."""
    learned(cls).save(tmp_path / "model")
    tensors, metadata = model_file.read(tmp_path / "model")
    tensors["own/weights"][:] = weight
    model_file.write(tmp_path / "model", tensors, metadata)
    with pytest.raises(ModelFileError, match="weights"):
        yarrow.load(tmp_path / "model")
