"""Scores rows by a model that `export` wrote as JSON: plain Python without dependencies.

Copy this file beside your program; scorer.mjs is the same for JavaScript, and docs/export.md says
what the fields of an export mean.

    model = Scorer.load("model.json")
    model.predict({"size": 3.5, "colour": "red"})
    model.probabilities({"size": 3.5, "colour": "red"})
    model.interval({"size": 3.5, "colour": "red"}, coverage=0.9)  # of YarrowRegressor
"""

from __future__ import annotations

import json
import math
from typing import Any

_NO_EXPORT = "no export as JSON: write one by model.export('model.json')"


class Scorer:
    """Predicts the rows of one exported model: dicts of features; a text is a category."""

    def __init__(self, model: dict[str, Any]) -> None:
        if not isinstance(model, dict) or "seen" not in model:
            raise ValueError(_NO_EXPORT)
        self.model = model
        self.known: dict[Any, Any] = {}  # what is known of each feature
        if "experts" in model:
            for place, (name, *column) in enumerate(model["features"]):
                self.known[name] = (place, *column)
            return
        for place, name in enumerate(model.get("known", ()), start=1):
            self.known[name] = place, {}, {}
        for which, field in ((1, "weights"), (2, "variances")):
            for name, score, number in model.get(field, ()):
                self.known.setdefault(name, (0, {}, {}))[which][score] = number

    @classmethod
    def load(cls, path: Any) -> Scorer:
        """Read a JSON file that `export` wrote."""
        with open(path, "rb") as file:
            text = file.read()
        try:
            model = json.loads(text)
        except ValueError:
            raise ValueError(f"{path}: {_NO_EXPORT}") from None
        return cls(model)

    def predict(self, row: dict[Any, Any]) -> Any:
        """The class of a row, or its value in a regression."""
        scores = self.scores(row)
        return self.model["classes"][self._order(scores)[0]] if self.model["classes"] else scores[0]

    def scores(self, row: dict[Any, Any]) -> list[float]:
        """A score a class, in the order of `classes`; of two classes the first has 0."""
        found = self._features(row)
        if "experts" in self.model:
            return self._by_class(self._mixed(found))
        scores = list(self.model["intercept"])
        for (_, weights, _), x in found:
            for score, weight in weights.items():
                scores[score] += x * weight
        return self._by_class(scores)

    def probabilities(self, row: dict[Any, Any]) -> dict[Any, float]:
        """The probability of each class."""
        told, classes = self.model.get("probabilities"), self.model["classes"]
        if told is None:
            raise ValueError("this export has no probabilities")
        scores = self.scores(row)
        if len(classes) == 1:
            likely = [1.0]
        elif told["kind"] == "softmax":
            likely = [math.exp(score - max(scores)) for score in scores]
        elif told["kind"] == "logistic":
            likely = [0.5 * (1 + math.tanh(score / 2)) for score in scores]
        elif told["kind"] == "posterior":
            u = scores[1] / math.sqrt(2 * (told["noise"] ** 2 + self._variances(row)[1]))
            likely = [math.erfc(u), math.erfc(-u)]
        else:
            likely = self._by_margin(told, scores, self._variances(row))
        whole = sum(likely)  # 0 where no class is likelier than rounding can tell
        shares = [p / whole if whole else 1 / len(likely) for p in likely]
        return dict(zip(classes, shares, strict=True))

    def interval(self, row: dict[Any, Any], coverage: float = 0.9) -> tuple[float, float]:
        """Two values between which the target is as often as asked."""
        if not self.model.get("intervals"):
            raise ValueError("this export has no intervals")
        levels, radii = (self.model["intervals"][name] for name in ("coverage", "radius"))
        if not levels[0] <= coverage <= levels[-1]:
            raise ValueError(f"coverage must be between {levels[0]} and {levels[-1]}")
        at = max(i for i, level in enumerate(levels[:-1]) if level <= coverage)
        part = (coverage - levels[at]) / (levels[at + 1] - levels[at])
        radius, value = radii[at] + part * (radii[at + 1] - radii[at]), self.scores(row)[0]
        return value - radius, value + radius

    def _features(self, row: dict[Any, Any]) -> list[tuple[Any, float]]:
        """What is known of a row's features, and their values; None and NaN are missing.

        0 is as good as absent, and a column of a table that is absent has the value 0.
        """
        found: dict[Any, float] = {}
        missing = set()
        for name, value in row.items():
            name, x = (f"{name}={value}", 1.0) if isinstance(value, str) else (name, value)
            if x is None or x != x:
                missing.add(name)
                continue
            if not math.isfinite(x := float(x)):
                raise ValueError(f"the value of {name!r} is {x}")
            if name in self.known:
                found[name] = found.get(name, 0.0) + x
        features = [(self.known[name], x) for name, x in found.items() if x]
        for place in self.model.get("zeros", ()):
            name = self.model["features"][place][0]
            if name not in missing and not found.get(name):
                features.append((self.known[name], 0.0))
        return features

    def _by_class(self, numbers: list[float]) -> list[float]:
        """Two classes share a score, which speaks for the second."""
        return [0.0, *numbers] if len(self.model["classes"] or ()) == 2 else numbers

    def _order(self, scores: list[float]) -> list[int]:
        """The classes' places, the best one first; of equal ones the one seen first."""
        places = [self.model["classes"].index(label) for label in self.model["seen"]]
        return sorted(places, key=lambda place: -scores[place])

    def _variances(self, row: dict[Any, Any]) -> list[float]:
        """The variance of each score."""
        found = self._features(row) if "weights" in self.model else []  # of experts it is constant
        if "covariance" in self.model:
            cells = [(0, 1.0), *((place, x) for (place, *_), x in found)]
            found_of = [_quadratic(matrix, cells) for matrix in self.model["covariance"]]
            return self._by_class(found_of)
        variances = list(self.model["intercept_variance"])
        for (_, _, of_weights), x in found:
            for score in range(len(variances)):
                others = self.model["probabilities"]["initial_variance"]
                variances[score] += x * x * of_weights.get(score, others)
        return self._by_class(variances)

    def _by_margin(self, told: Any, scores: list[float], variances: list[float]) -> list[float]:
        """The best class by its margin over the second; the others share what is left."""
        n, (best, second) = len(scores), self._order(scores)[:2]
        unit = math.sqrt(variances[best] + variances[second])
        margin = told["scale"] * (scores[best] - scores[second]) / unit if unit > 0 else 0.0
        top = 1 / n + (1 - told["lapse"] - 1 / n) * math.erf(margin / math.sqrt(2))
        behind = [told["scale"] * (score - scores[second]) / (unit or 1.0) for score in scores]
        shares = [math.exp(far) if place != best else 0.0 for place, far in enumerate(behind)]
        equal = 1 / (n - 1)
        room = max(0.0, top / (1 - top) - equal) if top < 1 else math.inf
        excess = max(shares) / sum(shares) - equal
        mix = (1 - told["equal_share"]) * (room / excess if excess > room else 1.0)
        likely = [(1 - top) * (mix * s / sum(shares) + (1 - mix) * equal) for s in shares]
        likely[best] = max(top, (1 + 1e-9) / n)
        return likely

    def _mixed(self, found: list[tuple[Any, float]]) -> list[float]:
        """What the experts say of each class, weighed."""
        limit, row, bent = self.model["limit"], [], []
        for (place, shift, unit, bends), x in found:
            z = max(-limit, min(limit, (x - shift) / unit)) if unit else 0.0
            row.append((place, z))  # in the scale of its column
            if bends:
                at = (max(-2.0, min(2.0, z)) + 2) * 1.5  # of seven knots from -2 to 2
                bent.append((place, min(5, int(at)), at - min(5, int(at))))
        bent.sort()
        pairs = len(bent) * (len(bent) - 1) // 2 if self.model["paired"] else 0
        lengths = [1 / math.sqrt(max(1, n)) for n in (len(row), len(bent) + pairs)]
        scores = [0.0] * len(self.model["experts"][0]["constant"])
        for expert in self.model["experts"]:
            if expert["needs_knots"] and not bent:
                continue
            for score, said in enumerate(expert["constant"]):
                for term in expert["terms"]:
                    length = lengths[term["over"] != "values"] if term["divided"] else 1.0
                    said += length * _sum(term, score, row, bent)
                if expert["cut"] is not None:
                    said = max(-expert["cut"], min(expert["cut"], said))
                scores[score] += expert["weight"] * said
        return scores


