"""Does it earn its place? Which rows, which learners, which settings: written before the first run.

Every real set of classes in `yarrow.datasets`, in its stated order (but for the tables of KEEL,
which have a page of their own). All settings of all learners are tried on the first rows only,
since river takes a millisecond a row where there are many classes; then each library's best setting
goes over the whole stream.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from reproduction.protocols.settings import in_words
from reproduction.spec import Data, Learner, Study
from yarrow import linear_model
from yarrow.compare.grids import GRIDS

TWO_CLASSES, MANY_CLASSES = 5_000, 1_000  # the most rows on which all settings are tried


@dataclasses.dataclass(frozen=True)
class Set:
    """A set and its place in the split. Sets of one source share rows, so they stay together."""

    name: str
    kind: str
    chooses: bool
    """In the half on which defaults are chosen; the other half confirms."""
    source: str = ""
    many: bool = False
    rows: int | None = None
    """Settings are tried on so many rows, drawn at random and in order, not on the first ones."""

    @property
    def tried(self) -> Data:
        """The rows on which settings are tried; long sets are cut after the first."""
        return Data(self.name, self.name, rows=self.rows)

    @property
    def whole(self) -> Data:
        """All of its rows."""
        return Data(self.name, self.name)


# Three kinds, split once, before the first run: each kind in both halves, sources kept together.
SETS = (
    Set("20newsgroups", "text", True, "20newsgroups", many=True),
    Set("20newsgroups/ob-2-1", "text", True, "20newsgroups"),
    Set("20newsgroups/sb-2-1", "text", True, "20newsgroups"),
    Set("20newsgroups/ob-8-1", "text", True, "20newsgroups", many=True),
    Set("20newsgroups/sb-8-1", "text", True, "20newsgroups", many=True),
    Set("20newsgroups/phases", "drift", True, "20newsgroups"),
    Set("reuters21578", "text", False, many=True),
    Set("amazon-sentiment", "text", True, "amazon"),
    Set("amazon-sentiment/vectors", "text", True, "amazon"),
    Set("movie-reviews", "text", False, "movies"),
    Set("movie-reviews/sentences", "text", False, "movies"),
    Set("enron-spam", "text", False),
    Set("sms-spam", "text", True),
    Set("rcv1-vw-small", "text", False),
    Set("w1a", "text", True),
    Set("spam-corpus-drift", "drift", False),
    Set("usenet1", "drift", True, "usenet"),
    Set("usenet2", "drift", True, "usenet"),
    Set("electricity", "drift", True),
    Set("kddcup99", "drift", False, "kdd", many=True, rows=MANY_CLASSES),
    Set("nsl-kdd", "dense", False, "kdd", many=True),
    Set("usps", "dense", False, "usps", many=True),
    Set("usps/phases", "drift", False, "usps"),
    Set("mnist", "dense", True, many=True),
    Set("a9a", "dense", False),
    Set("mushrooms", "dense", True),
    Set("splice", "dense", False),
    Set("german.numer", "dense", True, "german"),
    Set("german.numer_scale", "dense", True, "german"),
    Set("svmguide1", "dense", False),
    Set("diabetes", "dense", True),
    Set("fourclass", "dense", False),
    Set("heart", "dense", True),
    Set("ionosphere", "dense", False),
    Set("sonar", "dense", True),
    Set("breast-cancer", "dense", False),
)
BY_NAME = {one.name: one for one in SETS}


def source_of(name: str) -> str:
    """What a set shares its rows with; itself if nothing."""
    return BY_NAME[name].source or name


#: left out, since a row costs more the more rows there were; and what has evidence of its own
_LEFT_OUT = ("L1ConstrainedPAClassifier", "VotedPerceptron", "YarrowClassifier")
TEAM = (
    "AROWClassifier",
    "ForgettingAROWClassifier",
    "SCWClassifier",
    "AdaGradClassifier",
    "PassiveAggressiveClassifier",
)
"""Five of Yarrow's learners, named before the first run, with about as many settings as a peer."""


def _ours(names: tuple[str, ...]) -> tuple[Learner, ...]:
    """Learners with the grids of `yarrow compare`."""
    return tuple(
        Learner(name, name, grid={key: tuple(values) for key, values in GRIDS[name].items()})
        for name in names
    )


_COMPARED = sorted((set(GRIDS) & set(dir(linear_model))).difference(_LEFT_OUT))
ALL_OURS = _ours(tuple(name for name in _COMPARED if not name.endswith("Regressor")))
TEAM_LEARNERS = _ours(TEAM)

