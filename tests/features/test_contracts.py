"""Every feature component keeps the contracts of scikit-learn and of river."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest
from river.checks import yield_checks
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from yarrow import features

COMPONENTS = [getattr(features, name) for name in features.__all__]
ON_ARRAYS = [
    component for component in COMPONENTS if component().__sklearn_tags__().input_tags.two_d_array
]


def sklearn_checks():
    for component in ON_ARRAYS:
        with warnings.catch_warnings(action="ignore"):  # of not inheriting from BaseEstimator
            checks = list(estimator_checks_generator(component()))
        for estimator, check in checks:
            yield pytest.param(estimator, check, id=f"{component.__name__}-{check.func.__name__}")


def river_checks():
    for component in COMPONENTS:
        for check in yield_checks(component()):
            yield pytest.param(component, check, id=f"{component.__name__}-{check.__name__}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(sklearn_checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("component", "check"), list(river_checks()))
def test_river_checks(component, check):
    check(component())


def test_components_on_arrays_are_found():
    assert len(ON_ARRAYS) == 5


@pytest.mark.parametrize("component", COMPONENTS)
def test_clones_and_prints_as_scikit_learn_expects(component):
    assert clone(component()).get_params() == component().get_params()
    assert repr(component()) == f"{component.__name__}()"
    assert "Use it" in component.__doc__


def test_importing_features_imports_neither_library():
    program = (
        "import sys, yarrow.features\n"
        "print({'sklearn', 'river', 'scipy', 'pandas', 'pyarrow'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"
