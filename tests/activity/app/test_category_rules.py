"""Words that tell activities apart: in what a person has done, and in what they will do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from activity.support import HandClock, session_at
from click.testing import CliRunner

from yarrow.activity.app.category_rules import PRECISION, Rule, find_rules
from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Event
from yarrow.activity.sources.spans import Change
from yarrow.cli import main

ENGLISH = {
    "Programming": [
        ("api.py - yarrow - Code", "code"),
        ("How to parse JSON in Python - Stack Overflow", "firefox"),
        ("test_api.py - yarrow - Code", "code"),
        ("What is the difference between these Python lists", "firefox"),
        ("How to use an API with Python", "firefox"),
    ],
    "Garden": [("seeds.ods - Calc", "calc"), ("Tomato beds - Gardening forum", "firefox")],
    "Tax return": [("tax 2026.ods - Calc", "calc"), ("Receipts for tax.pdf", "evince")],
}
GERMAN = {
    "Programmieren": [
        ("api.py - yarrow - Code", "code"),
        ("Wie man JSON mit Python nicht liest - Hilfe", "firefox"),
        ("Was ist der Unterschied zwischen diesen Python-Listen", "firefox"),
    ],
    "Straße": [("Straße zum Haus.ods - Calc", "calc"), ("Pläne für die Straße", "firefox")],
}
FRENCH = {
    "Programmation": [
        ("api.py - yarrow - Code", "code"),
        ("Comment lire du JSON avec Python dans une boucle", "firefox"),
        ("Pourquoi cette fonction Python est plus lente", "firefox"),
    ],
    "Jardin": [("semis.ods - Calc", "calc"), ("Tomates - Forum", "firefox")],
}
POLISH = {  # no list of ours has its words: what others' titles have is what counts
    "Programowanie": [
        ("api.py - yarrow - Code", "code"),
        ("Dlaczego Python jest wolniejszy przez kopie", "firefox"),
        ("Listy Python", "firefox"),
    ],
    "Ogród": [("Dlaczego pomidory przez lato", "firefox"), ("nasiona.ods - Calc", "calc")],
}


def lived(desk: dict[str, list[tuple[str, str]]], path: str | Path = ":memory:") -> Session:
    """Three rounds through the activities, ten minutes each."""
    clock = HandClock()
    session = session_at(clock, path)
    for _ in range(3):
        for name, titles in desk.items():
            session.declare(name)
            for minute in range(10):
                title, application = titles[minute % len(titles)]
                event = Event(clock.at, "focus", title, title, application)
                session.record([Change(event, "")])
                clock.at += 60.0
                session.tick()
    return session


def rules_of(session: Session) -> dict[str, Rule]:
    return {rule.activity: rule for rule in find_rules(session)}


def matches(rule: Rule, title: str) -> bool:
    assert rule.category is not None
    assert rule.category.regex is not None
    return bool(rule.category.regex.search(title))


@pytest.mark.parametrize(
    ("desk", "programming", "letters"),
    [
        (ENGLISH, "Programming", ["Letter to grandma.odt - Writer", "How is the weather in Rome"]),
        (GERMAN, "Programmieren", ["Brief an Oma und wie es mir geht", "Was ist zwischen uns"]),
        (FRENCH, "Programmation", ["Lettre dans une bouteille", "Comment va cette dame"]),
        (POLISH, "Programowanie", ["Dlaczego list idzie przez tydzie\u0144"]),
    ],
)
def test_a_letter_is_no_program(
    desk: dict[str, list[tuple[str, str]]], programming: str, letters: list[str]
) -> None:
    rules = rules_of(lived(desk))
    for title in letters:
        assert not matches(rules[programming], title), rules[programming].category
    assert matches(rules[programming], "Sorting in PYTHON")
    assert matches(rules[programming], "core.hpp - Yarrow")


def test_what_all_titles_share_may_be_a_word_of_any_text() -> None:
    """No other word comes twice, so it would be the first one chosen."""
    for common in ("between", "zwischen", "pourquoi", "entre", "perch\u00e9", "tussen"):
        pages = [(f"{word} {common}", "firefox") for word in ("corn", "hail", "lamp")]
        rule = rules_of(lived({"Reading": pages, "Tax return": ENGLISH["Tax return"]}))["Reading"]
        assert not matches(rule, f"letters {common} friends")
        assert matches(rule, "a lamp")


def test_a_rule_is_measured_by_the_history() -> None:
    session = lived(ENGLISH)
    rules = rules_of(session)
    for name, rule in rules.items():
        assert rule.category is not None
        assert rule.precision >= PRECISION
        own = [title for title, _ in ENGLISH[name]]
        time = {title: sum(minute % len(own) == place for minute in range(10))
                for place, title in enumerate(own)}  # fmt: skip
        share = sum(time[title] for title in own if matches(rule, title)) / 10
        assert rule.matched == pytest.approx(share, abs=0.02)
        assert rule.mistaken == 0
    assert str(rules["Tax return"]).startswith("Tax return: matches 100% of its time and 0.0% of")


def test_a_short_word_counts_if_the_activity_is_called_so() -> None:
    rules = rules_of(lived(ENGLISH))
    assert matches(rules["Tax return"], "Tax office")
    assert not matches(rules["Programming"], "api of the bank")


def test_a_word_is_written_as_titles_have_it() -> None:
    assert matches(rules_of(lived(GERMAN))["Straße"], "Neue Straße.odt")


def test_whoever_does_one_thing_only_gets_no_rule() -> None:
    (rule,) = find_rules(lived({"Garden": ENGLISH["Garden"]}))
    assert rule.category is None
    assert str(rule) == "Garden: no rule, since no word tells it from the others"


def test_a_large_share_of_the_time_makes_no_word_telling() -> None:
    """Who programs nearly all day: most time of any word is programming."""
    desk = {
        "Programming": [("Compiler manual", "firefox")] * 9 + [("Compiler news", "firefox")],
        "News": [("Evening news", "firefox")] + [("Weather", "firefox")] * 3,
    }
    clock = HandClock()
    session = session_at(clock)
    for name, minutes in (("Programming", 900), ("News", 20), ("Programming", 100)):
        session.declare(name)
        for minute in range(minutes):
            title, application = desk[name][minute % len(desk[name])]
            session.record([Change(Event(clock.at, "focus", title, title, application), "")])
            clock.at += 60.0
        session.tick()
    rule = rules_of(session)["Programming"]
    assert matches(rule, "Compiler")
    assert not matches(rule, "Latest news")


def test_the_export_says_what_its_rules_are_worth(tmp_path: Path) -> None:
    lived(ENGLISH, tmp_path / "a.sqlite").close()
    out = tmp_path / "rules.json"
    done = CliRunner().invoke(
        main,
        ["activity", "export", "categories", "--database", str(tmp_path / "a.sqlite"),
         "--output", str(out)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert re.search(
        r"Garden: matches \d+% of its time and 0\.0% of the time at others", done.output
    )
    told = json.loads(out.read_text())["categories"]
    assert {one["name"][0] for one in told} == set(ENGLISH)