_LOSSES = ("hinge", "log_loss", "modified_huber")
SCIKIT = (
    Learner(
        "scikit-learn: constant rate",
        "scikit_sgd",
        {"learning_rate": "constant", "alpha": 1e-6},
        {"loss": _LOSSES, "eta0": (0.001, 0.01, 0.1, 1.0)},
    ),
    Learner(
        "scikit-learn: falling rate",
        "scikit_sgd",
        {"learning_rate": "invscaling", "power_t": 0.5, "alpha": 1e-6},
        {"loss": _LOSSES, "eta0": (0.01, 0.1, 1.0, 10.0)},
    ),
    Learner(
        "scikit-learn: optimal rate",
        "scikit_sgd",
        {"learning_rate": "optimal"},
        {"loss": _LOSSES, "alpha": (1e-5, 1e-4, 1e-3)},
    ),
    Learner(
        "scikit-learn: Passive-Aggressive",
        "scikit_sgd",
        {"penalty": None, "loss": "hinge"},
        {"learning_rate": ("pa1", "pa2"), "eta0": (0.01, 0.1, 1.0)},
    ),
)
RIVER = (
    Learner(
        "river: logistic, SGD",
        "river_logistic",
        {"optimizer": "SGD"},
        {"loss": ("Log", "Hinge"), "rate": (0.01, 0.1, 1.0)},
    ),
    Learner(
        "river: logistic, AdaGrad",
        "river_logistic",
        {"optimizer": "AdaGrad"},
        {"loss": ("Log", "Hinge"), "rate": (0.01, 0.1, 1.0)},
    ),
    Learner(
        "river: logistic, FTRL",
        "river_logistic",
        {"optimizer": "FTRLProximal"},
        {"rate": (0.05, 0.5, 5.0)},
    ),
    Learner(
        "river: logistic behind StandardScaler",
        "river_logistic",
        {"scaled": True},
        {"optimizer": ("SGD", "AdaGrad"), "rate": (0.01, 0.1)},
    ),
    Learner(
        "river: PA",
        "river_linear",
        {"model": "PAClassifier"},
        {"mode": (1, 2), "C": (0.001, 0.01, 0.1, 1.0)},
    ),
    Learner("river: ALMA", "river_linear", {"model": "ALMAClassifier"}, {"alpha": (0.5, 0.7, 0.9)}),
    Learner("river: Perceptron", "river_linear", {"model": "Perceptron"}),
    Learner("river: softmax", "river_softmax", {"optimizer": "SGD"}, {"rate": (0.01, 0.1, 1.0)}),
)
VOWPAL = (
    Learner(
        "Vowpal Wabbit: gradient steps",
        "vowpal_wabbit",
        grid={
            "arguments": ("", "--adaptive --invariant", "--sgd"),
            "loss_function": ("logistic", "hinge"),
            "power_t": (0.5, 0),
            "learning_rate": (0.02, 0.1, 0.5, 3),
        },
    ),
    Learner(
        "Vowpal Wabbit: squared loss",
        "vowpal_wabbit",
        grid={"loss_function": ("squared",), "learning_rate": (0.02, 0.1, 0.5, 3)},
    ),
    Learner(
        "Vowpal Wabbit: coin",
        "vowpal_wabbit",
        {"arguments": "--coin"},
        {"loss_function": ("logistic", "hinge")},
    ),
    Learner(
        "Vowpal Wabbit: FTRL",
        "vowpal_wabbit",
        {"arguments": "--ftrl", "loss_function": "logistic"},
        {"ftrl_alpha": (0.05, 0.5)},
    ),
)
LIBRARIES = ("Vowpal Wabbit", "scikit-learn", "river")


Cut = tuple[int, int] | None
"""How many rows of a set of two classes, how many of one of many classes; None: all rows."""


def studies(
    sets: tuple[Set, ...],
    learners: tuple[Learner, ...],
    cut: Cut,
    noise: tuple[float, ...] = (0.0,),
    **options: Any,
) -> tuple[Study, ...]:
    """One study for the sets of two classes, one for those of many: they are cut differently."""
    if cut is None:
        return (Study("settings", tuple(one.whole for one in sets), learners, options),)
    made = []
    for many in (False, True):
        data = tuple(one.tried for one in sets if one.many is many)
        if data:
            made.append(Study("settings", data, learners, {**options, "first": cut[many]}, noise))
    return tuple(made)


