"""What holds of every page: it begins with the answer, and anyone can read and reach all of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import resources

import pytest
from lxml import html as lxml_html
from lxml.html import HtmlElement

from hardcost.model.finding.bill import Bill
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.show.charts.drawing import COLOURS
from hardcost.show.page.page import to_html
from hardcost.show.sentences.answer import answer
from tests.show.bill_findings import side_by_side
from tests.show.guests import cell, failed, filecopy, selinux

_TEXT = 4.5
"""The least contrast of words with what is behind them (WCAG 2.2, 1.4.3)."""

_MARK = 3.0
"""The least contrast of marks that mean something (WCAG 2.2, 1.4.11)."""


@pytest.fixture(
    scope="module", params=["bill", "small-bill", "run", "filecopy", "selinux", "failed", "several"]
)
def finding(
    request: pytest.FixtureRequest,
    run_of: Callable[[tuple[str, ...]], StudyFinding],
    bill: Bill,
    bill_of: Callable[[tuple[str, ...]], Bill],
) -> Finding:
    small = replace(bill_of(("null", "open")), cells=tuple(_measured()))
    made: dict[str, Callable[[], Finding]] = {
        "bill": lambda: bill,
        "small-bill": lambda: small,
        "run": lambda: run_of(("null", "open")),
        "filecopy": filecopy,
        "selinux": selinux,
        "failed": lambda: failed(filecopy(), "audit", "died"),
        "several": lambda: side_by_side(small, small),
    }
    found = made[request.param]()
    if isinstance(found, StudyFinding):
        found = replace(found, observed=found.observed[:4])
    return replace(found, notes=("see `audit=0`",))


@pytest.fixture(scope="module")
def page(finding: Finding) -> HtmlElement:
    return lxml_html.document_fromstring(to_html(finding))


def _measured() -> list[Cell]:
    return [
        cell((name, "syscalls", metric), value, ("baseline", 400.0), "insn/op")
        for name, value in (("baseline", 400.0), ("profile", 900.0), ("audit-off", 300.0))
        for metric in ("null", "open")
    ]


def test_the_first_thing_below_the_heading_is_the_answer(
    page: HtmlElement, finding: Finding
) -> None:
    (heading,) = page.xpath("//h1")
    after = heading.xpath("following::*[self::p or self::table or self::dl or self::svg]")
    said = [one.replace("`", "") for one in answer(finding).sentences]
    assert [one.text_content() for one in after[: len(said)]] == said
    words = " ".join(page.xpath("//body")[0].text_content().split())
    first = re.search(r"\d", words[words.index(said[0]) :])
    assert first is not None
    assert words.index(said[0]) + first.start() < 500


def test_the_first_screen_holds_what_is_dearest_and_what_is_free(
    page: HtmlElement, finding: Finding
) -> None:
    said = answer(finding)
    shown = [" ".join(one.text_content().split()) for one in page.xpath("//*[@id='dearest']//li")]
    assert len(shown) == len(said.dearest) <= 10
    for one, text in zip(said.dearest, shown, strict=True):
        assert one.cost in text
        assert one.name in text
    free = page.xpath("//*[@id='free']//li")
    assert len(free) == (len(said.free) if len(said.free) <= 8 else 9)


def test_what_scrolls_can_be_reached_and_has_a_name(page: HtmlElement) -> None:
    regions = page.xpath("//pre | //*[contains(concat(' ', @class, ' '), ' scroll ')]")
    assert regions
    for region in regions:
        assert region.get("tabindex") == "0"
        assert region.get("role") == "region"
        assert region.get("aria-label")


def test_every_table_scrolls_in_a_region_or_is_for_paper(page: HtmlElement) -> None:
    for table in page.xpath("//table"):
        classes = table.getparent().get("class").split()
        assert {"scroll", "paper"} & set(classes)


def test_ids_are_unique_and_every_link_leads_somewhere(page: HtmlElement) -> None:
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    targets = {href.removeprefix("#") for href in page.xpath("//a/@href")}
    assert targets
    assert targets <= set(ids)
    referred = page.xpath("//@aria-labelledby | //@aria-describedby")
    assert set(referred) <= set(ids)


def test_each_section_can_be_linked_to(page: HtmlElement) -> None:
    sections = page.xpath("//section")
    assert all(section.get("id") for section in sections)
    headed = [one.get("id") for one in page.xpath("//main/section[h2]")]
    linked = [href.removeprefix("#") for href in page.xpath("//nav//a/@href")]
    assert linked == headed


def test_headings_of_tables_say_what_they_head(page: HtmlElement) -> None:
    for table in page.xpath("//table"):
        assert table.xpath("thead//th")
        for heading in table.xpath(".//th"):
            assert heading.get("scope") in {"col", "row", "colgroup"}
            assert heading.text_content().strip()
        for row in table.xpath("tbody/tr"):
            assert row.xpath("th[@scope='row']")


def test_each_drawing_is_said_in_words_too(page: HtmlElement) -> None:
    for svg in page.xpath("//svg[not(@aria-hidden)]"):
        assert svg.get("role") == "img"
        title, desc = list(svg)[:2]
        assert (title.tag, desc.tag) == ("title", "desc")
        assert title.text_content().strip()
        assert desc.text_content().strip()


def test_no_backtick_is_left(page: HtmlElement) -> None:
    assert "`" not in page.text_content()
    assert "audit=0" in [code.text_content() for code in page.xpath("//code")]


def test_every_control_of_a_bill_has_a_row_to_link_to(bill: Bill) -> None:
    page = lxml_html.document_fromstring(to_html(bill))
    controls = {item.control for item in bill.items}
    rows = page.xpath("//tr[starts-with(@id, 'control-')]")
    assert [row.get("id") for row in rows] == [f"control-{n + 1}" for n in range(len(controls))]
    for row in rows:
        assert row.xpath("td/a/@href") == [f"#{row.get('id')}"]


def test_a_wide_table_says_that_it_scrolls(
    run_of: Callable[[tuple[str, ...]], StudyFinding],
) -> None:
    def hints(metrics: tuple[str, ...]) -> list[str]:
        page = lxml_html.document_fromstring(to_html(run_of(metrics)))
        return list(page.xpath("//figure[@class='table']/p[contains(@class, 'hint')]/@class"))

    assert "hint over-35" in hints(("null", "open"))
    assert "hint over-65" in hints(("null", "open", "stat", "chmod"))


def _styles() -> str:
    return (resources.files("hardcost.show.page") / "templates" / "report.css").read_text("utf-8")


def _schemes() -> list[dict[str, str]]:
    """Return the page's colours, in light and in dark windows."""
    light, dark = re.findall(r":root \{([^}]*)\}", _styles())[:2]
    first = dict(re.findall(r"--([\w-]+): ([^;]+);", light))
    return [first, first | dict(re.findall(r"--([\w-]+): ([^;]+);", dark))]


