"""Labels that come late, out of order, never, or wrong at first."""

from __future__ import annotations

import copy
import dataclasses
import math
import numbers
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from yarrow.composite import saved_state
from yarrow.data.dict_rows import features_and_missing, read_weight
from yarrow.data.labels import plain
from yarrow.errors import DataError, ModelFileError, ParameterError, check_value
from yarrow.estimator import Shared, uninterrupted
from yarrow.io.row_reader import row_for
from yarrow.lazy import np
from yarrow.online.learners import by_dicts
from yarrow.saving import schema
from yarrow.saving.codec import Objects, Saved

#: numbers of tickets are at least this and less than twice this, which JSON and doubles hold
_LEAST = 2**52


@dataclasses.dataclass(frozen=True)
class Ticket:
    """What `predict` hands out: a number to bring back with the label.

    Numbers are drawn at random, so that one which a crash has lost, or which a copy has handed out,
    is not taken for that of another row.
    """

    number: int
    prediction: Any


@dataclasses.dataclass(frozen=True)
class _Waiting:
    x: dict[Any, float | None]
    at: float


@dataclasses.dataclass(frozen=True)
class _Learned:
    x: dict[Any, float | None]
    label: Any
    weight: float


class _Answer(schema.Schema):
    """A class, or the value of a regression."""

    def check(self, value: Any, place: str, sizes: schema.Sizes) -> None:
        if type(value) is float:
            schema.Number().check(value, place, sizes)
        else:
            schema.Label().check(value, place, sizes)


_NUMBER = schema.Whole(at_most=2 * _LEAST)
_ROW = schema.ListOf(schema.Record(schema.FeatureName(), schema.Maybe(schema.Number())))
_MEMBER = schema.MapOf(schema.Anything())


