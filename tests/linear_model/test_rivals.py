"""Many rivals at once, and costs: every step is the argmin of the paper's own problem."""

import numpy as np
import pytest
from linear_model.oracles import (
    EXACT,
    assert_same,
    class_stream,
    planes,
    smallest_change,
    weights,
    with_constant,
)
from scipy.optimize import minimize

from yarrow.errors import ParameterError
from yarrow.linear_model import (
    AROWClassifier,
    MIRAClassifier,
    PassiveAggressiveClassifier,
    load,
)

PA = {"pa": (None, 1), "pa1": ("C", 1), "pa2": ("C", 2)}
COST = {(0, 10): 0.5, (10, 0): 2.0, (20, 30): 0.0, (30, 0): 3.0, (0, 30): 1.5}
MANY = {"topk": {"multiclass": "topk", "k": 2}, "all": {"multiclass": "all"}}


def costs(labels, given):
    table = {} if given is None else given
    return np.array([[table.get((a, b), float(a != b)) for b in labels] for a in labels])


def stream(seed, **how):
    """Rows of four classes, all of which stand in the first `warm` rows."""
    X, y = class_stream(seed, rows=45, features=3, **how)
    order = [y.tolist().index(name) for name in np.unique(y)]
    order += [i for i in range(len(y)) if i not in order]
    return X[order], y[order], len(np.unique(y))


def signed(x, c, rival, n):
    z = np.zeros((n, len(x)))
    z[c], z[rival] = x, -x
    return z


def chosen(scores, c, asked, model):
    """The rivals that a strategy meets, largest loss first (`top1`: highest score)."""
    losses = asked[c] - (scores[c] - scores)
    by = scores if model.multiclass == "top1" else losses
    order = sorted((k for k in range(len(scores)) if k != c), key=lambda k: (-by[k], k))
    return order[: {"top1": 1, "max_loss": 1, "topk": model.k, "all": None}[model.multiclass]]


def steps(model, X, y, warm, expected, compare=1e-6):
    """Learn row by row; `expected(model, x, c, rivals, asked, i)` solves each problem alone."""
    model.partial_fit(X[:warm], y[:warm])
    rows, labels = with_constant(X), model.classes_.tolist()
    assert labels == model._model.classes, "the oracle takes appearance for sorted order"
    asked = costs(labels, model.cost) if hasattr(model, "cost") else np.zeros((4, 4))
    updates = several = 0
    for i in range(warm, len(y)):
        W, c = weights(model), labels.index(y[i])
        rivals = chosen(W @ rows[i], c, asked, model)
        answer = expected(model, rows[i], c, rivals, asked[c], i)
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=WEIGHTS[i : i + 1])
        moved = np.abs(weights(model) - W).max(axis=1) > 0
        updates += moved.any()
        several += moved.sum() > 2
        np.testing.assert_allclose(weights(model), answer, rtol=0, atol=compare)
    assert updates > 10
    return several


WEIGHTS = np.random.default_rng(3).choice([0.5, 1.0, 2.0], 100)


@pytest.mark.parametrize("cost", [None, COST], ids=["plain", "cost"])
@pytest.mark.parametrize("form", PA)
@pytest.mark.parametrize(
    "how",
    [{"multiclass": "top1"}, {"multiclass": "max_loss"}, *MANY.values()],
    ids=lambda how: how["multiclass"],
)
def test_passive_aggressive_steps_are_argmins(form, how, cost):
    X, y, warm = stream(11)
    model = PassiveAggressiveClassifier(0.1, form, cost=cost, **how, **EXACT)
    price, power = PA[form]

    def expected(model, x, c, rivals, asked, i):
        W = weights(model)
        wishes = [(signed(x, c, r, len(W)).ravel(), asked[r]) for r in rivals]
        if all(z @ W.ravel() >= target for z, target in wishes):
            return W
        priced = None if price is None else 0.1 * WEIGHTS[i]
        found = smallest_change(W.ravel(), wishes, price=priced, power=power)
        return found.reshape(W.shape)

    several = steps(model, X, y, warm, expected)
    assert several >= 3 or how["multiclass"] in ("top1", "max_loss")


