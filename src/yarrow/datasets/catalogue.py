"""All sets by name."""

from __future__ import annotations

import dataclasses
import inspect
import re
import shlex
from typing import Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.digits import MNIST, USPS
from yarrow.datasets.drift import KINDS, NewsPhases, USPSPhases, drifting
from yarrow.datasets.intrusion import NSLKDD, KDDCup99
from yarrow.datasets.keel import Keel
from yarrow.datasets.news import SUBSETS, EnronSpam, Newsgroups, Reuters
from yarrow.datasets.plain import PLAIN
from yarrow.datasets.raw import MovieLens
from yarrow.datasets.reviews import AmazonFive, AmazonReviews, AmazonVectors
from yarrow.datasets.source import Source, option_text, option_value, options, options_of
from yarrow.datasets.synthetic import Gaussian, Text
from yarrow.errors import ParameterError, did_you_mean
from yarrow.parameters import Parameter, check_parameters, choice, integer, number, text


@options
class Drifting(Source, named="synthetic/drift"):
    of: str = text(default="synthetic/gaussian", doc="The set that drifts, with its options.")
    kind: str = choice(
        default="abrupt",
        options=KINDS,
        doc="abrupt: in the middle; gradual: over a share `width` of the rows round the middle; "
        "recurring: there and back, `periods` stretches.",
    )
    width: float = number(
        default=0.2, doc="Width of a gradual drift, as a share of the stream.", above=0, at_most=1
    )
    periods: int = integer(default=4, doc="Stretches of a recurring drift.", at_least=2)

    def is_here(self) -> bool:
        """Whether the other set is."""
        return declared(self.of).is_here()

    def _read(self) -> Dataset:
        return drifting(
            load(self.of), kind=self.kind, width=self.width, periods=self.periods, seed=self.seed
        )


_DECLARED: tuple[type[Source], ...] = (
    Newsgroups, *SUBSETS, NewsPhases, Reuters, AmazonReviews, AmazonFive, AmazonVectors,
    PLAIN["movie-reviews"], PLAIN["movie-reviews/sentences"],
    EnronSpam, PLAIN["sms-spam"], PLAIN["spam-corpus-drift"],
    PLAIN["usenet1"], PLAIN["usenet2"], PLAIN["electricity"], KDDCup99, NSLKDD,
    USPS, USPSPhases, MNIST, *PLAIN.values(), Keel, MovieLens, Gaussian, Text, Drifting,
)  # fmt: skip
SETS = {source.name: source for source in _DECLARED}


def names() -> list[str]:
    """Return the names of all sets, whether they are on this machine or not."""
    return list(SETS)


def is_name(text: str) -> bool:
    """Whether `text` is the name of a set, perhaps with options behind it."""
    return bool(text.split()) and text.split()[0] in SETS


def load(name: str, **options: Any) -> Dataset:
    """Return the set `name`, in its stated order; `describe(name)` tells its options.

    Options may also stand behind the name, so that one text says all: "mnist classes=3,5".

    >>> load("synthetic/gaussian rows=100").X.shape
    (100, 20)
    >>> load("synthetic/gaussian", rows=100, seed=7).name
    'synthetic/gaussian seed=7 rows=100'
    """
    return declared(name, **options).load()


def declared(name: str, **options: Any) -> Source:
    """Return the declaration of a set with its options, without loading anything."""
    word, *given = _words(name)
    if word not in SETS:
        alike = did_you_mean(word, SETS)
        raise ParameterError(f"There is no set named {word!r}{alike}; 'yarrow datasets' lists all.")
    source = SETS[word]
    known = options_of(source)
    texts = [text.partition("=") for text in given]
    for option, sign, _ in texts:
        if not sign:
            raise ParameterError(f"{option!r} after {word} is not of the form OPTION=VALUE.")
    for option in [*(option for option, _, _ in texts), *options]:
        if option not in known:
            raise ParameterError(
                f"{word} has no option {option!r}; it has {', '.join(map(repr, known))}."
            )
    said = {option: option_value(option, known[option], value) for option, _, value in texts}
    chosen = source(**{**said, **options})
    check_parameters(chosen)
    return chosen


def _words(name: str) -> list[str]:
    try:
        return shlex.split(name) or [""]
    except ValueError as error:
        raise ParameterError(f"{name!r} is not the name of a set ({error}).") from None


def option_lines(source: type[Source]) -> list[tuple[str, str, Parameter]]:
    """Each option of a set: its name, its default as text, what it may be."""
    defaults = {field.name: field.default for field in dataclasses.fields(source)}
    return [
        (option, option_text(defaults[option]), parameter)
        for option, parameter in options_of(source).items()
    ]


def describe(name: str) -> str:
    """Return what is known about a set: its size, its order, its source, its options.

    >>> print(describe("electricity"))
    electricity: Whether the price of electricity in New South Wales went up, each half-hour.
    ...
    """
    source = declared(name)
    rows, features, classes = source.size
    options = "\n".join(
        f"  {option}={default}: {parameter.doc} ({parameter.allowed})"
        for option, default, parameter in option_lines(type(source))
    )
    about = inspect.cleandoc(type(source).__doc__ or "")
    about = re.sub(r"(?<!\n)\n(?!\n)", " ", about)  # a paragraph a line
    return (
        f"{source.name}: {about}\n\n"
        f"{rows:,} rows, {features:,} features, "
        f"{f'{classes} classes' if classes else 'a regression'}.\n"
        f"Order: {source.order}.\nSource: {source.origin}.\n\nOptions:\n{options}"
    )
