"""The page in a real browser: a person declares, works, forgets to declare, is told, corrects."""

from __future__ import annotations

import re
from typing import Any

import pytest
from activity.browsing import IN_A_BROWSER, all_shown, expect, wait_until
from activity.support import MORNING, work

from yarrow.activity.app.server import PageServer
from yarrow.activity.app.session import Session

pytestmark = IN_A_BROWSER


def test_a_person_forgets_to_declare_is_told_and_is_not_told_wrongly_again(
    page: Any, session: Session
) -> None:
    # Declares, by typing names that nobody knows yet, and works.
    for name in ("Tax return", "Garden", "Tax return", "Garden"):
        page.keyboard.press("s")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(page.locator("#current")).to_have_text(name)
        work(session, name, 15)
    assert [one.name for one in session.activities()] == ["Tax return", "Garden"]
    expect(page.locator("#alarm")).to_be_hidden()

    # Switches without saying so, and is told, with the reasons.
    switched = session.clock.at  # type: ignore[attr-defined]
    work(session, "Tax return", 4)
    all_shown(page, session)
    expect(page.locator("#question")).to_contain_text("Did you switch to Tax return at 10:00?")
    expect(page).to_have_title("Tax return? · Yarrow")
    expect(page.locator("#reasons")).to_contain_text("tax")

    # Accepts by one key: it was the other activity since the switch, not since now.
    page.keyboard.press("y")
    expect(page.locator("#current")).to_have_text("Tax return")
    expect(page.locator("#since")).to_contain_text("since 10:00")
    expect(page.locator("#alarm")).to_be_hidden()
    stretch = session.recogniser.stretches(switched, switched + 200)[0]
    assert stretch.activity == 0

    # Now the tax office sends something about the garden: it asks, and is wrong.
    work(session, "Garden", 4)
    all_shown(page, session)
    expect(page.locator("#question")).to_contain_text("Did you switch to Garden")
    page.keyboard.press("n")
    expect(page.locator("#alarm")).to_be_hidden()
    expect(page.locator("#current")).to_have_text("Tax return")
    work(session, "Garden", 10)  # and is not told wrongly again
    assert session.alarm() is None
    all_shown(page, session)
    expect(page.locator("#alarm")).to_be_hidden()


def test_a_correction_to_something_new(page: Any, session: Session) -> None:
    session.declare("Tax return")
    work(session, "Tax return", 10)
    all_shown(page, session)
    page.keyboard.press("c")
    expect(page.locator("#chooser")).to_be_visible()
    page.keyboard.type("Garden")
    expect(page.locator("#chooser-choices li")).to_have_text(["New: Garden"])
    page.keyboard.press("Enter")
    expect(page.locator("#current")).to_have_text("Garden")
    expect(page.locator("#since")).to_contain_text("since 09:00")
    assert session.recogniser.resources(0) == []  # what was associated has moved
    assert len(session.recogniser.resources(1)) == 2


def test_a_correction_says_since_when(page: Any, session: Session) -> None:
    session.declare("Tax return")
    work(session, "Tax return", 20)
    all_shown(page, session)
    page.keyboard.press("c")
    expect(page.locator("#chooser-since")).to_have_value("09:00")
    page.locator("#chooser-since").fill("09:10")
    page.locator("#chooser-input").fill("Garden")
    page.locator("#chooser-input").press("Enter")
    expect(page.locator("#since")).to_contain_text("since 09:10")
    expect(page.locator("#totals")).to_have_text("Tax return10 minGarden10 min")


def test_a_stretch_is_forgotten_by_its_button(page: Any, session: Session) -> None:
    session.declare("Tax return")
    work(session, "Tax return", 20)
    page.on("dialog", lambda dialog: dialog.accept())
    all_shown(page, session)
    page.locator("#line button").click()
    page.locator("#chooser-forget").click()
    expect(page.locator("#line button")).to_have_count(0)
    assert session.recogniser.resources(0) == []


def test_the_day_can_be_reviewed(page: Any, session: Session) -> None:
    session.declare("Tax return")
    work(session, "Tax return", 20)
    session.declare("Garden")
    work(session, "Garden", 20)
    all_shown(page, session)
    blocks = page.locator("#line button")
    expect(blocks).to_have_count(2)
    expect(blocks.nth(1)).to_have_attribute("aria-label", re.compile("^09:20 to 09:40, Garden"))
    expect(page.locator("#totals")).to_contain_text("Tax return20 min")
    blocks.nth(0).click()
    expect(page.locator("#chooser-title")).to_have_text("What was 09:00 to 09:20?")
    page.keyboard.type("gard")
    page.keyboard.press("Enter")
    expect(page.locator("#totals")).to_contain_text("Garden40 min")
    assert session.recogniser.thought().declared == 1


def test_doubtful_stretches_are_marked_and_reviewed_by_one_key(page: Any, session: Session) -> None:
    for name in ("Tax return", "Garden", "Tax return", "Garden"):
        session.declare(name)
        work(session, name, 15)
    all_shown(page, session)
    expect(page.locator("#review")).to_be_hidden()
    work(session, "Tax return", 10)  # and answers nothing
    all_shown(page, session)
    expect(page.locator("#review")).to_contain_text("1 to review")
    doubtful = page.locator("#line .uncertain")
    whole = re.compile("10:00 to 10:10, .* but it looks like Tax return")
    expect(doubtful).to_have_attribute("aria-label", whole)
    page.keyboard.press("r")
    expect(page.locator("#chooser-title")).to_contain_text("What was 10:0")
    page.keyboard.type("tax")
    page.keyboard.press("Enter")
    expect(page.locator("#review")).to_be_hidden()
    expect(page.locator("#current")).to_have_text("Garden")  # only the past was corrected


