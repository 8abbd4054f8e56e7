"""The table of what goes together: allowed settings learn, others are refused by name."""

from pathlib import Path

import numpy as np
import pytest
from linear_model.oracles import class_stream

from yarrow import linear_model
from yarrow.base.combinations import AXES, choices, combinations, is_allowed
from yarrow.base.linear import LinearModel
from yarrow.errors import ParameterError

X, Y = class_stream(41, rows=30, features=3, classes=3)
LEARNERS = [
    item
    for item in (getattr(linear_model, name) for name in linear_model.__all__)
    if isinstance(item, type) and issubclass(item, LinearModel) and item.learns_labels
]
#: every word that any learner knows for an axis
WORDS = {
    axis: list(dict.fromkeys(word for cls in LEARNERS for word in choices(cls).get(axis, ())))
    for axis in AXES
}


@pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)
def test_every_combination_learns_or_is_refused(cls):
    allowed = 0
    for settings in combinations(cls):
        model = cls(**settings)
        if is_allowed(cls, settings):
            allowed += 1
            model.partial_fit(X, Y)
            assert model.t_ == len(Y)
            assert np.isfinite(model.coef_).all()
            continue
        broken = [rule for rule in cls.restrictions if rule.applies(model)]
        words = [repr(word) for rule in broken for word in rule.allowed]
        with pytest.raises(ParameterError) as error:
            model.partial_fit(X, Y)
        assert any(word in str(error.value) for word in words)
        assert not hasattr(model, "_model")
    assert allowed


@pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)
def test_words_of_other_learners_are_refused_by_naming_the_own_ones(cls):
    own = choices(cls)
    for axis, words in WORDS.items():
        for word in words:
            if axis not in own:
                with pytest.raises(TypeError, match=axis):
                    cls(**{axis: word})
            elif word not in own[axis]:
                with pytest.raises(ParameterError) as error:
                    cls(**{axis: word}).partial_fit(X, Y)
                assert all(repr(choice) in str(error.value) for choice in own[axis])


@pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)
def test_the_declarations_agree(cls):
    """A learner offers only what its loop and its rule can do in the core."""
    for settings in combinations(cls):
        if settings.get("multiclass") in ("topk", "all") and is_allowed(cls, settings):
            assert cls(**settings)._rule().meets_many_rivals


def test_cost_needs_a_strategy_with_rivals():
    for name in ("PassiveAggressiveClassifier", "AROWClassifier"):
        model = getattr(linear_model, name)(cost={(0, 10): 2.0})
        with pytest.raises(ParameterError, match="'multiclass' parameter must be 'top1' or"):
            model.partial_fit(X, Y)


def test_the_table_has_a_row_for_each_learner():
    page = (Path(__file__).parents[2] / "docs" / "learners.md").read_text()
    lines = page[page.index("| learner | loss | variant |") :].partition("\n\n")[0].splitlines()
    rows = lines[2:]
    assert {row.split()[1] for row in rows} >= {cls.__name__ for cls in LEARNERS}
    assert len({row.count("|") for row in lines}) == 1
    [arow] = [row for row in rows if row.split()[1] == "AROWClassifier"]
    assert "multiclass='topk' or 'all' needs loss='squared_hinge'" in arow
