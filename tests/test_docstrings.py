"""Docstrings of estimators are made of what they declare, in numpydoc's form."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import re
import subprocess
import sys
from importlib import import_module

import pytest

from yarrow import AROWClassifier
from yarrow.docstrings import written
from yarrow.estimator import Estimator
from yarrow.parameters import parameters

PACKAGES = ("linear_model", "kernel", "experts", "bandit", "feedback", "composite", "decomposition",
            "feature_selection")  # fmt: skip
SECTIONS = ["Parameters", "Attributes", "See Also", "References", "Examples"]


def public() -> list[type]:
    found = []
    for package in PACKAGES:
        module = import_module(f"yarrow.{package}")
        found += [getattr(module, name) for name in module.__all__]
    return [cls for cls in found if isinstance(cls, type) and issubclass(cls, Estimator)]


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring as numpydoc finds them: a title, and as many dashes."""
    parts = re.split(r"^(\w[\w ]*)\n(-{3,})\n", text, flags=re.MULTILINE)
    titles, rules, bodies = parts[1::3], parts[2::3], parts[3::3]
    assert [len(title) for title in titles] == [len(rule) for rule in rules]
    assert len({*titles}) == len(titles)
    return dict(zip(titles, bodies, strict=True))


def entries(body: str) -> dict[str, tuple[str, str]]:
    """Name, type and description of each entry."""
    found = re.findall(r"^(\w+)(?: : (.*))?\n((?:    .*\n?)+)", body, flags=re.MULTILINE)
    assert "\n".join(line for line in body.splitlines() if line[:1].strip()).count("\n") + 1 == len(
        found
    )
    assert len({name for name, *_ in found}) == len(found)
    return {name: (kind, " ".join(text.split())) for name, kind, text in found}


@pytest.mark.parametrize("cls", public(), ids=lambda cls: cls.__name__)
def test_a_docstring_has_all_sections_in_order(cls):
    found = sections(inspect.getdoc(cls))
    assert list(found) == [name for name in SECTIONS if name in found]
    assert {"Parameters", "Attributes", "Examples"} <= {*found}
    told = entries(found["Parameters"])
    assert list(told) == list(parameters(cls))
    for name, parameter in parameters(cls).items():
        kind, text = told[name]
        default = inspect.signature(cls).parameters[name].default
        assert kind.endswith(f", default={default!r}")
        assert text.startswith(" ".join(parameter.doc.split()))
    for name, (_, text) in entries(found["Attributes"]).items():
        assert name.endswith("_")
        assert text.endswith("."), name
        assert hasattr(cls, name) or name in cls.plain_attributes
    if re.search(r"\(.*\d{4}\)", inspect.getdoc(cls).splitlines()[0]):
        assert re.match(r"\.\. \[1\] [A-Z]", found["References"]), "add it to references.txt"


@pytest.mark.parametrize("cls", public(), ids=lambda cls: cls.__name__)
def test_numpydoc_reads_it(cls):
    numpydoc = pytest.importorskip("sklearn.externals._numpydoc.docscrape")
    found = numpydoc.NumpyDocString(inspect.getdoc(cls))
    assert [name for name, *_ in found["Parameters"]] == list(parameters(cls))
    assert found["Examples"]


@pytest.mark.parametrize("cls", public(), ids=lambda cls: cls.__name__)
def test_what_an_estimator_shows_runs(cls):
    module = vars(import_module(cls.__module__))
    test = doctest.DocTestParser().get_doctest(cls.__doc__, dict(module), cls.__name__, None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_what_is_written_stays_as_it_is():
    assert AROWClassifier.__doc__.startswith(written(AROWClassifier))
    assert AROWClassifier().__doc__ == AROWClassifier.__doc__
    assert "covariance_ : ndarray" in AROWClassifier.__doc__
    assert "CWClassifier\n    Confidence-weighted learning.\n" in AROWClassifier.__doc__
    assert "r : float, default=1.0" in pydoc.render_doc(AROWClassifier)


def test_docstrings_are_made_when_they_are_asked_for():
    code = (
        "import sys; from yarrow import AROWClassifier; print('yarrow.docstrings' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
