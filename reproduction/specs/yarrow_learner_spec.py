"""The learner without settings: the sets, what it is tried without, and what is asked of it.

All sets took part in choosing how it is made. Sets of one source share rows, so they are left out
together where a number is judged by sources that did not choose it (`reproduction.left_out`).
"""

from __future__ import annotations

import itertools
from typing import Any

from reproduction.spec import Learner, Study
from reproduction.specs import evidence_spec as evidence
from reproduction.specs.evidence_spec import Set

FIRST_ROUND = evidence.SETS
SECOND_ROUND = (
    Set("letter", "dense", True, many=True),
    Set("satimage", "dense", True, many=True),
    Set("shuttle", "dense", True, many=True),
    Set("outdoor", "drift", True, many=True),
    Set("weather", "drift", True),
    Set("dna", "dense", True, many=True),
    Set("phishing", "dense", True),
    Set("svmguide3", "dense", True),
    Set("w8a", "text", True, "w1a"),
    Set("farm-ads", "text", True),
    Set("ling-spam", "text", True),
    Set("spamassassin", "text", True),
    Set("enron-categories", "text", True, many=True),
)
"""Sets that the package does not know (`reproduction.second_round`)."""
SETS = (*FIRST_ROUND, *SECOND_ROUND)
BY_NAME = {one.name: one for one in SETS}


NOISY_SETS = (BY_NAME["phishing"], BY_NAME["ling-spam"])
"""On which the first edition was behind."""


def source_of(name: str) -> str:
    """What a set shares its rows with; itself if nothing."""
    return BY_NAME[name].source or name


# What is asked of it, beside the best of all peers' settings in hindsight:
NO_WORSE_ON = 0.85  # of the sets
WORSE_AT_MOST = 0.02  # more mistakes, relatively, where it is surely worse
NOISE = (0.1, 0.3)  # of the labels, changed at random; mistakes are counted by the true ones
NOISY_CUT = (2_000, 500)  # the most rows of two classes, and of many: there is much to run
NO_WORSE_UNDER_NOISE = 0.8  # of the sets

OURS = "YarrowClassifier"
PARTS = (
    "forgetting", "mixture", "AdaGrad", "AROW", "naive Bayes", "bends", "full covariance", "pairs",
    "all but one expert",
)  # fmt: skip
"""What it is tried without; with naive Bayes goes the AROW that listens to it."""
LEARNERS = (
    Learner(OURS, OURS),
    *(Learner(f"without {part}", "yarrow_without", {"part": part}) for part in PARTS),
)
COIN = Learner(
    "Vowpal Wabbit: coin, other scales",
    "vowpal_wabbit",
    {"arguments": "--coin"},
    {"loss_function": ("logistic", "hinge"), "ftrl_alpha": (0.5, 32)},
)
PAIRS = (
    Learner(
        "Vowpal Wabbit: pairs of values, gradient steps",
        "vowpal_wabbit",
        {"arguments": "-q ::"},
        {
            "loss_function": ("logistic", "hinge"),
            "power_t": (0.5, 0),
            "learning_rate": (0.02, 0.1, 0.5),
        },
    ),
    Learner(
        "Vowpal Wabbit: pairs of values, coin",
        "vowpal_wabbit",
        {"arguments": "-q :: --coin"},
        {"loss_function": ("logistic", "hinge")},
    ),
)
"""For rows of at most 64 values in the mean."""
_LOSSES = ("hinge", "log_loss", "modified_huber")
SCALED = (
    Learner(
        "scikit-learn: constant rate behind StandardScaler",
        "scikit_sgd",
        {"scaled": True, "learning_rate": "constant", "alpha": 1e-6},
        {"loss": _LOSSES, "eta0": (0.001, 0.01, 0.1)},
    ),
    Learner(
        "scikit-learn: falling rate behind StandardScaler",
        "scikit_sgd",
        {"scaled": True, "learning_rate": "invscaling", "power_t": 0.5, "alpha": 1e-6},
        {"loss": _LOSSES, "eta0": (0.1, 1.0)},
    ),
    Learner(
        "scikit-learn: Passive-Aggressive behind StandardScaler",
        "scikit_sgd",
        {"scaled": True, "penalty": None, "loss": "hinge", "learning_rate": "pa1"},
        {"eta0": (0.001, 0.01, 0.1)},
    ),
)
"""For at most 300 columns, as are those of river: a row brings its zeros along."""
RIVER_SCALED = Learner(
    "river: logistic behind StandardScaler, zeros included",
    "river_logistic",
    {"scaled": True, "zeros": True},
    {"optimizer": ("SGD", "AdaGrad"), "rate": (0.01, 0.1)},
)
LONG_ROWS = frozenset(
    {
        "20newsgroups", "20newsgroups/ob-2-1", "20newsgroups/sb-2-1", "20newsgroups/ob-8-1",
        "20newsgroups/sb-8-1", "20newsgroups/phases", "reuters21578", "amazon-sentiment",
        "amazon-sentiment/vectors", "movie-reviews", "enron-spam", "rcv1-vw-small",
        "spam-corpus-drift", "usps", "usps/phases", "mnist", "farm-ads", "ling-spam",
        "spamassassin", "enron-categories",
    }
)  # fmt: skip
MANY_COLUMNS = LONG_ROWS - {"usps", "usps/phases"} | {"movie-reviews/sentences", "sms-spam"}

FAST_PEERS = (*evidence.VOWPAL, COIN, *PAIRS, *evidence.SCIKIT, *SCALED)
"""All but river, of which a row takes as long as of ten others."""
PEERS = (*FAST_PEERS, *evidence.RIVER, RIVER_SCALED)


def suits(learner: Learner, name: str) -> bool:
    """Whether a set has the rows that a learner is for.

    river has none of many classes: a row takes as long there as a hundred of other libraries, and
    in the evidence it was the best on none of them.
    """
    if learner.label.startswith("river") and BY_NAME[name].many:
        return False
    if learner in PAIRS:
        return name not in LONG_ROWS
    return learner not in (*SCALED, RIVER_SCALED) or name not in MANY_COLUMNS


def _of_all(
    sets: tuple[Set, ...], learners: tuple[Learner, ...], cut: evidence.Cut, **how: Any
) -> tuple[Study, ...]:
    """Sets together that suit the same learners."""
    together: dict[tuple[bool, ...], list[Set]] = {}
    for one in sets:
        together.setdefault(tuple(suits(each, one.name) for each in learners), []).append(one)
    return tuple(
        study
        for suited, those in together.items()
        for study in evidence.studies(
            tuple(those), tuple(itertools.compress(learners, suited)), cut, **how
        )
    )


def studies(sets: tuple[Set, ...], cut: evidence.Cut) -> tuple[Study, ...]:
    """All of it beside all peers, on the rows on which the evidence tries settings."""
    return _of_all(sets, (*LEARNERS, *PEERS), cut)


def noisy(sets: tuple[Set, ...], cut: evidence.Cut) -> tuple[Study, ...]:
    """Rows with changed labels, beside the peers that are fast enough for that."""
    return _of_all(sets, (LEARNERS[0], *FAST_PEERS), cut, noise=NOISE)


FULL = (
    *studies(SETS, evidence.CUT),
    *noisy(NOISY_SETS, NOISY_CUT),
)
