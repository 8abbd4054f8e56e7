"""The peers, one small function each, set up as fast as they go.

scikit-learn shuffles the rows of ``partial_fit`` unless told not to; both ways are measured.
Run as a program (``python peers.py FILE``) it is scikit-learn's "load and fit" of a text file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

VW_OPTIONS = ["--loss_function", "hinge", "--sgd", "--quiet"]  # plain SGD is its fastest learner


def sklearn_pa1(X: Any, y: np.ndarray, shuffle: bool = True) -> Any:
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=shuffle
    )
    return model.partial_fit(X, y, classes=[-1, 1])


def sklearn_logistic(X: Any, y: np.ndarray) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss").partial_fit(X, y, classes=[-1, 1])


def sklearn_l1(X: Any, y: np.ndarray, shuffle: bool = True) -> Any:
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="hinge", penalty="l1", alpha=1e-5, shuffle=shuffle)
    return model.partial_fit(X, y, classes=[-1, 1])


def sklearn_one_versus_rest(X: Any, y: np.ndarray, shuffle: bool = True) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", shuffle=shuffle).partial_fit(X, y, classes=np.unique(y))


def sklearn_text(path: Path) -> list[str]:
    """The command that loads a svmlight file and makes one pass of PA-I."""
    return [sys.executable, __file__, str(path)]


def vw_text(path: Path, model: Path) -> list[str]:
    """Vowpal Wabbit as a command. The Python package is its newest build, and acts as one."""
    return [sys.executable, "-m", "vowpalwabbit", "-d", str(path), *VW_OPTIONS, "-f", str(model)]


def vw_lines(rows: Sequence[dict[str, float]], y: Sequence[int]) -> list[str]:
    """Rows in Vowpal Wabbit's own text format."""
    pairs = zip(rows, y, strict=True)
    return [f"{c} | " + " ".join(f"{name}:{v}" for name, v in row.items()) for row, c in pairs]


def vw_learn_lines(lines: Sequence[str]) -> None:
    """Vowpal Wabbit's Python ``learn`` with lines made beforehand."""
    from vowpalwabbit import Workspace

    with Workspace(arg_list=VW_OPTIONS) as workspace:
        for line in lines:
            workspace.learn(line)


def vw_learn_dicts(rows: Sequence[dict[str, float]], y: Sequence[int]) -> None:
    """Vowpal Wabbit's Python ``learn`` with examples made from dicts."""
    from vowpalwabbit import Workspace

    with Workspace(arg_list=VW_OPTIONS) as workspace:
        for row, c in zip(rows, y, strict=True):
            example = workspace.example({"f": row})
            example.set_label_string(str(c))
            workspace.learn(example)
            workspace.finish_example(example)


def river_pa1(rows: Sequence[dict[str, float]], y: Sequence[int]) -> None:
    from river.linear_model import PAClassifier

    model = PAClassifier(C=1.0, mode=1)
    for row, c in zip(rows, y, strict=True):
        model.learn_one(row, c > 0)


def river_learned(model: str, rows: Sequence[dict[str, float]], y: Sequence[int]) -> Any:
    """One of river's linear models that has learned the rows."""
    from river import linear_model

    learner = getattr(linear_model, model)()
    for row, c in zip(rows, y, strict=True):
        learner.learn_one(row, c > 0)
    return learner


def _load_and_fit(path: str) -> None:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(path, dtype=np.float32)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # as SGD asks
    sklearn_pa1(X, y, shuffle=False)


if __name__ == "__main__":
    _load_and_fit(sys.argv[1])
