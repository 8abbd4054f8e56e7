"""The page of a comparison: complete, safe, offline."""

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from report.support import HOSTILE, comparison

from yarrow.compare import Comparison, Outcome
from yarrow.report import charts, page, tables


class Reader(HTMLParser):
    """Elements, attributes and text of a page; complains about tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.text, self._open = [], [], "", []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    ("learners", "classes", "rows"),
    [(3, 2, 10), (6, 20, 5_000), (45, 2, 1_000_000), (4, 45, 5_000), (5, 0, 2_000)],
)
def test_the_page_holds_every_part(learners, classes, rows):
    html = page(comparison(learners, classes, rows))
    reader = Reader(html)
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    parts = {"recommendation", "learners", "curves", "nonzeros", "time", "ranks", "settings"}
    assert parts | {"failed", "data", "again"} <= set(ids)
    assert ("confusion" in ids) == (classes > 0)
    links = {value[1:] for name, value in reader.attributes if name == "href" and value[0] == "#"}
    assert links <= set(ids)
    for text in ("Learner is best", "Learner evidence", "yarrow compare Learner", "0.1.0"):
        assert text in reader.text
    assert f"{rows:,}" in reader.text


@pytest.mark.parametrize("prefix", ["Learner", HOSTILE])
def test_the_page_asks_nobody_for_anything(prefix):
    html = page(comparison(prefix=prefix))
    for name, value in Reader(html).attributes:
        if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            assert value.startswith(("#", "data:image/png"))
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|import\(", html)
    assert "default-src 'none'" in html


def test_hostile_names_stay_text_everywhere():
    hostile = comparison(prefix=HOSTILE)
    for outcome in hostile.outcomes:
        outcome.family = outcome.family.replace("affine", HOSTILE)
        outcome.parameters = {HOSTILE: HOSTILE}
        outcome.failure = HOSTILE if outcome.failure else None
    hostile.data["order"] = hostile.data["source"] = hostile.protocol = HOSTILE
    hostile.yarrow = hostile.ranks["over"] = HOSTILE
    hostile.recommendation["parameters"] = hostile.outcomes[1].parameters
    plain, attacked = Reader(page(comparison())), Reader(page(hostile))
    assert attacked.tags.count("script") == plain.tags.count("script") == 1
    assert set(attacked.tags) == set(plain.tags)
    assert not any(name.startswith("on") for name, _ in attacked.attributes)
    assert "alert(1)" in attacked.text
    assert "\x00" not in page(hostile)


def test_a_baseline_that_wins_is_pointed_out():
    ahead = comparison()
    assert "Mind:" not in page(ahead)
    for outcome in ahead.outcomes:
        if outcome.learner == "majority class so far":
            outcome.mistakes = 1
    assert "No learner beats “majority class so far”" in page(ahead)


def test_rows_without_a_prediction_are_told():
    shown = comparison()
    chosen = next(o for o in shown.outcomes if o.best)
    shown.recommendation |= {"learner": chosen.learner, "parameters": chosen.parameters}
    chosen.confusion["counts"] = [[chosen.rows - 1, 0], [0, 0]]
    assert "Left out: 1 of 5,000 rows" in page(shown)
    chosen.confusion["counts"] = [[chosen.rows, 0], [0, 0]]
    assert "Left out: 1" not in page(shown)


def test_settings_and_baselines_are_counted_apart():
    html = page(comparison(learners=5))
    assert "11 settings of 6 learners" in html  # one of which failed
    assert "10 settings and 2 baselines, fewest errors over all rows first" in html


def test_times_that_mean_nothing_are_not_drawn():
    quick = comparison()
    assert 'id="time"' in page(quick)
    for outcome in quick.outcomes:
        outcome.seconds /= 1000
    assert 'id="time"' not in page(quick)


def test_only_the_first_of_many_ranks_are_drawn():
    many = comparison(learners=45)
    figure, note = charts.mean_ranks(many)
    drawn = {text for text, _ in figure.texts}
    shown = [name.removesuffix("Classifier") for name in many.ranks["learners"]]
    assert set(shown[:12]) <= drawn
    assert not set(shown[13:]) & drawn
    assert "Not shown: 35 others" in note
    few = comparison(learners=10)
    assert "Not shown" not in charts.mean_ranks(few)[1]


def test_a_comparison_of_few_rows_pretends_nothing():
    few = comparison(rows=50)
    few.recommendation = {"learner": "Learner0Classifier", "parameters": {}, "rivals": []}
    few.recommendation |= {"sentence": "Too few.", "evidence": [], "too_few_rows": True}
    assert "Too few." in page(few)
    assert "strong" not in page(few).partition('id="learners"')[2].partition("</table>")[0]


def test_a_comparison_where_nothing_finished_has_a_page_too():
    failed = [Outcome("A", "A", "affine", failure="x.csv, line 3: 'ten' is not a number")]
    html = page(Comparison({"name": "x.csv"}, outcomes=failed))
    assert "There is nothing to recommend." in html
    assert "line 3: &#39;ten&#39; is not a number" in html


@pytest.mark.parametrize("field", ["ranks", "folds"])
def test_parts_may_be_missing(field):
    html = page(dataclasses.replace(comparison(), **{field: None}))
    assert ('id="ranks"' in html) == (field != "ranks")


def test_without_an_outcome_for_the_recommendation_the_page_still_shows_the_learners():
    lost = comparison()
    lost.recommendation["learner"] = "nobody"
    assert 'id="learners"' in page(lost)


@pytest.mark.parametrize("power", [1, 2])
def test_errors_by_stretch_are_those_of_its_rows(power):
    rows = 2_000
    wrong = np.random.default_rng(0).random(rows) ** 2
    sums = np.cumsum(wrong)
    curve = [(at, float((sums[at - 1] / at) ** (1 / power))) for at in range(100, rows + 1, 100)]
    found = charts._by_stretch(curve, rows, power)
    expected = wrong.reshape(20, 100).mean(axis=1) ** (1 / power)
    assert [at for at, _ in found] == [50 + 100 * i for i in range(20)]
    np.testing.assert_allclose([error for _, error in found], expected)


def test_a_comparison_that_recommends_nobody_has_a_page():
    nobody = comparison()
    nobody.recommendation = {
        "learner": None,
        "parameters": {},
        "sentence": "Nothing.",
        "rivals": [],
    }
    assert "Nothing." in page(nobody)


def test_rivals_may_be_named_by_their_settings():
    named = comparison()
    for rival in named.recommendation["rivals"]:
        rival["name"] += "(r=1.0)"
    table = tables.learners(named)
    assert sum(" to " in row[6].text for row in table.rows) == 4
    figure, _ = charts.rivals(named, 700)
    assert {"Learner0", "Learner1"} & {text for text, _ in figure.texts}
