"""What the tests of the command line share."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click.testing
import numpy as np

Run = Callable[..., click.testing.Result]

COMMAND = [sys.executable, "-m", "yarrow"]


def start(*args: Any, **settings: Any) -> subprocess.Popen[bytes]:
    """Start a command as a process of its own, which Ctrl-C reaches as in the foreground."""
    usual = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    }
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        **(usual | settings),
    )


def rows_of_text(n: int, seed: int = 0, classes: tuple[str, ...] = ("-1", "+1")) -> list[str]:
    """Lines of svmlight text: 30 features, of which the first ones tell the class."""
    chance = random.Random(seed)
    lines = []
    for _ in range(n):
        place = chance.randrange(len(classes))
        telling = place + 1 if chance.random() < 0.8 else chance.randrange(len(classes)) + 1
        others = sorted(chance.sample(range(len(classes) + 1, 31), 4))
        values = [f"{index}:{chance.uniform(-1, 1):.4f}" for index in others]
        lines.append(f"{classes[place]} {telling}:1 {' '.join(values)}\n")
    return lines


def by_name(model: Any) -> dict[Any, list[float]]:
    """Weights by the name of their feature, whatever the order of names."""
    columns = np.atleast_2d(model.coef_).T.tolist()
    weights = dict(zip(model.feature_names_, columns, strict=True))
    return {name: column for name, column in weights.items() if any(column)}


CSV = """label,age,town,text
spam,31,Oslo,Cheap pills
ham,40,Rome,lunch today?
spam,33,Oslo,cheap cheap watches
ham,,Oslo,"Lunch, or dinner"
ham,52,Rome,dinner today
spam,18,Oslo,pills and watches
"""
