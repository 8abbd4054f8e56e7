"""A model as few bytes is the same model, and damage is refused."""

from __future__ import annotations

import numpy as np
import pytest
from contract.support import assert_same, learned

import yarrow
from yarrow.errors import ModelFileError
from yarrow.saving.compact import pack, unpack


def test_nothing_is_lost(few_variants, three_classes):
    X, y = three_classes
    model = few_variants().partial_fit(X, y)
    if getattr(model, "rule", None) is None:
        found = unpack(pack(model, few_variants()), few_variants())
        assert_same(learned(found), learned(model))


def test_arow_with_ten_features_takes_less_than_600_bytes():
    model, random = yarrow.AROWClassifier(), np.random.default_rng(0)
    for _ in range(1000):
        x = {f"feature{j}": random.normal() for j in range(10)}
        model.learn_one(x, bool(x["feature0"] > 0))
    assert len(pack(model, yarrow.AROWClassifier())) < 600


def test_damage_is_refused(two_classes):
    like = yarrow.AROWClassifier()
    content = pack(yarrow.AROWClassifier().fit(*two_classes), like)
    damaged = [content[:n] for n in range(0, len(content), 7)] + [content + b"x", b""]
    damaged += [content[:n] + bytes([content[n] ^ 1]) + content[n + 1 :] for n in range(0, 400, 9)]
    for each in damaged:
        with pytest.raises(ModelFileError):
            unpack(each, like)
    with pytest.raises(ModelFileError, match="same parameters"):
        unpack(content, yarrow.AROWClassifier(r=3.0))
