"""Docstrings of estimators, made of what is declared, in numpydoc's form.

What a class says of itself stands in the class. Its parameters, attributes, relatives, papers and,
where it shows none of its own, an example are added when somebody asks for the docstring.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from yarrow.lazy import resource
from yarrow.parameters import parameters

#: packages whose names a docstring may mention
_PACKAGES = ("", ".kernel", ".experts", ".composite", ".bandit", ".feedback", ".decomposition",
             ".feature_selection", ".features")  # fmt: skip
_TYPES = {"Any": "object", "Array": "ndarray", "Floats": "ndarray", "NDArray": "ndarray"}
_WIDTH = 88


def written(cls: type) -> str:
    """What stands in the class itself."""
    own = vars(cls).get("__doc__")
    return inspect.cleandoc(getattr(own, "written", own) or "")


def docstring(cls: type) -> str:
    """The whole docstring of an estimator."""
    text = written(cls)
    begin = re.search(r"^(>>>|Examples\n-+\n)", text, re.MULTILINE)
    about = text[: begin.start()].rstrip() if begin else text
    example = re.sub(r"^Examples\n-+\n", "", text[begin.start() :]) if begin else _example(cls)
    sections = {
        "Parameters": _parameters(cls),
        "Attributes": _attributes(cls),
        "See Also": _see_also(cls, about),
        "References": _references(about),
        "Examples": [example] if example else [],
    }
    parts = [about]
    parts += [f"{name}\n{'-' * len(name)}\n" + "\n".join(s) for name, s in sections.items() if s]
    return "\n\n".join(parts) + "\n"


def _entry(name: str, kind: str, text: str) -> str:
    head = f"{name} : {kind}" if kind else name
    return f"{head}\n" + textwrap.indent(textwrap.fill(text, _WIDTH), "    ")


def _parameters(cls: Any) -> list[str]:
    found = []
    for name, parameter in parameters(cls).items():
        default = cls.__dataclass_fields__[name].default
        numeric = parameter.kind in (int, float)
        kind = parameter.kind.__name__ if parameter.kind else parameter.allowed
        if parameter.choices:
            kind = "{" + ", ".join(map(repr, parameter.choices)) + "}"
        elif numeric and default is None:
            kind += " or None"
        limits = re.search(r"[<>]=? .*", parameter.allowed) if numeric else None
        text = parameter.doc + (f" Must be {limits[0]}." if limits else "")
        found.append(_entry(name, f"{kind}, default={default!r}", text))
    return found


def _attributes(cls: type) -> list[str]:
    made = {
        name: value.fget
        for base in cls.__mro__[::-1]
        for name, value in vars(base).items()
        if isinstance(value, property) and name[0] != "_" and name[-1] == "_"
    }
    found = [_entry(name, "", text) for name, text in getattr(cls, "plain_attributes", {}).items()]
    for name, get in made.items():
        kind = re.sub(r"\[.*", "", str(get.__annotations__.get("return", "Any")))
        text = " ".join((inspect.getdoc(get) or "").partition("\n\n")[0].split())
        found.append(_entry(name, _TYPES.get(kind, kind), text))
    return found


def _see_also(cls: type, about: str) -> list[str]:
    names = [name for name in re.findall(r"`([A-Z]\w+)[`(]", about) if name != cls.__name__]
    known = {name: _named(name) for name in names}
    return [_entry(name, "", summary(other)) for name, other in known.items() if other is not None]


def summary(cls: type) -> str:
    """The first sentence about an estimator, without the paper."""
    text = re.sub(r" \([^)]*\d{4}[^)]*\)", "", " ".join(written(cls).split()))
    return re.split(r"\.(?=\s|$)", text)[0] + "."


def _named(name: str) -> type | None:
    for package in _PACKAGES:
        found = getattr(import_module(f"yarrow{package}"), name, None)
        if isinstance(found, type):
            return found
    return None


def _references(about: str) -> list[str]:
    text = re.sub(r"(\w),? \((\d{4})\)", r"\1 \2", " ".join(about.split()))
    places = ((text.find(short), full) for short, full in _papers() if short in text)
    papers = dict.fromkeys(full for _, full in sorted(places))
    return [
        textwrap.fill(f".. [{i}] {paper}", _WIDTH, subsequent_indent="   ")
        for i, paper in enumerate(papers, start=1)
    ]


def _papers() -> Iterator[tuple[str, str]]:
    """Papers as docstrings cite them, and in full."""
    for line in resource("yarrow", "references.txt").splitlines():
        short, _, full = line.partition(": ")
        yield short, full


def _example(cls: Any) -> str:
    package = cls.__module__.split(".")[1]
    home = "yarrow" if package == "linear_model" else f"yarrow.{package}"
    shown: str = getattr(cls, "example", "")
    is_public = getattr(import_module(home), cls.__name__, None) is cls  # bases are not
    if not shown or not is_public:
        return ""
    return f">>> from {home} import {cls.__name__}\n{shown.format(name=cls.__name__)}"
