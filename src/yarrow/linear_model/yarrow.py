"""The learner without settings: six experts on standardised columns, and a mixture above them."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.linear_model import inspection
from yarrow.linear_model.classifier import LinearClassifier
from yarrow.linear_model.confidence import MarginProbabilities
from yarrow.parameters import choice, number
from yarrow.stream.arrays import Array

#: experts: r of AROW or the rate of AdaGrad, and how much of its confidence a visit leaves
AROW_EXPERTS = ((0.3, 1.0), (0.03, 1.0), (1.0, 0.9), (1.0, 0.7))
ADAGRAD_EXPERTS = ((1.0, 0.99), (0.5, 1.0))
EXPERTS = (*AROW_EXPERTS, *ADAGRAD_EXPERTS)
#: what the mixture gives them at first; then AROW on bent rows and naive Bayes, which learn from few rows
FIRST_WEIGHTS = (*[1 / len(EXPERTS)] * len(EXPERTS), 0.5, 0.5)
FIRST_VARIANCES = (0.3,) * len(FIRST_WEIGHTS)
#: r of the mixture, and what each row adds to its variances
MIXTURE = (1.0, 1e-4)
#: r of AROW on bent rows
BENT = (0.1,)
#: what naive Bayes adds to the counts of a feature, and to those of all
SMOOTHING = (0.3, 10.0)


@estimator
class YarrowClassifier(MarginProbabilities, LinearClassifier):
    """No settings to choose: AROW's confidence joined with forgetting (after Crammer et al. 2013).

    Six experts learn each row: four AROWs, cautious and bold, whose confidence fades slowly, fast
    or never, and two logistic regressions by AdaGrad. Above them a small AROW with a full
    covariance learns, row by row, what each expert is worth. Columns of different size are brought
    to one scale on the way. docs/yarrow-learner.md has the equations, the evidence, and where it
    fails.

    Use it first: over whole streams it makes the fewest mistakes of all in docs/evidence.md, on
    text, on dense tables with unequal columns, with and without drift. Instead: `AROWClassifier`
    for an eighth of the memory and a fifth of the time, and for weights that can be exported;
    `RDAClassifier` for few weights; the method of a paper where that paper is the point.
    A sample weight divides the r of AROW and multiplies the gradients of AdaGrad. `coef_` holds
    weights of the standardised features.

    >>> model = YarrowClassifier()
    >>> model.learn_one({"cheap": 1, "pills": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"pills": 1})
    'spam'
    """

    family: ClassVar[str] = "mixture"
    row_costs: ClassVar[str] = "six times its values"
    is_exportable: ClassVar[bool] = False

    _: dataclasses.KW_ONLY
    intercept_scaling: float = number(
        default=0.5, doc="Value of the constant feature; rows are about as long as one.", above=0
    )
    multiclass: Literal["ovr"] = choice(
        default="ovr", options=("ovr",), doc="Many classes: one-versus-rest."
    )

    def _loop(self) -> _core.Loop:
        return _core.Loop.yarrow

    def _rule(self) -> _core.Rule:
        return rules.arow

    def _rule_parameters(self) -> list[float]:
        return []

    def _loop_parameters(self) -> list[float]:
        rates, memories = zip(*EXPERTS, strict=True)
        return [*rates, *memories, *FIRST_WEIGHTS, *FIRST_VARIANCES, *MIXTURE, *BENT, *SMOOTHING]

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> inspection.Explanation:
        """What each feature of a row adds to the score of a class (the predicted one).

        Values are standardised, as the experts see them. The parts sum up to the score, unless an
        expert's own score is beyond 3 and was cut.
        """
        label = self.predict_one(x) if label is None else label
        return inspection.explain_one(self, self._standardized(x), label)

    def _standardized(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The values of a row that are known, as core/standardized.hpp makes them."""
        features = {
            (f"{name}={value}" if isinstance(value, str) else name): (
                1.0 if isinstance(value, str) else float(value)
            )
            for name, value in x.items()
        }
        places = np.array(self._fitted.place(list(features)), np.int64)
        state = self._fitted.get_state()
        n, a, s = state["blocks"][places + 1, 2 * len(EXPERTS) :][:, :3, 0].T.astype(np.float64)
        values = np.array(list(features.values()), state["blocks"].dtype).astype(np.float64)
        seen = (places >= 0) & (n > 0) & (values != 0)
        p = n / max(1.0, state["mixture"][-1])
        squared = np.where(seen, s**2 + a**2 * (1 - p**4), 1.0)
        z = np.where(squared > 1e-12 * a**2, (values - a * p**2) / np.sqrt(squared), 0.0)
        z = np.clip(z, -2, 2) * seen / np.sqrt(max(1, int(seen.sum())))
        return dict(zip(features, z.tolist(), strict=True))

    @property
    def expert_weights_(self) -> Array:
        """What each expert is worth to the mixture: four AROWs, then two logistic regressions."""
        worth: Array = self._fitted.get_state()["mixture"][: len(EXPERTS)]
        return worth
