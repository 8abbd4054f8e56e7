"""Learning on real executors gives what learning the same parts here gives."""

from __future__ import annotations

import copy
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from contract.support import assert_same, learned

import yarrow
from yarrow.cli import main
from yarrow.distributed import PerKey, SparkTrainer, learn_stream, predict
from yarrow.distributed.source import _Lines
from yarrow.errors import DataError, MissingDependencyError, ModelFileError, ParameterError
from yarrow.merging import combined, finished

# pyspark warns of what it imports itself, and leaves sockets to the collector
pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore"),
]
COLUMNS = ["x0", "x1", "x2", "x3"]


def rows(n, seed=0):
    """Return tuples of four numbers and a label."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    labels = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    return [(*map(float, x), str(label)) for x, label in zip(X, labels, strict=True)]


def frame(spark, parts, schema="x0 double, x1 double, x2 double, x3 double, label string"):
    """Return a frame whose partitions hold these rows, in this order."""
    flat = spark.sparkContext.parallelize(list(enumerate(parts)), len(parts))
    return spark.createDataFrame(flat.flatMap(lambda part: part[1]), schema)


def taught(model, part):
    """Return a copy that has learned rows, here."""
    model = copy.deepcopy(model)
    for *values, label in part:
        model.learn_one(dict(zip(COLUMNS, values, strict=True)), label)
    return model


def here(learner, parts, epochs):
    """Return the same without Spark."""
    model = learner
    for _ in range(epochs):
        model = yarrow.merge([taught(model, part) for part in parts if part], base=model)
    return model


@pytest.fixture(scope="module")
def skewed():
    """Return partitions of very different sizes: an empty one, one of one class."""
    data = rows(600)
    one_class = [row for row in data[400:] if row[-1] == "yes"]
    return [data[:350], [], data[350:355], one_class]


# -- one model of many partitions ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["AROWClassifier", "PassiveAggressiveClassifier", "RDAClassifier"])
def test_executors_learn_what_one_process_would(spark, skewed, name):
    learner = getattr(yarrow, name)()
    df = frame(spark, skewed)
    got = SparkTrainer(learner, epochs=2).fit(df)
    assert_same(learned(got), learned(here(learner, skewed, epochs=2)))
    assert not hasattr(learner, "_model")
    if name == "AROWClassifier":
        predicted = predict(got, df).collect()
        assert len(predicted) == sum(map(len, skewed))
        wanted = [got.predict_one(row.asDict()) for row in predicted]
        assert [row.prediction for row in predicted] == wanted
        assert np.mean([row.prediction == row.label for row in predicted]) > 0.9


def test_sums_of_many_partitions_add_on_executors_by_a_tree_of_fixed_shape(spark):
    parts = [rows(30, seed) for seed in range(18)]
    got = SparkTrainer(yarrow.AROWClassifier()).fit(frame(spark, parts))
    base = yarrow.AROWClassifier()
    models = [taught(base, part) for part in parts]
    groups = [combined(models[i : i + 8], base) for i in range(0, 18, 8)]
    assert_same(learned(got), learned(finished(combined(groups, base), base)))


def test_frames_are_read_as_columns_are(spark):
    from pyspark.ml.linalg import Vectors

    random = np.random.default_rng(1)
    data = []
    for number in range(120):
        values = [float(v) for v in random.normal(size=4)]
        bag = {f"w{j}": float(j + 1) for j in sorted(set(random.integers(9, size=3).tolist()))}
        sparse = Vectors.sparse(9, {int(k[1:]): v for k, v in bag.items()})
        vector = sparse if number % 3 else Vectors.dense(values)
        town, text = ("Oslo", "a b") if number % 2 else ("Rome", "b c")
        label = "yes" if values[0] > 0 else "no"
        data.append((values, bag, vector, town, text, float(number), 1.0 + number % 2, label))
    schema = ["list", "bag", "vector", "town", "title", "age", "weight", "label"]
    df = spark.createDataFrame(data, schema).coalesce(1)
    options = {"weight": "weight", "text": ["title"], "drop": ["age"]}
    got = SparkTrainer(yarrow.AROWClassifier(), **options).fit(df)

    wanted = yarrow.AROWClassifier()
    for values, bag, vector, town, text, _, weight, label in data:
        row = {f"list.{i}": v for i, v in enumerate(values)}
        row |= {f"bag.{name}": v for name, v in bag.items()}
        dense = hasattr(vector, "array")
        pairs = enumerate(vector) if dense else zip(vector.indices, vector.values, strict=True)
        row |= {f"vector.{i}": float(v) for i, v in pairs}
        row |= {f"town={town}": 1.0} | {f"title={word}": 1.0 for word in text.split()}
        wanted.learn_one(row, label, weight)
    assert_same(learned(got), learned(wanted))
    predicted = predict(got, df).collect()
    local = got.predict_many(df.drop("label", "weight", "vector").toArrow())
    assert len(predicted) == len(local) == 120
    assert predicted[0].vector == data[0][2]


def test_features_that_half_of_the_partitions_do_not_know(spark):
    data = rows(300, seed=2)
    parts = [
        [({f"p{i % 2}-{k}": v for k, v in zip(COLUMNS, row, strict=False)}, row[-1])
         for row in data[i::4]]
        for i in range(4)
    ]  # fmt: skip
    df = frame(spark, parts, "f map<string,double>, label string")
    model = SparkTrainer(yarrow.AROWClassifier()).fit(df)
    assert set(model.feature_names_) == {f"f.p{i}-x{j}" for i in range(2) for j in range(4)}
    assert model.t_ == 300


def test_files(spark, tmp_path):
    data = rows(200, seed=3)
    lines = [" ".join([(row[-1] == "yes" and "1") or "-1", *(f"{j + 1}:{v!r}" for j, v in
             enumerate(row[:4]))]) for row in data]  # fmt: skip
    svm = tmp_path / "rows.svm"
    svm.write_text("\n".join(lines) + "\n")
    csv, parquet = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    cells = [",".join([*map(repr, row[:4]), row[-1]]) for row in data]
    csv.write_text("\n".join(["x0,x1,x2,x3,label", *cells]) + "\n")
    frame(spark, [data]).write.parquet(str(parquet))
    trainer = SparkTrainer(yarrow.AROWClassifier())
    wanted = yarrow.AROWClassifier()
    for row in data:
        x = {j + 1: v for j, v in enumerate(row[:4])}
        wanted.learn_one(x, 1 if row[-1] == "yes" else -1)
    found = trainer.fit(svm)
    assert_same(
        {**learned(found), "features": 0}, {**learned(wanted), "features": 0}
    )  # columns count from 0
    named = taught(yarrow.AROWClassifier(), data)
    assert_same(learned(trainer.fit(csv)), learned(named))
    assert_same(learned(trainer.fit(str(parquet))), learned(named))

    wrong = tmp_path / "wrong one.svm"  # of which Spark makes several partitions
    wrong.write_text("\n".join([*lines[:150], "1 3:oops", *lines[150:]]) + "\n")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4000")
    try:
        with pytest.raises(DataError, match=r"^/.*wrong one.svm, line 151, .*oops"):
            trainer.fit([svm, wrong])
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    (damaged,) = parquet.glob("part-*.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"part-.*parquet"):
        trainer.fit(parquet)


# -- what dies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("victim", ["Python worker", "executor"])
def test_what_dies_in_the_middle_leaves_no_trace(spark, skewed, tmp_path, victim):
    learner = yarrow.AROWClassifier()
    mark = tmp_path / "killed"

    def kill_once(batches):
        for batch in batches:
            yield batch
            if not mark.exists():
                mark.touch()
                pid = os.getpid()
                while victim == "executor" and "java" not in Path(f"/proc/{pid}/comm").read_text():
                    pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                os.kill(pid, signal.SIGKILL)

    df = frame(spark, skewed)
    got = SparkTrainer(learner, epochs=2).fit(df.mapInArrow(kill_once, df.schema))
    assert mark.exists()
    assert_same(learned(got), learned(here(learner, skewed, epochs=2)))


def test_a_driver_that_was_killed_goes_on_from_its_checkpoint(spark, skewed, tmp_path):
    path = tmp_path / "model.yarrow"
    script = f"""
        import os, signal, sys, yarrow
        sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
        from pyspark.sql import SparkSession
        from yarrow.distributed import SparkTrainer
        spark = SparkSession.builder.master("local[1]").getOrCreate()
        parts = {skewed!r}
        flat = spark.sparkContext.parallelize(list(enumerate(parts)), len(parts))
        schema = "x0 double, x1 double, x2 double, x3 double, label string"
        df = spark.createDataFrame(flat.flatMap(lambda part: part[1]), schema)

        def die(epoch, model):
            if epoch == 2:
                os.kill(os.getpid(), signal.SIGKILL)

        SparkTrainer(yarrow.AROWClassifier(), epochs=4, checkpoint={str(path)!r},
                     after_epoch=die).fit(df)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    df, epochs = frame(spark, skewed), []
    trainer = SparkTrainer(
        yarrow.AROWClassifier(), epochs=4, checkpoint=path,
        after_epoch=lambda epoch, model: epochs.append(epoch),
    )  # fmt: skip
    got = trainer.fit(df)
    assert epochs == [3, 4]
    wanted = here(yarrow.AROWClassifier(), skewed, epochs=4)
    assert_same(learned(got), learned(wanted))
    assert_same(learned(yarrow.load(path)), learned(wanted))
    with pytest.raises(ParameterError, match="another r"):
        SparkTrainer(yarrow.AROWClassifier(r=9.0), epochs=4, checkpoint=path).fit(df)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ModelFileError, match="truncated"):
        trainer.fit(df)


