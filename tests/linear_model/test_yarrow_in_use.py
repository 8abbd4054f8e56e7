"""YarrowClassifier as people use it: explained, weighted, saved, on real streams."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from linear_model.yarrow_textbook import stream

import yarrow
from yarrow import YarrowClassifier
from yarrow.datasets import load
from yarrow.datasets.catalogue import declared
from yarrow.errors import DataError, ModelFileError
from yarrow.saving import model_file


@pytest.mark.parametrize("columns", [3, 6, 70, 140])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_explanation_sums_up_to_the_score(classes, columns):
    X, y = stream(120, columns, classes)
    model = YarrowClassifier(dtype="float64").partial_fit(X, y)
    explained = 0
    for x in X:
        row = {j: float(v) for j, v in enumerate(x) if v}
        scores = np.ravel(model.decision_function(x[None]))
        scores = np.array([-scores[0], scores[0]]) if classes == 2 else scores
        if np.abs(scores).max() > 2:
            continue  # an expert may have been cut
        found = model.explain_one(row)
        assert found.label == np.argmax(scores)
        explained += abs(found.score - scores.max()) < 1e-9
    assert explained > 60


def test_memory_is_sixteen_numbers_a_feature():
    X = sp.random_array((200, 3000), density=0.05, random_state=0, format="csr")
    y = np.random.default_rng(0).integers(0, 2, 200)
    model = YarrowClassifier().partial_fit(X, y, classes=[0, 1])
    assert model._model.get_state()["blocks"].nbytes == 3001 * 16 * 4


def emptied(tensors):
    for name in ("blocks", "bends", "full_weights", "mixture_hits", "mixture_weights"):
        tensors[name] = tensors[name][..., :0] if name == "blocks" else tensors[name][:0]


def in_double(name):
    return lambda tensors: tensors.update({name: tensors[name].astype(np.float64)})


def changed(name, place, value):
    return lambda tensors: tensors[name].__setitem__(place, value)


DAMAGE = {
    "no columns": emptied,
    "fewer columns than classes": lambda t: t.update(blocks=t["blocks"][:, :, :2].copy()),
    "another type of bends": in_double("bends"),
    "another type of counts": lambda t: t.update(mixture=t["mixture"].astype(np.int64)),
    "another number of dimensions": lambda t: t.update(full_covariance=t["bends"][0, 0]),
    "a feature left out": lambda t: t.update(few_features=t["few_features"][:-1].copy()),
    "a feature twice": changed("few_features", 1, 0),
    "a feature that is none": changed("few_features", 1, 6),
    "numbers of no features": lambda t: t.pop("few_features"),
    "no covariance": lambda t: t.pop("full_covariance"),
    "no weights": lambda t: t.pop("blocks"),
    "more hits than visits": changed("mixture_hits", 0, 1e6),
    "a negative total": changed("mixture", -1, -1.0),
    "negative visits": changed("blocks", (2, 13), -1.0),
    "a negative precision": changed("blocks", (2, 6, 0), -1.0),
    "pairs without their trial": lambda t: t.pop("pair_trial"),
    "a trial without pairs": lambda t: t.pop("pair_weights"),
    "pairs without precisions": lambda t: t.pop("pair_precisions"),
    "another type of pairs": in_double("pair_weights"),
    "fewer pairs": lambda t: t.update(pair_weights=t["pair_weights"][:, :-1].copy()),
    "pairs of fewer classes": lambda t: t.update(pair_weights=t["pair_weights"][:-1].copy()),
    "a feature of pairs twice": changed("pair_features", slice(0, 2), 1),
    "a feature of pairs that is none": changed("pair_features", 1, 6),
    "a feature of pairs below all": changed("pair_features", 1, -1),
    "fewer features than pairs": lambda t: t.update(pair_features=t["pair_features"][:-1].copy()),
    "a trial before all rows": changed("pair_trial", -1, 0.0),
    "a trial too far away": changed("pair_trial", -1, 1e300),
    "a trial between rows": changed("pair_trial", -1, 5000.5),
    "a negative loss": changed("pair_trial", -3, -1.0),
    "a trial without covariance": changed("pair_trial", 9, -1.0),
    "a negative precision of a pair": changed("pair_precisions", (0, 3), -1.0),
    "a precision out of range": changed("pair_precisions", (0, 3), 2e30),
    "no row of the drift": changed("mixture_drift_rows", 0, 0.0),
    "rows of the drift too many": lambda t: t.update(mixture_drift_rows=np.ones(2)),
    "fewer rates": lambda t: t.update(mixture_rates=t["mixture_rates"][:-1].copy()),
    "a rate of nothing": changed("mixture_rates", 0, 0.0),
    "a rate too large": changed("mixture_rates", 5, 1e7),
    "a rate below zero": changed("mixture_rates", -1, -1.0),
    "a memory that grows": changed("mixture_rates", 6, 1.5),
    "negative visits of a piece": changed("bends", (0, 3, 3), -1.0),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_whose_parts_do_not_belong_together_is_refused(damage, tmp_path):
    """Its digests are right: somebody wrote it so."""
    X, y = stream(200, 6, 3)
    YarrowClassifier().partial_fit(X, y).save(tmp_path / "good")
    views, metadata = model_file.read(tmp_path / "good")
    tensors = {name: np.array(view) for name, view in views.items()}
    DAMAGE[damage](tensors)
    model_file.write(tmp_path / "bad", tensors, metadata)
    with pytest.raises(ModelFileError, match=r"bad: .*(the state|it has no weights)"):
        yarrow.load(tmp_path / "bad")


def test_a_model_goes_on_with_the_sizes_of_steps_that_it_began_with():
    """Others that are chosen later are for models that begin later."""
    X, y = stream(200, 6, 3)
    cautious = type("Cautious", (YarrowClassifier,), {"_constants": lambda _: CAUTIOUS})
    model = cautious().partial_fit(X[:100], y[:100])
    again = YarrowClassifier()
    again.__setstate__(model.__getstate__())
    told = [one.partial_fit(X[100:], y[100:]).decision_function(X) for one in (model, again)]
    np.testing.assert_array_equal(*told)


CAUTIOUS = {"rates": [3.0] * 6, "memories": [0.5] * 6, "spline_r": [2.0], "mixture_r": [5.0]}
#: of files from before they said
UNNAMED = {
    "rates": [0.3, 0.03, 1, 1, 1, 0.5], "memories": [1, 1, 0.9, 0.7, 0.99, 1], "spline_r": [0.1],
    "covariance_r": [0.1], "interactions_r": [0.3], "mixture_r": [1],
}  # fmt: skip


def test_a_model_that_does_not_say_its_sizes_of_steps_has_the_first_ones():
    X, y = stream(200, 6, 3)
    early = type("Early", (YarrowClassifier,), {"_constants": lambda _: UNNAMED})
    model = early().partial_fit(X[:100], y[:100])
    state = model.__getstate__()
    assert "mixture_rates" not in state["_core_state"]["tensors"]
    again = YarrowClassifier()
    again.__setstate__(state)
    told = [one.partial_fit(X[100:], y[100:]).decision_function(X) for one in (model, again)]
    np.testing.assert_array_equal(*told)


@pytest.mark.parametrize("weight", [0.1, 0.7, 3.7, "random"])
def test_columns_far_from_zero_are_told_apart_whatever_rows_weigh(weight):
    """Counts are rounded to float32, but a column that is always there is known to be so."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 3)) + 300
    y = (X.sum(axis=1) > 900).astype(int)
    weights = np.ones(len(y)) if isinstance(weight, str) else np.full(len(y), weight)
    if weight == "random":
        weights = random.uniform(0, 2, len(y))
    told = YarrowClassifier().progressive(X, y, sample_weight=weights)
    assert np.mean((told.predictions == y)[-5000:]) > 0.98


