"""The pages of prices: every link leads to a page, names do no harm, and a browser can use them."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from hardcost.library.price_overview import overview, size
from hardcost.model.finding.price import Benchmark, BenchmarkControl
from hardcost.show.site.site import FRONT, address_of, pages
from tests.show.test_prices import ONE

HOSTILE = 'x"><script>alert(1)</script>\x1b[31m/../../etc'
BENCHMARK = Benchmark(
    "b", "B", "S", (BenchmarkControl("1.1", ("a=1", HOSTILE)), BenchmarkControl("1.2", ("nosuch",)))
)
SITE = pages((ONE, replace(ONE, control=HOSTILE, same_as=("a=1", "b"))), (BENCHMARK,))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of all prices that come with hardcost, as files."""
    folder = tmp_path_factory.mktemp("site")
    done: list[None] = []
    found = overview(lambda: done.append(None))
    assert len(done) == size()
    for address, text in pages(found.prices, found.benchmarks).items():
        file = folder / address
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder


def links(address: str, text: str) -> set[str]:
    """Return the addresses that a page links to, seen from the front."""
    found = re.findall(r'href="([^"]*)"', text)
    return {posixpath.normpath(posixpath.join(posixpath.dirname(address), one)) for one in found}


def test_an_address_is_made_of_the_name_alone_and_is_a_file_s_name() -> None:
    assert address_of("init_on_alloc=1") == "controls/init_on_alloc=1.html"
    assert address_of("-w /etc/shadow -p wa") == "controls/w-etc-shadow--p-wa-3fb50642.html"
    assert re.fullmatch(r"controls/[A-Za-z0-9._=+-]+\.html", address_of(HOSTILE))
    assert len({address_of(f"-w /etc/{name} -p wa") for name in ("a/b", "a-b", "a b")}) == 3


def test_every_link_leads_to_a_page() -> None:
    for address, text in SITE.items():
        assert links(address, text) <= SITE.keys(), address
    assert address_of("a=1") in links(FRONT, SITE[FRONT])


def test_a_hostile_name_is_text() -> None:
    for text in SITE.values():
        assert "<script>alert" not in text
        assert "\x1b" not in text


def test_a_page_loads_nothing() -> None:
    for text in SITE.values():
        assert "default-src 'none'" in text
        assert not re.search(r"(src|href)=\"(https?:)?//", text)


def test_a_benchmark_s_control_without_a_known_setting_has_no_number() -> None:
    assert "1.2" in SITE["benchmarks/b.html"]


def test_the_site_has_a_page_for_each_control_and_no_dead_link(whole: Path) -> None:
    there = {str(one.relative_to(whole)) for one in whole.rglob("*.html")}
    for address in there:
        assert links(address, (whole / address).read_text()) <= there, address
    for name in ("init_on_alloc=1", "lsm=enforcing", "-w /etc/shadow -p wa -k identity"):
        assert address_of(name) in there


def test_no_bar_is_longer_than_its_column(whole: Path) -> None:
    texts = (file.read_text() for file in whole.glob("**/*.html"))
    lengths = {int(one) for text in texts for one in re.findall(r"width:(\d+)%", text)}
    assert max(lengths) == 100


def test_two_clicks_lead_from_a_search_to_a_price(whole: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((whole / FRONT).as_uri())
    page.fill("#search", "/etc/shadow wa")
    shown = page.locator("tbody tr:visible")
    assert 0 < shown.count() < 10
    shown.first.locator("a").click()
    assert "/etc/shadow" in page.inner_text("h1")
    assert "audit rule: adds up to" in page.inner_text(".lead").lower()
    page.close()


def test_a_column_sorts_its_table_both_ways(whole: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((whole / FRONT).as_uri())
    button = page.get_by_role("button", name="Linux 6.1", exact=True)
    values = "[...document.querySelectorAll('tbody tr')].map(r => Number(r.cells[2].dataset.value))"
    button.click()
    falling = page.evaluate(values)
    assert falling == sorted(falling, reverse=True)
    button.click()
    assert page.evaluate(values) == sorted(falling)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "address", [FRONT, "controls/init_on_alloc=1.html", "benchmarks/rhel9.html"]
)
def test_pages_are_accessible_and_as_wide_as_a_telephone(
    address: str, scheme: str, whole: Path, browser: Browser
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 800})  # type: ignore[arg-type]
    page.goto((whole / address).as_uri())
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()
