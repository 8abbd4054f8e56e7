"""All sets by name."""

from __future__ import annotations

from typing import Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.digits import MNIST, USPS
from yarrow.datasets.gaussian import Gaussian
from yarrow.datasets.intrusion import NSLKDD, KDDCup99
from yarrow.datasets.news import SUBSETS, Newsgroups, Reuters
from yarrow.datasets.raw import MovieLens
from yarrow.datasets.reviews import AmazonReviews, AmazonVectors, MovieReviews, MovieSentences
from yarrow.datasets.source import Source, option_text, option_value, options_of
from yarrow.datasets.spam import DriftingSpam, EnronSpam, SmsSpam
from yarrow.datasets.streams import Electricity, Usenet1, Usenet2
from yarrow.datasets.svmlight import CLASSICS
from yarrow.errors import ParameterError

SETS: dict[str, type[Source]] = {
    source.name: source
    for source in (
        Newsgroups,
        *SUBSETS,
        Reuters,
        AmazonReviews,
        AmazonVectors,
        MovieReviews,
        MovieSentences,
        EnronSpam,
        SmsSpam,
        DriftingSpam,
        Usenet1,
        Usenet2,
        Electricity,
        KDDCup99,
        NSLKDD,
        USPS,
        MNIST,
        *CLASSICS,
        MovieLens,
        Gaussian,
    )
}


def names() -> list[str]:
    """Return the names of all sets, whether they are on this machine or not."""
    return list(SETS)


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
    word, *given = name.split()
    if word not in SETS:
        raise ParameterError(f"There is no set named {word!r}; there are {', '.join(SETS)}.")
    source = SETS[word]
    known = options_of(source)
    for text in given:
        option, _, value = text.partition("=")
        if option in known:
            options[option] = option_value(option, known[option], value)
        else:
            options[option] = value
    for option in options:
        if option not in known:
            raise ParameterError(
                f"{word} has no option {option!r}; it has {', '.join(map(repr, known))}."
            )
    return source(**options)


def is_name(text: str) -> bool:
    """Whether `text` is the name of a set, perhaps with options behind it."""
    return bool(text.split()) and text.split()[0] in SETS


def describe(name: str) -> str:
    """Return a paragraph about a set: its size, its order, its source, its options."""
    import dataclasses
    import inspect

    source = declared(name)
    rows, features, classes = source.size
    defaults = {field.name: field.default for field in dataclasses.fields(source)}
    options = "\n".join(
        f"  {option}={option_text(defaults[option])}: {parameter.doc} ({parameter.allowed})"
        for option, parameter in options_of(type(source)).items()
    )
    return (
        f"{source.name}: {inspect.cleandoc(type(source).__doc__ or '')}\n\n"
        f"{rows:,} rows, {features:,} features, "
        f"{f'{classes} classes' if classes else 'a regression'}. Order: {source.order}. "
        f"Source: {source.origin}.\n\nOptions:\n{options}"
    )
