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
ROWS = 1_000_000  # of a pass
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


def mllib() -> Comparison:
    """Until the same accuracy on rows held out: one pass of ours, as many of MLlib as needed."""
    from pyspark.ml.classification import LinearSVC, LogisticRegression
    from pyspark.sql import functions

    from yarrow.distributed import SparkTrainer, predict

    spark = session()
    n = 100_000
    both = spark.read.format("libsvm").option("numFeatures", 47_236)
    rows = both.load(str(data.RCV1Like().text(n))).withColumn("label", _positive()).repartition(4)
    # randomSplit would sort the rows of each partition by their columns, the label first.
    drawn = rows.withColumn("drawn", functions.rand(1)).cache()
    train, test = (drawn.where(f"drawn {side} 0.8").drop("drawn").cache() for side in ("<", ">="))
    train.count(), test.count()
    ours = SparkTrainer(yarrow.AROWClassifier())
    said: dict[str, float] = {}

    def of(frame: Any) -> float:
        return 100 * frame.where("prediction = label").count() / test.count()

    wanted = of(predict(ours.fit(train), test))
    said["Yarrow AROW, one pass"] = wanted

    def until(name: str, make: Callable[[int], Any]) -> float:
        """The time of the fewest iterations that are as good, else of the best of them."""
        best = (0.0, 0.0)
        for iterations in (1, 2, 3, 5, 8, 12, 20):
            started = tree_time()
            model = make(iterations).fit(train)
            seconds = tree_time() - started
            right = of(model.transform(test))
            if right > best[0]:
                best = right, seconds
                said[f"{name} ({iterations} iterations)"] = right
            if right >= wanted:
                break
        return best[1]

    contenders: dict[str, Callable[[], Any]] = {
        "Yarrow AROW, one pass": processor_time(lambda: ours.fit(train)),
        "MLlib LinearSVC": lambda: until("MLlib LinearSVC", lambda i: LinearSVC(maxIter=i)),
        "MLlib LogisticRegression": lambda: until(
            "MLlib LogisticRegression", lambda i: LogisticRegression(maxIter=i)
        ),
    }

    def bars(best: Best) -> list[Bar]:
        our = best["Yarrow AROW, one pass"]
        return [
            Bar(f"Yarrow AROW: speed of {name}", best[name] / our, at_least=5)
            for name in contenders
            if name.startswith("MLlib")
        ]

    def notes(best: Best) -> list[str]:
        words = [f"{name} {percent:.1f} %" for name, percent in said.items()]
        return [f"Accuracy on rows held out: {', '.join(words)}."]

    return Comparison(f"RCV1-like vectors, {n:,} rows, cached", contenders, "s", 1.0, bars, notes)


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


def _positive() -> Any:
    from pyspark.sql import functions

    return (functions.col("label") > 0).cast("double")


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
    "spark_peers": lambda: [mllib()],
    "spark_memory": lambda: [memory()],
}