RIVALS = (*ALL_OURS, *VOWPAL, *SCIKIT, *RIVER)


def rivals(sets: tuple[Set, ...], cut: Cut, ours: tuple[Learner, ...] = ALL_OURS) -> Any:
    """All settings of all libraries on the same rows."""
    return studies(sets, (*ours, *VOWPAL, *SCIKIT, *RIVER), cut)


NO_SETTINGS = Learner("YarrowClassifier", "YarrowClassifier")


def without_settings(sets: tuple[Set, ...]) -> tuple[Study, ...]:
    """The learner that has nothing to be chosen, over whole streams."""
    return studies(sets, (NO_SETTINGS,), None, chosen=True)


def chosen(one: Set, settings: set[tuple[str, str]]) -> Study:
    """Learners with the settings (label and words) that were best on the first rows of a set."""
    learners = tuple(
        dataclasses.replace(learner, grid={name: (value,) for name, value in setting.items()})
        for learner in RIVALS
        for setting in learner.settings()
        if (learner.label, in_words(setting)) in settings
    )
    return Study("settings", (one.whole,), learners, {"chosen": True})


#: longer sets, of all kinds: those a prototype had been tried on, and two that are lost at length
WHOLE = tuple(
    BY_NAME[name]
    for name in (
        "20newsgroups",
        "reuters21578",
        "amazon-sentiment",
        "enron-spam",
        "sms-spam",
        "spam-corpus-drift",
        "electricity",
        "a9a",
        "usps",
        "mnist",
        "nsl-kdd",
    )
)
WHOLE_VOWPAL = Learner(
    "Vowpal Wabbit: gradient steps",
    "vowpal_wabbit",
    grid={
        "arguments": ("", "--adaptive --invariant", "--sgd"),
        "loss_function": ("logistic", "hinge"),
        "learning_rate": (0.02, 0.1, 0.3, 1, 3, 10),
    },
)


def whole(sets: tuple[Set, ...] = WHOLE) -> tuple[Study, ...]:
    """All settings over whole streams, for the two that are fast enough."""
    return studies(sets, (*TEAM_LEARNERS, WHOLE_VOWPAL), None, whole=True)


# Defaults: each factor alone, every other parameter at its default, the default first.
_AROW, _PA = "AROWClassifier", "PassiveAggressiveClassifier"
FACTORS = (
    Learner("AROW: r", _AROW, grid={"r": (1.0, 0.01, 0.1, 10.0)}),
    Learner("AROW: covariance", _AROW, grid={"covariance": ("diagonal", "projected")}),
    Learner("SCW: covariance", "SCWClassifier", grid={"covariance": ("diagonal", "projected")}),
    Learner(
        "AROW: intercept_scaling", _AROW, grid={"intercept_scaling": (1.0, 0.1, 0.3, 3.0, 10.0)}
    ),
    Learner("PA: intercept_scaling", _PA, grid={"intercept_scaling": (1.0, 0.1, 0.3, 3.0, 10.0)}),
    Learner("PA: C", _PA, grid={"C": (1.0, 0.001, 0.01, 0.1)}),
    Learner("PA: variant", _PA, grid={"variant": ("pa1", "pa2")}),
)
STRATEGIES = (
    Learner("AROW: multiclass", _AROW, grid={"multiclass": ("ovr", "top1")}),
    Learner("PA: multiclass", _PA, grid={"multiclass": ("ovr", "top1")}),
    Learner("SCW: multiclass", "SCWClassifier", grid={"multiclass": ("ovr", "top1")}),
    Learner("AdaGrad: multiclass", "AdaGradClassifier", grid={"multiclass": ("ovr", "top1")}),
)
UNIT = (
    Learner("AROW: unit rows", _AROW, grid={"r": (1.0, 0.01, 0.1)}),
    Learner("PA: unit rows", _PA, grid={"C": (1.0,)}),
)


def defaults(sets: tuple[Set, ...], cut: Cut) -> tuple[Study, ...]:
    """One factor at a time."""
    many = tuple(one for one in sets if one.many)
    return (
        *studies(sets, FACTORS, cut),
        *studies(many, STRATEGIES, cut),
        *studies(sets, UNIT, cut, unit=True),
    )


CUT = (TWO_CLASSES, MANY_CLASSES)
FULL = (*rivals(SETS, CUT), *without_settings(SETS), *defaults(SETS, None), *whole())
