"""Full covariance: features that come and go, files, and what memory it takes."""

import numpy as np
import pytest
import scipy.sparse
from contract.support import refuse, save_and_load
from linear_model.oracles import (
    EXACT,
    assert_same,
    binary_stream,
    class_stream,
)

from yarrow.errors import DataError
from yarrow.io.formats import StreamFormat
from yarrow.linear_model import (
    AROWClassifier,
)
from yarrow.linear_model import confidence as confidence_module
from yarrow.online.core_stream import learn_stream


def test_features_may_come_at_any_time_and_go():
    X, y = binary_stream(61, rows=120, features=40, density=0.2)
    dicts = [{f"f{j}": row[j] for j in np.flatnonzero(row)} for row in X]
    grown = AROWClassifier(covariance="full", **EXACT)
    for row, label in zip(dicts, y.tolist(), strict=True):
        grown.learn_one(row, label)
    known = AROWClassifier(covariance="full", **EXACT).partial_fit(X, y)
    order = [int(name[1:]) for name in grown.feature_names_]
    np.testing.assert_array_equal(grown.coef_[0], known.coef_[0][order])
    np.testing.assert_array_equal(grown.covariance_[0], known.covariance_[0][np.ix_(order, order)])
    pruned = AROWClassifier(covariance="full", max_features=20, when_full="prune", **EXACT)
    for row, label in zip(dicts, y.tolist(), strict=True):
        pruned.learn_one(row, label)
        sigma = pruned.covariance_[0]
        assert np.linalg.eigvalsh(sigma).min() > 0
        np.testing.assert_allclose(np.diag(sigma), pruned.variance_[0], rtol=1e-12)
    assert 15 <= len(pruned.feature_names_) <= 20


def test_forgetting_features_keeps_the_others_covariance():
    X, y = binary_stream(62, rows=60, features=8)
    model = AROWClassifier(
        covariance="full", max_features=8, when_full="prune", fit_intercept=False, **EXACT
    )
    model.learn_many(_frame(X), y)
    before, names = model.covariance_[0], model.feature_names_
    model.learn_one({"new": 0.0, **{f"f{j}": 0.0 for j in range(8)}}, 1)  # brings nothing
    model.learn_one({"newer": 1e-9}, int(y[0]))
    kept = [names.index(name) for name in model.feature_names_ if name in names]
    assert 4 <= len(kept) < 8
    after = model.covariance_[0][: len(kept), : len(kept)]
    np.testing.assert_allclose(after, before[np.ix_(kept, kept)], rtol=1e-12)


def _frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


def test_a_saved_model_goes_on_in_the_middle_of_waiting_steps():
    X, y = class_stream(63, rows=100)
    for multiclass in ("ovr", "top1"):
        model = AROWClassifier(covariance="full", multiclass=multiclass).partial_fit(X[:50], y[:50])
        assert model._model.get_state()["covariances_queued"].max() > 0
        loaded = save_and_load(model)
        np.testing.assert_array_equal(loaded.covariance_, model.covariance_)
        for each in (model, loaded):
            each.partial_fit(X[50:], y[50:])
        assert_same(model, loaded)


class TestMemory:
    """What would not fit is refused in one sentence, and nothing has changed."""

    def test_too_many_features_at_once(self):
        X = scipy.sparse.csr_matrix(([1.0], ([0], [99_999])), shape=(1, 100_000))
        says = "full covariance of 100000 features would take 80.0 GB.*4.3 GB allowed"
        with pytest.raises(DataError, match=says):
            AROWClassifier(covariance="full", classes=[0, 1]).partial_fit(X, [1])
        with pytest.raises(DataError, match=r"covariance of 262144 features would take 549\.8"):
            AROWClassifier(covariance="full", hash_bits=18).learn_one({"a": 1.0}, 1)

    @pytest.mark.parametrize("average", [False, True])
    def test_one_feature_too_many(self, monkeypatch, average):
        monkeypatch.setattr(confidence_module, "MOST_COVARIANCE_BYTES", 8 * 7 * (7 + 17))
        model = AROWClassifier(covariance="full", classes=["a", "b"], average=average)
        X, y = binary_stream(64, features=6)
        rows = [{f"f{j}": v for j, v in enumerate(row.tolist())} for row in X]
        for row, label in zip(rows, y, strict=True):
            model.learn_one(row, "b" if label > 0 else "a")
        says = "full covariance of 7 features would take 1.6 kB"
        refuse(lambda: model.learn_one({"f1": 2.0, "new": 1.0}, "a"), says, model)
        frame = _frame(X).assign(new=1.0)
        refuse(lambda: model.learn_many(frame, np.where(y > 0, "a", "b")), says, model)
        model.learn_many(_frame(X), np.where(y > 0, "b", "a"))

    @pytest.mark.parametrize("multiclass", ["ovr", "top1"])
    def test_one_class_too_many(self, monkeypatch, multiclass):
        columns = 4 if multiclass == "ovr" else 3  # one-versus-rest keeps one for classes to come
        monkeypatch.setattr(confidence_module, "MOST_COVARIANCE_BYTES", columns * 8 * 6 * (6 + 17))
        X, y = class_stream(65)
        model = AROWClassifier(covariance="full", multiclass=multiclass)
        model.partial_fit(X[y < 30], y[y < 30])
        says = f"5 features would take .* kB in {columns + 1} matrices"
        refuse(lambda: model.learn_one({0: 1.0}, 30), says, model)
        refuse(lambda: model.partial_fit(X, y), says, model)
        model.partial_fit(X[y < 30], y[y < 30])

    def test_lines_of_text(self, monkeypatch, tmp_path):
        monkeypatch.setattr(confidence_module, "MOST_COVARIANCE_BYTES", 8 * 7 * (7 + 17))
        numbered = "1 1:1\n0 2:2\n1 1:1 2:1 3:1 4:1 5:1 6:1 7:1\n"
        for average in (False, True):
            for text in ("1 | a b\n0 | b c\n1 | a b c d e f g h\n", numbered):
                path = tmp_path / ("rows.vw" if "|" in text else "rows.svm")
                path.write_text(text)
                model = AROWClassifier(covariance="full", classes=[0, 1], average=average)
                # A new model would keep nothing of a failed file.
                model.learn_one({"a": 1.0, 0: 1.0}, 1)
                with pytest.raises(DataError, match=r"line 3.*would take"):
                    for _ in learn_stream(model, path, StreamFormat()):
                        pass
                assert model.t_ == 3
                assert len(model.feature_names_) <= 6

    def test_is_accounted_for(self):
        model = AROWClassifier(covariance="full", classes=[0, 1])
        model.partial_fit(np.eye(300), np.arange(300) % 2)
        assert model._raw_memory_usage > 8 * 300**2


def test_only_full_covariances_can_be_read():
    model = AROWClassifier().partial_fit([[1.0], [2.0]], [0, 1])
    assert not hasattr(model, "covariance_")