class LateLabels(Saved, Shared):
    """A learner whose labels come when they come: `predict` gives a ticket, `learn` takes it back.

    The row is kept as it was seen, so whoever brings the label needs nothing but the ticket (or its
    number). Labels may come in any order, once, or never: at most `max_tickets` rows wait, for at
    most `max_age` seconds, and the oldest are given up first. A clock that steps back makes no row
    younger.

    With `keep`, the last so many labels that were learned can be corrected or taken back. The model
    is then exactly what it would be had the right label come in the first place. The price: a
    second model that stays `keep` rows behind, so each row is learned twice; the rows themselves;
    and for each correction a copy of that model and up to `keep` rows learned again.

    Use it in a service where somebody answers later. Instead: `yarrow.evaluate.progressive(...,
    delay=...)` to find out what a delay costs, on rows that you have.

    >>> from yarrow import AROWClassifier
    >>> late = LateLabels(AROWClassifier(), keep=100)
    >>> first, second = late.predict({"cheap": 1, "pills": 1}), late.predict({"lunch": 1})
    >>> late.learn(second, "ham"), late.learn(first, "ham")
    (True, True)
    >>> late.correct(first, "spam")
    True
    >>> late.predict({"pills": 1}).prediction
    'spam'
    """

    def __init__(
        self,
        model: Any,
        *,
        max_tickets: int = 10_000,
        max_age: float | None = None,
        keep: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Learn into this very model, which has `learn_one` and `predict_one`."""
        if not by_dicts(model):
            raise ParameterError(f"{type(model).__name__} has no learn_one and predict_one.")
        for name, value, least in (("max_tickets", max_tickets, 1), ("keep", keep, 0)):
            holds = _is_integer(value) and value >= least
            check_value(holds, name, value, f"an integer >= {least}")
        is_number = isinstance(max_age, numbers.Real) and not isinstance(max_age, bool)
        holds = max_age is None or (is_number and max_age > 0)
        check_value(holds, "max_age", max_age, "None or seconds > 0")
        self.model = model
        self.max_tickets, self.keep, self.clock = int(max_tickets), int(keep), clock
        self.max_age = None if max_age is None else float(max_age)
        self.given_up = 0
        self._last_read, self._set_back = 0.0, 0.0  # of the clock
        self._waiting: dict[int, _Waiting] = {}  # the oldest first
        self._learned: dict[int, _Learned] = {}  # in the order in which labels came
        self._behind = copy.deepcopy(model) if keep else None

    # -- predicting and learning -----------------------------------------------------------------

    def predict(self, x: dict[Any, Any]) -> Ticket:
        """Predict one row, and keep it until its label comes."""
        row = features_and_missing(row_for(self.model, x))
        with self._lock:
            ticket = Ticket(self._new_number(), self.model.predict_one(row))
            self._waiting[ticket.number] = _Waiting(row, self._now())
            self._give_up_old()
        return ticket

    def learn(self, ticket: Ticket | int, label: Any, weight: float = 1.0) -> bool:
        """Learn the row of a ticket; False if it was given up meanwhile, or lost in a crash."""
        number, share = self._number(ticket), read_weight(weight)
        with self._lock, uninterrupted():
            self._give_up_old()
            if number in self._learned:
                raise DataError(f"Ticket {number} was learned: use correct or retract.")
            waiting = self._waiting.get(number)
            if waiting is None:
                return False
            row = _Learned(waiting.x, plain(label), share)
            _teach(self.model, row)
            del self._waiting[number]
            self._remember(number, row)
        return True

    def forget(self, ticket: Ticket | int) -> bool:
        """Give a row up whose label will not come; False if it was not waiting."""
        number = self._number(ticket)
        with self._lock:
            self._give_up_old()
            return self._waiting.pop(number, None) is not None

    def correct(self, ticket: Ticket | int, label: Any) -> bool:
        """Learn as if this label had come in the first place; False if it is too long ago."""
        return self._replay(ticket, lambda old: dataclasses.replace(old, label=plain(label)))

    def retract(self, ticket: Ticket | int) -> bool:
        """Learn as if no label had come; False if it is too long ago."""
        return self._replay(ticket, lambda old: None)

    @property
    def n_waiting(self) -> int:
        """Rows whose labels have not come."""
        with self._lock:
            self._give_up_old()
            return len(self._waiting)

    def _new_number(self) -> int:
        while True:
            number = _LEAST + int.from_bytes(os.urandom(8)) % _LEAST
            if number not in self._waiting and number not in self._learned:
                return number

    def _number(self, ticket: Ticket | int) -> int:
        number = ticket.number if isinstance(ticket, Ticket) else ticket
        if not _is_integer(number):
            raise ParameterError(f"A ticket or its number is needed. Got {ticket!r} instead.")
        known = number in self._waiting or number in self._learned
        if not known and not _LEAST <= number < 2 * _LEAST:
            raise DataError(f"There is no ticket {number}.")
        return int(number)

    def _now(self) -> float:
        """The time by the clock; where that steps back, time goes on from where it was."""
        read = float(self.clock())
        self._set_back += max(0.0, self._last_read - read)
        self._last_read = read
        return read + self._set_back

    def _give_up_old(self) -> None:
        oldest = -math.inf if self.max_age is None else self._now() - self.max_age
        while self._waiting:
            number, first = next(iter(self._waiting.items()))
            if len(self._waiting) <= self.max_tickets and first.at >= oldest:
                return
            del self._waiting[number]
            self.given_up += 1

    def _remember(self, number: int, row: _Learned) -> None:
        if self._behind is None:
            return
        self._learned[number] = row
        if len(self._learned) > self.keep:  # the second model follows
            first = next(iter(self._learned))
            _teach(self._behind, self._learned.pop(first))

    def _replay(self, ticket: Ticket | int, change: Callable[[_Learned], _Learned | None]) -> bool:
        number = self._number(ticket)
        if self._behind is None:
            raise ParameterError("Nothing is kept for corrections: make LateLabels with keep=...")
        with self._lock:
            if number in self._waiting:
                raise DataError(f"Ticket {number} has not been learned yet.")
            if number not in self._learned:
                return False
            changed = change(self._learned[number])
            rows = {n: changed if n == number else row for n, row in self._learned.items()}
            model = copy.deepcopy(self._behind)
            for row in rows.values():
                if row is not None:
                    _teach(model, row)
            # All went well: only now is anything replaced.
            learned = {n: row for n, row in rows.items() if row is not None}
            self.__dict__.update(_learned=learned, model=model)
        return True

    # -- files -----------------------------------------------------------------------------------

    _fields: ClassVar[Mapping[str, schema.Schema]] = {
        "limits": schema.Record(
            schema.Whole(at_least=1),
            schema.Maybe(schema.Number(at_least=schema.TINY)),
            schema.Whole(),
        ),
        "given_up": schema.Whole(),
        "waiting": schema.ListOf(schema.Record(_NUMBER, _ROW, schema.Number())),
        "learned": schema.ListOf(
            schema.Record(_NUMBER, _ROW, _Answer(), schema.Number(at_least=0))
        ),
        "model": _MEMBER,
    }
    _later_fields: ClassVar[Mapping[str, schema.Schema]] = {
        "behind": _MEMBER,
        "clock": schema.Number(),
    }

    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        with self._lock:
            tensors: dict[str, Any] = {}
            fields: dict[str, Any] = {
                "limits": [self.max_tickets, self.max_age, self.keep],
                "clock": self._last_read,
                "given_up": self.given_up,
                "waiting": [
                    [n, _pairs(row.x), row.at - self._set_back] for n, row in self._waiting.items()
                ],
                "learned": [
                    [n, _pairs(row.x), row.label, row.weight] for n, row in self._learned.items()
                ],
            }
            for name, model in (("model", self.model), ("behind", self._behind)):
                if model is not None:
                    inner, fields[name] = saved_state.packed_member(model)
                    tensors |= {f"{name}/{key}": array for key, array in inner.items()}
            return tensors, fields

    @classmethod
    def load(  # type: ignore[override]
        cls, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time
    ) -> Self:
        """Read what `save` wrote; tickets that were handed out before are good again."""
        return super().load(path, clock=clock)

    @classmethod
    def _made(
        cls, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
    ) -> Self:
        max_tickets, max_age, _ = metadata["limits"]
        model = saved_state.unpacked_part(tensors, metadata, "model")
        return cls(model, max_tickets=max_tickets, max_age=max_age, **(objects or {}))

    def _unpack(
        self, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
    ) -> None:
        *_, keep = metadata["limits"]
        for name in tensors:
            if name.partition("/")[0] not in ("model", "behind" if keep else "model"):
                raise ModelFileError(f"its {name!r} belongs to no learner")
        self.keep, self.given_up = keep, metadata["given_up"]
        self._last_read = float(metadata.get("clock", 0.0))
        if keep:
            self._behind = saved_state.unpacked_part(tensors, metadata, "behind")
        self._waiting = {n: _Waiting(_row(x), at) for n, x, at in metadata["waiting"]}
        self._learned = {
            n: _Learned(_row(x), label, weight) for n, x, label, weight in metadata["learned"]
        }
        numbers = [n for n, *_ in (*metadata["waiting"], *metadata["learned"])]
        if len({*numbers}) < len(numbers) or len(self._learned) > keep:
            raise ModelFileError("a ticket stands in it twice, or is kept though none should be")


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _teach(model: Any, row: _Learned) -> None:
    if row.weight == 1.0:
        model.learn_one(row.x, row.label)
    else:
        model.learn_one(row.x, row.label, row.weight)


def _row(pairs: list[list[Any]]) -> dict[Any, float | None]:
    """The way back; what a row cannot be is refused."""
    row = dict(map(tuple, pairs))
    if len(row) < len(pairs):
        raise ModelFileError("a row in it has a feature twice")
    return row


def _pairs(x: dict[Any, float | None]) -> list[list[Any]]:
    """A row as JSON holds it: keys of objects are texts, and numbers are names as well."""
    return [[name, value] for name, value in x.items()]
