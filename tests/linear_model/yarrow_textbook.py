"""YarrowClassifier as docs/yarrow-learner.md states it: all in double, all classes known before."""

from __future__ import annotations

import collections
import itertools

import numpy as np

from yarrow._core import classifier_constants

INTERCEPT = 0.5
CONSTANTS = {
    name: numbers if len(numbers) > 1 else numbers[0]
    for name, numbers in classifier_constants().items()
}
LINEAR = list(zip(CONSTANTS["rates"], CONSTANTS["memories"], strict=True))
AROW_EXPERTS, ADAGRAD_EXPERTS = LINEAR[:4], LINEAR[4:]
FIRST_WEIGHTS, FIRST_VARIANCES = CONSTANTS["first_weights"], CONSTANTS["first_variances"]
MIXTURE = [CONSTANTS[name] for name in ("mixture_r", "drift", "drift_rows", "drift_least")]
SMOOTHING = CONSTANTS["smoothing"], CONSTANTS["smoothing_of_all"]
EXPERTS = len(FIRST_WEIGHTS)
KNOTS = np.linspace(-2, 2, 7)


class Columns:
    """Brings columns to one scale, by what was seen before a row: docs/yarrow-learner.md."""

    def __init__(self, columns):
        self.rows = 0
        self.n, self.mean, self.squares = np.zeros((3, columns))

    def unscaled(self, x):
        """Return the row in the scale of its columns, each value at most 2 by size."""
        there, seen = x != 0, self.n > 0
        p = self.n / (self.rows or 1)
        variance = np.divide(self.squares, self.n, out=np.zeros_like(x), where=seen)
        squared = variance + self.mean**2 * (1 - p**4)
        varies = squared > 1e-12 * self.mean**2
        z = np.where(varies, (x - self.mean * p**2) / np.sqrt(np.where(varies, squared, 1)), 0)
        return np.where(seen, np.clip(z, -2, 2), np.sign(x)) * there

    def standardized(self, x):
        """Return the row to predict with and the row to learn, both about as long as one."""
        there, seen, z = x != 0, self.n > 0, self.unscaled(x)
        known = max(1, np.count_nonzero(there & seen)), max(1, np.count_nonzero(there))
        return z * seen / np.sqrt(known[0]), z / np.sqrt(known[1])

    def count(self, x, weight=1.0):
        there = weight * (x != 0)
        self.rows += weight
        self.n += there
        before = (x - self.mean) * there
        self.mean += np.divide(before, self.n, out=np.zeros_like(x), where=self.n > 0)
        self.squares += before * (x - self.mean)


class AROW:
    """One-versus-rest for one class."""

    def __init__(self, r, memory, columns):
        self.r, self.memory = r, memory
        self.w, self.precision = np.zeros(columns), np.ones(columns)

    def says(self, x):
        return self.w @ x

    def learn(self, x, there, sign, weight):
        v, r = x @ (x / self.precision), self.r / weight
        loss = 1 - sign * (self.w @ x)
        if loss <= 0:
            return
        self.w += sign * loss / (v + r) * x / self.precision
        faded = 1 + (self.precision + x**2 / r - 1) * self.memory
        self.precision = np.where(there, faded, self.precision)


class AdaGrad:
    """Logistic regression, one-versus-rest for one class."""

    def __init__(self, rate, memory, columns):
        self.rate, self.memory = rate, memory
        self.w, self.squares = np.zeros((2, columns))

    def says(self, x):
        return self.w @ x / 2

    def learn(self, x, there, sign, weight):
        gradient = weight * sign * x / (1 + np.exp(sign * (self.w @ x)))
        self.squares = np.where(there, self.memory * self.squares + gradient**2, self.squares)
        root = np.sqrt(self.squares)
        self.w += self.rate * np.divide(gradient, root, out=np.zeros_like(x), where=root > 0)


