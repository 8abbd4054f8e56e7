"""YarrowClassifier against a textbook form of it, its parts against what they are made of."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from linear_model.yarrow_textbook import (
    AROW_EXPERTS,
    EXPERTS,
    INTERCEPT,
    MIXTURE,
    Columns,
    Textbook,
    stream,
)

from reproduction.candidates import yarrow_of, yarrow_with
from yarrow import ForgettingAROWClassifier, YarrowClassifier

MATRIX = slice(EXPERTS, EXPERTS * (EXPERTS + 1))  # the covariance in a state's "mixture"


@pytest.mark.parametrize("columns", [3, 7, 70, 140])  # pairs; bends; of some columns; none at last
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_textbook_learner(columns, classes, weighted):
    X, y = stream(200, columns, classes, seed=classes)
    weights = np.random.default_rng(1).choice([0.3, 1.0, 4.0], len(y)) if weighted else np.ones(200)
    model, textbook = YarrowClassifier(dtype="float64"), Textbook(columns, classes)
    for i, (x, c) in enumerate(zip(X, y, strict=True)):
        if i > 0 and len(textbook.seen) > 1:
            scores = textbook.said(x)[1]
            expected = scores[1] if len(textbook.seen) == 2 else scores[: len(textbook.seen)]
            got = model.decision_function(x[None])[0]
            np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
        model.partial_fit(x[None], [c], sample_weight=[weights[i]])
        textbook.learn(x, c, weights[i])
    np.testing.assert_allclose(model.expert_weights_, textbook.u, rtol=1e-7)
    saved = model._model.get_state()["mixture"][MATRIX].reshape(EXPERTS, EXPERTS)
    np.testing.assert_allclose(saved, textbook.mixture.S, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("columns", [3, 7, 70, 140])
@pytest.mark.parametrize("known", [1, 2])
def test_a_class_that_comes_late_finds_what_it_would_have_learned(columns, known):
    """After a hundred rows of others; the textbook has known it from the first row."""
    X, y = stream(400, columns, 3)
    early = np.flatnonzero(y < known)[:100]
    order = np.concatenate([early, np.setdiff1d(np.arange(400), early)[:60]])
    model, textbook = YarrowClassifier(dtype="float64"), Textbook(columns, 3)
    for x, c in zip(X[order], y[order], strict=True):
        model.partial_fit(x[None], [c])
        textbook.learn(x, c)
    scores = np.array([textbook.said(x)[1] for x in X])
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("columns", [7, 70, 140])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_two_classes_give_the_same_bits_whatever_stands_beside_them(columns, dtype):
    """One column alone, two beside each other, room for more: the core has a walk for each."""
    X, y = stream(300, columns, 2)
    declared, found, roomy = (
        YarrowClassifier(dtype=dtype, classes=classes) for classes in ([0, 1], None, [0, 1, 2])
    )
    for model in (declared, found, roomy):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(declared.decision_function(X), found.decision_function(X))
    np.testing.assert_array_equal(declared.expert_weights_, roomy.expert_weights_)
    np.testing.assert_array_equal(declared.expert_weights_, found.expert_weights_)


@pytest.mark.parametrize("columns", [7, 70, 140])
def test_a_weight_too_small_for_float32_poisons_nothing(columns):
    X, y = stream(40, columns, 2)
    model = YarrowClassifier().partial_fit(X, y, sample_weight=np.full(40, 1e-60))
    model.partial_fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(statistics(model)).all()


def test_one_expert_alone_is_arow_that_forgets_on_standardized_rows():
    X, y = stream(300, 5, 2, dense=True)
    which = 2
    model = yarrow_of(np.arange(EXPERTS) == which, dtype="float64", classes=[0, 1])
    columns = Columns(5)
    r, memory = AROW_EXPERTS[which]
    alone = ForgettingAROWClassifier(
        r=r, memory=memory, clock="visits", intercept_scaling=INTERCEPT, dtype="float64",
        classes=[0, 1],
    )  # fmt: skip
    for i, (x, c) in enumerate(zip(X, y, strict=True)):
        known, learned = columns.standardized(x)
        if i > 1:
            worth = model.expert_weights_
            assert np.count_nonzero(worth) == 1
            said = np.clip(alone.decision_function(known[None]), -3, 3)
            np.testing.assert_allclose(
                model.decision_function(x[None]), worth[which] * said, rtol=1e-6, atol=1e-9
            )
        model.partial_fit(x[None], [c])
        alone.partial_fit(np.where(learned == 0, 1e-30, learned)[None], [c])  # a visit all the same
        columns.count(x)


def test_the_mixture_solves_the_problem_of_arow():
    """It minimises KL(N(u, S) || N(u0, S0)) + (max(0, 1 - u.z)^2 + z'S z)/(2r)."""
    X, y = stream(60, 6, 2, seed=3)
    model, textbook = YarrowClassifier(dtype="float64"), Textbook(6, 2)
    solved = 0
    for x, c in zip(X, y, strict=True):
        said, scores = textbook.said(x)
        z = textbook.example(said, scores, c)
        before = None if not textbook.seen else model._model.get_state()["mixture"]
        model.partial_fit(x[None], [c])
        textbook.learn(x, c)
        if before is None or before[:EXPERTS] @ z >= 1 or not z.any():
            continue
        u0, S0 = before[:EXPERTS], before[MATRIX].reshape(EXPERTS, EXPERTS)
        P0 = np.linalg.inv(S0)

        def price(u, u0=u0, P0=P0, z=z):
            return (u - u0) @ P0 @ (u - u0) / 2 + max(0.0, 1 - u @ z) ** 2 / (2 * MIXTURE[0])

        best = scipy.optimize.minimize(price, u0, method="BFGS", options={"gtol": 1e-9})
        np.testing.assert_allclose(model.expert_weights_, best.x, atol=1e-5)
        S = np.linalg.inv(P0 + np.outer(z, z) / MIXTURE[0]) + MIXTURE[1] * np.eye(EXPERTS)
        after = model._model.get_state()["mixture"][MATRIX].reshape(EXPERTS, EXPERTS)
        np.testing.assert_allclose(after, S, rtol=1e-6, atol=1e-9)
        solved += 1
    assert solved > 20


@pytest.mark.parametrize(("dtype", "power"), [("float32", 90), ("float64", 900)])
def test_columns_may_have_any_size(dtype, power):
    """Squares of these would overflow, or vanish."""
    X, y = stream(200, 6, 3, dense=True)
    sizes = 2.0 ** np.array([-power, -3, 0, 1, 9, power])
    plain, scaled = (YarrowClassifier(dtype=dtype).partial_fit(x, y) for x in (X, X * sizes))
    assert plain.n_mistakes_ == scaled.n_mistakes_
    np.testing.assert_array_equal(plain.decision_function(X), scaled.decision_function(X * sizes))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_may_be_as_large_and_small_as_there_are(dtype):
    X, y = stream(200, 4, 2, dense=True)
    info = np.finfo(dtype)
    extreme = np.sign(X - np.median(X, axis=0))
    expected = YarrowClassifier(dtype=dtype).partial_fit(extreme, y).decision_function(extreme)
    for size in (info.max, info.smallest_subnormal):
        model = YarrowClassifier(dtype=dtype).partial_fit(extreme * size, y)
        scores = model.decision_function(extreme * size)
        assert np.isfinite(model._model.get_state()["blocks"]).all()
        assert np.mean((scores > 0) == (expected > 0)) > 0.9


def statistics(model):
    """Return how often columns were there, their means and their deviations."""
    return model._model.get_state()["blocks"][1:, 13:16, 0].T.astype(np.float64)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-10)])
