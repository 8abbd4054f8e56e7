"""A user's joint feature map: the block map gives top-1, and files, averages and costs work."""

import importlib.util
import pickle
from pathlib import Path

import numpy as np
import pytest
from linear_model.oracles import EXACT, class_stream

from yarrow.errors import DataError, ModelFileError, ParameterError
from yarrow.linear_model import (
    AROWClassifier,
    CWClassifier,
    OGDClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    SCWClassifier,
    StructuredClassifier,
    load,
)

LEARNERS = [
    Perceptron(**EXACT),
    Perceptron(average=True, **EXACT),
    PassiveAggressiveClassifier(0.2, "pa", **EXACT),
    PassiveAggressiveClassifier(0.2, "pa1", **EXACT),
    PassiveAggressiveClassifier(0.2, "pa2", average=True, **EXACT),
    AROWClassifier(0.5, **EXACT),
    AROWClassifier(0.5, "projected", average=True, **EXACT),
    AROWClassifier(0.5, loss="hinge", **EXACT),
    CWClassifier(**EXACT),
    SCWClassifier(**EXACT),
    OGDClassifier("logistic", **EXACT),
]
TAGS = ("a", "b", "c")


def block_map(x, label):
    """Every class has a copy of all features for itself."""
    return {f"{label}:{name}": value for name, value in enumerate(x) if value}


def difference_cost(y, z):
    return abs(y - z) / 10


def both(learner, X, y, **how):
    """The block form of the core, and the same by the joint map."""
    block = learner.clone({"multiclass": "top1", "fit_intercept": False, **how.pop("block", {})})
    seen = []
    joint = StructuredClassifier(learner, block_map, labels=lambda x: seen, **how)
    weights = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(y))
    for x, label, w in zip(X, y.tolist(), weights, strict=True):
        seen += [label] * (label not in seen)
        block.partial_fit([x], [label], sample_weight=[w])
        joint.learn_one(x, label, w)
    return block, joint


def assert_same_weights(block, joint, X):
    for k, label in enumerate(block.classes_):
        found = [joint.weights_.get(f"{label}:{j}", 0.0) for j in range(X.shape[1])]
        np.testing.assert_allclose(found, block.coef_[k], rtol=0, atol=1e-12)
    scores = block.decision_function(X)
    ahead = np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0] > 1e-9  # elsewhere rounding decides
    assert ahead.sum() > 100
    assert joint.predict(X[ahead]) == block.predict(X[ahead]).tolist()
    assert joint.n_updates_ == block.n_updates_
    assert joint.t_ == block.t_


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_block_map_is_top1(learner):
    X, y = class_stream(31, rows=150)
    assert_same_weights(*both(learner, X, y), X)


@pytest.mark.parametrize("rival", ["prediction", "max_loss"])
@pytest.mark.parametrize("learner", [LEARNERS[3], LEARNERS[5]], ids=repr)
def test_costs_are_those_of_the_block_form(learner, rival):
    X, y = class_stream(32, rows=150)
    pairs = {(a, b): abs(a - b) / 10 for a in range(0, 40, 10) for b in range(0, 40, 10)}
    strategy = {"prediction": "top1", "max_loss": "max_loss"}[rival]
    models = both(
        learner, X, y, cost=difference_cost, rival=rival,
        block={"cost": pairs, "multiclass": strategy},
    )  # fmt: skip
    assert_same_weights(*models, X)


def tag_map(words, tags):
    found = {}
    for before, word, tag in zip(("", *tags), words, tags, strict=False):
        for name in (f"{tag}:{word}", f"{before}>{tag}"):
            found[name] = found.get(name, 0) + 1
    return found


def by_enumeration(words):
    return [(a, b) for a in TAGS for b in TAGS]


def decode_by_enumeration(words, score):
    return max(by_enumeration(words), key=lambda tags: score(tag_map(words, tags)))


def sentences(n, seed=0):
    random = np.random.default_rng(seed)
    X = [tuple(f"w{i}" for i in random.integers(6, size=2)) for _ in range(n)]
    y = [tuple(TAGS[int(w[1]) % 3] for w in words) for words in X]
    return X, y


def test_a_decoder_and_a_list_agree():
    """Learning against the prediction: a decoder that finds the truth is not asked again."""
    X, y = sentences(200)
    listed = StructuredClassifier(Perceptron(**EXACT), tag_map, labels=by_enumeration)
    decoded = StructuredClassifier(Perceptron(**EXACT), tag_map, decode=decode_by_enumeration)
    listed.partial_fit(X, y)
    decoded.partial_fit(X, y)
    # On a tie the list's rival comes from the wrong outputs only; afterwards both have learned.
    assert decoded.score(X, y) == listed.score(X, y) == 1.0


