"""What pickles of earlier versions name is still there, and says where it went."""

from __future__ import annotations

import importlib
import pickle
import sys

import pytest

import yarrow
from yarrow.experts import HedgeClassifier
from yarrow.online import adapters, batch


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("CoreMember", adapters.CoreAdapter),
        ("DictMember", adapters.DictAdapter),
        ("ArrayMember", adapters.ArrayAdapter),
        ("Member", adapters.Adapter),
        ("Block", batch.Batch),
        ("member_of", adapters.adapter_of),
    ],
)
def test_members_are_adapters(name: str, now: object) -> None:
    sys.modules.pop("yarrow.composite.members", None)
    with pytest.warns(DeprecationWarning, match=r"yarrow\.composite\.members has moved"):
        old = importlib.import_module("yarrow.composite.members")
    assert getattr(old, name) is now
    with pytest.raises(AttributeError, match="nobody"):
        old.nobody  # noqa: B018


def test_a_pickle_that_names_the_old_module_is_read() -> None:
    model = HedgeClassifier([yarrow.AROWClassifier(), yarrow.Perceptron()])
    model.partial_fit([[1.0, 0.0], [0.0, 1.0]] * 5, ["a", "b"] * 5)
    text = pickle.dumps(model, protocol=0)
    old = text.replace(
        b"yarrow.online.adapters\nCoreAdapter", b"yarrow.composite.members\nCoreMember"
    )
    assert old != text
    sys.modules.pop("yarrow.composite.members", None)
    with pytest.warns(DeprecationWarning, match="has moved to yarrow.online.adapters"):
        again = pickle.loads(old)
    again.learn_one({0: 1.0}, "a")
    model.learn_one({0: 1.0}, "a")
    assert again.predict_one({1: 1.0}) == model.predict_one({1: 1.0}) == "b"
    (one, _), (other, _) = again._packed(), model._packed()
    assert {name: array.tobytes() for name, array in one.items()} == {
        name: array.tobytes() for name, array in other.items()
    }
