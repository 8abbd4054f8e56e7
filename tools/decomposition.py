"""Draws the pictures of docs/decomposition.md, from real data: topics, a dictionary, a spectrum.

python tools/decomposition.py    writes docs/decomposition-*.svg (a minute; needs YARROW_DATA)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from yarrow.datasets import load
from yarrow.decomposition import OnlineDictionaryLearning, OnlineLDA, OnlineSVD
from yarrow.report.figures import Axis, Figure, Series, images, lines
from yarrow.report.figures.drawing import Box, Drawing

DOCS = Path(__file__).parent.parent / "docs"
TOPICS, WORDS, ACROSS = 20, 7, 4
SIDE, ATOMS = 8, 64


def topics() -> Figure:
    """LDA in one pass over 20 Newsgroups: the heaviest words of each topic."""
    data = load("20newsgroups", features="counts")
    messages = np.bincount(data.X.indices, minlength=data.X.shape[1])
    often = (messages >= 10) & (messages <= data.X.shape[0] // 10)
    words = np.array([name.isalpha() and len(name) > 2 for name in data.feature_names])
    some = np.flatnonzero(often & words)
    names = np.asarray(data.feature_names)[some]
    counts = data.X[:, some]
    model = OnlineLDA(TOPICS, total_rows=counts.shape[0], seed=1).fit(counts)
    chances = model.components_ / model.components_.sum(axis=1, keepdims=True)
    shares = model.transform(counts).mean(axis=0)
    wide, high = 190, 26 + 17 * WORDS
    drawing = Drawing(ACROSS * wide + 10, -(-TOPICS // ACROSS) * high + 10)
    for place, topic in enumerate(np.argsort(-shares)):
        left, top = 10 + wide * (place % ACROSS), 10 + high * (place // ACROSS)
        title = f"{100 * shares[topic]:.0f} % of a message"
        drawing.text((left, top + 12), title, size=12, look="strong")
        heaviest = np.argsort(-chances[topic])[:WORDS]
        for line, word in enumerate(heaviest):
            y = top + 28 + 17 * line
            length = 55 * chances[topic, word] / chances[topic, heaviest[0]]
            drawing.rect(Box(left, y - 9, left + length, y + 1), "bar s0")
            drawing.text((left + 60, y), str(names[word])[:16], size=12)
    words = f"{TOPICS} topics of 20 Newsgroups, each with its {WORDS} heaviest words."
    return drawing.figure("Topics of 20 Newsgroups", words)


def patches(count: int = 30_000) -> Any:
    """Squares out of MNIST's digits, each less its mean, without those that are nearly empty."""
    digits = load("mnist").X[: count // 2].toarray().astype(np.float64).reshape(-1, 28, 28)
    digits /= digits.max()
    random = np.random.default_rng(0)
    corners = random.integers(2, 27 - SIDE, (count, 2))
    rows = np.array(
        [digits[i // 2, r : r + SIDE, c : c + SIDE].ravel() for i, (r, c) in enumerate(corners)]
    )
    rows -= rows.mean(axis=1, keepdims=True)
    return random.permutation(rows[np.linalg.norm(rows, axis=1) > 0.5])


def dictionary() -> Figure:
    """Atoms of patches of MNIST, one pass, those that are used most first."""
    model = OnlineDictionaryLearning(ATOMS, alpha=0.5)
    rows = patches()
    model.fit(rows)
    order = np.argsort(-np.abs(model.transform(rows[:4000])).sum(axis=0))
    tiles = [("", model.components_[j].reshape(SIDE, SIDE)) for j in order]
    title = f"{ATOMS} atoms of patches of MNIST's digits"
    return images(tiles, title=title, columns=16, size=40, signed=True)


def spectrum(shown: int = 6, step: int = 100) -> Figure:
    """Singular values of USPS while one digit after the other appears."""
    data = load("usps")
    order = np.argsort(data.y, kind="stable")
    rows = data.X[order].toarray()
    model = OnlineSVD(rank=shown, center=True)
    found: list[tuple[int, Any]] = []
    for begin in range(0, len(rows), step):
        model.partial_fit(rows[begin : begin + step])
        found.append((model.n_rows_, np.sqrt(model.explained_variance_)))
    series = [
        Series(
            f"direction {j + 1}", [(n, float(values[j])) for n, values in found if j < len(values)]
        )
        for j in range(shown)
    ]
    return lines(
        series,
        title="USPS sorted by digit: how much rows vary along each direction",
        x=Axis("rows so far: zeros, then ones, twos, ..."),
        y=Axis("standard deviation"),
    )


def main() -> None:
    """Draw them all."""
    for name, draw in (
        ("topics", topics),
        ("dictionary", dictionary),
        ("singular-values", spectrum),
    ):
        draw().save(DOCS / f"decomposition-{name}.svg")


if __name__ == "__main__":
    main()
