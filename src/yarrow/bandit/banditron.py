"""Banditron: the multiclass Perceptron that is told only whether it was right."""

from __future__ import annotations

import math

from yarrow.bandit.base import BanditClassifier
from yarrow.bandit.table import Table
from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.parameters import number


@estimator
class BanditronClassifier(BanditClassifier):
    """Banditron (Kakade, Shalev-Shwartz & Tewari 2008): a Perceptron told only right or wrong.

    It shows the best class, or with probability gamma any. If the class drawn was right, the row is
    added to it, divided by the probability of the draw; the row is always taken from the best
    class. In the mean over draws that is exactly the multiclass Perceptron's update. A sample
    weight multiplies the update.
    Use it for its theorem: O(sqrt T) mistakes where classes are separable, T**(2/3) in general.
    Instead: `BanditPAClassifier`, which learns more from each answer and errs less in
    docs/feedback.md; `Perceptron`, where labels are seen.

    >>> model = BanditronClassifier(classes=["ham", "spam"], random_state=1)
    >>> for _ in range(50):
    ...     for x, truth in (({"cheap": 1}, "spam"), ({"lunch": 1}, "ham")):
    ...         shown = model.choose_one(x)
    ...         model.learn(shown, right=shown.label == truth)
    >>> model.predict_one({"cheap": 1}), model.predict_one({"lunch": 1})
    ('spam', 'ham')
    """

    def _update(
        self, table: Table, lines: Array, values: Array, drawn: int, best: int,
        probability: float, right: bool, weight: float,
    ) -> tuple[float, dict[int, Array]]:  # fmt: skip
        if drawn == best:  # 1/p - 1 if right, else -1
            return 1.0, {best: weight * (right / probability - 1) * values}
        steps = {best: -weight * values}
        if right:
            steps[drawn] = weight / probability * values
        return 1.0, steps


@estimator
class BanditPAClassifier(BanditClassifier):
    """Regularised Passive-Aggressive that is told only right or wrong (after Shen & Dietterich).

    An answer is a label for the class that was shown: its margin s*w.x, s = 1 if it was right and
    -1 if not, shall be at least 1. The update is theirs (Lemmas 3.1 and 5.1) for that signed row:
    the smallest 1/2 |w - w_t|**2 + alpha/2 |w|**2 with that margin, so that old answers fade. A
    margin may fall short by xi at the price C*xi**2, which a sample weight multiplies. With
    alpha = 0 it is the bandit PA of Zhong & Daucé (2015).
    Use it where a user only says whether a suggestion was right, and tastes change. Instead:
    `RegularizedPAClassifier`, where labels are seen; `BanditronClassifier` for a theorem.

    >>> model = BanditPAClassifier(classes=["ham", "spam"])
    >>> for _ in range(20):
    ...     for x, truth in (({"cheap": 1}, "spam"), ({"lunch": 1}, "ham")):
    ...         shown = model.choose_one(x)
    ...         model.learn(shown, right=shown.label == truth)
    >>> model.predict_one({"cheap": 1}), model.predict_one({"lunch": 1})
    ('spam', 'ham')
    """

    alpha: float = number(default=1e-4, doc="How much each update shrinks old weights.", at_least=0)
    C: float = number(
        default=0.1,
        doc="Price of a margin violation; inf: none is allowed.",
        above=0,
        or_infinite=True,
    )

    def _update(
        self, table: Table, lines: Array, values: Array, drawn: int, best: int,
        probability: float, right: bool, weight: float,
    ) -> tuple[float, dict[int, Array]]:  # fmt: skip
        sign = 1.0 if right else -1.0
        margin = sign * float(table.scores(lines, values)[drawn])
        square = float(values @ values)
        if margin >= 1 or square == 0:
            return 1.0, {}
        keep = 1 / (1 + self.alpha)
        price = 2 * self.C * weight * keep
        slack = 1 / price if price else math.inf
        tau = (1 - keep * margin) / (square + slack)
        return keep, {drawn: sign * tau * values}
