"""Profiles of real guests: they add up to the bill, repeat, and know what a program does."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.vm.conftest import BUILD_LIMIT_SECONDS, Command

pytestmark = pytest.mark.vm

CALLS = ("null", "open", "chmod")
WORKLOAD = f"syscalls calls={'+'.join(CALLS)}"
RULES = """\
-a always,exit -F arch=b64 -S chmod -k modes
-a always,exit -F arch=b64 -S mount -k mounts
"""
PROGRAM = Path(__file__).with_name("programs") / "knownanswer.s"

ROUNDED = 1 / 1024
"""An estimate is rounded to a multiple of it."""

KNOWN = {
    "_start": 15 + 7,
    "_start;spin": 2 * 1000 + 1,
    "_start;second": 2 * 777 + 1,
    "_start;recurse": 4,
    "_start;recurse;recurse": 4,
    "_start;recurse;recurse;recurse": 4,
    "_start;recurse;recurse;recurse;recurse": 4,
    "_start;recurse;recurse;recurse;recurse;recurse": 3,
    "_start;tail": 2,
    "_start;tailed": 2 * 10 + 1,
    "_start;jumper": 7,
    "_start;jumper;deep": 1,
    "_start;jumper;deep;deeper": 3,
    "_start;jumper;spin": 2 * 20 + 1,
    "_start;signaller": 13,
    "_start;signaller;handler": 3,
    "_start;signaller;handler;spin": 2 * 30 + 1,
    "_start;signaller;restorer": 2,
    "threader": 2,
    "thread": 5,
    "thread;spin": 2 * 40 + 1,
}
"""What each function executes itself under which callers. A thread begins where it was cloned."""


def _moved(entries: list[dict[str, Any]], prefix: str = "") -> float:
    return float(sum(one[f"{prefix}after"] - one[f"{prefix}before"] for one in entries))


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_whole_system_is_profiled_by_process(hardcost: Command) -> None:
    words = ("hotspots", "audit-samples", "--workload", "filecopy files=2", "--repetitions", "1")
    found = hardcost(*words, "--format", "json", "--fresh").data()
    by_metric = {one["metric"]: one for one in found["hotspots"]}
    assert sorted(by_metric) == ["copy", "remove", "wall"]
    for one in by_metric.values():
        assert _moved(one["processes"]) == _moved(one["stacks"]) == one["cost"] > 0
    wall = by_metric["wall"]
    assert wall["cost"] == by_metric["copy"]["cost"] + by_metric["remove"]["cost"]
    by_name = {process["name"]: process for process in wall["processes"]}
    assert by_name["kauditd"]["before"] == 0 < by_name["kauditd"]["after"]
    assert by_name["cp"]["after"] > by_name["cp"]["before"] > 0
    cells = {cell["metric"]: cell for cell in found["cells"] if cell["difference"]}
    assert wall["cost"] == cells["wall"]["difference"]


@pytest.mark.slow
@pytest.mark.lengthy
def test_each_control_is_profiled_as_the_bill_bills_it(hardcost: Command, tmp_path: Path) -> None:
    rules = tmp_path / "few.rules"
    rules.write_text(RULES)
    chosen = (str(rules), "--workload", "syscalls calls=null+chmod", "--format", "json")
    billed = {
        (item["control"], item["metric"]): item["cost"]
        for item in hardcost("bill", *chosen).data()["items"]
    }
    found = hardcost("hotspots", *chosen, "--by-control").data()["by_control"]
    costs = {(one["control"], one["metric"]): one["cost"] for one in found}
    assert {which: cost for which, cost in costs.items() if cost} == billed  # zeros are its rest
    for one in found:
        assert sum(function["own"] for function in one["functions"]) == one["cost"]
    modes = next(one for one in found if "chmod" in one["control"] and one["metric"] == "chmod")
    dearest = modes["functions"][0]
    # A record's text takes most; Linux 6.12 clears the memory for it by a function of its own.
    assert dearest["function"] in {"format_decode", "memset"}
    assert dearest["own"] > 9000


@pytest.mark.slow
def test_functions_add_up_to_the_cost_and_a_profile_repeats(hardcost: Command) -> None:
    words = ("hotspots", "audit-samples", "--workload", WORKLOAD, "--format", "json", "--fresh")
    first = hardcost(*words).data()
    assert [one["metric"] for one in first["hotspots"]] == list(CALLS)
    for one in first["hotspots"]:
        assert _moved(one["functions"], "own_") == _moved(one["stacks"]) == one["cost"] > 0
        by_name = {function["function"]: function for function in one["functions"]}
        filters = [one for name, one in by_name.items() if "audit_filter" in name]
        assert all(one["own_before"] == 0 for one in filters)
        assert any(0 < one["own_after"] <= one["total_after"] for one in filters)
    again = hardcost(*words).data()
    assert again["hotspots"] == first["hotspots"]
    assert again["cells"] == first["cells"]


def test_a_profile_explains_what_the_bill_says(hardcost: Command) -> None:
    rules = hardcost.write("two.rules", RULES)
    words = (rules, "--workload", WORKLOAD, "--format", "json")
    bill = hardcost("bill", *words).data()
    profiles = hardcost("hotspots", *words).data()["hotspots"]
    costs = {one["metric"]: one["cost"] for one in bill["totals"]}
    assert {one["metric"]: one["cost"] for one in profiles} == costs
    assert {one["metric"]: _moved(one["functions"], "own_") for one in profiles} == costs


@pytest.mark.slow
def test_every_instruction_of_a_known_program_is_found(hardcost: Command, tmp_path: Path) -> None:
    program = tmp_path / "known"
    build = ["gcc", "-nostdlib", "-static", "-no-pie", "-o", str(program), str(PROGRAM)]
    subprocess.run(build, check=True)
    words = ("hotspots", "--sysctl", "vm.overcommit_memory=1", "--format", "json")
    found = hardcost(*words, "--workload", f"command file={program}").data()
    (wall,) = found["hotspots"]
    functions = {name for path in KNOWN for name in path.split(";")}
    for side in ("before", "after"):
        counted: dict[str, float] = defaultdict(float)
        for stack in wall["stacks"]:
            process, *path = stack["functions"]
            if process == "command" and path and path[-1] in functions:
                counted[";".join(path)] += stack[side]
        del counted["_start;threader"]  # it waits as often as it has to
        assert dict(counted) == KNOWN
    assert _moved(wall["stacks"]) == pytest.approx(wall["cost"], abs=ROUNDED)


def test_lines_are_refused_where_the_kernel_has_none(hardcost: Command) -> None:
    rules = hardcost.write("two.rules", RULES)
    words = (rules, "--workload", WORKLOAD, "--lines", "audit_filter_syscall")
    said = hardcost("hotspots", *words, status=2)
    assert 'kernel = "lean"' in said.err


@pytest.mark.slow
@pytest.mark.lengthy
@pytest.mark.usefixtures("lean")
def test_lines_add_up_to_their_function_which_stays_what_it_was(hardcost: Command) -> None:
    patient = replace(hardcost, limit_seconds=BUILD_LIMIT_SECONDS)
    hardcost.write("two.rules", RULES)
    text = 'title = "lines"\nkernel = "lean"\n[audit]\nfiles = ["two.rules"]\n'
    profile = hardcost.write("lean.toml", text)
    words = ("hotspots", profile, "--workload", "syscalls calls=null+chmod", "--format", "json")
    plain = hardcost(*words).data()["hotspots"]
    lined = patient(*words, "--lines", "audit_filter_syscall").data()["hotspots"]
    for one in lined:
        (function,) = (
            each for each in one["functions"] if each["function"] == one["source"]["function"]
        )
        for side in ("before", "after"):
            assert (
                sum(line[f"own_{side}"] for line in one["source"]["lines"])
                == function[f"own_{side}"]
            )
        assert any("list_for_each_entry_rcu" in line["text"] for line in one["source"]["lines"])
        assert _moved(one["subsystems"]) == one["cost"]
        del one["source"]
    assert lined == plain


@pytest.mark.slow
@pytest.mark.lengthy
def test_several_processors_execute_what_their_clock_counts(hardcost: Command) -> None:
    rules = hardcost.write("opens.rules", "-a always,exit -F arch=b64 -S openat -k opens\n")
    workload = ("--workload", "build files=1 compiler=tcc jobs=2", "--processors", "2")
    words = (*workload, "--timeout", "600")  # for a busy machine
    found = hardcost("hotspots", rules, *words, "--format", "json").data()
    (wall,) = found["hotspots"]
    assert wall["unit"] == "insn"
    assert _moved(wall["processes"]) == _moved(wall["stacks"]) == wall["cost"] > 0
    names = {process["name"] for process in wall["processes"]}
    assert {"make", "tcc", "kauditd"} <= names
    assert not names & {"hardcost-idle", "[unknown]"}
    first, second = wall["processors"]
    assert (first["number"], second["number"]) == (1, 2)
    for side in ("before", "after"):
        assert all(one[f"busy_{side}"] > 0 < one[f"idle_{side}"] for one in (first, second))
    moved = sum(one["busy_after"] - one["busy_before"] for one in (first, second))
    assert moved == wall["cost"]
    # How long it takes is another number, the same as without counting by function.
    (cell,) = [one for one in found["cells"] if one["configuration"] == "profile"]
    billed = hardcost("bill", rules, *words, "--format", "json").data()
    (total,) = billed["totals"]
    assert total["with_profile"] == cell["value"]
    assert cell["unit"] == "parallel insn"