def _rgb(colour: str) -> tuple[float, ...]:
    if colour.startswith("#"):
        digits = colour[1:]
        digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
        return tuple(int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return tuple(float(part) / 255 for part in colour.split())


def _light(colour: tuple[float, ...]) -> float:
    """Return the relative luminance, as WCAG 2.2 defines it."""
    linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    dark, light = sorted((_light(one), _light(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", _schemes(), ids=["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(scheme: dict[str, str]) -> None:
    grounds = [_rgb(scheme[name]) for name in ("paper", "card", "faint")]
    for name in ("ink", "soft", "accent"):
        for ground in grounds:
            assert _contrast(_rgb(scheme[name]), ground) >= _TEXT, name
    shades = [float(it) for it in re.findall(r"\.heat-\d .*?/ (\.\d+)\)", _styles())]
    assert len(shades) == 5
    for shade in shades:
        for ground in (_rgb(scheme["card"]), _rgb(scheme["faint"])):
            mixed = zip(_rgb(scheme["warm"]), ground, strict=True)
            heated = tuple(shade * warm + (1 - shade) * under for warm, under in mixed)
            assert _contrast(_rgb(scheme["ink"]), heated) >= _TEXT


@pytest.mark.parametrize("scheme", _schemes(), ids=["light", "dark"])
def test_marks_stand_out_from_what_is_behind_them(scheme: dict[str, str]) -> None:
    for colour in (*COLOURS, scheme["mark"]):
        for name in ("paper", "card"):
            assert _contrast(_rgb(colour), _rgb(scheme[name])) >= _MARK, colour
