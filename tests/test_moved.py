"""Old names of modules: imports and pickles of before still work, and say what is new."""

from __future__ import annotations

import pickle
import sys
from importlib import import_module

import pytest

import yarrow

MOVED = {
    "yarrow.experiments.comparison": ("yarrow.compare.comparison", "Comparison"),
    "yarrow.experiments.lanes": ("yarrow.compare.lanes", "Entrant"),
    "yarrow.experiments.judgement": ("yarrow.compare.holdout", "interval"),
    "yarrow.experiments.tune": ("yarrow.compare.tune", "tune"),
    "yarrow.experiments.spec": ("reproduction.spec", "Cell"),
    "yarrow.experiments.protocols.tuned": ("reproduction.protocols.tuned", "run"),
    "yarrow.experiments.reproductions": ("reproduction.specs", "named"),
}
PACKAGES = ("yarrow.experiments",)


@pytest.fixture
def fresh(monkeypatch):
    """Nobody has imported an old name yet."""
    for name in list(sys.modules):
        if name.startswith(PACKAGES):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(yarrow), "experiments", raising=False)


@pytest.mark.parametrize("old", MOVED)
def test_an_old_pickle_finds_what_it_names(fresh, old):
    new, name = MOVED[old]
    with pytest.warns(DeprecationWarning, match=f"{old} has moved to {new}"):
        found = pickle.loads(f"c{old}\n{name}\n.".encode())
    assert found is getattr(import_module(new), name)
    assert sys.modules[old] is sys.modules[new]


def test_experiments_are_compare(fresh):
    with pytest.warns(DeprecationWarning, match="yarrow.experiments has moved to yarrow.compare"):
        experiments = yarrow.experiments
    assert {name: getattr(experiments, name) for name in experiments.__all__} == {
        name: getattr(yarrow.compare, name) for name in yarrow.compare.__all__
    }
    assert "experiments" not in dir(yarrow)


def test_a_function_is_not_hidden_by_the_module_of_its_name(fresh):
    with pytest.warns(DeprecationWarning, match="yarrow.compare"):
        from yarrow.experiments import compare, race
    from yarrow.experiments.compare import compare as same

    assert same is compare
    assert callable(import_module("yarrow.experiments").compare)
    assert callable(race)


def test_a_name_that_never_was_is_missing(fresh):
    with pytest.warns(DeprecationWarning, match="moved"), pytest.raises(ModuleNotFoundError):
        import_module("yarrow.experiments.magic")
