"""Weights, votes and bounds of learning from experts, against textbook forms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from yarrow import (
    AROWClassifier,
    AROWRegressor,
    OGDRegressor,
    PassiveAggressiveClassifier,
    Perceptron,
)
from yarrow.errors import ParameterError
from yarrow.evaluate import bounds, certificate, progressive, record
from yarrow.experts import (
    FixedShareClassifier,
    FixedShareRegressor,
    HedgeClassifier,
    HedgeRegressor,
    MixtureClassifier,
    OnlineToBatchClassifier,
    OnlineToBatchRegressor,
    WeightedMajorityClassifier,
)
from yarrow.experts.base import ExpertRun

EXPERTS = [AROWClassifier(r) for r in (1e-3, 0.1, 1.0)] + [
    Perceptron(),
    PassiveAggressiveClassifier(),
]


def noisy(rows=2000, features=5, classes=2, noise=0.2, seed=0):
    """Return rows of a linear rule, some of whose labels are drawn anew."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    y = np.argmax(X @ random.normal(size=(features, classes)), axis=1)
    return X, np.where(random.random(rows) < noise, random.integers(classes, size=rows), y)


def values(rows=2000, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 5))
    return X, np.clip(X @ random.normal(size=5) + 0.2 * random.normal(size=rows), -3, 3)


def said_by(experts, X, y):
    return np.stack([e.clone().progressive(X, y).predictions for e in experts], axis=1)


# -- the methods ---------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "model",
    [
        WeightedMajorityClassifier(EXPERTS, beta=0.7),
        HedgeClassifier(EXPERTS),
        HedgeClassifier(EXPERTS, eta=0.05),
        FixedShareClassifier(EXPERTS, eta=0.3, share=0.05),
        HedgeClassifier(EXPERTS, combine="leader"),
    ],
    ids=["majority", "hedge, falling", "hedge", "share", "leader"],
)
def test_votes_are_those_of_the_textbook(model, classes):
    X, y = noisy(300, classes=classes)
    said = said_by(EXPERTS, X, y)
    weights, sums, votes = np.ones(5) / 5, np.zeros(5), []
    order = list(dict.fromkeys(y.tolist()))  # ties go to the class seen first
    for t in range(len(X)):
        if isinstance(model, HedgeClassifier) and model.eta is None:
            weights = np.exp(-np.sqrt(8 * np.log(5) / (t + 1)) * (sums - sums.min()))
        counts = {c: weights[said[t] == c].sum() for c in order if (said[t] == c).any()}
        if model.combine == "leader":
            votes.append(said[t][np.argmax(weights / weights.sum())])
        else:
            votes.append(max(counts, key=counts.get) if counts else None)
        wrong = said[t] != y[t]
        sums += wrong
        if isinstance(model, WeightedMajorityClassifier):
            weights = weights * np.where(wrong, 0.7, 1.0)
        elif isinstance(model, FixedShareClassifier):
            kept = weights * np.exp(-0.3 * wrong)
            weights = 0.95 * kept + 0.05 * kept.sum() / 5
            weights /= weights.sum()
        elif model.eta is not None:
            weights = weights * np.exp(-model.eta * wrong)
    model = model.clone()
    assert model.progressive(X, y).predictions.tolist() == votes
    assert model.losses_.tolist() == sums.tolist()


def test_the_weighted_mean_of_regressors_is_the_textbooks():
    X, y = values(300)
    experts = [AROWRegressor(1.0), OGDRegressor(0.01)]
    said = np.clip(said_by(experts, X, y), -3, 3)
    model = HedgeRegressor(experts, low=-3, high=3)
    weights, expected = np.ones(2) / 2, []
    for t in range(len(X)):
        expected.append(weights @ said[t])
        weights = weights * np.exp(-0.5 * ((said[t] - y[t]) / 6) ** 2)
        weights /= weights.sum()
    np.testing.assert_allclose(model.progressive(X, y).predictions, expected, rtol=1e-9)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-9)


def test_a_range_that_is_not_told_is_taken_from_the_targets():
    X, y = values(200)
    model = HedgeRegressor([AROWRegressor(1.0)]).partial_fit(X, y)
    assert model._fitted.tensors["range"].tolist() == [y.min(), y.max()]
    assert np.abs(model.predict(100 * X)).max() <= np.abs(y).max()
    with pytest.raises(ParameterError, match="must be < high"):
        HedgeRegressor(low=1.0, high=1.0).fit(X, y)


