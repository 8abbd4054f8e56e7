"""The evidence: what is compared with what, and what its numbers mean."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from reproduction import engine, pages, specs
from reproduction.results import Measured
from reproduction.spec import Cell, Data, Learner
from reproduction.specs import evidence
from reproduction.specs import evidence_spec as spec
from reproduction.specs.evidence_reading import (
    Field,
    Stream,
    change,
    compared,
    verdict,
)
from yarrow import datasets
from yarrow.compare.comparison import packed
from yarrow.compare.grids import entrants_of

DOCS = Path(__file__).parents[2] / "docs"


def settings_of(learners):
    return sum(len(learner.settings()) for learner in learners)


def test_every_real_set_of_classes_takes_part():
    # keel has a page of its own; the five domains have more reviews of a set that takes part
    other = ("synthetic/", "movielens", "keel", "amazon-sentiment/five")
    real = {n for n in datasets.names() if not n.startswith(other)}
    assert {one.name for one in spec.SETS} == real


def test_the_halves_share_no_source_and_all_kinds():
    halves = [{one for one in spec.SETS if one.chooses is chooses} for chooses in (True, False)]
    first, second = ({one.source or one.name for one in half} for half in halves)
    assert not first & second
    assert abs(len(first) - len(second)) <= 2
    for half in halves:
        assert {one.kind for one in half} == {"text", "dense", "drift"}


def test_every_peer_has_as_many_settings_as_yarrow():
    for peer in (spec.VOWPAL, spec.SCIKIT, spec.RIVER, (spec.WHOLE_VOWPAL,)):
        assert settings_of(peer) >= settings_of(spec.TEAM_LEARNERS)


def test_yarrows_settings_are_those_of_compare():
    entrants, _ = entrants_of("all")
    later = [e for e in entrants if type(e.model).__name__ == "YarrowClassifier"]
    assert settings_of(spec.ALL_OURS) == len(entrants) - len(later)


def measured(learner, settings, data="sonar"):
    """A cell whose settings made these mistakes, a truth value a row."""
    found = [
        {
            "name": name,
            "mistakes": int(np.sum(wrong)),
            "seconds": 1e-3,
            "failure": None,
            "wrong": packed(np.array(wrong, dtype=bool)),
        }
        for name, wrong in settings.items()
    ]
    rows = len(next(iter(settings.values())))
    about = {"rows": rows, "columns": 3, "classes": 2, "values_per_row": 3.0}
    cell = Cell("settings", Data(data, data), Learner(learner, learner), 0.0, 0, {})
    return Measured(cell, {**about, "settings": found}, 0.1)


def test_hindsight_takes_the_best_of_all_rows_and_the_honest_column_that_of_the_first_half():
    early, late = [0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0]
    field = Field.of([measured("AROWClassifier", {"early": early, "late": late})])
    anything = lambda label: True  # noqa: E731
    assert field.in_hindsight(anything).setting == "late"
    chosen = field.foreseen(anything)
    assert chosen.setting == "early"
    assert chosen.wrong.tolist() == [True, True, True]


def test_a_setting_is_chosen_on_the_first_rows_and_judged_on_all_others():
    """Whole streams are longer than the rows on which settings are tried."""
    tried = Field.of([measured("VW", {"early": [0, 0, 0, 1], "late": [1, 1, 1, 0]})])
    whole = Field.of([measured("VW", {"early": [0, 0, 0, 1, 1, 1, 0, 1, 1]})])
    stream = Stream(tried, whole)
    assert stream.chosen_on == 4
    assert stream.choice(evidence.named("VW")).setting == "early"
    assert stream.foreseen(evidence.named("VW")).wrong.tolist() == [1, 1, 0, 1, 1]
    assert stream.in_hindsight(evidence.named("VW")).setting == "early"


def test_where_a_chosen_setting_overflows_later_the_next_best_takes_its_place():
    tried = Field.of([measured("VW", {"best": [0, 0, 0], "next": [0, 0, 1]})])
    overflowed = measured("VW", {"best": [0] * 9})
    overflowed.outcome["settings"][0] |= {"failure": "row 7: too large", "wrong": None}
    baseline = measured("VW", {"majority class so far": [1] * 9})
    stream = Stream(tried, Field.of([overflowed, baseline]))
    assert stream.choice(evidence.named("VW")).setting == "next"


def test_of_a_short_set_half_is_left_to_judge_by():
    wrong = {"early": [0, 0, 1, 1, 1], "late": [1, 1, 0, 0, 0]}
    stream = Stream(Field.of([measured("VW", wrong)]), Field.of([measured("VW", wrong)]))
    assert stream.chosen_on == 2
    assert stream.foreseen(evidence.named("VW")).wrong.tolist() == [1, 1, 1]
    assert stream.in_hindsight(evidence.named("VW")).setting == "late"


def test_what_was_chosen_goes_over_the_whole_stream_with_that_setting_alone():
    (only,) = spec.chosen(spec.BY_NAME["kddcup99"], {("AROWClassifier", "r=10.0")}).learners
    assert only.settings() == [{"r": 10.0}]
    (data,) = spec.chosen(spec.BY_NAME["kddcup99"], set()).data
    assert data.rows is None


def test_a_difference_is_sure_only_beyond_chance():
    random = np.random.default_rng(0)
    one = random.random(2000) < 0.2
    same, worse = random.random(2000) < 0.2, random.random(2000) < 0.4
    field = Field.of([measured("x", {"one": one, "same": same, "worse": worse})])
    tried = {setting.setting: setting for setting in field.tried["x"]}
    assert verdict(compared(tried["one"], tried["same"])) == 0
    assert verdict(compared(tried["one"], tried["worse"])) == -1
    assert verdict(compared(tried["worse"], tried["one"])) == 1


def test_sets_of_one_source_count_once():
    found = change("r", "0.1", "1.0", [("news", 9, 19), ("news", 9, 19), ("mail", 19, 9)])
    assert found.percent == pytest.approx(0)
    assert found.wins == (1, 1)


def test_the_reduced_run_writes_a_page(tmp_path):
    pytest.importorskip("river")
    pytest.importorskip("vowpalwabbit")
    if "YARROW_DATA" not in os.environ:
        pytest.skip("YARROW_DATA is not set")
    one = specs.named("evidence")
    results = engine.reproduce(one, reduced=True, cache=tmp_path / "cache", workers=1)
    assert [failure.failure for failure in results.failures] == []
    page = pages.write(one, results, tmp_path, reduced=True).page.read_text()
    for word in (
        "Vowpal Wabbit",
        "scikit-learn",
        "river",
        "last label",
        "majority",
        "not a result",
    ):
        assert word in page
    assert "The paper" not in page
    for file in re.findall(r"!\[.*?\]\((.*?)\)", page):
        assert (tmp_path / file).read_text().startswith("<svg")


def test_the_published_page_belongs_to_the_specification():
    one = specs.named("evidence")
    page = (DOCS / "evidence.md").read_text()
    assert page.startswith(f"# {one.title}\n")
    for words in (one.differences, one.protocol):
        assert words.strip() in page
    (cells,) = re.findall(r"([\d,]+) cells", page)
    assert int(cells.replace(",", "")) > len(one.cells()), "the chosen settings come on top"
    for name in spec.BY_NAME:
        assert f"| {name} |" in page
    assert set(evidence.CONTESTANTS) >= set(spec.LIBRARIES)
