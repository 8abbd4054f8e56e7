"""Regret bounds on random streams: they hold for any comparator and beat weights of zero."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import textbook
from evaluate.test_mistake_bounds import broken

from yarrow import FrequencyRDAClassifier
from yarrow.errors import ParameterError
from yarrow.evaluate import bounds
from yarrow.evaluate.recorded_run import record

SEEDS = range(3)
P = [(1.0, 5.0), (2.0, 5.0), (3.0, None), (np.inf, None)]


def stream(seed, rows=800):
    return textbook.noisy(seed, rows=rows, gamma=0.3, noise=0.05)


def assert_useful(found, share):
    """All hold, and promise at most a share of what weights of zero would have as regret."""
    for bound in found:
        assert bound.applies, [str(a) for a in bound.assumptions if not a.holds]
        assert bound.holds, (bound.measured, bound.value)
        assert not bound.is_vacuous
        assert bound.value <= share * bound.trivial, bound.value / bound.trivial


def assert_for_any_comparator(theorem, run, seed, **settings):
    """Random vectors, long and short, and the last weights themselves."""
    random = np.random.default_rng(seed)
    tried = [random.normal(size=run.n_weights) * 10**e for e in (-2, -1, 0, 0.5, 1)]
    for u in (*tried, np.zeros(run.n_weights), run.weights[-1]):
        bound = theorem(run, u=u, **settings)
        assert bound.applies
        assert bound.holds, (bound.measured, bound.value)


@pytest.mark.parametrize(
    ("loss", "eta0", "power", "share"),
    [
        ("hinge", 1.5, 0.5, 0.25),  # a fifth of what is trivial, 15 times the regret
        ("hinge", 0.1, 0.0, 0.15),  # 4 times the regret
        ("logistic", 3.0, 0.5, 0.75),
        ("logistic", 0.2, 0.0, 0.5),
        ("squared", 0.7, 0.5, 0.65),
        ("squared", 0.05, 0.0, 0.6),
    ],
)
def test_gradient_descent(loss, eta0, power, share):
    runs = [textbook.ogd(*stream(s), loss, eta0, power) for s in SEEDS]
    assert_useful([bounds.gradient_descent(run) for run in runs], share)
    for seed, run in enumerate(runs):
        assert_for_any_comparator(bounds.gradient_descent, run, seed)


def test_regret_of_gradient_descent_grows_as_the_root():
    """Four times the rows: at most twice the bound, up to the distances seen."""
    found = [bounds.gradient_descent(textbook.ogd(*stream(1, rows), "hinge", 1.0))
             for rows in (400, 1600, 6400)]  # fmt: skip
    shares = [b.value / np.sqrt(rows) for b, rows in zip(found, (400, 1600, 6400), strict=True)]
    assert max(shares) < 1.5 * min(shares)
    assert found[-1].value < 0.15 * found[-1].trivial
    for bound, rows in zip(found, (400, 1600, 6400), strict=True):
        D, G = bound.parts["D"], bound.parts["G"]
        assert bound.value <= (D**2 / 2 + G**2) * np.sqrt(rows)


def test_gradient_descent_in_a_ball():
    run = textbook.ogd(*stream(2), "hinge", 1.0, radius=1.0)
    bound = bounds.gradient_descent(run, radius=1.0)
    assert bound.applies
    assert bound.holds
    assert not bound.is_vacuous
    assert bound.parts["D"] <= 2  # the ball's diameter
    assert "in the ball" in broken(bounds.gradient_descent(run, radius=1.0, u=np.ones(5)))
    assert "steps along the gradient" in broken(bounds.gradient_descent(run))


@pytest.mark.parametrize(("loss", "eta0", "share"), [("hinge", 1.5, 0.25), ("logistic", 2.0, 0.75)])
def test_soft_pull(loss, eta0, share):
    # 13 and 17 times the regret
    runs = [textbook.ogd(*stream(s), loss, eta0, l1=0.01) for s in SEEDS]
    assert_useful([bounds.soft_pull(run) for run in runs], share)
    for seed, run in enumerate(runs):
        assert_for_any_comparator(bounds.soft_pull, run, seed)


@pytest.mark.parametrize(("loss", "times"), [("hinge", 1.5), ("logistic", 1.5), ("squared", 1.2)])
@pytest.mark.parametrize(("theta", "every"), [(np.inf, 1), (1.0, 1), (np.inf, 5), (0.8, 5)])
def test_truncated_gradient(loss, times, theta, every):
    # 1.3, 1.3 and 1.1 times the penalised loss
    settings = {"theta": theta, "every": every}
    runs = [textbook.truncated(*stream(s, 1200), loss, 0.05, 0.01, theta, every) for s in SEEDS]
    found = [bounds.truncated_gradient(run, **settings) for run in runs]
    assert_useful(found, share=0.75)
    assert max(b.value / b.measured for b in found) < times
    for seed, run in enumerate(runs):
        assert_for_any_comparator(bounds.truncated_gradient, run, seed, **settings)


def test_what_the_truncated_gradient_refuses():
    X, y = stream(1)
    fast = textbook.truncated(X, y, "squared", 1.2, 0.01)
    assert "eta is below 2/A" in broken(bounds.truncated_gradient(fast))
    run = textbook.truncated(X, y, "hinge", 0.05, 0.01)
    assert "truncated gradient steps" in broken(bounds.truncated_gradient(run, theta=0.1))
    shrinking = textbook.ogd(X, y, "hinge", 0.05, 0.5)
    assert "rate is constant" in broken(bounds.truncated_gradient(shrinking, gravity=0.0))
    with pytest.raises(ParameterError, match="no A and B"):
        bounds.truncated_gradient(run, loss="exponential")


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(("rho", "l2"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.05)])
def test_dual_averaging(loss, rho, l2):
    # 6 times the regret, and between a sixth and four fifths of what is trivial
    runs = [textbook.rda(*stream(s), loss, 0.01, 0.7, rho, l2) for s in SEEDS]
    assert_useful([bounds.dual_averaging(run) for run in runs], share=1)
    for seed, run in enumerate(runs):
        assert_for_any_comparator(bounds.dual_averaging, run, seed)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_dual_averaging_with_a_strongly_convex_penalty(loss):
    """The regret bound grows with the logarithm of the rows only."""
    runs = [textbook.rda(*stream(1, rows), loss, 0.01, 0.0, l2=0.1) for rows in (400, 1600)]
    found = [bounds.dual_averaging(run) for run in runs]
    assert_useful(found, share=0.7)
    more = found[1].value - found[0].value
    largest = max(b.parts["G"] for b in found) ** 2
    assert more <= np.log(4) * largest / 0.2 + 1e-9
    for seed, run in enumerate(runs):
        assert_for_any_comparator(bounds.dual_averaging, run, seed)


def test_what_dual_averaging_refuses():
    run = textbook.rda(*stream(1), "hinge", 0.01, 1.0)
    assert "weights are those of dual averaging" in broken(bounds.dual_averaging(run, l1=0.1))
    flat = textbook.rda(*stream(1), "hinge", 0.01, 0.0, l2=0.1)
    assert "strongly convex" in broken(bounds.dual_averaging(flat, l2=0.0))


@pytest.mark.parametrize(("p", "cap"), P)
def test_sgft_lemma_1(p, cap):
    # 1 (p = 1, at its cap), 11 (p = 2, far from it), 2.6 (p = 3) and 2 times (p = infinity)
    times = {1.0: 2, 2.0: 14, 3.0: 3.5, np.inf: 2.5}[p]
    for seed in SEEDS:
        bound = bounds.sgft_penalty(textbook.sgft(*stream(seed, 400), "hinge", 0.5, 0.01, p, cap))
        assert bound.applies
        assert bound.measured <= bound.value * (1 + 1e-9)
        assert bound.value < times * bound.measured


def test_bounds_that_are_reached():
    """One row whose label changes every time: constant rates reach their bound, others half."""
    X, y = np.ones((400, 1)), np.resize([1, -1], 400)
    zero = np.zeros(1)
    bound = bounds.gradient_descent(textbook.ogd(X, y, "hinge", 0.1, 0.0), u=zero)
    assert bound.value == pytest.approx(bound.measured) == pytest.approx(0.1 * 400 / 2)
    bound = bounds.truncated_gradient(textbook.truncated(X, y, "hinge", 0.1, 0.0), u=zero)
    assert bound.value == pytest.approx(bound.measured) == pytest.approx(400 + 0.1 * 400 / 2)
    found = [
        bounds.gradient_descent(textbook.ogd(X, y, "hinge", 0.1), u=zero),
        bounds.soft_pull(textbook.ogd(X, y, "hinge", 0.1), u=zero),
        bounds.dual_averaging(textbook.rda(X, y, "hinge", 0.0, 1.0), u=zero),
    ]
    for bound in found:
        assert bound.applies
        assert bound.measured <= bound.value < 1.6 * bound.measured


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(("p", "cap"), P)
def test_sgft_theorem_1(loss, p, cap):
    # The hinge loss: 30 times the regret, 40 % of what is trivial. The logistic: the sharper form.
    c, rows = (0.5, 1000) if loss == "hinge" else (1.0, 500)
    runs = [textbook.sgft(*stream(s, rows), loss, c, 0.01, p, cap) for s in SEEDS[:2]]
    for seed, run in enumerate(runs):
        bound = bounds.sgft(run)
        assert bound.applies
        assert bound.measured <= bound.parts["sharper"] <= bound.value
        if loss == "hinge":
            assert bound.value < 0.7 * bound.trivial
            assert bound.parts["sharper"] < 0.35 * bound.trivial
        assert_for_any_comparator(bounds.sgft, run, seed)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(("p", "cap"), P)
def test_frequency_dual_averaging(loss, p, cap):
    runs = [textbook.frequency_rda(*stream(s), loss, 0.003, 0.7, p, cap) for s in SEEDS]
    found = [bounds.frequency_dual_averaging(run) for run in runs]
    assert_useful(found, share=0.75 if loss == "hinge" else 0.95)
    for seed, run in enumerate(runs):
        assert_for_any_comparator(bounds.frequency_dual_averaging, run, seed)


def test_frequency_dual_averaging_is_that_of_the_learner():
    X, y = stream(0, 300)
    model = FrequencyRDAClassifier(l1=0.003, gamma=0.7, fit_intercept=False)
    run = record(model, X, y)
    bound = bounds.frequency_dual_averaging(run)
    assert bound.applies
    assert bound.holds
    assert "frequency-aware" in broken(bounds.frequency_dual_averaging(run, l1=0.1))


def visiting(features=12, height=0.8, until=3.0, l1=0.1):
    """Features that come one after the other: each rises, stays up for long, and goes down."""
    rows, labels = [], []
    weight, frequency, t = 0.0, 0.0, 0

    def step(j, sign):
        nonlocal weight, frequency, t
        t += 1
        slope = textbook.slope("hinge", sign * weight) / np.sqrt(t)
        frequency += slope
        weight = textbook.soft(weight + slope * sign, l1 * frequency / np.sqrt(t))
        rows.append(np.eye(features)[j])
        labels.append(sign)

    for j in range(features):
        weight = frequency = 0.0
        while frequency < until:
            step(j, 1 if weight < height else -1)
        while weight > 0.05:
            step(j, -1)
    return textbook.sgft(np.array(rows), np.array(labels), "hinge", 1.0, l1, 1.0, cap=100.0)


def test_sgft_needs_the_largest_size_of_each_weight():
    """(29) takes one vector out of the sum over rows; here the sum is larger than 2*U*D."""
    run = visiting()
    slopes = (run.margins < 1) / np.sqrt(np.arange(1, run.n_rows + 1))
    frequencies = np.cumsum(np.abs(run.rows) * slopes[:, None], axis=0)
    sizes = np.abs(run.weights)
    grown = 0.1 * np.sum(np.diff(frequencies, axis=0, prepend=0) * sizes[:-1])
    left = grown - 0.1 * frequencies[-1] @ sizes[-1]
    bound = bounds.sgft(run, u=np.zeros(12))
    assert bound.applies
    assert left > 2 * bound.parts["U"] * bound.parts["D"]
    assert left <= bound.parts["U"] * bound.parts["|W|"]


def test_what_sgft_refuses():
    X, y = stream(1, 200)
    run = textbook.sgft(X, y, "hinge", 0.5, 0.01, 1.0)
    assert "capped" in broken(bounds.sgft(run))
    assert "capped" in broken(bounds.sgft_penalty(run))
    assert "those of SGFT" in broken(bounds.sgft(run, p=3.0))
