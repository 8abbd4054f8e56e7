"""Tables as Markdown and as plain text."""

import pytest
from report.support import HOSTILE, comparison

from yarrow.report import tables
from yarrow.report.tables import Cell, Table


def test_learners_come_in_the_order_of_the_second_half_with_both_errors():
    shown = comparison(learners=5)
    last = next(o for o in shown.outcomes if o.best)
    for outcome in shown.outcomes:
        outcome.judged = {"error": 0.01, "low": 0.005, "high": 0.02}
    last.judged = {"error": 0.6, "low": None, "high": None}
    table = tables.learners(shown)
    assert table.rows[-1][1].text == last.learner.removesuffix("Classifier")
    assert table.rows[-1][5].text == "60.00 %"
    assert table.rows[0][5].text == "1.00 % (0.50 to 2.00)"


def test_learners_come_with_fewest_errors_first_and_the_recommended_one_is_stressed():
    table = tables.learners(comparison(learners=5))
    errors = [row[4].key for row in table.rows]
    assert errors == sorted(errors)
    assert len(table.rows) == 5 + 2
    assert table.strong == {0}
    assert table.rows[0][1].text in table.markdown().splitlines()[2]
    assert table.markdown().splitlines()[2].startswith("| **1** | **")


def test_all_settings_hold_every_setting_that_finished_and_failures_are_told():
    table = tables.all_settings(comparison(learners=5))
    assert len(table.rows) == 2 * 5 + 2
    assert [cell.text for cell in tables.failed(comparison()).rows[0]] == [
        "Broken",
        "defaults",
        "row 3: not finite.",
    ]


def test_a_regression_shows_its_squared_error():
    table = tables.learners(comparison(classes=0))
    assert table.header[4:6] == ["RMSE, all rows", "RMSE, 2nd half"]
    assert "%" not in table.rows[0][4].text


def test_columns_of_a_text_are_in_line_however_wide_the_letters():
    table = Table(["name", "n"], [[Cell("ab"), Cell("1", 1)], [Cell("日本"), Cell("1,000", 1000)]])
    assert table.text() == "name      n\nab        1\n日本  1,000"


@pytest.mark.parametrize("text", [HOSTILE, "a|b", "two\nlines"])
def test_no_cell_breaks_a_markdown_table(text):
    lines = Table(["a", "b"], [[Cell(text), Cell("x")]]).markdown().splitlines()
    assert len(lines) == 3
    assert lines[2].replace("\\|", "").count("|") == 3
    assert "<script" not in lines[2]


def test_facts_tell_the_data():
    facts = {row[0].text: row[1].text for row in tables.facts(comparison(classes=20)).rows}
    assert facts["rows"] == "5,000"
    assert facts["classes"].startswith("20: ")
    assert facts["labels made wrong"] == "10.0 %"
