"""Kernel learners on a budget: curved boundaries for streams.

Each keeps some of the rows and scores a new one by its kernel with all of them. They use the core's
own rules to the letter: all that a rule is told can be had from kernel values. "None of the seen"
is a column here too, but on a budget it learns only from rows that a class seen keeps: a row of its
own would push out one that a class needs.
"""

from yarrow.kernel.affine import (
    KernelNORMAClassifier,
    KernelNormConstrainedPAClassifier,
    KernelPassiveAggressiveClassifier,
    KernelPerceptron,
    KernelRegularizedPAClassifier,
)
from yarrow.kernel.arow import KernelAROWClassifier
from yarrow.kernel.duol import DUOLClassifier
from yarrow.kernel.forgetron import ForgetronClassifier

__all__ = [
    "DUOLClassifier",
    "ForgetronClassifier",
    "KernelAROWClassifier",
    "KernelNORMAClassifier",
    "KernelNormConstrainedPAClassifier",
    "KernelPassiveAggressiveClassifier",
    "KernelPerceptron",
    "KernelRegularizedPAClassifier",
]
