"""What the contract tests share: data, rules, and a look at all that a model has learned."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import re
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import yarrow
from yarrow.errors import YarrowError

Array = np.ndarray[Any, Any]

#: groups for the features of these tests, which are called 0, 1, 2... or c0, c1, c2...
GROUPS = {name: j % 3 for j in range(8) for name in (j, f"c{j}")}


def fading(s: yarrow.RuleInput) -> tuple[float, float]:
    """Forget a little with every row: the scale of the weights soon has to be folded in."""
    return 0.75, max(0.0, s.target - s.margin) * min(s.weight, 2.0) / (1.0 + s.zz)


def adaptive(s: yarrow.RuleInput) -> tuple[float, float]:
    """AROW with r = 1."""
    loss = max(0.0, s.target - s.margin)
    return (loss / (s.v + 1.0), s.weight) if loss > 0 else (0.0, 0.0)


def classification(n: int, columns: int, classes: int, seed: int = 0) -> tuple[Array, Array]:
    """Return rows, half of their values zero, and the class whose plane each is farthest above."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns)) * (random.random((n, columns)) < 0.5)
    X = X.astype(np.float32).astype(np.float64)
    return X, np.argmax(X @ random.normal(size=(columns, classes)), axis=1)


def as_dicts(X: Array, names: list[Any] | None = None) -> list[dict[Any, float]]:
    """Return the rows as dicts of their nonzero values; columns are called 0, 1, 2, ..."""
    names = list(range(X.shape[1])) if names is None else names
    return [{names[j]: float(row[j]) for j in np.flatnonzero(row)} for row in X]


def learned(model: Any) -> dict[str, Any]:
    """Return all that a model has learned, bit for bit, features by name.

    Routes may number features differently, and know some that never had a value.
    """
    state = model._fitted.get_state()
    blocks = state.pop("blocks") + 0.0  # no -0.0
    unseen = np.zeros_like(blocks[0])
    if hasattr(model, "variance_") or getattr(model, "loop", "") == "confidence":
        unseen[1] = model._initial_variance()
    features = {}
    for place, name in enumerate(model.feature_names_, start=1):
        if blocks[place].tobytes() != unseen.tobytes():
            features[name] = blocks[place].tolist()
    names = ["(intercept)", *model.feature_names_]
    saved = state.pop("covariances", np.empty((0, 0)))
    if "joint_covariance" in state:
        saved = state.pop("joint_covariance")[None]
        names = [(place, name) for place in range(len(model._fitted.classes)) for name in names]
    covariances = covariances_by_name(model, saved, names)
    names = ("name_columns", "name_kinds", "name_offsets", "name_bytes")
    rest = {key: value.tolist() for key, value in state.items() if key not in names}
    for key in {"votes_index", "few_features", "pair_features"} & rest.keys():
        rest[key] = [model.feature_names_[i] for i in rest[key]]
    classes = [(type(label).__name__, label) for label in model._fitted.classes]
    intercept = blocks[0].tolist()
    return {
        "features": features,
        "intercept": intercept,
        "classes": classes,
        "covariances": covariances,
        **rest,
    }


def covariances_by_name(model: Any, saved: Array, names: list[Any]) -> list[dict[Any, float]]:
    """Return the cells of saved covariances, and of the vectors before them, by feature names.

    Cells of features that never had a value are left out.
    """
    n = len(names)
    rows, columns = np.tril_indices(n)
    found = []
    for values in saved:
        vectors, triangle = np.split(values, [len(values) - n * (n + 1) // 2])
        vectors = vectors.reshape(-1, n)
        seen = vectors[0] != model._initial_variance()
        cells = {
            frozenset((names[i], names[j])): value
            for i, j, value in zip(rows, columns, (triangle + 0.0).tolist(), strict=True)
            if seen[i] and seen[j]
        }
        queue = {names[j]: (vectors[:, j] + 0.0).tolist() for j in np.flatnonzero(seen)}
        found.append(cells | queue)
    return found


def fingerprint(model: Any) -> dict[str, Any]:
    """Return everything about a model, the order of its features too: what must not change."""
    rest = {key: repr(value) for key, value in model.__dict__.items()}
    rest.pop("_model", None)
    rest.pop("_was_asked", None)  # that a warning came once
    if "_model" not in model.__dict__:
        return rest
    tensors = {
        key: (value.dtype.str, value.shape, value.tobytes())
        for key, value in model._model.get_state().items()
    }
    return {**rest, **tensors, "classes seen": model._model.classes}


def assert_same(got: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare key by key, so that a failure says what differs."""
    assert got.keys() == expected.keys(), got.keys() ^ expected.keys()
    differ = {key: (got[key], expected[key]) for key in got if got[key] != expected[key]}
    assert not differ, "\n".join(f"{k}:\n  {a}\n  {b}" for k, (a, b) in differ.items())


def refuse(call: Callable[[], Any], says: str, *models: Any) -> None:
    """Check that a call raises what it should, and that the models are as they were."""
    before = [fingerprint(model) for model in models]
    with pytest.raises(YarrowError, match=re.compile(says, re.DOTALL)):
        call()
    for model, state in zip(models, before, strict=True):
        assert_same(fingerprint(model), state)


def save_and_load(model: Any) -> Any:
    """Return the model as a file gives it back; rules of a user's own are handed over again."""
    objects = {"rule": model.rule} if getattr(model, "rule", None) else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.yarrow"
        model.save(path)
        return yarrow.load(path, **objects)


#: ways to interrupt learning that must leave no trace
INTERRUPTIONS = {
    "nothing": lambda model: model,
    "save and load": save_and_load,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
    "river's clone": lambda model: model.clone(include_attributes=True),
}


def with_rows(check: Any, n: int) -> Any:
    """Let one of river's checks look at so many of its 200 rows."""
    if "dataset" in getattr(check, "keywords", ()):
        check.keywords["dataset"] = itertools.islice(check.keywords["dataset"], n)
    return check


def failed_checks(found: Iterable[Any], make: Callable[[], Any]) -> dict[str, str]:
    """What river's checks say of fresh models, where they do not pass."""
    failed = {}
    for check in found:
        random.seed(0)
        try:
            check(make())
        except Exception as error:
            failed[check.__name__] = repr(error)
    return failed


def shared_by_threads(model: Any, X: Array, y: Array) -> None:
    """Two threads teach a model, two ask it; no row is lost."""
    before = model.t_
    failures = []

    def work(learns: bool) -> None:
        try:
            for _ in range(10):
                model.partial_fit(X, y) if learns else model.predict(X)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i % 2 == 0,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert model.t_ == before + 2 * 10 * len(X)
