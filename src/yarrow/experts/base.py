"""What all forms of learning from experts share: losses, weights, the run as a record.

Before row t expert i has the weight w_i; every expert predicts the row, is charged its loss, and
learns the row. A form says how weights follow from losses (`_weights`) and how predictions are
combined (`_combine`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from yarrow.composite.base import Composite, State
from yarrow.data.arrays import Array
from yarrow.data.labels import in_order
from yarrow.errors import ModelFileError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.learners import is_learner
from yarrow.parameters import anything, choice
from yarrow.saving import schema

#: the losses of predictions, a column for each who made them
LossOf = Callable[[Array], Array]
LEADER = "Predict by a vote of the weights, or by the expert with the largest (one model)."


@dataclasses.dataclass(frozen=True)
class ExpertRun:
    """What happened in one pass over experts: their losses, and their weights before each row.

    `yarrow.evaluate.record` makes it of a model, and anybody can fill it in. Bounds speak of it.
    """

    losses: Array  # a line a row, a column an expert
    weights: Array  # the same, each line sums to 1
    own_losses: Array  # of the combined prediction, a row each
    learner: str = ""
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    n_features: int = 0
    model: Any = dataclasses.field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """Rows in the run."""
        return len(self.losses)

    @property
    def n_experts(self) -> int:
        """How many experts there were."""
        return int(self.losses.shape[1])

    @property
    def mixed_losses(self) -> Array:
        """What an expert drawn by the weights loses in the mean, a row each."""
        return np.asarray((self.weights * self.losses).sum(axis=1))

    def best_loss(self, switches: int = 0) -> float:
        """The least sum of losses of a sequence of experts with so many switches.

        >>> run = ExpertRun(np.array([[0, 1], [0, 1], [1, 0]]), np.full((3, 2), 0.5), np.zeros(3))
        >>> run.best_loss(), run.best_loss(switches=1)
        (1.0, 0.0)
        """
        totals = np.full((switches + 1, self.n_experts), np.inf)
        totals[0] = 0.0
        for losses in self.losses:
            moved = totals.min(axis=1)  # from whichever expert was best with so many switches
            totals[1:] = np.minimum(totals[1:], moved[:-1, None])
            totals += losses
        return float(totals.min())


def parameter_of_learners(doc: str) -> Any:
    """The parameter `learners`."""
    return anything(
        default=None,
        allowed="None or a list of at least one learner",
        accepts=lambda v: (
            v is None
            or (isinstance(v, (list, tuple)) and len(v) > 0 and all(is_learner(one) for one in v))
        ),
        doc=doc,
    )


@estimator
class Experts(Composite):
    """Base of the forms of learning from experts."""

    learners: Any = parameter_of_learners("The experts; None: AROW with r = 0.01, 0.1, 1 and 10.")
    _: dataclasses.KW_ONLY
    combine: Literal["vote", "leader"] = choice(
        default="vote", options=("vote", "leader"), doc=LEADER
    )

    family: ClassVar[str] = "experts"

    # -- what a form says ------------------------------------------------------------------------

    def _judge(self, state: State, said: Array, batch: Batch) -> tuple[Array, LossOf]:
        """What counts of what the experts said, and the loss in [0, 1] of whatever was said."""
        raise NotImplementedError

    def _weights(self, state: State, losses: Array) -> Array:
        """Weights before each of these rows, and after the last; the state is moved on."""
        raise NotImplementedError

    def _combine(self, state: State, weights: Array, said: Array) -> Array:
        """One prediction a row of those of all experts."""
        raise NotImplementedError

    def _heard(self, state: State, said: Array) -> Array:
        """What counts of what the experts say of rows that are not learned."""
        return said

    # -- learning --------------------------------------------------------------------------------

    def _learners(self) -> Sequence[Any]:
        if self.learners is not None:
            return list(self.learners)
        from yarrow.linear_model import AROWClassifier, AROWRegressor

        if self.regression:
            return [AROWRegressor(r) for r in (0.1, 1.0, 10.0, 100.0)]
        return [AROWClassifier(r) for r in (0.01, 0.1, 1.0, 10.0)]

    def _begin(self, state: State) -> None:
        n = len(state.members)
        state.tensors = {"weights": np.full(n, 1.0 / n), "losses": np.zeros(n)}

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        losses = schema.Array("f8", ("members",), at_least=0)
        return {"weights": schema.Array("f8", ("members",), 0, 1), "losses": losses}, {}

    def _unpack_state(
        self, codes: dict[Any, int], t: int, tensors: dict[str, Any], notes: Mapping[str, Any]
    ) -> State:
        if abs(float(tensors["weights"].sum()) - 1) > 1e-6:
            raise ModelFileError("the weights of its experts do not sum to 1")
        return super()._unpack_state(codes, t, tensors, notes)

    def _walk(self, state: State, batch: Batch) -> Array:
        return self._follow(state, batch)[0]

    def _follow(self, state: State, batch: Batch) -> tuple[Array, Array, Array, Array]:
        """Predictions and their losses; losses of all experts, and weights before each row."""
        if not self.regression:
            state.meet(batch)
        said = np.stack(
            [member.progressive(batch, state.codes) for member in state.members], axis=1
        )
        heard, loss_of = self._judge(state, said, batch)
        losses = loss_of(heard)
        if batch.weights is not None:  # a weight multiplies the loss
            losses = losses * batch.weights[:, None]
        counts = batch.counts
        weights = np.empty_like(losses)
        if counts.all():
            whole = self._weights(state, losses)
            weights, state.tensors["weights"] = whole[:-1], whole[-1]
        else:  # an absent row moves nothing
            for i, one in enumerate(losses):
                weights[i] = state.tensors["weights"]
                if counts[i]:
                    state.tensors["weights"] = self._weights(state, one[None])[-1]
        combined = self._combine(state, weights, heard)
        return combined, loss_of(combined[:, None])[:, 0], losses, weights

    def _said(self, state: State, batch: Batch) -> Array:
        said = np.stack([member.predict(batch, state.codes) for member in state.members], axis=1)
        weights = np.broadcast_to(state.tensors["weights"], said.shape)
        return self._combine(state, weights, self._heard(state, said))

    def record(self, X: Any, y: Any) -> ExpertRun:
        """A pass of a fresh copy over rows, as bounds and figures read it."""
        fresh = self.clone()
        state = fresh._new_state()
        batch = fresh._batch(fresh._read(X), [], y)
        if not self.regression:
            batch = dataclasses.replace(batch, classes=in_order(set(batch.truth)))
        _, own, losses, weights = fresh._follow(state, batch)
        fresh._state = state
        assert batch.rows is not None
        return ExpertRun(
            losses=losses,
            weights=weights,
            own_losses=own,
            learner=type(self).__name__,
            parameters=self.get_params(deep=False),
            n_features=batch.rows.n_columns,
            model=fresh,
        )

    # -- looking inside --------------------------------------------------------------------------

    @property
    def weights_(self) -> Array:
        """How much each expert counts now; the sum is 1."""
        return np.array(self._fitted.tensors["weights"])

    @property
    def losses_(self) -> Array:
        """The sum of each expert's losses so far."""
        return np.array(self._fitted.tensors["losses"])

    @property
    def leader_(self) -> Any:
        """The expert that counts most now."""
        return self.learners_[int(np.argmax(self._fitted.tensors["weights"]))]


