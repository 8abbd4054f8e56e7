"""Kernel learners on a budget: curved boundaries for streams.

Each keeps some of the rows and scores a new one by its kernel with all of them.
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
