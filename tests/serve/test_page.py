"""The dashboard in a real browser: create, feed, see the curve fall, correct, undo, an alarm."""

from __future__ import annotations

import random
import re
import shutil
import threading

import pytest
from serve.conftest import served

from yarrow.serve.client import Client

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium to look at the page"),
]


@pytest.fixture
def page():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        found = browser.new_page(viewport={"width": 1200, "height": 900})
        found.set_default_timeout(20_000)
        found.problems = []
        found.on("pageerror", lambda error: found.problems.append(str(error)))
        yield found
        assert not found.problems
        browser.close()


def slowly_learned(source):
    """A row of a few features out of many, each of which speaks for a class."""
    names = source.sample(range(400), 9)
    return {f"w{name}": 1.0 for name in names}, "ab"[sum(name % 2 for name in names) > 4]


def test_a_person_looks_after_a_model(page, tmp_path):
    expect = sync_api.expect
    expect.set_options(timeout=20_000)
    with served(tmp_path / "data") as (api, url), Client(url) as client:
        page.goto(url)
        page.get_by_label("Name").fill("mail")
        page.get_by_role("button", name="Create").click()
        expect(page.locator("#name")).to_have_text("mail")
        stop = threading.Event()

        def feed():
            source = random.Random(2)
            while not stop.wait(0.05):
                client.learn_many("mail", [slowly_learned(source) for _ in range(20)])

        thread = threading.Thread(target=feed)
        thread.start()
        try:
            expect(page.locator("#curve canvas")).to_be_attached()
            first = float(page.locator("#error").inner_text().split()[0])
            page.wait_for_timeout(3000)
            assert float(page.locator("#error").inner_text().split()[0]) < first
        finally:
            stop.set()
            thread.join()
        # the last mistakes: one gets another label, one is taken back
        expect(page.locator("#mistakes tbody tr").first).to_be_visible()
        page.wait_for_timeout(1500)
        rows = api.service.model("mail").champion.rows
        count = page.locator("#mistakes tbody tr").count()
        page.get_by_role("button", name="Correct").first.click()
        page.locator("#label").fill("b")
        page.get_by_role("dialog").get_by_role("button", name="Correct").click()
        expect(page.locator("#mistakes tbody tr")).to_have_count(count - 1)
        page.get_by_role("button", name="Undo").first.click()
        expect(page.locator("#mistakes tbody tr")).to_have_count(count - 2)
        champion = api.service.model("mail").champion
        api.service.rebuilder.wait(champion, 30)
        assert champion.rows == rows - 1
        # the world changes
        source = random.Random(3)
        rows = [slowly_learned(source) for _ in range(1500)]
        client.learn_many("mail", [(x, "b" if y == "a" else "a") for x, y in rows])
        expect(page.locator("#alarms li").first).to_contain_text("has changed")
        # is it as often right as it is sure?
        expect(page.locator("#calibration")).to_have_attribute(
            "aria-label", re.compile(r"Calibration: \d.* sure, \d.* right of \d")
        )
        expect(page.locator("#confidence canvas")).to_be_attached()
        expect(page.locator("#throughput canvas")).to_be_attached()
        # a question
        page.locator("#row").fill('{"w1": 1, "w2": 2}')
        page.get_by_role("button", name="Predict").click()
        expect(page.locator("#answer b")).to_have_text(re.compile("a|b"))
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#features li").first).to_be_visible()
        page.get_by_role("button", name="Theme").click()
        page.set_viewport_size({"width": 380, "height": 800})
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 380