def test_statistics_are_those_of_the_values_there(dtype, tolerance):
    """Also where deviations are small beside means."""
    random = np.random.default_rng(0)
    places, sizes = np.array([1000, -1000, 0, 5, 1e30]), np.array([0.1, 1, 1e-30, 5, 1e29])
    X = (places + sizes * random.normal(size=(500, 5))).astype(np.float32).astype(np.float64)
    X[:, 1:4] *= random.random((500, 3)) < [0.9, 0.5, 0.1]
    model = YarrowClassifier(dtype=dtype).partial_fit(X, random.integers(0, 2, 500))
    there = np.ma.masked_equal(X, 0)
    n, mean, deviation = statistics(model)
    np.testing.assert_array_equal(n, there.count(axis=0))
    expected = there.std(axis=0).data
    np.testing.assert_allclose(deviation, expected, rtol=tolerance)
    assert (np.abs(mean - there.mean(axis=0).data) < 30 * tolerance * expected).all()


@pytest.mark.parametrize(("share", "atol"), [(0.5, 1e-6), (0.99, 1e-4), (1.0, 3e-3)])
def test_float32_standardizes_large_means_with_small_deviations(share, atol):
    """Where 1 - p^2 and x - mean leave few digits, p being the share of rows with a column."""
    random = np.random.default_rng(1)
    X = (1000 + 0.1 * random.normal(size=(1000, 3))).astype(np.float32)
    X *= random.random((1000, 3)) < share
    y = random.integers(0, 2, 1000)
    single, double = (
        YarrowClassifier(dtype=dtype).partial_fit(X, y) for dtype in ("float32", "float64")
    )
    np.testing.assert_allclose(single.decision_function(X), double.decision_function(X), atol=atol)


