"""Structured learning in twenty lines: a tagger whose features see whole sentences.

Words are ambiguous ("saw" is a noun or a verb), so the tag before decides; Viterbi finds the best
sequence of tags, and the learner is shown true minus predicted features.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from yarrow import AROWClassifier, StructuredClassifier

TAGS = ("article", "noun", "verb")
Words, Tags = tuple[str, ...], tuple[str, ...]


def feature_map(words: Words, tags: Tags) -> Counter[str]:
    """Count the pairs of word and tag, and of a tag and the one before it."""
    pairs = [f"{tag}: {word}" for word, tag in zip(words, tags, strict=True)]
    steps = [f"{a} -> {b}" for a, b in zip(("start", *tags), tags, strict=False)]
    return Counter(pairs + steps)


def viterbi(words: Words, score: Callable[[dict[str, int]], float]) -> Tags:
    """Find the tags with the highest score, by the best way to each tag of each word."""
    step = {(a, b): score({f"{a} -> {b}": 1}) for a in ("start", *TAGS) for b in TAGS}
    best: dict[str, tuple[float, Tags]] = {"start": (0.0, ())}
    for word in words:
        best = {
            tag: max((s + step[a, tag], (*path, tag)) for a, (s, path) in best.items())
            for tag in TAGS
        }
        best = {tag: (s + score({f"{tag}: {word}": 1}), p) for tag, (s, p) in best.items()}
    return max(best.values())[1]


def sentence(rng: random.Random) -> tuple[Words, Tags]:
    """Make a sentence such as "the saw can a fish"; nouns and verbs share most of their words."""
    words = {"article": ("the", "a"), "noun": ("saw", "can", "fish", "cook"), "verb": ()}
    words["verb"] = (*words["noun"], "eats")
    tags = ("article", "noun", "verb", *rng.choice([(), ("noun",), ("article", "noun")]))
    return tuple(rng.choice(words[tag]) for tag in tags), tags


def main() -> float:
    """Learn 200 sentences, one after the other, and tag 200 new ones."""
    rng = random.Random(0)
    model = StructuredClassifier(AROWClassifier(), feature_map, decode=viterbi)
    for _ in range(200):
        model.learn_one(*sentence(rng))
    words, tags = zip(*(sentence(rng) for _ in range(200)), strict=True)
    share = model.score(words, tags)
    print(f"{share:.0%} of new sentences are tagged right as a whole")
    return share


if __name__ == "__main__":
    main()