@pytest.mark.parametrize("cost", [None, COST], ids=["plain", "cost"])
@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
@pytest.mark.parametrize("how", MANY.values(), ids=MANY)
@pytest.mark.parametrize("confidence_r", [None, 0.2])
def test_arow_steps_are_argmins(how, covariance, cost, confidence_r):
    """The means solve (28) for the covariance before the row, and Sigma follows (24)."""
    X, y, warm = stream(12)
    r = 0.7
    model = AROWClassifier(r, covariance, cost=cost, confidence_r=confidence_r, **how, **EXACT)
    variances = []

    def expected(model, x, c, rivals, asked, i):
        W, S = weights(model), planes(model)[:, 1, :].T
        if variances:
            np.testing.assert_allclose(S, variances[-1], rtol=1e-9)
        root = np.sqrt(S)
        wishes = [((root * signed(x, c, k, len(W))).ravel(), asked[k]) for k in rivals]
        start = (W / root).ravel()
        variances.append(S)
        if all(z @ start >= target for z, target in wishes):
            return W
        price = WEIGHTS[i] / (2 * r)
        found = smallest_change(start, wishes, price=price, power=2).reshape(W.shape) * root
        f = np.zeros_like(W)
        f[[c, *rivals]] = x  # the sum over the labels that take part
        kappa = WEIGHTS[i] / (confidence_r or r)
        v = (S * f**2).sum()
        if covariance == "diagonal":
            variances[-1] = 1 / (1 / S + kappa * f**2)
        else:
            variances[-1] = S - S**2 * f**2 / (1 / kappa + v)
        return found

    assert steps(model, X, y, warm, expected) >= 3


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("k", [1, 2, 3, None])
def test_mira_steps_are_argmins(k, margin):
    """min 1/2 sum |w_r + tau_r x|^2, tau_r <= [r is the true class], sum(tau) = 0.

    A margin takes margin * tau of the true class off.
    """
    X, y, warm = stream(13)
    how = {"multiclass": "all"} if k is None else {"multiclass": "topk", "k": k}
    model = MIRAClassifier(margin, **how, **EXACT)

    def expected(model, x, c, rivals, asked, i):
        W = weights(model)
        scores, n = W @ x, len(W)
        took_part = [c, *rivals]
        bounds = [(0, 0)] * n
        for label in took_part:
            bounds[label] = (None, WEIGHTS[i] if label == c else 0)
        tau = minimize(
            lambda tau: 0.5 * ((W + np.outer(tau, x)) ** 2).sum() - margin * tau[c],
            np.zeros(n),
            jac=lambda tau: scores + tau * (x @ x) - margin * (np.arange(n) == c),
            method="SLSQP",
            bounds=bounds,
            constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
            options={"ftol": 1e-16, "maxiter": 500},
        ).x
        return W + np.outer(tau, x)

    several = steps(model, X, y, warm, expected)
    assert several >= 2 or k == 1


def test_mira_with_a_margin_of_one_is_passive_aggressive():
    X, y = class_stream(20, rows=150)
    one = MIRAClassifier(margin=1.0, **EXACT).partial_fit(X, y)
    assert_same(one, PassiveAggressiveClassifier(1.0, multiclass="all", **EXACT).partial_fit(X, y))


def test_mira_leaves_all_but_the_error_set_alone():
    X, y, warm = stream(14)
    model = MIRAClassifier(**EXACT).partial_fit(X[:warm], y[:warm])
    rows, labels = with_constant(X), model.classes_.tolist()
    for i in range(warm, len(y)):
        W, c = weights(model), labels.index(y[i])
        scores = W @ rows[i]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        moved = np.flatnonzero(np.abs(weights(model) - W).max(axis=1) > 0)
        assert set(moved) <= {c, *np.flatnonzero(scores >= scores[c])}


def test_mira_with_two_classes_in_one_column():
    """tau = -z.w/|x|^2 within [0, 1]; a tie is met by 1."""
    X, y = class_stream(15, classes=2)
    model = MIRAClassifier(multiclass="ovr", classes=[0, 10], **EXACT).partial_fit(X, y)
    w = np.zeros(6)
    for x, label in zip(with_constant(X), y, strict=True):
        z = x if label == y[y != y[0]][0] else -x
        w = w + (1 if z @ w == 0 else np.clip(-z @ w / (z @ z), 0, 1)) * z
    sign = 1 if y[y != y[0]][0] == 10 else -1
    np.testing.assert_allclose(weights(model)[0], sign * w, atol=1e-12)


def test_mira_meets_a_tie_by_shares():
    model = MIRAClassifier(fit_intercept=False)
    for place, name in enumerate("abc"):
        model.learn_one({place: 1.0}, name)
    # "b" was level with "a" alone, "c" with both
    np.testing.assert_allclose(model.coef_[:, 1], [-1, 1, 0])
    np.testing.assert_allclose(model.coef_[:, 2], [-0.5, -0.5, 1])
    assert model.coef_[:, 0].tolist() == [0, 0, 0]  # a class alone has no rival


def hildreth(losses, c, d, rounds=20000):
    """Coordinate ascent on the dual: one constraint after the other, until nothing moves."""
    a = np.zeros_like(losses)
    for _ in range(rounds):
        before = a.copy()
        for r in range(len(a)):
            a[r] = max(0, (losses[r] - c * (a.sum() - a[r])) / (c + d[r]))
        if np.abs(a - before).max() < 1e-14:
            break
    return a


