"""Builds and calls the hand-written loops of ``handwritten.cpp``."""

from __future__ import annotations

import ctypes
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = ["-std=c++20", "-O3", "-ffp-contract=off"]  # those of the toolkit's core


@cache
def _library() -> ctypes.CDLL:
    source = Path(__file__).with_name("handwritten.cpp")
    binary = Path("build") / "handwritten.so"
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        binary.parent.mkdir(exist_ok=True)
        compiler = os.environ.get("CXX", "c++")
        subprocess.run(
            [compiler, *FLAGS, "-shared", "-fPIC", "-o", str(binary), str(source)], check=True
        )
    library = ctypes.CDLL(str(binary.resolve()))
    array = np.ctypeslib.ndpointer
    arguments: list[Any] = [ctypes.c_int64, ctypes.c_int32, array(np.int32), array(np.int32)]
    arguments += [array(np.float32), array(np.int64), ctypes.c_double, array(np.float32)]
    for function in (library.pa1, library.arow):
        function.argtypes, function.restype = arguments, ctypes.c_int64
    weights = [array(np.float64), array(np.float32), array(np.float64)]
    library.product.argtypes, library.product.restype = arguments[:4] + weights, ctypes.c_int64
    return library


def pa1(X: Any, y: np.ndarray, C: float = 1.0) -> np.ndarray:
    """One pass of PA-I from zero: the weights, the intercept last."""
    weights = np.zeros(X.shape[1] + 1, np.float32)
    return _run(_library().pa1, X, y, C, weights)


def arow(X: Any, y: np.ndarray, r: float = 1.0) -> np.ndarray:
    """One pass of diagonal AROW: a row (mean, variance) per feature, the intercept last."""
    weights = np.zeros((X.shape[1] + 1, 2), np.float32)
    weights[:, 1] = 1
    return _run(_library().arow, X, y, r, weights)


def product(X: Any, weights: np.ndarray) -> np.ndarray:
    """The scores of rows of float64; the intercept is the last weight."""
    scores = np.empty(X.shape[0])
    if _library().product(*X.shape, X.indptr, X.indices, X.data, weights, scores) < 0:
        raise ValueError("The rows hold an index or a value that is not allowed.")
    return scores


def _run(loop: Any, X: Any, y: np.ndarray, parameter: float, weights: np.ndarray) -> np.ndarray:
    if loop(*X.shape, X.indptr, X.indices, X.data, y, parameter, weights) < 0:
        raise ValueError("The rows hold a label, an index or a value that is not allowed.")
    return weights
