"""Flame graphs as their reader has them: in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from hardcost.model.finding.finding import Finding
from hardcost.show.page.page import to_html
from tests.show.conftest import HOSTILE
from tests.show.page.test_flame_graph import flamed, placed

Opened = Callable[..., Page]

WINDOWS = {1400: 900, 390: 844}
GRAVE = {"serious", "critical"}


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Open a profile's page, which must load nothing else and meet no error."""
    faults: list[str] = []
    contexts = []

    def show(
        name: str = "audit_filter_syscall",
        make: Callable[[str], Finding] = flamed,
        **how: Any,  # noqa: ANN401  (Playwright's)
    ) -> Page:
        file = tmp_path / "profile.html"
        file.write_text(to_html(make(name)), encoding="utf-8")
        contexts.append(browser.new_context(**how))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text))
        page.on("request", lambda one: faults.extend([one.url] * (one.url != file.as_uri())))
        page.goto(file.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert not faults


def width_of(page: Page, name: str) -> float:
    """Return how wide a frame is, in pixels; 0 if it is not shown."""
    box = page.locator(".frame", has=page.locator(f":scope > .function > span >> text='{name}'"))
    found = box.last.bounding_box()
    return found["width"] if found else 0.0


def test_a_frame_that_is_selected_is_as_wide_as_the_graph_and_escape_shows_all(
    opened: Opened,
) -> None:
    page = opened()
    whole = width_of(page, "open")
    assert width_of(page, "old") == pytest.approx(whole * 20 / 170, abs=1)
    page.get_by_text("old", exact=True).click()
    assert width_of(page, "old") == pytest.approx(whole, abs=1)
    assert width_of(page, "audit_filter_syscall") == 0
    assert "20 under baseline, 0 under profile; gone" in page.locator(".said").inner_text()
    page.keyboard.press("Escape")
    assert width_of(page, "audit_filter_syscall") == pytest.approx(whole * 50 / 170, abs=1)
    page.get_by_text("old", exact=True).click()
    page.get_by_role("button", name="Show all").click()
    assert width_of(page, "old") == pytest.approx(whole * 20 / 170, abs=1)


def test_the_keyboard_alone_reaches_each_frame(opened: Opened) -> None:
    page = opened()
    page.locator(".frame").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    focused = page.locator(":focus")
    assert (focused.get_attribute("aria-label") or "").startswith("old: -20")
    page.keyboard.press("Enter")
    assert width_of(page, "audit_filter_syscall") == 0
    page.keyboard.press("ArrowUp")
    assert (page.locator(":focus").get_attribute("aria-label") or "").startswith("enter:")
    assert page.locator(".frame[tabindex='0']").count() == 1


def test_a_search_marks_functions_and_sums_them(opened: Opened) -> None:
    page = opened()
    page.get_by_label("Find a function").fill("AUDIT_")
    assert page.locator(".frame.found").count() == 1
    assert page.locator("output").inner_text() == "1 frame: 0 → 50, with all that they call"
    page.get_by_label("Find a function").fill("")
    assert page.locator(".searched").count() == 0


@pytest.mark.parametrize("make", [flamed, placed])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WINDOWS)
def test_nothing_grave_for_people_who_see_or_hear_it_otherwise(
    opened: Opened,
    width: int,
    scheme: Literal["light", "dark"],
    make: Callable[[str], Finding],
) -> None:
    window = {"width": width, "height": WINDOWS[width]}
    page = opened(make=make, viewport=window, color_scheme=scheme, bypass_csp=True)
    found = Axe().run(page).response["violations"]
    assert not [one["help"] for one in found if one["impact"] in GRAVE]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1400, 712, 690, 390])
def test_a_graph_that_is_wider_than_the_window_says_so(opened: Opened, width: int) -> None:
    page = opened(viewport={"width": width, "height": 844})
    graph = page.locator(".flames").first
    wider = graph.locator(".scroll").evaluate("it => it.scrollWidth > it.clientWidth")
    assert wider == (width < 700)
    assert graph.get_by_text("scroll it sideways").is_visible() or not wider
    assert width < 1400 or not graph.get_by_text("scroll it sideways").is_visible()


def test_a_subsystem_is_enlarged_in_its_own_graph(opened: Opened) -> None:
    page = opened(make=placed)
    graph = page.locator("#subsystems-1")
    graph.get_by_text("mm", exact=True).click()
    assert graph.get_by_text("audit", exact=True).is_hidden()
    assert page.locator("#flames-1").get_by_text("old", exact=True).is_visible()
    page.keyboard.press("Escape")
    assert graph.get_by_text("audit", exact=True).is_visible()


def test_without_the_script_the_graph_stands(opened: Opened) -> None:
    page = opened(java_script_enabled=False)
    assert width_of(page, "old") > 0
    assert not page.get_by_label("Find a function").is_visible()


def test_a_hostile_function_is_text(opened: Opened) -> None:
    page = opened(HOSTILE)
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    page.get_by_label("Find a function").fill("<")
