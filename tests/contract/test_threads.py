"""One model, many threads: nothing is lost, nothing is torn, and nobody waits without need."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from contract.support import as_dicts, classification

import yarrow
from yarrow import AROWClassifier, CustomClassifier, FOBOSClassifier, OGDRegressor, Perceptron
from yarrow.bandit import BanditronClassifier
from yarrow.experts import MixtureClassifier
from yarrow.kernel import KernelPerceptron

pytestmark = pytest.mark.threads

X, Y = classification(400, 30, 3)
ROWS = as_dicts(X)
LABELS = Y.tolist()
MODELS = [AROWClassifier(), FOBOSClassifier(), OGDRegressor(), Perceptron(average=True)]
every_model = pytest.mark.parametrize("model", MODELS, ids=repr)


@pytest.fixture(autouse=True)
def eager_switching():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_together(*jobs):
    """Start all jobs at the same moment; raise what any of them raised."""
    barrier, errors = threading.Barrier(len(jobs)), []

    def run(job):
        barrier.wait()
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    if errors:
        raise errors[0]


def learn_rows(model, times=1):
    for _ in range(times):
        for row, label in zip(ROWS, LABELS, strict=True):
            model.learn_one(row, label)


def learn_chunks(model, form=np.asarray):
    for at in range(0, len(X), 40):
        model.partial_fit(form(X[at : at + 40]), Y[at : at + 40])


@every_model
def test_rows_of_all_threads_are_learned(model):
    model = model.clone().partial_fit(X[:3], Y[:3])
    run_together(
        lambda: learn_rows(model),
        lambda: learn_rows(model),
        lambda: learn_chunks(model),
        lambda: learn_chunks(model, sp.csr_matrix),
    )
    assert model.t_ == 3 + 4 * len(X)
    assert np.isfinite(model.coef_).all()


@every_model
@pytest.mark.parametrize("learn", [learn_rows, learn_chunks])
def test_a_new_model_loses_no_row_either(model, learn):
    """The threads that come first must not each make a model of their own."""
    for _ in range(5):
        fresh = model.clone()
        run_together(*[lambda: learn(fresh)] * 4)  # noqa: B023
        assert fresh.t_ == 4 * len(X)


@every_model
def test_reading_while_others_learn(model, tmp_path):
    model = model.clone().partial_fit(X[:3], Y[:3])
    done = threading.Event()

    def learn():
        try:
            for i in range(8):
                learn_rows(model)
                learn_chunks(model)
                model.learn_one({f"new {i} {j}": 1.0 for j in range(200)}, 1)
        finally:
            done.set()

    def predict():
        while not done.is_set():
            assert np.isfinite(np.asarray(model.predict(X[:20]), dtype=float)).all()
            assert model.predict_one(ROWS[0]) is not None
            assert model.coef_.size <= len(model.feature_names_) * 3
            assert model.n_updates_ <= model.t_
            if hasattr(model, "predict_proba"):
                np.testing.assert_allclose(model.predict_proba(X[:20]).sum(axis=1), 1)

    def save():
        last = 0
        while not done.is_set():
            model.save(tmp_path / "model")
            saved = yarrow.load(tmp_path / "model")
            assert np.isfinite(saved.coef_).all()
            assert last <= saved.t_ <= model.t_
            last = saved.t_

    run_together(learn, predict, save)
    assert model.t_ == 3 + 8 * (2 * len(X) + 1)


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("attempt", range(3))
def test_reading_while_classes_and_features_appear(multiclass, attempt, tmp_path):
    """Scores, names of classes and names of features must come from one moment."""
    model = AROWClassifier(multiclass=multiclass).partial_fit(X[:3], [0, 1, 0])
    done = threading.Event()

    def learn():
        try:
            for i in range(60):
                model.learn_one({f"{i} {j}": 1.0 for j in range(30)}, 3 * i)
                model.partial_fit(X[:5], np.arange(5) + 3 * i)
        finally:
            done.set()

    def read():
        while not done.is_set():
            assert model.decision_function(X[:5]).shape[0] == 5
            assert len(model.predict_proba_one(ROWS[0])) >= 2
            assert model.predict_one(ROWS[0]) is not None
            model.predict(X[:5]), model.predict_proba(X[:5])
            assert model.coef_.ndim == model.variance_.ndim == 2
            model.top_features(label=0), model.explain_one(ROWS[0])

    def save():
        while not done.is_set():
            model.save(tmp_path / "model")
            yarrow.load(tmp_path / "model")

    run_together(learn, read, save)


@pytest.mark.parametrize(
    ("model", "ask"),
    [
        (MixtureClassifier([AROWClassifier()]), "predict_proba"),
        (MixtureClassifier([AROWClassifier()]), "predict_proba_one"),
        (BanditronClassifier(), "decision_function"),
        (KernelPerceptron(budget=5), "decision_function"),
        (KernelPerceptron(budget=5), "predict"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_tables_of_other_learners_while_classes_appear(model, ask):
    """What each class gets, and which classes there are, must be of one moment."""
    model = model.clone().partial_fit(X[:3], [0, 1, 2])

    class Lock:
        """As if another thread had waited for it, and then brought a row of a new class."""

        depth, comes, rows = 0, True, iter(range(3, 99))

        def __enter__(self):
            self.depth += 1

        def __exit__(self, *_):
            self.depth -= 1
            if self.depth == 0 and self.comes:
                self.comes = False
                row = next(self.rows)
                model.learn_one(ROWS[row], row)
                self.comes = True

    model._lock_ = Lock()
    for _ in range(3):
        getattr(model, ask)(ROWS[0] if ask.endswith("one") else X[:2])
    assert len(model.classes_) > 5


def test_a_rule_in_python_does_not_block_the_others():
    """It needs the interpreter, while arrays are learned without it."""

    def rule(s):
        return 1.0, float(s.margin <= 0)

    model = CustomClassifier(rule).partial_fit(X[:3], Y[:3])
    run_together(
        lambda: learn_rows(model),
        lambda: learn_chunks(model),
        lambda: [model.predict(X) for _ in range(20)],
        lambda: [model.predict_one(row) for row in ROWS],
    )
    assert model.t_ == 3 + 2 * len(X)


def test_values_that_run_python_code_cannot_lock_up():
    class Number:
        """A value whose conversion asks the model that is being taught."""

        def __float__(self):
            return float(model.predict_one({"a": 1.0}) is not None)

    model = Perceptron()
    model.learn_one({"a": 1.0}, 0)
    run_together(lambda: model.learn_one({"a": Number()}, 1), lambda: learn_rows(model))
    assert model.t_ == 2 + len(X)


@pytest.mark.slow
@pytest.mark.parametrize("work", ["partial_fit", "predict", "fit"])
def test_others_run_while_arrays_are_learned(work):
    """The interpreter's lock is released: no pause of another thread is as long as the work."""
    sys.setswitchinterval(0.005)
    random = np.random.default_rng(0)
    n, width = 60_000, 100
    indices = random.integers(0, 50_000, n * width, dtype=np.int32)
    values = np.ones(n * width, dtype=np.float32)
    big = sp.csr_matrix((values, indices, np.arange(n + 1, dtype=np.int64) * width))
    model = AROWClassifier(max_iter=1).partial_fit(big[:10], np.arange(10) % 2)
    labels = random.integers(0, 2, n)
    gaps = []
    for _ in range(10):  # a busy machine may stop any thread for a while
        thread = threading.Thread(
            target=model.predict if work == "predict" else getattr(model, work),
            args=(big,) if work == "predict" else (big, labels),
        )
        start = last = time.perf_counter()
        longest = 0.0
        thread.start()
        while thread.is_alive():
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        gaps.append(longest / (time.perf_counter() - start))
        if gaps[-1] < 0.5:
            return
    pytest.fail(f"the longest gap was {min(gaps):.0%} of the whole work")
