"""What a comparison of learners found: plain data, kept as JSON, read by `yarrow.report`."""

from __future__ import annotations

import base64
import dataclasses
from dataclasses import dataclass, field
from typing import Any

from yarrow.lazy import np
from yarrow.notebook import shown

__all__ = ["Comparison", "Outcome"]


@dataclass
class Outcome:
    """How one learner, with one setting of its parameters, did over a stream.

    Parameters
    ----------
    name : unique among the outcomes, as "AROWClassifier(r=0.1)"
    learner, family : the class, and its group; "baseline" for the two that learn nothing
    parameters : those that differ from the defaults
    rows, mistakes : rows predicted, and those of them predicted wrongly
    squared_error : summed over the rows of a regression; 0 for classes
    updates, nonzeros : rows that changed the model; weights that are not zero at the end
    seconds : the learner's own time on a core, without reading the data
    curve : (rows, error so far: the share of mistakes, or the root of the mean squared error);
        the last place is the whole stream
    nonzeros_curve : (rows, nonzeros)
    wrong : a bool a row, a squared error a row for a regression
    confusion : "labels" and "counts"; a row is a true label, a column a predicted one
    failure : one sentence, if it did not finish
    pass_errors : the error of each pass over the data; the others are about the first
    best : this is the setting of its learner that the first half of the rows chose
    judged : of such a one, its "error" on the second half, from "low" to "high" with 95 %
        confidence; these are None where there are too few rows to say
    calibration : of the recommended setting and a few others that have probabilities:
        "brier_score", "calibration_error", "log_loss", and "curve": (confidence, share of rows
        that were right, rows), a bin each
    model : as learned; not kept as JSON
    """

    name: str
    learner: str
    family: str
    parameters: dict[str, Any] = field(default_factory=dict)
    rows: int = 0
    mistakes: int = 0
    squared_error: float = 0.0
    updates: int = 0
    nonzeros: int = 0
    seconds: float = 0.0
    curve: list[tuple[int, float]] = field(default_factory=list)
    nonzeros_curve: list[tuple[int, int]] = field(default_factory=list)
    wrong: Any = None
    confusion: dict[str, Any] | None = None
    failure: str | None = None
    pass_errors: list[float] = field(default_factory=list)
    best: bool = False
    judged: dict[str, float | None] | None = None
    calibration: dict[str, Any] | None = None
    model: Any = field(default=None, repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Everything but the model, as numbers, strings, lists and dicts."""
        kept = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        del kept["model"]
        kept["wrong"] = None if self.wrong is None else packed(np.asarray(self.wrong))
        return kept

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Outcome:
        """What `to_json` kept."""
        made = cls(**kept)
        made.curve = [(int(rows), float(error)) for rows, error in made.curve]
        made.nonzeros_curve = [(int(rows), int(count)) for rows, count in made.nonzeros_curve]
        if made.calibration is not None:
            curve = [tuple(point) for point in made.calibration["curve"]]
            made.calibration = {**made.calibration, "curve": curve}
        made.wrong = None if made.wrong is None else unpacked(made.wrong)
        return made


@dataclass
class Comparison:
    """What `compare` returns.

    Parameters
    ----------
    data : "name", "rows", "features", "classes" (their labels; None in a regression), "order",
        "source", "values_per_row", "noise"
    command, seed, yarrow : to do it again: the command, its seed, Yarrow's version
    protocol : one sentence: what was predicted and learned in which order
    seconds : the whole comparison, by the clock
    outcomes : all settings of all learners
    folds : of a cross-validation, "fold", "learner" and "error" of each
    ranks : "learners", "mean_ranks", "critical_difference" and "over", as "10 folds"
    recommendation : "learner", "parameters", "sentence", "evidence" (sentences) and "rivals", each
        with "name", "difference" (its error minus the recommended one's), "low" and "high", for
        all rivals together; "too_few_rows" where there was no telling

    Examples
    --------
    >>> comparison = Comparison({"name": "tiny", "rows": 10}, command="yarrow compare tiny")
    >>> Comparison.from_json(comparison.to_json()) == comparison
    True
    """

    data: dict[str, Any]
    command: str = ""
    seed: int = 0
    yarrow: str = ""
    protocol: str = ""
    seconds: float = 0.0
    outcomes: list[Outcome] = field(default_factory=list)
    folds: list[dict[str, Any]] | None = None
    ranks: dict[str, Any] | None = None
    recommendation: dict[str, Any] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        title = self.recommendation.get("sentence") or f"{self.data.get('name')}: no outcome"
        best = [one for one in self.outcomes if one.best and one.curve]
        best.sort(key=lambda one: one.curve[-1][1])
        rows = [(one.name, one.family, f"{one.curve[-1][1]:.4g}") for one in best]
        return shown(title, rows, ("learner", "family", "error"))

    def to_json(self) -> dict[str, Any]:
        """Everything but the models, as numbers, strings, lists and dicts."""
        kept = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        kept["outcomes"] = [outcome.to_json() for outcome in self.outcomes]
        return kept

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Comparison:
        """What `to_json` kept."""
        outcomes = [Outcome.from_json(outcome) for outcome in kept["outcomes"]]
        return cls(**{**kept, "outcomes": outcomes})


def packed(wrong: Any) -> dict[str, Any]:
    """A bit a row, or eight bytes a row of a regression."""
    flags = wrong.dtype == bool
    raw = np.packbits(wrong) if flags else wrong.astype("<f8")
    text = base64.b64encode(raw.tobytes()).decode("ascii")
    return {"rows": len(wrong), "kind": "bits" if flags else "floats", "base64": text}


def unpacked(packed: dict[str, Any]) -> Any:
    """What `packed` made JSON of."""
    raw = base64.b64decode(packed["base64"])
    if packed["kind"] == "bits":
        bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=packed["rows"])
        return bits.astype(bool)
    return np.frombuffer(raw, dtype="<f8").copy()
