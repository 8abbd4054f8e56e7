"""Whatever opens a list of activities: which one is marked, and what Enter puts into the log."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from activity.browsing import IN_A_BROWSER, all_shown, expect, wait_until
from activity.support import MORNING, work

from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Archive, Associate, Correct, Declare, Event, Merge

pytestmark = IN_A_BROWSER
TAX = 0


def learned(session: Session, *names: str) -> None:
    """Declared work at some activities, 15 minutes each, twice."""
    for name in names * 2:
        session.declare(name)
        work(session, name, 15)


def last(session: Session) -> Any:
    """What was said last, without its time."""
    entry = [entry for _, entry in session.store.entries() if not isinstance(entry, Event)][-1]
    return [type(entry), *dataclasses.astuple(entry)[1:]]


def stored(page: Any, session: Session, before: Any) -> Any:
    """What was said last, when it is something else than before."""
    wait_until(page, lambda: last(session) != before)
    return last(session)


def marked(page: Any, name: str = "chooser-choices") -> Any:
    return page.locator(f"#{name} [aria-selected=true]")


def name_of(locator: Any) -> str:
    """The name that a person reads, without how sure it is."""
    return re.sub(r"\d+ %$", "", str(locator.text_content()))


def number_of(session: Session, name: str) -> int:
    return {one.name: one.id for one in session.activities()}[name]


def nothing_is_stored(page: Any, session: Session) -> None:
    """Enter does nothing, and the list stays."""
    before = last(session)
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert last(session) == before
    expect(page.locator("#chooser")).to_be_visible()


def doubtful_past(session: Session) -> float:
    """From 10:30 to 10:40 it was the tax and nobody said so; then letters, till now."""
    learned(session, "Tax return", "Garden")
    began: float = session.clock.at  # type: ignore[attr-defined]
    work(session, "Tax return", 10)
    session.declare("Letters")
    work(session, "Letters", 15)
    return began


def test_r_marks_what_the_stretch_is_taken_for(page: Any, session: Session) -> None:
    began = doubtful_past(session)
    all_shown(page, session)
    expect(page.locator("#ranked li").first).to_contain_text("Letters")  # what it thinks now
    expect(page.locator("#review")).to_contain_text("1 to review")
    before = last(session)
    page.keyboard.press("r")
    expect(page.locator("#chooser-about")).to_contain_text("but it looks like Tax return")
    expect(marked(page)).to_contain_text("Tax return")
    page.keyboard.press("Enter")
    kind, activity, since, until = stored(page, session, before)
    assert (kind, activity, since) == (Correct, TAX, began)
    assert until == pytest.approx(began + 600, abs=1)
    expect(page.locator("#current")).to_have_text("Letters")


def test_what_happens_meanwhile_does_not_change_what_enter_takes(
    page: Any, session: Session
) -> None:
    doubtful_past(session)
    all_shown(page, session)
    expect(page.locator("#review")).to_contain_text("1 to review")
    before = last(session)
    page.keyboard.press("r")
    expect(marked(page)).to_contain_text("Tax return")
    work(session, "Garden", 5)
    all_shown(page, session)
    expect(page.locator("#ranked li").first).to_contain_text("Garden")
    expect(marked(page)).to_contain_text("Tax return")
    page.keyboard.press("Enter")
    assert stored(page, session, before)[:2] == [Correct, TAX]


def test_a_click_on_a_stretch_marks_what_it_is(page: Any, session: Session) -> None:
    doubtful_past(session)
    all_shown(page, session)
    before = last(session)
    page.locator("#line button").first.click()
    expect(page.locator("#chooser-about")).to_have_text(re.compile("^So far: Tax return, declared"))
    expect(marked(page)).to_contain_text("Tax return")
    page.keyboard.press("Enter")
    assert stored(page, session, before)[:3] == [Correct, TAX, MORNING]


def test_c_marks_neither_what_is_asked_nor_the_present_one(page: Any, session: Session) -> None:
    learned(session, "Tax return", "Letters", "Garden")
    since: float = session.clock.at  # type: ignore[attr-defined]
    work(session, "Tax return", 4)
    all_shown(page, session)
    expect(page.locator("#question")).to_contain_text("Did you switch to Tax return")
    before = last(session)
    page.keyboard.press("c")
    expect(page.locator("#chooser-choices li")).to_have_count(3)
    expect(marked(page)).to_have_text("Letters")
    page.keyboard.press("Enter")
    assert stored(page, session, before) == [
        Correct,
        number_of(session, "Letters"),
        since,
        None,
    ]
    expect(page.locator("#current")).to_have_text("Letters")


def test_c_marks_nothing_where_nothing_else_is_known(page: Any, session: Session) -> None:
    learned(session, "Tax return", "Garden")
    work(session, "Tax return", 4)
    all_shown(page, session)
    expect(page.locator("#question")).to_contain_text("Did you switch to Tax return")
    page.keyboard.press("c")
    expect(page.locator("#chooser-choices li")).to_have_count(2)
    expect(marked(page)).to_have_count(0)
    nothing_is_stored(page, session)
    before = last(session)
    page.keyboard.type("tax")  # who says so may have it
    expect(marked(page)).to_contain_text("Tax return")
    page.keyboard.press("Enter")
    assert stored(page, session, before)[:2] == [Correct, TAX]


@pytest.mark.parametrize("key", ["c", "s"])
def test_what_was_refused_is_not_marked(page: Any, session: Session, key: str) -> None:
    learned(session, "Tax return", "Letters", "Garden")
    work(session, "Tax return", 4)
    all_shown(page, session)
    expect(page.locator("#question")).to_contain_text("Did you switch to Tax return")
    page.keyboard.press("n")
    expect(page.locator("#alarm")).to_be_hidden()
    work(session, "Tax return", 2)
    all_shown(page, session)
    expect(page.locator("#ranked li").first).to_contain_text("Tax return")
    page.keyboard.press(key)
    expect(marked(page, "choices" if key == "s" else "chooser-choices")).to_contain_text("Letters")


def test_s_marks_the_likeliest_other_activity(page: Any, session: Session) -> None:
    learned(session, "Letters", "Tax return", "Garden")
    all_shown(page, session)
    expect(page.locator("#ranked li").first).to_contain_text("Garden")  # the present one
    expect(page.locator("#current")).to_have_text("Garden")
    before = last(session)
    page.keyboard.press("s")
    expect(marked(page, "choices")).to_have_count(1)
    name = name_of(marked(page, "choices"))
    assert name in ("Tax return", "Letters")
    second = page.locator("#ranked li").nth(1).locator(".text")
    assert second.text_content() == name
    page.keyboard.press("Enter")
    assert stored(page, session, before) == [Declare, number_of(session, name)]
    expect(page.locator("#current")).to_have_text(name)


def test_s_with_one_activity_marks_nothing(page: Any, session: Session) -> None:
    session.declare("Tax return")
    work(session, "Tax return", 5)
    all_shown(page, session)
    expect(page.locator("#current")).to_have_text("Tax return")
    page.keyboard.press("s")
    expect(page.locator("#choices li")).to_have_text(["Tax return100 %"])
    expect(marked(page, "choices")).to_have_count(0)


def test_merge_marks_nothing_and_offers_no_merge_into_itself(page: Any, session: Session) -> None:
    learned(session, "Tax return", "Letters", "Garden")
    all_shown(page, session)
    expect(page.locator("#current")).to_have_text("Garden")
    garden = number_of(session, "Garden")
    page.locator("#edit").click()
    page.locator("#editor-merge").click()
    expect(page.locator("#chooser-title")).to_have_text("Merge Garden into which activity?")
    expect(page.locator("#chooser-choices li")).to_have_text(["Tax return", "Letters"])
    expect(marked(page)).to_have_count(0)
    nothing_is_stored(page, session)
    page.keyboard.type("Garden")
    expect(page.locator("#chooser-choices li")).to_have_count(0)
    nothing_is_stored(page, session)
    page.locator("#chooser-input").fill("")
    page.keyboard.type("Something new")  # nothing can be merged into what is not there
    expect(page.locator("#chooser-choices li")).to_have_count(0)
    page.locator("#chooser-input").fill("")
    page.keyboard.press("ArrowDown")
    expect(marked(page)).to_have_text("Tax return")
    before = last(session)
    page.keyboard.press("Enter")
    assert stored(page, session, before) == [Merge, garden, TAX]


def test_m_marks_nothing_and_leaves_out_where_it_is(page: Any, session: Session) -> None:
    learned(session, "Tax return", "Letters", "Garden")
    all_shown(page, session)
    expect(page.locator("#current")).to_have_text("Garden")
    expect(page.locator("#resources li")).to_have_count(2)
    page.locator("#resources li").first.focus()
    page.keyboard.press("m")
    expect(page.locator("#chooser-choices li")).to_have_text(["Tax return", "Letters"])
    expect(marked(page)).to_have_count(0)
    nothing_is_stored(page, session)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(marked(page)).to_have_text("Letters")
    before = last(session)
    page.keyboard.press("Enter")
    kind, resource, activity = stored(page, session, before)
    assert (kind, activity) == (Associate, number_of(session, "Letters"))
    assert "/garden/" in resource


def test_a_number_takes_what_stands_beside_it(page: Any, session: Session) -> None:
    learned(session, "Tax return", "Letters", "Garden")
    all_shown(page, session)
    row = page.locator("#ranked li").nth(1)
    expect(row.locator("kbd")).to_have_text("2")
    name = str(row.locator(".text").text_content())
    before = last(session)
    page.keyboard.press("2")
    assert stored(page, session, before) == [Declare, number_of(session, name)]


def test_a_typed_name_is_shown_as_what_it_is(page: Any, session: Session) -> None:
    for name in ("Startup art", "Art", "Old letters"):
        session.declare(name)
    session.say(Archive, number_of(session, "Art"))
    session.say(Archive, number_of(session, "Old letters"))
    session.declare("Art")
    all_shown(page, session)
    expect(page.locator("#current")).to_have_text("Art")
    page.keyboard.press("s")
    page.keyboard.type("art")  # the name itself comes first
    expect(page.locator("#choices li")).to_have_text(["Art", "Startup art"])
    expect(marked(page, "choices")).to_have_text("Art")
    page.locator("#switch-to").fill("old  LETTERS ")  # the server reads it so, and nothing is new
    expect(page.locator("#choices li")).to_have_text(["Old letters (archived)"])
    page.keyboard.press("Enter")
    expect(page.locator("#current")).to_have_text("Old letters")
    assert len(session.activities()) == 3