def test_fit_forgets_and_makes_passes():
    X, y = sentences(60)
    model = StructuredClassifier(Perceptron(max_iter=3), tag_map, labels=by_enumeration).fit(X, y)
    assert model.t_ == 180
    first = model.weights_
    assert model.fit(X, y).weights_ == first
    assert model.clone().fit(X, y).weights_ == first


@pytest.mark.parametrize("average", [False, True])
def test_files_and_pickles_go_on_exactly(tmp_path, average):
    X, y = sentences(100)
    learner = AROWClassifier(average=average)
    whole = StructuredClassifier(learner, tag_map, labels=by_enumeration).partial_fit(X, y)
    half = StructuredClassifier(learner, tag_map, labels=by_enumeration)
    half.partial_fit(X[:50], y[:50]).save(tmp_path / "half.yarrow")
    with pytest.raises(ModelFileError, match=r"feature_map=\.\.\. to load"):
        load(tmp_path / "half.yarrow")
    objects = {"feature_map": tag_map, "labels": by_enumeration}
    loaded = StructuredClassifier.load(tmp_path / "half.yarrow", **objects)
    assert loaded.learner.get_params() == learner.get_params()
    for other in (loaded, pickle.loads(pickle.dumps(half)), half):
        assert other.partial_fit(X[50:], y[50:]).weights_ == whole.weights_


def test_a_list_of_outputs_is_kept_in_the_file(tmp_path):
    outputs = by_enumeration(None)
    model = StructuredClassifier(None, tag_map, labels=outputs).partial_fit(*sentences(30))
    model.save(tmp_path / "model.yarrow")
    loaded = load(tmp_path / "model.yarrow", feature_map=tag_map)
    assert list(loaded.labels) == outputs
    X, _ = sentences(20, seed=1)
    assert loaded.predict(X) == model.predict(X)


def test_texts_as_values_and_features_that_cancel():
    model = StructuredClassifier(
        Perceptron(), lambda x, z: {"word": x, "tag": z, "both": x + z, "bias": 1}, labels="xy"
    )
    model.set_params(labels=["x", "y"]).learn_one("w", "y")
    assert model.weights_ == {"tag=y": 1.0, "both=wy": 1.0, "tag=x": -1.0, "both=wx": -1.0}


def test_nothing_to_learn_from():
    """An output without a rival, and outputs whose features are equal, leave the weights alone."""
    alone = StructuredClassifier(Perceptron(), block_map, labels=[0])
    alone.learn_one([1.0], 0)
    assert (alone.t_, alone.n_updates_, alone.n_mistakes_) == (1, 0, 0)
    equal = StructuredClassifier(AROWClassifier(), lambda x, z: {"same": 1}, labels=[0, 1])
    equal.learn_one(None, 1)
    assert (equal.t_, equal.n_updates_, equal.weights_) == (1, 0, {})


def test_bad_settings_and_outputs_are_refused():
    for settings, says in (
        ({}, "'feature_map' must be given"),
        ({"feature_map": block_map}, "'labels' must be given"),
        ({"feature_map": block_map, "decode": max, "rival": "max_loss"}, "'labels' must be given"),
        ({"feature_map": 3, "labels": [1]}, "'feature_map' parameter must be a function"),
        ({"learner": 3}, "'learner' parameter must be None or a linear classifier"),
        ({"learner": Perceptron(margin=-1), "feature_map": block_map, "labels": [1]}, "'margin'"),
    ):
        with pytest.raises(ParameterError, match=says):
            StructuredClassifier(**settings).learn_one([1.0], 0)
    model = StructuredClassifier(None, block_map, labels=[0, 1], cost=lambda y, z: -1)
    with pytest.raises(DataError, match="must be finite and >= 0"):
        model.learn_one([1.0], 0)
    assert model.predict_one([1.0]) is None
    with pytest.raises(ValueError, match="not fitted"):
        model.predict([[1.0]])


def test_a_failed_row_leaves_no_trace():
    model = StructuredClassifier(None, block_map, labels=[0, 1])
    model.learn_one([1.0], 0)
    before = model.weights_
    with pytest.raises(DataError):
        model.learn_one([float("nan"), 2.0], 1)
    assert model.weights_ == before
    assert model.t_ == 1


def test_the_sequence_example_learns_to_tag():
    path = Path(__file__).parents[2] / "examples" / "sequence.py"
    spec = importlib.util.spec_from_file_location("sequence", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main() > 0.95
