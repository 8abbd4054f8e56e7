"""The examples run, and show what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(3))
def test_the_regret_of_a_portfolio_is_what_the_theorem_allows(seed):
    regret, allowed = example("portfolio").main(days=500, seed=seed)
    assert 0 <= regret <= allowed


def test_it_pays_to_weigh_the_costs_of_fraud():
    costs = example("card_fraud").main(count=10_000)
    assert costs["weigh the costs"] < 0.8 * costs["let all through"]
    assert costs["weigh the costs"] < costs["stop the likely frauds"]
