"""What the tests of the page in a real browser share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from yarrow.activity.app.session import Session

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
IN_A_BROWSER = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium to look at the page"),
]
expect = sync_api.expect
expect.set_options(timeout=20_000)  # machines of others are slow


def all_shown(page: Any, session: Session) -> None:
    """Wait until the page shows all that the session knows; it is told of minutes one by one."""
    expect(page.locator("html")).to_have_attribute("data-version", str(session.version))


def wait_until(page: Any, holds: Callable[[], bool]) -> None:
    """Let the browser work until this holds."""
    for _ in range(1000):
        if holds():
            return
        page.wait_for_timeout(20)
    raise AssertionError("it did not come to that within 20 s")


def desk_of(browser: Any, **settings: Any) -> Any:
    """A browser of its own, as far as pages can tell."""
    view = {"width": 1300, "height": 900}
    return browser.new_context(viewport=view, timezone_id="UTC", locale="en-GB", **settings)
