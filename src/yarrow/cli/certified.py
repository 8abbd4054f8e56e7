"""The certificate of a run that a command has made, or the reason why there is none."""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import Any

import click

from yarrow.errors import DataError, ParameterError

#: numbers that a run may hold: the rows' values, or the weights before every row
MOST_NUMBERS = 50_000_000


@dataclasses.dataclass(frozen=True)
class Certified:
    """A certificate, or a sentence."""

    certificate: Any = None
    reason: str = ""

    @classmethod
    def of(
        cls, estimator: Any, data: tuple[str, ...], stream_format: Any, is_fresh: bool
    ) -> Certified:
        """Read the files again, make the run once more row by row, and ask its theorem."""
        from yarrow.evaluate.certificate import THEOREMS

        name = type(estimator).__name__
        if name not in THEOREMS:
            return cls(reason=f"no theorem is known here for {name}")
        if not is_fresh:
            return cls(reason="a theorem is about a run from its first row, not one that went on")
        piped = [path for path in data if not os.path.isfile(path)]
        if piped:
            return cls(reason=f"{piped[0]} cannot be read a second time")
        if sys.stderr.isatty():
            click.echo("making the run again, row by row, for its certificate ...", err=True)
        try:
            return cls(_certificate(estimator, data, stream_format.remembering(estimator._stream)))
        except (DataError, ParameterError) as error:
            return cls(reason=str(error).rstrip("."))

    def __str__(self) -> str:
        return str(self.certificate) if self.certificate else f"no certificate: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return self.certificate.to_dict() if self.certificate else {"reason": self.reason}


def _certificate(estimator: Any, data: tuple[str, ...], stream_format: Any) -> Any:
    from yarrow.evaluate import certificate, record
    from yarrow.evaluate.certificate import NEED_WEIGHTS
    from yarrow.lazy import np
    from yarrow.online.files import read_whole

    name = type(estimator).__name__
    whole = read_whole(data, stream_format, most_values=MOST_NUMBERS)
    if np.any(whole.weights != 1):
        raise DataError("rows have weights, of which the theorems know nothing")
    n_rows, n_features = len(whole), whole.n_columns
    keep_weights = name in NEED_WEIGHTS
    if keep_weights and n_rows * n_features > MOST_NUMBERS:
        gigabytes = 8 * n_rows * n_features / 1e9
        raise DataError(
            f"the theorem of {name} looks at all weights before every row, "
            f"which would take {gigabytes:.1f} GB"
        )
    return certificate(record(estimator, whole.matrix, whole.truth, keep_weights=keep_weights))
