"""A cluster of two executors on this machine: JVMs and Python workers of their own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

REASON = "Spark needs Java 17: install it, or leave these tests out with -m 'not spark'"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def cluster_environment() -> dict[str, str]:
    """Return what a cluster of PySpark from PyPI needs to know."""
    return {
        "SPARK_HOME": str(Path(importlib.util.find_spec("pyspark").origin).parent),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "OPENBLAS_NUM_THREADS": "1",
    }


def start(folder: Path):
    """Start a session whose executors may die."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.worker.cleanup.enabled": "true",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Return a session, started once."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip(REASON)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster_environment().items():
            patch.setitem(os.environ, name, value)
        session = start(tmp_path_factory.mktemp("spark"))
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
