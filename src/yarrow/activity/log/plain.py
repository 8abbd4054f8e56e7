"""Fields as plain data, which JSON keeps to the last bit, and back: by the types they declare.

Entries of the log and snapshots of the recogniser are both read by this. Numbers and texts are
checked one by one; lists and dicts of them are taken as they are, since a snapshot has a digest.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from yarrow.activity.log.validation import whole

_SIMPLE = (str, int, float, bool)


class Form(NamedTuple):
    """How a value becomes plain data, and how plain data becomes a value again."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class Stateful:
    """Something whose state is the fields that its class declares; parameters are not declared."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {
            name: one.state_dict() if form is None else form.write(one)
            for name, form in forms_of(self.__class__).items()
            for one in [getattr(self, name)]
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from plain data, with the parameters that this one has."""
        for name, form in forms_of(self.__class__).items():
            if form is None:
                getattr(self, name).load_state_dict(state[name])
            else:
                setattr(self, name, form.read(state[name]))


def forms_of(cls: Any) -> dict[str, Any]:
    """The fields of a class and how they are kept; None for what keeps a state of its own."""
    return _forms_of(cls)


@functools.cache
def _forms_of(cls: Any) -> dict[str, Any]:
    import numpy as np

    # NumPy's own NDArray is not of the same kind in all its versions: its 2.5 made an alias of it.
    kinds = get_type_hints(cls, localns={"NDArray": np.ndarray})
    return {
        name: None if hasattr(kind, "load_state_dict") else _form(kind)
        for name, kind in kinds.items()
    }


def _form(kind: Any) -> Form:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _SIMPLE or origin is Literal:
        return Form(_same, functools.partial(_checked, kind))
    if origin is types.UnionType:  # something or None
        some = _form(inner[0])
        return Form(
            lambda value: None if value is None else some.write(value),
            lambda told: None if told is None else some.read(told),
        )
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if origin is dict:
        return _dict(*inner)
    if origin is tuple and inner[-1] is not ...:
        parts = [_form(one) for one in inner]
        return Form(
            list,
            lambda told: tuple(part.read(one) for part, one in zip(parts, told, strict=True)),
        )
    if hasattr(origin, "tolist"):
        import numpy as np

        return Form(lambda values: values.tolist(), lambda told: np.array(told, float))
    if inner[0] in _SIMPLE:
        return Form(list, origin)
    item = _form(inner[0])
    return Form(
        lambda items: list(map(item.write, items)), lambda told: origin(map(item.read, told))
    )


def _record(kind: Any) -> Form:
    forms = forms_of(kind)
    return Form(
        lambda one: [form.write(getattr(one, name)) for name, form in forms.items()],
        lambda told: kind(*(f.read(one) for f, one in zip(forms.values(), told, strict=True))),
    )


def _dict(key: Any, item: Any) -> Form:
    """A dict; one whose keys JSON would turn into texts is a list of pairs."""
    if key is str and item in _SIMPLE:
        return Form(dict, dict)
    one, other = _form(key), _form(item)
    return Form(
        lambda table: [[one.write(k), other.write(v)] for k, v in table.items()],
        lambda told: {one.read(k): other.read(v) for k, v in told},
    )


def _same(value: Any) -> Any:
    return value


def _checked(kind: Any, value: Any) -> Any:
    """A number, a text or a word that is of its type; anything else is an error."""
    if get_origin(kind) is Literal:
        fits = value in get_args(kind)
    elif kind is float:
        fits = type(value) in (int, float) and math.isfinite(value)
    else:
        fits = type(value) is kind
    if not fits:
        raise TypeError(f"it cannot be {value!r}")
    return whole(value) if kind is str else value
