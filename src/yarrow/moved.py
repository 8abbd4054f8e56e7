"""Modules under their old names: old imports and old pickles find what moved, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: packages of before and of now, and the modules that have kept their names
_SAME_NAME = {
    ("yarrow.activity", "yarrow.activity.sources"): (
        "activitywatch categories clock feed spans tables"
    ),
    ("yarrow.activity", "reproduction.activity_lab"): (
        "baselines generator generator_words simulation"
    ),
    ("yarrow.activity", "yarrow.activity.model"): (
        "features folders function_words learning recogniser vectors"
    ),
    ("yarrow.activity", "yarrow.activity.log"): "store",
    ("yarrow.activity", "yarrow.activity.app"): (
        "demo keys requests runner server session transfer"
    ),
    ("yarrow.experiments", "yarrow.compare"): (
        "baselines comparison folds grids recommend runs sources tune"
    ),
    ("yarrow.experiments", "reproduction"): (
        "candidates engine findings peers protocols results spec"
    ),
    ("yarrow.linear_model", "yarrow.base"): (
        "classifier combinations probabilities regressor rivals"
    ),
    ("yarrow.stream", "yarrow.data"): "arrays named_rows sparse",
    ("yarrow.stream", "yarrow.io"): "columns compressed csv_table taught",
}
MOVED = {
    f"{old}.{name}": f"{new}.{name}"
    for (old, new), names in _SAME_NAME.items()
    for name in names.split()
} | {
    "yarrow.activity.answers": "yarrow.activity.model.unanswered",
    "yarrow.activity.checks": "yarrow.activity.model.activities",
    "yarrow.activity.database": "yarrow.activity.log.store",
    "yarrow.activity.diary": "yarrow.activity.model.history",
    "yarrow.activity.events": "yarrow.activity.log.entries",
    "yarrow.activity.judge": "yarrow.activity.model.learning",
    "yarrow.activity.openness": "yarrow.activity.model.vectors",
    "yarrow.activity.outside": "yarrow.activity.log.validation",
    "yarrow.activity.past": "yarrow.activity.model.history",
    "yarrow.activity.records": "yarrow.activity.model.activities",
    "yarrow.activity.rows": "yarrow.activity.log.entries",
    "yarrow.activity.rules": "yarrow.activity.app.category_rules",
    "yarrow.activity.said": "yarrow.activity.log.entries",
    "yarrow.activity.snapshot": "yarrow.activity.model.recogniser",
    "yarrow.activity.table": "yarrow.activity.model.features",
    "yarrow.activity.thoughts": "yarrow.activity.model.explain",
    "yarrow.activity.titles": "yarrow.activity.sources.spans",
    "yarrow.composite.members": "yarrow.online.adapters",
    "yarrow.kernel.inside": "yarrow.kernel.base",
    "yarrow.linear_model.base": "yarrow.base.linear",
    "yarrow.linear_model.confidence_relatives": "yarrow.linear_model",
    "yarrow.linear_model.inspection": "yarrow.base.explanation",
    "yarrow.linear_model.naming": "yarrow.saving.registry",
    "yarrow.linear_model.owner": "yarrow.base.core_estimator",
    "yarrow.linear_model.passes": "yarrow.base.epochs",
    "yarrow.linear_model.persistence": "yarrow.base.core_estimator",
    "yarrow.linear_model.progressive": "yarrow.online.progressive",
    "yarrow.linear_model.query_stream": "yarrow.online.query_stream",
    "yarrow.datasets.gaussian": "yarrow.datasets.synthetic",
    "yarrow.experiments.curve": "yarrow.evaluate.curves",
    "yarrow.experiments.heats": "yarrow.compare.race_batch",
    "yarrow.experiments.judgement": "yarrow.compare.holdout",
    "yarrow.experiments.lanes": "yarrow.compare.entrant",
    "yarrow.experiments.reproductions": "reproduction.specs",
    "yarrow.report.reproduction": "reproduction.pages",
    "yarrow.stream.format": "yarrow.io.formats",
    "yarrow.stream.tabular": "yarrow.io.tables",
}
"""Old names and new ones; what is in an old package is in the new one."""

#: what has another name in these modules now
RENAMED = {
    "yarrow.composite.members": {
        "Member": "Adapter",
        "CoreMember": "CoreAdapter",
        "DictMember": "DictAdapter",
        "ArrayMember": "ArrayAdapter",
        "Block": "Batch",
        "member_of": "adapter_of",
    },
    "yarrow.kernel.inside": {"Inside": "KernelClassifier"},
    "yarrow.linear_model.owner": {"ModelOwner": "CoreEstimator"},
}


def warn(old: str, new: str) -> None:
    """Tell whoever imports the old name what the new one is."""
    warnings.warn(f"{old} has moved to {new}.", DeprecationWarning, stacklevel=3)


def keep_old_names() -> None:
    """Let `import` find modules by their old names: they are the new modules themselves."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _new_name(name: str) -> str | None:
    known = name
    while known not in MOVED and "." in known:
        known = known.rpartition(".")[0]
    return MOVED[known] + name.removeprefix(known) if known in MOVED else None


class _Moved:
    """Finds and loads; a class of importlib.abc above it would double the time to import yarrow."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        loader: Any = self
        return ModuleSpec(name, loader) if _new_name(name) else None

    def create_module(self, spec: ModuleSpec) -> None:
        """The module is an empty one, until it is known which it is."""

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = _new_name(old) or old
        if new.startswith("reproduction."):
            from yarrow.checkout import load

            found = load(new)
        else:
            found = import_module(new)
        for old_name, new_name in RENAMED.get(old, {}).items():
            setattr(found, old_name, getattr(found, new_name))
        sys.modules[old] = found  # importlib takes it instead of the empty one
        warn(old, new)


_FINDER = _Moved()
