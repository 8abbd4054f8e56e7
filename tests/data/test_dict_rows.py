"""A dict of features means the same to the core and to the learners in Python."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from yarrow import AROWClassifier
from yarrow.data.dict_rows import features_of
from yarrow.errors import DataError
from yarrow.kernel import KernelPerceptron

ROWS = [
    {"a": 1.0, "b": 0.0, 3: -2},
    {"ü": True, "n": np.float32(0.5), "flag": np.bool_(True)},
    {True: 1.0, "a": 2.0},
    {np.int8(5): 1.0, np.str_("a"): 2.0},
    {"colour": "red", 7: "x", True: "y"},
    {"a": "b", "a=b": 2.0},
    {"a": None, "b": 1.0},
    {"half": Fraction(1, 2), "tenth": Decimal("0.25"), "zero-d": np.array(2.0)},
    {},
]
REFUSED = [
    {1.5: 1.0},
    {None: 1.0},
    {("a",): 1.0},
    {np.float64(2): 1.0},
    {2**63: 1.0},
    {"\ud800": 1.0},
    {"a": "\ud800"},
    {"a": b"3"},
    {"a": [1.0]},
    {"a": 1j},
    {"a": float("nan")},
    {"a": float("inf")},
    {"a": 10**400},
    [("a", 1.0)],
    "a",
]


@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_both_read_the_same_names_and_values(row):
    model = AROWClassifier(fit_intercept=False, dtype="float64")
    model.learn_one(row, "yes")
    found = features_of(row)
    assert dict.fromkeys(model.feature_names_) == dict.fromkeys(found)
    assert [type(name) for name in found] == [type(name) for name in model.feature_names_]
    values = {part.feature: part.value for part in model.explain_one(row).contributions}
    assert values == found


@pytest.mark.parametrize("row", REFUSED, ids=repr)
@pytest.mark.parametrize("learner", [AROWClassifier, KernelPerceptron])
def test_both_refuse_the_same_rows(row, learner):
    with pytest.raises(DataError):
        learner().learn_one(row, "yes")


@pytest.mark.filterwarnings("ignore:no feature of the rows is known")
def test_keys_mean_their_text_whichever_objects_they_are():
    random = np.random.default_rng(0)
    names = [f"{'ü' * (i % 3)}{i}" for i in range(9_000)]  # more than the core remembers
    same, fresh = AROWClassifier(), AROWClassifier()
    for turn in range(400):
        first = 0 if turn % 2 else int(random.integers(len(names) - 60))
        chosen, label = names[first : first + 60], turn % 3 % 2
        values = random.normal(size=60).tolist()
        row = dict(zip(chosen, values, strict=True))
        other = {name.encode().decode(): row[name] for name in chosen}  # at addresses used before
        assert same.predict_proba_one(row) == fresh.predict_proba_one(other)
        same.learn_one(row, label)
        fresh.learn_one(other, label)
        del row, other
    assert same.feature_names_ == fresh.feature_names_
    assert same.coef_.tolist() == fresh.coef_.tolist()
