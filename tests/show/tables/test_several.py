"""Several bills side by side, as text, JSON and HTML."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from hardcost.analysis.finding_text import finding_from_text, finding_to_text
from hardcost.model.finding.bill import Bill, Bills
from hardcost.show.json import to_json
from hardcost.show.page.page import to_html
from hardcost.show.tables.several import several_table
from tests.show.bill_findings import side_by_side


def named(finding: Bill, name: str, against: str) -> Bill:
    return replace(finding, profile=name, compared_with=against)


@pytest.fixture
def both(bill_of: Callable[[tuple[str, ...]], Bill]) -> Bills:
    one = bill_of(("null", "open"))
    bills = (named(one, "a.rules", "audit on, no rules"), named(one, "b<b>.rules", "nothing"))
    return side_by_side(*bills, common=("-w /etc/x -k a",), shared=False)


def text_of(finding: Bills) -> str:
    console = Console(width=120, record=True, file=None)
    with console.capture() as captured:
        console.print(several_table(finding))
    return captured.get()


def test_totals_stand_side_by_side_and_say_what_they_are_compared_with(both: Bills) -> None:
    text = text_of(both)
    assert "a.rules with audit on, no rules and b<b>.rules with nothing" in text
    assert "1 control in both profiles:\n  -w /etc/x -k a" in text
    (row,) = [line for line in text.splitlines() if line.startswith("null ")][:1]
    assert len(row.split()) == 1 + 2 * 4  # without, with, cost and ratio of each
    assert text.count("Each cost column adds up to its total.") == 2


def test_one_baseline_is_shown_once(both: Bills) -> None:
    text = text_of(replace(both, shared_baseline=True))
    assert "One baseline for all: audit on, no rules." in text
    (row,) = [line for line in text.splitlines() if line.startswith("null ")][:1]
    assert len(row.split()) == 1 + 1 + 2 * 3


def test_json_holds_each_bill_as_it_would_be_by_itself(
    both: Bills, bill_of: Callable[[tuple[str, ...]], Bill]
) -> None:
    alone = json.loads(to_json(bill_of(("null", "open"))))
    data = json.loads(to_json(both))
    assert [one["profile"] for one in data["bills"]] == ["a.rules", "b<b>.rules"]
    assert [one | {"profile": alone["profile"]} for one in data["bills"]] == [alone, alone]
    assert (data["common"], data["shared_baseline"]) == (["-w /etc/x -k a"], False)


def test_the_page_has_a_section_for_each_and_escapes_names(both: Bills) -> None:
    page = to_html(both)
    assert "Side by side" in page
    assert "b&lt;b&gt;.rules" in page
    assert "b<b>.rules" not in page


def test_it_is_saved_and_read_back(both: Bills) -> None:
    assert finding_from_text(finding_to_text(both)) == both
