"""How large the page of a large bill is, and how long a tick of its what-if part takes.

    bench/speed/what_if_page.py [--controls 500] [--metrics 26] [--keep page.html]

It makes the bill of audit rules whose costs are drawn from a seed, opens its page in Chromium, and
ticks controls. A tick's time is that of the click, with the layout that follows from it.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from auditrules.model.rule import Rule
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.finding.bill import Bill
from hardcost.show.page.page import to_html
from hardcost.show.page.what_if import data_for_page
from tests.show.page.planted import Cost, planted

CALLS = ("open", "openat", "unlink", "rename", "chmod", "fchownat", "setxattr", "mount", "ptrace")

TICKED = 40

TICK = """count => {
    const times = [];
    for (let nth = 1; nth <= count; nth += 1) {
        const begin = performance.now();
        document.getElementById(`keep-${nth * 7}`).click();
        document.body.offsetHeight;
        times.push(performance.now() - begin);
    }
    return times;
}"""

MIX = """() => {
    const begin = performance.now();
    const choice = document.getElementById("mix-choice");
    choice.value = "3";
    choice.dispatchEvent(new Event("change"));
    document.body.offsetHeight;
    return performance.now() - begin;
}"""


def main() -> int:
    """Print sizes and times."""
    words = argparse.ArgumentParser(description="The size and speed of a large bill's page.")
    words.add_argument("--controls", type=int, default=500)
    words.add_argument("--metrics", type=int, default=26)
    words.add_argument("--keep", type=Path, help="keep the page in this file")
    chosen = words.parse_args()
    finding = large(chosen.controls, chosen.metrics)
    page = to_html(finding)
    print(f"{chosen.controls} controls, {chosen.metrics} metrics")
    data = len(data_for_page(finding) or "")
    print(f"page   {len(page.encode()) / 1e6:.2f} MB, of which data {data / 1e6:.2f} MB")
    with tempfile.TemporaryDirectory() as folder:
        file = chosen.keep or Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        measure(file)
    return 0


def measure(file: Path) -> None:
    """Print how long a page takes to load, to tick a control and to change the mix."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(file.resolve().as_uri())
        loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        ticks = sorted(page.evaluate(TICK, TICKED))
        mix = page.evaluate(MIX)
        browser.close()
    print(f"load   {loaded:.0f} ms")
    print(
        f"tick   {statistics.median(ticks):.1f} ms (median of {TICKED}), {ticks[-1]:.1f} ms at most"
    )
    print(f"mix    {mix:.1f} ms")


def large(controls: int, metrics: int) -> Bill:
    """Return a bill of audit rules whose costs are whole numbers out of a fixed seed."""
    draw = random.Random(1)  # noqa: S311  (no secret)
    rules = [
        AuditRule(
            Rule(
                f"-a always,exit -F arch=b{64 - 32 * (nth % 2)} -S {draw.choice(CALLS)}"
                f" -F path=/usr/bin/program-{nth} -F auid>=1000 -F auid!=unset -F key=rule-{nth}"
            ),
            ids=(f"xccdf_org.ssgproject.content_rule_{nth}", f"CCE-{90000 + nth}-1"),
        )
        for nth in range(controls)
    ]

    def cost() -> Cost:
        own = [float(draw.choice((19, 19, 19, 23, 88, 21_304))) for _ in rules]
        pairs = {draw.randrange(controls): draw.randrange(controls) for _ in range(20)}

        def of(on: frozenset[int]) -> float:
            met = sum(100.0 for one, other in pairs.items() if one in on and other in on)
            return 377.0 * bool(on) + met + sum(own[nth] for nth in on)

        return of

    return planted({f"metric-{nth}": cost() for nth in range(metrics)}, rules, "large")


if __name__ == "__main__":
    sys.exit(main())
