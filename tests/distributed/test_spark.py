"""Learning on real executors gives what learning the same parts here gives."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from contract.support import assert_same, learned

import yarrow
from yarrow.distributed import PerKey, SparkTrainer, learn_stream
from yarrow.errors import DataError, ModelFileError, ParameterError

# pyspark warns of what it imports itself, and leaves sockets to the collector
pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore"),
]


def rows(n, seed=0, columns=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns))
    labels = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    names = [f"x{j}" for j in range(columns)]
    return [dict(zip(names, map(float, x), strict=True)) for x in X], labels.tolist()


def frame(spark, parts):
    """A frame whose partitions hold these rows, in this order."""
    context = spark.sparkContext
    flat = context.parallelize(list(enumerate(parts)), len(parts))
    schema = "x0 double, x1 double, x2 double, x3 double, label string"
    return spark.createDataFrame(flat.flatMap(lambda part: part[1]), schema)


def as_tuples(X, y):
    return [(*x.values(), label) for x, label in zip(X, y, strict=True)]


def here(learner, parts, epochs):
    """The same without Spark."""
    model = learner
    for _ in range(epochs):
        found = []
        for part in parts:
            if part:
                one = yarrow.merge([model]) if hasattr(model, "_model") else type(learner)()
                for *values, label in part:
                    one.learn_one({f"x{j}": v for j, v in enumerate(values)}, label)
                found.append(one)
        model = yarrow.merge(found, base=model)
    return model


@pytest.fixture(scope="module")
def skewed():
    """Return partitions of very different sizes: an empty one, one of one class."""
    X, y = rows(600)
    data = as_tuples(X, y)
    one_class = [row for row in data[400:] if row[-1] == "yes"]
    return [data[:350], [], data[350:355], one_class]


@pytest.mark.parametrize("name", ["AROWClassifier", "PassiveAggressiveClassifier", "RDAClassifier"])
def test_executors_learn_what_one_process_would(spark, skewed, name):
    learner = getattr(yarrow, name)()
    wanted = here(learner, skewed, epochs=2)
    trainer = SparkTrainer(learner, epochs=2)
    got = trainer.fit(frame(spark, skewed))
    assert_same(learned(got), learned(wanted))
    assert not hasattr(learner, "_model")
    predicted = trainer.predict(got, frame(spark, skewed)).collect()
    right = np.mean([row.prediction == row.label for row in predicted])
    assert len(predicted) == sum(map(len, skewed))
    assert right > 0.9


def test_maps_arrays_vectors_and_mixed_columns(spark):
    from pyspark.ml.linalg import Vectors

    X, y = rows(200, seed=1)
    maps = [
        ({name: v for name, v in x.items() if v > 0}, label) for x, label in zip(X, y, strict=True)
    ]
    df = spark.createDataFrame(maps, "features map<string,double>, label string").coalesce(1)
    model = SparkTrainer(yarrow.AROWClassifier()).fit(df)
    wanted = yarrow.AROWClassifier()
    for x, label in maps:
        wanted.learn_one(x, label)
    assert_same(learned(model), learned(wanted))

    dense = [(list(x.values()), label) for x, label in zip(X, y, strict=True)]
    arrays = spark.createDataFrame(dense, "features array<double>, label string").coalesce(1)
    vectors = spark.createDataFrame(
        [(Vectors.dense(v), c) for v, c in dense], ["features", "label"]
    )
    of_arrays = SparkTrainer(yarrow.AROWClassifier()).fit(arrays)
    of_vectors = SparkTrainer(yarrow.AROWClassifier()).fit(vectors.coalesce(1))
    assert_same(learned(of_arrays), learned(of_vectors))
    one = yarrow.AROWClassifier().partial_fit(np.array([v for v, _ in dense]), np.array(y))
    assert_same(learned(of_arrays), learned(one))

    towns = [("Oslo" if i % 2 else "Rome", float(i), "yes" if i % 2 else "no") for i in range(90)]
    mixed = spark.createDataFrame(towns, "town string, age double, label string")
    trainer = SparkTrainer(yarrow.AROWClassifier(), epochs=3)
    model = trainer.fit(mixed)
    assert set(model.feature_names_) == {"town=Oslo", "town=Rome", "age"}
    assert all(row.label == row.prediction for row in trainer.predict(model, mixed).collect())


def test_features_that_half_of_the_partitions_do_not_know(spark):
    X, y = rows(300, seed=2)
    parts = [
        [
            ({f"p{i % 2}-{k}": v for k, v in x.items()}, label)
            for x, label in zip(X, y, strict=True)
        ][i::4]
        for i in range(4)
    ]
    flat = spark.sparkContext.parallelize(list(enumerate(parts)), 4).flatMap(lambda part: part[1])
    df = spark.createDataFrame(flat, "features map<string,double>, label string")
    model = SparkTrainer(yarrow.AROWClassifier()).fit(df)
    assert set(model.feature_names_) == {f"p{i}-x{j}" for i in range(2) for j in range(4)}
    assert model.t_ == 300


def test_a_worker_that_dies_in_the_middle_leaves_no_trace(spark, skewed, tmp_path):
    wanted = SparkTrainer(yarrow.AROWClassifier(), epochs=2).fit(frame(spark, skewed))
    mark = tmp_path / "killed"

    def kill_once(batches):
        for batch in batches:
            yield batch
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    df = frame(spark, skewed)
    dying = df.mapInArrow(kill_once, df.schema)
    got = SparkTrainer(yarrow.AROWClassifier(), epochs=2).fit(dying)
    assert mark.exists()
    assert_same(learned(got), learned(wanted))


def test_a_driver_that_died_goes_on_from_its_checkpoint(spark, skewed, tmp_path):
    df, path = frame(spark, skewed), tmp_path / "model.yarrow"
    wanted = SparkTrainer(yarrow.AROWClassifier(), epochs=3).fit(df)
    SparkTrainer(yarrow.AROWClassifier(), epochs=1, checkpoint=path).fit(df)
    got = SparkTrainer(yarrow.AROWClassifier(), epochs=3, checkpoint=path).fit(df)
    assert_same(learned(got), learned(wanted))
    assert_same(learned(yarrow.load(path)), learned(wanted))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ModelFileError, match="truncated"):
        SparkTrainer(yarrow.AROWClassifier(), epochs=3, checkpoint=path).fit(df)


def test_a_model_for_each_of_many_keys(spark):
    n = 20_000
    df = spark.sql(
        f"select id div 4 as customer, id as time, if(id % 2 = 0, 'a', 'b') as label, "
        f"if(id % 2 = 0, 1.0d, -1.0d) as x, cast(id div 4 as double) / {n} as z from range({4 * n})"
    )
    per_key = PerKey(yarrow.AROWClassifier(), "customer", order="time")
    found = per_key.fit(df)
    assert found.count() == n
    row = found.filter("customer = 77").first()
    wanted = yarrow.AROWClassifier()
    for i in range(4):
        wanted.learn_one({"x": 1.0 - 2 * (i % 2), "z": 77 / n}, "ab"[i % 2])
    assert_same(learned(per_key.model(row.model)), learned(wanted))


def test_a_stream_is_learned_exactly_once(spark, skewed, tmp_path):
    path, other = tmp_path / "a.yarrow", tmp_path / "b.yarrow"
    batches = [frame(spark, [part]) for part in skewed]
    for number, batch in enumerate(batches):
        learn_stream(yarrow.AROWClassifier(), path)(batch, number)
    for number, batch in enumerate(batches):  # as after crashes: each batch comes again
        for again in (batches[number - 1], number - 1), (batch, number), (batch, number):
            if again[1] >= 0:
                learn_stream(yarrow.AROWClassifier(), other)(*again)
    assert path.read_bytes() == other.read_bytes()
    assert yarrow.load(path).t_ == sum(map(len, skewed))


def test_structured_streaming(spark, tmp_path):
    source, model = tmp_path / "in", tmp_path / "model.yarrow"
    source.mkdir()
    for number in range(3):
        X, y = rows(40, seed=number)
        lines = [",".join([*map(repr, x.values()), label]) for x, label in zip(X, y, strict=True)]
        (source / f"{number}.csv").write_text("\n".join(lines) + "\n")
        stream = spark.readStream.schema(
            "x0 double, x1 double, x2 double, x3 double, label string"
        ).csv(str(source))
        query = (
            stream.writeStream.foreachBatch(learn_stream(yarrow.AROWClassifier(), model))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert yarrow.load(model).t_ == 40 * (number + 1)


def test_what_cannot_be_learned_is_said_in_one_sentence(spark, skewed):
    df = frame(spark, skewed)
    with pytest.raises(DataError, match="no column 'class'"):
        SparkTrainer(yarrow.AROWClassifier(), label="class").fit(df)
    with pytest.raises(DataError, match="no rows"):
        SparkTrainer(yarrow.AROWClassifier()).fit(df.filter("x0 > 1e9"))
    with pytest.raises(ParameterError, match="'epochs'"):
        SparkTrainer(yarrow.AROWClassifier(), epochs=0)
