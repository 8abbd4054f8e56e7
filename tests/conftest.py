"""Every estimator, found by itself, and its variants: a new learner is under contract at once.

A test that asks for `estimator_class`, `variant` or `few_variants` runs once for each of them:
every class, every combination of its choices, or each choice alone beside the defaults.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from contract import support
from hypothesis import HealthCheck, Phase, settings

from yarrow import linear_model
from yarrow.base.combinations import is_allowed
from yarrow.base.linear import LinearModel
from yarrow.parameters import parameters

settings.register_profile(
    "yarrow",
    deadline=None,  # machines of others are slow
    suppress_health_check=[HealthCheck.too_slow],  # so is making examples
    derandomize=True,  # a failure belongs to the change that was tested
    phases=[Phase.explicit, Phase.generate, Phase.target, Phase.shrink],
)
settings.load_profile("yarrow")

ALL_CLASSES = [
    item
    for item in (getattr(linear_model, name) for name in linear_model.__all__)
    if isinstance(item, type) and issubclass(item, LinearModel)
]
#: those whose rows have labels; contract/test_without_labels.py has the contract of the others
CLASSES = [item for item in ALL_CLASSES if getattr(item, "learns_labels", True)]
#: choices that mean the same for all estimators and have tests of their own
COMMON_CHOICES = {"dtype", "when_full"}
#: what no declared choice reaches: rules of a user's own, and what no default shows
SPECIAL: dict[str, list[dict[str, Any]]] = {
    "CustomClassifier": [
        {"rule": rule, "loop": loop, "average": average, "multiclass": multiclass}
        for rule, loop in ((support.fading, "affine"), (support.adaptive, "confidence"))
        for average in (False, True)
        for multiclass in ("ovr", "top1")
    ],
    "GroupLassoClassifier": [
        {"groups": support.GROUPS, "l21": l21, "l1": l1, "multiclass": multiclass}
        for l21, l1 in ((0.01, 0.0), (0.01, 0.01))
        for multiclass in ("ovr", "top1")
    ],
    "MultiTaskClassifier": [
        {"l21": 0.01, "l1": l1, "loss": loss, "multiclass": multiclass}
        for l1, loss in ((0.0, "hinge"), (0.01, "logistic"))
        for multiclass in ("ovr", "top1")
    ],
    "OFSClassifier": [  # a budget that is smaller than the number of features
        {"B": 3, "inputs": inputs, "multiclass": multiclass}
        for inputs in ("whole", "partial")
        for multiclass in ("ovr", "top1")
    ],
    "SOFSClassifier": [{"B": 3, "multiclass": multiclass} for multiclass in ("ovr", "top1")],
}


@dataclasses.dataclass(frozen=True)
class Variant:
    """An estimator with some of its parameters chosen; calling it makes a fresh one."""

    cls: type
    chosen: dict[str, Any]

    def __call__(self, **more: Any) -> Any:
        return self.cls(**self.chosen | more)

    @property
    def is_classifier(self) -> bool:
        return "classes" in parameters(self.cls)

    def __str__(self) -> str:
        words = (getattr(value, "__name__", str(value)) for value in self.chosen.values())
        return "-".join([self.cls.__name__, *words])


def _options(cls: type) -> dict[str, tuple[Any, ...]]:
    """The choices of an estimator, the default first."""
    options: dict[str, tuple[Any, ...]] = {}
    for name, parameter in parameters(cls).items():
        default = getattr(cls(), name)
        if parameter.choices and name not in COMMON_CHOICES:
            options[name] = (default, *(c for c in parameter.choices if c != default))
        elif name == "average":
            options[name] = (False, True)
    return options


def all_variants(cls: type) -> list[Variant]:
    """Return every combination of choices that go together."""
    if cls.__name__ in SPECIAL:
        return [Variant(cls, {})] + [Variant(cls, chosen) for chosen in SPECIAL[cls.__name__]]
    options = _options(cls)
    combined = (dict(zip(options, v, strict=True)) for v in itertools.product(*options.values()))
    return [Variant(cls, chosen) for chosen in combined if is_allowed(cls, chosen)]


def few_variants(cls: type) -> list[Variant]:
    """Return the default, and each other choice alone."""
    found = [Variant(cls, {})]
    if cls.__name__ in SPECIAL:
        return found + [Variant(cls, chosen) for chosen in SPECIAL[cls.__name__][2::2]]
    for name, values in _options(cls).items():
        found += [Variant(cls, {name: value}) for value in values[1:]]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize what a test asks for, unless it says itself with what."""
    said: set[str] = set()
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.args[0]
        said |= set(names.replace(",", " ").split() if isinstance(names, str) else names)
    wanted = set(metafunc.fixturenames) - said
    if "estimator_class" in wanted:
        metafunc.parametrize("estimator_class", CLASSES, ids=lambda cls: cls.__name__)
    for name, variants in (("variant", all_variants), ("few_variants", few_variants)):
        if name in wanted:
            found = [variant for cls in CLASSES for variant in variants(cls)]
            metafunc.parametrize(name, found, ids=str)


@pytest.fixture(scope="session")
def two_classes() -> tuple[np.ndarray, np.ndarray]:
    """Return 200 rows of 12 columns, many of them zero, of two classes that a plane separates."""
    return support.classification(200, 12, 2)


@pytest.fixture(scope="session")
def three_classes() -> tuple[np.ndarray, np.ndarray]:
    """Return 300 rows of 12 columns, many of them zero, of three classes."""
    return support.classification(300, 12, 3)
