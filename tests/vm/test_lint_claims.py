"""What lint says of lists, directories, logins and results, held to real calls in a guest."""

from __future__ import annotations

from functools import cache

import pytest

from auditrules.lint import checks
from auditrules.lint.context import gather
from auditrules.model.kernel_rule import UNSET
from auditrules.read import parse
from conformance.battery import Battery, SetResult, run_battery
from conformance.repertoire import CALLS
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("read_for")]

WATCH = "-w /field/f2 -p a -k watch"
CHMOD = "-a always,exit -F arch=b64 -S chmod"
SETS = {
    "watched": (WATCH,),
    "nothing-written": (WATCH, "-a always,exclude -F msgtype=SYSCALL"),
    "never-exclude": (
        "-a never,exclude -F msgtype=SYSCALL",
        "-a always,exclude -F msgtype>1299 -F msgtype<1301",
        WATCH,
    ),
    "no-effect": (WATCH, "-a always,exclude"),
    "shadowed": ("-a never,exit -F dir=/field", WATCH),
    "never-too-late": (WATCH, "-a never,exit -F dir=/field"),
    "unset-auid": (f"{CHMOD} -F auid>=1000 -k x",),
    "exit-unsigned": (f"{CHMOD} -F exit>=0 -k x",),
    "negated-arch": ("-a always,exit -F arch!=b64 -S chmod -k x",),
    "wildcard-path": ("-w /field/f* -p a -k x",),
}


@cache
def battery() -> Battery:
    machine = VirtualMachine(Cache(), Hardware("tcg"))
    sets = ["".join(f"{line}\n" for line in one) for one in SETS.values()]
    calls = [one for one in CALLS if one.name in {"chmod", "fchmodat"}]
    return run_battery(machine, sets, calls)


def result(code: str) -> SetResult:
    found = battery().sets[list(SETS).index(code)]
    assert found.refused == frozenset()
    return found


def keyed(code: str) -> dict[int, str]:
    """Return what a rule recorded; links not followed are recorded without any."""
    return {call: key for call, key in result(code).recorded.items() if key}


@pytest.mark.parametrize("code", [code for code in SETS if code != "watched"])
def test_lint_reports_the_set(code: str) -> None:
    text = "".join(f"{line}\n" for line in SETS[code])
    assert checks.findings_in(gather([parse.read_bytes(text.encode(), "x.rules")]), {code})


@pytest.mark.parametrize(
    "code", ["nothing-written", "never-exclude", "shadowed", "wildcard-path", "negated-arch"]
)
def test_nothing_is_recorded(code: str) -> None:
    assert keyed("watched")
    assert not keyed(code)


@pytest.mark.parametrize("code", ["no-effect", "never-too-late"])
def test_all_is_recorded_as_without_the_rule(code: str) -> None:
    assert keyed(code) == keyed("watched")


def test_processes_without_a_login_are_recorded() -> None:
    logins = {battery().events[call].auid for call in keyed("unset-auid")}
    assert UNSET in logins
    assert all(login >= 1000 for login in logins)


def test_failing_calls_are_recorded_too() -> None:
    results = {battery().events[call].exit for call in keyed("exit-unsigned")}
    assert any(one is not None and one < 0 for one in results)
