"""Check reports in a real browser: axe's findings, sideways scrolling, and screenshots.

For any pages; tests do the same with the what-if part of a bill's page.

    bench/documents/report_pages.py --screenshots /tmp/pages report.html ...

Status 1 if axe finds something serious or critical on a page, or if a page as a whole scrolls
sideways, at 1400 or at 390 pixels, in light or in dark colours.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

WINDOWS = {1400: 900, 390: 844}
"""A laptop's window and a telephone's: height by width, in CSS pixels."""

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

GRAVE = {"serious", "critical"}


def main() -> int:
    """Check each page in each window; return 0 if there are no faults."""
    words = argparse.ArgumentParser(description="Check reports in a real browser.")
    words.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    words.add_argument("--browser", default="/usr/bin/chromium", help="Chromium's program")
    words.add_argument("--screenshots", type=Path, help="a folder for pictures")
    chosen = words.parse_args()
    faults = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chosen.browser, args=["--no-sandbox", "--hide-scrollbars"]
        )
        for page in chosen.pages:
            for width in WINDOWS:
                for scheme in SCHEMES:
                    faults += looked_at(browser, page, width, scheme, chosen.screenshots)
        browser.close()
    print("nothing wrong" if not faults else f"{faults} faults")
    return 1 if faults else 0


def looked_at(browser: Browser, file: Path, width: int, scheme: Scheme, folder: Path | None) -> int:
    """Print the faults of a page in one window; return their number."""
    page = browser.new_page(
        viewport={"width": width, "height": WINDOWS[width]}, color_scheme=scheme, bypass_csp=True
    )
    page.goto(file.resolve().as_uri())
    name = f"{file.stem} at {width}, {scheme}"
    faults = 0
    for violation in run_axe(page):
        faults += violation["impact"] in GRAVE
        places = ", ".join(str(node["target"][0]) for node in violation["nodes"][:3])
        print(f"{name}: {violation['impact']}: {violation['help']} ({places})")
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        faults += 1
        print(f"{name}: the page is {wide} pixels wide")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{file.stem}-{width}-{scheme}"
        page.screenshot(path=folder / f"{stem}.png")
        page.screenshot(path=folder / f"{stem}-whole.png", full_page=True)
    page.close()
    return faults


def run_axe(page: Page) -> list[dict[str, Any]]:
    """Return axe's violations on the page, with everything unfolded."""
    page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true })")
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = false })")
    return found


if __name__ == "__main__":
    sys.exit(main())