def test_columns_may_be_anywhere():
    """A constant added to a column that every row has changes little, even a large one."""
    X, y = stream(400, 6, 2, dense=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    plain, moved = (YarrowClassifier().partial_fit(x, y) for x in (X, X + 1000))
    assert abs(plain.n_mistakes_ - moved.n_mistakes_) <= 0.02 * len(y)


def test_a_concept_that_turns_around_is_followed():
    X, y = stream(2000, 8, 2, dense=True, seed=5)
    y[1000:] = 1 - y[1000:]
    model = YarrowClassifier().partial_fit(X[:1500], y[:1500])
    assert np.mean(model.predict(X[1500:]) == y[1500:]) > 0.8


def test_probabilities_are_as_often_right_as_they_say():
    X, y = stream(6000, 6, 2, dense=True, seed=2)
    flipped = np.random.default_rng(0).random(len(y)) < 0.2
    y = np.where(flipped, 1 - y, y)
    model = YarrowClassifier().partial_fit(X[:4000], y[:4000])
    top = model.predict_proba(X[4000:]).max(axis=1)
    right = model.predict(X[4000:]) == y[4000:]
    assert abs(top.mean() - right.mean()) < 0.03
    assert top.max() < 0.95


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_counts_are_halved_before_they_stick(dtype):
    """Beyond 2^24 a float32 can no longer count; the share of rows with a feature stays right."""
    X, y = stream(50, 4, 2, dense=True)
    model = YarrowClassifier(dtype=dtype).partial_fit(X, y)
    state = model.__getstate__()
    tensors = state["_core_state"]["tensors"]
    times = (2**23 - 10) / 50
    tensors["mixture"][-3:] *= times  # rows, values, and what rows weigh
    tensors["mixture_hits"] *= times
    tensors["mixture_weights"] *= times
    tensors["blocks"][:, 12:14] *= times  # hits and visits
    tensors["bends"][:, :, 2:] *= times
    later = YarrowClassifier()
    later.__setstate__(pickle.loads(pickle.dumps(state)))
    later.partial_fit(X[:20], y[:20])
    after = later._model.get_state()
    rows = 2**22 + 10
    assert after["mixture"][-3] == after["mixture"][-1] == after["blocks"][1, 13, 0] == rows
    hits = after["blocks"][1:, 12, 1]
    np.testing.assert_allclose(hits, np.mean(y) * rows, rtol=1e-3)
    np.testing.assert_allclose(after["mixture_hits"][1], hits.sum(), rtol=1e-6)
    np.testing.assert_allclose(after["bends"][1, 3:10, 2:].sum(axis=0), [hits[0], rows], rtol=1e-3)
    before = model.decision_function(X)
    assert np.corrcoef(before, later.decision_function(X))[0, 1] > 0.9


def test_bends_follow_what_no_line_divides():
    """A ring of one class around another, and a checkerboard."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (3000, 2))
    for y in (np.hypot(*X.T) > 0.7, (X[:, 0] > 0) ^ (X[:, 1] > 0)):
        model = YarrowClassifier().partial_fit(X[:2000], y[:2000].astype(int))
        assert np.mean(model.predict(X[2000:]) == y[2000:]) > 0.95


def test_bends_of_some_columns_stand_beside_any_number_of_marks():
    """A ring again, and 98 marks that are there or not."""
    random = np.random.default_rng(0)
    X = np.hstack([random.uniform(-1, 1, (3000, 2)), random.random((3000, 98)) < 0.1])
    y = (np.hypot(X[:, 0], X[:, 1]) > 0.7).astype(int)
    model = YarrowClassifier().partial_fit(X[:2000], y[:2000])
    assert np.mean(model.predict(X[2000:]) == y[2000:]) > 0.9


def test_a_full_covariance_tells_what_belongs_together():
    """The class is a small difference of columns that say nearly the same."""
    random = np.random.default_rng(0)
    common, own = random.normal(size=(2000, 1)), random.normal(size=(2000, 10))
    X, y = common + 0.1 * own, (own[:, 0] > own[:, 1]).astype(int)
    full, diagonal = YarrowClassifier(), yarrow_of([1, 1, 1, 1, 1, 1, 1, 1, 0, 1])
    errors = [np.mean(m.progressive(X, y).predictions[500:] != y[500:]) for m in (full, diagonal)]
    assert errors[0] < 0.05 < 2 * errors[0] < errors[1]


def with_numbers(model, name, place, value):
    """Return the model with another number in its state."""
    state = model.__getstate__()
    state["_core_state"]["tensors"][name][place] = value
    later = type(model)()
    later.__setstate__(state)
    return later


NEXT_TRIAL, ROWS = ("pair_trial", -1), ("scalars", 0)  # places in a state


@pytest.mark.parametrize("columns", [5, 70])
@pytest.mark.parametrize("pays", [False, True])
def test_pairs_are_given_up_as_in_the_textbook(columns, pays):
    random = np.random.default_rng(2)
    X = np.sign(random.normal(size=(160, columns))) * (random.random((160, columns)) < 20 / columns)
    y = (X[:, 0] * X[:, 1] > 0 if pays else random.random(160) < 0.5).astype(int)
    y[0], y[1] = 0, 1
    model, textbook = YarrowClassifier(dtype="float64"), Textbook(columns, 2)
    textbook.next_trial = 60
    for i, (x, c) in enumerate(zip(X, y, strict=True)):
        model = with_numbers(model, *NEXT_TRIAL, 60) if i == 30 else model
        model.partial_fit(x[None], [c])
        textbook.learn(x, c)
    assert textbook.has_pairs == ("pair_weights" in model._model.get_state())
    assert textbook.has_pairs >= (pays and columns == 5)
    np.testing.assert_allclose(model.expert_weights_, textbook.u, rtol=1e-6)
    scores = np.array([textbook.said(x)[1][1] for x in X])
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("row", [250, 900, 4000])
def test_the_mixture_drifts_less_and_less_as_in_the_textbook(row):
    """Around the row from which on it does, later, and where it is no less any more."""
    X, y = stream(160, 6, 2)
    model, textbook = YarrowClassifier(dtype="float64"), Textbook(6, 2)
    for i, (x, c) in enumerate(zip(X, y, strict=True)):
        if i == 40:
            model, textbook.rows = with_numbers(model, *ROWS, row), row
        model.partial_fit(x[None], [c])
        textbook.learn(x, c)
    saved = model._model.get_state()["mixture"][: EXPERTS * (EXPERTS + 1)]
    if textbook.has_pairs:
        np.testing.assert_allclose(saved[:EXPERTS], textbook.u, rtol=1e-7)
        saved = saved[MATRIX].reshape(EXPERTS, EXPERTS)
        np.testing.assert_allclose(saved, textbook.mixture.S, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(model.expert_weights_, textbook.u, rtol=1e-7)


def test_pairs_say_what_columns_alone_do_not():
    """The class is that of two signs together, among twenty columns; nobody else sees it."""
    X = np.random.default_rng(0).choice([-1.0, 1.0], (3000, 20))
    y = (X[:, 3] * X[:, 11] > 0).astype(int)
    errors = [
        np.mean(model.progressive(X, y).predictions[1000:] != y[1000:])
        for model in (YarrowClassifier(), yarrow_of([1] * 9 + [0]))
    ]
    assert errors[0] < 0.05 < 0.4 < errors[1]


def rows_of_categories(rows, columns, categories):
    """Return dicts, and the class: whether the first two categories add up to an odd number."""
    marks = np.random.default_rng(0).integers(0, categories, (rows, columns))
    names = [{f"{k}={mark}": 1.0 for k, mark in enumerate(row)} for row in marks]
    return names, ((marks[:, 0] + marks[:, 1]) % 2).tolist()


@pytest.mark.filterwarnings("ignore:no feature of the rows is known")  # after the words
@pytest.mark.parametrize("words_before", [0, 300])
def test_pairs_of_categories(words_before):
    """Pairs of the first 255 features have a place each; those of later ones share places."""
    names, y = rows_of_categories(6000, 10, 8)
    shares = []
    for model in (yarrow_of([1] * 9 + [0]), YarrowClassifier()):
        for i in range(words_before):
            model.predict_one({f"word{i}": 1.0})
            model.learn_one({f"word{i}": 1.0}, i % 2)
        right = []
        for row, c in zip(names, y, strict=True):
            right.append(model.predict_one(row) == c)
            model.learn_one(row, c)
        shares.append(np.mean(right[4000:]))
    assert shares[0] < 0.6 < 0.9 < shares[1]


def test_pairs_of_any_number_of_features_take_bounded_memory():
    names, y = rows_of_categories(600, 12, 500)
    model = YarrowClassifier(classes=[0, 1])
    for row, c in zip(names, y, strict=True):
        model.learn_one(row, c)
    state = model._model.get_state()
    assert state["blocks"].shape[0] > 3000
    assert state["pair_weights"].shape == state["pair_precisions"].shape == (1, 2**15)
    assert np.count_nonzero(state["pair_precisions"]) > 2**14


def test_where_pairs_rest_it_is_the_learner_without_them():
    """Noise: after 4,096 rows nothing of them is left, and nothing of them was kept elsewhere."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(4200, 6)), random.integers(0, 2, 4200)
    with_pairs, without = YarrowClassifier(), yarrow_with(weight=0.0, variance=0.0)
    for model in (with_pairs, without):
        model.partial_fit(X[:4095], y[:4095])
        assert "pair_weights" in model._model.get_state()
        model.partial_fit(X[4095:], y[4095:])
    states = [model._model.get_state() for model in (with_pairs, without)]
    assert not [name for name in states[0] if name.startswith("pair")]
    for name in ("mixture", "blocks", "bends", "full_weights"):
        np.testing.assert_array_equal(states[0][name], states[1][name])
    assert with_pairs.expert_weights_[-1] == 0
    np.testing.assert_array_equal(with_pairs.decision_function(X), without.decision_function(X))


def test_pairs_rest_where_classes_are_many():
    X, y = np.random.default_rng(0).normal(size=(130, 4)), np.arange(130) % 65
    model = YarrowClassifier().partial_fit(X[:60], y[:60])
    assert "pair_weights" in model._model.get_state()
    model.partial_fit(X, y)
    assert "pair_weights" not in model._model.get_state()
    assert np.isfinite(model.decision_function(X)).all()


def test_pruning_ends_pairs():
    model = YarrowClassifier(max_features=20, when_full="prune")
    for i in range(40):
        model.learn_one({"a": 1.0, f"word{i}": 1.0}, i % 2)
        assert ("pair_weights" in model._model.get_state()) == (i < 19)
    assert model.expert_weights_[-1] == 0
    assert np.isfinite(list(model.predict_proba_one({"a": 1.0, "word39": 1.0}).values())).all()


def test_long_rows_are_no_pairs():
    """A row of 48 values is learned in pairs, one of 49 is not."""
    X, y = np.random.default_rng(0).normal(size=(20, 60)), np.arange(20) % 2
    for values, learns in ((48, True), (49, False)):
        rows = np.where(np.arange(60) < values, X, 0)
        state = YarrowClassifier().partial_fit(rows, y)._model.get_state()
        assert state["pair_weights"].any() == learns
        assert len(state["pair_features"]) == (48 if learns else 0)


@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_what_is_kept_of_few_features_ends_where_they_become_many(classes):
    """Names come one by one; from the 65th on there are bends alone, from the 129th on nothing."""
    model = YarrowClassifier(classes=classes)
    bends, full = {"few_features", "bends"}, {"full_weights", "full_covariance"}
    for i in range(150):
        model.learn_one({"x": i % 7, f"word{i}": 1.0}, "ab"[i % 2])
        expected = bends | full if i < 63 else bends if i < 127 else set()
        assert (bends | full) & set(model._model.get_state()) == expected
        assert np.isfinite(list(model.predict_proba_one({"x": 3.0, "word0": 1.0}).values())).all()


@pytest.mark.parametrize("more_columns", [0, 30, 100])
def test_a_call_that_fails_gives_back_what_is_kept_of_few_features(more_columns):
    """Also where it had brought so many features that nothing of it was left."""
    X, y = stream(60, 40, 2)
    names = [f"c{j}" for j in range(40)]
    model = YarrowClassifier()
    model.learn_many(pd.DataFrame(X, columns=names), y)
    before = model._model.get_state()
    rows = pd.DataFrame(np.zeros((3, 40 + more_columns)))
    rows.columns = names + [f"more{j}" for j in range(more_columns)]
    rows.iloc[:, -2:] = 1.0
    with pytest.raises(ValueError, match="not finite"):
        model.learn_many(rows, [0, 1, 0], w=[1.0, 1.0, 1e308])
    after = model._model.get_state()
    assert before.keys() == after.keys()
    assert {"bends", "full_covariance"} < after.keys()
    for name, values in before.items():
        np.testing.assert_array_equal(after[name], values, err_msg=name)


def test_new_words_do_not_dim_the_known_ones():
    """A word that no model can know must not change a score, in a dict or in an array."""
    model = YarrowClassifier()
    for _ in range(5):
        model.learn_one({"cheap": 1, "pills": 1}, "spam")
        model.learn_one({"lunch": 1, "today": 1}, "ham")
    known = model.predict_proba_one({"pills": 1})
    assert model.predict_proba_one({"pills": 1, "never": 1, "seen": 3.5}) == known
