"""Hyper-parameters that several learners have, each declared once."""

from __future__ import annotations

import dataclasses
from numbers import Integral
from typing import Any, ClassVar, Literal

from yarrow import _core
from yarrow.base.combinations import Needs
from yarrow.data.labels import is_class_list
from yarrow.errors import check_value
from yarrow.estimator import estimator
from yarrow.parameters import anything, choice, flag, integer, number

Loss = Literal["hinge", "squared_hinge", "logistic", "squared"]
RegressionLoss = Literal["squared", "epsilon_insensitive"]
PAVariant = Literal["pa", "pa1", "pa2"]
Multiclass = Literal["ovr", "top1", "max_loss", "topk", "all"]
UpdateOn = Literal["margin", "mistakes"]
Covariance = Literal["diagonal", "projected", "full", "factored", "joint"]

#: why scikit-learn's check of class weights fails where margins are asked for at any price
HARD = "a hard constraint has no price that a class weight could multiply"


class CoreRule:
    """Has a rule of the core; {loss} in its name stands for the value of that parameter."""

    core_rule: ClassVar[str]

    def _rule(self) -> _core.Rule:
        rule: _core.Rule = getattr(_core.rules, self.core_rule.format_map(vars(self)))
        return rule


class PassiveAggressiveRule(CoreRule):
    """Passive-Aggressive, whose variant scikit-learn says by a loss."""

    variant: PAVariant
    loss: Any

    def _rule(self) -> _core.Rule:
        squared = self.loss is not None and self.loss.startswith("squared")
        rule: _core.Rule = getattr(_core.rules, "pa2" if squared else self.variant)
        return rule


class ForgettingRule(CoreRule):
    """A rule that has a soft form, where C is given, and one that learns from mistakes only."""

    C: float | None
    update: UpdateOn

    def _rule(self) -> _core.Rule:
        soft = "" if self.C is None else "soft_"
        which = "" if self.update == "margin" else "_on_mistakes"
        rule: _core.Rule = getattr(_core.rules, f"{soft}{self.core_rule}{which}")
        return rule


def passes(default: int = 5) -> Any:
    """How often `fit` visits the rows."""
    doc = "Passes over the data in `fit`; `partial_fit` makes one."
    return integer(default=default, doc=doc, at_least=1)


def shuffling() -> Any:
    """The order of the rows in `fit`."""
    return flag(default=True, doc="Visit the rows in a new random order in each pass of `fit`.")


def seed(of: str = "") -> Any:
    """Where chance begins."""
    return integer(default=0, doc=f"Seed of the shuffling in `fit`{of}.", at_least=0)


def declared_classes(more: str = "") -> Any:
    """The classes that may appear."""
    return anything(
        default=None,
        allowed="None or a list of classes",
        accepts=lambda v: v is None or is_class_list(v),
        doc=f"The classes that may appear; others are refused.{more}",
    )


def check_rate(eta0: float, l2: float) -> None:
    """Refuse a first step that shrinks what was learned by more than all of it."""
    turns = f"< 1/l2 = {1 / l2:g}, or a step would turn what was learned over"
    check_value(eta0 * l2 < 1, "eta0", eta0, turns)


def averaging(default: bool = False) -> Any:
    """Whether the average of all past weights predicts; loops can keep it."""
    doc = "Predict with the average of all past weights: steadier on noise, slower under drift."
    return flag(default=default, doc=doc)


@estimator
class Averaging:
    """For those whose own parameters are positional; others declare `average` after theirs."""

    _: dataclasses.KW_ONLY
    average: bool = averaging()


def jobs() -> Any:
    """How many threads there are for one call."""
    return anything(
        default=None,
        allowed="None or an integer that is not 0",
        accepts=lambda v: (
            v is None or (isinstance(v, Integral) and not isinstance(v, bool) and v != 0)
        ),
        doc="Threads that share rows to predict, or classes of one-versus-rest to learn; "
        "None is 1, -1 one a processor.",
    )


#: that one call starts
MOST_THREADS = 1024


def n_threads(jobs: int | None) -> int:
    """As many as `n_jobs` says: -1 stands for all processors, -2 for all but one."""
    if jobs is None or jobs >= 0:
        return min(jobs or 1, MOST_THREADS)
    from yarrow.io.formats import cores

    return max(1, cores() + 1 + jobs)