def test_mixed_probabilities_are_weighed_by_likelihood():
    X, y = noisy(120, classes=3)
    experts = [AROWClassifier(0.1), AROWClassifier(10.0)]
    model = MixtureClassifier(experts).partial_fit(X, y)
    each = np.stack([e.clone().partial_fit(X, y).predict_proba(X) for e in experts])
    likely = np.exp(-(model.losses_ - model.losses_.min()))
    likely /= likely.sum()
    np.testing.assert_allclose(model.weights_, likely, rtol=1e-9)
    mixed = np.tensordot(likely, each, axes=1)
    np.testing.assert_allclose(model.predict_proba(X), mixed, atol=1e-5)
    with pytest.raises(ParameterError, match="Perceptron does not predict probabilities"):
        MixtureClassifier([Perceptron()]).fit(X, y)


def test_fixed_share_returns_to_an_expert_that_hedge_has_given_up():
    """Two constant experts, of which first one and then the other is right."""
    losses = np.zeros((2000, 2))
    losses[:1000, 1] = losses[1000:, 0] = 1.0
    X = np.ones((2000, 1))
    y = np.repeat([0, 1], 1000)
    share, hedge = (
        model([Always(0), Always(1)]).progressive(X, y).predictions
        for model in (FixedShareClassifier, HedgeClassifier)
    )
    assert np.sum(share != y) < 30
    assert np.sum(hedge != y) > 900


class Always:
    """A learner that never learns."""

    def __init__(self, label):
        self.label = label

    def clone(self):
        return Always(self.label)

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return self.label


# -- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    ("model", "theorem", "factor"),
    [
        (WeightedMajorityClassifier(EXPERTS), bounds.weighted_majority, 3.0),
        (WeightedMajorityClassifier(EXPERTS, beta=0.9), bounds.weighted_majority, 2.5),
        (HedgeClassifier(EXPERTS), bounds.hedge, 1.4),
        (HedgeClassifier(EXPERTS, eta=0.08), bounds.hedge, 1.3),
        (FixedShareClassifier(EXPERTS, eta=0.1, share=1e-4), bounds.fixed_share, 1.3),
        (MixtureClassifier(EXPERTS[:3]), bounds.mixture, 1.1),
    ],
    ids=lambda item: type(item).__name__ if hasattr(item, "fit") else "",
)
def test_bounds_hold_and_say_something(model, theorem, factor, classes):
    rows = 400 if isinstance(model, MixtureClassifier) else 2000
    run = record(model, *noisy(rows, classes=classes))
    bound = theorem(run)
    assert bound.applies
    assert bound.holds
    assert not bound.is_vacuous
    assert bound.value <= factor * bound.measured
    assert certificate(run).bound.value == bound.value


def test_bounds_of_regressions_hold_and_say_something():
    X, y = values()
    experts = [AROWRegressor(r) for r in (0.1, 10.0, 1000.0)] + [OGDRegressor()]
    for model in (
        HedgeRegressor(experts, low=-3, high=3),
        FixedShareRegressor(experts, low=-3, high=3, share=1e-5),
    ):
        bound = certificate(record(model, X, y)).bound
        assert bound.applies
        assert bound.holds
        assert bound.value < 0.7 * bound.trivial
    unknown = certificate(record(HedgeRegressor(experts), X, y)).bound
    assert not unknown.applies
    assert "range" in str(next(a for a in unknown.assumptions if not a.holds))


def test_a_bound_can_be_reached():
    """Losses that an adversary chooses: whoever has more weight is wrong."""
    eta, rows = 0.05, 4000
    weights, losses = np.full(2, 0.5), np.zeros((rows, 2))
    kept = np.zeros((rows, 2))
    for t in range(rows):
        kept[t] = weights / weights.sum()
        losses[t, np.argmax(weights)] = 1.0
        weights = weights * np.exp(-eta * losses[t])
    run = ExpertRun(losses, kept, kept.max(axis=1), "HedgeClassifier", {"eta": eta})
    bound = bounds.hedge(run)
    assert bound.holds
    best = bound.parts["L"]
    assert bound.value - best < 3 * (bound.measured - best)


def test_a_run_of_another_method_gets_no_bound():
    X, y = noisy(300)
    run = record(HedgeClassifier(EXPERTS, eta=0.1), X, y)
    assert not bounds.hedge(run, eta=0.2).applies
    assert not bounds.fixed_share(run, eta=0.1, share=0.1).applies
    assert not bounds.weighted_majority(run, beta=0.5).applies
    with pytest.raises(ParameterError, match="'beta' was"):
        bounds.weighted_majority(run)
    leader = record(WeightedMajorityClassifier(EXPERTS, combine="leader"), X, y)
    assert not bounds.weighted_majority(leader).applies
    assert bounds.weighted_majority(leader).value == np.inf
    values = np.tile([0.0, 1.0], 150)
    for method in (FixedShareRegressor, HedgeRegressor):
        leader = method(eta=0.3, combine="leader", low=0.0, high=1.0)
        bound = bounds.fixed_share if method is FixedShareRegressor else bounds.hedge
        assert not bound(record(leader, X, values)).applies


