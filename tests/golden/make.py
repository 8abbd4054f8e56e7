"""Makes the golden files of the current format: models, and what they must predict.

    python tests/golden/make.py

Each `format-N/NAME.yarrow` is a model as `save` wrote it, and `NAME.json` beside it its story: the
rows it scores, their scores to the bit, the rows it then goes on with, and the scores after those.
Files of a format that has been released are never made again: they are the proof that old files
keep loading. A new format gets a new folder, and the old ones stay. Only rules whose arithmetic
is exact on every machine (no exp, no pow) are here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import yarrow
from yarrow import model_file

FOLDER = Path(__file__).parent / f"format-{model_file.VERSION}"

MODELS: dict[str, tuple[Any, list[Any], str]] = {
    "arow": (yarrow.AROWClassifier(r=0.5), ["spam", "ham"], "text"),
    "arow-average-top1": (
        yarrow.AROWClassifier(covariance="projected", average=True, multiclass="top1"),
        ["a", 1, "ü"],
        "mixed",
    ),
    "cw": (yarrow.CWClassifier(dtype="float64"), [0, 1, 2], "columns"),
    "pa": (
        yarrow.PassiveAggressiveClassifier(C=0.1, variant="pa2", class_weight={"x": 2.0}),
        ["x", "y", "z"],
        "columns",
    ),
    "pa-hashed": (yarrow.PassiveAggressiveClassifier(hash_bits=4), [True, False], "text"),
    "pa-regressor": (yarrow.PassiveAggressiveRegressor(epsilon=0.01), [0.5, -1.25, 3.0], "text"),
    "perceptron-average": (
        yarrow.Perceptron(average=True, fit_intercept=False, classes=["no", "yes"]),
        ["no", "yes"],
        "mixed",
    ),
    "fobos": (yarrow.FOBOSClassifier(l1=0.01), ["a", "b", "c"], "text"),
    "rda": (yarrow.RDAClassifier(l1=0.02, gamma=2.0), ["a", "b"], "mixed"),
    "sop": (yarrow.SOPClassifier(a=2.0), ["a", "b", "c"], "mixed"),
}


def rows(seed: int, n: int, labels: list[Any], kind: str) -> list[tuple[dict[Any, float], Any]]:
    """Return rows with names of some kind, and labels that depend on them."""
    random = np.random.default_rng(seed)
    # JSON has text keys only, so integers as names appear in the model, but not in the story.
    names = {
        "columns": [str(j) for j in range(8)],
        "text": ["alpha", "β", "", "long name " * 4, "5", "e", "f", "g"],
        "mixed": ["a", "b", "c", "d", "e", "f", "5", "-3"],
    }[kind]
    plane = np.random.default_rng(99).normal(size=(8, len(labels)))
    made = []
    for _ in range(n):
        x = random.integers(-4, 5, 8) / 4
        label = labels[int(np.argmax(x @ plane))]
        made.append(({names[j]: float(x[j]) for j in range(8) if x[j]}, label))
    return made


def story(model: Any, shown: list[dict[Any, float]]) -> dict[str, Any]:
    """Return what the model says now."""
    return {
        "scores": [[float(s).hex() for s in model._fitted.score_one(x)[0]] for x in shown],
        "predictions": [model.predict_one(x) for x in shown],
        "counts": [model.t_, model.n_updates_],
    }


def make(name: str) -> None:
    """Write one model and its story."""
    model, labels, kind = MODELS[name]
    for x, y in rows(1, 60, labels, kind):
        model.learn_one(x, y)
    if kind == "mixed":
        model.learn_one({5: 1.0, -3: 0.5, 2**40: 0.25}, labels[0])
    model.save(FOLDER / f"{name}.yarrow")
    shown = [x for x, _ in rows(2, 10, labels, kind)]
    more = rows(3, 25, labels, kind)
    parameters = {
        key: value for key, value in model.get_params().items() if not isinstance(value, list)
    }
    told: dict[str, Any] = {
        "estimator": type(model).__name__,
        "parameters": parameters,
        "rows": shown,
        "more rows": more,
        "as saved": story(model, shown),
    }
    for x, y in more:
        model.learn_one(x, y)
    told["after more rows"] = story(model, shown)
    text = json.dumps(told, indent=None, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or MODELS:
        make(chosen)
