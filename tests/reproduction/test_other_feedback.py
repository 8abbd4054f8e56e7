"""Studies of experts, bandits and other feedback."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from reproduction import engine, pages, specs
from reproduction.protocols import asking, coverage, online
from reproduction.protocols import experts as of_experts
from reproduction.protocols.prepare import ORDER, random, rows_of
from reproduction.spec import Cell, Data, Learner
from yarrow import AROWClassifier, experts, feedback

GAUSSIAN = Data("gaussian", "synthetic/gaussian", {"rows": 400, "test_rows": 100}, drawn=True)
AROW = Learner("AROW", "AROWClassifier", grid={"r": (0.1, 10.0)})


def cell(protocol, learner=AROW, noise=0.1, **options):
    return Cell(protocol, GAUSSIAN, learner, noise, 3, options)


def ordered():
    rows = rows_of(GAUSSIAN, noise=0.1, seed=3)
    return rows.take(random(3, ORDER).permutation(len(rows)))


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
    one = specs.named(name)
    assert len(one.cells(reduced=True)) < len(one.cells())
    results = engine.reproduce(one, reduced=True, cache=tmp_path / "cache", workers=1)
    assert not results.failures, [failure.failure for failure in results.failures]
    written = pages.write(one, results, tmp_path / "pages", reduced=True)
    drawn = re.findall(r"!\[.*?\]\((.*?)\)", written.page.read_text())
    assert drawn
    for file in drawn:
        assert (written.page.parent / file).read_text().startswith("<svg")
    assert [claim for claim in written.claims if claim.stable and not claim.holds] == []
