"""Banditron: the multiclass Perceptron that is told only whether it was right."""

from __future__ import annotations

from yarrow.bandit.base import BanditClassifier
from yarrow.bandit.table import Table
from yarrow.data.arrays import Array
from yarrow.estimator import estimator


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
