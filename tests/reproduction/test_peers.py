"""Learners of other libraries in a race are what these libraries do on their own."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from reproduction import peers
from yarrow import AROWClassifier
from yarrow.compare import race
from yarrow.compare.entrant import Entrant
from yarrow.datasets import Block

ROWS = 160


def rows(classes, sparse, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(ROWS, 12))
    if sparse:
        X *= random.random(X.shape) < 0.3
    truth = random.normal(size=(12, classes))
    y = np.array(["ant", "bee", "cat", "dog"])[(X @ truth + random.normal(size=classes)).argmax(1)]
    return X, y


def run(peer, X, y, *, block=64):
    """The peer's outcome in a race, over several blocks."""
    parts = [slice(at, at + block) for at in range(0, len(y), block)]
    blocks = [Block(csr_array(X[part]), y[part]) for part in parts]
    known = np.unique(y).tolist()
    outcome = race(blocks, [Entrant(peer.label, peer)], classes=known, threads=1)[0]
    assert outcome.failure is None
    return outcome


def by_appearance(y):
    return {label: number for number, label in enumerate(dict.fromkeys(y.tolist()))}


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "setting",
    [
        {"loss": "hinge", "learning_rate": "constant", "eta0": 0.1, "alpha": 0.01},
        {"loss": "log_loss", "learning_rate": "optimal", "alpha": 1e-4},
        {"loss": "modified_huber", "learning_rate": "invscaling", "eta0": 1.0, "power_t": 0.5},
        {"loss": "hinge", "learning_rate": "pa2", "eta0": 0.1, "penalty": None},
    ],
)
def test_sgd_is_partial_fit_row_by_row(setting, sparse, classes):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = rows(classes, sparse)
    number = by_appearance(y)
    numbers = np.array([number[label] for label in y])
    own = linear_model.SGDClassifier(**setting, shuffle=False, random_state=0)
    wrong = []
    for i in range(len(y)):
        row = csr_array(X[i : i + 1]) if sparse else X[i : i + 1]
        wrong.append(i == 0 or own.predict(row)[0] != numbers[i])
        own.partial_fit(row, numbers[i : i + 1], classes=np.arange(classes))
    outcome = run(peers.scikit_sgd(**setting), X, y)
    np.testing.assert_array_equal(outcome.wrong[1:], wrong[1:])
    np.testing.assert_allclose(outcome.model.coef, own.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(outcome.model.intercept, own.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "options",
    [
        {"arguments": "--loss_function logistic"},
        {"arguments": "--sgd", "loss_function": "hinge", "learning_rate": 0.1, "power_t": 0},
        {"arguments": "--coin", "loss_function": "logistic"},
        {"arguments": "-q ::", "loss_function": "logistic"},
    ],
)
def test_vowpal_wabbit_counts_the_mistakes_that_it_prints(options, classes, tmp_path):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    X, y = rows(classes, sparse=True)
    peer = peers.vowpal_wabbit(**options)
    outcome = run(peer, X, y)
    assert outcome.model.own_error == pytest.approx(outcome.mistakes / ROWS)
    # And so does Vowpal Wabbit's own driver, from a file.
    number = by_appearance(y)
    file, line = tmp_path / "rows.vw", peer.parameters["arguments"]
    labels = [number[label] + 1 if classes > 2 else 2 * number[label] - 1 for label in y]
    words = [" ".join(f"{j}:{row[j]:.9g}" for j in np.flatnonzero(row)) for row in X]
    text = [f"{label} | {row}" for label, row in zip(labels, words, strict=True)]
    file.write_text("\n".join(text) + "\n")
    task = f"--oaa {classes}" if classes > 2 else "--binary"
    driver = vowpalwabbit.Workspace(f"--quiet -d {file} -b 18 {task} {line}")
    printed = driver.get_sum_loss() / driver.get_weighted_examples()
    driver.finish()
    assert printed == pytest.approx(outcome.mistakes / ROWS)


@pytest.mark.parametrize("classes", [2, 4])
def test_sgd_behind_a_scaler_is_partial_fit_of_both_row_by_row(classes):
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.preprocessing import StandardScaler

    X, y = rows(classes, sparse=True)
    X = 3 * X + np.arange(12) * (np.arange(len(X))[:, None] > 100)  # columns that begin late
    number = by_appearance(y)
    numbers = np.array([number[label] for label in y])
    setting = {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.1, "alpha": 0.01}
    own, scaler = linear_model.SGDClassifier(**setting, shuffle=False), StandardScaler()
    wrong = []
    for i in range(len(y)):
        row = scaler.partial_fit(X[i : i + 1]).transform(X[i : i + 1])
        wrong.append(i == 0 or own.predict(row)[0] != numbers[i])
        own.partial_fit(row, numbers[i : i + 1], classes=np.arange(classes))
    outcome = run(peers.scikit_sgd(scaled=True, **setting), X, y)
    np.testing.assert_array_equal(outcome.wrong[1:], wrong[1:])
    np.testing.assert_allclose(outcome.model.run.coef, own.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("scaled", "zeros"), [(False, False), (True, False), (True, True)])
def test_river_is_predict_one_and_learn_one(scaled, zeros):
    linear_model = pytest.importorskip("river.linear_model")
    optim = pytest.importorskip("river.optim")
    from river.preprocessing import StandardScaler

    X, y = rows(2, sparse=True)
    number = by_appearance(y)
    own = linear_model.LogisticRegression(optimizer=optim.AdaGrad(0.1))
    own = StandardScaler() | own if scaled else own
    mistakes = 0
    for x, label in zip(X, y, strict=True):
        row = {j: float(x[j]) for j in range(len(x)) if zeros or x[j]}
        mistakes += own.predict_one(row) != bool(number[label])
        own.learn_one(row, bool(number[label]))
    assert (
        run(peers.river_logistic("AdaGrad", 0.1, scaled=scaled, zeros=zeros), X, y).mistakes
        == mistakes
    )


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "peer",
    [
        peers.river_linear("PAClassifier", C=0.1, mode=2),
        peers.river_linear("ALMAClassifier", alpha=0.9),
        peers.river_linear("Perceptron"),
        peers.river_softmax("SGD", 0.1),
        peers.river_logistic("FTRLProximal", 0.5),
    ],
    ids=lambda peer: peer.label.partition("(")[0],
)
def test_other_models_of_river_learn(peer, classes):
    pytest.importorskip("river")
    X, y = rows(classes, sparse=False)
    assert run(peer, X, y).mistakes < 0.85 * ROWS * (1 - 1 / classes)


