"""Budgets of features: OFS, its partial inputs, and SOFS, against their textbook forms."""

import io
import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from contract.support import as_dicts, assert_same, learned, refuse
from linear_model.oracles import EXACT, binary_stream, class_stream, slope, weights, with_constant
from scipy.optimize import minimize

from yarrow import OFSClassifier, SOFSClassifier
from yarrow.errors import ParameterError
from yarrow.io.formats import StreamFormat
from yarrow.online.core_stream import learn_stream

BINARY = {"classes": [-1, 1], **EXACT}
VARIANTS = [
    OFSClassifier(B=3),
    OFSClassifier(B=3, multiclass="top1"),
    OFSClassifier(B=3, inputs="partial", epsilon=0.5),
    SOFSClassifier(B=3),
    SOFSClassifier(B=3, multiclass="top1"),
]
each_variant = pytest.mark.parametrize("model", VARIANTS, ids=repr)


def cut(w, B, merit=np.abs):
    """The B best of all weights, the intercept (the first) apart."""
    kept = np.zeros_like(w)
    best = 1 + np.argsort(-merit(w[1:]), kind="stable")[:B]
    kept[0], kept[best] = w[0], w[best]
    return kept


def in_ball(w, radius):
    norm = np.linalg.norm(w)
    return w if norm <= radius else w * (radius / norm)


def current(model):
    """The weights of the second class, though only one may have been seen."""
    w = weights(model)[0]
    return w if len(model._fitted.classes) > 1 else -w


@pytest.mark.parametrize("B", [1, 2, 3])
def test_an_ofs_step_is_a_gradient_step_projected_and_cut(B):
    """The projection by a solver, the cut by trying all subsets."""
    X, y = binary_stream(51, rows=40, features=5)
    model = OFSClassifier(B, eta=0.5, lam=0.8, **EXACT).partial_fit(X[:2], y[:2])
    projected = 0
    for x, label in zip(X[2:], y[2:], strict=True):
        w, z, radius = weights(model)[0], label * np.append(1.0, x), 1 / math.sqrt(0.8)
        step = w - 0.5 * slope(lambda u, z=z: 0.4 * u @ u + max(0.0, 1 - z @ u), w)
        if np.linalg.norm(step) > radius:
            projected += 1
            step = minimize(
                lambda u, s=step: (u - s) @ (u - s),
                step * 0.5,
                jac=lambda u, s=step: 2 * (u - s),
                method="SLSQP",
                constraints={"type": "ineq", "fun": lambda u, r=radius: r * r - u @ u},
                options={"ftol": 1e-16, "maxiter": 300},
            ).x
        if z @ w > 1:
            expected = 0.6 * w  # no loss: only the L2 term moves the weights
        else:
            subsets = itertools.combinations(range(1, 6), B)
            masks = [np.isin(np.arange(6), [0, *s]) for s in subsets]
            expected = min((m * step for m in masks), key=lambda u, s=step: np.sum((u - s) ** 2))
        model.partial_fit([x], [label])
        np.testing.assert_allclose(weights(model)[0], expected, rtol=0, atol=1e-6)
    assert projected > 5


@pytest.mark.parametrize(("B", "eta", "lam"), [(1, 0.2, 0.01), (5, 0.5, 0.3), (12, 0.9, 1.1)])
def test_ofs_is_its_textbook_form_on_sparse_rows(B, eta, lam):
    X, y = binary_stream(52, rows=600, features=40, density=0.2)
    sample_weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y))
    model = OFSClassifier(B, eta, lam, **BINARY)
    w, Z = np.zeros(41), y[:, None] * with_constant(X)
    for i, z in enumerate(Z):
        loss = z @ w <= 1
        w = (1 - lam * eta) * w + loss * eta * sample_weight[i] * z
        if loss:
            w = cut(in_ball(w, 1 / math.sqrt(lam)), B)
        model.partial_fit(sp.csr_array(X[i : i + 1]), y[i : i + 1], None, sample_weight[i : i + 1])
        np.testing.assert_allclose(current(model), w, rtol=0, atol=1e-12)
    assert model.n_nonzero_ == B


@pytest.mark.parametrize("B", [1, 5, 12])
def test_sofs_is_its_textbook_form_on_sparse_rows(B):
    X, y = binary_stream(53, rows=600, features=40, density=0.2)
    sample_weight = np.random.default_rng(2).choice([0.5, 1.0, 3.0], len(y))
    model = SOFSClassifier(B, r=0.7, **BINARY)
    mean, variance = np.zeros(41), np.ones(41)
    for i, z in enumerate(y[:, None] * with_constant(X)):
        r, loss = 0.7 / sample_weight[i], 1 - z @ mean
        if loss > 0:
            mean = mean + loss / (z**2 @ variance + r) * variance * z
            variance = 1 / (1 / variance + z**2 / r)
            mean = cut(mean, B, merit=lambda _, v=variance: -v[1:])
        model.partial_fit(sp.csr_array(X[i : i + 1]), y[i : i + 1], None, sample_weight[i : i + 1])
        np.testing.assert_allclose(current(model), mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.variance_[0], variance[1:], rtol=1e-12)
    assert model.n_nonzero_ == B


