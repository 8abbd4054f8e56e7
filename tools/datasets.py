"""Writes docs/datasets.md: all named sets in one table, and what each of them declares.

python tools/datasets.py            writes the file
python tools/datasets.py --check    says whether the file is up to date
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from yarrow.datasets.catalogue import SETS, option_lines
from yarrow.datasets.source import Source, TextSource
from yarrow.parameters import Parameter

TARGET = Path(__file__).parent.parent / "docs" / "datasets.md"
HEAD = """# Data sets

Written by `make docs` from the declarations in `src/yarrow/datasets`; a test compares.

```python
from yarrow.datasets import load, with_noise

data = load("20newsgroups", part="train")  # rows in a stated order: data.order
data.X, data.y, data.feature_names, data.test  # CSR float32, labels, names of columns, test part
load("mnist classes=3,5 noise=0.1 seed=1")  # options may stand behind the name
```

The order of rows matters in online learning. Sets that are streams come as they are; the others
are shuffled with a seed (`seed=0`), because their files are sorted by class or nobody knows how.
Nothing is scaled: texts are 0/1 words unless the set says otherwise, columns of numbers are as
published. Columns of a text set are the words of all its rows, the test part's included.

Label noise follows Crammer, Kulesza and Dredze: each label is replaced with that chance, of two
classes by the other one, of many by any other one. `data.clean` then has the true labels.

Files are read from the folder in the environment variable `YARROW_DATA`, in the places listed
below, and must have the sha256 listed. What is absent is fetched where "fetched" says so
(`pip install 'yarrow-learn[data]'`). Counted words are kept in the user's cache folder
(`YARROW_CACHE` names another), so that a set of texts is counted once.

`four_phases(data, classes)`, `drifting(first, second)` and `with_noise(data, share)` make new
streams of any set. Three sets are not rows with labels and have functions of their own:
`load_ratings()` (MovieLens 100K), `load_documents()` (Associated Press: documents by words) and
`load_activity()` (a log of windows).
"""


def table() -> str:
    """A line a set."""
    lines = ["| name | rows | features | classes | order |", "| --- | ---: | ---: | ---: | --- |"]
    for source in SETS.values():
        rows, features, classes = source.size
        anchor = source.name.replace("/", "").replace(".", "")
        lines.append(
            f"| [{source.name}](#{anchor}) | {rows:,} | {features:,} | {classes or 'numbers'} | "
            f"{source.order} |"
        )
    return "\n".join(lines)


def options(source: type[Source], known: tuple[tuple[str, str, Parameter], ...] = ()) -> str:
    """The options of a set, without those that are `known`."""
    told = {(option, default) for option, default, _ in known}
    return "\n".join(
        f"- `{option}={default}`: {parameter.doc} ({parameter.allowed})"
        for option, default, parameter in option_lines(source)
        if (option, default) not in told
    )


def section(source: type[Source]) -> str:
    """What a set declares: what it is, where it comes from, its options, its files."""
    parts = [f"## {source.name}", inspect.cleandoc(source.__doc__ or "")]
    parts.append(f"Source: {source.origin}.")
    if issubclass(source, TextSource):
        title, told = "Options beside those of all texts:", option_lines(TextSource)
    else:
        title, told = "Options:", option_lines(Source)
    if own := options(source, tuple(told)):
        parts += [title, own]
    files = [
        f"- `{file.path}` `{file.sha256}`" + (f", else fetched from {file.url}" if file.url else "")
        for file in source.files
    ]
    if source.has_fetcher:
        files.append("- else fetched by scikit-learn")
    return "\n\n".join([*parts, *(["Files:", "\n".join(files)] if files else [])])


def page() -> str:
    """The whole file."""
    texts = options(TextSource, tuple(option_lines(Source)))
    parts = ["Options of all sets:", options(Source), "and of all sets of texts:", texts, table()]
    return "\n\n".join([HEAD.strip(), *parts, *map(section, SETS.values())]) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != page():
            sys.exit(f"{TARGET} is not up to date: run make docs")
    else:
        TARGET.write_text(page(), encoding="utf-8")
