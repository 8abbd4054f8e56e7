"""A user's own rule in the built-in loops."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import Covariance, averaging, covariance, rank
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.linear_model.confidence import covariance_parameters
from yarrow.parameters import anything, choice

SIGNATURE = "void (double *, double *, double *)"


@estimator
class CustomClassifier(LinearClassifier):
    """A linear learner with a rule of your own, at the speed of the built-in ones if compiled.

    A rule sees one row as a few scalars (`yarrow.RuleInput`: margin, target, zz, ww, v, weight, t,
    updates, memory) and answers with two numbers: (a, b) of `w <- a*w + b*z` in the affine family,
    (alpha, kappa) of `mu += alpha*Sigma*z`, precision `+= kappa*z*z'`, in the confidence family.
    A third number, if given, is the `memory` that it is told at the next row. It may be

    - a Python function of a RuleInput that returns a tuple: easy, slow;
    - a `numba.cfunc` or `scipy.LowLevelCallable` with the signature
      ``void (double *input, double *parameters, double *step)``: the nine scalars in the order
      above, your `parameters`, and room for the answer. It runs without the interpreter.

    >>> def pa(s):  # Passive-Aggressive
    ...     return 1.0, max(0.0, s.target - s.margin) / s.zz
    >>> model = CustomClassifier(pa)
    >>> model.learn_one({"cheap": 1, "pills": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"pills": 1})
    'spam'

    The same, with the step bounded by a parameter C, compiled by numba:

    >>> import numba
    >>> pointer = numba.types.CPointer(numba.types.float64)
    >>> @numba.cfunc(numba.types.void(pointer, pointer, pointer))
    ... def pa1(rule_input, parameters, step):
    ...     margin, target, zz = rule_input[0], rule_input[1], rule_input[2]
    ...     step[0] = 1.0
    ...     step[1] = min(parameters[0], max(0.0, target - margin) / zz) if zz > 0 else 0.0
    >>> model = CustomClassifier(pa1, parameters=(0.1,))
    """

    rule: Any = anything(
        default=None,
        allowed="None, a function or a LowLevelCallable",
        accepts=lambda v: v is None or callable(v) or hasattr(v, "signature"),
        doc="Your rule; None: the Perceptron's.",
    )
    loop: Literal["affine", "confidence"] = choice(
        default="affine",
        options=("affine", "confidence"),
        doc="The family whose loop calls the rule.",
    )
    parameters: Any = anything(
        default=None,
        allowed="None or a tuple of numbers",
        accepts=lambda v: (
            v is None
            or (isinstance(v, (tuple, list)) and all(isinstance(x, (int, float)) for x in v))
        ),
        doc="Numbers handed to a compiled rule with every row.",
    )
    _: dataclasses.KW_ONLY
    covariance: Covariance = covariance(
        "diagonal", "projected", "full", "factored", only="In the confidence family"
    )
    rank: int = rank()
    average: bool = averaging()

    family = "custom"

    def _kind(self) -> _core.Learner:
        return _core.Learner.affine if self.loop == "affine" else _core.Learner[self.covariance]

    def _loop_parameters(self) -> list[float]:
        return [] if self.loop == "affine" else covariance_parameters(self.covariance, self.rank)

    def _rule(self) -> _core.Rule:
        if self.rule is None:
            return rules.perceptron
        names = [f"parameters[{i}]" for i in range(len(self.parameters or ()))]
        if hasattr(self.rule, "address"):  # numba.cfunc
            _check_arguments(self.rule)
            return _core.Rule.from_address(int(self.rule.address), names, self.rule)
        if hasattr(self.rule, "signature"):  # scipy.LowLevelCallable
            return _core.Rule.from_address(_address(self.rule), names, self.rule)
        return _core.Rule.from_callable(self.rule)

    def _rule_parameters(self) -> list[float]:
        return [0.0] if self.rule is None else [float(value) for value in self.parameters or ()]


def _check_arguments(cfunc: Any) -> None:
    function = getattr(cfunc, "ctypes", None)
    found = [kind.__name__ for kind in getattr(function, "argtypes", None) or ()]
    if function is not None and (found != ["LP_c_double"] * 3 or function.restype is not None):
        raise _other_signature(cfunc)


def _other_signature(given: object) -> ParameterError:
    return ParameterError(f"The 'rule' must have the signature {SIGNATURE!r}. Got {given} instead.")


def _address(callable_: Any) -> int:
    given = callable_.signature.replace("const ", "")
    if given != SIGNATURE:
        raise _other_signature(repr(given))
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(tuple.__getitem__(callable_, 0), callable_.signature.encode()))
