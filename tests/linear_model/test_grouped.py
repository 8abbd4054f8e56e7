"""Group lasso and multi-task selection: weights against their problems, lazy against eager."""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import as_dicts, assert_same, learned, refuse, save_and_load
from linear_model.oracles import EXACT, binary_stream, class_stream, weights, with_constant

from yarrow import GroupLassoClassifier, MultiTaskClassifier, RDAClassifier
from yarrow.errors import ParameterError

GROUPS = ["a", "b", "a", "b", "b", "c", "a"]  # columns 7 and above are alone


def blocks_of(n_columns):
    """The columns of each group, and the root of its size."""
    found = [np.flatnonzero(np.array(GROUPS) == g) for g in "abc"]
    found += [np.array([j]) for j in range(len(GROUPS), n_columns)]
    return [(columns, np.sqrt(len(columns))) for columns in found]


def group_argmin(mean, blocks, l1, l21, strength):
    """argmin mean.w + l1 |w|_1 + l21 sum price |w_group| + strength/2 |w|^2, by its dual.

    |w_j| is the most that s*w_j can be for |s| <= 1, and |w_group| the most that u.w_group can be
    for |u| <= 1. For given s and u the best w is -(mean + l1*s + l21*price*u)/strength, and its
    value -strength/2 |w|^2: so s and u must make that vector as short as they can.
    They do so by projected gradients with momentum, which knows no closed form of the answer.
    """
    price, group = np.zeros(len(mean)), np.zeros(len(mean), int)
    for g, (columns, p) in enumerate(blocks):
        price[columns], group[columns] = l21 * p, g

    def rest(s, u):
        return mean + l1 * s + price * u

    def in_balls(u):
        return u / np.maximum(1, np.sqrt(np.bincount(group, u * u)))[group]

    s, u = np.zeros((2, len(mean)))
    ahead_s, ahead_u, speed = s, u, 1.0
    rate = 1 / (l1**2 + max(price) ** 2)
    for _ in range(3000):
        left = rest(ahead_s, ahead_u)
        new_s = np.clip(ahead_s - rate * l1 * left, -1, 1)
        new_u = in_balls(ahead_u - rate * price * left)
        if left @ (rest(new_s, new_u) - rest(s, u)) > 0:
            speed = 1.0  # momentum leads uphill: start anew
        faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
        push = (speed - 1) / faster
        ahead_s, ahead_u = new_s + push * (new_s - s), new_u + push * (new_u - u)
        s, u, speed = new_s, new_u, faster
    return -rest(s, u) / strength


def shrink(mean, blocks, l1, l21):
    """The closed form, all features at once."""
    cut = np.sign(mean) * np.maximum(np.abs(mean) - l1, 0)
    for columns, price in blocks:
        length = np.linalg.norm(cut[columns])
        cut[columns] *= max(0.0, 1 - l21 * price / length) if length > 0 else 0.0
    return cut


@pytest.mark.parametrize(("l1", "l21"), [(0.0, 0.05), (0.05, 0.0), (0.03, 0.04)])
def test_group_lasso_weights_are_argmins(l1, l21):
    X, y = binary_stream(61, rows=30, features=8)
    model = GroupLassoClassifier(
        GROUPS, l21, l1, gamma=2.0, loss="logistic", fit_intercept=False, classes=[-1, 1], **EXACT
    )
    w, total, vanished = np.zeros(8), np.zeros(8), 0
    for n, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        total -= label * x / (1 + np.exp(label * x @ w))
        model.partial_fit([x], [label])
        w = (1 if n > 1 else -1) * weights(model)[0, 1:]  # it speaks for the class seen
        if n % 3 == 0:
            expected = group_argmin(total / n, blocks_of(8), l1, l21, 2 / np.sqrt(n))
            np.testing.assert_allclose(w, expected, rtol=0, atol=1e-6)
        vanished += np.count_nonzero(w == 0)
    assert vanished > 10
    assert np.count_nonzero(w) > 2


