"""The voted Perceptron: all vectors that it ever had decide together."""

from __future__ import annotations

from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import OneVersusRest
from yarrow.estimator import estimator
from yarrow.parameters import integer


@estimator
class VotedPerceptron(OneVersusRest, LinearClassifier):
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
    """

    row_costs = "O(nnz); to predict, O(nnz) of all mistakes"
    is_dear = True
    grows_with_rows = True
    class_weight_fails = (
        "early vectors keep their votes: 86 % go to the heavy class, and 87 % are asked for"
    )

    max_vectors: int | None = integer(
        default=None,
        doc="Maximum number of weight vectors that vote, per class; None: all.",
        at_least=1,
    )

    family = "voted"
    is_exportable = False
    core_learner = "voted"
    core_rule = "voted_perceptron"

    def _loop_parameters(self) -> list[float]:
        return [float(self.max_vectors or 0)]
