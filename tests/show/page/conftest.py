"""A browser for tests of pages: Debian's Chromium, which `make setup` of the tests installs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser of its own for each file of tests: beside it no other event loop can run."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    assert program is not None, "no Chromium: `scripts/packages --test` installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
