"""The voted Perceptron: all vectors that it ever had decide together."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.estimator import estimator
from yarrow.parameters import choice, integer


@estimator
class VotedPerceptron(LinearClassifier):
    """The voted Perceptron (Freund & Schapire 1999).

    It learns as the Perceptron does. To predict, each weight vector that there has been, from the
    first one of zeros on, votes for the class it would have predicted, once for the row that made
    it (the first one: once in advance) and once for each row that it got right; a row of sample
    weight w counts w times, and scales the step that it makes by w. A vector whose score is exactly
    0 abstains. Scores are the share of votes for a class minus the share against
    it; ties go to the class seen first.

    What is kept are the rows that were got wrong, so memory and the time of a prediction grow with
    their values. `max_vectors` bounds both: only the most recent vectors vote, and older ones are
    forgotten along with their votes. `coef_` holds the current vector, which alone decides what is
    learned. Votes are no sum over features: `explain_one` says what the score would lose without
    each of them.

    Use it to study how much voting gains over averaging. Instead: `Perceptron(average=True)`, which
    is nearly as good, and predicts as fast as any linear model.

    >>> model = VotedPerceptron()
    >>> model.learn_one({"cheap": 1, "pills": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"cheap": 1, "lunch": 0.1})
    'spam'
    """

    row_costs: ClassVar[str] = "its values; to predict, those of all mistakes"
    expected_failed_checks: ClassVar[dict[str, str]] = LinearClassifier.expected_failed_checks | {
        "check_class_weight_classifiers": (
            "early vectors keep their votes: 86 % go to the heavy class, and 87 % are asked for"
        )
    }

    max_vectors: int | None = integer(
        default=None, doc="The most weight vectors that vote, per class; None: all.", at_least=1
    )
    _: dataclasses.KW_ONLY
    multiclass: Literal["ovr"] = choice(
        default="ovr", options=("ovr",), doc="Many classes: one-versus-rest."
    )

    family: ClassVar[str] = "voted"
    is_exportable: ClassVar[bool] = False

    def _loop(self) -> _core.Loop:
        return _core.Loop.voted

    def _rule(self) -> _core.Rule:
        return rules.voted_perceptron

    def _loop_parameters(self) -> list[float]:
        return [float(self.max_vectors or 0)]