class NaiveBayes:
    """Of one class against the rest: a row is a table of its features, with a share of each."""

    def __init__(self):
        self.rows = [0, 0]  # of the rest, of the class
        self.counts = [collections.Counter(), collections.Counter()]
        self.totals = [0, 0]

    def evidence(self, feature):
        """Return what a visit says."""
        a, c = SMOOTHING
        rest, hits = (counts[feature] for counts in self.counts)
        if rest + hits == 0:
            return 0
        return np.log((hits + a) / (rest + a) * (self.totals[0] + c) / (self.totals[1] + c))

    def says(self, row):
        prior = np.log((self.rows[1] + SMOOTHING[0]) / (self.rows[0] + SMOOTHING[0]))
        return (sum(share * self.evidence(f) for f, share in row.items()) + prior) / 10

    def learn(self, row, values, is_class, weight):
        self.rows[is_class] += weight
        for feature, share in row.items():
            self.counts[is_class][feature] += weight * share
        self.totals[is_class] += weight * values


class BentAROW:
    """AROW on shares of knots."""

    def __init__(self):
        self.w, self.precision = collections.Counter(), collections.defaultdict(lambda: 1.0)

    def says(self, row):
        return sum(self.w[piece] * x for piece, x in row.items())

    def learn(self, row, sign, weight):
        v = sum(x * x / self.precision[piece] for piece, x in row.items())
        r, loss = CONSTANTS["spline_r"] / weight, 1 - sign * self.says(row)
        if loss <= 0:
            return
        for piece, x in row.items():
            self.w[piece] += sign * loss / (v + r) * x / self.precision[piece]
            self.precision[piece] += x * x / r


def shares_of(z, columns, paired):
    """Return which share of its value, and of each pair of values, a row has around each knot."""
    hats = {
        j: {k: share for k, hat in enumerate(np.eye(7)) if (share := np.interp(z[j], KNOTS, hat))}
        for j in columns
    }
    shares = {(j, k): share for j, those in hats.items() for k, share in those.items()}
    if paired:
        for i, j in itertools.combinations(sorted(columns), 2):
            for (k, one), (o, other) in itertools.product(hats[i].items(), hats[j].items()):
                shares[i, k, j, o] = one * other
    return shares


def bent_row(shares, columns, paired):
    pairs = len(columns) * (len(columns) - 1) / 2 if paired else 0
    length = 1 / np.sqrt(max(1, len(columns) + pairs))
    return {**{piece: share * length for piece, share in shares.items()}, "intercept": INTERCEPT}


class PairAROW:
    """AROW on products of two values: a row is a list of places and products."""

    def __init__(self):
        self.w, self.precision = collections.Counter(), collections.defaultdict(lambda: 1.0)

    def says(self, row):
        return sum(self.w[place] * x for place, x in row)

    def learn(self, row, sign, weight):
        shares = [(place, x, x / self.precision[place]) for place, x in row]
        v = sum(x * share for _, x, share in shares)
        r, loss = CONSTANTS["interactions_r"] / weight, 1 - sign * self.says(row)
        if loss <= 0:
            return
        for place, x, share in shares:  # two products may share a place
            self.w[place] += sign * loss / (v + r) * share
            self.precision[place] += x * x / r


def place_of_pair(a, b):
    """Return where two numbered features meet: of the first 255 each pair has its own place."""
    a, b = max(a, b), min(a, b)
    if a <= 255:
        return a * (a - 1) // 2 + b + 1
    key = ((a << 32 | b) * 0x9E3779B97F4A7C15) % 2**64
    return (key ^ key >> 29) * 0xBF58476D1CE4E5B9 % 2**64 >> 49


def pair_row(z, there, numbers, size):
    """Return the products of the values of numbered columns, and of each with the constant 1."""
    if size > 48:
        return []
    values = [(0, 1.0), *((numbers[j], z[j]) for j in there if j in numbers)]
    pairs = [(0, 1.0)]
    for i, (number, x) in enumerate(values):
        pairs += [(place_of_pair(number, other), x * y) for other, y in values[:i]]
    return [(place, x / np.sqrt(len(pairs))) for place, x in pairs]


