"""Experts, bandits and learners with other feedback take part in comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from yarrow import AROWClassifier, bandit, experts, feedback
from yarrow.compare import grids
from yarrow.compare.compare import compare
from yarrow.compare.entrant import Entrant
from yarrow.composite.base import Composite
from yarrow.datasets import load
from yarrow.errors import ParameterError

CLASSES = [
    cls
    for package in (bandit, experts, feedback)
    for cls in (getattr(package, name) for name in package.__all__)
    if isinstance(cls, type) and issubclass(cls, Composite)
]


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
