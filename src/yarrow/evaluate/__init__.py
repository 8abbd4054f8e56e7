"""Judging learners: what happened in a run, what a theorem promised, and the proof that it held.

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
from yarrow.evaluate.run import Run, record

__all__ = ["Assumption", "Bound", "Certificate", "Run", "bounds", "certificate", "record"]
