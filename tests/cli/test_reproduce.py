"""`yarrow reproduce`: pages out of specifications."""

from __future__ import annotations

import dataclasses
import sys

import pytest
from cli.support import Run

from reproduction import specs
from reproduction.findings import Claim, Table
from reproduction.spec import Data, Learner, Reproduction, Study
from yarrow import checkout

DATA = Data("small", "synthetic/gaussian", {"rows": 200, "test_rows": 100}, drawn=True)
PA = Learner("PA", "PassiveAggressiveClassifier")


def findings(results):
    error = results.mean("error")
    return [
        Claim("PA learns.", error < 0.5, f"error {error:.2f}"),
        Claim("PA errs.", error == 0, f"error {error:.2f}"),
        Table("Errors", ("learner", "error"), (("PA", error),)),
    ]


SMALL = Reproduction(
    name="small",
    title="A small experiment",
    paper="nobody, nowhere",
    protocol="One pass.",
    full=(Study("tuned", (DATA,), (PA,), {"passes": 1}, seeds=3),),
    reduced=(Study("tuned", (DATA,), (PA,), {"passes": 1}),),
    budget="a second.",
    findings=findings,
    differences="None to speak of.",
)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Only one small reproduction exists, and a cache of its own."""
    monkeypatch.setattr(specs, "NAMES", ("small",))
    monkeypatch.setattr(specs, "OTHERS", ())
    monkeypatch.setattr(specs, "named", lambda name: SMALL)
    monkeypatch.setenv("YARROW_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page_says_what_holds_and_how_it_was_done(run: Run, small) -> None:
    result = run("reproduce", "small", "--output", "pages", "--workers", "1")
    assert result.exit_code == 0
    assert "small: 1 of 2 claims hold; see pages/small.md" in result.stdout
    assert "  yes  PA learns." in result.stdout
    assert "  no   PA errs." in result.stdout
    page = (small / "pages" / "small.md").read_text()
    assert page.startswith("# A small experiment\n\nMade by `yarrow reproduce small`")
    assert "None to speak of." in page
    assert "| **no**: a finding | PA errs. |" in page
    assert "3 cells" in page


def test_what_follows_from_the_first_cells_is_measured_and_shown(
    run: Run, small, monkeypatch
) -> None:
    def further(results):
        """PA with another C for two seeds, and when that is done, for one more."""
        other = dataclasses.replace(PA, parameters={"C": 0.1})
        seeds = 2 if len(results) == 3 else 3
        return (dataclasses.replace(SMALL.full[0], learners=(other,), seeds=seeds),)

    two_steps = dataclasses.replace(SMALL, further=further)
    monkeypatch.setattr(specs, "named", lambda name: two_steps)
    run("reproduce", "small", "--output", "pages", "--workers", "1")
    assert "6 cells" in (small / "pages" / "small.md").read_text()


def test_a_reduced_page_says_that_it_is_no_result(run: Run, small) -> None:
    run("reproduce", "small", "--reduced", "--workers", "1")
    page = (small / "reproduction-results" / "small.md").read_text()
    assert "not a result" in page
    assert "None to speak of." not in page


def test_all_writes_an_index(run: Run, small) -> None:
    said = run("reproduce", "--all", "--output", "pages", "--workers", "1").stdout
    assert said.splitlines()[-1].endswith(" by the clock")
    index = (small / "pages" / "README.md").read_text()
    assert "[small](small.md)" in index
    assert "1 of 2" in index


def test_the_index_is_made_of_the_pages_that_are_there(run: Run, small, monkeypatch) -> None:
    other = dataclasses.replace(SMALL, name="other", title="Another | one")
    both = {"small": SMALL, "other": other}
    monkeypatch.setattr(specs, "NAMES", ("small", "other"))
    monkeypatch.setattr(specs, "named", both.__getitem__)
    run("reproduce", "other", "--output", "pages", "--workers", "1")
    index = small / "pages" / "README.md"
    assert "| small | A small experiment | not run at full size yet |" in index.read_text()
    run("reproduce", "small", "--output", "pages", "--workers", "1")
    assert index.read_text().count("| **no**: a finding | PA errs. |") == 2
    assert "1 of 2, made earlier" not in index.read_text()
    both["other"] = dataclasses.replace(other, protocol="Two passes.")
    run("reproduce", "small", "--output", "pages", "--workers", "1")
    assert "| 1 of 2, made earlier |" in index.read_text()
    run("reproduce", "small", "--reduced", "--output", "pages", "--workers", "1")
    index.write_text("mine")
    run("reproduce", "other", "--output", "pages", "--workers", "1")
    assert index.read_text() == "mine"


def test_failed_cells_are_told_and_no_page_is_written(run: Run, small, monkeypatch) -> None:
    bad = Learner("bad", "AROWClassifier", {"r": -1.0})
    study = dataclasses.replace(SMALL.full[0], learners=(bad,))
    broken = dataclasses.replace(SMALL, full=(study,), further=lambda _: pytest.fail("went on"))
    monkeypatch.setattr(specs, "named", lambda name: broken)
    result = run("reproduce", "--all", "--output", "pages", "--workers", "1", code=1)
    assert "small: 3 of 3 cells failed; no page is written" in result.stderr
    assert "bad on small, seed 0: The 'r' parameter must be > 0" in result.stderr
    assert not (small / "pages").exists()


def test_an_unknown_name_and_no_name_are_one_sentence(run: Run) -> None:
    result = run("reproduce", "magic", code=2)
    assert "There is no reproduction 'magic'; there are arow-synthetic, arow-ranks" in result.stderr
    run("reproduce", code=2)
    run("reproduce", "--all", "drift", code=2)


def test_all_are_listed_with_their_budgets(run: Run) -> None:
    listed = run("reproduce", "--list").stdout
    for name in specs.NAMES:
        assert f"{name}: {specs.named(name).title}\n" in listed
        assert specs.named(name).budget in listed


def test_without_a_checkout_one_sentence_says_how_to_get_it(
    run: Run, tmp_path, monkeypatch
) -> None:
    root = str(checkout._SOURCE)
    monkeypatch.setattr(checkout, "_SOURCE", tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != root])
    (tmp_path / "reproduction").mkdir()  # pages of before are no checkout
    monkeypatch.chdir(tmp_path)
    said = run("reproduce", "--list", code=2).stderr
    assert "not part of the installed package: run 'yarrow reproduce' in a checkout" in said
    assert "Measure the papers' experiments" in run("--help").stdout
    assert "--reduced" in run("reproduce", "--help").stdout
    monkeypatch.chdir(f"{root}/docs")  # but a checkout may be where one stands
    assert run("reproduce", "--list").stdout.startswith("arow-synthetic: ")