@pytest.mark.parametrize("seed", range(20))
def test_one_sort_finds_what_hildreth_iterates_to(seed):
    """AROW's (28) with all constraints, from random means and variances."""
    random = np.random.default_rng(seed)
    K, r = int(random.integers(2, 9)), random.uniform(0.01, 3)
    model = AROWClassifier(r, multiclass="all", fit_intercept=False, **EXACT)
    model.partial_fit(np.zeros((K, 1)), np.arange(K))
    state = model.__getstate__()
    blocks = state["_core_state"]["tensors"]["blocks"].copy()
    mean, variance = random.normal(size=K), 10 ** random.uniform(-3, 0, K)
    blocks[1, 0], blocks[1, 1] = mean, variance
    state["_core_state"]["tensors"]["blocks"] = blocks
    model.__setstate__(state)
    x, c = random.uniform(0.5, 2), int(random.integers(K))
    model.learn_one({0: x}, c)
    others = [k for k in range(K) if k != c]
    losses = 1 - x * (mean[c] - mean[others])
    a = hildreth(losses, variance[c] * x * x + r, variance[others] * x * x)
    expected = mean.copy()
    expected[others] -= a * variance[others] * x
    expected[c] += a.sum() * variance[c] * x
    np.testing.assert_allclose(planes(model)[1, 0], expected, atol=1e-9)


@pytest.mark.parametrize("cls", [PassiveAggressiveClassifier, AROWClassifier])
def test_one_rival_of_many_is_top1(cls):
    X, y = class_stream(16, rows=200)
    one = cls(multiclass="top1", **EXACT).partial_fit(X, y)
    for how in ({"multiclass": "topk", "k": 1}, {"multiclass": "max_loss"}):
        other = cls(**how, **EXACT).partial_fit(X, y)
        np.testing.assert_allclose(weights(one), weights(other), rtol=0, atol=1e-12)


@pytest.mark.parametrize("cls", [PassiveAggressiveClassifier, AROWClassifier, MIRAClassifier])
def test_more_rivals_than_there_are_is_all(cls):
    X, y = class_stream(17, rows=200)
    all_of_them = cls(multiclass="all", **EXACT).partial_fit(X, y)
    assert_same(all_of_them, cls(multiclass="topk", k=3, **EXACT).partial_fit(X, y))
    assert_same(all_of_them, cls(multiclass="topk", k=99, **EXACT).partial_fit(X, y))


@pytest.mark.parametrize("cls", [PassiveAggressiveClassifier, AROWClassifier, MIRAClassifier])
def test_rows_that_cannot_be_repaired(cls):
    """One class alone has no rival, and a row of zeros no features to move."""
    model = cls(multiclass="all", fit_intercept=False)
    model.partial_fit(np.eye(3)[:1], ["a"])
    assert model.n_updates_ == 0
    model.partial_fit(np.eye(3), ["a", "b", "c"])
    before = model.coef_
    model.partial_fit(np.zeros((2, 3)), ["a", "d"])
    np.testing.assert_array_equal(model.coef_[:3], before)
    assert not model.coef_[3].any()


def test_a_class_that_comes_once_loses_to_nobody_in_particular():
    X, y = class_stream(18, rows=100)
    y[50] = 99
    model = PassiveAggressiveClassifier(multiclass="all", **EXACT).partial_fit(X, y)
    assert model.classes_.tolist()[-1] == 99
    assert np.isfinite(weights(model)).all()


@pytest.mark.parametrize("multiclass", ["top1", "max_loss", "topk", "all"])
@pytest.mark.parametrize("cls", [PassiveAggressiveClassifier, AROWClassifier])
def test_costs_come_as_pairs_or_nested_and_survive_files(tmp_path, cls, multiclass):
    X, y = class_stream(19, rows=150)
    names = np.array(["a", "b", "c", "d"])[y // 10]
    pairs = {("a", "b"): 0.5, ("b", "a"): 2.0, ("d", "a"): 3.0}
    nested = {"a": {"b": 0.5}, "b": {"a": 2.0}, "d": {"a": 3.0}}
    half = len(y) // 2
    one = cls(multiclass=multiclass, cost=pairs).partial_fit(X, names)
    other = cls(multiclass=multiclass, cost=nested).partial_fit(X[:half], names[:half])
    other.save(tmp_path / "model.yarrow")
    assert_same(one, load(tmp_path / "model.yarrow").partial_fit(X[half:], names[half:]))
    plain = cls(multiclass=multiclass).partial_fit(X, names)
    assert np.abs(plain.coef_ - one.coef_).max() > 1e-3


def test_max_loss_and_top1_differ_where_costs_do():
    cost = {("a", "b"): 0.1, ("a", "c"): 5.0}
    seen = {}
    for multiclass in ("top1", "max_loss"):
        model = PassiveAggressiveClassifier(multiclass=multiclass, cost=cost, fit_intercept=False)
        model.learn_one({0: 1.0}, "b")
        model.learn_one({1: 1.0}, "c")
        model.learn_one({2: 1.0}, "a")
        seen[multiclass] = model.coef_[:, 2].tolist()
    assert seen["top1"][1] < 0 == seen["top1"][2]  # "b" was seen first, all scores were 0
    assert seen["max_loss"][2] < 0 == seen["max_loss"][1]


@pytest.mark.parametrize("bad", [{"a": 1}, {("a", "b"): -1.0}, {("a",): 1.0}, 3, "ab", {1: "x"}])
def test_bad_costs_are_refused(bad):
    model = PassiveAggressiveClassifier(multiclass="all", cost=bad)
    with pytest.raises(ParameterError, match="'cost' parameter must be None, a dict"):
        model.learn_one({"x": 1.0}, "a")
