"""Runs the cells of a reproduction on all cores, each once: results are cached by content.

A cell's result is one JSON file, written beside and renamed, so that a run that was killed at any
moment goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from reproduction.results import Measured, Results
from reproduction.spec import Cell, Reproduction
from yarrow import __version__
from yarrow.errors import YarrowError

OnProgress = Callable[[int, int, Measured], None]
"""Told after each cell: how many are done, how many there are, and the cell."""


def cache_folder() -> Path:
    """`$YARROW_CACHE`, or the place where this system keeps what may be made again."""
    named = os.environ.get("YARROW_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "yarrow" / "reproduce"


def run(
    cells: Sequence[Cell],
    *,
    cache: Path | str | None = None,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Results:
    """Measure all cells, from the cache where they are in it.

    A cell that fails is reported in its place; it does not stop the others, and is not cached.
    """
    folder = cache_folder() if cache is None else Path(cache)
    folder.mkdir(parents=True, exist_ok=True)
    workers = workers or os.cpu_count() or 1
    found: dict[int, Measured] = {}
    waiting: list[int] = []
    for place, cell in enumerate(cells):
        known = _cached(folder, cell)
        if known is None:
            waiting.append(place)
        else:
            found[place] = known
            _tell(on_progress, len(found), len(cells), known)
    measure = _inline if workers == 1 or len(waiting) <= 1 else _in_processes
    for place, measured in measure(folder, {place: cells[place] for place in waiting}, workers):
        found[place] = measured
        _tell(on_progress, len(found), len(cells), measured)
    return Results(tuple(found[place] for place in range(len(cells))))


def reproduce(reproduction: Reproduction, *, reduced: bool = False, **how: Any) -> Results:
    """Measure all cells of a reproduction, then what follows from them; `how` as in `run`."""
    results = run(reproduction.cells(reduced=reduced), **how)
    while not results.failures and (cells := reproduction.further_cells(results)):
        results = Results((*results, *run(cells, **how)))
    return results


def _tell(on_progress: OnProgress | None, done: int, total: int, measured: Measured) -> None:
    if on_progress is not None:
        on_progress(done, total, measured)


def _inline(folder: Path, cells: dict[int, Cell], workers: int) -> Iterator[tuple[int, Measured]]:
    for place, cell in cells.items():
        yield place, measure_cell(folder, cell)


def _in_processes(
    folder: Path, cells: dict[int, Cell], workers: int
) -> Iterator[tuple[int, Measured]]:
    """A few cells a worker are under way at a time, in order, so that they share loaded data."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
    queue = iter(cells.items())
    running: dict[Future[Measured], int] = {}
    try:
        while True:
            for place, cell in queue:
                running[pool.submit(measure_cell, folder, cell)] = place
                if len(running) >= 2 * workers:
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def measure_cell(folder: Path, cell: Cell) -> Measured:
    """Run one cell and write its result into the cache."""
    from reproduction import protocols

    started = time.process_time()
    try:
        outcome = protocols.named(cell.protocol).run(cell)
    except (YarrowError, OSError, ArithmeticError, LookupError, MemoryError) as error:
        sentence = " ".join(str(error).split()) or type(error).__name__
        return Measured(cell, {}, time.process_time() - started, f"{cell}: {sentence}")
    seconds = time.process_time() - started
    _write(_place(folder, cell), {"cell": str(cell), "seconds": seconds, "outcome": outcome})
    return Measured(cell, outcome, seconds)


def _place(folder: Path, cell: Cell) -> Path:
    from reproduction import protocols

    stamp = f"{__version__} {cell.protocol} {protocols.named(cell.protocol).revision}"
    key = cell.key(stamp)
    return folder / key[:2] / f"{key[2:]}.json"


def _cached(folder: Path, cell: Cell) -> Measured | None:
    try:
        document = json.loads(_place(folder, cell).read_text(encoding="utf-8"))
        return Measured(cell, document["outcome"], document["seconds"], cached=True)
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return None


def _write(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
