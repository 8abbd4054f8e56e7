"""Categories as ActivityWatch has them."""

from __future__ import annotations

import pytest

from yarrow.activity.sources.categories import Categories
from yarrow.errors import DataError

SETTINGS = [
    {"name": ["Work"], "rule": {"type": "regex", "regex": "Calc|Writer"}},
    {"name": ["Work", "Tax"], "rule": {"type": "regex", "regex": "tax", "ignore_case": True}},
    {"name": ["Media"], "rule": {"type": "regex", "regex": "Music"}},
    {"name": ["Nothing"], "rule": {"type": "none"}},
    {"name": ["Empty"], "rule": {"type": "regex", "regex": ""}},
    {"name": ["Uncategorized"], "rule": None},
]


def test_the_longest_name_that_fits_is_the_category() -> None:
    rules = Categories.read(SETTINGS)
    assert rules.of("TAX return - Calc") == ("Work", "Tax")
    assert rules.of("letter", "Writer") == ("Work",)
    assert rules.of("calc") is None  # case counts unless it is ignored
    assert rules.of("Music - Writer") == ("Work",)  # the first of equally long names


def test_what_was_written_is_read_again() -> None:
    rules = Categories.read(SETTINGS)
    again = Categories.read(rules.write())
    assert again.write() == rules.write()
    assert again.of("TAX") == ("Work", "Tax")


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"rule": {}}, "row 0, field 'name': a category needs a name"),
        ({"name": ["a"], "rule": {"type": "glob"}}, "row 0, field 'rule': a rule is of type"),
        ({"name": ["a"], "rule": {"regex": "("}}, "row 0, field 'rule': '(' is not a regular"),
    ],
)
def test_bad_categories_are_refused(setting: dict[str, object], sentence: str) -> None:
    with pytest.raises(DataError) as error:
        Categories.read([setting])
    assert str(error.value).startswith(sentence)
