"""Studies of experts, bandits and other feedback, and their place in comparisons."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from yarrow import AROWClassifier, bandit, experts, feedback
from yarrow.composite.base import Composite
from yarrow.datasets import load
from yarrow.errors import ParameterError
from yarrow.experiments import engine, grids, reproductions
from yarrow.experiments.compare import compare
from yarrow.experiments.lanes import Entrant
from yarrow.experiments.protocols import asking, coverage, online
from yarrow.experiments.protocols import experts as of_experts
from yarrow.experiments.protocols.prepare import ORDER, random, rows_of
from yarrow.experiments.spec import Cell, Data, Learner
from yarrow.report import reproduction as pages

GAUSSIAN = Data("gaussian", "synthetic/gaussian", {"rows": 400, "test_rows": 100}, drawn=True)
AROW = Learner("AROW", "AROWClassifier", grid={"r": (0.1, 10.0)})
CLASSES = [
    cls
    for package in (bandit, experts, feedback)
    for cls in (getattr(package, name) for name in package.__all__)
    if isinstance(cls, type) and issubclass(cls, Composite)
]


def cell(protocol, learner=AROW, noise=0.1, **options):
    return Cell(protocol, GAUSSIAN, learner, noise, 3, options)


def ordered():
    rows = rows_of(GAUSSIAN, noise=0.1, seed=3)
    return rows.take(random(3, ORDER).permutation(len(rows)))


# -- comparisons -----------------------------------------------------------------------------------


def test_every_one_can_be_compared_by_its_own_grid():
    found = compare(load("synthetic/gaussian", rows=200), "experts,bandit,feedback")
    raced = {outcome.learner for outcome in found.outcomes if outcome.family != "baseline"}
    assert raced == {cls.__name__ for cls in CLASSES if not cls.regression}
    assert [outcome.failure for outcome in found.outcomes if outcome.failure] == []
    assert all(cls.__name__ in grids.GRIDS for cls in CLASSES)


def test_all_does_not_mean_those_made_of_learners():
    everyone, _ = grids.chosen_learners("all", regression=False)
    assert not set(everyone) & set(CLASSES)
    named, _ = grids.chosen_learners("hedge,banditron,arow", regression=False)
    assert [cls.__name__ for cls in named] == [
        "HedgeClassifier",
        "BanditronClassifier",
        "AROWClassifier",
    ]
    with pytest.raises(ParameterError, match="HedgeRegressor is not for classes"):
        grids.chosen_learners("hedge-regressor", regression=False)


def test_a_comparison_counts_the_mistakes_of_progressive():
    rows = load("synthetic/gaussian", rows=300)
    model = experts.HedgeClassifier([AROWClassifier(r) for r in (0.1, 10.0)])
    found = compare(rows, [Entrant("Hedge", model)])
    said = model.clone().progressive(rows.X, rows.y).predictions
    outcome = next(o for o in found.outcomes if o.name == "Hedge")
    truth = rows.y if rows.clean is None else rows.clean
    assert outcome.mistakes == np.sum(said != truth)
    assert outcome.model.t_ == 300
    assert outcome.nonzeros == sum(one.n_nonzero_ for one in outcome.model.learners_)
    failed = compare(rows, [Entrant("wrong task", experts.HedgeRegressor())])
    assert "not for classes" in failed.outcomes[0].failure


# -- protocols -------------------------------------------------------------------------------------


def test_asking_for_every_label_is_learning_from_every_label():
    outcome = asking.run(cell("asking", rules={"random": [1.0], "margin": [1e-3, 1e6]}))
    assert outcome["random"] == [[1.0, outcome["told"]]]
    (few, error), (all_of_them, _) = outcome["margin"]
    assert few < 0.5
    assert all_of_them > 0.99
    assert 0 < error < 1
    assert outcome["setting"] == online.best_setting(cell("asking"))


def test_coverage_is_counted_row_by_row():
    learner = Learner("AROW", "AROWClassifier", {"r": 1.0})
    outcome = coverage.run(cell("coverage", learner, coverage=0.9))
    rows = ordered()
    model = feedback.PredictionSetClassifier(AROWClassifier(1.0), coverage=0.9)
    covered, answered = [], []
    for i in range(len(rows)):
        x = {j: v for j, v in enumerate(rows.X[[i]].toarray()[0].tolist()) if v}
        inside = model.predict_set_one(x)
        covered.append(rows.y[i] in inside)
        answered.append(len(inside) == 1)
        model.learn_one(x, rows.y[i].item())
    assert outcome["adaptive"]["answered"] == pytest.approx(np.mean(answered))
    assert outcome["adaptive"]["coverage"] == model.coverage_
    assert np.mean(outcome["adaptive"]["windows"]) == pytest.approx(np.mean(covered))
    assert outcome["adaptive"]["coverage"] >= outcome["adaptive"]["guaranteed"]


def test_experts_are_the_settings_of_a_learner():
    outcome = of_experts.run(cell("experts"))
    rows = rows_of(GAUSSIAN, noise=0.1, seed=3)
    for place, setting in enumerate(AROW.settings()):
        said = AROW.make(setting).progressive(rows.X, rows.y).predictions
        assert outcome["experts"][-1][place] == np.mean(said != rows.y)
    hedge = experts.HedgeClassifier([AROW.make(s) for s in AROW.settings()])
    error = np.mean(hedge.progressive(rows.X, rows.y).predictions != rows.y)
    assert outcome["ways"]["Hedge"][-1] == error
    assert outcome["draw"] <= outcome["promised"]


# -- pages -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif("YARROW_DATA" not in os.environ, reason="YARROW_DATA is not set")
@pytest.mark.parametrize("name", ["experts", "bandit", "feedback"])
def test_what_is_stable_comes_out_at_the_reduced_size(name, tmp_path):
    one = reproductions.named(name)
    assert len(one.cells(reduced=True)) < len(one.cells())
    results = engine.reproduce(one, reduced=True, cache=tmp_path / "cache", workers=1)
    assert not results.failures, [failure.failure for failure in results.failures]
    written = pages.write(one, results, tmp_path / "pages", reduced=True)
    drawn = re.findall(r"!\[.*?\]\((.*?)\)", written.page.read_text())
    assert drawn
    for file in drawn:
        assert (written.page.parent / file).read_text().startswith("<svg")
    assert [claim for claim in written.claims if claim.stable and not claim.holds] == []
