"""What the tests of the page in a real browser share."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

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


def desk_of(browser: Any, **settings: Any) -> Any:
    """A browser of its own, as far as pages can tell."""
    view = {"width": 1300, "height": 900}
    return browser.new_context(viewport=view, timezone_id="UTC", locale="en-GB", **settings)
