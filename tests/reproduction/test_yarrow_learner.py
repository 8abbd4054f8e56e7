"""The evidence for the learner without settings: its split, and what its numbers mean."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from reproduction import second_round, specs
from reproduction.candidates import yarrow_without
from reproduction.findings import Claim
from reproduction.results import Measured, Results
from reproduction.spec import Cell, Data, Learner
from reproduction.specs import evidence_spec as evidence
from reproduction.specs import keel
from reproduction.specs import yarrow_learner as page
from reproduction.specs import yarrow_learner_spec as spec
from yarrow._core import classifier_constants
from yarrow.compare.comparison import packed
from yarrow.datasets.keel import BALANCED, RARE

DOCS = Path(__file__).parents[2] / "docs"


def test_all_public_sets_of_classes_take_part():
    assert set(evidence.SETS) <= set(spec.SETS)
    assert {one.name for one in spec.SECOND_ROUND} == set(second_round.NAMES)
    assert set(spec.BY_NAME) >= spec.LONG_ROWS | spec.MANY_COLUMNS


def test_peers_of_the_first_round_are_those_of_the_evidence_and_more():
    known = {cell.key("") for cell in specs.named("evidence").cells()}
    cells = specs.named("yarrow-learner").cells()
    peers = {
        cell.key("")
        for cell in cells
        if cell.learner in (*evidence.VOWPAL, *evidence.SCIKIT, *evidence.RIVER)
        and cell.data.name in evidence.BY_NAME
        and not cell.noise
    }
    assert peers
    assert peers <= known


def test_pairs_are_for_short_rows_and_zeros_for_few_columns():
    peers = {
        name: {one.label for one in spec.PEERS if spec.suits(one, name)}
        for name in ("phishing", "sms-spam", "usps/phases", "ling-spam", "letter")
    }
    everybody = {one.label for one in spec.PEERS}
    pairs = {one.label for one in spec.PAIRS}
    zeros = {one.label for one in (*spec.SCALED, spec.RIVER_SCALED)}
    assert peers["phishing"] == everybody
    assert peers["sms-spam"] == everybody - zeros
    assert peers["usps/phases"] == everybody - pairs
    assert peers["ling-spam"] == everybody - pairs - zeros
    assert peers["letter"] == {one for one in everybody if not one.startswith("river")}


def test_under_noise_rows_keep_their_true_labels():
    cells = [cell for study in spec.noisy(spec.SETS, (100, 100)) for cell in study.cells()]
    assert {cell.noise for cell in cells} == set(spec.NOISE)
    assert not any(cell.learner.label.startswith("river") for cell in cells)


def cell_of(learner, mistakes, data="splice", rows=2000, spread=False):
    order = np.random.default_rng(0).permutation(rows) if spread else np.arange(rows)
    wrong = order < mistakes
    setting = {
        "name": "default", "mistakes": mistakes, "seconds": 1e-3, "failure": None,
        "wrong": packed(wrong),
    }  # fmt: skip
    about = {"rows": rows, "columns": 3, "classes": 2, "values_per_row": 3.0}
    cell = Cell("settings", Data(data, data), Learner(learner, learner), 0.0, 0, {})
    return Measured(cell, {**about, "settings": [setting]}, 0.1)


@pytest.mark.parametrize(
    ("ours", "peer", "holds"),
    [(20, 20, [True, True]), (1021, 1020, [False, True]), (50, 20, [False, False])],
)
def test_a_set_on_which_it_errs_more_breaks_the_bars(ours, peer, holds):
    cells = [cell_of(learner.label, ours, spread=True) for learner in spec.LEARNERS]
    peers = [cell_of(f"{library}: some", peer, spread=True) for library in evidence.LIBRARIES]
    found = page.findings(Results((*cells, *peers)))
    assert [one.holds for one in found if isinstance(one, Claim)][:2] == holds


def test_tables_of_keel_are_in_one_group_each():
    tables = [table for group in keel.GROUPS.values() for table in group]
    assert sorted(tables) == sorted({*BALANCED, *RARE})
    studied = [data.options["table"] for study in keel.REPRODUCTION.full for data in study.data]
    assert sorted(studied) == sorted(tables)
    seen = {keel.source_of(table) for table in tables if table not in keel.NEW}
    assert {keel.source_of(table) for table in keel.NEW} & seen <= {"winequality"}


@pytest.mark.parametrize(
    ("ours", "peer", "holds"),
    [(20, 30, [True, True, True]), (30, 20, [False, False, True]), (1500, 20, [False] * 3)],
)
def test_a_table_on_which_it_errs_more_breaks_its_claims(ours, peer, holds):
    peers = [cell_of(f"{library}: some", peer, "ring") for library in evidence.LIBRARIES]
    found = keel.findings(Results((cell_of(spec.OURS, ours, "ring"), *peers)))
    assert [one.holds for one in found if isinstance(one, Claim)][:3] == holds


def test_what_is_left_out_has_no_weight():
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    for part, out in (
        ("AROW", [0, 1, 2, 3, 6, 8, 9]),
        ("AdaGrad", [4, 5]),
        ("naive Bayes", [0, 7]),
        ("bends", [6]),
        ("full covariance", [8]),
        ("pairs", [9]),
    ):
        worth = yarrow_without(part).partial_fit(X, y).expert_weights_
        assert np.flatnonzero(worth == 0).tolist() == out
    worth = yarrow_without("mixture").partial_fit(X, y).expert_weights_
    np.testing.assert_array_equal(worth, classifier_constants()["first_weights"])


@pytest.mark.parametrize(
    ("page", "file"), [(page, "reproduction/yarrow-learner.md"), (keel, "reproduction/keel.md")]
)
def test_the_page_is_up_to_date_with_its_words(page, file):
    text = (DOCS / file).read_text()
    for part in (page.REPRODUCTION.differences, page.REPRODUCTION.protocol):
        words = " ".join(part.split())
        assert words in " ".join(text.split())
    assert not re.search("TODO|@@@", text)


def lines_of_tables(text):
    """The other cells of a line, by the first one."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in lines}


def test_the_note_has_the_figures_of_the_pages():
    note = (DOCS / "yarrow-learner.md").read_text()
    page = (DOCS / "reproduction/yarrow-learner.md").read_text()
    parts = lines_of_tables(re.search("### What its parts.*?\n##", page, re.DOTALL)[0])
    said = lines_of_tables(note)
    for learner in spec.LEARNERS:
        mistakes, no_worse, _, more_mistakes, more_no_worse, _ = parts[learner.label]
        assert said[learner.label] == [mistakes, no_worse, more_mistakes, more_no_worse]

    note = " ".join(note.split())
    keel = (DOCS / "reproduction/keel.md").read_text()
    tables, fewer = re.search(r"on (\d+) of 50 .*?-([\d.]+) % on average", keel, re.DOTALL).groups()
    assert f"no worse than the best of the 129 on {tables}, with {fewer} % fewer" in note
    claim = r"YarrowClassifier errs less than .*?\| surely less on (\d+) sets, surely more on (\d+)"
    found = re.findall(claim, (DOCS / "evidence.md").read_text())
    vowpal, scikit, river = [(less, ["none", "one"][int(more)]) for less, more in found[:3]]
    assert f"Vowpal Wabbit on {vowpal[0]} of 36 sets and surely more on {vowpal[1]}" in note
    assert f"scikit-learn on {scikit[0]} and {scikit[1]}, than river on {river[0]} and" in note
