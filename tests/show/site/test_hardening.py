"""The page of a machine: all is there without its script, names do no harm, anyone can use it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from lxml import html as lxml_html
from playwright.sync_api import Browser

from auditrules.model.location import Location
from hardcost.model.finding.here import HereCall, HereFinding, HereItem, MissingControl
from hardcost.show.here import here_lines
from hardcost.show.site.hardening import hardening_page

HOSTILE = "</script><script>alert(1)</script>\"'><img src=http://x/>{{ 7*7 }}\x1b[2J\u202e\n&amp;"


def item(name: str, share: float | None, *, by_default: bool = False) -> HereItem:
    return HereItem(
        id=f"sysctl:{name}",
        kind="sysctl",
        name=name,
        place=None if by_default else Location("/etc/sysctl.d/a.conf", 3),
        by_default=by_default,
        share=share,
        known=None if share is None else "measured",
        why="no list has one for it yet" if share is None else None,
        most="open" if share else None,
        grows=share * 2 if share else None,
    )


FOUND = HereFinding(
    machine="web",
    words="",
    kernel="6.1.0",
    priced_on="6.1.0-57-amd64",
    predicted_on="6.1.0-57-amd64",
    mix="an assumed mix of calls",
    mix_by="assumed",
    covered=0.5,
    share=0.46,
    first_rule=0.2,
    calls=(HereCall(name="open", cost=120.5, share=0.3), HereCall(name="x", cost=-3, share=-0.1)),
    items=(
        item("dear", 0.25),
        item("free", 0.0),
        item("unpriced", None),
        item("there", 0.1, by_default=True),
    ),
    unseen=("mitigations: on another kernel",),
    against="kspp",
    missing=(
        MissingControl(name="nosmt", share=0.0),
        MissingControl(name="B=y"),
    ),
    unjudged=3,
    notes=("read from files",),
)


def hostile() -> HereFinding:
    """Return a finding whose texts from outside are all hostile."""
    bad = replace(
        item(HOSTILE, 0.1),
        kind=HOSTILE,
        place=Location(f"/{HOSTILE}", 1),
        most=HOSTILE,
        note=HOSTILE,
        accepted=HOSTILE,
    )
    return replace(
        FOUND,
        machine=HOSTILE,
        kernel=HOSTILE,
        priced_on=HOSTILE,
        mix=HOSTILE,
        items=(bad, replace(bad, by_default=True), replace(bad, share=None, why=HOSTILE)),
        calls=(HereCall(name=HOSTILE, cost=1.0, share=0.1),),
        unseen=(HOSTILE,),
        against=HOSTILE,
        missing=(MissingControl(name=HOSTILE),),
        notes=(HOSTILE,),
        not_accepted=0.1,
    )


def rows(text: str) -> list[list[str]]:
    """Return the texts of the cells of what was set."""
    table = lxml_html.document_fromstring(text).find(".//table")
    assert table is not None
    return [[" ".join(cell.text_content().split()) for cell in row] for row in table.iter("tr")][1:]


def test_the_answer_is_the_one_of_a_terminal() -> None:
    page = lxml_html.document_fromstring(hardening_page(FOUND))
    (lead,) = page.find_class("lead")
    assert lead.text_content() == next(line for _, line in here_lines(FOUND))


def test_what_was_set_is_a_table_that_adds_up() -> None:
    found = rows(hardening_page(FOUND))
    assert [(row[0], row[2]) for row in found] == [
        ("dear", "25%"),
        ("having audit rules, whichever they are", "20%"),
        ("free", "0.0%"),
        ("unpriced", "not known"),
    ]
    assert found[0][3:] == ["open +50%", "/etc/sysctl.d/a.conf:3", "measured"]
    assert found[3][3:] == ["", "/etc/sysctl.d/a.conf:3", "no list has one for it yet"]


def test_defaults_are_folded() -> None:
    page = lxml_html.document_fromstring(hardening_page(FOUND))
    (defaults,) = page.xpath("//details[@id='defaults']")
    assert "there" in defaults.text_content()
    assert defaults.get("open") is None
    text = page.text_content()
    for one in ("mitigations: on another kernel", "read from files", "nosmt", "3 controls"):
        assert one in text
    assert "How this is known" in text


def test_what_is_accepted_has_its_reason() -> None:
    accepted = replace(FOUND.items[0], accepted="the auditors want it")
    found = replace(FOUND, items=(accepted, *FOUND.items[1:]), not_accepted=0.21)
    text = hardening_page(found)
    assert "Of this 25% is accepted, and 21% is not." in text
    assert rows(text)[0][-1] == "the auditors want it"
    assert len(rows(hardening_page(FOUND))[0]) == len(rows(text)[0]) - 1


def test_a_hostile_text_is_text() -> None:
    text = hardening_page(hostile())
    assert text.replace("\n", "").isprintable()
    page = lxml_html.document_fromstring(text)
    assert len(page.xpath("//script")) == 1
    assert not page.xpath("//img")
    assert "49" not in page.xpath("//h1")[0].text_content()
    attributes = {name for one in page.iter() for name in one.attrib}
    assert not [name for name in attributes if name.startswith("on") or name == "src"]


def test_a_page_of_nothing_says_so() -> None:
    found = replace(FOUND, items=(), calls=(), share=0.0, first_rule=0.0, unseen=())
    text = hardening_page(replace(found, against=None, missing=(), notes=(), unjudged=0))
    assert "Nothing that hardens was set on web" in text
    assert "<table" not in text


def test_the_page_loads_nothing(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "here.html"
    file.write_text(hardening_page(hostile()))
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.on("dialog", lambda one: one.dismiss())
    page.on("console", lambda one: said.append(one.text))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    assert not said  # no complaint of the policy either
    page.close()


def test_a_search_is_of_what_was_set(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "here.html"
    file.write_text(hardening_page(FOUND))
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.inner_text("#found") == "4"
    page.fill("#search", "free")
    assert page.locator("main > .scroll tbody tr:visible").count() == 1
    page.fill("#search", "")
    page.get_by_role("button", name="adds").first.click()
    page.get_by_role("button", name="adds").first.click()
    assert "unpriced" in page.inner_text("main > .scroll tbody tr >> nth=0")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["plain", "hostile"])
def test_the_page_is_accessible_and_as_wide_as_a_telephone(
    scheme: str, kind: str, browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "here.html"
    file.write_text(hardening_page(hostile() if kind == "hostile" else FOUND))
    page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 800})  # type: ignore[arg-type]
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()
