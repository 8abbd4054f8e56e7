"""Card fraud: one payment in two hundred, and mistakes that do not cost the same.

A fraud that goes through costs its amount; to stop a payment and ask costs five. So an alarm pays
where the chance of fraud times the amount is above five: not where fraud is the likelier class.
That takes probabilities that can be believed, which `YarrowClassifier` has. Payments are drawn, not
real ones; each is judged before it is known what it was.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from yarrow import YarrowClassifier

ASKING = 5.0
Payment = dict[str, float]


def payments(count: int, seed: int) -> Iterator[tuple[Payment, float, bool]]:
    """Yield features, amount, and whether it was fraud; frauds are larger, at night, far away."""
    chance = random.Random(seed)
    for _ in range(count):
        fraud = chance.random() < 0.005
        amount = chance.lognormvariate(4.2 if fraud else 3.2, 1.0)
        night = chance.random() < (0.5 if fraud else 0.1)
        abroad = chance.random() < (0.6 if fraud else 0.05)
        shop = chance.choice(("jewels", "tickets", "games")) if chance.random() < (
            0.7 if fraud else 0.1
        ) else chance.choice(("food", "fuel", "books", "clothes"))  # fmt: skip
        row = {"size": math.log(amount) / 5, f"shop {shop}": 1.0}
        row |= {name: 1.0 for name, is_so in (("night", night), ("abroad", abroad)) if is_so}
        yield row, amount, fraud


def main(count: int = 40_000, seed: int = 0) -> dict[str, float]:
    """Return what each way to decide costs."""
    model = YarrowClassifier(classes=[False, True])
    costs = {"let all through": 0.0, "stop the likely frauds": 0.0, "weigh the costs": 0.0}
    for row, amount, fraud in payments(count, seed):
        likely = model.predict_proba_one(row).get(True, 0.0)
        stops = {"let all through": False, "stop the likely frauds": likely > 0.5,
                 "weigh the costs": likely * amount > ASKING}  # fmt: skip
        for way, stop in stops.items():
            costs[way] += ASKING if stop else amount * fraud
        model.learn_one(row, fraud)
    for way, cost in costs.items():
        print(f"{way}: {cost:,.0f}")
    return costs


if __name__ == "__main__":
    main()
