"""A call is learned whole or not at all, whatever comes in between: Ctrl-C, a save, a copy."""

from __future__ import annotations

import copy
import functools
import itertools
import pickle
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from contract.support import as_dicts, classification

import yarrow
from yarrow import bandit, decomposition, experts, feedback, kernel
from yarrow.decomposition.base import Decomposition
from yarrow.errors import DataError
from yarrow.estimator import Estimator

X, LABELS = classification(90, 8, 3, seed=4)
COUNTS = np.random.default_rng(0).poisson(2.0, X.shape).astype(float)
PAIRS = [[i % 9, i % 13] for i in range(len(X))]
RATINGS = np.arange(float(len(X))) % 5
#: so small that blocks are full and factors grow within a call
SMALL = {
    "OnlineSVD": {"rank": 3, "block_size": 7},
    "OnlinePCA": {"n_components": 2},
    "OnlineLDA": {"n_components": 2, "block_size": 7, "max_rounds": 5},
    "OnlineHDP": {"n_components": 3, "n_document_topics": 2, "block_size": 7, "max_rounds": 5},
    "OnlineDictionaryLearning": {"n_components": 2, "block_size": 7},
}
DECOMPOSITIONS = [getattr(decomposition, name) for name in decomposition.__all__]
CLASSES = [
    cls
    for package in (decomposition, kernel, experts, bandit, feedback)
    for cls in (getattr(package, name) for name in package.__all__)
    if isinstance(cls, type) and issubclass(cls, Estimator)
]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
every_decomposition = pytest.mark.parametrize("cls", DECOMPOSITIONS, ids=lambda cls: cls.__name__)


def small(cls):
    return cls(**SMALL.get(cls.__name__, {}))


def call(model, begin, end):
    """Learn some rows in one call."""
    part = slice(begin, end)
    if isinstance(model, Decomposition):
        model.partial_fit(COUNTS[part])
    elif isinstance(model, decomposition.factorization.Factorization):
        model.partial_fit(PAIRS[part], RATINGS[part])
    elif type(model).__name__.endswith("Regressor"):
        model.partial_fit(X[part], X[part].sum(axis=1))
    else:
        model.partial_fit(X[part], LABELS[part])


def content(model, path):
    """Return all that a model is, as its file holds it."""
    model.save(path)
    return path.read_bytes()


def comes_in_between(work, after):
    """Run some work, and have Ctrl-C come so many seconds later; whether it came in time."""
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    # In a job in the background the shell has it ignored.
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(after, 1e-6))
        work()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGINT, ignored)
    return False


@every_class
@pytest.mark.parametrize("n", [1, 40])
def test_an_interrupt_leaves_a_call_whole(cls, n, tmp_path):
    start = small(cls)
    call(start, 0, 45)
    seconds = np.inf
    for _ in range(3):
        done = copy.deepcopy(start)
        begun = time.perf_counter()
        call(done, 45, 45 + n)
        seconds = min(seconds, time.perf_counter() - begun)
    before, after = content(start, tmp_path / "a"), content(done, tmp_path / "b")
    assert before != after
    moments, came, tries = random.Random(0), 0, 0
    while tries < 10 or (came < 5 and tries < 100):
        model = copy.deepcopy(start)
        work = functools.partial(call, model, 45, 45 + n)
        came += comes_in_between(work, moments.uniform(0, seconds))
        assert content(model, tmp_path / "c") in (before, after)
        call(model, 0, 9)  # nothing is locked
        tries += 1
    assert came > 0


@every_decomposition
@pytest.mark.parametrize("by_dict", [False, True], ids=["arrays", "dicts"])
@pytest.mark.threads
def test_what_is_saved_while_others_learn_is_whole(cls, by_dict, tmp_path):
    """Files, pickles and copies are those of one moment, and go on."""
    model = small(cls)
    of_rows = isinstance(model, Decomposition)
    rows = as_dicts(COUNTS)
    stop, errors = threading.Event(), []

    def learn(model, i):
        if not by_dict:
            call(model, i % 40, i % 40 + 7)
        elif not of_rows:
            model.learn_one({"user": i % 999, "item": i % 997}, 3.0)
        elif model._takes_new_columns:
            model.learn_one({**rows[i % 40], f"new {i % 50}": 1.0})
        else:
            model.learn_one(dict.fromkeys(range(8), 1.0))

    def work():
        try:
            for i in itertools.count(1):
                if stop.is_set():
                    return
                learn(model, i)
        except BaseException as error:
            errors.append(error)

    learn(model, 0)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for i in range(12):
            model.save(tmp_path / "model")
            loaded = yarrow.load(tmp_path / "model")
            for again in (loaded, pickle.loads(pickle.dumps(model)), copy.copy(model)):
                learn(again, i)
                if of_rows:
                    assert np.isfinite(list(again.transform_one(rows[0]).values())).all()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not errors


@pytest.mark.parametrize(
    ("model", "row", "weight"),
    [
        (kernel.KernelPassiveAggressiveClassifier(variant="pa", fit_intercept=False), 1e-160, 1.0),
        (kernel.KernelRegularizedPAClassifier(fit_intercept=False), 1e-160, 1.0),
        (kernel.KernelAROWClassifier(r=1e-140), 1.0, 1e300),
        (kernel.DUOLClassifier(), 1e300, 1.0),
        (kernel.KernelPerceptron(), 1e300, 1.0),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Estimator) else "",
)
def test_kernel_learners_leave_no_trace_of_a_row_that_they_refuse(model, row, weight, tmp_path):
    """Neither its class nor its count, and later rows are learned."""
    model = model.clone({"kernel": "linear" if row < 1 else "rbf"}).partial_fit(X, LABELS)
    before = content(model, tmp_path / "a")
    with pytest.raises(DataError, match="too large"):
        model.learn_one({3: row, 2: -row}, 7, weight)
    assert content(model, tmp_path / "b") == before
    model.partial_fit(X, LABELS)


@pytest.mark.parametrize("first", [bandit.BanditronClassifier, bandit.BanditPAClassifier])
def test_a_learner_takes_a_row_back_that_one_after_it_refuses(first, tmp_path):
    """A value that is too large in single precision, and new features and a class with it."""
    inner = experts.OnlineToBatchClassifier(first())
    model = experts.HedgeClassifier([first(), inner, yarrow.AROWClassifier()])
    for row, label in zip(as_dicts(X), LABELS.tolist(), strict=True):
        model.learn_one(row, label)
    before = content(model, tmp_path / "a")
    for label in (1, 7):
        with pytest.raises(DataError, match="too large for float32"):
            model.learn_one({1: 1e39, "new": 2.0}, label)
        assert content(model, tmp_path / "b") == before
    twin = yarrow.load(tmp_path / "b")
    for one in (model, twin):  # nothing is left in lines that new features get
        one.learn_one({"new": 1.0, "other": 1.0}, 1)
    assert content(model, tmp_path / "c") == content(twin, tmp_path / "d")


INTERRUPTED = """
import sys
from yarrow import Perceptron
class Interrupted:
    def find_spec(self, name, *rest):
        if name == "numpy":
            raise KeyboardInterrupt
model = Perceptron()
model.learn_one({"a": 1.0}, "b")
sys.meta_path.insert(0, Interrupted())
try:
    model._model.get_state()
except KeyboardInterrupt:
    sys.exit(7)
"""


def test_an_interrupt_while_the_core_loads_numpy_stays_one():
    """It comes at the first array that the core makes, if nobody has needed numpy before."""
    assert subprocess.run([sys.executable, "-c", INTERRUPTED], check=False).returncode == 7
