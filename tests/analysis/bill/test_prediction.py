"""A bill's rules beside what is known of them without measuring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hardcost.analysis.finding import Bill, Item
from hardcost.analysis.predicted import annotated, expected
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.loadedrules import DuplicateError
from hardcost.auditrules.parse import read_line
from hardcost.auditrules.rule import Place
from hardcost.auditrules.translate import AS_WRITTEN, translate
from hardcost.units import Unit

if TYPE_CHECKING:
    from hardcost.auditrules.kernelrule import KernelRule

LINES = (
    "-a always,exit -F arch=b64 -S swapon -F uid=70001 -k none",
    "-a always,exit -F dir=/etc/x -F perm=wa -k tree",
    "-a always,exit -F arch=b64 -S getppid -k every",
    "-w /etc/passwd -p wa -k file",
)


def rules_of(*lines: str) -> list[KernelRule]:
    rules = [read_line(line, Place("my.rules", at)).rule for at, line in enumerate(lines, 1)]
    return [translate(rule, AS_WRITTEN) for rule in rules if rule is not None]


def test_a_rule_saves_its_steps_and_one_that_records_its_record_too() -> None:
    constants = Constants.of_debian()
    known = expected(rules_of(*LINES), constants, {"my.rules:2": ["every-call"]})
    null = [known[f"my.rules:{at}"].costs["null"] for at in range(1, 5)]
    assert null[0] == constants.walk["unnamed"]
    assert null[1] > null[0]
    assert null[2] > 10 * null[1]  # it writes a record
    assert null[3] == 0
    assert known["my.rules:2"].findings == ("every-call",)


def test_the_only_rule_saves_its_steps_beside_the_price_of_having_any() -> None:
    constants = Constants.of_debian()
    one = expected(rules_of(LINES[0]), constants, {})["my.rules:1"].costs["null"]
    among = expected(rules_of(*LINES), constants, {})["my.rules:1"].costs["null"]
    assert one == among == constants.walk["unnamed"]


def test_rules_that_the_kernel_would_refuse_are_not_priced() -> None:
    with pytest.raises(DuplicateError):
        expected(rules_of(LINES[0], LINES[0]), Constants.of_debian(), {})


def test_what_is_known_stands_beside_what_was_measured_of_the_same_rule() -> None:
    def item(place: str, metric: str) -> Item:
        return Item("x", metric, Unit.INSN_PER_OP, 19.0, 19.0, 19.0, 0.5, 20.0, 0, place)

    bill = Bill("p", "", (), (item("my.rules:1", "null"), item("other:1", "null")), (), ())
    known = expected(rules_of(*LINES), Constants.of_debian(), {})
    first, second = annotated(bill, known).items
    assert first.predicted == known["my.rules:1"].costs["null"]
    assert second.predicted is None


def test_without_the_kernels_constants_lint_alone_says_something() -> None:
    known = expected(rules_of(*LINES), None, {"my.rules:2": ["every-call"]})
    assert {cost for rule in known.values() for cost in rule.costs} == set()
    assert known["my.rules:2"].findings == ("every-call",)
