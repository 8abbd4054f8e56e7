"""A run's certificate: mistakes made, what a theorem allows, and whether it may speak."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from yarrow.errors import ParameterError
from yarrow.evaluate import bounds
from yarrow.evaluate.bounds.base import Assumption, Bound
from yarrow.evaluate.recorded_run import Run
from yarrow.experts.base import ExpertRun
from yarrow.lazy import np

Theorem = Callable[..., Bound]


def _tightest(*theorems: Theorem) -> Theorem:
    """The smallest of some bounds; where none applies, the first."""

    def smallest(run: Run, u: Any = None) -> Bound:
        return min((theorem(run, u) for theorem in theorems), key=lambda bound: bound.value)

    return smallest


def _regularized(run: Run, u: Any = None) -> Bound:
    """With a price of missed margins or without."""
    soft = run.parameters.get("C") is not None
    return bounds.soft_margin(run, u) if soft else bounds.objective_regularised(run, u)


#: which theorem speaks for which learner, by the name of its class
THEOREMS: dict[str, Theorem] = {
    "AROWClassifier": bounds.arow,
    "FOBOSClassifier": bounds.soft_pull,
    "FixedShareClassifier": bounds.fixed_share,
    "FixedShareRegressor": bounds.fixed_share,
    "HedgeClassifier": bounds.hedge,
    "HedgeRegressor": bounds.hedge,
    "L1ConstrainedPAClassifier": functools.partial(bounds.norm_constrained, norm=1),
    "MixtureClassifier": bounds.mixture,
    "NormConstrainedPAClassifier": bounds.norm_constrained,
    "OGDClassifier": bounds.gradient_descent,
    "OGDRegressor": bounds.gradient_descent,
    "Perceptron": _tightest(bounds.perceptron, bounds.perceptron_hinge),
    "RDAClassifier": bounds.dual_averaging,
    "RegularizedPAClassifier": _regularized,
    "SGFTClassifier": bounds.sgft,
    "TruncatedGradientClassifier": bounds.truncated_gradient,
    "WeightedMajorityClassifier": bounds.weighted_majority,
}

#: learners whose theorem looks at the weights before every row: record(..., keep_weights=True)
NEED_WEIGHTS = ("L1ConstrainedPAClassifier", "NormConstrainedPAClassifier")


@dataclasses.dataclass(frozen=True)
class Certificate:
    """A bound beside what was measured, made to be printed."""

    learner: str
    rows: int
    features: int
    bound: Bound

    @property
    def mistakes(self) -> float:
        """What was measured: mistakes, or the regret where the theorem is about regret."""
        return self.bound.measured

    @property
    def slack(self) -> float:
        """How much more the theorem allows."""
        return self.bound.slack

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the theorem asks for, and whether the run gives it."""
        return self.bound.assumptions

    @property
    def is_valid(self) -> bool:
        """Whether the theorem applies to this run, and the run keeps to it."""
        return self.bound.applies and self.bound.holds

    def __str__(self) -> str:
        bound = self.bound
        lines = [
            f"{self.learner or 'a learner'} on {self.rows:,} rows of {self.features:,} features",
            _line("theorem", f"{bound.theorem}: {bound.statement}"),
            _line(bound.quantity, f"{bound.measured:.4g}"),
        ]
        if bound.applies:
            lines.append(_line("bound", f"{bound.value:.4g}{self._meaning()}"))
            lines.append(_line("slack", f"{bound.slack:.4g}"))
        else:
            lines.append(_line("bound", "none: an assumption does not hold"))
        lines += [_line(name, f"{value:.4g}") for name, value in bound.parts.items()]
        lines.append("  assumptions")
        lines += [f"    {'[yes]' if a.holds else '[NO]':<10} {a}" for a in bound.assumptions]
        return "\n".join(lines)

    def _meaning(self) -> str:
        if self.bound.is_vacuous:
            return ", which says nothing here"
        if self.bound.quantity == "mistakes":
            return f", which is {self.bound.value / self.rows:.4g} of the rows"
        if not np.isfinite(self.bound.trivial):
            return ""
        who = (
            "the mean of all experts has"
            if "N" in self.bound.parts
            else "weights of zero would have"
        )
        return f"; {who} {self.bound.trivial:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, as JSON takes them."""
        bound = self.bound
        return {
            "theorem": bound.theorem,
            "statement": bound.statement,
            bound.quantity: bound.measured,
            "applies": bound.applies,
            "bound": bound.value if bound.applies else None,
            "slack": bound.slack if bound.applies else None,
            "vacuous": bound.is_vacuous,
            "parts": dict(bound.parts),
            "assumptions": [
                {"text": a.text, "holds": a.holds, "found": "" if a.holds else a.found}
                for a in bound.assumptions
            ],
        }


def _line(name: str, value: str) -> str:
    return f"  {name:<12} {value}"


def certificate(
    run: Run | ExpertRun, u: Any = None, *, theorem: Theorem | None = None
) -> Certificate:
    """Put the theorem of the run's learner (or another one) beside the run.

    `u` is the comparator; without it a batch solver looks for a good one.

    >>> import numpy as np
    >>> from yarrow import PassiveAggressiveClassifier
    >>> from yarrow.evaluate import record
    >>> certificate(record(PassiveAggressiveClassifier(), np.eye(2), [1, -1]))
    Traceback (most recent call last):
    yarrow.errors.ParameterError: There is no theorem for PassiveAggressiveClassifier...
    """
    found = theorem or THEOREMS.get(run.learner)
    if found is None:
        raise ParameterError(
            f"There is no theorem for {run.learner or 'a run without a learner'}: pass one of "
            "yarrow.evaluate.bounds as theorem=..."
        )
    return Certificate(run.learner, run.n_rows, run.n_features, found(run, u))