# -- a model for each key --------------------------------------------------------------------------


def test_a_model_for_each_of_many_keys(spark):
    n = 20_000
    df = spark.sql(
        f"select id div 4 as customer, id as time, if(id % 2 = 0, 'a', 'b') as label, "
        f"if(id % 2 = 0, 1.0d, -1.0d) as x, cast(id div 4 as double) / {n} as z from range({4 * n})"
    )
    per_key = PerKey(yarrow.AROWClassifier(), "customer", order="time")
    found = per_key.fit(df).where("rows = 4").toArrow()
    assert len(found) == len(set(found["customer"].to_pylist())) == n
    content = found["model"][found["customer"].to_pylist().index(77)].as_py()
    wanted = yarrow.AROWClassifier()
    for i in range(4):
        wanted.learn_one({"x": 1.0 - 2 * (i % 2), "z": 77 / n}, "ab"[i % 2])
    assert_same(learned(per_key.model(content)), learned(wanted))
    assert max(map(len, found["model"].to_pylist())) < 600


@pytest.mark.parametrize("kind", ["numbers", "words"])
def test_rows_of_a_key_may_come_in_several_batches(spark, kind):
    """A key with many rows is never in memory as a whole; a missing key is one, too."""
    data, wanted = [], {None: yarrow.AROWClassifier(), "a": yarrow.AROWClassifier()}
    for time, row in enumerate(rows(120)):
        who = [None, "a"][time % 3 == 0]
        if kind == "words":  # of which no key knows those that others have
            row = ({f"{who}{time % 5}": row[0], "all": row[1]}, row[-1])
            wanted[who].learn_one({f"bag.{name}": v for name, v in row[0].items()}, row[-1])
        else:
            wanted[who].learn_one(dict(zip(COLUMNS, row, strict=False)), row[-1])
        data.append((who, time, *row))
    of_kind = {"numbers": "x0 double, x1 double, x2 double, x3 double", "words":
               "bag map<string,double>"}[kind]  # fmt: skip
    schema = f"who string, time int, {of_kind}, label string"
    df = spark.createDataFrame(data[::-1], schema)
    per_key, setting = PerKey(yarrow.AROWClassifier(), "who", order="time"), "maxRecordsPerBatch"
    spark.conf.set(f"spark.sql.execution.arrow.{setting}", "7")
    try:
        found = per_key.fit(df).collect()
    finally:
        spark.conf.unset(f"spark.sql.execution.arrow.{setting}")
    assert {row.who: row.rows for row in found} == {None: 80, "a": 40}
    assert len(found) == 2
    for row in found:
        assert_same(learned(per_key.model(row.model)), learned(wanted[row.who]))


