"""A bill's rules beside what is known of them without measuring."""

from __future__ import annotations

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.cost.constants import Constants
from auditrules.model.kernel_lists import DuplicateError
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location
from auditrules.read.parse import read_line
from hardcost.analysis.bill.prediction import add_predictions, predict_rules
from hardcost.model.finding.bill import Item, Itemised
from hardcost.model.workload import MetricId, metric_of
from hardcost.units import Unit

LINES = (
    "-a always,exit -F arch=b64 -S swapon -F uid=70001 -k none",
    "-a always,exit -F dir=/etc/x -F perm=wa -k tree",
    "-a always,exit -F arch=b64 -S getppid -k every",
    "-w /etc/passwd -p wa -k file",
)
FOUND = ((), ("every-call",), (), ())


def rules_of(*lines: str) -> list[KernelRule]:
    rules = [read_line(line, Location("my.rules", at)).rule for at, line in enumerate(lines, 1)]
    return [translate(rule, AS_WRITTEN) for rule in rules if rule is not None]


def test_a_rule_saves_its_steps_and_one_that_records_its_record_too() -> None:
    constants = Constants.of_debian()
    known = predict_rules(rules_of(*LINES), constants, FOUND)
    null = [one.costs[MetricId("null")] for one in known]
    assert null[0] == constants.walk["unnamed"]
    assert null[1] > null[0]
    assert null[2] > 10 * null[1]  # it writes a record
    assert null[3] == 0
    assert known[1].findings == ("every-call",)


def test_the_only_rule_saves_its_steps_beside_the_price_of_having_any() -> None:
    constants = Constants.of_debian()
    one = predict_rules(rules_of(LINES[0]), constants, [()])[0].costs[MetricId("null")]
    among = predict_rules(rules_of(*LINES), constants, FOUND)[0].costs[MetricId("null")]
    assert one == among == constants.walk["unnamed"]


def test_rules_that_the_kernel_would_refuse_are_not_priced() -> None:
    with pytest.raises(DuplicateError):
        predict_rules(rules_of(LINES[0], LINES[0]), Constants.of_debian(), [(), ()])


def test_what_is_known_stands_beside_what_was_measured_of_the_same_rule() -> None:
    def item(control: str, metric: str) -> Item:
        return Item(
            control,
            metric_of(metric),
            Unit.INSN_PER_OP,
            19.0,
            19.0,
            19.0,
            0.5,
            20.0,
            0,
            Location.of("one.toml:3"),
        )

    items = (item(LINES[0], "null"), item("other", "null"))
    bill = Itemised(profile="p", totals=(), items=items)
    known = predict_rules(rules_of(*LINES), Constants.of_debian(), FOUND)
    first, second = add_predictions(bill, dict(zip(LINES, known, strict=True))).items
    assert first.predicted == known[0].costs[MetricId("null")]
    assert second.predicted is None


def test_without_the_kernels_constants_lint_alone_says_something() -> None:
    known = predict_rules(rules_of(*LINES), None, FOUND)
    assert {cost for rule in known for cost in rule.costs} == set()
    assert known[1].findings == ("every-call",)
