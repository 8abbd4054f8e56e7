"""Learning apart and on Spark: what `python -m benchmarks.run spark` measures.

Accuracy after mixing needs no Spark: tests hold executors against the same parts in one process,
bit for bit. Times are processor seconds of the driver, Spark's JVM and its Python workers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import yarrow
from benchmarks import data
from benchmarks.measure import Bar, Best, Comparison, forget_peaks, table, tree_peak, tree_time
from yarrow.io.formats import StreamFormat

PARTS = 16
SHOWN = (1, 2, 5, 10)  # epochs
ROWS = 200_000  # of a pass
MANY, KEYS = 10_000_000, 1_000_000  # of a run in bounded memory
LEARNERS: dict[str, Callable[[], Any]] = {
    "AROW": yarrow.AROWClassifier,
    "PA": yarrow.PassiveAggressiveClassifier,
    "RDA": lambda: yarrow.RDAClassifier(gamma=0.01),
    "YarrowClassifier": yarrow.YarrowClassifier,
}
Split = tuple[Any, np.ndarray, Any, np.ndarray]


def split(X: Any, y: np.ndarray) -> Split:
    """Rows in random order, a fifth of them to test with."""
    order = np.random.default_rng(1).permutation(len(y))
    n = len(y) * 4 // 5
    return X[order[:n]], y[order[:n]], X[order[n:]], y[order[n:]]


def mixed(
    make: Callable[[], Any], rows: Split, epochs: int = SHOWN[-1], parts: int = PARTS
) -> Iterator[tuple[Any, Any]]:
    """After each epoch: a model of one machine, and one mixed of so many partitions."""
    X, y, _, _ = rows
    alone, base = make(), make()
    for _ in range(epochs):
        alone.partial_fit(X, y)
        learned = [
            copy.deepcopy(base).partial_fit(X[places], y[places])
            for places in np.array_split(np.arange(len(y)), parts)
        ]
        base = yarrow.merge(learned, base=base)
        yield alone, base


def accuracy(title: str, rows: Split, names: Sequence[str] = tuple(LEARNERS)) -> Comparison:
    """One machine and sixteen partitions, epoch by epoch."""
    _, _, X, y = rows
    found: dict[str, list[tuple[float, float]]] = {}

    def measure(name: str) -> None:
        if name in found:  # a second time it would be the same
            return
        models = mixed(LEARNERS[name], rows)
        found[name] = [(100 * a.score(X, y), 100 * b.score(X, y)) for a, b in models]

    def lines(best: Best) -> list[str]:
        header = ["epochs", *(f"{name}: one, {PARTS}" for name in found)]
        cells = [
            [str(n), *(f"{a:.1f}, {b:.1f}" for a, b in (of[n - 1] for of in found.values()))]
            for n in SHOWN
        ]
        return [f"Accuracy in percent, of one machine and {PARTS} partitions.",
                table(header, cells)]  # fmt: skip

    def bars(best: Best) -> list[Bar]:
        best_of = {name: np.max(of, axis=0) for name, of in found.items()}
        return [
            Bar(f"{name}: behind one machine, each at its best epoch", one - many, at_most=0.5,
                unit="points")
            for name, (one, many) in best_of.items()
        ]  # fmt: skip

    contenders = {f"Yarrow {name}, both": lambda n=name: measure(n) for name in names}
    return Comparison(title, contenders, "s", 1.0, bars, lines)


def session() -> Any:
    """Spark on the cores of this machine."""
    import os
    import sys

    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def processor_time(run: Callable[[], Any]) -> Callable[[], float]:
    """A contender that counts what Spark and its workers compute."""

    def seconds() -> float:
        started = tree_time()
        run()
        return tree_time() - started

    return seconds


def only_reads(batches: Iterator[Any]) -> Iterator[Any]:
    """What `mapInArrow` costs without a learner."""
    import pyarrow as pa

    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"rows": [rows]})


def passes() -> Comparison:
    """A pass over lines of text, beside a job that only reads them."""
    from yarrow.distributed import SparkTrainer

    path = str(data.RCV1Like().text(ROWS))
    spark = session()
    learners = {"PA-I": yarrow.PassiveAggressiveClassifier, "AROW": yarrow.AROWClassifier,
                "YarrowClassifier": yarrow.YarrowClassifier}  # fmt: skip
    df = spark.read.text(path)
    contenders: dict[str, Callable[[], Any]] = {
        "only reads": processor_time(lambda: df.mapInArrow(only_reads, "rows bigint").collect())
    }
    for name, learner in learners.items():
        trainer = SparkTrainer(learner(), stream_format=StreamFormat(index_base=1))
        contenders[f"Yarrow {name}"] = processor_time(lambda t=trainer: t.fit(path))

    def bars(best: Best) -> list[Bar]:
        asked = {"PA-I": 1.5, "AROW": 1.5, "YarrowClassifier": 3.0}
        return [
            Bar(f"Yarrow {name}: time of a job that only reads",
                best[f"Yarrow {name}"] / best["only reads"], at_most=most)
            for name, most in asked.items()
        ]  # fmt: skip

    parts = df.rdd.getNumPartitions()
    title = f"A pass on Spark, local[2], svmlight text, {ROWS:,} rows, {parts} partitions"
    return Comparison(title, contenders, "s", 1.0, bars)


#: iterations of MLlib that are tried: it does not say how good it is on the way
ITERATIONS = (1, 2, 3, 5, 8, 12, 20, 40)


def mllib(title: str, rows: Split, levels: Sequence[float], names: Sequence[str]) -> Comparison:
    """Until the accuracy on rows held out first reaches each level, in processor time.

    Of MLlib what the fewest iterations take, as if somebody had said how many are needed; of ours
    the epochs so far. Judging them is not counted.
    """
    from pyspark.ml import classification

    from yarrow.distributed import SparkTrainer, predict

    spark = session()
    X, y, X_test, y_test = rows
    train, test = (
        _vectors(spark, f"{title} {part}", *of).repartition(4).cache()
        for part, of in (("train", (X, y)), ("test", (X_test, y_test)))
    )
    train.count(), test.count()
    took: dict[str, dict[float, float]] = {}
    right: dict[str, float] = {}

    def judge(name: str, frame: Any, seconds: float) -> float:
        """The accuracy of a model, noted for the levels that it reaches."""
        found = 100 * float(frame.where("prediction = label").count() / len(y_test))
        right[name] = max(found, right.get(name, 0))
        for level in levels:
            if found >= level:
                known = took.setdefault(name, {})
                known[level] = min(seconds, known.get(level, seconds))
        return found

    def ours() -> float:
        started, judging = tree_time(), 0.0

        def after_epoch(epoch: int, model: Any) -> None:
            nonlocal judging
            now = tree_time()
            judge("Yarrow AROW", predict(model, test), now - started - judging)
            judging += tree_time() - now

        SparkTrainer(yarrow.AROWClassifier(), SHOWN[-1], after_epoch=after_epoch).fit(train)
        return tree_time() - started - judging

    def theirs(name: str) -> float:
        seconds = 0.0
        for iterations in ITERATIONS:
            started = tree_time()
            model = getattr(classification, name)(maxIter=iterations).fit(train)
            seconds = tree_time() - started
            if judge(f"MLlib {name}", model.transform(test), seconds) >= levels[-1]:
                break
        return seconds

    def bars(best: Best) -> list[Bar]:
        our = took.get("Yarrow AROW", {})
        return [
            Bar(f"Yarrow AROW to {level:g} %: speed of {name}", took[name][level] / our[level],
                at_least=5)
            for name in took if name != "Yarrow AROW"
            for level in levels if level in took[name] and level in our
        ]  # fmt: skip

    def notes(best: Best) -> list[str]:
        header = ["processor seconds until", *(f"{level:g} %" for level in levels), "best"]
        cells = [
            [name, *(f"{took[name][level]:.2f}" if level in took.get(name, {}) else "never"
                     for level in levels), f"{right[name]:.1f} %"]
            for name in right
        ]  # fmt: skip
        return [table(header, cells)]

    contenders: dict[str, Callable[[], Any]] = {"Yarrow AROW, ten epochs": ours}
    for name in names:
        contenders[f"MLlib {name}, the last number of iterations"] = lambda n=name: theirs(n)
    return Comparison(f"{title}, {len(y):,} vectors, cached", contenders, "s", 1.0, bars, notes)


def _vectors(spark: Any, name: str, X: Any, y: np.ndarray) -> Any:
    """Rows as MLlib takes them, labels 0, 1, 2..."""
    from sklearn.datasets import dump_svmlight_file

    path = data.folder() / f"{name.replace(' ', '-')}.svm"
    if not path.exists():
        labels = np.unique(y, return_inverse=True)[1]
        dump_svmlight_file(X, labels, str(path), zero_based=False)
    return spark.read.format("libsvm").option("numFeatures", X.shape[1]).load(str(path))


def disk(rows: int) -> str:
    """Parquet files of so many rows of four numbers; made once."""
    path = data.folder() / f"spark-{rows}.parquet"
    if not (path / "_SUCCESS").exists():
        values = ", ".join(f"float(randn({seed})) x{seed}" for seed in range(4))
        frame = session().sql(f"select {values} from range(0, {rows}, 1, 4)")
        frame = frame.selectExpr("*", "if(x0 + x1 > 0.3 * x2, 'yes', 'no') label")
        frame.write.mode("overwrite").parquet(str(path))
    return str(path)


def memory() -> Comparison:
    """Peak memory of the Python workers, while rows and keys become more."""
    from yarrow.distributed import PerKey, SparkTrainer

    spark = session()
    peak: dict[str, int] = {}

    def watched(name: str, run: Callable[[], Any]) -> Callable[[], float]:
        def seconds() -> float:
            forget_peaks()
            found = processor_time(run)()
            peak[name] = max(peak.get(name, 0), tree_peak("python"))
            return found

        return seconds

    def keys(n: int) -> int:
        df = spark.sql(
            f"select id div 4 customer, id time, if(id % 2 = 0, 'a', 'b') label, "
            f"if(id % 2 = 0, 1.0d, -1.0d) x, rand(1) z from range(0, {4 * n}, 1, 4)"
        )
        models = PerKey(yarrow.AROWClassifier(), "customer", order="time").fit(df)
        return int(models.selectExpr("sum(length(model))").first()[0])

    contenders = {}
    for n in (MANY // 10, MANY):
        trainer, path = SparkTrainer(yarrow.AROWClassifier()), disk(n)
        name = f"Yarrow AROW, {n:,} rows of Parquet"
        contenders[name] = watched(name, lambda t=trainer, p=path: t.fit(p))
    for n in (KEYS // 10, KEYS):
        name = f"Yarrow AROW, a model for each of {n:,} keys"
        contenders[name] = watched(name, lambda n=n: keys(n))

    def bars(best: Best) -> list[Bar]:
        names = list(contenders)
        return [
            Bar(f"{more[7:]}: peak memory of a tenth", peak[more] / peak[few], at_most=1.1)
            for few, more in (names[:2], names[2:])
        ]

    def notes(best: Best) -> list[str]:
        words = [f"{name[7:]}: {size / 1e6:.0f} MB" for name, size in peak.items()]
        return [f"The largest Python worker. {'; '.join(words)}."]

    return Comparison("Bounded memory, local[2], 3 GB of JVM", contenders, "s", 1.0, bars, notes)


def peers() -> list[Comparison]:
    """Beside MLlib, on a real set and on the generated one. Its LinearSVC knows two classes."""
    generated = split(*data.RCV1Like().matrix(100_000))
    return [
        mllib("20 Newsgroups", split(*data.newsgroups()), (80, 85, 88, 90, 91),
              ["LogisticRegression"]),
        mllib("Generated RCV1-like set", generated, (90, 92, 93, 94),
              ["LinearSVC", "LogisticRegression"]),
    ]  # fmt: skip


def spark() -> list[Comparison]:
    """Learning apart: accuracy of what is mixed."""
    return [
        # Sixteen models of YarrowClassifier with 174,000 words and 20 classes take 4 GB.
        accuracy("20 Newsgroups", split(*data.newsgroups()), ["AROW", "PA", "RDA"]),
        accuracy("Generated RCV1-like set, 20,000 rows", split(*data.RCV1Like().matrix(20_000))),
    ]


#: each is a process of its own: what one of them leaves in the JVM is not another's
SECTIONS: dict[str, Callable[[], list[Comparison]]] = {
    "spark": spark,
    "spark_passes": lambda: [passes()],
    "spark_peers": peers,
    "spark_memory": lambda: [memory()],
}
