"""Time and memory of ``yarrow train`` against rows, values per row and features."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks import ours
from benchmarks.data import RCV1Like, folder
from benchmarks.measure import Bar, Best, Comparison, timed_processes

FIGURE = Path(__file__).with_name("growth.png")
ROWS = 100_000

# What grows, by its size: the number of rows, and the set they come from.
AXES: dict[str, dict[float, tuple[int, RCV1Like]]] = {
    "rows": {n: (n, RCV1Like()) for n in (100_000, 200_000, 400_000, 700_000, 1_000_000)},
    "values per row": {n: (ROWS, RCV1Like(tokens=n)) for n in (10, 40, 70.3, 150, 300)},
    "features": {
        n: (ROWS, RCV1Like(features=n)) for n in (10_000, 47_236, 200_000, 500_000, 1_000_000)
    },
}


def growth() -> list[Comparison]:
    """Linear in values, flat in rows."""
    model = folder() / "model"
    contenders, peak = timed_processes(
        {
            _name(axis, size): ours.train_text(rows.text(n), model)
            for axis, sizes in AXES.items()
            for size, (n, rows) in sizes.items()
        }
    )

    def bars(best: Best) -> list[Bar]:
        shares = []
        for axis in ("rows", "values per row"):
            times = [best[_name(axis, size)] for size in AXES[axis]]
            explained = float(np.corrcoef(list(AXES[axis]), times)[0, 1] ** 2)
            shares.append(Bar(f"Time: R2 of a straight line in {axis}", explained, 0.99, unit=""))
        memory = [peak[_name("rows", size)] for size in AXES["rows"]]
        ratio = memory[-1] / memory[0]
        return [*shares, Bar("1,000,000 rows: peak memory of 100,000 rows", ratio, at_most=1.1)]

    def figure(best: Best) -> list[str]:
        _draw(best, peak)
        return [f"![Time and memory against rows, values per row and features]({FIGURE.name})"]

    return [Comparison("`yarrow train` on generated text", contenders, bars=bars, notes=figure)]


def _name(axis: str, size: float) -> str:
    return f"Yarrow PA-I, {axis} = {size:,}"


def _draw(seconds: Best, peak: Mapping[str, int]) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, len(AXES), figsize=(11, 6), sharex="col", sharey="row")
    for (time, memory), (axis, sizes) in zip(panels.T, AXES.items(), strict=True):
        time.plot(list(sizes), [seconds[_name(axis, n)] for n in sizes], "o-")
        memory.plot(list(sizes), [peak[_name(axis, n)] / 1e6 for n in sizes], "o-")
        memory.set_xlabel(axis)
    for panel in panels.flat:  # after all lines, as the panels of a row share their scale
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    panels[0, 0].set_ylabel("seconds")
    panels[1, 0].set_ylabel("peak memory, MB")
    figure.suptitle(f"yarrow train; unless they grow: {ROWS:,} rows of 67 values, 47,236 features")
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110)
