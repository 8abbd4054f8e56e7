"""Every reproduction at its reduced size: the machinery works, and what is stable comes out."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from reproduction import contents, engine, pages, specs
from reproduction.specs import arow_multiclass, arow_ranks, sgft

DOCS = Path(__file__).parents[2] / "docs" / "reproduction"
EACH = pytest.mark.parametrize("name", specs.NAMES)


@EACH
def test_a_specification_is_plain_data_with_a_smaller_twin(name):
    one = specs.named(name)
    full, reduced = one.cells(), one.cells(reduced=True)
    assert one.name == name
    assert 10 <= len(reduced) <= 150
    assert len(reduced) < len(full)
    assert all(len(cell.key("x")) == 32 for cell in full + reduced)
    json.dumps([dict(cell.options) for cell in full])
    assert one.budget.endswith(".")


def test_the_papers_tables_are_complete():
    for ranks in arow_ranks.PAPERS_RANKS.values():
        assert len(ranks) == len(arow_ranks.NOISE)
    for place in range(len(arow_ranks.NOISE)):  # four ranks sum up to 10, as printed
        total = sum(ranks[place] for ranks in arow_ranks.PAPERS_RANKS.values())
        assert total == pytest.approx(10, abs=0.02)
    for table in arow_multiclass.PAPERS.values():
        assert tuple(table) == arow_multiclass.NOISE
        assert {len(row) for row in table.values()} == {len(arow_multiclass.LABELS)}
    assert {len(row) for row in sgft.PAPERS.values()} == {len(sgft.LABELS)}


def test_the_tasks_of_the_ranks_are_the_papers_hundred_digits_and_our_texts():
    usps, mnist, text, _ = arow_ranks.REPRODUCTION.full
    assert (len(usps.data), len(mnist.data), len(text.data)) == (45, 55, 24)


@pytest.mark.slow
@pytest.mark.skipif("YARROW_DATA" not in os.environ, reason="YARROW_DATA is not set")
@EACH
def test_what_is_stable_comes_out_at_the_reduced_size(name, tmp_path):
    one = specs.named(name)
    results = engine.reproduce(one, reduced=True, cache=tmp_path / "cache", workers=1)
    assert not results.failures, [failure.failure for failure in results.failures]
    written = pages.write(one, results, tmp_path / "pages", reduced=True)
    page = written.page.read_text()
    drawn = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert drawn or name in ("future", "arow-outlook")
    for file in drawn:
        assert (written.page.parent / file).read_text().startswith("<svg")
    assert written.claims
    fallen = [claim for claim in written.claims if claim.stable and not claim.holds]
    assert fallen == []


@EACH
def test_the_published_page_belongs_to_the_specification(name):
    one = specs.named(name)
    found = contents.read(one, DOCS)
    if found is None:
        pytest.skip("there is no page yet, and the list of pages says so")
    page = (DOCS / f"{name}.md").read_text()
    assert page.startswith(f"# {one.title}\n")
    for file in re.findall(r"!\[.*?\]\((.*?)\)", page):
        assert (DOCS / file).exists()
    if not found.is_current:
        pytest.skip("the page was made earlier, and the list of pages says so")
    assert f"{len(one.cells()):,} cells" in page


def test_the_list_of_pages_is_what_the_pages_say(tmp_path):
    for page in DOCS.glob("*.md"):
        (tmp_path / page.name).write_text(page.read_text())
    contents.write(tmp_path)
    assert (tmp_path / "README.md").read_text() == (DOCS / "README.md").read_text()