def most_nonzeros(model):
    """Over the columns that the core keeps, "none of the seen" among them."""
    return max(np.count_nonzero(model._model.plane(0)[0][1:], axis=0))


def by_text(model, X, y):
    rows = (" ".join(f"{j}:{v!r}" for j, v in x.items()) for x in as_dicts(X))
    text = "".join(f"{label} {row}\n" for label, row in zip(y, rows, strict=True))
    stream_format = StreamFormat("svmlight", index_base=0)
    for _ in learn_stream(model, io.BytesIO(text.encode()), stream_format):
        pass


ROUTES = {
    "dicts": lambda m, X, y: [m.learn_one(x, label) for x, label in zip(as_dicts(X), y)],  # noqa: B905
    "dense": lambda m, X, y: m.partial_fit(X, y),
    "sparse": lambda m, X, y: m.partial_fit(sp.csr_array(X), y),
    "text": by_text,
}


@pytest.mark.parametrize("route", ROUTES)
@each_variant
def test_never_more_than_the_budget_after_any_row(model, route):
    X, y = class_stream(54, rows=150, features=20, classes=4, density=0.4)
    model, full = model.clone(), 0
    for i in range(len(y)):
        ROUTES[route](model, X[i : i + 1], y[i : i + 1])
        assert most_nonzeros(model) <= 3
        full += most_nonzeros(model) == 3
    assert full > 100


@each_variant
def test_ties_do_not_depend_on_how_features_are_numbered(model):
    """Ones and zeros tie all the time; a dense array numbers features otherwise than dicts do."""
    random = np.random.default_rng(55)
    X = (random.random((200, 30)) < 0.2).astype(float)
    y = np.where(X @ random.normal(size=30) > 0, "a", "b")
    models = [model.clone() for _ in ROUTES]
    for each, learn in zip(models, ROUTES.values(), strict=True):
        learn(each, X, y)
    for other in models[1:]:
        assert_same(learned(other), learned(models[0]))


def test_of_equal_weights_those_stay_that_entered_first():
    model = OFSClassifier(B=2, lam=1e-12)
    model.learn_one({"d": 1, "c": 1, "b": 1, "a": 1}, "b")
    assert sorted(model.selected_features_) == ["c", "d"]
    model.learn_one({"e": 1, "c": 1, "f": 1}, "b")  # e is as large as d, but later
    assert sorted(model.selected_features_) == ["c", "d"]


# -- partial inputs ----------------------------------------------------------------------------


def uniform(seed, t, place):
    """The core's random numbers, written down once more."""
    mask, h = 2**64 - 1, seed
    for part in (t, place):
        h = (h + part + 0x9E3779B97F4A7C15) & mask
        h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & mask
        h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & mask
        h ^= h >> 31
    return (h >> 11) / 2**53


def seen_places(seed, t, n, B, epsilon):
    """The places looked at if this row is one to explore, else None."""
    if uniform(seed, t, 0) >= epsilon:
        return None
    chosen = []
    for place in range(n):
        if uniform(seed, t, place + 1) * (n - place) < B - len(chosen):
            chosen.append(place)
    return chosen


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_partial_inputs_are_their_textbook_form(epsilon):
    X, y = binary_stream(56, rows=500, features=20, density=0.5)
    model = OFSClassifier(4, 0.2, 0.05, 0.0, "partial", epsilon, random_state=7, **BINARY)
    w, looks = np.zeros(21), 0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        stated, selected = np.flatnonzero(x), w[1:] != 0
        places = seen_places(7, t, len(stated), 4, epsilon)
        seen = np.zeros(20, bool)
        seen[np.flatnonzero(selected) if places is None else stated[places]] = True
        assert np.count_nonzero(seen) <= 4
        looks += places is not None
        view = np.append(1.0, np.where(seen, x, 0.0))
        if label * view @ w <= 0:
            chance = epsilon * min(1.0, 4 / max(1, len(stated))) + (1 - epsilon) * selected
            guess = np.append(1.0, np.divide(view[1:], chance, out=np.zeros(20), where=seen))
            w = cut(in_ball(w + 0.2 * label * guess, 1 / math.sqrt(0.05)), 4)
        model.partial_fit([x], [label])
        np.testing.assert_allclose(current(model), w, rtol=0, atol=1e-12)
    assert abs(looks - 500 * epsilon) < 50