def rank() -> Any:
    """The factors of a factored covariance."""
    doc = "With a factored covariance: the factors kept beside the diagonal."
    return integer(default=10, doc=doc, at_least=1, at_most=256)


@estimator
class FactorRank:
    """For loops that can keep a factored covariance."""

    _: dataclasses.KW_ONLY
    rank: int = rank()


@estimator
class OneVersusRest:
    """For learners that know no other way with many classes."""

    _: dataclasses.KW_ONLY
    multiclass: Multiclass = choice(
        default="ovr", options=("ovr",), doc="Many classes: one-versus-rest, each by itself."
    )


def loss(default: str = "hinge", *options: str) -> Any:
    """The loss of a classifier; without `options` it is one of `Loss`."""
    known = options or ("hinge", "squared_hinge", "logistic", "squared")
    return choice(default=default, options=known, doc="Loss function of the margin.")


def regression_loss() -> Any:
    """The loss of a regressor."""
    options = ("squared", "epsilon_insensitive")
    return choice(default="squared", options=options, doc="Loss function of the error.")


def error_margin() -> Any:
    """The width of the epsilon-insensitive loss."""
    doc = "Errors up to this are no errors, in the insensitive losses."
    return number(default=0.1, doc=doc, at_least=0)


def first_step(default: float = 0.5, limit: str = "") -> Any:
    """The rate of the first row."""
    return number(default=default, doc=f"Learning rate of the first step{limit}.", above=0)


def step_power(default: float = 0.5) -> Any:
    """How the rate falls."""
    doc = "How fast the learning rate falls: eta0 / t**power."
    return number(default=default, doc=doc, at_least=0, at_most=1)


def l1_strength(default: float = 1e-5) -> Any:
    """The strength of L1."""
    return number(default=default, doc="Strength of L1, which pulls weights to zero.", at_least=0)


def l2_strength() -> Any:
    """The strength of L2."""
    return number(default=0.0, doc="Strength of L2, which shrinks all weights.", at_least=0)


def price(of: str = "a margin violation") -> Any:
    """C, where slack is allowed."""
    return number(default=1.0, doc=f"Price of {of}; a small one makes small updates.", above=0)


def price_or_none() -> Any:
    """C, where slack is allowed if it is given."""
    doc = "Price of a margin violation; None: none is allowed."
    return number(default=None, doc=doc, above=0)


def pa_variant() -> Any:
    """The three forms of Passive-Aggressive."""
    doc = "Without slack; with slack priced C*xi; with slack priced C*xi**2."
    return choice(default="pa1", options=("pa", "pa1", "pa2"), doc=doc)


def pa_loss(of_pa1: str, of_pa2: str) -> Any:
    """The same in scikit-learn's words."""
    doc = f"The variant as scikit-learn says it: {of_pa1} is pa1, {of_pa2} is pa2."
    return choice(default=None, options=(of_pa1, of_pa2), doc=doc)


def pa_restrictions(of_pa1: str, of_pa2: str) -> tuple[Needs, ...]:
    """Who says a loss leaves the variant at its default, or says the same by it."""
    return (
        Needs("loss", (of_pa1,), "variant", ("pa1",)),
        Needs("loss", (of_pa2,), "variant", ("pa1", "pa2")),
    )


def update_on() -> Any:
    """Which rows a learner that forgets learns from."""
    doc = "Learn from rows whose margin is below 1, or from mistakes only, as the bounds assume."
    return choice(default="margin", options=("margin", "mistakes"), doc=doc)


def caution(of: str = "labels") -> Any:
    """AROW's r."""
    doc = f"Caution: the larger, the smaller each update; larger for noisier {of}."
    return number(default=1.0, doc=doc, above=0)


def confidence() -> Any:
    """The eta of the confidence-weighted learners."""
    return number(default=0.9, doc="Required confidence, a probability.", above=0.5, below=1)


def covariance(*options: str, only: str = "") -> Any:
    """How a confidence learner keeps its covariance; the first option is the default."""
    words = {
        "diagonal": "diagonal (of the precision)",
        "projected": "projected (of the covariance)",
        "full": "full",
        "factored": "factored by `rank`",
        "joint": "joint over classes",
    }
    doc = f"{only or 'What is kept'}: {', '.join(words[option] for option in options)}."
    return choice(default=options[0], options=options, doc=doc)