def test_bounds_of_what_cannot_be_are_refused():
    X, y = noisy(50)
    run = record(FixedShareClassifier(EXPERTS), X, y)
    assert bounds.fixed_share(run, share=0.0).promised < np.inf
    assert bounds.fixed_share(run, share=0.0, switches=1).promised == np.inf
    for wrong in ({"switches": -1}, {"share": 1.0}, {"share": -0.1}, {"eta": 0.0}):
        with pytest.raises(ParameterError, match=r"cannot be|not possible"):
            bounds.fixed_share(run, **wrong)
    for beta in (0.0, 1.0):
        with pytest.raises(ParameterError, match="not possible"):
            bounds.weighted_majority(run, beta=beta)


def test_the_best_sequence_is_found_by_trying_all():
    random = np.random.default_rng(3)
    losses = random.random((7, 3))
    run = ExpertRun(losses, np.full((7, 3), 1 / 3), np.zeros(7))
    paths = np.array(np.meshgrid(*[range(3)] * 7)).reshape(7, -1).T
    switches = (np.diff(paths, axis=1) != 0).sum(axis=1)
    totals = losses[np.arange(7), paths].sum(axis=1)
    for k in range(4):
        assert run.best_loss(k) == pytest.approx(totals[switches <= k].min())
    run = record(FixedShareClassifier(EXPERTS), *noisy(300))
    assert bounds.fixed_share(run, switches=3).parts["L_k"] <= run.best_loss()


def test_the_certificate_is_printed():
    text = str(certificate(record(HedgeClassifier(EXPERTS, eta=0.05), *noisy(1000))))
    assert "Freund & Schapire (1997)" in text
    assert "the mean of all experts has" in text


# -- online to batch -----------------------------------------------------------------------------


def test_average_and_best_are_steadier_than_the_last_on_noisy_labels():
    random = np.random.default_rng(1)
    X = random.normal(size=(6000, 20))
    rule = np.argmax(X @ random.normal(size=(20, 2)), axis=1)
    y = np.where(random.random(6000) < 0.3, 1 - rule, rule)
    errors = {}
    for use in ("last", "average", "best"):
        model = OnlineToBatchClassifier(PassiveAggressiveClassifier(), use=use)
        model.partial_fit(X[:4000], y[:4000])
        errors[use] = np.mean(model.predict(X[4000:]) != rule[4000:])
    assert errors["average"] < errors["last"]
    assert errors["best"] < errors["last"]


def test_last_is_the_learner_itself():
    X, y = noisy(300)
    model = OnlineToBatchClassifier(Perceptron(), use="last").partial_fit(X, y)
    alone = Perceptron().partial_fit(X, y)
    assert (model.predict(X) == alone.predict(X)).all()
    assert (model.chosen_.coef_ == alone.coef_).all()


def test_copies_stand_at_equal_distances_and_are_few():
    X, y = noisy(1000)
    model = OnlineToBatchClassifier(Perceptron(), use="best", snapshots=4).partial_fit(X, y)
    at = [one.t_ for one in model.learners_[1:]]
    assert len(at) <= 4
    assert len(set(np.diff(at))) == 1
    assert model.learners_[0].t_ == 1000
    best = model.chosen_
    assert best.t_ in at
    tests, losses = (model._fitted.tensors[name] for name in ("tests", "losses"))
    place = at.index(best.t_)
    for i, snapshot in enumerate(at):  # every row after the copy was taken
        rows = list(range(snapshot, 1000))
        said = Perceptron().partial_fit(X[:snapshot], y[:snapshot]).predict(X[rows])
        assert (tests[i], losses[i]) == (len(rows), np.sum(said != y[rows]))
    assert tests[place] > 0


def test_regressors_average_as_well():
    X, y = values(2000)
    model = OnlineToBatchRegressor(OGDRegressor(0.05), use="average").partial_fit(X, y)
    said = np.mean([one.predict(X) for one in model.learners_], axis=0)
    np.testing.assert_allclose(model.predict(X), said)


def test_experts_take_part_in_progressive_validation():
    X, y = noisy(400)
    found = progressive(HedgeClassifier(EXPERTS), X, y)
    assert found.error == np.mean(HedgeClassifier(EXPERTS).progressive(X, y).predictions != y)
    late = progressive(HedgeClassifier(EXPERTS), X, y, delay=20)
    assert 0 < late.error < 0.6
    assert progressive(MixtureClassifier(EXPERTS[:2]), X, y, metrics=["log_loss"]).error < 0.5


@pytest.mark.parametrize("model", [HedgeClassifier(eta=1e308), FixedShareClassifier(eta=1e308)])
def test_a_rate_without_measure_follows_the_leader(model):
    X = np.random.default_rng(0).normal(size=(50, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = model.partial_fit(X, (X[:, 0] > 0).astype(int)).weights_
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