def _sum(term: Any, score: int, row: list[Any], bent: list[Any]) -> Any:
    """One term of an expert: over the values of a row, or over the knots beside them."""
    over, numbers = term["over"], term["numbers"]
    if over == "values":
        return sum(z * numbers[place][score] for place, z in row)
    if over == "presence":
        return sum(numbers[place][score] for place, _ in row)
    if over == "knots":
        of = ((numbers[place][score], knot, above) for place, knot, above in bent)
        return sum((1 - above) * n[knot] + above * n[knot + 1] for n, knot, above in of)
    if over == "products":
        return _products(term["of"], numbers, score, row)
    if over != "pairs":
        raise ValueError(f"this export has terms over {over!r}: it needs a newer scorer")
    total = 0.0
    for later, (two, k2, above2) in enumerate(bent):
        for one, k1, above1 in bent[:later]:
            cells, at = numbers[two * (two - 1) // 2 + one][score], 7 * k1 + k2
            total += (1 - above1) * ((1 - above2) * cells[at] + above2 * cells[at + 1])
            total += above1 * ((1 - above2) * cells[at + 7] + above2 * cells[at + 8])
    return total


def _products(of: list[int], numbers: Any, score: int, row: list[Any]) -> Any:
    """1, each value, and each two of them, over the root of how many they are."""
    if len(row) > 48:
        return 0.0  # longer rows have none
    cells = [(0, 1.0), *((of[place], z) for place, z in row if of[place])]
    total = numbers[0][score]
    for later, (a, x) in enumerate(cells):
        total += sum(x * y * numbers[_place(a, b)][score] for b, y in cells[:later])
    return total / math.sqrt(len(cells) * (len(cells) - 1) // 2 + 1)


def _place(a: int, b: int) -> int:
    """Where the product of two features stands: those of the first 255 apart, others by a hash."""
    a, b = max(a, b), min(a, b)
    if a <= 255:
        return a * (a - 1) // 2 + 1 + b
    key = ((a << 32 | b) * 0x9E3779B97F4A7C15) % 2**64
    return ((key ^ key >> 29) * 0xBF58476D1CE4E5B9) % 2**64 >> 49


def _quadratic(matrix: Any, cells: list[tuple[int, float]]) -> Any:
    """x'Cx, and no less than rounding can tell."""
    whole = sum(x * y * matrix[i][j] for i, x in cells for j, y in cells)
    return max(whole, 1e-15 * sum(x * x * matrix[i][i] for i, x in cells))
