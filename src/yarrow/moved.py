"""Modules under their old names: old imports and old pickles find what moved, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from yarrow.checkout import load

MOVED = {
    "yarrow.activity.activitywatch": "yarrow.activity.sources.activitywatch",
    "yarrow.activity.answers": "yarrow.activity.model.unanswered",
    "yarrow.activity.baselines": "reproduction.activity_lab.baselines",
    "yarrow.activity.categories": "yarrow.activity.sources.categories",
    "yarrow.activity.checks": "yarrow.activity.model.activities",
    "yarrow.activity.clock": "yarrow.activity.sources.clock",
    "yarrow.activity.database": "yarrow.activity.log.database",
    "yarrow.activity.demo": "yarrow.activity.app.demo",
    "yarrow.activity.diary": "yarrow.activity.model.history",
    "yarrow.activity.events": "yarrow.activity.log.entries",
    "yarrow.activity.features": "yarrow.activity.model.features",
    "yarrow.activity.feed": "yarrow.activity.sources.feed",
    "yarrow.activity.folders": "yarrow.activity.model.folders",
    "yarrow.activity.function_words": "yarrow.activity.model.function_words",
    "yarrow.activity.generator": "reproduction.activity_lab.generator",
    "yarrow.activity.generator_words": "reproduction.activity_lab.generator_words",
    "yarrow.activity.judge": "yarrow.activity.model.learning",
    "yarrow.activity.keys": "yarrow.activity.app.keys",
    "yarrow.activity.learning": "yarrow.activity.model.learning",
    "yarrow.activity.log.codec": "yarrow.activity.log.entries",
    "yarrow.activity.log.events": "yarrow.activity.log.entries",
    "yarrow.activity.model.checks": "yarrow.activity.model.activities",
    "yarrow.activity.model.counts": "yarrow.activity.model.features",
    "yarrow.activity.model.diary": "yarrow.activity.model.history",
    "yarrow.activity.model.open_resources": "yarrow.activity.model.vectors",
    "yarrow.activity.model.records": "yarrow.activity.model.activities",
    "yarrow.activity.model.scorer": "yarrow.activity.model.learning",
    "yarrow.activity.model.snapshot": "yarrow.activity.model.recogniser",
    "yarrow.activity.openness": "yarrow.activity.model.vectors",
    "yarrow.activity.outside": "yarrow.activity.log.validation",
    "yarrow.activity.past": "yarrow.activity.model.history",
    "yarrow.activity.recogniser": "yarrow.activity.model.recogniser",
    "yarrow.activity.records": "yarrow.activity.model.activities",
    "yarrow.activity.requests": "yarrow.activity.app.requests",
    "yarrow.activity.rows": "yarrow.activity.log.entries",
    "yarrow.activity.rules": "yarrow.activity.app.rules",
    "yarrow.activity.runner": "yarrow.activity.app.runner",
    "yarrow.activity.said": "yarrow.activity.log.entries",
    "yarrow.activity.server": "yarrow.activity.app.server",
    "yarrow.activity.session": "yarrow.activity.app.session",
    "yarrow.activity.simulation": "reproduction.activity_lab.simulation",
    "yarrow.activity.snapshot": "yarrow.activity.model.recogniser",
    "yarrow.activity.sources.titles": "yarrow.activity.sources.spans",
    "yarrow.activity.spans": "yarrow.activity.sources.spans",
    "yarrow.activity.store": "yarrow.activity.log.store",
    "yarrow.activity.table": "yarrow.activity.model.features",
    "yarrow.activity.tables": "yarrow.activity.sources.tables",
    "yarrow.activity.thoughts": "yarrow.activity.model.explain",
    "yarrow.activity.titles": "yarrow.activity.sources.spans",
    "yarrow.activity.transfer": "yarrow.activity.app.transfer",
    "yarrow.activity.vectors": "yarrow.activity.model.vectors",
    "yarrow.experiments.baselines": "yarrow.compare.baselines",
    "yarrow.experiments.candidates": "reproduction.candidates",
    "yarrow.experiments.comparison": "yarrow.compare.comparison",
    "yarrow.experiments.curve": "yarrow.compare.curve",
    "yarrow.experiments.engine": "reproduction.engine",
    "yarrow.experiments.findings": "reproduction.findings",
    "yarrow.experiments.folds": "yarrow.compare.folds",
    "yarrow.experiments.grids": "yarrow.compare.grids",
    "yarrow.experiments.heats": "yarrow.compare.heats",
    "yarrow.experiments.judgement": "yarrow.compare.holdout",
    "yarrow.experiments.lanes": "yarrow.compare.lanes",
    "yarrow.experiments.peers": "reproduction.peers",
    "yarrow.experiments.protocols": "reproduction.protocols",
    "yarrow.experiments.recommend": "yarrow.compare.recommend",
    "yarrow.experiments.reproductions": "reproduction.specs",
    "yarrow.experiments.results": "reproduction.results",
    "yarrow.experiments.runs": "yarrow.compare.runs",
    "yarrow.experiments.sources": "yarrow.compare.sources",
    "yarrow.experiments.spec": "reproduction.spec",
    "yarrow.experiments.tune": "yarrow.compare.tune",
    "yarrow.report.reproduction": "reproduction.pages",
    "yarrow.stream.arrays": "yarrow.data.arrays",
    "yarrow.stream.columns": "yarrow.io.columns",
    "yarrow.stream.compressed": "yarrow.io.compressed",
    "yarrow.stream.csv_table": "yarrow.io.csv_table",
    "yarrow.stream.format": "yarrow.io.formats",
    "yarrow.stream.named_rows": "yarrow.data.named_rows",
    "yarrow.stream.sparse": "yarrow.data.sparse",
    "yarrow.stream.tabular": "yarrow.io.tables",
    "yarrow.stream.taught": "yarrow.io.taught",
}
"""Old names and new ones; what is in an old package is in the new one."""


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


class _Moved(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if _new_name(name) else None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = _new_name(old) or old
        found = load(new) if new.startswith("reproduction.") else import_module(new)
        sys.modules[old] = found  # importlib takes it instead of the empty one
        warn(old, new)


_FINDER = _Moved()
