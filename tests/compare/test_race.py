"""A race: what comes out is what each entrant would do alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from yarrow import (
    AROWClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    VotedPerceptron,
)
from yarrow.compare import Comparison, Entrant, Race, race
from yarrow.datasets import Block
from yarrow.errors import YarrowError
from yarrow.kernel import ForgetronClassifier, KernelPassiveAggressiveClassifier


def rows(n=300, columns=12, classes=3, seed=0, values=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns)) * (random.random((n, columns)) < 0.5)
    X = X.astype(np.float32)
    truth = X @ random.normal(size=(columns, classes))
    y = truth[:, 0] + 0.1 * random.normal(size=n) if values else np.argmax(truth, axis=1)
    return sp.csr_array(X), y


def blocks(X, y, size=64, **more):
    for at in range(0, len(y), size):
        part = slice(at, at + size)
        yield Block(X[part], y[part], **{k: v[part] for k, v in more.items()})


def entrants():
    models = [
        AROWClassifier(r=0.1),
        AROWClassifier(),
        PassiveAggressiveClassifier(multiclass="top1"),
        Perceptron(average=True),
        VotedPerceptron(),
        AROWClassifier(hash_bits=4),
    ]
    return [Entrant(f"{i} {model!r}", model) for i, model in enumerate(models)]


def plain(outcome):
    kept = outcome.to_json()
    del kept["seconds"]
    return kept


def test_an_entrant_does_what_it_would_do_alone():
    X, y = rows()
    listed = entrants()
    outcomes = race(blocks(X, y), listed)
    for entrant, outcome in zip(listed, outcomes, strict=False):
        alone = entrant.model.clone()
        said = alone.progressive(X, y).predictions
        assert outcome.wrong.tolist() == (said != y).tolist()
        assert outcome.mistakes == np.count_nonzero(said != y)
        assert outcome.rows == 300
        assert outcome.updates == alone.n_updates_
        assert outcome.nonzeros == alone.n_nonzero_
        assert outcome.model.coef_.tobytes() == alone.coef_.tobytes()
        assert "_model" not in entrant.model.__dict__  # the entrant itself is left alone
        counts = np.array(outcome.confusion["counts"])
        labels = [int(label) for label in outcome.confusion["labels"]]
        for i, true in enumerate(labels):
            for j, predicted in enumerate(labels):
                assert counts[i, j] == np.count_nonzero((y == true) & (said == predicted))
        for n, error in outcome.curve:
            assert error == pytest.approx(np.mean(outcome.wrong[:n]))
        assert {1, 2, 256, 300} <= {n for n, _ in outcome.curve}


@pytest.mark.parametrize("size", [7, 300])
def test_threads_and_blocks_change_nothing(size):
    X, y = rows()
    expected = [plain(o) for o in race(blocks(X, y, 50), entrants(), threads=1)]
    found = [plain(o) for o in race(blocks(X, y, size), entrants(), threads=3)]
    for one, other in zip(found, expected, strict=True):
        one.pop("nonzeros_curve"), other.pop("nonzeros_curve")  # looked at when blocks end
        assert one == other


@pytest.mark.parametrize("values", [False, True])
def test_baselines_are_what_they_say(values):
    X, y = rows(values=values)
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.0], 300)
    *_, last, majority = race(blocks(X, y, weights=weights), [], regression=values)
    wrong_last, wrong_majority, seen = [], [], []
    for label, weight in zip(y.tolist(), weights, strict=True):
        if weight == 0:
            continue
        if values:
            wrong_last.append((label - (seen[-1] if seen else 0.0)) ** 2)
            wrong_majority.append((label - (np.mean(seen) if seen else 0.0)) ** 2)
        else:
            wrong_last.append(not seen or label != seen[-1])
            best = max(seen, key=lambda s: (seen.count(s), -seen.index(s))) if seen else None
            wrong_majority.append(label != best)
        seen.append(label)
    np.testing.assert_allclose(last.wrong, wrong_last)
    np.testing.assert_allclose(majority.wrong, wrong_majority)
    assert {last.family, majority.family} == {"baseline"}


def test_one_that_fails_is_out_and_the_others_go_on():
    X, y = rows()
    X = X.tocsr(copy=True)
    X.data[X.indptr[200]] = 3e38
    listed = [
        Entrant("overflows", Perceptron(margin=1e30)),
        Entrant("wrong parameter", AROWClassifier(r=-1)),
        Entrant("wrong task", PassiveAggressiveRegressor()),
        Entrant("refuses a class", Perceptron(classes=[0, 1])),
        Entrant("goes on", Perceptron(dtype="float64")),
    ]
    outcomes = race(blocks(X, y), listed)
    failures = {o.name: o.failure for o in outcomes}
    assert "Row 8" in failures["overflows"]
    assert "after 192 rows" in failures["overflows"]
    assert failures["wrong parameter"] == "The 'r' parameter must be > 0. Got -1 instead."
    assert "not for classes" in failures["wrong task"]
    assert "not one of the declared classes" in failures["refuses a class"]
    assert failures["goes on"] is None
    assert outcomes[4].rows == 300
    assert outcomes[0].model is None


def test_mistakes_count_against_labels_before_noise():
    X, clean = rows()
    random = np.random.default_rng(0)
    y = np.where(random.random(300) < 0.3, (clean + 1) % 3, clean)
    (outcome, *_) = race(blocks(X, y, clean=clean), [Entrant("a", AROWClassifier())])
    said = AROWClassifier().progressive(X, y).predictions
    assert outcome.wrong.tolist() == (said != clean).tolist()
    (noisy, *_) = race(blocks(X, y, clean=clean), [Entrant("a", AROWClassifier())], clean=False)
    assert noisy.wrong.tolist() == (said != y).tolist()


def test_later_passes_are_shown_apart():
    X, y = rows()
    running = Race([Entrant("a", AROWClassifier())])
    running.run(blocks(X, y))
    running.run(blocks(X, y))
    outcome = running.outcomes()[0]
    model = AROWClassifier()
    first = np.mean(model.progressive(X, y).predictions != y)
    second = np.mean(model.progressive(X, y).predictions != y)
    assert outcome.pass_errors == [first, second]
    assert outcome.rows == 300
    assert outcome.mistakes == round(first * 300)
    assert outcome.model.coef_.tobytes() == model.coef_.tobytes()


@pytest.mark.parametrize("values", [False, True])
def test_learners_of_other_libraries_take_part(values):
    linear_model = pytest.importorskip("sklearn.linear_model")
    river = pytest.importorskip("river.linear_model")
    X, y = rows(80, values=values)
    if values:
        theirs, other = linear_model.SGDRegressor(), river.PARegressor()
    else:
        theirs, other = linear_model.SGDClassifier(random_state=0), river.SoftmaxRegression()
    outcomes = race(
        blocks(X, y),
        [Entrant("sklearn", theirs), Entrant("river", other)],
        regression=values,
        classes=None if values else [0, 1, 2],
    )
    assert [o.failure for o in outcomes] == [None] * 4
    assert outcomes[0].learner == type(theirs).__name__
    said, expected = [], other.clone()
    for i, x in enumerate(X.toarray()):
        row = {j: float(v) for j, v in enumerate(x) if v}
        said.append(expected.predict_one(row))
        expected.learn_one(row, y[i].item())
    if values:
        np.testing.assert_allclose(outcomes[1].wrong, (np.array(said) - y) ** 2)
    else:
        assert outcomes[1].wrong.tolist() == [a != b for a, b in zip(said, y, strict=True)]


def test_kernel_learners_take_part():
    X, y = rows(120)
    models = [
        ForgetronClassifier(gamma=0.1, budget=20),
        KernelPassiveAggressiveClassifier(gamma=0.1),
    ]
    outcomes = race(blocks(X, y), [Entrant(str(i), model) for i, model in enumerate(models)])
    for outcome, model in zip(outcomes, models, strict=False):
        alone = model.clone()
        said = alone.progressive(X, y).predictions
        assert outcome.failure is None
        assert outcome.family == "kernel"
        assert outcome.mistakes == np.count_nonzero(said != y)
        assert outcome.updates == alone.n_updates_
        np.testing.assert_array_equal(
            outcome.model.decision_function(X), alone.decision_function(X)
        )
    failed = race(blocks(*rows(20, values=True)), [Entrant("0", models[0])], regression=True)[0]
    assert "not for a regression" in failed.failure


def test_names_are_unique_and_there_are_rows():
    twice = [Entrant("a", Perceptron()), Entrant("a", Perceptron())]
    with pytest.raises(YarrowError, match="Two entrants have the name 'a'"):
        race([], twice)
    with pytest.raises(YarrowError, match="no row"):
        race([], [])


def test_an_outcome_survives_json():
    X, y = rows(50)
    outcomes = race(blocks(X, y), entrants())
    whole = Comparison({"name": "x"}, outcomes=outcomes)
    again = Comparison.from_json(whole.to_json())
    assert [plain(o) for o in again.outcomes] == [plain(o) for o in outcomes]
