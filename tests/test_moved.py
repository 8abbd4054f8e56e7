"""Old names of modules: imports and pickles of before still work, and say what is new."""

from __future__ import annotations

import pickle
import sys
import warnings
from importlib import import_module

import pytest

import yarrow
from yarrow.moved import RENAMED, moved

MOVED = moved()

PICKLED = {
    "yarrow.experiments.comparison": ("yarrow.compare.comparison", "Comparison"),
    "yarrow.experiments.race": ("yarrow.compare.race", "Race"),
    "yarrow.stream.named_rows": ("yarrow.data.named_rows", "NamedRows"),
    "yarrow.linear_model.confidence_relatives": ("yarrow.linear_model", "NAROWClassifier"),
    "yarrow.linear_model.inspection": ("yarrow.base.explanation", "Explanation"),
}


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Nobody has imported an old name yet."""
    old = [name for name in sys.modules if name in MOVED or "yarrow.experiments" in name]
    for name in sorted(old, key=len, reverse=True):  # packages after what is in them
        package, _, child = name.rpartition(".")
        if sys.modules[package].__name__ == package:  # else it is the new one
            monkeypatch.delitem(vars(sys.modules[package]), child, raising=False)
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("old", PICKLED)
def test_an_old_pickle_finds_what_it_names(old):
    new, name = PICKLED[old]
    with pytest.warns(DeprecationWarning, match="has moved to"):
        found = pickle.loads(f"c{old}\n{name}\n.".encode())
    assert found is getattr(import_module(new), name)
    assert sys.modules[old] is sys.modules[new]


@pytest.mark.parametrize("old", RENAMED)
def test_a_class_of_another_name_is_found_by_its_old_one(old):
    for name, new in RENAMED[old].items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            found = pickle.loads(f"c{old}\n{name}\n.".encode())
        assert found is getattr(import_module(MOVED[old]), new)


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_new_module_and_says_so(old):
    with pytest.warns(DeprecationWarning, match=f"{old} has moved to {MOVED[old]}"):
        found = import_module(old)
    assert found is import_module(MOVED[old])
    assert found.__name__ == MOVED[old]


def test_experiments_are_compare():
    with pytest.warns(DeprecationWarning, match="yarrow.experiments has moved to yarrow.compare"):
        experiments = yarrow.experiments
    assert {name: getattr(experiments, name) for name in experiments.__all__} == {
        name: getattr(yarrow.compare, name) for name in yarrow.compare.__all__
    }
    assert "experiments" not in dir(yarrow)


def test_a_function_is_not_hidden_by_the_module_of_its_name():
    with pytest.warns(DeprecationWarning, match="yarrow.compare"):
        from yarrow.experiments import compare, race
    from yarrow.experiments.compare import compare as same

    assert same is compare
    assert callable(import_module("yarrow.experiments").compare)
    assert callable(race)


def test_a_name_that_never_was_is_missing():
    with pytest.warns(DeprecationWarning, match="moved"), pytest.raises(ModuleNotFoundError):
        import_module("yarrow.experiments.magic")
    with pytest.raises(ModuleNotFoundError):
        import_module("yarrow.activity.magic")
