"""The page of a bill of a thousand rules is not large, however they differ."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from lxml import html as lxml_html
from lxml.html import HtmlElement

from auditrules.model.rule import Rule
from hardcost.controls.control import Profile
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.model.finding.bill import Bill, Item, Sum, Verification
from hardcost.profiles.toml_text import pieces
from hardcost.show.page.page import to_html
from tests.show.conftest import METRICS, make_bill, sample_rules

_MOST = 2_000_000
"""Bytes that a page may have."""

_PAIRS = 500


@pytest.fixture(scope="module")
def alike() -> Bill:
    """A bill of 1,000 rules, most of which cost the same on each of 26 metrics."""
    bill = make_bill(sample_rules(_PAIRS), METRICS[:26])
    controls = tuple(dict.fromkeys(item.control for item in bill.items))
    rules = (AuditRule(Rule(control)) for control in controls)
    profile = Profile("large", "Many rules", "", (AuditDaemon(), *rules))
    return replace(bill, controls=controls, pieces=pieces(profile))


def _differing(bill: Bill) -> Bill:
    """Return the bill with costs of which hardly two are equal."""
    draw = random.Random(1)  # noqa: S311  (the same costs each time)

    def drawn(item: Item) -> Item:
        cost = float(draw.randrange(30_000))
        return replace(item, cost=cost, low=cost, high=cost, alone=cost + draw.randrange(500))

    return replace(bill, items=tuple(map(drawn, bill.items)))


def _with_intervals(bill: Bill) -> Bill:
    return replace(
        bill,
        items=tuple(
            replace(one, cost=one.cost + 0.1234567, low=one.cost - 1.2345, high=one.cost + 2.3456)
            for one in bill.items
        ),
    )


def _verified(bill: Bill) -> Bill:
    return replace(
        bill,
        items=tuple(
            replace(one, alone=None, known="verified", groups=40, predicted=one.cost)
            for one in bill.items
        ),
        fixed=tuple(Sum(one.metric, 377.0) for one in bill.totals),
        rules=bill.controls,
        verification=Verification(40, (), "the cost model", 1e-9),
    )


def _with_caveats(bill: Bill) -> Bill:
    return replace(
        bill, items=tuple(replace(one, caveat=f"not all of {one.metric}") for one in bill.items)
    )


def test_a_page_of_a_thousand_rules_is_below_two_megabytes(alike: Bill) -> None:
    differing = _differing(alike)
    bills = {
        "alike": alike,
        "differing": differing,
        "verified": _verified(differing),
        "intervals": _with_intervals(differing),
        "caveats": _with_caveats(differing),
    }
    pages = {name: to_html(bill) for name, bill in bills.items()}
    assert all('id="bill-data"' in page for page in pages.values())
    sizes = {name: len(page.encode()) for name, page in pages.items()}
    assert {name: size for name, size in sizes.items() if size >= _MOST} == {}
    assert sizes["alike"] < sizes["differing"] / 1.5


@pytest.fixture(scope="module")
def table(alike: Bill) -> HtmlElement:
    """The table of every cost."""
    (found,) = lxml_html.document_fromstring(to_html(alike)).xpath("//*[@id='controls']//details")
    return found


def test_every_control_has_a_row_and_equal_costs_have_one(alike: Bill, table: HtmlElement) -> None:
    names = [" ".join(code.text_content().split()) for code in table.xpath(".//tbody//code")]
    assert sorted(names) == sorted(alike.controls)
    headings = table.xpath(".//tbody//strong[starts-with(., 'each of the ')]/ancestor::tr")
    assert headings
    shared = 0
    for heading in headings:
        many = int(heading.xpath("string(.//strong)").split()[3])
        below = heading.xpath("following-sibling::tr")[: many + 1]
        assert [len(row.xpath("th[@colspan='27']")) for row in below[:many]] == [1] * many
        assert not below[many].xpath("th/@colspan")
        shared += many
    assert shared > len(names) / 2


def test_on_paper_each_name_is_said_once(table: HtmlElement) -> None:
    assert len(table.xpath(".//table")) == 1
    assert "flowing" in table.xpath(".//table")[0].getparent().get("class").split()
