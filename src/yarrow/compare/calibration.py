"""Whether the probabilities of the chosen learners are honest: one more pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yarrow.base.linear import LinearModel
from yarrow.base.probabilities import probabilities_then
from yarrow.compare.comparison import Outcome
from yarrow.compare.race_batch import Classes, RaceBatch
from yarrow.compare.race_learners import CoreRun
from yarrow.data.labels import label_list
from yarrow.metrics import BrierScore, CalibrationError, LogLoss

#: how many learners are looked at, beside the recommended one those of the lowest error
MOST = 4


def calibrate(source: Any, outcomes: Sequence[Outcome], recommended: str | None) -> None:
    """Set `calibration` of the chosen settings that have probabilities, the best ones first."""
    chosen = [
        outcome
        for outcome in outcomes
        if outcome.best
        and outcome.failure is None
        and isinstance(outcome.model, LinearModel)
        and hasattr(outcome.model, "predict_proba")
    ]
    chosen.sort(key=lambda o: (o.name != recommended, (o.judged or {}).get("error") or 0.0))
    if source.is_regression or not source.can_be_read_again or not chosen:
        return
    runs = [_Run(outcome) for outcome in chosen[:MOST]]
    classes = Classes()
    for block in source.blocks():
        if len(block.y):
            batch = RaceBatch.of(block, classes, clean=False)
            for run in runs:
                run.learn(batch)
    for run in runs:
        run.finish()


class _Run(CoreRun):
    """One setting, from its first row on."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.model, None, None)
        self.outcome = outcome
        self.brier, self.error, self.log_loss = BrierScore(), CalibrationError(), LogLoss()

    def learn(self, batch: RaceBatch) -> None:
        """Some more rows, each predicted first."""
        found = self.told(batch, wants_uncertainty=True)
        self.model._model = self.core
        likely, names = probabilities_then(self.model, found), self.core.classes
        if len(names) < 2:
            return
        assert batch.labels is not None
        labels = label_list(batch.labels)
        for metric in (self.brier, self.error, self.log_loss):
            metric.update_many(labels, scores=likely, weights=batch.weights, classes=names)

    def finish(self) -> None:
        if self.error.curve:
            self.outcome.calibration = {
                "brier_score": self.brier.value,
                "calibration_error": self.error.value,
                "log_loss": self.log_loss.value,
                "curve": self.error.curve,
            }