def test_peers_race_beside_yarrows_learners():
    pytest.importorskip("sklearn")
    X, y = rows(4, sparse=False)
    entrants = [
        Entrant("SGD", peers.scikit_sgd(loss="hinge", learning_rate="constant", eta0=0.1)),
        Entrant("AROW", AROWClassifier()),
    ]
    found = race([Block(csr_array(X), y)], entrants, classes=np.unique(y).tolist(), threads=2)
    assert [one.family for one in found] == ["scikit-learn", "confidence", "baseline", "baseline"]
    assert all(one.failure is None and len(one.wrong) == ROWS for one in found)


def test_a_class_that_has_not_appeared_is_a_mistake_and_nothing_else():
    pytest.importorskip("vowpalwabbit")
    X = csr_array(np.eye(3))
    outcome = race(
        [Block(X, np.array(["a", "a", "b"]))],
        [Entrant("VW", peers.vowpal_wabbit())],
        classes=["a", "b", "c"],
        threads=1,
    )[0]
    assert outcome.failure is None
    assert np.sum(outcome.confusion["counts"]) <= 3


@pytest.mark.parametrize(
    ("peer", "module", "package"),
    [
        (peers.river_linear("Perceptron"), "river.linear_model", "river"),
        (peers.vowpal_wabbit(), "vowpalwabbit", "vowpalwabbit"),
        (
            peers.scikit_sgd(loss="hinge"),
            "sklearn.linear_model._stochastic_gradient",
            "scikit-learn",
        ),
    ],
)
def test_a_library_that_is_missing_is_named(peer, module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    found = race([Block(np.eye(2), np.array([0, 1]))], [Entrant("x", peer)], classes=[0, 1])[0]
    assert f"{package} is not installed" in found.failure
    assert f"pip install {package}" in found.failure
