"""A model as few bytes is the same model, and damage is refused."""

from __future__ import annotations

import base64
import tracemalloc
import zlib

import numpy as np
import pytest
from contract.support import assert_same, learned

import yarrow
from yarrow.errors import ModelFileError, OtherModelError
from yarrow.saving.compact import pack, unpack

#: of AROWClassifier(r=2.0) that learned {"x": 1.0}: "a", then {"y": 2.0}: "b"
GOLDEN = (
    "WUMBoGy6IRNiYWCgX7lgNFouDJlyQSkRVMsoEV88GCGVDUZ0KhmMRwsGPAWDEe5ywRhnsQAqFdIYQGD16jQwBoFVq9"
    "KAeBmQ1dCgpZV2YNWqffvs7cHYzs6OAQl8+GBvz0AScHAgStkvOKsZznqPRWwVnMWGcBQQOoAAgz0QOjCMglEwCgYS"
    "fKBQvz2V3MHIhFW4ohIA"
)


def taught() -> yarrow.AROWClassifier:
    model = yarrow.AROWClassifier(r=2.0)
    model.learn_one({"x": 1.0}, "a")
    model.learn_one({"y": 2.0}, "b")
    return model


def test_nothing_is_lost(few_variants, three_classes):
    X, y = three_classes
    model = few_variants().partial_fit(X, y)
    objects = {"rule": model.rule} if getattr(model, "rule", None) is not None else None
    found = unpack(pack(model), objects)
    assert_same(learned(found), learned(model))
    assert repr(found.get_params()) == repr(model.get_params())


def test_other_kinds_of_models():
    model = yarrow.kernel.KernelPerceptron()
    model.learn_one({"x": 1.0}, "a")
    assert unpack(pack(model)).predict_one({"x": 1.0}) == "a"


def test_parameters_changed_since_then_count_from_the_next_fit_on():
    model = taught().set_params(r=5.0)
    found = unpack(pack(model))
    assert found.r == 5.0
    for each in (model, found):
        each.learn_one({"x": -1.0}, "b")
    assert_same(learned(found), learned(model))


def test_arow_with_ten_features_takes_less_than_600_bytes():
    model, random = yarrow.AROWClassifier(), np.random.default_rng(0)
    for _ in range(1000):
        x = {f"feature{j}": random.normal() for j in range(10)}
        model.learn_one(x, bool(x["feature0"] > 0))
    assert len(pack(model)) < 600


def test_what_was_packed_once_can_always_be_read():
    assert_same(learned(unpack(base64.b64decode(GOLDEN))), learned(taught()))


def test_damage_is_refused(two_classes):
    content = pack(yarrow.AROWClassifier().fit(*two_classes))
    damaged = [content[:n] for n in range(0, len(content), 7)] + [content + b"x", b""]
    damaged += [
        content[:n] + bytes([content[n] ^ 1]) + content[n + 1 :] for n in range(0, len(content), 3)
    ]
    for each in damaged:
        with pytest.raises(ModelFileError):
            unpack(each)


def test_a_newer_version_and_another_class_are_named():
    content = pack(taught())
    with pytest.raises(ModelFileError, match="format 9 by a newer Yarrow"):
        unpack(content[:2] + b"\x09" + content[3:])
    with pytest.raises(OtherModelError, match="holds a AROWClassifier, not a Perceptron"):
        unpack(content, cls=yarrow.Perceptron)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"r":2.0', b'"r":0.0'),
        (b'"<f4"', b'"<c8"'),
        (b'"classes":["a","b"]', b'"classes":["a","a"]'),
        (b'"scalars":["<f8",[10]]', b'"scalars":["<f8",[-1]]'),
        (b'"scalars":["<f8",[10]]', b'"scalars":["<f8",[%s]]' % b",".join([b"9" * 4000] * 4000)),
        (b'{"metadata"', b'["metadata"'),
    ],
)
def test_what_is_whole_but_wrong_is_refused(old, new):
    """Forged, with a checksum that fits: the schemas of files hold here, too."""
    from yarrow.saving import compact

    content = compact._content(pack(taught()))
    assert content.count(old) == 1
    forged = content.replace(old, new)
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS, zdict=compact._DICTIONARIES[1])
    deflated = deflate.compress(forged) + deflate.flush()
    with pytest.raises(ModelFileError):
        unpack(b"YC\x01" + zlib.crc32(deflated).to_bytes(4, "little") + deflated)


def test_few_bytes_do_not_make_gigabytes() -> None:
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    bomb = deflate.compress(bytes(1 << 28)) + deflate.flush()
    packed = b"YC\x01" + zlib.crc32(bomb).to_bytes(4, "little") + bomb
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="damaged"):
        unpack(packed)
    assert tracemalloc.get_traced_memory()[1] < 2e8
    tracemalloc.stop()


def test_a_large_model_of_zeros_can_be_read_again() -> None:
    model = yarrow.AROWClassifier(hash_bits=24)
    model.learn_one({"a": 1}, "yes")
    model.learn_one({"b": 1}, "no")
    again = unpack(pack(model))
    assert again.predict_one({"a": 1}) == "yes"
