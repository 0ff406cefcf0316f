"""What no metric reaches: its cost is not known, and is not 0."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hardcost.analysis.finding import Bill, Cell, Finding, Item, Total, Unmeasured
from hardcost.analysis.unreached import told
from hardcost.controls.control import BootParameter, Control, Sysctl
from hardcost.controls.exercised import reach, table
from hardcost.report.jsonout import to_json
from hardcost.report.sentences.answer import answer
from hardcost.workloads import syscalls

PTRACE = Sysctl("kernel.yama.ptrace_scope", "2")
LINKS = Sysctl("fs.protected_hardlinks", "1")
ZERO = BootParameter("init_on_alloc=1")
KEXEC = Sysctl("kernel.kexec_load_disabled", "1")
ALL = (PTRACE, LINKS, ZERO, KEXEC)


def cell(configuration: str, metric: str = "link", workload: str = "syscalls") -> Cell:
    exact = (100.0, 100.0, 100.0, 100.0, 1, "base", 0.0, 1.0, 1.0, 1.0)
    return Cell(configuration, workload, metric, "insn/op", *exact)


def study(workload: str = "syscalls", metric: str = "link") -> Finding:
    both = (cell("base", metric, workload), cell("on", metric, workload))
    return Finding("r", "s", "t", "insn", both, levels={"base": (), "on": ()})


def bill_of(*controls: Control, cost: float = 0.0) -> Finding:
    items = tuple(
        Item(c.name, "link", "insn/op", cost, cost, cost, 0, cost, None) for c in controls
    )
    total = Total("link", "insn/op", 100.0, 100.0, 0.0)
    names = tuple(c.name for c in controls)
    return replace(study(), bill=Bill("p", "p", (total,), items, (), (), controls=names))


def exercised(finding: Finding) -> dict[str, bool | None]:
    return {one["control"]: one["exercised"] for one in json.loads(to_json(finding))["items"]}


def test_an_item_says_whether_anything_exercised_it_or_that_nobody_knows() -> None:
    found = told(bill_of(*ALL), {"profile": ALL})
    assert exercised(found) == {
        PTRACE.name: False,
        LINKS.name: True,
        ZERO.name: None,
        KEXEC.name: False,
    }


def test_what_was_not_exercised_is_not_free_and_names_the_workload_that_would() -> None:
    found = told(bill_of(*ALL), {"profile": ALL})
    assert found.bill is not None
    (why,) = {one.caveat for one in found.bill.items if one.control == PTRACE.name}
    assert "not exercised" in why
    assert "--workload syscalls-more does" in why
    said = answer(found)
    assert {name for _, name in said.free} == {LINKS.name, ZERO.name}
    assert any("2 controls" in one and "do not show" in one for one in said.sentences)


def test_what_lies_in_the_rest_is_a_note() -> None:
    whole = bill_of(PTRACE, ZERO)
    assert whole.bill is not None
    none = replace(whole.bill, items=(), small=whole.bill.items)
    found = told(replace(whole, bill=none), {"profile": (PTRACE, ZERO)})
    (note,) = found.notes
    assert note.startswith(f"{PTRACE.name}: not exercised")


def test_what_is_seen_to_cost_something_is_not_called_unexercised() -> None:
    found = told(bill_of(PTRACE, cost=5.0), {"profile": (PTRACE,)})
    assert exercised(found) == {PTRACE.name: None}


@pytest.mark.parametrize(("workload", "metric"), [("build", "wall"), ("syscalls-more", "ptrace")])
def test_a_program_may_do_anything_and_the_other_workload_exercises_it(
    workload: str, metric: str
) -> None:
    found = told(study(workload, metric), {"base": (), "on": (PTRACE,)})
    assert (found.unexercised, found.notes) == ((), ())


def test_a_configuration_of_which_nothing_was_exercised_is_not_the_baseline_again() -> None:
    found = told(study(), {"base": (), "on": (PTRACE,)})
    assert found.unexercised == ("on",)
    said = answer(found)
    assert said.free == ()
    assert any("Nothing exercised" in one and "on" in one for one in said.sentences)
    both = told(study(), {"base": (), "on": (PTRACE, ZERO)})
    assert both.unexercised == ()


def test_the_table_names_calls_that_there_are_and_each_control_once() -> None:
    assert {name for one in table() for name in one.by} <= syscalls.known().keys()
    names = [name for one in table() for name in one.names]
    assert len(names) == len(set(names))
    wild = reach(Sysctl("net.ipv4.conf.all.send_redirects", "0"))
    assert wild is not None
    assert wild.by == ()


def test_what_a_guest_refused_is_said_once() -> None:
    whole = bill_of(PTRACE)
    assert whole.bill is not None
    lost = (Unmeasured(KEXEC.name, "the kernel has no such setting", ""),)
    found = told(replace(whole, bill=replace(whole.bill, unmeasured=lost)), {"profile": ALL})
    assert not any(KEXEC.name in one for one in found.notes)
    assert found.bill is not None
    assert KEXEC.name not in found.bill.unshown