class Mixture:
    """AROW with a full covariance over the experts' scores."""

    def __init__(self, experts):
        self.u = FIRST_WEIGHTS * experts
        self.S = np.diag(FIRST_VARIANCES * experts)
        self.takes_part = np.diag(experts)
        self.loss = 0.0

    def learn(self, z, weight, row):
        r, h = MIXTURE[0] / weight, self.S @ z
        v, loss = z @ h, max(0.0, 1 - self.u @ z)
        self.loss += weight * loss**2
        if loss > 0 and v > 0:
            self.u += loss / (v + r) * h
            self.S -= np.outer(h, h) / (v + r)
        _, drift, rows, least = MIXTURE
        self.S += drift * max(least, min(1, rows / row)) * self.takes_part


class Column:
    """All experts of one class against the rest."""

    def __init__(self, columns):
        n = columns + 1
        self.straight = [AROW(r, m, n) for r, m in AROW_EXPERTS] + [
            AdaGrad(rate, m, n) for rate, m in ADAGRAD_EXPERTS
        ]
        self.bent = BentAROW()
        self.pairs = PairAROW()
        self.bayes, self.bayes_of_pieces = NaiveBayes(), NaiveBayes()

    def own(self, row, few):
        """Return the row as the first AROW sees it."""
        if few:
            return row
        evidence = [abs(self.bayes.evidence(j)) for j in range(len(row) - 1)]
        return row * np.append(evidence, 1)

    def says(self, row, z, there, bent, many):
        few, paired = many <= 64, many <= 4
        said = [e.says(self.own(row, few) if i == 0 else row) for i, e in enumerate(self.straight)]
        shares = shares_of(z, bent, paired)
        of_bent = self.bent.says(bent_row(shares, bent, paired)) if few or bent else 0
        bayes = self.bayes_of_pieces.says(shares)
        if not few:
            bayes += sum(self.bayes.evidence(j) for j in there) / 10
        return [*said, of_bent, bayes]

    def learn(self, row, z, there, bent, is_class, weight, many):
        few, paired = many <= 64, many <= 4
        sign = 1 if is_class else -1
        for i, expert in enumerate(self.straight):
            own = self.own(row, few) if i == 0 else row
            expert.learn(own, np.append(np.isin(np.arange(len(z)), there), True), sign, weight)
        shares = shares_of(z, bent, paired)
        if few or bent:
            self.bent.learn(bent_row(shares, bent, paired), sign, weight)
        self.bayes_of_pieces.learn(shares, len(there), int(is_class), weight)
        self.bayes.learn(dict.fromkeys(there, 1), len(there), int(is_class), weight)


class FullAROW:
    """All classes against their rests, with one covariance for all of them."""

    def __init__(self, columns, classes):
        self.w, self.S = np.zeros((classes, columns)), np.eye(columns)

    def learn(self, x, signs, weight, seen):
        r, h = CONSTANTS["covariance_r"] / weight, self.S @ x
        v, losses = x @ h, np.maximum(0, 1 - signs * (self.w @ x))
        self.w += np.outer(signs * losses, h) / (v + r)
        least = CONSTANTS["covariance_r"] * CONSTANTS["covariance_least"]
        if losses[seen].any() and v > least:
            self.S -= np.outer(h, h) / (v + r)


