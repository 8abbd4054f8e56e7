"""Writes docs/learners.md: all learners in one table, from their declarations and by measurement.

    python tools/learners.py              writes the file; figures that it has are kept
    python tools/learners.py --measure    takes all figures anew, which takes a quiet machine
    python tools/learners.py --check      says whether the file lists the learners as they declare

Family and cost are declared beside each class; the paper, when to use it, and what instead, stand
in its docstring ("Name (Authors year) ... Use it ... Instead: ..."). Everything with a figure is
measured here, with default parameters, on generated streams that anybody can make again.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import yarrow
from yarrow.base import combinations
from yarrow.datasets import Dataset, drifting_text, noisy_text

TARGET = Path(__file__).parent.parent / "docs" / "learners.md"
ROWS = 20_000
BASELINE = yarrow.PassiveAggressiveClassifier
HEADER = ["learner", "family", "paper", "a row costs", "use it", "instead"]
MEASURED = ["clean", "noise", "drift", "zeros", "time"]


def learners() -> dict[str, type]:
    """Every learner that is exported, classifiers first."""
    found = {name: getattr(yarrow, name) for name in yarrow.linear_model.__all__}
    classes = {name: cls for name, cls in found.items() if hasattr(cls, "family")}
    return dict(sorted(classes.items(), key=lambda item: (not is_classifier(item[1]), item[0])))


def table_of_settings() -> str:
    """What every learner offers, in Markdown."""
    lines = [
        "| learner | " + " | ".join(combinations.AXES) + " | except |",
        "| --- " * (len(combinations.AXES) + 2) + "|",
    ]
    for name in yarrow.linear_model.__all__:
        cls = getattr(yarrow.linear_model, name)
        if not hasattr(cls, "restrictions"):
            continue
        offered = combinations.choices(cls)
        parts = [
            ", ".join(str(value) for value in offered.get(axis, ()))
            for axis in combinations.AXES[:-1]
        ]
        parts += ["yes" if "average" in offered else ""]
        parts += ["; ".join(str(rule) for rule in cls.restrictions)]
        lines.append(f"| {name} | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def is_classifier(cls: type) -> bool:
    return hasattr(cls, "classes_") and cls.__name__ != "CustomClassifier"


def advice(cls: type) -> tuple[str, str]:
    """When to use a learner, and what instead, from its docstring."""
    text = " ".join(inspect.getdoc(cls).split())
    use = re.search(r"Use it (.*?\.)(?= Instead:| [A-Z]|$)", text)
    instead = re.search(r"Instead: (.*?\.)(?= [A-Z]| >>>|$)", text)
    return tuple(part[1].rstrip(".") if part else "" for part in (use, instead))


def paper(cls: type) -> str:
    """The authors and the year, as the docstring's first paragraph names them."""
    opening = " ".join(inspect.getdoc(cls).split("\n\n")[0].split())
    found = re.search(r"\(((?:after )?[A-Z][^()]*\d{4}[^()]*)\)", opening)
    by = re.search(r"of ((?:[A-Z]\w+(?:, | & )?)+) \((\d{4})\)", opening)
    return found[1] if found else f"{by[1]} {by[2]}" if by else ""


def declared(name: str, cls: Any) -> list[str]:
    cells = [f"`{name}`", cls.family, paper(cls), cls.row_costs, *advice(cls)]
    return [cell.replace("|", "\\|") for cell in cells]


def measure(cls: Any, streams: dict[str, Dataset]) -> list[str]:
    """Online error on each stream against the clean labels, zeros, and time beside PA-I."""
    errors = [f"{online_error(cls, stream):.1%}" for stream in streams.values()]
    # One after the other, so that both meet the machine in the same mood.
    pairs = [(learned(cls, streams["clean"]), learned(BASELINE, streams["clean"])) for _ in "12345"]
    seconds, baseline = (min(seconds for _, seconds in runs) for runs in zip(*pairs, strict=True))
    model = pairs[0][0][0]
    return [*errors, f"{model.sparsity_:.0%}", f"{seconds / baseline:.1f}"]


def learned(cls: Any, stream: Dataset) -> tuple[Any, float]:
    model = cls(classes=[-1, 1])
    clock = time.process_time()
    model.partial_fit(stream.X, stream.y)
    return model, time.process_time() - clock


def online_error(cls: Any, stream: Dataset) -> float:
    """The share of rows predicted wrongly before they were learned, in chunks of a hundred."""
    model, wrong = cls(classes=[-1, 1]), 0
    for start in range(0, len(stream), 100):
        rows = slice(start, start + 100)
        if start:
            wrong += np.sum(model.predict(stream.X[rows]) != stream.clean[rows])
        model.partial_fit(stream.X[rows], stream.y[rows])
    return wrong / (len(stream) - 100)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def known_figures(text: str) -> dict[str, list[str]]:
    """What an earlier file tells of each learner."""
    part = text.partition("## Measured")[2].partition("## What goes together")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if cells and cells[0].startswith("`")}


def document(known: dict[str, list[str]]) -> str:
    streams = {
        "clean": noisy_text(ROWS, noise=0.0),
        "noise": noisy_text(ROWS, noise=0.2),
        "drift": drifting_text(ROWS),
    }
    facts, figures = [], []
    for name, cls in learners().items():
        facts.append(declared(name, cls))
        if is_classifier(cls):
            if f"`{name}`" not in known:
                print(name, end=" ", flush=True)
                known[f"`{name}`"] = measure(cls, streams)
            figures.append([f"`{name}`", *known[f"`{name}`"]])
    print()
    return f"""# All learners

Made by `make docs` (tools/learners.py) from what each class declares; do not edit.

{table(HEADER, facts)}

## Measured
With default parameters, one pass over {ROWS:,} generated documents of two classes
(`yarrow.datasets`). *clean*, *noise* (a fifth of the labels flipped) and *drift* (other words tell
the class in each of four phases) are the shares of rows predicted wrongly before they were learned,
against the labels without noise; *zeros* is the share of weights that are zero after the clean
stream, *time* that of its learning beside `{BASELINE.__name__}`. Defaults are not tuned to these
streams: read them as a first impression, and tune before you choose.

{table(["learner", *MEASURED], figures)}

## What goes together
Losses, covariances, strategies for many classes and averaging, as each class declares them;
anything else is an error that names what is allowed.

{table_of_settings()}
"""


def missing(text: str) -> list[str]:
    """Learners whose declarations the file does not show."""
    return [n for n, cls in learners().items() if f"| {' | '.join(declared(n, cls))} |" not in text]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="do not write")
    parser.add_argument("--measure", action="store_true", help="take all figures anew")
    given = parser.parse_args()
    if given.check:
        if stale := missing(TARGET.read_text()):
            sys.exit(f"docs/learners.md does not show {', '.join(stale)} as declared: make docs")
        return
    warnings.simplefilter("error")
    measured = TARGET.exists() and not given.measure
    TARGET.write_text(document(known_figures(TARGET.read_text()) if measured else {}))


if __name__ == "__main__":
    main()
