"""The codec: an estimator says what it keeps, and can be saved, loaded, copied and kept inside."""

from __future__ import annotations

import pickle
import sys
import threading
import types
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

import yarrow
from yarrow import kernel
from yarrow.errors import ModelFileError, OtherModelError, ParameterError
from yarrow.estimator import Estimator, Shared, estimator
from yarrow.feedback import LateLabels
from yarrow.parameters import integer
from yarrow.saving import model_file, registry, schema
from yarrow.saving.codec import Saved


@estimator
class Counter(Saved, Shared, Estimator):
    """Counts words, and says how often it has learned: all that a new kind has to declare."""

    start: int = integer(default=0, doc="Where to start.")

    _fields: ClassVar[Mapping[str, schema.Schema]] = {"words": schema.ListOf(schema.Text(), "n")}

    def _pack(self) -> Any:
        counts = np.array(list(self._counts.values()), np.int64)
        return {"counts": counts}, {"words": list(self._counts)}

    def _unpack(self, tensors: Any, metadata: Any, objects: Any) -> None:
        arrays = schema.Fields({"counts": schema.Array("i8", (len(metadata["words"]),), 0)})
        schema.check(arrays, tensors)
        self._counts = dict(zip(metadata["words"], tensors["counts"].tolist(), strict=True))

    def learn_one(self, x: str) -> None:
        with self._lock:
            counts = self.__dict__.setdefault("_counts", {})
            counts[x] = counts.get(x, self.start) + 1


Counter.__module__ = "yarrow.toy"


@pytest.fixture
def counter(monkeypatch):
    module = types.ModuleType("yarrow.toy")
    module.__all__, module.Counter = ["Counter"], Counter
    monkeypatch.setitem(sys.modules, "yarrow.toy", module)
    monkeypatch.setitem(registry.PACKAGES, "toy", "toy")
    model = Counter(start=5)
    for word in ("a", "b", "a"):
        model.learn_one(word)
    return model


def test_a_new_kind_declares_what_it_keeps_and_nothing_else(counter, tmp_path):
    counter.save(tmp_path / "it")
    _, metadata = model_file.read(tmp_path / "it")
    assert metadata == {
        "kind": "toy",
        "yarrow": yarrow.__version__,
        "estimator": "Counter",
        "parameters": {"start": 5},
        "words": ["a", "b"],
    }
    copies = yarrow.load(tmp_path / "it"), Counter.load(tmp_path / "it")
    for twin in (*copies, pickle.loads(pickle.dumps(counter))):
        assert (twin.start, twin._counts) == (5, {"a": 7, "b": 6})
        twin.learn_one("a")
    assert counter._counts == {"a": 7, "b": 6}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t, m: m.pop("words"), "its 'words' is missing"),
        (lambda t, m: m.update(words=[1]), r"its 'words'\[0\] must be a text"),
        (lambda t, m: m.update(parameters=3), "its 'parameters' must be an object"),
        (lambda t, m: m["parameters"].update(colour=1), "Counter has no parameter 'colour'"),
        (lambda t, m: m["parameters"].update(start="x"), "does not fit its own settings"),
        (lambda t, m: m["words"].append("c"), "'counts' must be an array of 3"),
        (lambda t, m: t.update(counts=t["counts"] - 100), "not at least 0|not >= 0"),
        (lambda t, m: m.update(estimator="load"), "holds no model that this version knows"),
    ],
    ids=range(8),
)
def test_what_is_wrong_is_found_for_every_kind_alike(counter, tmp_path, change, says):
    counter.save(tmp_path / "it")
    tensors, metadata = model_file.read(tmp_path / "it")
    tensors = {name: np.array(array) for name, array in tensors.items()}
    change(tensors, metadata)
    model_file.write(tmp_path / "it", tensors, metadata)
    for load in (yarrow.load, Counter.load):
        with pytest.raises(ModelFileError, match=says) as error:
            load(tmp_path / "it")
        assert str(tmp_path / "it") in str(error.value)


def test_a_file_of_another_class_is_told_apart_for_every_kind(counter, tmp_path):
    perceptron = yarrow.Perceptron().fit([[1.0], [2.0]], [0, 1])
    for model, other in ((counter, yarrow.Perceptron), (perceptron, Counter)):
        model.save(tmp_path / "it")
        with pytest.raises(
            OtherModelError, match=f"holds a {type(model).__name__}, not a"
        ) as error:
            other.load(tmp_path / "it")
        assert isinstance(error.value, ModelFileError)
        assert isinstance(error.value, ParameterError)
    counter.save(tmp_path / "it")
    with pytest.raises(ModelFileError, match="holds a Counter, not a linear model"):
        yarrow.linear_model.load(tmp_path / "it")


def test_saving_waits_for_whoever_learns(counter, tmp_path):
    saved = threading.Event()

    def save() -> None:
        counter.save(tmp_path / "it")
        saved.set()

    with counter._lock:
        thread = threading.Thread(target=save)
        thread.start()
        assert not saved.wait(0.2)
    thread.join()
    assert yarrow.load(tmp_path / "it")._counts == counter._counts


def test_parameters_of_numpy_are_saved_by_every_kind(tmp_path):
    model = kernel.KernelPerceptron(budget=np.int64(3), classes=[0, np.int64(1)])
    model.partial_fit([[1.0], [2.0]], [0, 1]).save(tmp_path / "it")
    loaded = yarrow.load(tmp_path / "it")
    assert (loaded.budget, list(loaded.classes)) == (3, [0, 1])


def test_a_kernel_of_ones_own_is_given_again_also_to_older_files(tmp_path):
    def product(a, b):
        return sum(value * b.get(name, 0.0) for name, value in a.items())

    model = kernel.KernelPerceptron(kernel=product).partial_fit([[1.0], [2.0]], [0, 1])
    model.save(tmp_path / "it")
    tensors, metadata = model_file.read(tmp_path / "it")
    metadata["parameters"]["kernel"] = None
    model_file.write(tmp_path / "older", {k: np.array(v) for k, v in tensors.items()}, metadata)
    for name in ("it", "older"):
        with pytest.raises(
            ModelFileError, match=r"kernel.* is not in the file: pass kernel=\.\.\."
        ):
            yarrow.load(tmp_path / name)
        loaded = yarrow.load(tmp_path / name, kernel=product)
        assert loaded.predict([[1.0], [-1.0]]).tolist() == model.predict([[1.0], [-1.0]]).tolist()


def test_late_labels_need_no_parameters(tmp_path):
    late = LateLabels(yarrow.Perceptron(), keep=2)
    late.learn(late.predict({"a": 1.0}), "x")
    late.save(tmp_path / "it")
    assert "parameters" not in model_file.read(tmp_path / "it")[1]
    assert type(LateLabels.load(tmp_path / "it", clock=lambda: 3.0)) is LateLabels
    with pytest.raises(OtherModelError, match="holds a LateLabels, not a Perceptron"):
        yarrow.Perceptron.load(tmp_path / "it")
