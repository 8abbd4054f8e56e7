"""What is compared with what, and the bars to meet. A section is a list of comparisons."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from benchmarks import data, decomposition, growth, handwritten, ours, peers, rows, spark
from benchmarks.measure import (
    Bar,
    Best,
    Comparison,
    process,
    python_seconds,
    speed,
    timed_processes,
)


def memory() -> list[Comparison]:
    """One pass over CSR in memory."""
    rcv1 = one_pass("Generated RCV1-like set, 200,000 rows", *data.RCV1Like().matrix(200_000))
    rcv1.bars = memory_bars
    spam = one_pass("Spam corpus, 9,324 rows", *data.two_class("spam-corpus-drift/spam-corpus"))
    a9a = one_pass("a9a, 32,561 rows", *data.two_class("libsvm-classics/a9a"))
    return [rcv1, spam, a9a]


def one_pass(title: str, X: Any, y: np.ndarray) -> Comparison:
    def agreement(best: Best) -> list[str]:
        pa1 = ours.weights(ours.pa1(X, y)) - handwritten.pa1(X, y)
        arow = ours.weights(ours.arow(X, y)) - handwritten.arow(X, y)[:, 0]
        apart = max(np.abs(pa1).max(), np.abs(arow).max())
        return [f"Largest difference of a weight to that of the hand-written loop: {apart:g}."]

    contenders = {
        "Yarrow PA-I": lambda: ours.pa1(X, y),
        "Yarrow AROW": lambda: ours.arow(X, y),
        "Yarrow SG-L1": lambda: ours.sg_l1(X, y),
        "Yarrow RDA": lambda: ours.rda(X, y),
        "hand-written PA-I": lambda: handwritten.pa1(X, y),
        "hand-written AROW": lambda: handwritten.arow(X, y),
        "scikit-learn PA-I": lambda: peers.sklearn_pa1(X, y),
        "scikit-learn PA-I, shuffle=False": lambda: peers.sklearn_pa1(X, y, shuffle=False),
        "scikit-learn L1": lambda: peers.sklearn_l1(X, y),
        "scikit-learn L1, shuffle=False": lambda: peers.sklearn_l1(X, y, shuffle=False),
    }
    return Comparison(title, contenders, "ns/value", 1e9 / X.nnz, notes=agreement)


def memory_bars(best: Best) -> list[Bar]:
    bars = []
    asked = {"PA-I": ("PA-I", 3.5), "AROW": ("PA-I", 3), "SG-L1": ("L1", 4), "RDA": ("L1", 4)}
    for rule, (peer, bound) in asked.items():
        bars.append(speed(best, f"Yarrow {rule}", f"scikit-learn {peer}", bound))
        bars.append(speed(best, f"Yarrow {rule}", f"scikit-learn {peer}, shuffle=False"))
    for rule in ("PA-I", "AROW"):
        hand = f"hand-written {rule}"
        ratio = best[f"Yarrow {rule}"] / best[hand]
        bars.append(Bar(f"Yarrow {rule}: time of {hand}", ratio, at_most=1.15))
    return bars


def text() -> list[Comparison]:
    """Training from text, whole processes, on both cores."""
    rows = data.RCV1Like()
    svm, vw, short = rows.text(1_000_000), rows.text(1_000_000, "vw"), rows.text(200_000)
    gigabytes = svm.stat().st_size / 1e9
    model = data.folder() / "model"
    our, our_short = "Yarrow PA-I", "Yarrow PA-I, 200,000 rows"
    contenders, peak = timed_processes(
        {
            our: ours.train_text(svm, model),
            our_short: ours.train_text(short, model),
            "Vowpal Wabbit": peers.vw_text(vw, model),
            "scikit-learn load and fit": peers.sklearn_text(svm),
        }
    )

    def bars(best: Best) -> list[Bar]:
        growth_of_memory = peak[our] / peak[our_short]
        return [
            speed(best, our, "Vowpal Wabbit", 6),
            speed(best, our, "scikit-learn load and fit", 30),
            Bar(f"{our}: text per second", gigabytes / best[our], at_least=1.2, unit="GB/s"),
            Bar(f"Peak memory of {our_short}", growth_of_memory, at_most=1.1),
        ]

    def peaks(best: Best) -> list[str]:
        return ["Peak memory: " + ", ".join(f"{k} {v / 1e6:.0f} MB" for k, v in peak.items()) + "."]

    title = f"Generated RCV1-like set as text, 1,000,000 rows, {gigabytes:.2f} GB"
    scale = 1 / gigabytes
    return [Comparison(title, contenders, "s/GB", scale, bars, peaks)]


def compare() -> list[Comparison]:
    """Many settings in one pass over text, whole processes, on both cores."""
    svm = data.RCV1Like().text(1_000_000)
    one, fifty = "Yarrow, one setting", "Yarrow, fifty settings"
    place = data.folder()
    contenders, peak = timed_processes(
        {
            one: ours.compare_text(svm, {"arow": {"r": [0.1]}}, place / "one.json"),
            fifty: ours.compare_text(svm, ours.FIFTY, place / "fifty.json"),
        }
    )

    def bars(best: Best) -> list[Bar]:
        return [Bar("Fifty settings: time of one", best[fifty] / best[one], at_most=12)]

    def peaks(best: Best) -> list[str]:
        return ["Peak memory: " + ", ".join(f"{k} {v / 1e6:.0f} MB" for k, v in peak.items()) + "."]

    title = "Generated RCV1-like set as text, 1,000,000 rows"
    return [Comparison(title, contenders, "s", 1, bars, peaks)]


def learn_one() -> list[Comparison]:
    """Row by row, as dicts with string names."""
    X, y = data.RCV1Like().matrix(20_000)
    rows, labels = data.dicts(X), y.tolist()
    lines = peers.vw_lines(rows, labels)
    contenders = {
        "Yarrow learn_one": lambda: ours.learn_one(rows, labels),
        "river": lambda: peers.river_pa1(rows, labels),
        "Vowpal Wabbit, lines made before": lambda: peers.vw_learn_lines(lines),
        "Vowpal Wabbit, dicts": lambda: peers.vw_learn_dicts(rows, labels),
    }

    def bars(best: Best) -> list[Bar]:
        our = "Yarrow learn_one"
        return [
            speed(best, our, "river", 8),
            speed(best, our, "Vowpal Wabbit, lines made before", 3),
            speed(best, our, "Vowpal Wabbit, dicts", 3),
        ]

    title = "Generated RCV1-like set, 20,000 dicts of about 67 string names"
    return [Comparison(title, contenders, "us/row", 1e6 / len(rows), bars)]


def multiclass() -> list[Comparison]:
    """20 Newsgroups: 20 classes, 174,000 words."""
    X, y = data.newsgroups()
    peer = "scikit-learn one-versus-rest"
    contenders = {
        "Yarrow AROW top-1": lambda: ours.arow_multiclass(X, y, "top1"),
        "Yarrow AROW one-versus-rest": lambda: ours.arow_multiclass(X, y, "ovr"),
        peer: lambda: peers.sklearn_one_versus_rest(X, y),
        f"{peer}, shuffle=False": lambda: peers.sklearn_one_versus_rest(X, y, shuffle=False),
    }

    def bars(best: Best) -> list[Bar]:
        asked = {"Yarrow AROW top-1": 3.5, "Yarrow AROW one-versus-rest": 2}
        pairs = [
            (speed(best, our, peer, bound), speed(best, our, f"{peer}, shuffle=False"))
            for our, bound in asked.items()
        ]
        return list(chain.from_iterable(pairs))

    rivals = {
        f"Yarrow PA-I {name}": lambda strategy=strategy: ours.pa_multiclass(X, y, strategy)
        for name, strategy in (("top-1", "top1"), ("top-5", "topk"), ("all rivals", "all"))
    }

    def rival_bars(best: Best) -> list[Bar]:
        first, *others = rivals
        return [
            Bar(f"{name}: time of {first}", best[name] / best[first], at_most=3) for name in others
        ]

    title = f"20 Newsgroups, {X.shape[0]:,} messages, {X.shape[1]:,} words, 20 classes"
    return [
        Comparison(title, contenders, "ns/value", 1e9 / X.nnz, bars),
        Comparison("The same, many rivals at once", rivals, "ns/value", 1e9 / X.nnz, rival_bars),
    ]


def learners() -> list[Comparison]:
    """Two-class learners with their default parameters; bars for the first members of a family."""
    X, y = data.RCV1Like().matrix(50_000)
    families = ours.families()
    contenders = {
        name: lambda name=name: ours.learn(name, X, y)
        for names in families.values()
        for name in names
    }
    beyond = {  # what a family's loop also serves
        "ASGDClassifier",
        "MIRAClassifier",
        "ARCORClassifier",
        "ForgettingAROWClassifier",
        "CoefficientRoundingClassifier",
        "GroupLassoClassifier",
        "MultiTaskClassifier",
    }
    first = {
        "affine": ("PassiveAggressiveClassifier", 1.5),
        "confidence": ("AROWClassifier", 1.5),
        "proximal": ("PassiveAggressiveClassifier", 3),
    }

    def bars(best: Best) -> list[Bar]:
        return [
            Bar(
                f"{name}: time of {first[family][0]}",
                best[name] / best[first[family][0]],
                at_most=None if name in beyond else first[family][1],
            )
            for family, names in families.items()
            for name in names
            if name != first[family][0]
        ]

    title = "Generated RCV1-like set, 50,000 rows, defaults"
    return [Comparison(title, contenders, "ns/value", 1e9 / X.nnz, bars)]


def mixture() -> list[Comparison]:
    """The learner without settings: ten experts for the price of how many AROWs?"""
    two = data.RCV1Like().matrix(100_000)

    def noisy_table(columns: int) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        X = random.normal(size=(50_000, columns)).astype(np.float32)
        signal, noise = X @ random.normal(size=columns), random.normal(0, 4, len(X))
        return X, np.sign(signal + noise).astype(int)

    def beside_one(title: str, rows: Any, at_most: float, declared: bool = True) -> Comparison:
        X, y = rows
        contenders = {
            "Yarrow AROW": lambda: ours.one_pass("AROWClassifier", X, y, declared),
            "YarrowClassifier": lambda: ours.one_pass("YarrowClassifier", X, y, declared),
        }

        def bars(best: Best) -> list[Bar]:
            ratio = best["YarrowClassifier"] / best["Yarrow AROW"]
            return [Bar("YarrowClassifier: time of one AROW", ratio, at_most=at_most)]

        values = getattr(X, "nnz", X.size)
        return Comparison(title, contenders, "ns/value", 1e9 / values, bars)

    tables = [
        beside_one(f"A table of {columns} columns, 50,000 rows", noisy_table(columns), 6)
        for columns in (8, 20, 48, 64, 128)
    ]
    return [
        beside_one("Generated RCV1-like set, 100,000 rows", two, 6),
        beside_one("The same, its two classes not declared", two, 6, declared=False),
        *tables,
        # Seven experts speak of text: bends and full covariances are for few features.
        beside_one("20 Newsgroups, 20 classes", data.newsgroups(), 7),
        beside_one("digits, 64 columns, ten classes, five times", data.digits(), 9),
        beside_one("usps, 256 columns, ten classes", data.of_yarrow("usps"), 9),
        beside_one("nsl-kdd, 119 columns, 22 classes", data.of_yarrow("nsl-kdd"), 9),
    ]


def imports() -> list[Comparison]:
    """Starting up."""

    def bars(best: Best) -> list[Bar]:
        ratio = best["Yarrow, import"] / best["import numpy"]
        seconds = best["Yarrow, yarrow --help"]
        return [
            Bar("import yarrow: time of import numpy", ratio, at_most=1.5),
            Bar("yarrow --help", seconds, at_most=0.4, unit="s"),
        ]

    contenders = {
        "Yarrow, import": lambda: python_seconds("import yarrow"),
        "Yarrow, yarrow --help": lambda: process([*ours.COMMAND, "--help"]).seconds,
        "import numpy": lambda: python_seconds("import numpy"),
        "import scipy.sparse": lambda: python_seconds("import scipy.sparse"),
    }
    return [Comparison("Start-up", contenders, bars=bars)]


SECTIONS = {
    "memory": memory,
    "text": text,
    "compare": compare,
    "learn_one": learn_one,
    "multiclass": multiclass,
    "learners": learners,
    "mixture": mixture,
    "imports": imports,
    "rows": rows.rows,
    "rows_as_text": rows.rows_as_text,
    "growth": growth.growth,
    "decomposition": decomposition.decomposition,
    **spark.SECTIONS,
}
