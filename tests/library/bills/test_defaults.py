from __future__ import annotations

from hardcost.library.bills.defaults import with_defaults
from hardcost.mechanisms.boot import BootParameter
from hardcost.model.finding.bill import Item, Itemised, Total
from hardcost.model.workload import MetricId
from hardcost.show.sentences.answer import answer
from tests.show.bill_findings import billed

WORDS = ("init_on_alloc=1", "page_poison=1", "hardened_usercopy=1")


def marked(cost: float) -> Itemised:
    """Return a bill in which the first word costs so much and the second 100."""
    items = tuple(
        Item(word, MetricId("open"), "insn/op", one, one, one, one / 1000, one, None)
        for word, one in zip(WORDS, (cost, 100.0, 0.0), strict=True)
    )
    total = Total(MetricId("open"), "insn/op", 1000.0, 1100.0 + cost, 100.0 + cost)
    bill = Itemised(
        profile="p",
        profile_title="p",
        totals=(total,),
        items=items,
        rest=(),
        interaction=(),
        controls=WORDS,
    )
    return with_defaults(bill, tuple(map(BootParameter, WORDS)))


def test_what_another_control_switches_off_is_not_called_free() -> None:
    bill = marked(0.0)
    assert bill.unshown == ("init_on_alloc=1",)
    said = answer(billed(bill, study="p", title="p"))
    assert [name for _, name in said.free] == ["hardened_usercopy=1"]


def test_what_costs_all_the_same_is_shown() -> None:
    assert not marked(7.0).unshown
