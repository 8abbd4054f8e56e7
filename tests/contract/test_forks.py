"""A process may be forked while threads learn: no child hangs, none meets half a row."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from contract.support import as_dicts, classification

import yarrow
from yarrow import AROWClassifier, CustomClassifier, OGDRegressor, YarrowClassifier
from yarrow.decomposition import OnlineLDA, OnlineMatrixFactorization, OnlineSVD
from yarrow.errors import YarrowError
from yarrow.experts import HedgeClassifier
from yarrow.feedback import LateLabels
from yarrow.io.formats import StreamFormat, text_reader
from yarrow.kernel import KernelPerceptron

pytestmark = [
    pytest.mark.threads,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    # Newer versions of Python warn whoever forks with threads about locks: it is what is tested.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

X, Y = classification(60, 12, 3)
X = np.abs(X)
ROWS = as_dicts(X)
PAIRS = [[i % 7, i % 11] for i in range(60)]


def always_moves(situation):
    return 1.0, 0.1


class Late:
    """Labels that come late, as a model that learns rows."""

    def __init__(self):
        self.late = LateLabels(AROWClassifier(), keep=3)

    def partial_fit(self, X, y):
        for row, label in zip(as_dicts(X), y.tolist(), strict=True):
            self.late.learn(self.late.predict(row), label)

    def predict(self, X):
        return [self.late.predict(row).prediction for row in as_dicts(X)]


MODELS = {
    "linear": lambda: AROWClassifier(),
    "regressor": lambda: OGDRegressor(),
    "yarrow": lambda: YarrowClassifier(),
    "rule in Python": lambda: CustomClassifier(always_moves),
    "kernel": lambda: KernelPerceptron(budget=10),
    "experts": lambda: HedgeClassifier([AROWClassifier(0.1), AROWClassifier(1.0)]),
    "experts of kernels": lambda: HedgeClassifier([KernelPerceptron(budget=5), AROWClassifier()]),
    "late": Late,
    "svd": lambda: OnlineSVD(3, block_size=7),
    "lda": lambda: OnlineLDA(2, block_size=7, max_rounds=3),
    "ratings": lambda: OnlineMatrixFactorization(2),
}


def learn(model, n=60):
    if isinstance(model, OnlineMatrixFactorization):
        model.partial_fit(PAIRS[:n], np.arange(float(n)) % 5)
    else:
        model.partial_fit(X[:n], Y[:n])


def ask(model):
    if hasattr(model, "transform"):
        return model.transform(X[:3])
    return model.predict(PAIRS[:3] if isinstance(model, OnlineMatrixFactorization) else X[:3])


def rows_learned(model):
    for name in ("t_", "n_rows_"):
        if hasattr(model, name):
            return getattr(model, name)
    return model.late.model.t_


def ends_well(child, seconds=30.0):
    """Wait for a child; one that hangs is ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def fork(work):
    """Do some work in a child, and nothing else."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return child


@pytest.fixture
def busy():
    """Let threads repeat something while a test runs."""
    stop, threads, errors = threading.Event(), [], []

    def start(*jobs):
        def repeat(job):
            try:
                while not stop.is_set():
                    job()
            except BaseException as error:
                errors.append(error)

        threads.extend(threading.Thread(target=repeat, args=(job,)) for job in jobs)
        for thread in threads:
            thread.start()

    yield start
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize("name", MODELS)
def test_children_ask_and_learn_while_threads_of_the_parent_learn(name, busy):
    model = MODELS[name]()
    learn(model)

    def in_the_child():
        # Calls are whole: only whole calls have been learned.
        assert rows_learned(model) % (1 if name == "late" else len(X)) == 0
        ask(model)
        before = rows_learned(model)
        learn(model, 10)
        assert rows_learned(model) == before + 10
        ask(model)

    busy(lambda: learn(model), lambda: ask(model))
    for i in range(15):
        time.sleep(0.0003 * (i % 5))
        assert ends_well(fork(in_the_child)), f"child {i} failed"


def test_many_forks(busy):
    model = AROWClassifier().partial_fit(X, Y)
    busy(lambda: model.partial_fit(X, Y), lambda: model.learn_one(ROWS[0], 1))
    children = [fork(lambda: model.predict(X)) for _ in range(150)]
    assert [child for child in children if not ends_well(child)] == []


def test_first_rows_too(busy):
    """Many models are begun by the parent, behind one lock."""
    busy(*[lambda: AROWClassifier().partial_fit(X, Y)] * 2)
    for _ in range(30):
        assert ends_well(fork(lambda: AROWClassifier().partial_fit(X, Y).predict(X)))


def test_threads_that_fork_at_the_same_time(busy):
    model = HedgeClassifier().partial_fit(X, Y)
    busy(lambda: model.partial_fit(X, Y))
    results = []

    def forks():
        for _ in range(10):
            results.append(ends_well(fork(lambda: model.predict(X))))

    threads = [threading.Thread(target=forks) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert results == [True] * 30


def test_from_inside_a_call_nobody_is_waited_for(busy):
    """A kernel in Python that forks: its own lock is its own in the child as well."""
    children = []

    def kernel(a, b):
        if not children:
            children.append(fork(lambda: model.predict_one({0: 1.0})))
        return 1.0

    model = KernelPerceptron(kernel=kernel)
    other = AROWClassifier().partial_fit(X, Y)
    busy(lambda: other.partial_fit(X, Y))
    model.learn_one({0: 1.0}, 0)
    model.learn_one({0: 2.0}, 1)
    assert ends_well(children[0])
    assert ends_well(fork(lambda: other.predict(X)))


def count_rows(path, threads):
    """Read a file in small blocks, so that threads have something to do."""
    with open(path, "rb") as file:
        stream_format = StreamFormat("svmlight", threads=threads)
        reader = text_reader(file, "svmlight", stream_format, block_bytes=4096)
        return sum(len(block["labels"]) for block in iter(reader.next_arrays, None))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_child_reads_files_while_the_parent_does(threads, tmp_path, busy):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} 1:{i} 7:1\n" for i in range(3_000)))
    with open(path, "rb") as file:
        stream_format = StreamFormat("svmlight", threads=threads)
        readers = [text_reader(file, "svmlight", stream_format, block_bytes=1024)]
        readers[0].next_arrays()  # its threads have begun

        def in_the_child():
            with pytest.raises(YarrowError, match="open it anew"):
                readers[0].next_arrays()
            readers.clear()  # whose threads are not there
            assert count_rows(path, threads) == 3_000

        busy(lambda: count_rows(path, threads))
        for _ in range(15):
            assert ends_well(fork(in_the_child))
        rest = sum(len(block["labels"]) for block in iter(readers[0].next_arrays, None))
        assert 0 < rest < 3_000


def _score(model, part):
    return model.predict(part).tolist()


def test_pools_of_processes(busy):
    """As joblib and multiprocessing users have it."""
    model = AROWClassifier().partial_fit(X, Y)
    expected = model.predict(X).tolist()
    other = HedgeClassifier().partial_fit(X, Y)
    busy(lambda: other.partial_fit(X, Y), lambda: yarrow.Perceptron().fit(X, Y))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = pool.starmap_async(_score, [(model, X[:30]), (model, X[30:])]).get(timeout=60)
    assert parts[0] + parts[1] == expected


SHARED = {"linear": AROWClassifier(), "experts": HedgeClassifier(), "svd": OnlineSVD(3)}


def _go_on(name):
    """In a worker: learn and ask what it has from its parent, and not through a pickle."""
    model = SHARED[name]
    before = rows_learned(model)
    learn(model, 10)
    ask(model)
    return before % 10 == 0 and rows_learned(model) == before + 10


def test_pools_whose_workers_go_on_with_the_models_of_the_parent(busy):
    for model in SHARED.values():
        learn(model)
    busy(*[lambda model=model: learn(model) for model in SHARED.values()])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert all(pool.map_async(_go_on, [*SHARED] * 4).get(timeout=60))


def test_a_child_can_import_what_a_thread_imports(tmp_path, monkeypatch):
    """A module that a thread was importing would stay locked in the child."""
    (tmp_path / "slow_to_load.py").write_text("import time; time.sleep(0.3)")
    monkeypatch.syspath_prepend(tmp_path)
    thread = threading.Thread(target=importlib.import_module, args=["slow_to_load"])
    thread.start()
    while "slow_to_load" not in sys.modules:
        time.sleep(0.001)
    child = fork(lambda: importlib.import_module("slow_to_load"))
    thread.join()
    assert ends_well(child, seconds=10.0)
