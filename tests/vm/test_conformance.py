"""The semantics of audit rules, held against a real kernel: random rule sets, real calls.

`bench/rules/conformance.py` does the same for any number of cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from auditrules.kernel.event import Event, VisitedName
from conformance import cases
from conformance.agreement import compare
from conformance.battery import WantedRules, run_battery
from conformance.repertoire import CALLS
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

pytestmark = pytest.mark.vm

CASES = 4200
SEED = 3
EXCLUDING_SETS, EXCLUDING_CALLS = 30, 30


@pytest.fixture(scope="module")
def machine(cache_root: Path) -> VirtualMachine:
    return VirtualMachine(Cache(cache_root), Hardware("tcg"))


@pytest.fixture(scope="module")
def boot(machine: VirtualMachine) -> cases.BootResult:
    (only,) = cases.boots(machine, CASES, SEED)
    return only


@pytest.mark.slow
@pytest.mark.usefixtures("read_for")
def test_the_kernel_records_what_the_semantics_say(boot: cases.BootResult) -> None:
    comparison = boot.comparison
    assert comparison.counts["cases"] >= CASES
    assert not comparison.disagreements, "\n\n".join(map(str, comparison.disagreements[:5]))
    assert comparison.counts["unsteady"] == 0


@pytest.mark.slow
def test_the_cases_exercise_what_is_odd(boot: cases.BootResult) -> None:
    counts = boot.comparison.counts
    assert [fact for fact in cases.EXERCISED if not counts[fact]] == [], counts
    # Neither nearly all nor nearly none, or a rule of thumb would do as well.
    assert 0.2 < counts["recorded"] / counts["cases"] < 0.8
    assert counts["decided by never"] > CASES / 50
    assert counts["decided in a bucket"] > CASES / 50


def _reversed(event: Event) -> Event:
    return replace(event, names=event.names[::-1])


def _first_name_alone(event: Event) -> Event:
    return replace(event, names=event.names[:1])


def _without_groups(event: Event) -> Event:
    return replace(event, groups=frozenset())


def _unraised(event: Event) -> Event:
    return replace(event, raised=False)


def _unnamed_dropped(event: Event) -> Event:
    return replace(event, names=tuple(name for name in event.names if name != VisitedName()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed", [_reversed, _first_name_alone, _without_groups, _unraised, _unnamed_dropped]
)
def test_less_than_the_whole_event_would_be_found_out(
    boot: cases.BootResult, changed: Callable[[Event], Event]
) -> None:
    battery = replace(boot.battery, events=tuple(map(changed, boot.battery.events)))
    assert compare(battery, boot.sets, CALLS).disagreements


@pytest.mark.slow
def test_the_records_that_are_written_are_those_that_the_semantics_name(
    machine: VirtualMachine,
) -> None:
    comparison = cases.excluding(machine, EXCLUDING_SETS, EXCLUDING_CALLS, SEED).comparison
    assert not comparison.disagreements, "\n\n".join(map(str, comparison.disagreements[:5]))
    for exercised in ("dropped whole", "dropped in part", "events compared by record"):
        assert comparison.counts[exercised] > EXCLUDING_SETS, comparison.counts


@pytest.mark.slow
def test_of_hidden_files_the_names_stay_that_calls_give(machine: VirtualMachine) -> None:
    tmpfs = "-a never,filesystem -F fstype=0x1021994"
    hiding = WantedRules(f"-a always,exit -S all -k everything\n{tmpfs}\n")
    comparison = compare(run_battery(machine, [hiding]), [hiding], CALLS)
    assert not comparison.disagreements, "\n\n".join(map(str, comparison.disagreements[:5]))
    assert comparison.counts["events compared by record"] > len(CALLS) / 2, comparison.counts


def test_a_set_is_listed_and_its_refused_lines_are_reported(machine: VirtualMachine) -> None:
    rules = "-w /field/f1 -p wa -k one\n-a always,exit -S nosuchcall\n-w /field/dir/ -k two\n"
    battery = run_battery(machine, [WantedRules(rules, calls=(0, 1), listed=True), ""], CALLS[:40])
    first, second = battery.sets
    assert first.refused == {2}
    assert first.loaded == 2
    assert first.listing == "-w /field/f1 -p wa -k one\n-w /field/dir -p rwxa -k two\n"
    assert (second.refused, second.loaded, second.recorded) == (frozenset(), 0, {})
    assert first.made == (0, 1)
    assert second.made == tuple(range(40))
