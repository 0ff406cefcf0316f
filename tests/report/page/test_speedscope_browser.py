"""speedscope's own importer reads our export, in a browser."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.report.exports.test_exports import WHOLE

from hardcost.report.exports.speedscope import speedscope

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PAGE = "dist/release/index.html"


def test_speedscope_shows_what_functions_execute(browser: Browser, tmp_path: Path) -> None:
    program = shutil.which("speedscope")
    if program is None:
        pytest.skip("speedscope is not installed: npm install --global speedscope")
    # As the program itself does it: a script that its page loads, since a page can't read files.
    content = base64.b64encode(speedscope([WHOLE], "a title").encode()).decode()
    script = tmp_path / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64('p.json', '{content}')")
    page = browser.new_page()
    page.goto(f"{(Path(program).resolve().parents[1] / _PAGE).as_uri()}#localProfilePath={script}")
    page.get_by_text("open, profile (instructions) (2/2)").wait_for()
    assert page.title() == "a title - speedscope"
    page.keyboard.press("3")  # the table of functions
    page.get_by_text("Symbol Name").wait_for()
    rows = [row.split() for row in page.locator("tr").all_inner_texts()]
    assert ["7,000", "(99%)", "7,000", "(99%)", "new;\\x1b"] in rows
    assert ["7,100", "(100%)", "100", "(1.4%)", "f"] in rows
    page.close()
