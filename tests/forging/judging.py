"""What comes of a file: refused, or a model that works."""

from __future__ import annotations

import contextlib
import json
import random
import warnings
from typing import Any

import numpy as np

import yarrow
from forging.files import row
from yarrow.errors import ModelFileError, YarrowError
from yarrow.saving import model_file
from yarrow.saving.export_file import loads
from yarrow.saving.scorer import Scorer


def judge(content: bytes, rng: random.Random) -> str:
    """Whether a file is refused, gives a model that refuses rows, or works; other errors escape."""
    try:
        model = loads(content)
    except ModelFileError as error:
        if len(str(error)) > 3000 or "\n" in str(error):
            raise AssertionError("what it says is no sentence") from error
        return "refused"
    try:
        use(model, rng)
        if content[:1] == b"{":
            _compare_scorer(model, json.loads(content), rng)
    except YarrowError:
        return "refuses rows"
    return "works"


def use(model: Any, rng: random.Random) -> None:
    """Predict, explain, learn, and go through a file once more."""
    repr(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        if hasattr(model, "transform_one"):
            _use_decomposition(model, rng)
        elif hasattr(model, "recommend"):
            _finite(model.predict([["u0", "i1"], ["new", "i2"]]))
            model.recommend("u1")
            model.partial_fit([["u0", "i1"], ["new", "i7"]], [3.0, 4.0])
        elif isinstance(model, yarrow.feedback.LateLabels):
            ticket = model.predict(row(rng))
            model.learn(ticket, "spam")
            model.n_waiting  # noqa: B018
        else:
            _use_learner(model, rng)
    if hasattr(model, "_packed"):
        loads(b"".join(model_file.dump("it", *model._packed())))


def _compare_scorer(model: Any, document: Any, rng: random.Random) -> None:
    """Programs that read an export without looking find what the model finds."""
    x, scorer = row(rng), Scorer(document)
    likely = document.get("probabilities") and scorer.probabilities(x)
    if likely:
        told = model.predict_proba_one(x)
        np.testing.assert_allclose(list(likely.values()), list(told.values()), atol=1e-3)


def _use_decomposition(model: Any, rng: random.Random) -> None:
    names = list(model._columns)
    for _ in range(5):
        x = {name: float(rng.randrange(4)) for name in names}
        _finite(list(model.transform_one(x).values()))
        model.learn_one(x)


def _use_learner(model: Any, rng: random.Random) -> None:
    for learns in (True, True, False):
        x = row(rng)
        said = model.predict_one(x)
        if isinstance(said, float):
            _finite([said])
        with contextlib.suppress(NotImplementedError):
            shares = model.predict_proba_one(x) if hasattr(model, "predict_proba_one") else {}
            if shares:
                _finite(list(shares.values()))
                assert all(-1e-9 <= p <= 1 + 1e-9 for p in shares.values()), shares
                assert abs(sum(shares.values()) - 1) < 1e-6, shares
        if hasattr(model, "predict_interval_one"):
            low, high = model.predict_interval_one(x)
            assert low <= said <= high, (low, said, high)
        if learns:
            _learn(model, x, said, rng)
    if hasattr(model, "explain_one"):
        model.explain_one(row(rng))
    if hasattr(model, "top_features"):
        many = len(getattr(model, "classes_", ())) > 2
        model.top_features(3, **({"label": model.classes_[0]} if many else {}))


def _learn(model: Any, x: dict[Any, float], said: Any, rng: random.Random) -> None:
    if hasattr(model, "choose_one"):
        model.learn(model.choose_one(x), True)
    elif not hasattr(model, "learn_one"):
        return
    elif "OneClass" in type(model).__name__:
        model.learn_one(x)
    elif "Ranker" in type(model).__name__:
        model.partial_fit(np.ones((2, 3)), [0.0, 1.0])
    elif isinstance(said, float):
        model.learn_one(x, rng.choice([0.5, 3.0]))
    else:
        model.learn_one(x, rng.choice(["ham", "spam", "new"]))


def _finite(numbers: Any) -> None:
    assert np.isfinite(np.asarray(numbers, dtype=float)).all(), numbers
