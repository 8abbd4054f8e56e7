"""The engine measures each cell once, whatever happens meanwhile."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reproduction import engine
from reproduction.protocols import tuned
from reproduction.spec import Data, Learner, Study
from yarrow.errors import ParameterError

SMALL = Data("small", "synthetic/gaussian", {"rows": 200, "test_rows": 100}, drawn=True)
AROW = Learner("AROW", "AROWClassifier", grid={"r": (0.1, 1.0)})
PA = Learner("PA", "PassiveAggressiveClassifier")


def study(**changes):
    fields = {"data": (SMALL,), "learners": (AROW, PA), "options": {"passes": 2}, "seeds": 2}
    return Study("tuned", **{**fields, **changes})


def measure(cells, cache, workers=1):
    return engine.run(list(cells), cache=cache, workers=workers)


def test_a_second_run_measures_nothing(tmp_path, monkeypatch):
    first = measure(study().cells(), tmp_path)
    monkeypatch.setattr(engine, "measure_cell", lambda *_: pytest.fail("measured again"))
    second = measure(study().cells(), tmp_path)
    assert not any(one.cached for one in first)
    assert all(one.cached for one in second)
    assert [one.outcome for one in first] == [one.outcome for one in second]


@pytest.mark.parametrize(
    "changed",
    [
        study(noise=(0.1,)),
        study(options={"passes": 3}),
        study(learners=(dataclasses.replace(AROW, grid={"r": (0.1, 2.0)}),)),
        study(learners=(dataclasses.replace(PA, parameters={"C": 0.5}),)),
        study(data=(dataclasses.replace(SMALL, rows=150),)),
    ],
)
def test_a_changed_specification_is_measured_anew(tmp_path, changed):
    measure(study().cells(), tmp_path)
    assert not any(one.cached for one in measure(changed.cells(), tmp_path))


def test_a_new_label_is_no_change(tmp_path):
    measure(study(learners=(PA,)).cells(), tmp_path)
    renamed = study(learners=(dataclasses.replace(PA, label="Passive-Aggressive"),))
    assert all(one.cached for one in measure(renamed.cells(), tmp_path))


def test_a_new_revision_of_the_protocol_is_measured_anew(tmp_path, monkeypatch):
    measure(study().cells(), tmp_path)
    monkeypatch.setattr(tuned, "REVISION", tuned.REVISION + 1)
    assert not any(one.cached for one in measure(study().cells(), tmp_path))


def test_a_cell_that_fails_is_reported_and_the_others_go_on(tmp_path):
    broken = Learner("broken", "AROWClassifier", {"r": -1.0})
    results = measure(study(learners=(broken, PA)).cells(), tmp_path)
    assert [one.learner for one in results.failures] == ["broken", "broken"]
    assert "broken on small" in results.failures[0].failure
    assert "'r' parameter must be > 0" in results.failures[0].failure
    assert all(one.outcome for one in results.where(learner="PA"))
    again = measure(study(learners=(broken, PA)).cells(), tmp_path)
    assert not any(one.cached for one in again.failures)


def test_a_damaged_file_is_measured_anew(tmp_path):
    before = measure(study().cells(), tmp_path)
    for path in tmp_path.rglob("*.json"):
        path.write_text(path.read_text()[:20])
    after = measure(study().cells(), tmp_path)
    assert not any(one.cached for one in after)
    assert [one.outcome for one in before] == [one.outcome for one in after]


def test_the_key_of_a_cell_stays_what_it_was():
    """Else everything that anybody has in a cache would be measured again."""
    cell = next(study(noise=(0.1,)).cells())
    assert cell.key("0.1.0 tuned 1") == "1fe199f3164260aa61e1645b55503f73"


def test_processes_give_what_one_gives(tmp_path):
    alone = measure(study().cells(), tmp_path / "alone")
    together = measure(study().cells(), tmp_path / "together", workers=2)
    assert [one.outcome for one in alone] == [one.outcome for one in together]


def test_progress_counts_every_cell_once(tmp_path):
    told = []
    measure(study(learners=(PA,)).cells(), tmp_path)
    engine.run(
        list(study().cells()),
        cache=tmp_path,
        workers=1,
        on_progress=lambda done, total, one: told.append((done, total, one.cached)),
    )
    assert told == [(1, 4, True), (2, 4, True), (3, 4, False), (4, 4, False)]


def test_an_unknown_protocol_or_learner_is_named(tmp_path):
    with pytest.raises(ParameterError, match="no protocol 'best'; there are online"):
        measure(dataclasses.replace(study(), protocol="best").cells(), tmp_path)
    unknown = Learner("x", "MagicClassifier")
    failed = measure(study(learners=(unknown,)).cells(), tmp_path).failures
    assert "There is no learner 'MagicClassifier'" in failed[0].failure


LONG = """
import multiprocessing
from reproduction import engine
from reproduction.spec import Data, Learner, Study

data = Data("small", "synthetic/gaussian", {"rows": 400, "test_rows": 100}, drawn=True)
learner = Learner("AROW", "AROWClassifier", grid={"r": (0.1, 1.0)})
study = Study("tuned", (data,), (learner,), {"passes": 20}, seeds=400)

def show(done, total, one):
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)

if __name__ == "__main__":
    results = engine.run(list(study.cells()), cache=CACHE, workers=2, on_progress=show)
"""


def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path):
    cache = tmp_path / "cache"
    script = tmp_path / "long.py"
    script.write_text(f"CACHE = {str(cache)!r}\n{LONG}")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        children = [process.stdout.readline().split() for _ in range(5)][-1]
        process.send_signal(signal.SIGKILL)
    done = len(list(cache.rglob("*.json")))
    assert 5 <= done < 400
    assert children
    for pid in children:  # workers end with their parent
        _wait_until_gone(int(pid))
    data = Data("small", "synthetic/gaussian", {"rows": 400, "test_rows": 100}, drawn=True)
    cells = list(Study("tuned", (data,), (AROW,), {"passes": 20}, seeds=done + 5).cells())
    results = measure(cells, cache)
    assert sum(one.cached for one in results) >= done - 2
    fresh = measure(cells[:3], tmp_path / "fresh")
    assert [one.outcome for one in fresh] == [one.outcome for one in results][:3]


def _wait_until_gone(pid: int) -> None:
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.1)
    pytest.fail(f"worker {pid} is still there")