class Textbook:
    """The whole learner, all classes known beforehand, everything in double."""

    def __init__(self, columns, classes):
        self.columns = Columns(columns)
        self.classes = [Column(columns) for _ in range(classes)]
        self.full = FullAROW(columns + 1, classes)
        every = np.ones(EXPERTS)
        self.mixture = Mixture(every)
        self.without_pairs = Mixture(every * (np.arange(EXPERTS) < EXPERTS - 1))
        self.numbers = {}  # of columns, from 1 on as they come
        self.has_pairs, self.rows, self.next_trial = True, 0, 4096
        self.seen = []

    @property
    def u(self):
        return self.mixture.u

    def known(self):
        return set(np.flatnonzero(self.columns.n))

    def bent(self, columns, many):
        """Return which of a row's columns are bent, where there are so many at all."""
        if many <= 64:
            return columns
        varies = self.columns.squares > 1e-12 * self.columns.n * self.columns.mean**2
        return [j for j in columns if varies[j]] if many <= 128 else []

    def said(self, x):
        """Return what the experts say of each class, and the mixture's scores."""
        row, known = np.append(self.columns.standardized(x)[0], INTERCEPT), self.known()
        here = [j for j in np.flatnonzero(x) if j in known]
        bent = self.bent(here, len(known))
        about = self.columns.unscaled(x), here, bent, len(known)
        said = np.array([column.says(row, *about) for column in self.classes])
        full = self.full.w @ row if len(known) <= 64 else np.zeros(len(said))
        pairs = np.zeros(len(said))
        if self.has_pairs:
            row = pair_row(about[0], here, self.numbers, np.count_nonzero(x))
            pairs = [column.pairs.says(row) for column in self.classes]
        said = np.clip(np.column_stack([said, full, pairs]), -3, 3)
        return said, said @ self.u

    def example(self, said, scores, c):
        """Return the true class against its rival, among those seen."""
        rivals = [k for k in self.seen if k != c]
        if len(rivals) > 1:
            rival = max(rivals, key=lambda k: scores[k])
            return (said[c] - said[rival]) / 2
        return said[c]  # of two classes, and of one, the other is its mirror image

    def learn(self, x, c, weight=1.0):
        said, scores = self.said(x)
        if c not in self.seen:
            self.seen.append(c)
        self.rows += 1
        z = self.example(said, scores, c)
        self.mixture.learn(z, min(weight, 1), self.rows)
        if self.has_pairs:
            self.without_pairs.learn(np.append(z[:-1], 0), min(weight, 1), self.rows)
        row = np.append(self.columns.standardized(x)[1], INTERCEPT)
        there = list(np.flatnonzero(x))
        many = len(self.known() | set(there))
        for k, column in enumerate(self.classes):
            z = self.columns.unscaled(x)
            column.learn(row, z, there, self.bent(there, many), k == c, weight, many)
        if many <= 64:
            signs = np.where(np.arange(len(self.classes)) == c, 1, -1)
            self.full.learn(row, signs, weight, self.seen)
        self.learn_pairs(x, c, weight, there)
        self.columns.count(x, weight)

    def learn_pairs(self, x, c, weight, there):
        """Learn products of two values, and give them up if they save too little of the loss."""
        if not self.has_pairs:
            return
        for j in there if len(there) <= 48 else []:
            self.numbers.setdefault(j, len(self.numbers) + 1)
        row = pair_row(self.columns.unscaled(x), there, self.numbers, len(there))
        for k, column in enumerate(self.classes):
            if row:
                column.pairs.learn(row, 1 if k == c else -1, weight)
        if self.rows < self.next_trial:
            return
        self.has_pairs = self.mixture.loss < 0.99 * self.without_pairs.loss
        if not self.has_pairs:
            self.mixture = self.without_pairs
        self.mixture.loss = self.without_pairs.loss = 0.0
        self.next_trial *= 2


def stream(rows, columns, classes, seed=0, dense=False):
    """Return rows of columns of very different size and place.

    Some of them are seldom there, and some have always the same value where they are.
    """
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    labels = np.argmax(X @ random.normal(size=(columns, classes)) + random.normal(0, 0.3), axis=1)
    X = (X + 3 * random.normal(size=columns)) * 10.0 ** random.integers(-3, 4, columns)
    if not dense:
        X[:, 5::4] = X[0, 5::4]
        X *= random.random((rows, columns)) < random.choice([0.1, 0.5, 1.0], columns)
    _, first = np.unique(labels, return_index=True)
    numbers = {labels[i]: number for number, i in enumerate(np.sort(first))}
    return X, np.array([numbers[label] for label in labels])