@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_group_lasso_is_its_textbook_form_on_sparse_rows(l1):
    X, y = binary_stream(62, rows=500, features=30, density=0.2)
    X[:200, 20:] = 0
    groups = {j: j // 4 for j in range(26)}
    blocks = [(np.flatnonzero(np.arange(30) // 4 == g), 2.0) for g in range(6)]
    blocks += [(np.array([24, 25]), np.sqrt(2))] + [(np.array([j]), 1.0) for j in range(26, 30)]
    sample_weight = np.random.default_rng(3).choice([0.5, 1.0, 3.0], len(y))
    model = GroupLassoClassifier(groups, 0.03, l1, gamma=0.5, classes=[-1, 1], **EXACT)
    Z, total, w = y[:, None] * with_constant(X), np.zeros(31), np.zeros(31)
    for i, z in enumerate(Z):
        total += sample_weight[i] * (z @ w < 1) * -z
        mean = total / (i + 1)
        w = -np.sqrt(i + 1) / 0.5 * np.append(mean[0], shrink(mean[1:], blocks, l1, 0.03))
        model.partial_fit(sp.csr_array(X[i : i + 1]), y[i : i + 1], None, sample_weight[i : i + 1])
        found = (1 if i else -1) * weights(model)[0]
        np.testing.assert_allclose(found, w, rtol=0, atol=1e-10)
    assert 0 < np.count_nonzero(w[1:]) < 30
    np.testing.assert_allclose(model.decision_function(X), with_constant(X) @ w, atol=1e-9)
    for columns, _ in blocks:  # whole groups vanish, and without l1 only whole groups
        zeros = np.count_nonzero(w[1:][columns] == 0)
        assert l1 > 0 or zeros in (0, len(columns))


def named_rows(seed, rows=300):
    """Rows of three sources, of which the middle one says the label."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 3, rows)
    for c in label.tolist():
        noise = {f"{s}^{random.integers(8)}": random.normal() for s in ("x", "z") for _ in range(3)}
        yield {**noise, f"said^{c}": 1.0, f"said^{random.integers(3)}!": 0.5, "plain": 0.1}, c


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_groups_by_a_separator_vanish_and_stay_as_a_whole(multiclass):
    model = GroupLassoClassifier("^", 0.15, multiclass=multiclass)
    for x, label in named_rows(63):
        model.learn_one(x, label)
    used = {name for name, w in zip(model.feature_names_, model.coef_.any(axis=0)) if w}  # noqa: B905
    assert {name.split("^")[0] for name in used} == {"said"}
    assert len(used) == 6


def test_tasks_with_rows_of_their_own_select_features_together():
    """Yang, Lyu & King: a feature's weights of all tasks are [1 - l21/|u|]+ u * sqrt(n)/gamma."""
    random = np.random.default_rng(3)
    l21, gamma, features, tasks = 0.2, 0.7, 6, 3
    truth = random.normal(size=(features, tasks)) * (np.arange(features) < 2)[:, None]
    model = GroupLassoClassifier(
        "^", l21, gamma=gamma, fit_intercept=False, classes=[-1, 1], **EXACT
    )
    total, W = np.zeros((features, tasks)), np.zeros((features, tasks))
    for n in range(1, 301):
        task, x = random.integers(tasks), random.normal(size=features)
        y = 1 if x @ truth[:, task] > 0 else -1
        if y * (x @ W[:, task]) < 1:
            total[:, task] += y * x
        model.learn_one({f"{j}^{task}": value for j, value in enumerate(x)}, y)
        length = np.linalg.norm(total / n, axis=1, keepdims=True)
        W = np.maximum(0, 1 - l21 / np.maximum(length, 1e-12)) * total / n * np.sqrt(n) / gamma
    found = dict(model.top_features(features * tasks))
    expected = {f"{j}^{k}": W[j, k] for j in range(features) for k in range(tasks)}
    assert found == pytest.approx(expected, abs=1e-9)
    assert 0 < np.count_nonzero(W.any(axis=1)) < features


@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_the_order_of_features_changes_no_weight(l1):
    """Groups made of names are numbered as they come; a data frame brings them in another order."""
    rows = list(named_rows(64))
    names = sorted({name for x, _ in rows for name in x}, reverse=True)
    dense = pd.DataFrame([{n: x.get(n, 0.0) for n in names} for x, _ in rows], columns=names)
    model = GroupLassoClassifier("^", 0.05, l1)
    framed = model.clone().partial_fit(dense, [label for _, label in rows])
    for x, label in rows:
        model.learn_one({n: x[n] for n in names if n in x}, label)
    where = [framed.feature_names_.index(name) for name in model.feature_names_]
    np.testing.assert_array_equal(framed.coef_[:, where], model.coef_)
    assert 0 < model.n_nonzero_ < model.coef_.size


@pytest.mark.parametrize("l1", [0.0, 0.02])
@pytest.mark.parametrize("groups", ["^", {f"x^{j}": "x" for j in range(8)}])
def test_files_and_failures_keep_groups(groups, l1):
    """A call that brings a new group and fails leaves no trace of it, nor does a file."""
    rows = list(named_rows(65))
    model = GroupLassoClassifier(groups, 0.05, l1)
    never = model.clone()
    for i, (x, label) in enumerate(rows):
        if i % 50 == 49:
            bad = [{f"new{i}^{j}": 1.0 for j in range(3)}, {"x^0": 3e38}]
            frame = pd.DataFrame(bad).fillna(0.0)
            wrong = next(c for c in (0, 1, 2) if c != model.predict_one(bad[1]))
            refuse(
                lambda m=model, f=frame, c=wrong: m.learn_many(f, [0, c], [1, 1e30]), "Row 1", model
            )
            model = copy.deepcopy(model) if i % 100 == 99 else save_and_load(model)
        model.learn_one(x, label)
        never.learn_one(x, label)
    assert_same(learned(model), learned(never))


def test_forgetting_features_counts_groups_anew():
    model = GroupLassoClassifier("^", 0.01, max_features=14, when_full="prune")
    for x, label in named_rows(66):
        model.learn_one(x, label)
        places = {name: i for i, name in enumerate(model.feature_names_)}
        stored = model._model.get_state()["blocks"][1:, 0]
        squares = model._model.get_state()["group_squares"].reshape(stored.shape[1], -1)
        by_group = {}
        for name, i in places.items():
            if "^" in name:
                group = by_group.setdefault(name.split("^")[0], np.zeros(stored.shape[1]))
                group += stored[i].astype(float) ** 2
        expected = np.array(list(by_group.values())).T
        np.testing.assert_allclose(squares, expected, rtol=1e-6, atol=1e-9)


def test_groups_of_one_are_rda():
    X, y = binary_stream(67, rows=200, features=10)
    group = GroupLassoClassifier(None, 0.02, 0.01, **EXACT).partial_fit(X, y)
    plain = RDAClassifier(0.03, **EXACT).partial_fit(X, y)
    np.testing.assert_allclose(group.coef_, plain.coef_, rtol=0, atol=1e-12)
    task = MultiTaskClassifier(0.02, 0.01, **EXACT).partial_fit(X, y)
    np.testing.assert_allclose(task.coef_, plain.coef_, rtol=0, atol=1e-12)


def test_hashed_names_have_groups_if_they_are_declared():
    X, y = binary_stream(68, rows=100, features=8)
    model = GroupLassoClassifier(dict.fromkeys(range(8), 0), 0.02, hash_bits=10, **EXACT)
    plain = GroupLassoClassifier([0] * 8, 0.02, **EXACT).partial_fit(X, y)
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-12)
    with pytest.raises(ParameterError, match="cannot be separated"):
        GroupLassoClassifier("^", hash_bits=4).learn_one({"a^b": 1}, 0)


@pytest.mark.parametrize("bad", ["", 7, {1.5: 0}, [[0, 1]], {"a": [1]}])
def test_bad_groups_are_refused(bad):
    with pytest.raises(ParameterError, match="'groups' parameter must be"):
        GroupLassoClassifier(bad).learn_one({"a": 1}, 0)


# -- tasks ---------------------------------------------------------------------------------------


def feature_rows(classes, features):
    """Each feature's weights for all classes are a group of price 1."""
    return [(np.arange(classes) * features + j, 1.0) for j in range(features)]


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize(("l1", "l21"), [(0.0, 0.06), (0.02, 0.05)])
def test_multi_task_weights_are_argmins(multiclass, l1, l21):
    X, y = class_stream(69, rows=60, features=5, classes=3)
    X, y = np.vstack([np.zeros((3, 5)), X]), np.append([0, 10, 20], y)  # all classes are known
    model = MultiTaskClassifier(
        l21, l1, gamma=1.5, multiclass=multiclass, fit_intercept=False, **EXACT
    ).partial_fit(X[:3], y[:3])
    W, total, vanished = np.zeros((3, 5)), np.zeros((3, 5)), 0
    for n, (x, label) in enumerate(zip(X[3:], y[3:], strict=True), start=4):
        scores, c = W @ x, label // 10
        if multiclass == "ovr":
            signs = np.where(np.arange(3) == c, 1, -1)
            total -= np.outer(signs * (signs * scores < 1), x)
        else:
            rival = max((k for k in range(3) if k != c), key=lambda k: scores[k])
            loss = scores[c] - scores[rival] < 1
            total[c] -= loss * x
            total[rival] += loss * x
        model.partial_fit([x], [label])
        W = weights(model)[:, 1:]
        if n % 5 == 0:
            mean = total.ravel() / n
            expected = group_argmin(mean, feature_rows(3, 5), l1, l21, 1.5 / np.sqrt(n))
            np.testing.assert_allclose(W.ravel(), expected, rtol=0, atol=1e-6)
        gone = (W == 0).all(axis=0)
        assert l1 > 0 or ((W != 0).all(axis=0) | gone)[np.abs(total).min(axis=0) > 0].all()
        vanished += np.count_nonzero(gone)
    assert vanished > 20
    assert W.any()


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_whole_features_vanish_for_all_classes(multiclass):
    random = np.random.default_rng(70)
    y = random.integers(0, 4, 800)
    X = 0.3 * random.normal(size=(800, 20))
    X[np.arange(800), y] += 1.5  # the other sixteen columns say nothing
    model = MultiTaskClassifier(0.1, multiclass=multiclass).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_.any(axis=0), np.arange(20) < 4)
    assert np.count_nonzero(model.coef_) == 16
    assert model.score(X, y) > 0.95


def test_rows_of_zeros_and_classes_that_come_once():
    for model in (GroupLassoClassifier("^"), MultiTaskClassifier()):
        for label in ("a", "b", "c", "a"):
            model.learn_one({}, label)
        assert model.n_nonzero_ == 0
        model.learn_one({"x^1": 1.0}, "d")
        assert model.classes_.tolist() == ["a", "b", "c", "d"]
        assert np.isfinite(model.coef_).all()
    one_class = GroupLassoClassifier("^")
    one_class.learn_one({"x^1": 1.0}, "only")
    assert one_class.predict_one(as_dicts(np.eye(1))[0]) == "only"
