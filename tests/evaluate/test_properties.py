"""Table 9 of Crammer, Kulesza & Dredze 2013 comes out of experiments."""

from __future__ import annotations

from typing import Any

import pytest

import yarrow
from yarrow.evaluate.properties import Properties, properties, properties_table

#: large margin, confidence, non-separable, adaptive margin, as the paper has them
TABLE_9 = {
    "Perceptron": (yarrow.Perceptron(), (False, False, True, False)),
    "PA": (yarrow.PassiveAggressiveClassifier(variant="pa1"), (True, False, True, False)),
    "SOP": (yarrow.SOPClassifier(), (False, True, True, False)),
    "CW": (yarrow.CWClassifier(), (True, True, False, True)),
    "AROW": (yarrow.AROWClassifier(), (True, True, True, False)),
    "AROW-H": (yarrow.AROWClassifier(loss="hinge"), (True, True, True, False)),
    "AdaGrad": (yarrow.AdaGradClassifier(), (True, True, True, False)),
}


@pytest.mark.parametrize("name", TABLE_9)
def test_the_paper_and_the_experiments_agree(name: str) -> None:
    model: Any
    model, expected = TABLE_9[name]
    assert properties(model) == Properties(*expected)


def test_the_table_is_markdown() -> None:
    lines = properties_table({name: model for name, (model, _) in TABLE_9.items()}).splitlines()
    assert len(lines) == 9
    assert lines[5] == "| CW | yes | yes | no | yes |"
