"""Interactions are those of Vowpal Wabbit's -q, whatever the order of a row."""

from __future__ import annotations

import random

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yarrow.errors import DataError, ParameterError
from yarrow.features import Interactions

ROW = {"a^x": 2.0, "a^y": 1.0, "a^z": 3.0, "b^u": 5.0, "b^w": 1.0}


def products(row, terms):
    return Interactions(terms, keep=False).transform_one(row)


# The expected products are what `vw --audit` prints for "|a x:2 y:1 z:3 |b u:5 w:1".


def test_a_pair_multiplies_each_with_each():
    assert products(ROW, [("a", "b")]) == {
        "a^x*b^u": 10,
        "a^x*b^w": 2,
        "a^y*b^u": 5,
        "a^y*b^w": 1,
        "a^z*b^u": 15,
        "a^z*b^w": 3,
    }


def test_rows_of_a_frame_are_multiplied_too():
    rows = [{"a": 2.0, "b": 5.0}, {"a": 1.0, "b": 3.0}]
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows)):
        assert Interactions().transform(frame) == Interactions().transform(rows)
    with pytest.raises(DataError, match="must be a frame or a list of dicts, not ndarray"):
        Interactions().transform(pd.DataFrame(rows).to_numpy())


def test_a_pair_with_itself_adds_each_product_once():
    assert products(ROW, [("a", "a")]) == {
        "a^x*a^x": 4,
        "a^x*a^y": 2,
        "a^x*a^z": 6,
        "a^y*a^y": 1,
        "a^y*a^z": 3,
        "a^z*a^z": 9,
    }


def test_three_namespaces_multiply():
    row = {name: value for name, value in ROW.items() if name != "b^w"}
    assert products(row, [("a", "a", "b")]) == {
        "a^x*a^x*b^u": 20,
        "a^x*a^y*b^u": 10,
        "a^x*a^z*b^u": 30,
        "a^y*a^y*b^u": 5,
        "a^y*a^z*b^u": 15,
        "a^z*a^z*b^u": 45,
    }


def test_a_colon_stands_for_every_namespace():
    row = {"a^x": 2.0, "a^y": 1.0, "b^u": 5.0}
    assert products(row, [(":", ":")]) == {
        "a^x*a^x": 4,
        "a^x*a^y": 2,
        "a^y*a^y": 1,
        "a^x*b^u": 10,
        "a^y*b^u": 5,
        "b^u*b^u": 25,
    }
    assert products(row, [("b", ":")]) == {"b^u*a^x": 10, "b^u*a^y": 5, "b^u*b^u": 25}


def test_a_combination_that_is_asked_for_twice_is_added_once():
    assert products(ROW, [("a", "b"), ("b", "a")]) == products(ROW, [("a", "b")])


def test_names_without_a_namespace_are_in_the_empty_one():
    assert products({"p": 2.0, 3: 5.0, "a^x": 1.0}, [("", "a")]) == {"3*a^x": 5, "p*a^x": 2}


def test_features_are_kept_unless_told_otherwise():
    assert Interactions([("a", "b")]).transform_one({"a^x": 2, "b^y": 3}) == {
        "a^x": 2,
        "b^y": 3,
        "a^x*b^y": 6,
    }
    assert Interactions([("a", "none")]).transform_one(ROW) == ROW
    assert Interactions().fit_transform([{"p": 2}, {}]) == [{"p": 2, "p*p": 4}, {}]


@given(st.dictionaries(st.sampled_from(["a^x", "a^y", "b^u", "c", "d"]), st.floats(-9, 9)))
def test_the_order_of_a_row_makes_no_difference(row):
    shuffled = random.Random(3).sample(list(row), len(row))
    again = {name: row[name] for name in shuffled}
    assert Interactions().transform_one(again) == Interactions().transform_one(row)


def test_bad_rows_and_parameters_are_errors():
    with pytest.raises(DataError, match="field 'a': 'red' is not a finite number"):
        Interactions().transform_one({"a": "red"})
    with pytest.raises(DataError, match=r"field 'a\*a': the product is too large"):
        Interactions().transform_one({"a": 1e200})
    for terms in ["ab", [("a",)], [("a", 3)], None]:
        with pytest.raises(ParameterError, match="'terms' parameter must be a list of tuples"):
            Interactions(terms).fit([])
