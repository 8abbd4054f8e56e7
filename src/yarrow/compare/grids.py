"""Which settings are tried: a small grid for each learner, or one from a file."""

from __future__ import annotations

import itertools
import json
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from yarrow.compare.entrant import Entrant
from yarrow.errors import ParameterError, did_you_mean
from yarrow.lazy import resource
from yarrow.parameters import parameters
from yarrow.saving.registry import kind_of, means, offered, short_name

if TYPE_CHECKING:
    from yarrow.base.linear import LinearModel

#: of each learner
GRIDS: dict[str, dict[str, list[Any]]] = tomllib.loads(resource("yarrow.compare", "grids.toml"))


def comparable() -> list[Any]:
    """The classes that learn rows with labels, which alone can be compared."""
    kinds = ("model", "bandit", "experts", "feedback", "kernel")
    found = [cls for kind in kinds for cls in offered(kind).values()]
    return [cls for cls in found if getattr(cls, "learns_labels", True)]


def default_grid(cls: type) -> dict[str, list[Any]]:
    """The values that are tried of a learner's parameters.

    One that has no grid of its own is tried with tenfold steps around the default of its first
    number.

    >>> from yarrow import AROWClassifier
    >>> default_grid(AROWClassifier)
    {'r': [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}
    """
    if cls.__name__ in GRIDS:
        return GRIDS[cls.__name__]
    for name, parameter in parameters(cls).items():
        value = getattr(cls(), name)
        if parameter.kind is float and isinstance(value, float) and 0 < value < math.inf:
            steps = [value / 10, value, value * 10]
            return {name: [step for step in steps if parameter.accepts(step)]}
    return {}


def read_grid(path: str) -> dict[str, Any]:
    """A grid from a JSON or TOML file: for each learner the values of its parameters, or a list.

    `{"arow": {"r": [0.1, 1, 10]}}` means all combinations, `{"arow": [{"r": 1}]}` these settings.
    """
    try:
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        raise ParameterError(
            f"{path}: there is no such file with a grid; 'learners' says which learners to compare."
        ) from None
    try:
        found = tomllib.loads(text.decode()) if path.endswith(".toml") else json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ParameterError(f"{path}, {place}: is not JSON: {error.msg}.") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: is not JSON or TOML: {error}.") from None
    if not isinstance(found, dict):
        raise ParameterError(f"{path}: must hold an object with a grid for each learner.")
    return found


def settings(grid: Any, learner: str) -> list[dict[str, Any]]:
    """All settings of a grid, the first parameter varying slowest."""
    if isinstance(grid, list) and all(isinstance(item, dict) for item in grid):
        return list(grid)
    if not isinstance(grid, Mapping):
        raise ParameterError(
            f"The grid of {learner} must be values for each parameter, or a list of settings."
        )
    values = [v if isinstance(v, (list, tuple)) else [v] for v in grid.values()]
    return [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*values)]


def entrant(cls: type[LinearModel], setting: Mapping[str, Any]) -> Entrant:
    """A learner with a setting, named by what the grid has chosen."""
    known = parameters(cls)
    for name in setting:
        if name not in known:
            raise ParameterError(f"{cls.__name__} has no parameter {name!r}.")
    numbers: dict[str, Any] = {
        name: float(value) if known[name].kind is float and type(value) is int else value
        for name, value in setting.items()
    }
    shown = ", ".join(f"{name}={value!r}" for name, value in numbers.items())
    return Entrant(f"{cls.__name__}({shown})", cls(**numbers))


def chosen_learners(wanted: str, regression: bool) -> tuple[list[type[LinearModel]], list[str]]:
    """The learners of some names or families, and those left out because they would be slow.

    `wanted` is `all`, or names and families with commas between.
    """
    fitting = [cls for cls in comparable() if cls.regression is regression]
    found: dict[str, type[LinearModel]] = {}
    slow: list[str] = []
    for word in filter(None, (part.strip().lower() for part in wanted.split(","))):
        # What is made of learners, or keeps rows, is compared when it is named.
        everyone = [cls for cls in fitting if kind_of(cls) == "model"] if word == "all" else []
        group = everyone or [cls for cls in fitting if word == cls.family]
        slow += [short_name(cls.__name__) for cls in group if cls.grows_with_rows]
        named = [cls for cls in fitting if means(word, cls.__name__)]
        if not group and not named:
            raise ParameterError(_unknown(word, fitting, regression))
        found |= {cls.__name__: cls for cls in group if not cls.grows_with_rows}
        found |= {cls.__name__: cls for cls in named}
    if not found:
        raise ParameterError("Name at least one learner, or 'all'.")
    kept = {short_name(cls.__name__) for cls in found.values()}
    return list(found.values()), sorted(set(slow) - kept)


def _unknown(word: str, fitting: Sequence[type[LinearModel]], regression: bool) -> str:
    others = [cls for cls in comparable() if means(word, cls.__name__)]
    if others:
        task = "a regression" if regression else "classes"
        return f"{others[0].__name__} is not for {task}, and the labels ask for that."
    families = sorted({cls.family for cls in fitting})
    names = sorted(short_name(cls.__name__) for cls in fitting)
    return (
        f"There is no learner or family {word!r}{did_you_mean(word, [*names, *families])}; there "
        f"are the families {', '.join(families)} and the learners {', '.join(names)}."
    )


def entrants_of(
    wanted: str,
    grid: str | os.PathLike[str] | Mapping[str, Any] = "default",
    *,
    regression: bool = False,
) -> tuple[list[Entrant], list[str]]:
    """All settings of all learners wanted, and the learners left out because they would be slow."""
    classes, slow = chosen_learners(wanted, regression)
    if grid == "default":
        given: Mapping[str, Any] = {}
    else:
        given = grid if isinstance(grid, Mapping) else read_grid(os.fspath(grid))
    by_name = {_class_name(name): value for name, value in given.items()}
    made: list[Entrant] = []
    for cls in classes:
        if grid != "default" and cls.__name__ not in by_name:
            continue
        values = by_name.get(cls.__name__, default_grid(cls))
        made += [entrant(cls, s) for s in settings(values, cls.__name__)]
    if not made:
        raise ParameterError("The grid has no settings for the chosen learners.")
    return list({entrant.name: entrant for entrant in made}.values()), slow


def _class_name(name: str) -> str:
    for cls in comparable():
        if means(name, cls.__name__):
            return str(cls.__name__)
    raise ParameterError(f"The grid names {name!r}, which is not a learner.")
