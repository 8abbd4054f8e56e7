"""The learner without settings: which sets choose how it is made, and which confirm it.

Written before the first run. The split is the one of the evidence, made there by source of data
before its first run, so that nobody picks sets twice: sources stay together, and each kind of data
is in both halves.
"""

from __future__ import annotations

from reproduction.spec import Learner, Study
from reproduction.specs import evidence_spec as evidence

CHOOSING = tuple(one for one in evidence.SETS if one.chooses)
CONFIRMING = tuple(one for one in evidence.SETS if not one.chooses)

SEEN = (
    "sms-spam",
    "electricity",
    "amazon-sentiment",
    "amazon-sentiment/vectors",
    "spam-corpus-drift",
    "20newsgroups",
    "a9a",
    "usenet1",
    "enron-spam",
)
"""Sets on which a first prototype had been tried; three of them are in the half that confirms."""

# What is asked of it on the confirming half, beside the best of all peers' settings in hindsight:
NO_WORSE_ON = 0.8  # of the sets
WORSE_AT_MOST = 0.02  # more mistakes, relatively, on any set

OURS = "YarrowClassifier"
PARTS = (
    "forgetting", "mixture", "AdaGrad", "AROW", "naive Bayes", "bends", "full covariance",
    "pairs", "all but one expert",
)  # fmt: skip
"""What it is tried without; with naive Bayes goes the AROW that listens to it."""
LEARNERS = (
    Learner(OURS, OURS),
    *(Learner(f"without {part}", "yarrow_without", {"part": part}) for part in PARTS),
)
PEERS = (*evidence.VOWPAL, *evidence.SCIKIT, *evidence.RIVER)


def studies(sets: tuple[evidence.Set, ...], cut: evidence.Cut) -> tuple[Study, ...]:
    """All of it beside all peers, on the rows on which the evidence tries settings."""
    return evidence.studies(sets, (*LEARNERS, *PEERS), cut)


def whole(sets: tuple[evidence.Set, ...] = evidence.WHOLE) -> tuple[Study, ...]:
    """Sets that were cut, at full length."""
    return evidence.studies(sets, (LEARNERS[0], evidence.WHOLE_VOWPAL), None, whole=True)


FULL = (*studies(evidence.SETS, evidence.CUT), *whole())
