"""What no metric reaches: its cost is not known, and is not 0."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hardcost.analysis.bill.coverage import with_coverage
from hardcost.controls.control import Control
from hardcost.controls.reach import table
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.bill import Bill, Item, Itemised, Total, Unmeasured
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Role, role_of
from hardcost.model.workload import MetricId, workload_of
from hardcost.show.json import to_json
from hardcost.show.sentences.answer import answer
from hardcost.workloads import syscalls
from tests.show.bill_findings import billed

PTRACE = Sysctl("kernel.yama.ptrace_scope", "2")
LINKS = Sysctl("fs.protected_hardlinks", "1")
ZERO = BootParameter("init_on_alloc=1")
KEXEC = Sysctl("kernel.kexec_load_disabled", "1")
ALL = (PTRACE, LINKS, ZERO, KEXEC)


def cell(configuration: str, metric: str = "link", workload: str = "syscalls") -> Cell:
    return Cell(
        configuration=role_of(configuration),
        workload=workload_of(workload),
        metric=metric,
        unit="insn/op",
        value=100.0,
        low=100.0,
        high=100.0,
        trials=1,
        baseline=role_of("base"),
        ratio=1.0,
        ratio_low=1.0,
        ratio_high=1.0,
        minimum=100.0,
        difference=0.0,
    )


def cells(workload: str = "syscalls", metric: str = "link") -> tuple[Cell, ...]:
    return cell("base", metric, workload), cell("on", metric, workload)


def study(workload: str = "syscalls", metric: str = "link") -> StudyFinding:
    return StudyFinding(
        run="r",
        study="s",
        title="t",
        instrument="insn",
        cells=cells(workload, metric),
        levels={role_of("base"): (), role_of("on"): ()},
    )


def told_of_study(
    configurations: dict[Role, tuple[Control, ...]],
    workload: str = "syscalls",
    metric: str = "link",
) -> StudyFinding:
    found = with_coverage(study(workload, metric), configurations)
    assert isinstance(found, StudyFinding)
    return found


def told_of_bill(bill: Bill, *controls: Control) -> Bill:
    found = with_coverage(bill, {role_of("profile"): controls})
    assert isinstance(found, Bill)
    return found


def bill_of(*controls: Control, cost: float = 0.0) -> Bill:
    items = tuple(
        Item(c.name, MetricId("link"), "insn/op", cost, cost, cost, 0, cost, None) for c in controls
    )
    total = Total(MetricId("link"), "insn/op", 100.0, 100.0, 0.0)
    names = tuple(c.name for c in controls)
    return billed(
        Itemised(profile="p", totals=(total,), items=items, controls=names), cells=cells()
    )


def exercised(finding: Finding) -> dict[str, bool | None]:
    return {one["control"]: one["exercised"] for one in json.loads(to_json(finding))["items"]}


def test_an_item_says_whether_anything_exercised_it_or_that_nobody_knows() -> None:
    found = told_of_bill(bill_of(*ALL), *ALL)
    assert exercised(found) == {
        PTRACE.name: False,
        LINKS.name: True,
        ZERO.name: None,
        KEXEC.name: False,
    }


def test_what_was_not_exercised_is_not_free_and_names_the_workload_that_would() -> None:
    found = told_of_bill(bill_of(*ALL), *ALL)
    (why,) = {one.caveat for one in found.items if one.control == PTRACE.name}
    assert "not exercised" in why
    assert "--workload syscalls-more does" in why
    said = answer(found)
    assert {name for _, name in said.free} == {LINKS.name, ZERO.name}
    assert any("2 controls" in one and "do not show" in one for one in said.sentences)


def test_what_lies_in_the_rest_is_a_note() -> None:
    whole = bill_of(PTRACE, ZERO)
    found = told_of_bill(replace(whole, items=(), small=whole.items), PTRACE, ZERO)
    (note,) = found.notes
    assert note.startswith(f"{PTRACE.name}: not exercised")


def test_what_is_seen_to_cost_something_is_not_called_unexercised() -> None:
    found = with_coverage(bill_of(PTRACE, cost=5.0), {role_of("profile"): (PTRACE,)})
    assert exercised(found) == {PTRACE.name: None}


@pytest.mark.parametrize(("workload", "metric"), [("build", "wall"), ("syscalls-more", "ptrace")])
def test_a_program_may_do_anything_and_the_other_workload_exercises_it(
    workload: str, metric: str
) -> None:
    found = told_of_study({role_of("base"): (), role_of("on"): (PTRACE,)}, workload, metric)
    assert (found.unexercised, found.notes) == ((), ())


def test_a_configuration_of_which_nothing_was_exercised_is_not_the_baseline_again() -> None:
    found = told_of_study({role_of("base"): (), role_of("on"): (PTRACE,)})
    assert found.unexercised == (role_of("on"),)
    said = answer(found)
    assert said.free == ()
    assert any("Nothing exercised" in one and "on" in one for one in said.sentences)
    both = told_of_study({role_of("base"): (), role_of("on"): (PTRACE, ZERO)})
    assert both.unexercised == ()


def test_the_table_names_calls_that_there_are_and_each_control_once() -> None:
    assert {name for one in table() for name in one.by} <= syscalls.known_calls().keys()
    names = [name for one in table() for name in one.names]
    assert len(names) == len(set(names))
    wild = Sysctl("net.ipv4.conf.all.send_redirects", "0").reach
    assert wild is not None
    assert wild.by == ()


def test_what_a_guest_refused_is_said_once() -> None:
    lost = (Unmeasured(KEXEC.name, "the kernel has no such setting", None),)
    found = told_of_bill(replace(bill_of(PTRACE), unmeasured=lost), *ALL)
    assert not any(KEXEC.name in one for one in found.notes)
    assert KEXEC.name not in found.unshown
