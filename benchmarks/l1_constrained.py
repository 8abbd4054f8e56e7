"""Time of the exact L1-constrained PA on a stream of the size of Shen & Dietterich's.

Run it with ``python -m benchmarks.l1_constrained``. The paper's solver took less than ten minutes
for the 3,200 rows of four newsgroups; the bar is one second.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

from yarrow import L1ConstrainedPAClassifier

FEATURES, ROWS_A_PHASE, WORDS = 8354, 800, 120
# Per phase the probabilities of P1, P2, N1, N2, at its beginning and at its end.
PHASES = [
    ((0.7, 0.0, 0.3, 0.0), (0.5, 0.0, 0.5, 0.0)),
    ((0.5, 0.0, 0.5, 0.0), (0.3, 0.2, 0.5, 0.0)),
    ((0.0, 0.5, 0.2, 0.3), (0.0, 0.5, 0.0, 0.5)),
    ((0.0, 0.5, 0.0, 0.5), (0.0, 0.3, 0.0, 0.7)),
]


def four_phases(seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Binary words of four topics, which come and go; two are +1 and two -1."""
    random = np.random.default_rng(seed)
    common = np.arange(1, FEATURES + 1) ** -0.9
    topics = np.tile(common, (4, 1))
    for topic in topics:
        topic[random.choice(FEATURES, 400, replace=False)] *= 8
    topics /= topics.sum(axis=1, keepdims=True)
    rows, labels = [], []
    for begin, end in PHASES:
        for share in np.arange(ROWS_A_PHASE) / ROWS_A_PHASE:
            mix = (1 - share) * np.array(begin) + share * np.array(end)
            topic = random.choice(4, p=mix / mix.sum())
            rows.append(np.unique(random.choice(FEATURES, WORDS, p=topics[topic])))
            labels.append(1 if topic < 2 else -1)
    begins = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows)
    values = np.ones(len(indices), dtype=np.float32)
    return sp.csr_array((values, indices, begins), shape=(len(rows), FEATURES)), np.array(labels)


def main() -> None:
    """Print a line a beta."""
    X, y = four_phases()
    print(f"{X.shape[0]} rows, {X.shape[1]} features, {X.nnz / X.shape[0]:.0f} values a row")
    for beta in (2.0, 5.0, 10.0, 30.0, 100.0):
        seconds = []
        for _ in range(5):
            model = L1ConstrainedPAClassifier(beta, classes=[-1, 1])
            start = time.perf_counter()
            model.partial_fit(X, y)
            seconds.append(time.perf_counter() - start)
        print(
            f"beta {beta:5g}: {min(seconds):.3f} s, {model.n_mistakes_} mistakes, "
            f"{model.n_updates_} updates, {model.n_nonzero_} nonzero weights"
        )


if __name__ == "__main__":
    main()
