"""Learners are loaded when they are asked for, each from the file that the table names."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import yarrow
from yarrow import linear_model


@pytest.mark.parametrize("name", linear_model.__all__)
def test_each_name_is_defined_in_the_file_of_the_table(name: str) -> None:
    value = getattr(linear_model, name)
    home = linear_model._HOMES[name]
    assert value.__module__ == (home if "." in home else f"yarrow.linear_model.{home}")
    assert value is getattr(yarrow, name) or name == "load"  # yarrow's reads other models, too


def test_type_checkers_are_told_of_every_file() -> None:
    told = re.findall(
        r"    from yarrow.linear_model.(\w+) import \*", inspect.getsource(linear_model)
    )
    assert told == sorted({home for home in linear_model._HOMES.values() if "." not in home})


def test_names_are_sorted_and_listed() -> None:
    assert linear_model.__all__[:-1] == sorted(linear_model.__all__[:-1])
    assert {*linear_model.__all__} <= {*dir(linear_model)}
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        linear_model.Nonsense  # noqa: B018


def test_one_learner_loads_neither_the_others_nor_numpy() -> None:
    code = "import sys; from yarrow import Perceptron; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert "yarrow.linear_model.affine" in loaded
    assert not {"numpy", "yarrow.linear_model.confidence", "yarrow.linear_model.proximal"} & {
        *loaded
    }


def test_nonzero_weights_are_counted_as_in_the_coefficients(few_variants, three_classes) -> None:
    X, y = three_classes
    X = X * (np.arange(12) % 5 > 0)
    for classes in (1, 2, 3):
        kept = y < classes
        model = few_variants().partial_fit(X[kept][:40], y[kept][:40])
        assert model.n_nonzero_ == np.count_nonzero(model.coef_)
        assert isinstance(model.n_nonzero_, int)
