"""Judging learners: how good their predictions were, how sure that is, and what theorems promised.

`progressive` runs any learner over a stream, `cross_validate`, `tune` and `line_search` choose
settings, `paired_comparison` and `mean_ranks` say whether differences mean anything, `regret`
compares with the best in hindsight, and `certificate` with what a theorem allows.

>>> import numpy as np
>>> from yarrow import Perceptron
>>> from yarrow.evaluate import certificate, record
>>> X = np.array([[2.0, 1.0], [-1.0, -2.0], [1.0, 3.0], [-2.0, -1.0]] * 5)
>>> run = record(Perceptron(fit_intercept=False), X, [1, -1, 1, -1] * 5)
>>> print(certificate(run))
Perceptron on 20 rows of 2 features
  theorem      Novikoff (1962): mistakes <= (R / gamma)^2
  mistakes     1
  bound        2.222, which is 0.1111 of the rows
  slack        1.222
  R            3.162
  gamma        2.121
  |u|          0.4714
  assumptions
    [yes]      each update adds the signed row, where the margin is at most the threshold
    [yes]      u separates all rows
"""

from yarrow.evaluate import bounds
from yarrow.evaluate.bounds.base import Assumption, Bound
from yarrow.evaluate.certificate import Certificate, certificate
from yarrow.evaluate.curves import learning_curve, online_curve, precision_recall
from yarrow.evaluate.difference import Change, Difference, diff
from yarrow.evaluate.monitor import Alarm, HoeffdingDrift, Monitor
from yarrow.evaluate.paired import (
    PairedComparison,
    block_length,
    bootstrap,
    mcnemar,
    paired_comparison,
    paired_scatter,
)
from yarrow.evaluate.progressive import Progressive, progressive
from yarrow.evaluate.properties import Properties, properties, properties_table
from yarrow.evaluate.ranks import Ranks, critical_difference, mean_ranks
from yarrow.evaluate.recorded_run import Run, record
from yarrow.evaluate.regret import Regret, regret, regret_to_best
from yarrow.evaluate.tuning import (
    CrossValidation,
    Tuning,
    cross_validate,
    grid,
    line_search,
    tune,
)
from yarrow.online.learners import nonzeros, sparseness

__all__ = [
    "Alarm",
    "Assumption",
    "Bound",
    "Certificate",
    "Change",
    "CrossValidation",
    "Difference",
    "HoeffdingDrift",
    "Monitor",
    "PairedComparison",
    "Progressive",
    "Properties",
    "Ranks",
    "Regret",
    "Run",
    "Tuning",
    "block_length",
    "bootstrap",
    "bounds",
    "certificate",
    "critical_difference",
    "cross_validate",
    "diff",
    "grid",
    "learning_curve",
    "line_search",
    "mcnemar",
    "mean_ranks",
    "nonzeros",
    "online_curve",
    "paired_comparison",
    "paired_scatter",
    "precision_recall",
    "progressive",
    "properties",
    "properties_table",
    "record",
    "regret",
    "regret_to_best",
    "sparseness",
    "tune",
]
