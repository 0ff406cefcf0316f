"""A number that does not show all has a mark, and a sentence explains the mark."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hardcost.analysis.whole_finding import with_derived_values
from hardcost.model.finding.bill import Bill
from hardcost.show.json import to_json
from hardcost.show.page.page import to_html
from hardcost.show.sentences.caveats import unresolved_notes
from hardcost.show.tables.bill import bill_grids, bill_table
from hardcost.show.tables.layout import render
from hardcost.show.text import MARK

SENTENCE = "its cost is <elsewhere>"


@pytest.fixture
def cautioned(bill: Bill) -> Bill:
    """A bill with a caveat at its dearest control."""
    dearest = max(bill.items, key=lambda item: item.cost).control
    items = tuple(
        replace(item, caveat=SENTENCE if item.control == dearest else "") for item in bill.items
    )
    return replace(bill, items=items)


def test_a_line_of_the_bill_bears_a_sign_and_the_sentence_stands_below(cautioned: Bill) -> None:
    _, items = bill_grids(cautioned, top=32)
    (at,) = [n for n, text in enumerate(items.texts) if text.more.endswith(f"{MARK} see below")]
    for group in items.groups:
        marked = [MARK in cell for cell in group.columns[0].cells]
        assert marked == [n == at for n in range(len(marked))]
    assert [note for note in items.notes if MARK in note] == [
        f"{MARK} {items.texts[at].name}: {SENTENCE}"
    ]
    assert "(+) see below" in render(bill_table(cautioned, top=32), 120)


def test_the_page_and_json_have_it_at_the_line(cautioned: Bill) -> None:
    page = to_html(cautioned)
    assert "its cost is &lt;elsewhere&gt;" in page
    items = json.loads(to_json(with_derived_values(cautioned)))["items"]
    assert {item.get("caveat") for item in items} == {None, SENTENCE}
    assert items[0]["caveat"] == SENTENCE


def test_a_total_of_0_lies_between_no_two_numbers(bill: Bill) -> None:
    none = replace(bill.totals[0], cost=0.0, low=0.0, high=0.0)
    (note,) = unresolved_notes([none])
    assert note == f"{MARK} {none.metric}: the cost is 0, and is not itemised"


def test_a_total_that_may_be_nothing_says_so(bill: Bill) -> None:
    first, *others = bill.totals
    unclear = replace(first, low=-3.0, high=first.cost + 5)
    made = replace(bill, totals=(unclear, *others))
    totals, _ = bill_grids(made, top=20)
    cost = totals.groups[0].columns[2]
    assert cost.header == "cost"
    assert [MARK in cell for cell in cost.cells] == [False, True, *(False for _ in others)]
    (note,) = totals.notes
    assert "null: the cost lies between -3 and " in note
    assert "not distinguishable from 0" in note
    document = json.loads(to_json(made))
    assert document["totals"][0]["low"] == -3.0
    assert "low" not in document["totals"][1]