def test_resources_are_opened_moved_and_dragged(
    page: Any, session: Session, opened: list[str], tmp_path: Any
) -> None:
    from activity.support import focus

    from yarrow.activity.sources.spans import Change

    file = tmp_path / "plan.txt"
    file.touch()
    session.declare("Garden")
    session.declare("Tax return")
    session.record([Change(focus(MORNING + 1, str(file)), "")])
    session.record([Change(focus(MORNING + 61, "https://tax.example/"), "")])
    session.clock.at += 180  # type: ignore[attr-defined]
    session.tick()
    all_shown(page, session)
    rows = page.locator("#resources li")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("tax.example")  # the newest first
    page.keyboard.press("e")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_until(page, lambda: len(opened) == 1)
    page.keyboard.press("o")
    wait_until(page, lambda: len(opened) == 3)
    assert opened == [str(file), "https://tax.example/", str(file)]
    rows.nth(1).drag_to(page.locator("#activities button", has_text="Garden"))
    expect(rows).to_have_count(1)
    assert [one.resource for one in session.recogniser.resources(0)] == [str(file)]
    page.locator("#resources li").first.focus()
    page.keyboard.press("m")
    page.keyboard.type("Gar")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(0)
    assert len(session.recogniser.resources(0)) == 2


def test_activities_are_renamed_merged_and_archived(page: Any, session: Session) -> None:
    for name in ("One", "Two", "Three"):
        session.declare(name)
    all_shown(page, session)
    expect(page.locator("#activities button")).to_have_count(3)
    page.locator("#edit").click()
    page.locator("#editor-name").fill("Third")
    page.keyboard.press("Enter")
    expect(page.locator("#current")).to_have_text("Third")
    expect(page.locator("#editor")).to_be_hidden()
    page.locator("#activities button", has_text="One").click()
    page.locator("#edit").click()
    page.locator("#editor-archive").click()
    expect(page.locator("#activities button")).to_have_count(2)
    all_shown(page, session)
    page.locator("#edit").click()
    page.locator("#editor-merge").click()
    page.keyboard.type("Two")
    page.keyboard.press("Enter")
    expect(page.locator("#current")).to_have_text("Two")


def test_hostile_titles_are_only_text(page: Any, session: Session) -> None:
    from activity.support import focus

    from yarrow.activity.sources.spans import Change

    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    session.declare(evil)
    session.record([Change(focus(MORNING + 1, "/evil", evil), "")])
    session.clock.at += 120  # type: ignore[attr-defined]
    session.tick()
    all_shown(page, session)
    expect(page.locator("#current")).to_have_text(evil)
    expect(page.locator("#resources li")).to_contain_text("<script>")
    assert page.locator("main img, main script").count() == 0


def test_a_server_that_comes_back_is_found_again(
    browser: Any, session: Session, server: PageServer
) -> None:
    page = browser.new_page()
    page.goto(server.link)
    expect(page.locator("#current")).to_have_text("Nothing declared")
    assert "key" not in page.url  # so that it is not left in the history of the browser
    server.close()
    expect(page.locator("#message")).to_contain_text("does not answer")
    again = PageServer(server.requests, server.keys.lasting, server.server_port)
    again.start()
    session.declare("Garden")
    expect(page.locator("#current")).to_have_text("Garden")
    expect(page.locator("#message")).to_be_hidden()
    page.close()
    again.close()


def test_without_its_key_the_page_says_what_to_do(browser: Any, server: PageServer) -> None:
    page = browser.new_page()
    page.goto(server.address)
    expect(page.locator("#message")).to_contain_text(
        "This page has no key. Run 'yarrow activity open'"
    )
    page.close()


@pytest.mark.parametrize(
    ("width", "theme"), [(1300, "light"), (1300, "dark"), (800, "light"), (390, "dark")]
)
def test_text_can_be_read_and_nothing_sticks_out(
    browser: Any, session: Session, server: PageServer, width: int, theme: str
) -> None:
    session.declare("An activity with a name that is rather long, as names of projects may be")
    work(session, "Garden", 10)
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, timezone_id="UTC"
    )
    page = context.new_page()
    page.goto(server.link)
    all_shown(page, session)
    expect(page.locator("#resources li")).to_have_count(2)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    contrast = page.evaluate(CONTRAST)
    assert {name: value for name, value in contrast.items() if value < 4.5} == {}
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input')].filter((one) => one.offsetParent && "
        "!one.textContent.trim() && !one.ariaLabel && !one.labels?.length).map((o) => o.outerHTML)"
    )
    assert unnamed == []
    context.close()


# The contrast (WCAG 2) of some texts with what is behind them.
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (one) => { for (; one; one = one.parentElement) {
    const colour = rgb(getComputedStyle(one).backgroundColor);
    if (colour[3] === 255) return colour; }
    return [255, 255, 255]; };
  const found = {};
  for (const name of ["h1", "h2", ".quiet", ".eyebrow", ".number", ".sources", "kbd", ".place",
                      "#line button", ".what", "button"]) {
    for (const one of document.querySelectorAll(name)) {
      if (!one.offsetParent || one.disabled) continue;
      const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      found[name] = Math.min(found[name] ?? 99, ratio);
    }
  }
  return found;
}"""