def exponential(state: State, losses: Array, rates: Array) -> Array:
    """Weights exp(-rate * losses so far) before each row and after the last, as rates are given."""
    sums = np.cumsum(np.vstack([state.tensors["losses"], losses]), axis=0)
    state.tensors["losses"] = sums[-1]
    state.t += len(losses)
    behind = sums - sums.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):  # whatever the rate, the leader's weight is one of these
        weights = np.exp(-rates[:, None] * behind)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def shared(state: State, losses: Array, eta: float, share: float) -> Array:
    """The same with a constant rate, but after each row all experts get an equal part of `share`.

    Herbster & Warmuth (1998): v_i = w_i exp(-eta l_i), w_i <- (1 - share) v_i + share mean(v).
    """
    found = np.empty((len(losses) + 1, losses.shape[1]))
    found[0] = state.tensors["weights"]
    for t, row in enumerate(losses):
        with np.errstate(over="ignore"):
            kept = found[t] * np.exp(-eta * (row - row.min()))
        found[t + 1] = (1 - share) * (kept / kept.sum()) + share / len(row)
    # Added up row by row: however a stream is cut into calls, the sums are the same.
    state.tensors["losses"] = np.cumsum(np.vstack([state.tensors["losses"], losses]), axis=0)[-1]
    state.t += len(losses)
    return found
