"""The learners of Shen & Dietterich (2009) and their four-phase streams."""

from __future__ import annotations

from typing import Any

from reproduction.spec import Data, Learner

PAPER = (
    "Shen & Dietterich, A Family of Large Margin Linear Classifiers and Its Application in Dynamic "
    "Environments, 2009"
)
PLAIN = {"fit_intercept": False}
REGULARISED, L2, L1 = "objective-regularised", "L2-constrained", "L1-constrained"
SOFT, PA_II, NET = "soft margin", "PA-II", "elastic net PA"
_C = (0.001, 0.01, 0.1, 1.0, 10.0)


def regularised() -> Learner:
    """The penalty alpha is tuned."""
    grid = {"alpha": (1e-5, 1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2)}
    return Learner(REGULARISED, "RegularizedPAClassifier", PLAIN, grid)


def soft() -> Learner:
    """The objective-regularised method with a slack (5.27), the paper's fourth; its C is tuned."""
    grid = {"alpha": (1e-5, 1e-3, 5e-3), "C": _C}
    return Learner(SOFT, "RegularizedPAClassifier", PLAIN, grid)


def pa_ii() -> Learner:
    """PA with the slack of the soft margin, and no penalty."""
    fixed = {**PLAIN, "variant": "pa2"}
    return Learner(PA_II, "PassiveAggressiveClassifier", fixed, {"C": _C})


def elastic() -> Learner:
    """The paper's outlook: both penalties in one objective, with and without a slack."""
    grid = {"alpha": (1e-5, 1e-3, 5e-3), "l1": (1e-6, 1e-5, 1e-4), "C": (None, 0.001, 0.01, 0.1)}
    return Learner(NET, "ElasticNetPAClassifier", PLAIN, grid)


def l2_constrained() -> Learner:
    """The radius beta is tuned; rows of these sets are about ten long."""
    grid = {"beta": (0.5, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0)}
    return Learner(L2, "NormConstrainedPAClassifier", PLAIN, grid)


def l1_constrained() -> Learner:
    """The radius beta is tuned; values are at most one, so it must be above one."""
    grid = {"beta": (5.0, 7.0, 10.0, 20.0, 40.0, 80.0, 160.0)}
    return Learner(L1, "L1ConstrainedPAClassifier", PLAIN, grid)


def pa() -> Learner:
    """The plain PA; nothing to tune."""
    return Learner("PA", "PassiveAggressiveClassifier", {**PLAIN, "variant": "pa"})


def norma(label: str = "NORMA", power: float = 0.5) -> Learner:
    """Rate and penalty are tuned; the rate falls as 1/sqrt(t), or with power 0 not at all."""
    grid = {"l2": (1e-3, 1e-2, 0.1), "eta0": (0.003, 0.01, 0.03, 0.1, 0.3)}
    return Learner(label, "NORMAClassifier", {**PLAIN, "power": power}, grid)


def bayesian(covariance: str) -> Learner:
    """The noise of the probit is tuned."""
    fixed = {**PLAIN, "covariance": covariance}
    grid = {"noise": (0.1, 0.3, 1.0, 3.0, 10.0)}
    return Learner("Bayesian Perceptron", "BayesianPerceptron", fixed, grid)


def arow() -> Learner:
    """AROW without forgetting, diagonal; r is tuned."""
    return Learner("AROW", "AROWClassifier", PLAIN, {"r": (0.01, 0.1, 1.0, 10.0, 100.0)})


def forgetting_arow(label: str = "AROW, forgetting", **parameters: Any) -> Learner:
    """AROW whose confidence fades; r and the memory are tuned."""
    grid = {"r": (0.1, 1.0, 10.0, 100.0), "memory": (0.9, 0.97, 0.99, 0.997)}
    return Learner(label, "ForgettingAROWClassifier", {**PLAIN, **parameters}, grid)


def usps(rows: int = 500) -> Data:
    """The digits 3 and 7 against 8 and 9, so many rows a phase."""
    return Data("USPS", "usps/phases", {"rows": rows}, drawn=True)


def news(rows: int = 800) -> Data:
    """Baseball and hockey against cars and motorcycles, so many rows a phase."""
    return Data("20 Newsgroups", "20newsgroups/phases", {"rows": rows}, drawn=True)
