from __future__ import annotations

from hardcost.analysis.finding import Bill, Finding, Item, Total
from hardcost.cli.defaultmarks import with_defaults
from hardcost.controls.control import BootParameter, Profile
from hardcost.report.sentences.answer import answer

WORDS = ("init_on_alloc=1", "page_poison=1", "hardened_usercopy=1")


def marked(cost: float) -> Bill:
    """Return a bill in which the first word costs so much and the second 100."""
    items = tuple(
        Item(word, "open", "insn/op", one, one, one, one / 1000, one, None)
        for word, one in zip(WORDS, (cost, 100.0, 0.0), strict=True)
    )
    total = Total("open", "insn/op", 1000.0, 1100.0 + cost, 100.0 + cost)
    bill = Bill("p", "p", (total,), items, (), (), controls=WORDS)
    return with_defaults(bill, Profile("p", "p", "", tuple(map(BootParameter, WORDS))))


def test_what_another_control_switches_off_is_not_called_free() -> None:
    bill = marked(0.0)
    assert bill.unshown == ("init_on_alloc=1",)
    said = answer(Finding("r", "p", "p", "insn", (), machine="vm", bill=bill))
    assert [name for _, name in said.free] == ["hardened_usercopy=1"]


def test_what_costs_all_the_same_is_shown() -> None:
    assert not marked(7.0).unshown