def test_partial_steps_are_right_in_the_mean():
    """Over many seeds the first step is that of the whole row, as far as chance allows."""
    x = np.array([0.5, -1.0, 2.0, 0.25, 1.0])
    model = OFSClassifier(2, eta=1.0, lam=1e-6, inputs="partial", epsilon=0.4, **EXACT)
    steps = np.array(
        [current(model.clone({"random_state": seed}).partial_fit([x], [0])) for seed in range(6000)]
    )[:, 1:]  # of the class that the row does not have
    assert (np.count_nonzero(steps, axis=1) <= 2).all()
    error = steps.std(axis=0) / math.sqrt(len(steps))
    assert (np.abs(steps.mean(axis=0) + x) < 4.5 * error).all()
    together = np.mean((steps[:, 0] != 0) & (steps[:, 3] != 0))  # two of five places, any two alike
    assert abs(together - 0.4 * 0.1) < 0.012


# -- what else must hold -----------------------------------------------------------------------


@each_variant
def test_a_call_that_fails_gives_cut_features_back(model):
    """Features are cut that the failing call's rows do not have."""
    X, y = binary_stream(57, rows=200, features=300, density=0.1)
    model = model.clone().partial_fit(X, y)
    before = set(model.selected_features_)
    rows = np.zeros((60, 300))
    outsiders = [j for j in range(300) if j not in before][:4]
    rows[:, outsiders] = 30.0
    labels = np.where(np.arange(60) % 2, 1, -1)
    twin = model.clone(include_attributes=True).partial_fit(sp.csr_array(rows), labels)
    assert set(twin.selected_features_) != before
    bad_weight = np.ones(60)
    bad_weight[-1] = 1e300
    if isinstance(model, OFSClassifier):
        rows[-1, 0] = 3e38
        refuse(
            lambda: model.partial_fit(sp.csr_array(rows), labels, sample_weight=bad_weight),
            "Row 59: this row's update",
            model,
        )
    else:
        rows[-1, 0] = np.nan
        refuse(lambda: model.partial_fit(sp.csr_array(rows), labels), "row 59|Row 59", model)


@each_variant
def test_entry_numbers_that_run_out_are_counted_anew(model):
    X, y = binary_stream(58, rows=200, features=30, density=0.3)
    model = model.clone().partial_fit(X[:100], y[:100])
    state = model.clone(include_attributes=True).__getstate__()
    blocks = state["_core_state"]["tensors"]["blocks"].copy()
    entries = blocks[:, -1]
    entries[entries > 0] += 2**24 - 10 - entries.max()
    state["_core_state"]["tensors"]["blocks"] = blocks
    late = model.clone()
    late.__setstate__(state)
    for part in (slice(100, 150), slice(150, 200)):
        model.partial_fit(X[part], y[part])
        late = late.clone(include_attributes=True).partial_fit(X[part], y[part])
    np.testing.assert_array_equal(late.coef_, model.coef_)
    for column in late._model.get_state()["blocks"][:, -1].T:
        numbers = column[column > 0]
        assert len(set(numbers.tolist())) == len(numbers)
        assert numbers.max() < 2**24 - 20  # they were counted anew


@each_variant
def test_forgetting_features_keeps_the_budget(model):
    X, y = class_stream(59, rows=200, features=30, classes=3, density=0.3)
    model = model.clone({"max_features": 8, "when_full": "prune"})
    for x, label in zip(as_dicts(X), y, strict=True):
        model.learn_one(x, label)
        assert most_nonzeros(model) <= 3
    assert model.n_nonzero_ > 0


def test_the_norm_never_exceeds_the_radius():
    X, y = binary_stream(60, rows=300, features=10)
    model = OFSClassifier(4, eta=0.9, lam=1.0)
    for i in range(len(y)):
        model.partial_fit(1e6 * X[i : i + 1], y[i : i + 1])
        assert np.linalg.norm(weights(model)) <= 1 + 1e-6


def test_a_step_that_would_turn_the_weights_around_is_refused():
    with pytest.raises(ParameterError, match="eta \\* lam must be below 1"):
        OFSClassifier(eta=2.0, lam=0.5).learn_one({"a": 1}, 0)


@each_variant
def test_rows_of_zeros_and_classes_that_come_once(model):
    model = model.clone({"fit_intercept": False})
    for label in ("a", "b", "c", "a"):
        model.learn_one({}, label)
    assert model.n_nonzero_ == 0
    model.learn_one({"x": 1.0}, "d")
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert most_nonzeros(model) <= 3
