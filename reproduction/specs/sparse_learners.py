"""The learners of Oiwa, Matsushima & Nakagawa (2011) and the sets they were compared on."""

from __future__ import annotations

import math
from typing import Any

from reproduction.spec import Data, Learner

PAPER = (
    "Oiwa, Matsushima & Nakagawa, Frequency-aware Truncated Methods for Sparse Online Learning, "
    "2011"
)
LAMBDA = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
#: one weight vector a class, also where there are two; the loss is (15); rate 1/sqrt(t)
FIXED = {"fit_intercept": False, "multiclass": "top1", "loss": "hinge"}
RATE = {"eta0": 1.0, "power": 0.5}


def sgft(p: float, **parameters: Any) -> Learner:
    """SGFT with the cap V = 500."""
    name = "inf" if math.isinf(p) else f"{p:g}"
    kind = ", cumulative" if parameters.get("cumulative") else ""
    fixed = {**FIXED, **RATE, "p": p, "cap": 500.0, **parameters}
    return Learner(f"SGFT p={name}{kind}", "SGFTClassifier", fixed, {"l1": LAMBDA})


def sg_l1(label: str = "SG-L1", **grid: Any) -> Learner:
    """The subgradient method with L1 in its FOBOS form, as the paper's (3)."""
    return Learner(label, "FOBOSClassifier", {**FIXED, **RATE}, {"l1": LAMBDA, **grid})


def cumulative() -> Learner:
    """The cumulative penalty of Tsuruoka et al., which 004 combines with SGFT."""
    fixed = {**FIXED, **RATE}
    return Learner("SG-L1, cumulative", "CumulativePenaltyClassifier", fixed, {"l1": LAMBDA})


def rda() -> Learner:
    """RDA with h(w) = |w|²/2 and beta_t = sqrt(t)."""
    return Learner("RDA", "RDAClassifier", {**FIXED, "gamma": 1.0}, {"l1": LAMBDA})


def frequency_rda(p: float) -> Learner:
    """RDA with SGFT's h, the outlook of the paper."""
    name = "inf" if math.isinf(p) else f"{p:g}"
    fixed = {**FIXED, "gamma": 1.0, "p": p, "cap": 500.0}
    grid = {"l1": (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)}
    return Learner(f"frequency-aware RDA p={name}", "FrequencyRDAClassifier", fixed, grid)


def data(rows: int | None = None) -> tuple[Data, ...]:
    """The seven sets, or what is nearest to them."""
    reviews = "amazon-sentiment/five"
    return (
        Data("books", reviews, {"domain": "books"}, rows=min(rows or 4_465, 4_465)),
        Data("dvd", reviews, {"domain": "dvd"}, rows=min(rows or 3_586, 3_586)),
        *(
            Data(name, f"20newsgroups/{name}", {"stem": True}, rows=rows)
            for name in ("ob-2-1", "sb-2-1", "ob-8-1", "sb-8-1")
        ),
        Data("reut20", "reuters21578", {"features": "counts"}, rows=min(rows or 7_800, 7_800)),
    )