def test_a_feature_whose_visits_were_halved_away_does_not_stop_a_model_from_loading():
    X, y = stream(60, 6, 2)
    model = YarrowClassifier().partial_fit(X, y)
    state = model.__getstate__()
    state["_core_state"]["tensors"]["blocks"][3, 12:14] = 0
    again = YarrowClassifier()
    again.__setstate__(state)
    assert len(again.predict(X)) == 60


def collinear(random):
    few = random.normal(size=(20_000, 5))
    return few @ random.normal(size=(5, 60)), few[:, 0] > 0, None


def one_of_five(random):
    X = np.zeros((20_000, 60))
    for first in range(0, 60, 5):
        X[np.arange(len(X)), first + random.integers(0, 5, len(X))] = 1
    return X, X @ random.normal(size=60) > 0, None


def heavy(random):
    X = np.tile(random.normal(size=(5, 30)), (200, 1))
    return X, random.integers(0, 2, len(X)) > 0, np.full(len(X), 1e300)


def of_all_weights(random):
    X = random.normal(size=(20_000, 30))
    return X, X[:, 0] + random.normal(size=len(X)) > 0, 10.0 ** random.uniform(-6, 6, len(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [collinear, one_of_five, heavy, of_all_weights])
def test_the_covariance_of_few_features_stays_positive(rows, dtype):
    X, y, weights = rows(np.random.default_rng(0))
    model = YarrowClassifier(dtype=dtype).partial_fit(X, y, sample_weight=weights)
    state = model._model.get_state()
    variances = np.linalg.eigvalsh(state["full_covariance"].astype(float))
    assert variances[0] > 1e-7
    assert variances[-1] < 1.001
    assert np.abs(state["full_weights"]).max() < 1e4


def test_names_that_share_a_place_share_what_it_adds():
    random = np.random.default_rng(5)
    model = YarrowClassifier(hash_bits=2, dtype="float64")
    for i in range(40):
        model.learn_one({f"w{k}": float(random.normal()) for k in range(6)}, i % 2)
    row = dict.fromkeys([f"w{k}" for k in range(6)], 1.0)
    scores = model._model.score_one(row)[0]
    assert model.explain_one(row, 1).score == pytest.approx(scores[1], rel=1e-9)


@pytest.mark.parametrize("size", [1e170, 1.0, 1e-170])
def test_values_of_any_size_are_explained(size):
    random = np.random.default_rng(0)
    model = YarrowClassifier(dtype="float64")
    for i in range(60):
        model.learn_one({"a": size * random.normal(), "b": random.normal()}, i % 2)
    row = {"a": size, "b": 0.3}
    assert model.explain_one(row, 1).score == pytest.approx(model._model.score_one(row)[0][1])


def test_memory_counts_what_is_kept_of_few_features():
    X, y = stream(200, 6, 3)
    model = YarrowClassifier().partial_fit(X, y)
    kept = sum(model._model.get_state()[name].nbytes for name in ("bends", "full_covariance"))
    assert model._model.memory > model._model.get_state()["blocks"].nbytes + kept


def real(name, rows):
    if not declared(name).is_here():
        pytest.skip(f"{name} is not in YARROW_DATA")
    data = load(name)
    return data.X[:rows], np.asarray(data.y[:rows])


def test_it_learns_real_text():
    X, y = real("sms-spam", 3000)
    assert YarrowClassifier().partial_fit(X, y).n_mistakes_ < 0.02 * 3000


@pytest.mark.parametrize("name", ["a9a", "electricity", "20newsgroups", "usps"])
def test_probabilities_are_calibrated_on_real_streams(name):
    """Of the rows that are 80 % sure, about 80 % are right; from the second thousand on."""
    X, y = real(name, 5000)
    told = YarrowClassifier().progressive(X, y, classes=np.unique(y), probabilities=True)
    sure, right = told.probabilities[1000:].max(axis=1), (told.predictions == y)[1000:]
    tenth = np.minimum((10 * sure).astype(int), 9)
    off = [abs(np.sum(sure[tenth == k]) - np.sum(right[tenth == k])) for k in range(10)]
    assert np.sum(off) < 0.05 * len(sure)


def test_a_file_in_which_seen_features_have_no_numbers_is_refused(tmp_path):
    X, y = stream(200, 70, 3)
    YarrowClassifier().partial_fit(X, y).save(tmp_path / "good")
    views, metadata = model_file.read(tmp_path / "good")
    tensors = {name: np.array(view) for name, view in views.items()}
    assert len(tensors["few_features"]) == 70
    pieces_of_four = 7 * 4  # behind these features' own pieces none but their own stand
    tensors["bends"] = tensors["bends"][:, :-pieces_of_four].copy()
    tensors["few_features"] = tensors["few_features"][:-4].copy()
    model_file.write(tmp_path / "bad", tensors, metadata)
    with pytest.raises(ModelFileError, match="do not belong together"):
        yarrow.load(tmp_path / "bad")


def test_values_that_cancel_at_a_shared_place_explain_nothing():
    model = YarrowClassifier(hash_bits=1)
    for i in range(20):
        model.learn_one({"a": float(i % 3), "b": 1.0, "c": 2.0}, i % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explained = [model.explain_one({name: 1.0, "a": -1.0}) for name in "bcdefg"]
    assert all(np.isfinite(one.score) for one in explained)


@pytest.mark.parametrize(("name", "numbers"), [("nonsense", [1.0]), ("drift", [1.0, 2.0])])
def test_constants_are_known_by_their_names(name, numbers):
    class Changed(YarrowClassifier):
        def _constants(self):
            return {name: numbers}

    with pytest.raises(DataError, match=f"has no constant '{name}' of {len(numbers)} numbers"):
        Changed().learn_one({"a": 1.0}, 0)


@pytest.mark.parametrize("order", [[], [0], [0, 1, 2]])
def test_an_export_is_of_the_classes_that_the_model_has(order):
    model = YarrowClassifier().partial_fit(np.eye(2), [0, 1])
    with pytest.raises(DataError, match="other classes now"):
        model._fitted.settled(order)