def test_a_model_for_each_key_of_a_stream(spark, tmp_path):
    source, per_key = tmp_path / "in", PerKey(yarrow.AROWClassifier(), "who", order="time")
    source.mkdir()
    wanted, found = {f"k{k}": yarrow.AROWClassifier() for k in range(5)}, {}
    schema = "x0 double, bag map<string,double>, time int, who string, label string"
    time = 0
    for number in range(2):
        data = []
        for row in rows(60, seed=number):
            who = f"k{time % 5}"
            data.append((row[0], {"w": row[1], f"v{time % 3}": 1.0}, time, who, row[-1]))
            x = {"x0": row[0], "bag.w": row[1], f"bag.v{time % 3}": 1.0}
            wanted[who].learn_one(x, row[-1])
            time += 1
        spark.createDataFrame(data, schema).coalesce(1).write.mode("append").json(str(source))
        stream = per_key.fit_stream(spark.readStream.schema(schema).json(str(source)))
        query = (
            stream.writeStream.foreachBatch(
                lambda df, _: found.update({row.who: row for row in df.collect()})
            )
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .outputMode("update")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert {row.rows for row in found.values()} == {12 * (number + 1)}
    for who, model in wanted.items():
        assert_same(learned(per_key.model(found[who].model)), learned(model))


# -- streams ---------------------------------------------------------------------------------------


def test_a_stream_is_learned_exactly_once_whenever_it_crashes(spark, tmp_path):
    source, model = tmp_path / "in", tmp_path / "model.yarrow"
    source.mkdir()
    learn, wanted = learn_stream(yarrow.AROWClassifier(), model), yarrow.AROWClassifier()

    def crash_before(df, number):
        raise RuntimeError("crash")

    def crash_after(df, number):
        learn(df, number)
        raise RuntimeError("crash")

    def run(each):
        stream = spark.readStream.schema(
            "x0 double, x1 double, x2 double, x3 double, label string"
        ).csv(str(source))
        query = (
            stream.writeStream.foreachBatch(each)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    for number, crash in enumerate([None, crash_before, crash_after]):
        data = rows(40, seed=number)
        lines = [",".join([*map(repr, row[:4]), row[-1]]) for row in data]
        (source / f"{number}.csv").write_text("\n".join(lines) + "\n")
        wanted = taught(wanted, data)
        if crash is not None:
            with pytest.raises(Exception, match="crash"):
                run(crash)
        run(learn)
        assert_same(learned(yarrow.load(model)), learned(wanted))


# -- the command, and what is refused --------------------------------------------------------------


def test_the_command(spark, tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.yarrow"
    data = rows(300)
    cells = [",".join([*map(repr, row[:4]), row[-1]]) for row in data]
    path.write_text("\n".join(["x0,x1,x2,x3,class", *cells]) + "\n")
    options = ["--learner", "arow", "--passes", "2", "--label", "class", "--model", str(model)]
    result = CliRunner().invoke(main, ["train", str(path), *options, "--engine", "spark"])
    assert result.exit_code == 0, result.output
    assert "600 rows, error" in result.output
    wanted = here(yarrow.AROWClassifier(), [data], epochs=2)
    assert_same(learned(yarrow.load(model)), learned(wanted))


@pytest.mark.parametrize(
    ("master", "java", "words"),
    [
        ("nonsense", True, "--master must be local[2], spark://HOST:PORT"),
        ("local[2]", False, "Spark needs Java 17, which is not here"),
        ("yarn", True, "Spark did not start with --master yarn: When running with master 'yarn'"),
    ],
)
def test_a_cluster_that_cannot_be_had_is_one_sentence(tmp_path, master, java, words):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:2\n")
    hidden = ("JAVA_HOME", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    if not java:
        environment["PATH"] = str(tmp_path)
    elif shutil.which("java") is None:
        pytest.skip("needs Java")
    command = ["train", "rows.svm", "--engine", "spark", "--master", master, "--model", "m"]
    done = subprocess.run([sys.executable, "-m", "yarrow", *command], cwd=tmp_path,
                          env=environment, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"yarrow: {words}")
    assert done.stderr.count("\n") == 1


def test_lines_of_batches_are_a_file_whatever_it_is_asked_for():
    import pyarrow as pa

    random = np.random.default_rng(0)
    texts = [["é" * size for size in random.integers(4, size=n)] for n in (5, 0, 1, 7)]
    for kind in (pa.string(), pa.large_string()):
        batches = [pa.record_batch({"value": pa.array(of, kind)}) for of in texts]
        batches.append(pa.record_batch({"value": pa.array(["left out", "last"], kind)}).slice(1))
        wanted = "".join(f"{text}\n" for of in [*texts, ["last"]] for text in of).encode()
        for size in (1, 2, 5, 1000):
            file, found, buffer = _Lines(batches), b"", bytearray(size)
            while n := file.readinto(buffer):
                found += buffer[:n]
            assert found == wanted
            assert file.count == 14


def test_what_cannot_be_learned_is_said_in_one_sentence(spark, skewed):
    df = frame(spark, skewed)
    with pytest.raises(DataError, match="no column 'class'"):
        SparkTrainer(yarrow.AROWClassifier(), label="class").fit(df)
    with pytest.raises(DataError, match="no rows"):
        SparkTrainer(yarrow.AROWClassifier()).fit(df.filter("x0 > 1e9"))
    with pytest.raises(DataError, match=r"partition 0: .*no label"):
        SparkTrainer(yarrow.AROWClassifier()).fit(df.selectExpr("x0", "string(null) label"))
    with pytest.raises(ParameterError, match="'epochs'"):
        SparkTrainer(yarrow.AROWClassifier(), epochs=0)
    with pytest.raises(ParameterError, match=r"VotedPerceptron .*cannot be merged"):
        SparkTrainer(yarrow.VotedPerceptron()).fit(df)


def test_without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingDependencyError, match=r"yarrow-learn\[spark\]"):
        SparkTrainer(yarrow.AROWClassifier()).fit("rows.svm")
