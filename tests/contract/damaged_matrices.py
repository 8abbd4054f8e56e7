"""Hands damaged sparse matrices to all that take one, and prints what does not refuse them.

A program of its own, because what follows a damaged index into memory may not come back.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import yarrow
from yarrow import (
    bandit,
    composite,
    decomposition,
    evaluate,
    experts,
    feature_selection,
    features,
    feedback,
    kernel,
    linear_model,
)
from yarrow.decomposition.factorization import Factorization
from yarrow.errors import DataError
from yarrow.estimator import Estimator
from yarrow.features.base import ColumnTransformer

N, COLUMNS = 40, 5
WHOLE = np.random.default_rng(0).poisson(2.0, (N, COLUMNS)) + 1.0  # counts: all learners take them
LABELS = np.array([0, 1] * (N // 2))
PACKAGES = (
    linear_model, kernel, decomposition, features, feature_selection, bandit, experts, feedback,
    composite,
)  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    "OnlineHDP": {"n_components": 4, "n_document_topics": 2, "max_rounds": 5},
    "OnlineLDA": {"n_components": 3, "max_rounds": 10},
    "OnlineSVD": {"rank": 3},
}
OF_OTHER_INPUT = (
    features.Columns, features.Interactions, features.TextFeatures,
    linear_model.StructuredClassifier,
)  # fmt: skip
LEARNING = ("fit", "partial_fit", "learn_many", "fit_transform", "progressive", "record")
METHODS = (
    *LEARNING, "transform", "inverse_transform", "predict", "predict_proba", "predict_many",
    "predict_sets", "decision_function", "score", "score_samples", "perplexity",
)  # fmt: skip


def put(name: str, place: int, value: int) -> Callable[[Any], Any]:
    def damage(matrix: Any) -> Any:
        getattr(matrix, name)[place] = value
        return matrix

    return damage


def cut(name: str) -> Callable[[Any], Any]:
    def damage(matrix: Any) -> Any:
        setattr(matrix, name, getattr(matrix, name)[:-3])
        return matrix

    return damage


DAMAGES = {
    "a huge index": (sp.csr_matrix, put("indices", 7, 2**31 - 1)),
    "a negative index": (sp.csr_matrix, put("indices", 7, -1)),
    "an index one too large": (sp.csr_matrix, put("indices", 7, COLUMNS)),
    "a row that ends before it begins": (sp.csr_matrix, put("indptr", 3, 30)),
    "a row far behind the end": (sp.csr_matrix, put("indptr", 3, 10**6)),
    "rows behind the end": (sp.csr_matrix, put("indptr", -1, 10**6)),
    "a first row that begins late": (sp.csr_matrix, put("indptr", 0, 2)),
    "begins missing": (sp.csr_matrix, cut("indptr")),
    "indices missing": (sp.csr_matrix, cut("indices")),
    "values missing": (sp.csr_matrix, cut("data")),
    "a huge row index in CSC": (sp.csc_matrix, put("indices", 7, 2**31 - 1)),
    "a column far behind the end in CSC": (sp.csc_matrix, put("indptr", 3, 10**6)),
    "a huge column in COO": (sp.coo_matrix, put("col", 7, 2**31 - 1)),
    "a negative row in COO": (sp.coo_matrix, put("row", 7, -1)),
    "a huge index in BSR": (lambda X: sp.bsr_matrix(X, blocksize=(2, 1)), put("indices", 7, 10**9)),
}


def models() -> Iterator[Any]:
    for package in PACKAGES:
        for name in package.__all__:
            cls = getattr(package, name)
            if not isinstance(cls, type) or not issubclass(cls, Estimator):
                continue
            if not issubclass(cls, OF_OTHER_INPUT):
                yield cls(**SMALL.get(name, {}))


def refused(call: Callable[[], Any]) -> str | None:
    """Return what is wrong with how a call was refused; None if nothing is."""
    try:
        call()
    except DataError as error:
        return str(error) if "\n" in str(error) else None
    except Exception as error:
        return repr(error)
    return "it is taken"


def learned(model: Any) -> Any:
    if isinstance(model, Factorization):
        return model.partial_fit([[i % 7, i % 3] for i in range(N)], LABELS)
    learn = getattr(model, "partial_fit", model.fit)
    return learn(WHOLE, LABELS)


def complaints(say: Callable[[str], None]) -> Iterator[str]:
    for model in map(learned, models()):
        name = type(model).__name__
        for method in METHODS:
            if not hasattr(model, method) or (
                method == "learn_many" and isinstance(model, ColumnTransformer)
            ):
                continue
            call = getattr(model, method)
            before = pickle.dumps(model)
            for what, (form, damage) in DAMAGES.items():
                say(f"{name}.{method}: {what}")
                X = damage(form(WHOLE))
                given = (X, LABELS) if method in LEARNING or method == "score" else (X,)
                wrong = refused(lambda: call(*given))  # noqa: B023
                if wrong is None and method in LEARNING and pickle.dumps(model) != before:
                    wrong = "the model is another one"
                if wrong is not None:
                    yield f"{name}.{method}: {what}: {wrong}"
    model = yarrow.AROWClassifier()
    for what, (form, damage) in DAMAGES.items():
        for name, call in {
            "progressive": lambda X: evaluate.progressive(model, X, LABELS),
            "cross_validate": lambda X: evaluate.cross_validate(model, X, LABELS, folds=2),
            "record": lambda X: evaluate.record(model, X, LABELS),
            "learning_curve": lambda X: evaluate.learning_curve(model, X, LABELS, X, LABELS),
            "Columns": features.Columns().fit,
            "Interactions": features.Interactions().transform,
            "TextFeatures": features.TextFeatures().fit,
            "regret": lambda X: evaluate.regret(X, LABELS, np.zeros(N)),
        }.items():
            say(f"evaluate.{name}: {what}")
            wrong = refused(lambda: call(damage(form(WHOLE))))  # noqa: B023
            if wrong is not None:
                yield f"evaluate.{name}: {what}: {wrong}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    seen = []
    for complaint in complaints(lambda place: (seen.append(place), print(place, file=sys.stderr))):
        print(complaint, flush=True)
    print("looked at", len(seen))
