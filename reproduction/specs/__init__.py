"""The reproductions by name; each is a module with its specification and the paper's figures."""

from __future__ import annotations

import importlib

from reproduction.spec import Reproduction
from yarrow.errors import ParameterError

NAMES = (
    "arow-synthetic",
    "arow-ranks",
    "arow-mnist",
    "arow-multiclass",
    "arow-outlook",
    "sgft",
    "drift",
    "drift-selection",
    "kernel-budget",
    "future",
    "activity",
)
#: run by the same engine, but not a paper's: `--all` leaves them out
OTHERS = ("evidence", "yarrow-learner", "yarrow-regressor", "keel", "experts", "bandit", "feedback")


def named(name: str) -> Reproduction:
    """Return the reproduction of this name.

    >>> named("arow-mnist").title
    'Mistakes on MNIST, 3 against 5'
    """
    if name not in NAMES + OTHERS:
        there_are = ", ".join(NAMES + OTHERS)
        raise ParameterError(f"There is no reproduction {name!r}; there are {there_are}.")
    module = importlib.import_module(f"reproduction.specs.{name.replace('-', '_')}")
    reproduction: Reproduction = module.REPRODUCTION
    return reproduction
