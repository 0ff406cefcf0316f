"""speedscope's own importer reads our export, in a browser."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser

from hardcost.show.exports.speedscope import speedscope
from tests.show.exports.test_exports import WHOLE

_PACKAGE = "speedscope@1.25.0"
_DIGEST = (
    "7297fd1d64d97f58a32d7049ae4f3b55eff9e2d9d8c7aae57f48144e1be7de8a"
    "24ea1eb784b5d539088c7f8e0f4fe5e8579d3770f7ef7e24f980fe6fa23a7a02"
)
"""Of its archive, SHA-512."""


def test_speedscope_shows_what_functions_execute(browser: Browser, tmp_path: Path) -> None:
    npm = Path(sys.executable).parent / "npm"
    subprocess.run([npm, "pack", "--silent", _PACKAGE], cwd=tmp_path, check=True)
    (archive,) = tmp_path.glob("*.tgz")
    assert hashlib.sha512(archive.read_bytes()).hexdigest() == _DIGEST
    subprocess.run(["tar", "-xf", archive, "-C", tmp_path], check=True)
    index = tmp_path / "package/dist/release/index.html"
    # As the program itself does it: a script that its page loads, since a page can't read files.
    content = base64.b64encode(speedscope([WHOLE], "a title").encode()).decode()
    script = tmp_path / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64('p.json', '{content}')")
    page = browser.new_page()
    page.goto(f"{index.as_uri()}#localProfilePath={script}")
    page.get_by_text("open, profile (instructions) (2/2)").wait_for()
    assert page.title() == "a title - speedscope"
    page.keyboard.press("3")  # the table of functions
    page.get_by_text("Symbol Name").wait_for()
    rows = [row.split() for row in page.locator("tr").all_inner_texts()]
    assert ["7,000", "(99%)", "7,000", "(99%)", "new;\\x1b"] in rows
    assert ["7,100", "(100%)", "100", "(1.4%)", "f"] in rows
    page.close()
