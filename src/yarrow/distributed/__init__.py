"""Learning on Apache Spark: no scheduler, shuffle or transport of our own.

`SparkTrainer` learns one model of many partitions, `PerKey` one for each key, `learn_stream` a
stream batch by batch, exactly once. They need the extra `yarrow-learn[spark]` and Java 17.
"""

from yarrow.distributed.per_key import PerKey
from yarrow.distributed.prediction import predict
from yarrow.distributed.streaming import learn_stream
from yarrow.distributed.trainer import SparkTrainer

__all__ = ["PerKey", "SparkTrainer", "learn_stream", "predict"]
