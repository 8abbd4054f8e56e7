"""Protocols, against slower loops written out; and none of them looks at what it is tested on."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
from scipy.sparse import csr_array

from reproduction.candidates import GameWithoutDiagonal
from reproduction.protocols import budget, choosing_p, drift, online, selection, sparse_folds, tuned
from reproduction.protocols.prepare import FOLDS, ORDER, TUNING, random, rows_of
from reproduction.results import mean_ranks
from reproduction.spec import Cell, Data, Learner
from yarrow import NormConstrainedPAClassifier
from yarrow.datasets import Dataset
from yarrow.feature_selection import GameSelection, InformationGain, without_small_weights
from yarrow.kernel import KernelPassiveAggressiveClassifier

GAUSSIAN = Data("gaussian", "synthetic/gaussian", {"rows": 300, "test_rows": 200}, drawn=True)
AROW = Learner("AROW", "AROWClassifier", grid={"r": (0.01, 1.0, 100.0)})


def cell(protocol, learner=AROW, noise=0.1, seed=3, **options):
    return Cell(protocol, GAUSSIAN, learner, noise, seed, options)


def with_labels(monkeypatch, module, change):
    """Let a protocol see rows whose labels were changed."""
    original = module.rows_of
    monkeypatch.setattr(module, "rows_of", lambda *args, **kw: change(original(*args, **kw)))


def text(seed=0, rows=120, features=30, classes=3):
    """Counts of words of which each class prefers some."""
    chance = np.random.default_rng(seed)
    y = chance.integers(classes, size=rows)
    rates = 0.2 + 1.5 * (np.arange(features) % classes == y[:, None])
    X = csr_array(chance.poisson(rates * (chance.random(features) < 0.5)).astype(np.float32))
    return Dataset("text", X, y, "multiclass", "as drawn", "generated", clean=y)


needs_usps = pytest.mark.skipif("YARROW_DATA" not in os.environ, reason="YARROW_DATA is not set")


# -- rows ----------------------------------------------------------------------------------------


@needs_usps
def test_rows_are_those_asked_for():
    usps = Data("pair", "usps", classes=(3, 5), rows=100)
    rows = rows_of(usps, noise=0.2, seed=1)
    assert len(rows) == 100
    assert set(rows.clean) == set(rows.test.y) == {3, 5}
    assert 5 <= (rows.y != rows.clean).sum() <= 35
    again = rows_of(usps, noise=0.2, seed=1)
    assert (rows.y == again.y).all()
    other = rows_of(usps, noise=0.2, seed=2)
    assert rows.X.shape[0] == other.X.shape[0]
    assert (rows.X[:, :200] != other.X[:, :200]).sum() > 0


@needs_usps
def test_one_class_can_be_told_from_the_rest():
    rows = rows_of(Data("3", "usps", against_rest=3), noise=0.0, seed=0)
    whole = rows_of(Data("all", "usps"), noise=0.0, seed=0)
    assert (rows.y == (whole.y == 3)).all()
    assert (rows.test.y == (whole.test.y == 3)).all()


def test_a_generator_makes_other_rows_for_each_seed():
    one, other = (rows_of(GAUSSIAN, noise=0.0, seed=seed) for seed in (1, 2))
    assert (one.X != other.X).sum() > 0


# -- tuned ---------------------------------------------------------------------------------------


def test_the_test_part_is_predicted_by_the_setting_tuned_on_a_held_out_fifth():
    outcome = tuned.run(cell("tuned", passes=3))
    rows = rows_of(GAUSSIAN, noise=0.1, seed=3)
    order = random(3, TUNING).permutation(300)
    held, learned = order[:60], order[60:]
    errors = {}
    for r in (0.01, 1.0, 100.0):
        model = AROW.make({"r": r})
        for passes in (1, 2, 3):
            model.partial_fit(rows.X[learned], rows.y[learned], classes=[-1, 1])
            errors[r, passes] = np.mean(model.predict(rows.X[held]) != rows.y[held])
    tied = [key for key, error in errors.items() if error == min(errors.values())]
    chosen = [(setting["r"], n) for setting, passes in outcome["chosen"] for n in passes]
    assert chosen == tied
    order = random(3, ORDER).permutation(300)
    tested = []
    for r, passes in tied:
        model = AROW.make({"r": r})
        for _ in range(passes):
            model.partial_fit(rows.X[order], rows.y[order], classes=[-1, 1])
        tested.append(np.mean(model.predict(rows.test.X) != rows.test.y))
    assert outcome["error"] == pytest.approx(np.mean(tested))


def test_where_settings_are_tied_the_mean_of_their_errors_counts(monkeypatch):
    def error_of(*tuning):
        monkeypatch.setattr(tuned, "tuning_errors", lambda *_: [list(row) for row in tuning])
        return tuned.run(cell("tuned", passes=2))["error"]

    first, last = error_of((0.1, 0.5), (0.5, 0.5), (0.5, 0.5)), error_of((1, 1), (1, 1), (1, 0))
    assert first != last
    both = error_of((0.1, 0.5), (0.5, 0.5), (0.5, 0.1))
    assert both == pytest.approx((first + last) / 2)


def test_folds_are_predicted_by_models_of_the_others_against_clean_labels():
    outcome = tuned.run(cell("tuned", passes=1, folds=3))
    rows = rows_of(GAUSSIAN, noise=0.1, seed=3)
    order = random(3, ORDER).permutation(300)
    for part, error in zip(
        np.array_split(random(3, FOLDS).permutation(300), 3), outcome["errors"], strict=True
    ):
        others = np.array([place for place in order if place not in set(part)])
        wrong = []
        for setting, _ in outcome["chosen"]:
            model = AROW.make(setting)
            model.partial_fit(rows.X[others], rows.y[others], classes=[-1, 1])
            wrong.append(np.mean(model.predict(rows.X[part]) != rows.clean[part]))
        assert error == pytest.approx(np.mean(wrong))


def test_tuning_does_not_see_the_test_part_or_clean_labels(monkeypatch):
    before = tuned.run(cell("tuned"))

    def change(rows):
        test = dataclasses.replace(rows.test, y=-rows.test.y)
        return dataclasses.replace(rows, test=test, clean=-rows.clean)

    with_labels(monkeypatch, tuned, change)
    after = tuned.run(cell("tuned"))
    assert before["tuning"] == after["tuning"]
    assert after["error"] == pytest.approx(1 - before["error"])


# -- online --------------------------------------------------------------------------------------


def test_mistakes_are_counted_against_clean_labels_row_by_row():
    learner = Learner("PA", "PassiveAggressiveClassifier")
    outcome = online.run(cell("online", learner))
    rows = rows_of(GAUSSIAN, noise=0.1, seed=3)
    model, wrong = learner.make({}), []
    for place in random(3, ORDER).permutation(300):
        row = rows.X[[place]]
        says = model.predict(row)[0] if wrong else None
        wrong.append(says != rows.clean[place])
        model.partial_fit(row, rows.y[[place]], classes=[-1, 1])
    sums = np.cumsum(wrong)
    assert outcome["mistakes"] == [sums[rows - 1] for rows in outcome["rows"]]
    assert outcome["rows"][-1] == 300
    assert outcome["test_error"] == np.mean(model.predict(rows.test.X) != rows.test.y)


def test_of_tied_settings_the_middle_one_is_taken():
    same = Learner("PA", "PassiveAggressiveClassifier", {"variant": "pa"}, {"C": (1.0, 2.0, 3.0)})
    assert online.run(cell("online", same))["setting"] == {"C": 2.0}  # plain PA has no use for C


def test_the_setting_is_chosen_on_another_draw(monkeypatch):
    before = online.run(cell("online"))["setting"]
    online._best_setting.cache_clear()
    original = online.rows_of

    def only_tuning(data, *, noise, seed):
        assert seed == online.TUNING_SEED
        return original(data, noise=noise, seed=seed)

    monkeypatch.setattr(online, "rows_of", only_tuning)
    assert online._best_setting(online._Frozen(cell("online"))) == before


# -- sparse folds --------------------------------------------------------------------------------

SGFT = Learner("SGFT", "SGFTClassifier", {"multiclass": "top1"}, {"l1": (1e-4, 1e-2, 1e3)})


def test_folds_choose_their_penalty_without_their_own_rows(monkeypatch):
    monkeypatch.setattr(sparse_folds, "rows_of", lambda *_, **__: text())
    before = sparse_folds.run(cell("sparse_folds", SGFT, folds=4, passes=3))
    first = np.array_split(random(3, FOLDS).permutation(120), 4)[0]
    changed = text()
    changed.y[first] = (changed.y[first] + 1) % 3
    monkeypatch.setattr(sparse_folds, "rows_of", lambda *_, **__: changed)
    after = sparse_folds.run(cell("sparse_folds", SGFT, folds=4, passes=3))
    assert before["chosen"][0] == after["chosen"][0]
    assert before["accuracies"][0] > 0.6 > after["accuracies"][0]
    assert len(before["accuracies"]) == 4
    assert before["by_setting"][2][1] == 1.0  # the largest penalty leaves nothing
    assert before["by_setting"][0][1] < 0.2


def test_each_fold_chooses_by_its_neighbours(monkeypatch):
    monkeypatch.setattr(sparse_folds, "rows_of", lambda *_, **__: text())
    found = sparse_folds.run(cell("sparse_folds", SGFT, folds=4, passes=2, inner=2))
    rows, parts = text(), np.array_split(random(3, FOLDS).permutation(120), 4)
    for fold in range(4):
        sums = []
        for setting in SGFT.settings():
            right = 0.0
            for other in set(range(4)) - {fold}:
                learned = np.concatenate([parts[i] for i in range(4) if i not in (fold, other)])
                model = SGFT.make(setting)
                for _ in range(2):
                    model.partial_fit(rows.X[learned], rows.y[learned], classes=[0, 1, 2])
                right += np.mean(model.predict(rows.X[parts[other]]) == rows.y[parts[other]])
            sums.append(right)
        assert found["chosen"][fold] == SGFT.settings()[int(np.argmax(sums))]


def test_sparseness_counts_only_features_that_were_seen():
    X = csr_array(np.array([[1, 0, 0, 2], [0, 0, 3, 0]], np.float32))
    model = Learner("P", "Perceptron", {"multiclass": "top1", "fit_intercept": False}).make({})
    model.partial_fit(X, [0, 1], classes=[0, 1])
    weights = model._fitted.plane(0)[0][1:]
    assert sparse_folds.sparseness(model, X) == np.mean(weights[[0, 2, 3]] == 0)


# -- drift and selection -------------------------------------------------------------------------

L2 = Learner(
    "L2", "NormConstrainedPAClassifier", {"fit_intercept": False}, {"beta": (0.5, 1.0, 4.0)}
)


def test_the_second_half_is_predicted_with_what_the_first_half_chose(monkeypatch):
    outcome = drift.run(cell("drift", L2, noise=0.0))
    rows = rows_of(GAUSSIAN, noise=0.0, seed=3)
    model, wrong = L2.make(outcome["setting"]), []
    for place in range(300):
        row = rows.X[[place]]
        wrong.append((model.predict(row)[0] if place else None) != rows.y[place])
        model.partial_fit(row, rows.y[[place]], classes=[-1, 1])
    sums = np.cumsum(wrong[150:])
    assert outcome["mistakes"] == [sums[rows - 1] for rows in outcome["rows"]]

    def flip(rows):
        return dataclasses.replace(rows, y=np.where(np.arange(300) < 150, rows.y, -rows.y))

    with_labels(monkeypatch, drift, flip)
    assert drift.run(cell("drift", L2, noise=0.0))["setting"] == outcome["setting"]


def test_small_weights_are_left_out_of_predictions_only():
    shares = [0.0, 0.2, 0.6]
    outcome = selection.run(cell("selection", L2, noise=0.0, select="weights", shares=shares))
    rows = rows_of(GAUSSIAN, noise=0.0, seed=3)
    model = NormConstrainedPAClassifier(fit_intercept=False, **outcome["setting"])
    model.partial_fit(rows.X[:150], rows.y[:150], classes=[-1, 1])
    sigmas = np.array(shares) * np.abs(model.coef_).sum()
    wrong, kept = np.zeros(3), np.zeros(3)
    for place in range(150, 300):
        row = rows.X[[place]]
        for which, sigma in enumerate(sigmas):
            small = without_small_weights(model, sigma)
            wrong[which] += small.predict(row)[0] != rows.y[place]
            kept[which] += np.count_nonzero(small.coef_)
        model.partial_fit(row, rows.y[[place]], classes=[-1, 1])
    assert outcome["error"] == pytest.approx(wrong / 150)
    assert outcome["kept"] == pytest.approx(kept / 150)


SELECTORS = {
    "information": InformationGain,
    "game": GameSelection,
    "game without diagonal": GameWithoutDiagonal,
}


@pytest.mark.parametrize("select", SELECTORS)
def test_a_selector_shows_the_learner_the_features_that_it_would_select(select):
    options = {"select": select, "counts": [2, 5, 20], "refresh": 50, "edges": [-1.0, 0.0, 1.0]}
    outcome = selection.run(cell("selection", L2, noise=0.0, **options))
    rows = rows_of(GAUSSIAN, noise=0.0, seed=3)
    for count, error in zip([2, 5], outcome["error"], strict=False):
        selector = SELECTORS[select](k=count, edges=[-1.0, 0.0, 1.0])  # one of its own
        model, wrong = L2.make(outcome["setting"]), []
        for start in range(0, 300, 50):
            X, y = rows.X[start : start + 50].toarray(), rows.y[start : start + 50]
            if start:
                X[:, ~selector.get_support()] = 0
            said = [model.progressive(X[[n]], y[[n]], classes=[-1, 1]) for n in range(50)]
            wrong += [one.predictions[0] != label for one, label in zip(said, y, strict=True)]
            selector.partial_fit(rows.X[start : start + 50], y)
        assert error == np.mean(wrong[150:])
    everything = drift.run(cell("drift", L2, noise=0.0))
    assert outcome["kept"] == [2, 5, 20]
    assert outcome["error"][2] == pytest.approx(everything["error"])


def test_choosing_follows_the_setting_with_the_fewest_mistakes():
    grid = {"p": (1.0, 2.0), "l1": (1e-3, 10.0)}
    sgft = Learner("SGFT", "SGFTClassifier", {"multiclass": "top1"}, grid)
    outcome = choosing_p.run(cell("choosing_p", sgft, noise=0.0))
    assert len(outcome["errors"]) == len(outcome["settings"]) == 4
    assert sum(outcome["weights"]) == pytest.approx(1)
    assert min(outcome["errors"]) < 0.45
    assert outcome["leader"] < min(outcome["errors"]) + 0.05
    assert outcome["vote"] < min(outcome["errors"]) + 0.05


def kernel_cell(data, **grid):
    learner = Learner("PA", "KernelPassiveAggressiveClassifier", {"gamma": 0.01}, grid)
    return Cell("budget", data, learner, 0.0, 2, {"budget": 15, "tuning": 100})


@needs_usps
def test_a_budget_is_kept_and_its_setting_chosen_on_another_order(monkeypatch):
    usps = Data("usps", "usps", classes=(3, 5, 8), rows=250)
    found = budget.run(kernel_cell(usps, gamma=(50.0, 0.01)))
    assert found["setting"] == {"gamma": 0.01}
    assert found["kept"] == 15
    rows = rows_of(usps, noise=0.0, seed=2)
    order = random(2, ORDER).permutation(len(rows))
    model = KernelPassiveAggressiveClassifier(gamma=0.01, budget=15)
    wrong = []
    for i in order:
        row, label = rows.X[[i]], rows.y[[i]]
        wrong.append(not wrong or model.predict(row)[0] != label[0])
        model.partial_fit(row, label)
    assert found["error"] == np.mean(wrong)
    assert found["test_error"] == np.mean(model.predict(rows.test.X) != rows.test.y)
    with_labels(monkeypatch, budget, lambda whole: dataclasses.replace(whole, test=whole.take([0])))
    assert budget.run(kernel_cell(usps, gamma=(50.0, 0.01)))["setting"] == found["setting"]


@needs_usps
def test_on_a_drifting_stream_a_budget_is_measured_as_drift_is():
    phases = Data("USPS", "usps/phases", {"rows": 40}, drawn=True)
    cell = kernel_cell(phases, C=(0.1, 1.0))
    parameters = {**cell.learner.parameters, "budget": 15}
    learner = dataclasses.replace(cell.learner, parameters=parameters)
    found, expected = budget.run(cell), drift.run(dataclasses.replace(cell, learner=learner))
    assert {**found, "seconds": 0} == {**expected, "seconds": 0}


def test_mean_ranks_share_ties():
    assert mean_ranks([[1, 2, 3, 4], [4, 4, 4, 4]]) == [1.75, 2.25, 2.75, 3.25]
